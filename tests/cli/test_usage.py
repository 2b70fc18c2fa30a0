"""Every wrong use ends with exit code 2 and one line that says what to do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from cli.program import Result, assert_one_clear_line, paceline, paceline_process

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PROMPT = ("--prompt", "Hi")
USER = {"role": "user", "content": "Hi"}
SYSTEM = {"role": "system", "content": "Be brief."}


def assert_usage_error(result: Result, *words: str) -> None:
    assert result.out == ""
    assert_one_clear_line(result, *words, code=2)


@pytest.fixture
def json_file(tmp_path: Path) -> Callable[[Any], Path]:
    def write(data: Any) -> Path:
        path = tmp_path / "data.json"
        path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--stop", "", "empty"),
        ("--system", "", "empty"),
        ("--draft", " ", "--draft"),
        ("--host", "moon", "inline"),
        ("--strategy", "", "strategy"),
        ("--strategy", "magic", "magic"),
        ("--strategy", "draft:n_max=4:n_min=9", "n_min"),
        ("--strategy", "draft:speed=9", "speed"),
        ("--strategy", "plugin.none", "none"),
    ],
)
def test_a_value_out_of_range(option: str, value: str, words: str) -> None:
    assert_usage_error(paceline("chat", *PROMPT, f"{option}={value}"), words)


@pytest.mark.parametrize("option", ["--temperature", "--max-tokens", "--target", "--prompt"])
def test_a_missing_value(option: str) -> None:
    assert_usage_error(paceline("chat", option), option, f"{option}=VALUE")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "--prompt"),
        (["--prompt", ""], "empty"),
        (["--prompt", "Hi", "there"], "there"),
        (["--prompt", "Hi", "--no-such-option"], "--no-such-option"),
        (["--prompt", "Hi", "--max", "5"], "--max"),  # no guessing of abbreviations
        (["--prompt", "Hi", "--raw", "--system", "Be brief."], "--system"),
    ],
)
def test_options_that_make_no_request(arguments: list[str], words: str) -> None:
    assert_usage_error(paceline("chat", *arguments), words)


def test_an_unknown_command() -> None:
    assert_usage_error(paceline_process("dance"), "dance")


def test_the_smoke_test_stands_alone() -> None:
    assert_usage_error(paceline("--smoke-test", "a.png", "doctor"), "--smoke-test")


def test_a_device_that_does_not_exist() -> None:
    assert_usage_error(paceline("chat", *PROMPT, "--device", "moon"), "moon", "CPU")


def test_a_prompt_of_blanks() -> None:
    assert_usage_error(paceline("chat", "--prompt", " \n "), "empty")


def test_a_prompt_that_is_not_unicode() -> None:
    assert_usage_error(paceline_process("chat", "--prompt", "\udcff"), "UTF-8")


@pytest.mark.parametrize(
    "sources", [["--messages"], ["--prompt-tokens"], ["--messages", "--prompt-tokens"]]
)
def test_two_prompt_sources(json_file: Callable[[Any], Path], sources: list[str]) -> None:
    path = json_file([USER])
    arguments = [part for source in sources for part in (source, str(path))]
    assert_usage_error(paceline("chat", *PROMPT, *arguments), "--prompt", sources[0])


def test_raw_needs_a_text(json_file: Callable[[Any], Path]) -> None:
    assert_usage_error(paceline("chat", "--messages", json_file([USER]), "--raw"), "--raw")


def test_system_beside_token_ids(json_file: Callable[[Any], Path]) -> None:
    result = paceline("chat", "--prompt-tokens", json_file([5]), "--system", "Be brief.")
    assert_usage_error(result, "--system")


def test_system_beside_a_system_message(json_file: Callable[[Any], Path]) -> None:
    path = json_file([SYSTEM, USER])
    assert_usage_error(paceline("chat", "--messages", path, "--system", "Be kind."), "--system")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("{", "JSON"),
        ("[" * 100_000, "JSON"),
        ([USER, {"role": "assistant", "content": "Hello"}], "assistant"),
        ([SYSTEM], "system"),
    ],
)
def test_messages_that_are_none(json_file: Callable[[Any], Path], data: Any, words: str) -> None:
    assert_usage_error(paceline("chat", "--messages", json_file(data)), words)


def test_messages_in_another_encoding(tmp_path: Path) -> None:
    (tmp_path / "m.json").write_bytes(b"\xff\xfe[\x00")
    assert_usage_error(paceline("chat", "--messages", tmp_path / "m.json"), "JSON")


@pytest.mark.parametrize("data", [{}, "x", [1, "2"], [2**70]])
def test_token_ids_that_are_none(json_file: Callable[[Any], Path], data: Any) -> None:
    assert_usage_error(paceline("chat", "--prompt-tokens", json_file(data)))


def test_a_token_id_beyond_the_vocabulary(json_file: Callable[[Any], Path]) -> None:
    result = paceline("chat", "--prompt-tokens", json_file([5, 999_999]))
    assert_usage_error(result, "999999", "8,192")
