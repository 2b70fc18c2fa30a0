"""Fuzzy matching: what is found, what stands in front, and that no title is slow."""

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paceline.gui.kit.commands import CommandIndex, CommandQuery, PaletteCommand


def ranked(text: str, *titles: str) -> list[str]:
    query = CommandQuery(text)
    found = [(match.score, title) for title in titles if (match := query.match(title)) is not None]
    return [title for _, title in sorted(found, key=lambda pair: -pair[0])]


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("nc", ["New chat", "Find chats", "Once", "Open draft model"]),
        ("copy", ["Copy the last reply", "Choose a policy, y"]),
        ("dark", ["Dark", "Switch light and dark", "Draft a remark"]),
        ("model", ["Choose models", "More demos later"]),
        ("rm", ["Reload models", "Alarm", "A random text"]),
        ("tc", ["Token colours", "Switch", "Batch"]),
    ],
)
def test_the_meant_one_stands_first(text: str, titles: list[str]) -> None:
    assert ranked(text, *reversed(titles))[0] == titles[0]


def brute_force(letters: str, title: str) -> bool:
    places = itertools.combinations(range(len(title)), len(letters))
    return any(all(title[at] == c for at, c in zip(p, letters, strict=True)) for p in places)


@settings(max_examples=60, deadline=None)
@given(
    st.text("abA -", max_size=4) | st.text(max_size=4),
    st.text("abAB -_", max_size=9) | st.text(max_size=9),
)
def test_it_finds_what_a_search_through_all_places_finds(text: str, title: str) -> None:
    match = CommandQuery(text).match(title)
    folded = title.casefold()
    letters = "".join(text.casefold().split())
    if len(folded) == len(title):
        assert (match is not None) == brute_force(letters, folded)
    if match is not None:
        assert list(match.places) == sorted(set(match.places))
        assert all(0 <= at < len(title) for at in match.places)


def test_no_title_takes_long() -> None:
    query = CommandQuery("a" * 40 + "b")
    begin = time.process_time()
    for _ in range(20):
        assert query.match("a" * 5000) is None
        assert not query.may_match("a" * 5000)
    assert time.process_time() - begin < 2.0  # a backtracking search would take for ever


class Source:
    def __init__(self, *commands: PaletteCommand) -> None:
        self._commands = commands

    def commands(self) -> tuple[PaletteCommand, ...]:
        return self._commands


def command(title: str, obstacle: str | None = None) -> PaletteCommand:
    return PaletteCommand(title, "Group", "", str, obstacle)


def test_what_was_used_comes_first_and_what_is_off_last() -> None:
    one, two, off = command("Open one"), command("Open two"), command("Open", "not now")
    index = CommandIndex([Source(one, off, two)])
    assert [row.command for row in index.rows("")] == [one, off, two]
    index.note_used(two)
    assert [row.command for row in index.rows("")] == [two, one, off]
    assert [row.command for row in index.rows("open")] == [two, one, off]
    index.note_used(one)
    assert [row.command for row in index.rows("")][:2] == [one, two]
    assert index.rows("xyz") == []
