"""Penalties, logit bias, grammars and JSON schemas from the command line, on the demo pair."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from cli.program import Result, assert_one_clear_line, chat

if TYPE_CHECKING:
    from pathlib import Path

YES_OR_NO = 'root ::= "yes, it is" | "no, it is not"'
SCHEMA = {
    "type": "object",
    "properties": {"ok": {"type": "boolean"}, "word": {"enum": ["list", "dict"]}},
    "required": ["ok", "word"],
    "additionalProperties": False,
}


def assert_refused(result: Result, code: int, *words: str) -> None:
    assert result.objects[-1]["event"] == "failed"
    assert_one_clear_line(result, *words, code=code)


def test_a_forbidden_token_never_comes() -> None:
    arguments = ("--temperature", "0", "--max-tokens", "40")
    tokens = chat(*arguments).finished["tokens"]
    usual = max(set(tokens), key=tokens.count)
    for forbid in ("-inf", "false", "-INF"):
        assert usual not in chat(*arguments, "--logit-bias", f"{usual}={forbid}").finished["tokens"]


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_reply_follows_a_grammar(tmp_path: Path, mark: str) -> None:
    path = tmp_path / "yes.gbnf"
    path.write_text(mark + YES_OR_NO, encoding="utf-8")
    finished = chat("--grammar", path, "--seed", "1").finished
    assert finished["text"] in ("yes, it is", "no, it is not")
    assert finished["reason"] == "eog"


def test_what_a_grammar_forces_is_reported_as_its_own_source(tmp_path: Path) -> None:
    path = tmp_path / "long.gbnf"
    path.write_text('root ::= "The answer is a list of many words, and it ends here."')
    result = chat("--grammar", path, "--strategy", "prompt-lookup", "--max-tokens", "60")
    steps, stats = result.objects[:-1], result.finished["stats"]
    assert "grammar" in {source for step in steps for source in step["sources"]}
    assert stats["by_drafter"]["grammar"]["tokens_accepted"] > 0


def test_a_reply_follows_a_json_schema(tmp_path: Path) -> None:
    path = tmp_path / "schema.json"
    path.write_text(json.dumps(SCHEMA))
    finished = chat("--json-schema", path, "--max-tokens", "80", "--seed", "1").finished
    answer = json.loads(finished["text"])
    assert set(answer) == {"ok", "word"}
    assert type(answer["ok"]) is bool
    assert answer["word"] in ("list", "dict")


FORMS = pytest.mark.parametrize("option", ["--grammar", "--json-schema"])


@FORMS
def test_a_form_that_is_not_there(option: str, tmp_path: Path) -> None:
    assert_refused(chat(option, tmp_path / "no.txt"), 1, "no.txt", option)
    assert_refused(chat(option, tmp_path), 1, "cannot be read")


@FORMS
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"#" * 256_001, "256 kB"),
        (b"root ::= \xff", "UTF-8"),
        (b"\xff\xfer\0", "UTF-8"),
        (b" \n", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b"5", ""),
    ],
)
def test_a_form_that_is_none(option: str, content: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "form"
    path.write_bytes(content)
    assert_refused(chat(option, path), 2, words)


def test_forms_that_do_not_go_together(tmp_path: Path) -> None:
    path = tmp_path / "form"
    path.write_text(YES_OR_NO)
    assert_refused(chat("--grammar", path, "--json-schema", path), 2, "--grammar", "--json-schema")
    for option in ("--grammar", "--json-schema"):
        assert_refused(chat(option, path, "--ignore-eog"), 2, option, "--ignore-eog")
