"""What holds of the same text, in sentences for people. Pure functions."""

from __future__ import annotations

from paceline.engine.sameness.widths import BatchWidths


def usual(n_rows: int, difference: float | None, *, holds: bool | None) -> str:
    """Say what may be relied on without exact mode.

    Args:
        n_rows: Rows that were compared.
        difference: The largest difference of a logit.
        holds: See `figures.Sameness`.
    """
    match holds:
        case True:
            looked = (
                f"{n_rows:,} rows of logits compared, none differs"
                if n_rows
                else "each token is computed as if it were alone"
            )
            return (
                f"The same turn gives the same text with any strategy here ({looked}). A next "
                "turn, or regenerating, can differ in near-ties; exact mode avoids that."
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
    cost: float,
    piece: int,
    *,
    holds: bool | None,
    is_possible: bool,
) -> str:
    """Say what exact mode does here and what it costs.

    Args:
        widths: Those in use.
        n_rows: Rows that were compared at them.
        cost: Time of a plain step over its usual time.
        piece: Tokens per piece of a prefill.
        holds: See `figures.Sameness`.
        is_possible: Whether there are widths that agree.
    """
    if not is_possible:
        return (
            "Exact mode is not possible here: this device does not compute the same numbers twice, "
            "so replies may differ in near-ties."
        )
    if holds is False:
        return (
            "Exact mode goes on with other batch widths from the next reply on, since rows of "
            "logits were seen to differ at the present ones."
        )
    looked = f" ({n_rows:,} rows of logits compared, none differs)" if n_rows else ""
    if holds is None:
        looked += ", as far as was looked"
    promise = (
        "Exact mode: a reply is the same with any strategy and whatever was in the context before"
        f"{looked}."
    )
    prefill = f"the last reply and up to {piece - 1} tokens more are prefilled again"
    if widths.lowest == 1 and widths.highest == BatchWidths().highest:
        return f"{promise} A step costs nothing more here; with each prompt {prefill}."
    return (
        f"{promise} Single tokens are decoded as {widths.lowest}, drafts end at "
        f"{widths.highest - 1} tokens, and a plain step takes {cost:.2f} × its usual time; with "
        f"each prompt {prefill}."
    )
