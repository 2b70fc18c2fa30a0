"""Compares Auto with fixed strategies by turns, in seconds of the thread's processor time.

So others on the machine count little. In each repeat every kind of reply is made by every strategy,
in one order and in the next repeat in the other, so that Auto knows each kind from among all of
them. A kind's ratio is the median over the repeats, of plain decoding's seconds over the
strategy's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from statistics import fmean, median
from typing import NamedTuple

from paceline.bench.recommend import bootstrap

PLAIN, AUTO = "off", "auto"
OF_PLAIN, OF_BEST = 0.98, 0.97


class Took(NamedTuple):
    """One reply.

    Attributes:
        seconds: Of the thread's processor time.
        note: Printed behind the strategy's figures.
    """

    seconds: float
    note: str


def compare(
    kinds: Sequence[str],
    strategies: Sequence[str],
    reply: Callable[[str, str], Took],
    *,
    repeat: int,
    best_of: str,
) -> int:
    """Measure, print a table, and judge Auto.

    Args:
        kinds: Of replies.
        strategies: `PLAIN` and `AUTO` among them.
        reply: Makes a reply of a kind by a strategy.
        repeat: How often each is made, after one more for warmth.
        best_of: What Auto is compared with besides plain decoding, for the table.

    Returns:
        1 where Auto misses a limit: 0.98 of plain decoding and 0.97 of the best other strategy in
        each kind, and above each of them over all kinds; otherwise 0.
    """
    seconds: dict[tuple[str, str], list[float]] = defaultdict(list)
    notes: dict[tuple[str, str], str] = {}
    for turn in range(repeat + 1):
        for kind in kinds:
            for strategy in strategies if turn % 2 else strategies[::-1]:
                took, notes[kind, strategy] = reply(kind, strategy)
                if turn:
                    seconds[kind, strategy].append(took)
    fixed = [s for s in strategies if s not in {PLAIN, AUTO}]
    speeds: dict[tuple[str, str], float] = {}
    missed: list[str] = []
    for kind in kinds:
        for strategy in strategies:
            pairs = zip(seconds[kind, PLAIN], seconds[kind, strategy], strict=True)
            ratios = [plain / took for plain, took in pairs]
            speeds[kind, strategy] = median(ratios)
            found = bootstrap([ratios])
            print(
                f"{kind:14} {strategy:22} {found.median:5.2f} "
                f"({found.low:.2f} to {found.high:.2f})  {notes[kind, strategy]}",
                flush=True,
            )
        own = speeds[kind, AUTO]
        of_best = own / max(speeds[kind, strategy] for strategy in (PLAIN, *fixed))
        print(f"{kind:14} Auto is {own:.2f} of plain decoding, {of_best:.2f} of the {best_of}")
        if own < OF_PLAIN or of_best < OF_BEST:
            missed.append(kind)
    means = {s: fmean(speeds[kind, s] for kind in kinds) for s in strategies}
    print("mean", ", ".join(f"{strategy} {mean:.2f}" for strategy, mean in means.items()))
    if means[AUTO] <= max(means[strategy] for strategy in fixed):
        missed.append("mean")
    print(f"a limit is missed: {', '.join(missed)}" if missed else "within the limits")
    return int(bool(missed))
