"""The middle pane: notices, the chat, and the field to write in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from paceline.gui.widgets.chat_view import ChatView
from paceline.gui.widgets.composer import Composer
from paceline.gui.widgets.error_bar import ErrorBar
from paceline.gui.widgets.message_list import COLUMN_PX

if TYPE_CHECKING:
    from paceline.gui.theme import Theme

MIN_WIDTH = 320


class ChatPane(QWidget):
    """Stacks the three; nothing more."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMinimumWidth(MIN_WIDTH)
        self.setProperty("kind", "page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.errors = ErrorBar()
        self.chat = ChatView(theme)
        self.composer = Composer()
        notices = QVBoxLayout()
        notices.setContentsMargins(16, 10, 16, 0)
        notices.addWidget(self.errors)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(notices)
        column.addWidget(self.chat, 1)
        column.addLayout(self._centred(self.composer))

    @staticmethod
    def _centred(composer: Composer) -> QHBoxLayout:
        """Keep the field as wide as the text above it."""
        composer.setMaximumWidth(COLUMN_PX)
        row = QHBoxLayout()
        row.setContentsMargins(24, 0, 24, 18)
        row.addStretch(1)
        row.addWidget(composer, 1000)
        row.addStretch(1)
        return row
