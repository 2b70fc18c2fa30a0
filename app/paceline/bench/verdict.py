"""The verdict of a benchmark on a pair, in one sentence, for window and command line.

It is about the time of writing, which tokens per second refer to; the ratio of the whole reply,
with the reading of its prompt, is stated beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import geometric_mean
from typing import Literal

from paceline.bench.plan import PLAIN
from paceline.bench.runs import Ratio, Report, Result, common
from paceline.figures import GAIN_FROM, Speedup
from paceline.sentence import Sentence, joined, sentence

MIN_SHARE_OF_BEST = 0.98
"""Share of the best speed from which a strategy counts as equally fast."""
_MIN_RUNS = 2
"""Prompts, and strategies besides plain decoding, that a verdict on a pair needs."""


@dataclass(frozen=True, slots=True)
class BenchVerdict:
    """The meaning of the figures.

    Attributes:
        kind: "gain": a strategy is faster; "none": none is; "few": none is, but too few were
            compared for a verdict on the pair; "open": the figures do not decide.
        sentence: The same in words.
        best: The fastest strategy, or empty if not known.
    """

    kind: Literal["gain", "none", "few", "open"]
    sentence: Sentence
    best: str = ""


def writing(result: Result) -> Ratio:
    """The ratio of the time of writing alone."""
    return result.ratio_writing


def whole(result: Result) -> Ratio:
    """The ratio of the time of the whole reply, with its prompt."""
    return result.ratio_to_off


def speedup_of(
    report: Report, strategy: str, of: Callable[[Result], Ratio] = writing
) -> Speedup | None:
    """Return how much faster a strategy is than plain decoding, over all prompts.

    Ratio and quartiles are geometric means over the prompts that all strategies have run, of each
    one's median and quartiles. None if nothing was measured.
    """
    shared = common(report.strategies, report.workloads)
    found = [of(result) for w in shared if (result := w.result_of(strategy))]
    if not found:
        return None
    columns = zip(*((each.median, each.low, each.high) for each in found), strict=True)
    return Speedup(*map(geometric_mean, columns))


def verdict(report: Report, title: Callable[[str], str] = str) -> BenchVerdict:
    """Return the verdict of a report.

    Args:
        report: The report, which may be of a part of the runs.
        title: Returns a strategy's title.
    """
    found = {
        strategy: speedup
        for strategy in report.strategies
        if (speedup := speedup_of(report, strategy)) is not None
    }
    others = [strategy for strategy in found if strategy != PLAIN]
    if not found:
        return BenchVerdict("open", sentence("Nothing has been measured yet."))
    if not others or PLAIN not in found:
        return BenchVerdict("open", sentence("There is too little to compare yet."))
    best = max(others, key=lambda strategy: found[strategy].ratio)
    gain, name = found[best], title(best)
    if gain.verdict == "gain":
        words = sentence(
            "{name} is fastest: {writing:ratio} in writing, {whole:ratio} for the whole reply.",
            name=name,
            writing=gain.ratio,
            whole=report.geomean[best],
        )
        near = [s for s in others if s != best and found[s].ratio >= gain.ratio * MIN_SHARE_OF_BEST]
        if near:
            more = sentence("{name} is about as fast.", name=title(near[0]))
            if len(near) > 1:
                more = sentence("{n} others are about as fast.", n=len(near))
            words = joined([words, more])
        return BenchVerdict("gain", words, best)
    if gain.high >= GAIN_FROM:
        words = sentence(
            "Whether guessing pays cannot be told: a quarter of the repeats with {name} reach "
            "{high:ratio}, others do not; more of them would tell.",
            name=name,
            high=gain.high,
        )
        return BenchVerdict("open", words)
    if len(others) < _MIN_RUNS or len(report.workloads) < _MIN_RUNS:
        words = sentence(
            "{name} gains nothing here. One prompt or one strategy is too few to judge the pair "
            "by.",
            name=name,
        )
        return BenchVerdict("few", words)
    if gain.verdict == "loss":
        words = sentence(
            "Guessing does not pay with this pair: the best, {name}, gives {ratio:ratio}.",
            name=name,
            ratio=gain.ratio,
        )
        return BenchVerdict("none", words, PLAIN)
    return BenchVerdict(
        "none", sentence("Guessing does not pay with this pair: nothing is faster than it alone.")
    )
