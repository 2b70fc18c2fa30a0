"""What hovering a token tells: who gave it, where in the draft, how sure, in which step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from paceline.gui.viewmodels.control_words import step_decision
from paceline.messages import SOURCE_TARGET

if TYPE_CHECKING:
    from paceline.gui.widgets.provenance import TokenRecord

_CONTEXT = "TokenText"


def describe_token(record: TokenRecord) -> str:
    """One line about a committed token, and one about what Auto decided for its step."""
    lines = [_token(record)]
    if record.decision is not None:
        lines.append(step_decision(record.decision))
    return "\n".join(lines)


def _token(record: TokenRecord) -> str:
    trace = record.trace
    if trace.source == SOURCE_TARGET:
        return " · ".join(_own(record))
    parts = [_tr("accepted"), record.title]
    if trace.position >= 0:
        place = _ordinal(trace.position + 1)
        if record.n_drafted:
            parts.append(_tr("{place} of {total}").format(place=place, total=record.n_drafted))
        else:
            parts.append(place)
    if trace.confidence is not None:
        parts.append(_tr("confidence {value:.2f}").format(value=trace.confidence))
    parts.append(_step(record))
    return " · ".join(parts)


def _own(record: TokenRecord) -> list[str]:
    parts = [_tr("target's own"), _step(record)]
    if record.n_drafted:
        is_bonus = record.n_accepted >= record.n_drafted
        parts.append(_tr("bonus") if is_bonus else _tr("after a rejected draft token"))
    return parts


def _step(record: TokenRecord) -> str:
    return _tr("step {number}").format(number=record.step)


def _tr(text: str) -> str:
    return QCoreApplication.translate(_CONTEXT, text)


def _ordinal(number: int) -> str:
    if number % 100 in (11, 12, 13):
        return _tr("{}th").format(number)
    match number % 10:
        case 1:
            return _tr("{}st").format(number)
        case 2:
            return _tr("{}nd").format(number)
        case 3:
            return _tr("{}rd").format(number)
    return _tr("{}th").format(number)
