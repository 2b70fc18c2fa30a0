"""Puts a chain together: ticked lookups are asked in the order of the ticks, the model last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QFrame,
    QLabel,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from paceline.gui.viewmodels.choices import choice_of, in_order

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paceline.engine.drafters.base import DrafterInfo

_WIDTH, _HEIGHT = 460, 600
_PARTS = ("model", "lookup")
"""Families that a chain is made of."""


class ChainDialog(QDialog):
    """A list to tick, the chain that it makes, and a button that takes it."""

    taken = Signal(str)
    """Name of the chain"""

    def __init__(
        self,
        infos: Sequence[DrafterInfo],
        ticked: Sequence[DrafterInfo],
        obstacle: Callable[[str], str],
        parent: QWidget | None = None,
    ) -> None:
        """`obstacle` tells why a drafter cannot be used now, or ""."""
        super().__init__(parent)
        self.setWindowTitle(self.tr("Put a chain together"))
        self.setMinimumWidth(_WIDTH)
        chosen = [info.id for info in ticked]
        rest = [info for info in infos if info.id not in chosen]
        offered = in_order([info for info in (*ticked, *rest) if info.family in _PARTS])
        self._infos = {info.id: info for info in offered}
        self._order: list[str] = []
        self.boxes: dict[str, QCheckBox] = {}
        intro = QLabel(
            self.tr("Lookups are asked in the order in which you tick them, the draft model last.")
        )
        intro.setProperty("role", "muted")
        intro.setWordWrap(True)
        self.preview = QLabel()
        self.preview.setWordWrap(True)
        self.preview.setProperty("role", "title")
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 16)
        column.setSpacing(12)
        column.addWidget(intro)
        column.addWidget(self._make_rows(obstacle), 1)
        column.addWidget(self.preview)
        column.addWidget(self._make_buttons())
        self.resize(_WIDTH, _HEIGHT)
        for info in ticked:
            if info.id in self.boxes and self.boxes[info.id].isEnabled():
                self.boxes[info.id].setChecked(True)
        self._on_toggled()

    def _make_rows(self, obstacle: Callable[[str], str]) -> QScrollArea:
        page = QWidget()
        page.setProperty("kind", "page")
        rows = QVBoxLayout(page)
        rows.setContentsMargins(0, 0, 8, 0)
        rows.setSpacing(2)
        for info in self._infos.values():
            box = QCheckBox(f"{info.title}  ({info.id})")
            reason = obstacle(info.id)
            box.setEnabled(not reason)
            summary = QLabel(f"{info.summary} {reason}".strip())
            summary.setProperty("role", "small")
            summary.setWordWrap(True)
            summary.setContentsMargins(26, 0, 0, 8)
            box.setAccessibleDescription(summary.text())
            box.toggled.connect(self._on_toggled)
            self.boxes[info.id] = box
            rows.addWidget(box)
            rows.addWidget(summary)
        rows.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the first box has the keyboard
        scroll.setWidget(page)
        return scroll

    def _make_buttons(self) -> QDialogButtonBox:
        buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel
        )
        self.take = buttons.button(QDialogButtonBox.StandardButton.Ok)
        self.take.setText(self.tr("Use this chain"))
        self.take.setProperty("kind", "primary")
        buttons.accepted.connect(self._on_accepted)
        buttons.rejected.connect(self.reject)
        return buttons

    @Slot()
    def _on_toggled(self) -> None:
        ticked = [name for name, box in self.boxes.items() if box.isChecked()]
        self._order = [name for name in self._order if name in ticked]
        self._order += [name for name in ticked if name not in self._order]
        is_chain = len(self._order) > 1
        self.take.setEnabled(is_chain)
        if is_chain:
            self.preview.setText(choice_of([self._infos[name] for name in self._order]).title)
        else:
            self.preview.setText(self.tr("Tick at least two."))

    @Slot()
    def _on_accepted(self) -> None:
        name = choice_of([self._infos[name] for name in self._order]).name
        self.accept()
        self.taken.emit(name)
