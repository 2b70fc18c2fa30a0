"""How far drafts get: what was accepted of what was judged, by the place in the draft. No Qt.

A step's draft may have parts by several drafters. Which part stood where is not said, but follows:
the target judges in order, so parts of which something was accepted stand in the order of what was
accepted, in front of those of which nothing was.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paceline.messages import DraftCount, StepCommitted


@dataclass(slots=True)
class Positions:
    """Of one drafter; both lists by the place in the whole draft, from 0.

    Attributes:
        accepted: Tokens accepted there.
        judged: Tokens drafted there that did not stand behind the reply's end.
    """

    accepted: list[int] = field(default_factory=list)
    judged: list[int] = field(default_factory=list)


def positions(steps: Iterable[StepCommitted]) -> dict[str, Positions]:
    """By the drafter's id."""
    found: dict[str, Positions] = {}
    changes: dict[str, list[int]] = {}  # of the number judged, from one place to the next
    for step in steps:
        firsts: dict[str, int] = {}
        for trace in step.tokens:
            if trace.position >= 0:
                firsts.setdefault(trace.source, trace.position)
                _add(found.setdefault(trace.source, Positions()).accepted, trace.position, 1)
        begin = 0
        for count in sorted(step.drafted, key=lambda count: _order(count, firsts)):
            judged = changes.setdefault(count.drafter, [])
            if count.n_drafted > count.n_discarded:
                _add(judged, begin, 1)
                _add(judged, begin + count.n_drafted - count.n_discarded, -1)
            begin += count.n_drafted
    for name, numbers in changes.items():
        places = found.setdefault(name, Positions())
        places.judged.extend(accumulate(numbers[:-1]))
        places.accepted.extend([0] * (len(places.judged) - len(places.accepted)))
    return {name: places for name, places in found.items() if any(places.judged)}


def _order(count: DraftCount, firsts: dict[str, int]) -> tuple[bool, int]:
    return count.drafter not in firsts, firsts.get(count.drafter, 0)


def _add(numbers: list[int], place: int, n: int) -> None:
    if place >= len(numbers):
        numbers.extend([0] * (place + 1 - len(numbers)))
    numbers[place] += n
