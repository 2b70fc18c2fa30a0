"""Time that goes by for a part of the window without a test waiting for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer

if TYPE_CHECKING:
    from PySide6.QtCore import QObject


def let_pass(owner: QObject, ms: int | None = None) -> int:
    """End the waits of an object now; return how many there were.

    Args:
        owner: The timers are its children.
        ms: Only the timers with this interval, or all for None.
    """
    waits = [
        timer
        for timer in owner.findChildren(QTimer)
        if timer.isActive() and timer.isSingleShot() and ms in (None, timer.interval())
    ]
    for timer in waits:
        timer.stop()
        timer.timeout.emit()
    return len(waits)
