"""Sessions asked anew on every side, request by request in turns, and what that says."""

from __future__ import annotations

from contextlib import ExitStack
from itertools import count
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from paceline.bench.recommend import Interval, bootstrap
from paceline.cli.output import in_columns

from .sides import OURS, PREDICTION, Answer, as_json, ask

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from .sessions import Session
    from .sides import Side

FIRST, REST = "first_s", "rest_s"
_IN_QUESTION = 1.2
"""Factor on the seconds of the best setting, up to which another one may still be the best."""


class Asked(NamedTuple):
    """A request that a side has answered.

    Attributes:
        turn: Index of the round, from 0.
        session: Name of the session.
        request: Index of the request in the session, from 0.
        side: The side's name.
        answer: The answer.
        is_recorded: True if the text equals the recorded one, or None if no text is recorded.
    """

    turn: int
    session: str
    request: int
    side: str
    answer: Answer
    is_recorded: bool | None


def replay(
    sessions: Sequence[Session],
    sides: Sequence[Side],
    rounds: int,
    progress: Callable[[str], None] = lambda _: None,
) -> Iterator[Asked]:
    """Ask every side all requests of all sessions, in so many rounds.

    All servers of a session are started anew for it. A request is put to one side after the other,
    in one order and the next one, as in the next round, in the other, while the other sides idle.
    A setting of theirs that is far from the best one of its program is not asked again.
    """
    taking_part, asked = list(sides), []
    for turn in range(rounds):
        reverse = count(turn)
        for session in sessions:
            with ExitStack() as stack:
                running = [
                    (side, stack.enter_context(side.start()))
                    for side in taking_part
                    if side.setting != PREDICTION or any(r.prediction for r in session.requests)
                ]
                for at, request in enumerate(session.requests):
                    for side, child in running[::-1] if next(reverse) % 2 else running:
                        answer = ask(child, request, side.body(request))
                        same = answer.text == request.recorded if request.recorded else None
                        asked.append(Asked(turn, session.name, at, side.name, answer, same))
                        yield asked[-1]
                    progress(f"round {turn + 1}, {session.name}: {at + 1} requests")
        taking_part = in_question(taking_part, asked)


def in_question(sides: Sequence[Side], asked: Sequence[Asked]) -> list[Side]:
    """Return our sides, and of theirs those that may be the best of their program."""
    seconds, sessions = Seconds(asked, REST), {each.session for each in asked}
    sums = {side: seconds.sum(side.name, sessions) for side in sides}
    best: dict[str, float] = {}
    for side, needed in sums.items():
        best[side.program] = min(needed, best.get(side.program, needed))
    return [
        side
        for side in sides
        if side.program == OURS or sums[side] <= _IN_QUESTION * best[side.program]
    ]


class Seconds:
    """Seconds by side, session, request and round."""

    def __init__(self, asked: Sequence[Asked], part: str) -> None:
        self._by: dict[str, dict[tuple[str, int], list[float]]] = {}
        for each in asked:
            of_side = self._by.setdefault(each.side, {})
            seconds = getattr(each.answer, part)
            of_side.setdefault((each.session, each.request), []).append(seconds)

    @property
    def sides(self) -> list[str]:
        """Their names."""
        return list(self._by)

    def sum(self, side: str, sessions: Collection[str]) -> float:
        """Sum up the medians over the rounds of all requests of some sessions."""
        return sum(median(each) for each in self._of(side, sessions))

    def has(self, side: str, sessions: Collection[str]) -> bool:
        """Say whether a side took part in each of these sessions."""
        return {name for name, _ in self._by[side]} >= set(sessions)

    def ratio(self, side: str, other: str, sessions: Collection[str]) -> Interval:
        """Return the other one's sum by the side's: above 1, the side is faster.

        Rounds are resampled within each request, on both sides by themselves.
        """
        groups = self._of(side, sessions) + self._of(other, sessions)
        half = len(groups) // 2

        def ratio(drawn: Sequence[Sequence[float]]) -> float:
            sums = [median(each) for each in drawn]
            return sum(sums[half:]) / sum(sums[:half])

        return bootstrap(groups, ratio)

    def _of(self, side: str, sessions: Collection[str]) -> list[list[float]]:
        return [each for (name, _), each in self._by[side].items() if name in sessions]


def summarise(asked: Sequence[Asked]) -> dict[str, Any]:
    """Return the whole report as JSON data."""
    names = list(dict.fromkeys(each.session for each in asked))
    groups = {name: [name] for name in names}
    if len(names) > 1:
        groups["all"] = names
    return {
        "sessions": {title: _summary(asked, within) for title, within in groups.items()},
        "other_text": {
            side: f"{sum(not each.is_recorded for each in of_side)}/{len(of_side)}"
            for side in dict.fromkeys(each.side for each in asked)
            if (of_side := [a for a in asked if a.side == side and a.is_recorded is not None])
        },
        "asked": [each._asdict() | {"answer": as_json(each.answer)} for each in asked],
    }


def _summary(asked: Sequence[Asked], sessions: Collection[str]) -> dict[str, Any]:
    first, rest = Seconds(asked, FIRST), Seconds(asked, REST)
    sides = [side for side in rest.sides if rest.has(side, sessions)]
    theirs = [side for side in sides if not side.startswith(OURS)]
    best = {
        program: min(
            (side for side in theirs if side.startswith(program)),
            key=lambda side: rest.sum(side, sessions),
        )
        for program in dict.fromkeys(side.split(" ")[0] for side in theirs)
    }
    return {
        "best": best,
        "sides": {
            side: {
                FIRST: first.sum(side, sessions),
                REST: rest.sum(side, sessions),
                "ratio": {
                    program: {
                        part: vars_of(seconds.ratio(side, other, sessions))
                        for part, seconds in ((FIRST, first), (REST, rest))
                    }
                    for program, other in best.items()
                },
            }
            for side in sides
        },
    }


def vars_of(interval: Interval) -> dict[str, float]:
    """Return an interval as JSON can hold it."""
    return {"median": interval.median, "low": interval.low, "high": interval.high}


def table(summary: dict[str, Any]) -> str:
    """Return the results for people: a line for each session and side."""
    programs = list(next(iter(summary["sessions"].values()))["best"])
    rows = [["session", "side", "first s", "rest s", *(f"rest of best {p}" for p in programs)]]
    for title, session in summary["sessions"].items():
        for name, side in session["sides"].items():
            ratios = [Interval(**side["ratio"][program][REST]) for program in programs]
            mark = "*" if name in session["best"].values() else ""
            rows.append(
                [
                    title,
                    f"{name}{mark}",
                    f"{side[FIRST]:.2f}",
                    f"{side[REST]:.2f}",
                    *(str(ratio) for ratio in ratios),
                ]
            )
    texts = ", ".join(f"{side} {n}" for side, n in summary["other_text"].items())
    lines = [in_columns(rows).rstrip(), "* the best setting of its program"]
    return "\n".join([*lines, *([f"another text than on record: {texts}"] if texts else [])])
