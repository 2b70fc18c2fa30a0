"""Asks for a name; what cannot be one says why as it is typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QDialog, QLabel, QLineEdit, QVBoxLayout, QWidget

from paceline.chat.presets import MAX_NAME_CHARS, clean_name
from paceline.gui.scale import px
from paceline.gui.widgets.dialog_parts import deciding_box

if TYPE_CHECKING:
    from collections.abc import Callable

_WIDTH_PX = 340


class NameDialog(QDialog):
    """A field and two buttons; `named` tells the name when it is accepted."""

    named = Signal(str)

    def __init__(
        self,
        title: str,
        action: str,
        obstacle: Callable[[str], str],
        name: str = "",
        parent: QWidget | None = None,
    ) -> None:
        """Ask under a title.

        Args:
            title: What is named, e.g. "Save as a preset".
            action: What the button says.
            obstacle: Why a text cannot be the name, in words; empty: it can.
            name: What stands in the field at first, selected.
            parent: What the dialog stands over.
        """
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setWindowTitle(title)
        self._obstacle = obstacle
        heading = QLabel(title)
        heading.setProperty("role", "title")
        self.field = QLineEdit(name)
        self.field.setMaxLength(MAX_NAME_CHARS)
        self.field.setAccessibleName(self.tr("Name"))
        self.field.setPlaceholderText(self.tr("Name"))
        self.field.selectAll()
        self.problem = QLabel()
        self.problem.setProperty("role", "small")
        self.problem.setWordWrap(True)
        buttons, self.take = deciding_box(self, action, self._on_accepted)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 16)
        column.setSpacing(10)
        for widget in (heading, self.field, self.problem, buttons):
            column.addWidget(widget)
        self.setMinimumWidth(px(_WIDTH_PX))
        self.field.textChanged.connect(self._judge)
        self._judge()

    @Slot()
    def _judge(self) -> None:
        obstacle = self._obstacle(self.field.text())
        self.take.setEnabled(not obstacle)
        # The line keeps its height, so that the buttons stay where they are.
        self.problem.setText(obstacle if self.field.text() else " ")

    @Slot()
    def _on_accepted(self) -> None:
        if self.take.isEnabled():
            name = clean_name(self.field.text())
            self.accept()
            self.named.emit(name)
