"""The guide's numbers are those of the server, in both languages."""

from __future__ import annotations

import re

import pytest

from paceline import paths
from paceline.server import limits

N = limits
ROWS = (
    (f"{N.LARGEST_BODY >> 20} MB", N.DEEPEST),
    (f"{N.LARGEST_HEAD >> 10} KB", N.MOST_HEADERS),
    (N.MOST_MESSAGES,),
    (N.MOST_TOOLS,),
    (N.MOST_REPLIES,),
    (N.MOST_PROMPTS,),
    (N.MOST_FILES,),
    (N.MOST_STOPS, N.LONGEST_STOP),
    (N.MOST_BIASES,),
    (N.MOST_LIKELY,),
    (N.MOST_CONNECTIONS,),
    (f"{N.HEAD_S:g} s",),
    (f"{N.BODY_S:g} s",),
    (f"{N.REST_S:g} s",),
    (f"{N.STALLED_S:g} s",),
    (f"{N.IDLE_S:g} s",),
    (f"{N.ALIVE_S:g} s", f"{N.PATIENCE_S:g} s"),
)
"""The numbers of each row of the guide's table."""


@pytest.mark.parametrize(("file", "sign"), [("guide.md", ","), ("guide.de.md", ".")])
def test_the_guide_tells_every_limit(file: str, sign: str) -> None:
    text = (paths.resources() / "guide" / file).read_text(encoding="utf-8")
    table = next(each for each in text.split("\n\n") if each.startswith("|") and " MB, " in each)
    for row, numbers in zip(table.splitlines()[2:], ROWS, strict=True):
        told = row.split("|")[2]
        expected = [
            f"{number:,}".replace(",", sign) if isinstance(number, int) else number
            for number in numbers
        ]
        assert re.findall(r"[\d.,]*\d(?: (?:MB|KB|s)\b)?", told) == expected, row


def test_no_limit_is_left_out() -> None:
    names = [name for name in vars(limits) if name.isupper()]
    assert sum(map(len, ROWS)) == len(names), names
