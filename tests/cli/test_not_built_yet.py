"""What the contract has and this version does not: exit code 2, the reason, and another way."""

from __future__ import annotations

import pytest

from cli.program import assert_one_clear_line, paceline

OPTIONS = [
    ["--spec-replace", "a", "b"],
    ["--strategy", "auto"],
    ["--strategy", "auto:n_max=4"],
]


@pytest.mark.parametrize("option", OPTIONS, ids=" ".join)
def test_an_option_of_a_later_version(option: list[str]) -> None:
    result = paceline("chat", "--prompt", "Hi", *option)
    assert result.code == 2
    assert result.out == ""
    assert "not built yet" in result.err
    assert_one_clear_line(result)
    _, _, instead = result.err.partition("not built yet.")
    assert len(instead.split()) >= 4, "it must say what to use instead"


@pytest.mark.parametrize(
    "command",
    [
        ["bench"],
        ["bench", "--strategies", "off,draft", "--repeat", "3", "--json", "-"],
        ["calibrate", "--json"],
    ],
    ids=" ".join,
)
def test_a_command_of_a_later_version(command: list[str]) -> None:
    result = paceline(*command)
    assert result.code == 2
    assert result.out == ""
    assert f"`paceline {command[0]}` is not built yet" in result.err
    assert_one_clear_line(result)


def test_they_are_not_in_the_help() -> None:
    text = paceline("chat", "--help").out + paceline("--help").out
    for option in ("--spec-replace", "bench", "calibrate"):
        assert f"{option} " not in text
