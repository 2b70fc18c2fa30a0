"""What Auto's own measurements say about the loaded pair: two findings that matter to a user.

A draft model that has not saved time over some thousand judged tokens only takes memory. And where
a step's time grows in proportion to its width, no draft can ever save time: verifying several
tokens at once is then no cheaper than decoding them one by one. Small models that stay in the
processor's cache are like that, since reading their weights once for several tokens saves nothing.
Pure functions, any thread.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from paceline.messages import ControlReported, ModelInfo, WidthCost

FindingCode = Literal["draft-does-not-pay", "cannot-pay", "cannot-pay-cached"]
MIN_JUDGED = 2000
"""Judged tokens below which a draft model may still turn out to pay."""
MIN_GAIN = 1.03
TWO, FOUR = 1.85, 3.4
"""Times of steps with two and four tokens over one's, from which drafts cannot pay."""
_EVEN = 1.6
"""Time of four tokens over two: if less, a jump at two and not the cache makes steps expensive."""
CACHE_BYTES = 256 << 20
"""Models above this do not stay in any processor's cache."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding.

    Attributes:
        code: The kind of finding; "cannot-pay-cached" is the one with a known reason.
        drafter: The draft model's id; empty: it is not about one.
        n_judged: How many of its tokens were judged.
        saved_s: Seconds that it saved, negative: lost.
        gain: Its steps' speed over plain decoding's, where known.
        two: Time of a step with two tokens over one's.
        four: The same with four.
        draft_bytes: Memory of the draft model's weights, which can be freed; 0: none is loaded.
    """

    code: FindingCode
    drafter: str = ""
    n_judged: int = 0
    saved_s: float = 0.0
    gain: float | None = None
    two: float = 0.0
    four: float = 0.0
    draft_bytes: int = 0


def findings(
    report: ControlReported,
    *,
    models: Collection[str],
    target: ModelInfo,
    draft: ModelInfo | None,
) -> tuple[Finding, ...]:
    """Return at most one finding; mostly none.

    Args:
        report: What Auto knew at the end of a reply.
        models: Ids of the drafters that are models.
        target: The loaded target.
        draft: The loaded draft model; None: there is none.
    """
    draft_bytes = draft.size_bytes if draft is not None else 0
    ratios = _ratios(report.costs)
    if ratios is not None and ratios[0] >= TWO and ratios[1] >= FOUR:
        two, four = ratios
        is_small = target.size_bytes <= CACHE_BYTES and target.n_gpu_layers == 0
        is_cached = is_small and four >= _EVEN * two
        code: FindingCode = "cannot-pay-cached" if is_cached else "cannot-pay"
        return (Finding(code, two=two, four=four, draft_bytes=draft_bytes),)
    for outlook in report.drafters:
        if draft is None or outlook.drafter not in models or outlook.n_judged < MIN_JUDGED:
            continue
        if outlook.saved_s <= 0 or (outlook.gain is not None and outlook.gain < MIN_GAIN):
            return (
                Finding(
                    "draft-does-not-pay",
                    outlook.drafter,
                    outlook.n_judged,
                    outlook.saved_s,
                    outlook.gain,
                    draft_bytes=draft_bytes,
                ),
            )
    return ()


def _ratios(costs: Sequence[WidthCost]) -> tuple[float, float] | None:
    """Times of steps with two and four tokens over one's; None: not all of them are measured."""
    seconds = {cost.width: cost.seconds for cost in costs if cost.n_samples}
    one, two, four = seconds.get(1), seconds.get(2), seconds.get(4)
    return (two / one, four / one) if one and two and four else None
