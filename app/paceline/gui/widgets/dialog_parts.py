"""What dialogs of the house style are made of: a scrolling page, and the buttons at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import (
    QDialogButtonBox,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QWidget,
)

from paceline.gui.scale import STEP

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from PySide6.QtWidgets import QDialog

_CONTEXT = "Dialogs"


def _tr(text: str) -> str:
    return QCoreApplication.translate(_CONTEXT, text)


def scrolling(page: QWidget, name: str = "") -> QScrollArea:
    """Return an area that scrolls a page; with a name it can have the keyboard."""
    area = QScrollArea()
    area.setWidget(page)
    area.setWidgetResizable(True)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setFocusPolicy(Qt.FocusPolicy.StrongFocus if name else Qt.FocusPolicy.NoFocus)
    area.setAccessibleName(name)
    return area


def closing_row(dialog: QDialog, at_the_left: Sequence[QWidget] = ()) -> QFrame:
    """Return the foot of a dialog: widgets at the left, and Close, which accepts it."""
    foot = QFrame()
    foot.setProperty("kind", "foot")
    row = QHBoxLayout(foot)
    row.setContentsMargins(2 * STEP, STEP, 2 * STEP, STEP)
    row.setSpacing(STEP)
    for widget in at_the_left:
        row.addWidget(widget)
    row.addStretch(1)
    close = QPushButton(_tr("Close"))
    close.setAutoDefault(False)
    close.clicked.connect(dialog.accept)
    row.addWidget(close)
    return foot


def deciding_box(
    dialog: QDialog, action: str, accepted: Callable[[], None]
) -> tuple[QDialogButtonBox, QPushButton]:
    """Return what a dialog ends with that changes something, and its first button.

    Args:
        dialog: Cancel rejects it.
        action: What the first button says.
        accepted: A bound method of the dialog; called when that is pressed.
    """
    box = QDialogButtonBox()
    take = box.addButton(action, QDialogButtonBox.ButtonRole.AcceptRole)
    take.setProperty("kind", "primary")
    box.addButton(_tr("Cancel"), QDialogButtonBox.ButtonRole.RejectRole)
    box.accepted.connect(accepted)
    box.rejected.connect(dialog.reject)
    return box, take
