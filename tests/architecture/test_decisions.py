"""The decisions are complete, in their index by room, and whatever names one finds it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from architecture.measures import room_of
from architecture.source import APP, PACKAGE, REPOSITORY
from architecture.test_documents import is_there, paths_in, text_of

DECISIONS = sorted((APP / "decisions").glob("[0-9]*.md"))
NUMBERS = {path.name[:3] for path in DECISIONS}
INDEX = text_of("decisions/README.md")


def named_in(text: str) -> Iterator[str]:
    """Return the numbers of the decisions that a text names, as a link or by "decision NNN"."""
    yield from re.findall(r"\[(\d{3})\]\(", text)
    for numbers in re.findall(r"\bdecisions? (\d{3}(?:(?:,|,? and|,? or) \d{3})*)", text):
        yield from re.findall(r"\d{3}", numbers)


def room_of_decision(text: str) -> str:
    """Return the room of the first path that a decision names."""
    found = re.search(r"Where: `([^`]+)`", text)
    assert found
    path = REPOSITORY / found[1]
    if not path.is_relative_to(PACKAGE):
        return path.relative_to(REPOSITORY).as_posix().removeprefix("app/").partition("/")[0]
    place = path.relative_to(PACKAGE).as_posix()
    return room_of(place if path.suffix else f"{place}/any.py")


def test_no_two_decisions_have_a_number() -> None:
    assert len(NUMBERS) == len(DECISIONS)


@pytest.mark.parametrize("path", DECISIONS, ids=lambda path: path.name[:3])
def test_a_decision_is_complete_and_in_the_index(path: Path) -> None:
    number = path.name[:3]
    title, _, text = path.read_text(encoding="utf-8").partition("\n")
    assert title.startswith(f"# {number}. ")
    assert re.search(r"^Date: \d{4}-\d\d-\d\d\b", text, re.MULTILINE)
    for part in ("Reason", "What would change it"):
        assert re.search(rf"^\*\*{part}\.\*\* \S", text, re.MULTILINE), part
    of_room = INDEX.partition(f"\n## `{room_of_decision(text)}`\n")[2].partition("\n## ")[0]
    assert f"- [{number}]({path.name}) {title[7:]}\n" in of_room


@pytest.mark.parametrize("path", DECISIONS, ids=lambda path: path.name[:3])
def test_a_decision_speaks_of_what_is_there(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    named = {each for each in paths_in(text) if re.match("(app|tests|packaging|resources)/", each)}
    assert {each for each in named if not is_there(each)} == set()
    links = re.findall(r"\[\d{3}\]\((.+?)\)", text)
    assert {each for each in links if not (path.parent / each).exists()} == set()


def test_every_decision_that_is_named_is_there() -> None:
    files = [REPOSITORY / "README.md"]
    for folder in ("app", "tests", "packaging", "resources"):
        for ending in ("py", "md", "h", "cpp"):
            files += (REPOSITORY / folder).rglob(f"*.{ending}")
    missing = {
        f"{path.relative_to(REPOSITORY)}: {number}"
        for path in files
        if path != Path(__file__)
        for number in named_in(path.read_text(encoding="utf-8"))
        if number not in NUMBERS
    }
    assert missing == set()


def test_decisions_are_found_in_texts() -> None:
    text = "as decision 007 says, decisions 011 and 012, and [113](113-a.md); 114 tokens"
    assert list(named_in(text)) == ["113", "007", "011", "012"]
