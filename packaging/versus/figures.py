"""Measured values, and what pairs of them say: ratios with bootstrap intervals."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from paceline.bench.recommend import Interval, bootstrap
from paceline.cli.output import in_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True)
class Measurement:
    """One reply of one side; times in seconds.

    Attributes:
        tokens: The reply.
        decode_s: Seconds from the first token, which both sides get from the prompt, to the last.
        total_s: Seconds from the start of the prompt to the last token, by the side's own clock.
        wall_s: Seconds that the caller waited.
        reported: Tokens per second as the side itself reports them.
        drafted: Tokens drafted.
        accepted: Drafted tokens that became part of the reply.
    """

    tokens: tuple[int, ...]
    decode_s: float
    total_s: float
    wall_s: float
    reported: float
    drafted: int
    accepted: int

    @property
    def tokens_per_s(self) -> float:
        """Tokens after the first one by the time they took."""
        return (len(self.tokens) - 1) / self.decode_s


@dataclass(frozen=True)
class Pair:
    """The same prompt on both sides, one right after the other."""

    prompt: str
    ours: Measurement
    server: Measurement


RATIOS: dict[str, Callable[[Pair], float]] = {
    "decode": lambda pair: pair.ours.tokens_per_s / pair.server.tokens_per_s,
    "reported": lambda pair: pair.ours.reported / pair.server.reported,
    "total": lambda pair: pair.server.total_s / pair.ours.total_s,
    "wall": lambda pair: pair.server.wall_s / pair.ours.wall_s,
}


def by_prompt(pairs: Sequence[Pair]) -> dict[str, list[Pair]]:
    """Group pairs by prompt, in the order of their first appearance."""
    groups: dict[str, list[Pair]] = {}
    for pair in pairs:
        groups.setdefault(pair.prompt, []).append(pair)
    return groups


def side_summary(side: Sequence[Measurement]) -> dict[str, Any]:
    """Medians and sums of one side."""
    drafted, accepted = sum(each.drafted for each in side), sum(each.accepted for each in side)
    return {
        "tokens_per_s": median(each.tokens_per_s for each in side),
        "reported_tokens_per_s": median(each.reported for each in side),
        "total_s": median(each.total_s for each in side),
        "wall_s": median(each.wall_s for each in side),
        "drafted": drafted,
        "accepted": accepted,
        "acceptance_rate": accepted / drafted if drafted else None,
    }


def summarise(pairs: Sequence[Pair]) -> dict[str, Any]:
    """Return the report on one strategy as JSON data."""
    groups = by_prompt(pairs)
    mismatched = [pair for pair in pairs if pair.ours.tokens != pair.server.tokens]
    counted = [pair for pair in pairs if pair not in mismatched]
    return {
        "n_pairs": len(pairs),
        "ratio": {
            name: asdict(bootstrap([[value(pair) for pair in group] for group in groups.values()]))
            for name, value in RATIOS.items()
        },
        "ours": side_summary([pair.ours for pair in pairs]),
        "server": side_summary([pair.server for pair in pairs]),
        "mismatches": len(mismatched),
        "draft_count_differences": sum(
            (pair.ours.drafted, pair.ours.accepted) != (pair.server.drafted, pair.server.accepted)
            for pair in counted
        ),
    }


def table(results: Sequence[dict[str, Any]]) -> str:
    """The results for people, one line each."""
    head = ("model", "strategy", "ours t/s", "server t/s", "decode", "total", "wall", "accepted")
    rows = [[*head, "other text", "other drafts"]]
    for result in results:
        summary = result["summary"]
        ours, server, ratio = summary["ours"], summary["server"], summary["ratio"]
        of = summary["n_pairs"]
        rates = [side["acceptance_rate"] for side in (ours, server)]
        rows.append(
            [
                result["model"],
                result["strategy"],
                f"{ours['tokens_per_s']:.1f}",
                f"{server['tokens_per_s']:.1f}",
                str(Interval(**ratio["decode"])),
                f"{ratio['total']['median']:.3f}",
                f"{ratio['wall']['median']:.3f}",
                "/".join("-" if rate is None else f"{rate:.2f}" for rate in rates),
                f"{summary['mismatches']}/{of}",
                f"{summary['draft_count_differences']}/{of - summary['mismatches']}",
            ]
        )
    return in_columns(rows).rstrip()
