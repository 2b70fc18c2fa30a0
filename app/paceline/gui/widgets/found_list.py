"""What a search found: how much, the list of it, or what to try when it is nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QModelIndex, Qt, Signal, Slot
from PySide6.QtWidgets import QAbstractItemView, QLabel, QListView, QVBoxLayout, QWidget

from paceline.gui.viewmodels.chat_lines import title_text
from paceline.gui.viewmodels.hits import HIT_ROLE, FoundChat, HitList
from paceline.gui.widgets.hit_row import HitRow
from paceline.gui.widgets.search_field import is_escape_offered

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from PySide6.QtGui import QKeyEvent

    from paceline.conversation import ConversationSummary, SearchHit
    from paceline.gui.icons import Icons
    from paceline.gui.theme import Theme


class FoundView(QListView):
    """The list; Up on its first row and Esc lead back to the field."""

    left_upwards = Signal()
    dismissed = Signal()

    def event(self, event: QEvent) -> bool:
        """Keep Esc from the window's shortcut."""
        if is_escape_offered(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leave it by key."""
        if event.key() == Qt.Key.Key_Escape:
            self.dismissed.emit()
        elif event.key() == Qt.Key.Key_Up and self.currentIndex().row() <= 0:
            self.left_upwards.emit()
        else:
            super().keyPressEvent(event)


class FoundList(QWidget):
    """Shows hits grouped by chat."""

    hit_chosen = Signal(str, str)
    """Ids of the chat and the message; the latter is empty for the chat as a whole."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = HitList(title_text, self)
        self.summary = QLabel()
        self.summary.setProperty("role", "small")
        self.summary.setTextFormat(Qt.TextFormat.PlainText)
        self.summary.setWordWrap(True)
        self.summary.setContentsMargins(6, 0, 6, 4)
        self.view = FoundView()
        self.view.setProperty("kind", "chats")
        self.view.setAccessibleName(self.tr("Search results"))
        self.view.setModel(self._model)
        self.view.setMouseTracking(True)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self._rows = HitRow(theme, self.view)
        self.view.setItemDelegate(self._rows)
        self.view.clicked.connect(self._on_chosen)
        self.view.activated.connect(self._on_chosen)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(self.summary)
        column.addWidget(self.view, 1)

    def set_theme(self, theme: Theme, icons: Icons | None = None) -> None:
        """Use another theme's colours and icons."""
        self._rows.set_theme(theme, icons)
        self.view.scheduleDelayedItemsLayout()
        self.view.viewport().update()

    def show_hits(
        self,
        hits: Sequence[SearchHit],
        summary_of: Callable[[str], ConversationSummary | None],
        *,
        is_cut: bool = False,
    ) -> None:
        """Show these.

        Args:
            hits: The best first.
            summary_of: A chat by its id; None: it does not belong here.
            is_cut: Whether there are more than these.
        """
        if self._model.show_hits(hits, summary_of):
            self.view.scrollToTop()
        self.summary.setText(self._words(is_cut=is_cut))

    @property
    def is_empty(self) -> bool:
        """Whether nothing was found."""
        return self._model.rowCount() == 0

    @Slot()
    def take_focus(self) -> None:
        """Have the keyboard, with a row to go on from."""
        if not self.is_empty:
            self.view.setFocus(Qt.FocusReason.TabFocusReason)
            if not self.view.currentIndex().isValid():
                self.view.setCurrentIndex(self._model.index(0))

    def choose_first(self) -> None:
        """Take what was found first: the chat if its title was, else its best message."""
        if self.is_empty:
            return
        index = self._model.index(0)
        row = index.data(HIT_ROLE)
        if isinstance(row, FoundChat) and not row.marks and row.n_hits:
            index = self._model.index(1)
        self.view.setCurrentIndex(index)
        self._on_chosen(index)

    def _words(self, *, is_cut: bool) -> str:
        n, chats = self._model.n_messages, self._model.n_chats
        if self.is_empty:
            return ""
        if n == 0:
            return self.tr("1 chat") if chats == 1 else self.tr("{} chats").format(chats)
        if is_cut:
            return self.tr("The best {} hits").format(n)
        hits = self.tr("1 hit") if n == 1 else self.tr("{} hits").format(n)
        where = self.tr("in 1 chat") if chats == 1 else self.tr("in {} chats").format(chats)
        return f"{hits} {where}"

    @Slot(QModelIndex)
    def _on_chosen(self, index: QModelIndex) -> None:
        row = index.data(HIT_ROLE)
        if isinstance(row, FoundChat):
            self.hit_chosen.emit(row.summary.conversation_id, "")
        elif row is not None:
            self.hit_chosen.emit(row.conversation_id, row.message_id)
