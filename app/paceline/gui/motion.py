"""Whether things may move: what the user chose, for everybody who scrolls or fades.

Qt 6.11 tells what the desktop wants of contrast, but nothing of motion
(https://doc.qt.io/qt-6/qaccessibilityhints.html), so "system" moves as "full" does; nothing in the
window moves without a reason anyway. The choice belongs to the application as a whole and is kept
there. Main thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

if TYPE_CHECKING:
    from paceline.settings import Motion

_PROPERTY = "paceline_reduces_motion"


def choose(mode: Motion) -> None:
    """Let things move, or not, from now on; needs an application."""
    app = QCoreApplication.instance()
    if app is not None:
        app.setProperty(_PROPERTY, mode == "reduced")


def reduces() -> bool:
    """Return whether things should jump to where they are going instead of moving there."""
    app = QCoreApplication.instance()
    return app is not None and bool(app.property(_PROPERTY))
