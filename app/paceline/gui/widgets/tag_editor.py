"""Puts tags on a chat: what is typed narrows the list of known ones, Enter takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QDialog,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from paceline.gui.viewmodels.chat_lines import title_text
from paceline.gui.viewmodels.chat_query import TAG_CHARS, clean_tag
from paceline.gui.widgets.dialog_parts import deciding_box
from paceline.gui.widgets.elided_label import ElidedLabel
from paceline.gui.widgets.local_style import tick_list_stylesheet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.conversation import ConversationSummary
    from paceline.gui.theme import Theme

_WIDTH_PX, _HEIGHT_PX = 320, 380
_TITLE_PX = 280


class TagEditor(QDialog):
    """A field, a list to tick, and buttons; nothing changes before it is accepted."""

    tagged = Signal(str, tuple)
    """The chat's id and all its tags, in the order in which they were given."""

    def __init__(
        self,
        summary: ConversationSummary,
        known: Sequence[str],
        theme: Theme,
        parent: QWidget | None = None,
    ) -> None:
        """`known` are the tags of all chats."""
        super().__init__(parent)
        self.setWindowTitle(self.tr("Tags"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._conversation_id = summary.conversation_id
        self._order = list(summary.tags)
        name = ElidedLabel(_TITLE_PX, Qt.TextElideMode.ElideRight)
        name.setProperty("role", "title")
        name.set_full_text(title_text(summary))
        self.field = QLineEdit()
        self.field.setMaxLength(TAG_CHARS)
        self.field.setPlaceholderText(self.tr("Add or find a tag"))
        self.field.setAccessibleName(self.tr("Add or find a tag"))
        self.field.textChanged.connect(self._on_text)
        self.field.installEventFilter(self)
        self.list = QListWidget()
        self.list.setAccessibleName(self.tr("Tags"))
        self.list.setStyleSheet(tick_list_stylesheet(theme))
        for tag in dict.fromkeys((*summary.tags, *sorted(known, key=str.casefold))):
            self._add(tag, is_ticked=tag in self._order)
        self.list.itemChanged.connect(self._on_item)
        self.hint = QLabel(self.tr("No tags yet. Type one and press Enter."))
        self.hint.setProperty("role", "small")
        self.hint.setWordWrap(True)
        buttons, self.done_button = deciding_box(self, self.tr("Done"), self._on_accepted)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 16)
        column.setSpacing(10)
        column.addWidget(name)
        column.addWidget(self.field)
        column.addWidget(self.hint)
        column.addWidget(self.list, 1)
        column.addWidget(buttons)
        self.resize(_WIDTH_PX, _HEIGHT_PX)
        self._on_text("")

    @property
    def tags(self) -> tuple[str, ...]:
        """What is ticked."""
        return tuple(self._order)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take what is typed on Enter, and go into the list on Down."""
        if (
            watched is self.field
            and event.type() == QEvent.Type.KeyPress
            and isinstance(event, QKeyEvent)
        ):
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and clean_tag(
                self.field.text()
            ):
                self._take()
                return True
            if event.key() == Qt.Key.Key_Down:
                self.list.setFocus(Qt.FocusReason.TabFocusReason)
                return True
        return super().eventFilter(watched, event)

    def _add(self, tag: str, *, is_ticked: bool) -> QListWidgetItem:
        item = QListWidgetItem(tag)
        item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
        item.setCheckState(Qt.CheckState.Checked if is_ticked else Qt.CheckState.Unchecked)
        self.list.addItem(item)
        return item

    def _items(self) -> list[QListWidgetItem]:
        return [self.list.item(row) for row in range(self.list.count())]

    def _take(self) -> None:
        """Tick the tag that is typed: the known one of that name, else a new one."""
        tag = clean_tag(self.field.text())
        for item in self._items():
            if item.text().casefold() == tag.casefold():
                item.setCheckState(Qt.CheckState.Checked)
                break
        else:
            self._add(tag, is_ticked=False).setCheckState(Qt.CheckState.Checked)
        self.field.clear()

    @Slot(str)
    def _on_text(self, text: str) -> None:
        words = clean_tag(text).casefold()
        for item in self._items():
            item.setHidden(words not in item.text().casefold())
        is_new = bool(words) and all(item.text().casefold() != words for item in self._items())
        if is_new:
            self.hint.setText(self.tr("Enter adds the new tag “{}”.").format(clean_tag(text)))
        elif words:
            self.hint.setText(self.tr("Enter ticks it."))
        elif self.list.count():
            self.hint.setText(self.tr("Tick what this chat belongs to."))
        else:
            self.hint.setText(self.tr("No tags yet. Type one and press Enter."))

    @Slot(QListWidgetItem)
    def _on_item(self, item: QListWidgetItem) -> None:
        tag = item.text()
        is_ticked = item.checkState() == Qt.CheckState.Checked
        if is_ticked and tag not in self._order:
            self._order.append(tag)
        elif not is_ticked and tag in self._order:
            self._order.remove(tag)

    @Slot()
    def _on_accepted(self) -> None:
        if clean_tag(self.field.text()):  # typed, but Enter was not pressed
            self._take()
        self.accept()
        self.tagged.emit(self._conversation_id, self.tags)
