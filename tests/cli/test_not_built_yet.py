"""What the contract has and this version does not: exit code 2, the reason, and another way."""

from __future__ import annotations

import pytest

from cli.program import assert_one_clear_line, paceline

OPTIONS = [
    ["--spec-replace", "a", "b"],
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


def test_they_are_not_in_the_help() -> None:
    assert "--spec-replace" not in paceline("chat", "--help").out
