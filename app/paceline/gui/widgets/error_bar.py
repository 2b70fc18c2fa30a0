"""The inline message above the chat: what happened, what to do, a button if there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QToolButton, QWidget

from paceline.gui.scale import icon_size
from paceline.gui.theme import restyle
from paceline.gui.widgets.soft_breaks import BreakingLabel, with_soft_breaks

if TYPE_CHECKING:
    from PySide6.QtGui import QIcon

    from paceline.gui.notifications import Notice


class ErrorBar(QFrame):
    """One notice at a time; hidden while there is none."""

    action_requested = Signal(str)
    dismissed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "notice")
        self.setObjectName("error_bar")
        self._action_name = self._topic = ""
        self._is_error = False
        self.text = BreakingLabel()
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.action = QPushButton()
        self.close_button = QToolButton()
        self.close_button.setProperty("kind", "quiet")
        self.close_button.setText("✕")
        self.close_button.setToolTip(self.tr("Dismiss"))
        self.close_button.setAccessibleName(self.tr("Dismiss the message"))
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 6, 6, 6)
        row.addWidget(self.text, 1)
        row.addWidget(self.action)
        row.addWidget(self.close_button)
        self.action.clicked.connect(self._on_action)
        self.close_button.clicked.connect(self.dismiss)
        self.hide()

    def set_close_icon(self, icon: QIcon) -> None:
        """Show an icon in place of the sign."""
        if not icon.isNull():
            self.close_button.setIconSize(icon_size())
            self.close_button.setIcon(icon)
            self.close_button.setText("")

    @Slot(object)
    def show_notice(self, notice: Notice) -> None:
        """Show this notice in place of an older one; an error only to errors and questions."""
        gives_way = notice.level == "error" or notice.is_question
        if not self.isHidden() and self._is_error and not gives_way:
            return
        self._is_error = notice.level == "error"
        self.setProperty("tone", {"error": "danger", "warning": "lookup"}.get(notice.level, ""))
        restyle(self)
        words = f"{notice.message} {notice.hint}".strip()
        self.text.setText(with_soft_breaks(words))
        self.setAccessibleName(words)
        self._action_name, self._topic = notice.action, notice.topic
        self.action.setText(notice.action_text)
        self.action.setVisible(bool(notice.action))
        self.show()

    @Slot(str)
    def settle(self, name: str) -> None:
        """Take the notice away if it is about this topic, or offers this action."""
        if name in (self._topic, self._action_name):
            self.dismiss()

    @Slot()
    def dismiss(self) -> None:
        """Take the notice away."""
        if self.isHidden():
            return
        had_focus = self.isAncestorOf(self.focusWidget()) if self.focusWidget() else False
        self.hide()
        if had_focus:
            self.dismissed.emit()

    @Slot()
    def _on_action(self) -> None:
        name = self._action_name
        self.dismiss()
        self.action_requested.emit(name)
