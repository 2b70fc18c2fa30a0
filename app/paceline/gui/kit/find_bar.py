"""A bar to find words with: a field, how many hits there are, and the ways to them."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QAction, QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLineEdit, QToolButton, QWidget

from paceline.gui.kit.search_field import is_escape_offered
from paceline.gui.look.current import look
from paceline.gui.look.scale import icon_size


class FindBar(QFrame):
    """Counts nothing itself; hidden at first.

    Attributes:
        field: What is searched for.
        count: "3 of 17".
        previous: Also Shift+Enter.
        next: Also Enter.
        close_button: Also Esc.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "card")
        self.field = QLineEdit()
        self.field.setProperty("kind", "search")
        self.field.setPlaceholderText(self.tr("Find in this chat"))
        self.field.setAccessibleName(self.tr("Find in this chat"))
        self.field.addAction(
            QAction(look.icon("search"), "", self), QLineEdit.ActionPosition.LeadingPosition
        )
        self.count = QLabel()
        self.count.setProperty("role", "small")
        self.previous = self._button("chevron-up", self.tr("Previous hit (Shift+Enter)"))
        self.next = self._button("chevron-down", self.tr("Next hit (Enter)"))
        self.close_button = self._button("close", self.tr("Close (Esc)"))
        row = QHBoxLayout(self)
        row.setContentsMargins(6, 6, 6, 6)
        row.setSpacing(4)
        row.addWidget(self.field, 1)
        row.addSpacing(6)
        row.addWidget(self.count)
        row.addSpacing(6)
        for button in (self.previous, self.next, self.close_button):
            row.addWidget(button)
        self.hide()

    @staticmethod
    def _button(icon: str, words: str) -> QToolButton:
        button = QToolButton()
        button.setProperty("kind", "quiet")
        button.setIcon(look.icon(icon))
        button.setIconSize(icon_size())
        button.setAccessibleName(words)
        button.setToolTip(words)
        return button

    def show_count(self, words: str) -> None:
        """Say how many hits there are, also to screen readers."""
        if words != self.count.text():
            self.count.setText(words)
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self.field, words))

    def event(self, event: QEvent) -> bool:
        """Keep Esc from the window, where it would stop the reply."""
        if is_escape_offered(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc closes, Enter goes on, Shift+Enter goes back, as the buttons do."""
        if event.key() == Qt.Key.Key_Escape:
            self.close_button.click()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            button = self.focusWidget()
            if not isinstance(button, QToolButton):
                is_back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
                button = self.previous if is_back else self.next
            button.click()
        else:
            super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        """Follow another size of text."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            for button in self.findChildren(QToolButton):
                button.setIconSize(icon_size())
