"""Tags of chats: all of them in one line for searching, and the editor of a chat's tags."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal, Slot
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import (
    QDialog,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from paceline.conversation import ConversationSummary
from paceline.gui.conversations.model import MAX_TAG_CHARS, clean_tag
from paceline.gui.kit.dialogs import deciding_box
from paceline.gui.kit.labels import ElidedLabel, text_label
from paceline.gui.kit.layouts import RefitsWords, column_of, discard, styled
from paceline.gui.look.scale import px
from paceline.gui.state.chat_lines import title_text
from paceline.names import visible

_GAP_PX = 4
_MAX_BUTTON_PX = 110
"""Maximum width of a button, at scale 1."""
_MAX_BUTTONS = 12
"""Maximum number of buttons; no line has space for more."""


class TagBar(RefitsWords, QWidget):
    """Buttons for tags; hidden while there are none."""

    toggled = Signal(str, bool)
    """A tag, and whether it is searched for now."""

    def __init__(self) -> None:
        super().__init__()
        self.buttons: list[QToolButton] = []
        self.more = QToolButton(self)
        self._tags: tuple[str, ...] = ()
        self._wanted: frozenset[str] = frozenset()
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(self.tr("Tags"))
        self.more.setProperty("kind", "tag")
        self.more.setAccessibleName(self.tr("More tags"))
        self.more.setToolTip(self.tr("More tags"))
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.menu = QMenu(self)
        self.menu.triggered.connect(self._on_action)
        self.more.setMenu(self.menu)
        self.hide()

    def show_tags(self, tags: Sequence[str], wanted: Iterable[str]) -> None:
        """Show these tags, those of the most chats first, and press the wanted ones."""
        wanted = frozenset(tag.casefold() for tag in wanted)
        if (tuple(tags), wanted) == (self._tags, self._wanted):
            return
        # Tags of the search must be visible.
        ordered = tuple(sorted(tags, key=lambda tag: tag.casefold() not in wanted))
        if ordered[:_MAX_BUTTONS] != tuple(button.objectName() for button in self.buttons):
            self._make_buttons(ordered[:_MAX_BUTTONS])
        self._tags, self._wanted = tuple(tags), wanted
        for button in self.buttons:
            button.setChecked(button.objectName().casefold() in wanted)
        self.menu.clear()
        for tag in sorted(tags, key=str.casefold):
            action = QAction(_shown(tag), self.menu, checkable=True)
            action.setChecked(tag.casefold() in wanted)
            action.setData(tag)
            self.menu.addAction(action)
        self.setVisible(bool(tags))
        self._fit()

    def sizeHint(self) -> QSize:
        """Return the size of one line."""
        self.more.ensurePolished()
        return QSize(px(_MAX_BUTTON_PX), self.more.sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Return the height of one line, and the minimum width."""
        return QSize(0, self.sizeHint().height())

    def _make_buttons(self, tags: Sequence[str]) -> None:
        had_focus = next((b.objectName() for b in self.buttons if b.hasFocus()), "")
        discard(self.buttons)
        self.buttons = []
        for tag in tags:
            button = styled(QToolButton(self), kind="tag")
            button.setObjectName(tag)
            button.setCheckable(True)
            button.setAccessibleName(self.tr("Only chats with the tag {}").format(visible(tag)))
            button.setToolTip(visible(tag))
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.clicked.connect(self._on_clicked)
            self.buttons.append(button)
            if tag == had_focus:
                button.setFocus()
        for before, after in pairwise([*self.buttons, self.more]):
            QWidget.setTabOrder(before, after)

    def _fit(self) -> None:
        """Place the buttons from left to right, then the menu if some do not fit."""
        hints = []
        for button in self.buttons:
            button.ensurePolished()
            button.setText(_shown(button.objectName()))
            hints.append(button.sizeHint().width())
        widths = [min(hint, px(_MAX_BUTTON_PX)) for hint in hints]
        room = self.width()
        n_fit = _n_fit(widths, room)
        if n_fit < len(self._tags):
            self.more.setText(f"+{len(self._tags)}")
            room -= self.more.sizeHint().width() + _GAP_PX
            n_fit = max(_n_fit(widths, room), 1)
            self.more.setText(f"+{len(self._tags) - n_fit}")
        height, left = self.sizeHint().height(), 0
        if height != self.height():  # the buttons' font changed after the last layout
            self.updateGeometry()
        for at, button in enumerate(self.buttons):
            button.setVisible(at < n_fit)
            width = max(min(widths[at], room - left), 0)
            if width < hints[at]:
                _elide(button, hints[at] - width)
            button.setGeometry(left, 0, width, height)
            left += width + _GAP_PX if at < n_fit else 0
        self.more.setVisible(n_fit < len(self._tags))
        self.more.setGeometry(left, 0, self.more.sizeHint().width(), height)

    @Slot()
    def _on_clicked(self) -> None:
        button = self.sender()
        if isinstance(button, QToolButton):
            self.toggled.emit(button.objectName(), button.isChecked())

    @Slot(QAction)
    def _on_action(self, action: QAction) -> None:
        self.toggled.emit(str(action.data()), action.isChecked())


def _shown(tag: str) -> str:
    return visible(tag).replace("&", "&&")


def _elide(button: QToolButton, less_px: int) -> None:
    """Shorten a button's text by a number of pixels."""
    metrics = button.fontMetrics()
    tag = visible(button.objectName())
    width = metrics.horizontalAdvance(tag) - less_px
    text = metrics.elidedText(tag, Qt.TextElideMode.ElideRight, width)
    button.setText(_shown(text))


def _n_fit(widths: Sequence[int], room: int) -> int:
    used = 0
    for at, width in enumerate(widths):
        used += width + (_GAP_PX if at else 0)
        if used > room:
            return at
    return len(widths)


_WIDTH_PX, _HEIGHT_PX = 320, 380
_TITLE_PX = 280


class TagEditor(QDialog):
    """A field, a list to tick, and buttons; nothing changes before it is accepted."""

    tagged = Signal(str, tuple)
    """The chat's id and all its tags, in the order in which they were added."""

    def __init__(self, summary: ConversationSummary, known: Sequence[str], parent: QWidget) -> None:
        """Set up the editor; `known` are the tags of all chats."""
        super().__init__(parent)
        self.setWindowTitle(self.tr("Tags"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._conversation_id = summary.conversation_id
        self._order = list(summary.tags)
        name = styled(ElidedLabel(_TITLE_PX, Qt.TextElideMode.ElideRight), role="title")
        name.setText(title_text(summary))
        self.field = QLineEdit(
            maxLength=MAX_TAG_CHARS, placeholderText=self.tr("Add or find a tag")
        )
        self.field.setAccessibleName(self.tr("Add or find a tag"))
        self.field.textChanged.connect(self._on_text)
        self.field.installEventFilter(self)
        self.list = QListWidget()
        self.list.setAccessibleName(self.tr("Tags"))
        for tag in dict.fromkeys((*summary.tags, *sorted(known, key=str.casefold))):
            self._add(tag, is_ticked=tag in self._order)
        self.list.itemChanged.connect(self._on_item)
        self.hint = text_label(self.tr("No tags yet. Type one and press Enter."), wraps=True)
        buttons, self.done_button = deciding_box(self, self.tr("Done"), self._on_accepted)
        column_of(
            name,
            self.field,
            self.hint,
            (self.list, 1),
            buttons,
            on=self,
            margins=(20, 18, 20, 16),
            spacing=10,
        )
        self.resize(_WIDTH_PX, _HEIGHT_PX)
        self._on_text("")

    @property
    def tags(self) -> tuple[str, ...]:
        """The ticked tags."""
        return tuple(self._order)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Add the typed tag on Enter, and go into the list on Down."""
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
        """Tick the typed tag: an existing one of that name, or a new one."""
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
