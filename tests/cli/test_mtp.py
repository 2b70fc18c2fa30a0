"""MTP heads on the command line: `--mtp`, the strategy `mtp`, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import make_pairs
from catalog.headers import gguf_bytes
from cli.program import assert_one_clear_line, paceline
from gguf_file import read
from paceline.codec import decode
from paceline.params import OWN_HEAD
from paceline.settings import SavedPair

pytestmark = pytest.mark.usefixtures("one_reader_for_all")

INSIDE = str(make_pairs.path("tiny-mtp-true"))
TARGET, ASSISTANT = (
    str(make_pairs.path(name)) for name in ("tiny-gemma4", "tiny-gemma4-assistant")
)
CHAT = ("chat", "--prompt", "hi", "--max-tokens", "8", "--seed", "1", "--json")


def drafters(*options: str) -> set[str]:
    result = paceline(*CHAT, *options)
    assert result.code == 0, result.err
    finished = json.loads(result.out.splitlines()[-1])
    return set(finished["stats"]["by_drafter"])


def test_the_head_inside_drafts_where_it_is_not_switched_off() -> None:
    assert drafters("--target", INSIDE, "--strategy", "mtp:n_max=3") == {"mtp"}
    assert "mtp" in drafters("--target", INSIDE, "--strategy", "suffix+mtp:mtp.n_max=2")
    assert "mtp" not in drafters("--target", INSIDE, "--mtp", "off")


def test_a_head_in_a_file_of_its_own() -> None:
    options = ("--target", TARGET, "--mtp", ASSISTANT, "--strategy", "mtp")
    assert drafters(*options) == {"mtp"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--strategy", "mtp"), "needs an MTP head"),
        (("--strategy", "suffix+mtp", "--target", INSIDE, "--mtp", "off"), "needs an MTP head"),
        (("--strategy", "mtp", "--target", INSIDE, "--draft", INSIDE), "needs an MTP head"),
        (("--strategy", "draft", "--target", TARGET, "--mtp", ASSISTANT), "needs a draft model"),
        (("--target", TARGET, "--draft", INSIDE, "--mtp", ASSISTANT), "one of them can draft"),
        (("--target", TARGET, "--mtp", " "), "--mtp is empty"),
    ],
)
@pytest.mark.parametrize("command", ["chat", "bench"])
def test_what_cannot_draft_is_refused(command: str, options: tuple[str, ...], words: str) -> None:
    arguments = [each.replace("--strategy", "--strategies") for each in options]
    result = paceline(*CHAT, *options) if command == "chat" else paceline(command, *arguments)
    assert_one_clear_line(result, words, code=2)


def test_a_model_is_no_head() -> None:
    result = paceline(*CHAT, "--target", TARGET, "--mtp", INSIDE)
    assert result.code == 1
    assert "is no MTP head in a file of its own" in result.err


def test_a_benchmark_compares_the_head(tmp_path: Path) -> None:
    workload, out = tmp_path / "w.jsonl", tmp_path / "out.json"
    workload.write_text(json.dumps({"name": "a", "prompt_tokens": [5, 6], "max_tokens": 4}))
    options = ("--target", INSIDE, "--repeat", "1", "--workload", workload, "--json", out)
    assert paceline("bench", *options).code == 0
    report = json.loads(out.read_text())
    names = [row["strategy"] for row in report["workloads"][0]["results"]]
    assert names == ["off", "auto", "mtp", "suffix", "suffix+mtp"]


def test_pairs_that_were_kept_before_there_were_heads_are_read() -> None:
    old = {"target": {"path": "a.gguf"}, "draft": None, "name": "A"}
    assert decode(SavedPair, old).drafting == OWN_HEAD


@pytest.mark.parametrize(("width", "ok"), [(64, True), (96, False)])
def test_a_check_compares_the_widths_that_headers_tell(
    tmp_path: Path, width: int, ok: bool
) -> None:
    model = read(Path(ASSISTANT))
    model.set(**{"gemma4-assistant.embedding_length_out": width})
    head = tmp_path / "mtp-head.gguf"
    head.write_bytes(gguf_bytes(model))
    result = paceline("pairs", "check", TARGET, "--mtp", str(head), "--json")
    assert result.code == 0, result.err
    found = json.loads(result.out)
    assert found["ok"] is ok
    words = "it reads 96 columns, and the model's states have 64"
    assert any(r["code"] == "other-head" and words in r["text"] for r in found["reasons"]) is not ok
    if not ok:
        loaded = paceline(*CHAT, "--target", TARGET, "--mtp", str(head), "--strategy", "mtp")
        assert loaded.code == 1, "a load says so, too"
