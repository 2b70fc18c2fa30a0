"""The command palette: a field and a list at the top of the window, closed by Esc.

It is a child of the window rather than a window of its own: so its position does not depend on the
window manager, and the focus returns to where it was.

It contains the menus (with saved pairs), strategies, and chats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import attrgetter, itemgetter

from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QObject,
    QPoint,
    QRect,
    QSize,
    Qt,
    QTimer,
    Signal,
    Slot,
)
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QAction,
    QColor,
    QCursor,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPen,
)
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QGraphicsDropShadowEffect,
    QLineEdit,
    QListView,
    QMenu,
    QMenuBar,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from paceline.conversation import ConversationSummary
from paceline.gui.kit.commands import CommandIndex, CommandQuery, FoundCommand, PaletteCommand
from paceline.gui.kit.labels import text_label
from paceline.gui.kit.layouts import column_of, styled
from paceline.gui.kit.row_painting import LEFT, RIGHT, draw_text
from paceline.gui.kit.rows import ROW, Index, Rows
from paceline.gui.look.current import look
from paceline.gui.look.scale import GAP, HALF, SMALL, STEP, px
from paceline.gui.look.theme import mono_font, ui_font
from paceline.gui.state.actions import OBSTACLE
from paceline.gui.state.chat_lines import title_text
from paceline.gui.state.speculation import GROUPS, SpeculationModel

_MAX_TITLE_CHARS = 200
_N_CANDIDATES = 300
"""Maximum number of chats that are matched closely: the newest ones that have the letters."""
_N_NEWEST = 8


def plain_text(action: QAction) -> str:
    """Return the text of an action without the marks of its keys."""
    return action.text().replace("&&", "\0").replace("&", "").replace("\0", "&")


def actions_of(menus: QMenuBar | QMenu, path: str = "") -> Iterator[tuple[str, QAction]]:
    """Yield every action of the menus with its path, e.g. "View › Theme"."""
    for action in menus.actions():
        below = action.menu()
        if isinstance(below, QMenu):
            name = plain_text(action)
            yield from actions_of(below, f"{path} › {name}" if path else name)
        elif not action.isSeparator() and action.isVisible():
            yield path, action


class MenuCommands(QObject):
    """Commands for all actions of the menus."""

    def __init__(self, menus: QMenuBar, without: Sequence[QAction], parent: QObject) -> None:
        super().__init__(parent)
        self._menus = menus
        self._without = tuple(without)

    def commands(self) -> Sequence[PaletteCommand]:
        """Return the commands in the order of the menus."""
        return [
            PaletteCommand(
                title=plain_text(action).rstrip("…"),
                group=path,
                keys=action.shortcut().toString(QKeySequence.SequenceFormat.NativeText),
                run=action.trigger,
                obstacle=None if action.isEnabled() else str(action.property(OBSTACLE) or ""),
                is_on=action.isChecked() if action.isCheckable() else None,
            )
            for path, action in actions_of(self._menus)
            if action not in self._without
        ]


class StrategyCommands(QObject):
    """Commands for all strategies that the panel offers."""

    def __init__(self, speculation: SpeculationModel, parent: QObject) -> None:
        super().__init__(parent)
        self._speculation = speculation

    def commands(self) -> Sequence[PaletteCommand]:
        """Return a command for each strategy; the chosen one is ticked."""
        model = self._speculation
        chosen = model.current.name
        return [
            PaletteCommand(
                title=self.tr("Use {}").format(choice.title),
                group=self.tr("Strategy"),
                keys="",
                run=partial(model.choose, choice.name),
                obstacle=model.obstacle(choice.name) or None,
                is_on=choice.name == chosen,
            )
            for group in GROUPS
            for choice in model.choices(group)
        ]


class ChatCommands(QObject):
    """Commands for chats, found by their titles."""

    def __init__(
        self,
        summaries: Callable[[], Sequence[ConversationSummary]],
        show: Callable[[str], object],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._summaries, self._show = summaries, show
        self._chats: list[tuple[str, ConversationSummary]] = []

    def refresh(self) -> None:
        """Update the list of chats."""
        newest_first = sorted(self._summaries(), key=attrgetter("changed_s"), reverse=True)
        self._chats = [(s.title[:_MAX_TITLE_CHARS].casefold(), s) for s in newest_first]

    def find(self, query: CommandQuery, limit: int) -> Sequence[PaletteCommand]:
        """Return the best matches among the newest chats, or the newest for an empty query."""
        if not query.letters:
            return [self._command(summary) for _, summary in self._chats[:_N_NEWEST]]
        found = []
        for title, summary in self._chats:
            if query.may_match(title):
                match = query.match(summary.title)
                if match is not None:
                    found.append((match.score, summary))
                if len(found) == _N_CANDIDATES:
                    break
        found.sort(key=itemgetter(0), reverse=True)
        return [self._command(summary) for _, summary in found[:limit]]

    def _command(self, summary: ConversationSummary) -> PaletteCommand:
        group = self.tr("Private chat") if summary.private else self.tr("Chat")
        return PaletteCommand(
            title=title_text(summary),
            group=group,
            keys="",
            run=partial(self._show, summary.conversation_id),
        )


ROW_PX = 36
_MARK_PX = 16
_TICK = ((0, 0), (4, 4), (11, -5))
WIDTH_PX = 640
_MAX_SHOWN = 11
_FROM_TOP = 56
_STEPS = {
    Qt.Key.Key_Down: 1,
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_PageDown: _MAX_SHOWN - 1,
    Qt.Key.Key_PageUp: 1 - _MAX_SHOWN,
}


class PaletteSheet(QFrame):
    """Sheet over a window that shows a `CommandIndex`."""

    used = Signal()
    """A command is about to be carried out."""

    def __init__(self, index: CommandIndex, window: QWidget) -> None:
        super().__init__(window)
        self.hide()
        self.setObjectName("palette")
        self.setProperty("kind", "sheet")
        self.setAccessibleName(self.tr("Commands"))
        self._index = index
        self._window = window
        self._before: QWidget | None = None
        self._pointer = QPoint()
        self._renewal = QTimer(self, singleShot=True)  # once for all actions that change together
        self._renewal.timeout.connect(self._renew)
        self.field = styled(PaletteField(), kind="palette")
        self.field.addAction(look.icon("search"), QLineEdit.ActionPosition.LeadingPosition)
        self.field.setPlaceholderText(self.tr("Find a command, chat, strategy or pair"))
        self.field.setAccessibleName(self.field.placeholderText())
        self.model = PaletteModel(self)
        self._make_list()
        self.nothing = text_label(self.tr("Nothing is called like this."), "muted")
        self.nothing.setContentsMargins(STEP, STEP, STEP, STEP)
        column_of(self.field, (self.list, 1), self.nothing, on=self, margins=STEP, spacing=HALF)
        self._shadow = QGraphicsDropShadowEffect(self, blurRadius=32)
        self._shadow.setOffset(0, 8)
        self.setGraphicsEffect(self._shadow)
        look.follow(self._dress)
        self.field.textChanged.connect(self._search)
        self.field.step_wanted.connect(self._on_step)
        self.field.taken.connect(self._on_taken)
        self.field.left.connect(self.leave)
        self.list.clicked.connect(self._on_clicked)
        self.list.entered.connect(self._on_entered)
        self.list.selectionModel().currentChanged.connect(self._on_current)
        if isinstance(app := QApplication.instance(), QApplication):
            app.focusChanged.connect(self._on_focus_changed)

    def _make_list(self) -> None:
        self.list = styled(QListView(uniformItemSizes=True), kind="menu")
        self.list.setObjectName("palette_rows")
        self.list.setAccessibleName(self.tr("Commands that were found"))
        self.list.setModel(self.model)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setMouseTracking(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setItemDelegate(PaletteRow(self.list))

    @Slot()
    def _dress(self) -> None:
        self._shadow.setColor(QColor(0, 0, 0, 130 if look.theme.is_dark else 60))
        self._place()

    def open(self) -> None:
        """Show the sheet with all present commands."""
        self._before, self._pointer = QApplication.focusWidget(), QCursor.pos()
        self._window.installEventFilter(self)  # only now: it receives every event of the window
        self.field.clear()
        self._search("")
        self.show()
        self.raise_()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)

    @Slot()
    def leave(self) -> None:
        """Hide the sheet and restore the focus."""
        if self.isHidden():
            return
        before, self._before = self._before, None
        had_focus = self.field.hasFocus()
        self._window.removeEventFilter(self)
        self.hide()
        if had_focus and before is not None and before.isVisible():
            before.setFocus(Qt.FocusReason.PopupFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the sheet in its place, and follow changes of the window's actions."""
        if event.type() == QEvent.Type.Resize:
            self._place()
        elif event.type() == QEvent.Type.ActionChanged:
            self._renewal.start()
        return super().eventFilter(watched, event)

    def _place(self) -> None:
        window = self._window
        n_rows = self.model.rowCount()
        width = min(px(WIDTH_PX), window.width() - 4 * STEP)
        edge = self.height() - self.contentsRect().height()
        around = self.field.sizeHint().height() + 2 * STEP + HALF + edge
        room = window.height() - _FROM_TOP - 2 * STEP - around
        n_shown = max(min(n_rows, _MAX_SHOWN, room // px(ROW_PX)), 1)  # no row is cut
        height = around + n_shown * px(ROW_PX)
        self.setGeometry((window.width() - width) // 2, _FROM_TOP, width, height)

    @Slot(str)
    def _search(self, text: str) -> None:
        self.model.set_rows(self._index.rows(text))
        has_rows = self.model.rowCount() > 0
        self.list.setVisible(has_rows)
        self.nothing.setVisible(not has_rows)
        if has_rows:
            self.list.setCurrentIndex(self.model.index(0, 0))
            self.list.scrollToTop()
        self._place()

    @Slot()
    def _renew(self) -> None:
        """Show the present commands, with the same current one."""
        current, scroll_bar = self.list.currentIndex(), self.list.verticalScrollBar()
        key = current.data(ROW).command.key if current.isValid() else None
        place, scrolled = current.row(), scroll_bar.value()
        self._search(self.field.text())
        # Chats may have the same title; the nearest of them is the current one.
        same = [at for at, row in enumerate(self.model.rows) if row.command.key == key]
        if same:
            scroll_bar.setValue(scrolled)
            nearest = min(same, key=lambda at: abs(at - place))
            self.list.setCurrentIndex(self.model.index(nearest, 0))

    @Slot(int)
    def _on_step(self, step: int) -> None:
        n_rows = self.model.rowCount()
        if not n_rows:
            return
        row = self.list.currentIndex().row() + step
        row = row % n_rows if abs(step) == 1 else max(0, min(row, n_rows - 1))
        self.list.setCurrentIndex(self.model.index(row, 0))

    @Slot(QModelIndex, QModelIndex)
    def _on_current(self, current: QModelIndex, _before: QModelIndex) -> None:
        # The focus stays in the field, so nothing else notifies a screen reader of the row.
        if self.isVisible() and current.isValid():
            words = str(current.data(Qt.ItemDataRole.AccessibleTextRole))
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self.field, words))

    @Slot(QModelIndex)
    def _on_entered(self, index: QModelIndex) -> None:
        if QCursor.pos() != self._pointer:  # rows also appear below a pointer at rest
            self._pointer = QCursor.pos()
            self.list.setCurrentIndex(index)

    @Slot(QModelIndex)
    def _on_clicked(self, index: QModelIndex) -> None:
        self.list.setCurrentIndex(index)
        self._on_taken()

    @Slot()
    def _on_taken(self) -> None:
        index = self.list.currentIndex()
        if not index.isValid():
            return
        command: PaletteCommand = index.data(ROW).command
        if command.obstacle is not None:
            return
        self.leave()  # a command may move the focus elsewhere
        self._index.note_used(command)
        self.used.emit()
        command.run()

    @Slot(QWidget, QWidget)
    def _on_focus_changed(self, _old: QWidget | None, new: QWidget | None) -> None:
        if new is not None and self.isVisible() and not self.isAncestorOf(new):
            self.leave()


class PaletteField(QLineEdit):
    """Field for the query; keys of the list are passed to the list."""

    step_wanted = Signal(int)
    taken = Signal()
    left = Signal()

    def event(self, event: QEvent) -> bool:
        """Keep the sheet's keys from the window's shortcuts."""
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and (event.key() in _STEPS or self._ends(event))
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move through the list, choose a row, or leave."""
        key = Qt.Key(event.key())
        if key in _STEPS:
            self.step_wanted.emit(_STEPS[key])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.taken.emit()
        elif self._ends(event):
            self.left.emit()
        else:
            super().keyPressEvent(event)

    @staticmethod
    def _ends(event: QKeyEvent) -> bool:
        is_again = (
            event.key() == Qt.Key.Key_K and event.modifiers() == Qt.KeyboardModifier.ControlModifier
        )
        return is_again or event.key() == Qt.Key.Key_Escape


class PaletteModel(Rows[FoundCommand]):
    """The commands found."""

    def title(self, row: FoundCommand) -> str:
        """Return the name of the command."""
        return row.command.title

    def tip(self, row: FoundCommand) -> str:
        """Return why it cannot be used now."""
        return row.command.obstacle or ""

    def spoken(self, row: FoundCommand) -> str:
        """Return the name with its place and its keys."""
        command = row.command
        parts = (command.title, command.group, command.keys, command.obstacle)
        return ", ".join(part for part in parts if part)


class PaletteRow(QStyledItemDelegate):
    """Painter of `FoundCommand` rows."""

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:
        """Return the same size for all rows."""
        return QSize(200, px(ROW_PX))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint one row."""
        row: FoundCommand = index.data(ROW)
        command, theme = row.command, look.theme
        is_possible = command.obstacle is None
        rect = QRect(option.rect).adjusted(0, 1, 0, -1)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.accent_soft))
            painter.drawRoundedRect(rect, 6, 6)
        inner = rect.adjusted(GAP, 0, -GAP, 0)
        if command.is_on:
            self._paint_tick(painter, inner)
        inner.setLeft(inner.left() + _MARK_PX + STEP)
        right = self._paint_keys(painter, inner, command.keys)
        aside = command.obstacle or command.group
        small = QFontMetrics(ui_font(SMALL))
        width = min(small.horizontalAdvance(aside) + 2, max(inner.width() // 2, 80))
        place = QRect(right - width, inner.top(), width, inner.height())
        painter.setFont(ui_font(SMALL))
        painter.setPen(QColor(theme.muted))
        draw_text(painter, place, aside, RIGHT)
        title = QRect(inner.left(), inner.top(), place.left() - GAP - inner.left(), inner.height())
        ink = theme.text if is_possible else theme.faint
        self._paint_title(painter, title, row, ink)
        painter.restore()

    def _paint_tick(self, painter: QPainter, inner: QRect) -> None:
        painter.setPen(QPen(QColor(look.theme.accent), 2))
        x, y = inner.left() + 2, inner.center().y()
        painter.drawPolyline([QPoint(x + at, y + by) for at, by in _TICK])

    def _paint_keys(self, painter: QPainter, inner: QRect, keys: str) -> int:
        """Paint the shortcut at the right; return its left edge."""
        if not keys:
            return inner.right()
        width = QFontMetrics(mono_font(SMALL)).horizontalAdvance(keys) + 12
        height = px(20)
        field = QRect(inner.right() - width, inner.center().y() - height // 2 + 1, width, height)
        painter.setPen(QPen(QColor(look.theme.line_strong), 1))
        painter.setBrush(QColor(look.theme.surface))
        painter.drawRoundedRect(field, 5, 5)
        painter.setFont(mono_font(SMALL))
        painter.setPen(QColor(look.theme.muted))
        painter.drawText(field, Qt.AlignmentFlag.AlignCenter, keys)
        return field.left() - GAP

    def _paint_title(self, painter: QPainter, area: QRect, row: FoundCommand, ink: str) -> None:
        found = set(row.match.places)
        title = row.command.title
        plain, strong = ui_font(), ui_font(weight=QFont.Weight.DemiBold)
        shown = QFontMetrics(plain).elidedText(title, Qt.TextElideMode.ElideRight, area.width())
        x = area.left()
        for text, is_found in _runs(shown, found):
            painter.setFont(strong if is_found else plain)
            is_marked = is_found and row.command.obstacle is None
            painter.setPen(QColor(look.theme.accent if is_marked else ink))
            painter.drawText(QRect(x, area.top(), area.right() - x + 2, area.height()), LEFT, text)
            x += painter.fontMetrics().horizontalAdvance(text)


def _runs(text: str, found: set[int]) -> list[tuple[str, bool]]:
    """Split a text into runs of matched and other letters."""
    runs: list[tuple[str, bool]] = []
    for at, letter in enumerate(text):
        is_found = at in found
        if runs and runs[-1][1] == is_found:
            runs[-1] = (runs[-1][0] + letter, is_found)
        else:
            runs.append((letter, is_found))
    return runs
