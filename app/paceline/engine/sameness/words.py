"""What holds of the same text, in sentences for people. Pure functions."""

from __future__ import annotations

from paceline.engine.sameness.widths import BatchWidths

PLAINLY = (
    "This model runs without speculation, so there is no strategy that a text could depend on."
)


def usual(n_rows: int, difference: float | None, *, holds: bool | None, is_sure: bool) -> str:
    """Say what may be relied on without exact mode.

    Args:
        n_rows: Rows that were compared.
        difference: The largest difference of a logit.
        holds: See `figures.Sameness`.
        is_sure: Whether it holds by construction, and not only as far as was looked.
    """
    match holds:
        case True if is_sure:
            return (
                "The same turn gives the same text with any strategy here: each token is computed "
                f"as if it were alone{_looked(n_rows)}. A next turn, or regenerating, can differ "
                "in near-ties; exact mode avoids that."
            )
        case True:
            return (
                "The same turn gives the same text with any strategy here, as far as was looked"
                f"{_looked(n_rows)}. A next turn, or regenerating, can differ in near-ties; exact "
                "mode avoids that."
            )
        case False:
            return (
                "Another strategy can turn a near-tie here: logits depend on the width of a batch, "
                f"by up to {difference or 0.0:.2g} as seen so far. Exact mode avoids that."
            )
        case None:
            return (
                "Whether the same turn gives the same text with any strategy is not known yet; it "
                "is looked at in idle time."
            )


def exact(
    widths: BatchWidths,
    n_rows: int,
    cost: float | None,
    piece: int,
    *,
    holds: bool | None,
    is_sure: bool,
    is_possible: bool,
) -> str:
    """Say what exact mode does here and what it costs.

    Args:
        widths: Those in use.
        n_rows: Rows that were compared at them.
        cost: Time of a plain step over its usual time; None: that was not measured.
        piece: Tokens per piece of a prefill.
        holds: See `figures.Sameness`.
        is_sure: See `usual`.
        is_possible: Whether there are widths that agree.
    """
    if not is_possible:
        return (
            "Exact mode is not possible here: no batch widths were found at which this device "
            "computes the same numbers, so replies may differ in near-ties."
        )
    if holds is False:
        return (
            "Exact mode goes on with other batch widths from the next reply on, since rows of "
            "logits were seen to differ at the present ones."
        )
    looked = "" if is_sure else ", as far as was looked"
    parts = [
        "Exact mode: a reply is the same with any strategy and whatever was in the context before"
        f"{looked}{_looked(n_rows)}."
    ]
    if widths.lowest > 1:
        time = f", which takes {cost:.2f} × the time of one" if cost is not None else ""
        parts.append(f"Single tokens are decoded as {widths.lowest}{time}.")
    if widths.highest <= BatchWidths().highest - widths.multiple:
        parts.append(f"Drafts end at {widths.highest - 1} tokens.")
    parts.append(
        f"With each prompt the last reply and up to {piece - 1} tokens more are prefilled again."
    )
    return " ".join(parts)


def _looked(n_rows: int) -> str:
    return f" ({n_rows:,} rows of logits compared, none differs)" if n_rows else ""
