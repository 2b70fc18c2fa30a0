"""Steps with decisions and reports of Auto, as an engine would send them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from gui.fake_client import step_of
from paceline.figures import ClassRate, Outlook, WidthCost
from paceline.messages import ControlReported, Decision, StepCommitted, TokenTrace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.figures import Reason

PLAIN_S = 0.04
"""A plain step's time in these scripts."""
CURVE = (1.0, 1.12, 1.2, 1.31, 1.7, 1.8, 1.9, 2.0, 3.1, 3.2, 3.3, 3.4)
"""Times of steps by width, over one token's."""


def drafting_step(
    number: int,
    *,
    drafter: str = "draft",
    reason: Reason = "pays",
    n_rejected: int = 1,
    total_s: float = 0.08,
    gain: float = 1.6,
) -> StepCommitted:
    """Three tokens, two of them drafted and accepted."""
    step = step_of("abc", number, drafter=drafter, n_rejected=n_rejected, total_s=total_s)
    return structs.replace(step, decision=Decision(drafter, 2 + n_rejected, reason, 2.4, gain))


def plain_step(number: int, reason: Reason, total_s: float = PLAIN_S) -> StepCommitted:
    """One token and nothing drafted."""
    trace = TokenTrace(1, "target", -1, None, number)
    return StepCommitted(
        number, (trace,), "x", (), 0.0, 0.03, 0.001, total_s, True, Decision("", 0, reason)
    )


def costs(curve: Sequence[float] = CURVE) -> tuple[WidthCost, ...]:
    """A table of these times, over that of a plain step."""
    return tuple(WidthCost(width, PLAIN_S * times, 9) for width, times in enumerate(curve, 1))


def outlook(drafter: str = "draft", **changes: object) -> Outlook:
    """A drafter that paid so far."""
    known = Outlook(
        drafter,
        is_open=True,
        seconds_per_token=0.0032,
        acceptance=(0.78, 0.71, 0.66, 0.6, 0.55, 0.5),
        by_confidence=(
            ClassRate(0.3, 0.21, 2.0),
            ClassRate(0.5, 0.42, 5.0),
            ClassRate(0.7, 0.55, 20.0),
            ClassRate(0.85, 0.74, 31.0),
            ClassRate(0.95, 0.86, 40.0),
            ClassRate(1.0, 0.97, 122.0),
        ),
        gain=1.58,
        n_judged=900,
        n_accepted=640,
        saved_s=12.3,
    )
    return structs.replace(known, **changes)  # type: ignore[arg-type]


def report(
    *drafters: Outlook,
    curve: Sequence[float] = CURVE,
    step: int = 40,
) -> ControlReported:
    """Return a report of Auto."""
    return ControlReported(step, PLAIN_S, 1.0, 0.21, costs(curve), drafters or (outlook(),))
