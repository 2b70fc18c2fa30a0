"""What measured costs mean: from which acceptance on drafts of each length pay.

With a share a of drafted tokens accepted one after the other, a step of n tokens commits
(1 - a^n) / (1 - a) of them (Leviathan et al., arXiv 2211.17192), and takes T(n) and the time of
drafting n - 1. It pays where that is more than plain decoding commits in the same time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.messages import WidthCost

_SHOWN = 4
"""The width that the conclusion speaks of: drafts of three tokens."""


@dataclass(frozen=True, slots=True)
class Row:
    """One measured width; `break_even` is None where no acceptance is enough."""

    tokens: int
    seconds: float
    ratio: float
    seconds_per_token: float
    break_even: float | None
    n_samples: int


def rows_of(costs: Sequence[WidthCost], draft_token_s: float) -> list[Row]:
    """Return the widths that were measured, narrowest first; none without a plain step's cost.

    Args:
        costs: Also with derived ones.
        draft_token_s: Seconds that drafting one token takes.
    """
    measured = sorted((c for c in costs if c.n_samples), key=lambda cost: cost.width)
    if not measured or measured[0].width != 1:
        return []
    plain_s = measured[0].seconds
    return [
        Row(
            cost.width,
            cost.seconds,
            cost.seconds / plain_s,
            cost.seconds / cost.width,
            break_even(cost.width, (cost.seconds + (cost.width - 1) * draft_token_s) / plain_s),
            cost.n_samples,
        )
        for cost in measured
    ]


def break_even(width: int, ratio: float) -> float | None:
    """Return the share of drafted tokens that must be accepted so that a step pays.

    Args:
        width: Tokens of the step.
        ratio: Its time, drafting included, over that of a plain step.
    """
    if ratio >= width > 1:
        return None
    low, high = 0.0, 1.0
    for _ in range(40):
        share = (low + high) / 2
        if sum(share**i for i in range(width)) < ratio:
            low = share
        else:
            high = share
    return high if ratio > 1 else 0.0


def conclusion(rows: Sequence[Row], draft_token_s: float) -> str:
    """Say in one sentence what follows from the costs."""
    drafted = [row for row in rows if row.tokens > 1]
    if not drafted:
        return "No step of several tokens could be measured, so nothing can be said about drafts."
    free = {row.tokens: break_even(row.tokens, row.ratio) for row in drafted}
    if all(share is None for share in free.values()):
        return (
            "A step of several tokens takes as long here as its tokens one by one, so speculation "
            "cannot pay with this pair."
        )
    row = max(
        (r for r in drafted if r.tokens <= _SHOWN), key=lambda r: r.tokens, default=drafted[0]
    )
    n = row.tokens - 1
    what = "drafts of 1 token pay" if n == 1 else f"drafts of {n} tokens pay"
    if free[row.tokens] is None:
        return f"Here drafts pay only in other lengths than {n}, as the table shows."
    if draft_token_s and row.break_even is not None:
        lookup = free[row.tokens] or 0.0
        return (
            f"Here {what} where more than {row.break_even:.0%} of the tokens are accepted; from a "
            f"lookup, which costs nothing to ask, where more than {lookup:.0%} are."
        )
    text = f"Here {what} where more than {free[row.tokens]:.0%} are accepted"
    if draft_token_s:
        return f"{text} if a lookup gives them; this draft model takes too long for them."
    return f"{text}, if a lookup gives them, which costs nothing to ask."
