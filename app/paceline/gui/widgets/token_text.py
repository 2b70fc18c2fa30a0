"""What hovering a token tells: who gave it, where in the draft, how sure, in which step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from paceline.messages import SOURCE_TARGET

if TYPE_CHECKING:
    from paceline.gui.widgets.provenance import TokenRecord

_CONTEXT = "TokenText"


def describe_token(record: TokenRecord) -> str:
    """One line about a drafted token; empty for one of the target's own."""
    trace = record.trace
    if trace.source == SOURCE_TARGET:
        return ""
    tr = QCoreApplication.translate
    parts = [tr(_CONTEXT, "accepted"), record.title]
    if trace.position >= 0:
        place = _ordinal(trace.position + 1)
        if record.n_drafted:
            parts.append(
                tr(_CONTEXT, "{place} of {total}").format(place=place, total=record.n_drafted)
            )
        else:
            parts.append(place)
    if trace.confidence is not None:
        parts.append(tr(_CONTEXT, "confidence {value:.2f}").format(value=trace.confidence))
    parts.append(tr(_CONTEXT, "step {number}").format(number=record.step))
    return " · ".join(parts)


def _ordinal(number: int) -> str:
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"
