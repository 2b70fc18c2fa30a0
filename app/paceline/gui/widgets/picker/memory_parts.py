"""The parts of a bar of memory: what they are, how they look, what they take. Pure functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from paceline.engine.proposals import readable_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.catalog.memory_values import DevicePlan
    from paceline.gui.theme import Theme

_STRIPE_PX = 5
_STRIPE_WIDTH = 1.4


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a bar: what it is for people, its size, and how it is told from the others."""

    name: str
    n_bytes: int
    colour: str
    stripes: str = ""


def parts_of(plan: DevicePlan, names: Sequence[str], theme: Theme) -> tuple[Part, ...]:
    """Return the parts of a device's bar from the left.

    Args:
        plan: What the pair takes.
        names: For the weights and the cache of the target, those of the draft model, the buffers
            of both, and what should stay free.
        theme: Gives the colours; the draft model's parts and what stays free are striped.
    """
    target, draft = plan.target, plan.draft
    sizes = (
        target.weights,
        target.kv,
        draft.weights,
        draft.kv,
        target.compute + draft.compute,
        plan.margin,
    )
    pale_target = mixed(theme.time_verify, theme.surface)
    pale_draft = mixed(theme.accent, theme.surface)
    looks = (
        (theme.time_verify, ""),
        (pale_target, ""),
        (theme.accent, pale_draft),
        (pale_draft, theme.surface),
        (theme.faint, ""),
        (theme.line, theme.line_strong),
    )
    return tuple(
        Part(name, size, colour, stripes)
        for name, size, (colour, stripes) in zip(names, sizes, looks, strict=True)
    )


def of_free(n_needed: int, n_free: int) -> str:
    """Return both sizes in one unit: ``4.7 of 23.1 GiB``."""
    if max(n_needed, n_free) < 2**30:
        return f"{n_needed / 2**20:.0f} of {readable_size(n_free)}"
    return f"{n_needed / 2**30:.1f} of {n_free / 2**30:.1f} GiB"


def mixed(colour: str, ground: str) -> str:
    """Return a colour half as strong on a ground."""
    a, b = QColor(colour), QColor(ground)
    red, green, blue = (
        (x + y) // 2 for x, y in ((a.red(), b.red()), (a.green(), b.green()), (a.blue(), b.blue()))
    )
    return QColor(red, green, blue).name()


def paint_part(painter: QPainter, rect: QRectF, colour: str, stripes: str) -> None:
    """Fill a rectangle with a colour, and with stripes of another if there is one."""
    painter.fillRect(rect, QColor(colour))
    if not stripes:
        return
    painter.save()
    painter.setClipRect(rect, Qt.ClipOperation.IntersectClip)
    painter.setPen(QPen(QColor(stripes), _STRIPE_WIDTH))
    # From a fixed grid: stripes must not crawl while the bar grows.
    x = rect.left() // _STRIPE_PX * _STRIPE_PX - rect.height() // _STRIPE_PX * _STRIPE_PX
    x -= _STRIPE_PX
    while x < rect.right():
        painter.drawLine(QPointF(x, rect.bottom()), QPointF(x + rect.height(), rect.top()))
        x += _STRIPE_PX
    painter.restore()
