"""All replies of a conversation side by side; one of them can be opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Signal, Slot
from PySide6.QtWidgets import QFrame, QLabel, QListView, QVBoxLayout, QWidget

from paceline.gui.viewmodels.reply_rows import ROW_ROLE, ReplyList
from paceline.gui.widgets.plot_legend import entries_html
from paceline.gui.widgets.run.reply_bars import ReplyBars

if TYPE_CHECKING:
    from paceline.gui.theme import Theme


class ChatPage(QWidget):
    """A legend and a list of bars."""

    chosen = Signal(str)
    """Id of the message whose run is to be shown"""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = ReplyList(self)
        self.legend = QLabel()
        self.legend.setProperty("role", "legend")
        self.legend.setWordWrap(True)
        self.view = QListView()
        self.view.setProperty("kind", "replies")
        self.view.setAccessibleName(self.tr("Replies of this chat"))
        self.view.setFrameShape(QFrame.Shape.NoFrame)
        self.view.setMouseTracking(True)
        self.view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.view.setUniformItemSizes(True)
        self.view.setModel(self.model)
        self._bars = ReplyBars(theme, self)
        self.view.setItemDelegate(self._bars)
        self.view.clicked.connect(self._on_chosen)
        self.view.activated.connect(self._on_chosen)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 16, 20, 12)
        column.setSpacing(8)
        column.addWidget(self.legend)
        column.addWidget(self.view, 1)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours."""
        self._bars.set_theme(theme)
        drafts = entries_html(
            (
                (theme.accent, self.tr("draft model")),
                (theme.lookup, self.tr("lookups")),
                (theme.line_strong, self.tr("not accepted")),
            )
        )
        mark = f'<span style="color:{theme.text}"><b>|</b></span>'
        self.legend.setText(
            self.tr("Above: tokens per second, {} plain estimate.").format(mark)
            + " &nbsp; "
            + self.tr("Below: what became of drafted tokens:")
            + f" &nbsp; {drafts}"
        )
        self.view.viewport().update()

    def select(self, message_id: str) -> None:
        """Mark the reply whose run is shown."""
        for at, row in enumerate(self.model.rows):
            if row.message_id == message_id:
                index = self.model.index(at)
                self.view.setCurrentIndex(index)
                self.view.scrollTo(index)

    @Slot(QModelIndex)
    def _on_chosen(self, index: QModelIndex) -> None:
        row = index.data(ROW_ROLE)
        if row is not None:
            self.chosen.emit(row.message_id)
