"""What every dialog of the house style ends with: a scrolling page and a row with Close."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QScrollArea, QWidget

from paceline.gui.scale import STEP

if TYPE_CHECKING:
    from collections.abc import Sequence

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
