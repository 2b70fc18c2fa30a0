"""The sheet of the palette: a field and a list at the top of the window, gone with the first Esc.

It is a child of the window and no window of its own: it needs no window manager to stand in the
right place, and the keyboard comes back to where it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt, Signal, Slot
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QAction, QColor, QKeyEvent
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QGraphicsDropShadowEffect,
    QLabel,
    QLineEdit,
    QListView,
    QVBoxLayout,
    QWidget,
)

from paceline.gui.scale import HALF, STEP, px
from paceline.gui.widgets.palette.model import ROW_ROLE, PaletteModel
from paceline.gui.widgets.palette.row import ROW_PX, PaletteRow

if TYPE_CHECKING:
    from paceline.gui.icons import Icons
    from paceline.gui.theme import Theme
    from paceline.gui.widgets.palette.commands import CommandIndex, PaletteCommand

WIDTH_PX = 640
_MAX_SHOWN = 11
_FROM_TOP = 56
_STEPS = {
    Qt.Key.Key_Down: 1,
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_PageDown: _MAX_SHOWN - 1,
    Qt.Key.Key_PageUp: 1 - _MAX_SHOWN,
}


class PaletteField(QLineEdit):
    """Where the query is typed; the keys of the list belong to the list."""

    step_wanted = Signal(int)
    taken = Signal()
    left = Signal()

    def event(self, event: QEvent) -> bool:
        """Keep the keys of the sheet from the window's shortcuts."""
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and (event.key() in _STEPS or self._ends(event))
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go through the list, take a row, or leave."""
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


class PaletteSheet(QFrame):
    """Shows a `CommandIndex` over a window."""

    def __init__(self, index: CommandIndex, theme: Theme, icons: Icons, window: QWidget) -> None:
        super().__init__(window)
        self.hide()
        self.setObjectName("palette")
        self.setProperty("kind", "sheet")
        self.setAccessibleName(self.tr("Commands"))
        self._index = index
        self._window = window
        self._before: QWidget | None = None
        self.field = PaletteField()
        self.field.setProperty("kind", "palette")
        self._icons = icons
        self._sign = QAction(self)
        self.field.addAction(self._sign, QLineEdit.ActionPosition.LeadingPosition)
        self.field.setPlaceholderText(self.tr("Find a command, chat, strategy or pair"))
        self.field.setAccessibleName(self.field.placeholderText())
        self.model = PaletteModel(self)
        self._make_list(theme)
        self.nothing = QLabel(self.tr("Nothing is called like this."))
        self.nothing.setProperty("role", "muted")
        self.nothing.setContentsMargins(STEP, STEP, STEP, STEP)
        column = QVBoxLayout(self)
        column.setContentsMargins(STEP, STEP, STEP, STEP)
        column.setSpacing(HALF)
        column.addWidget(self.field)
        column.addWidget(self.list, 1)
        column.addWidget(self.nothing)
        self._shadow = QGraphicsDropShadowEffect(self)
        self._shadow.setBlurRadius(32)
        self._shadow.setOffset(0, 8)
        self.setGraphicsEffect(self._shadow)
        self.set_theme(theme)
        self.field.textChanged.connect(self._search)
        self.field.step_wanted.connect(self._on_step)
        self.field.taken.connect(self._on_taken)
        self.field.left.connect(self.leave)
        self.list.clicked.connect(self._on_clicked)
        self.list.entered.connect(self.list.setCurrentIndex)
        self.list.selectionModel().currentChanged.connect(self._on_current)
        if isinstance(app := QApplication.instance(), QApplication):
            app.focusChanged.connect(self._on_focus_changed)

    def _make_list(self, theme: Theme) -> None:
        self.list = QListView()
        self.list.setObjectName("palette_rows")
        self.list.setProperty("kind", "menu")
        self.list.setAccessibleName(self.tr("Commands that were found"))
        self.list.setModel(self.model)
        self.list.setUniformItemSizes(True)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setMouseTracking(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._rows = PaletteRow(theme, self.list)
        self.list.setItemDelegate(self._rows)

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours, or another size of text."""
        self._rows.set_theme(theme)
        self._sign.setIcon(self._icons.icon("search"))
        self._shadow.setColor(QColor(0, 0, 0, 130 if theme.is_dark else 60))
        self._place()

    def open(self) -> None:
        """Show the sheet with everything that there is."""
        self._before = QApplication.focusWidget()
        self._window.installEventFilter(self)  # only now: it sees every event of the window
        self._index.refresh()
        self.field.clear()
        self._search("")
        self.show()
        self.raise_()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)

    @Slot()
    def leave(self) -> None:
        """Hide the sheet and give the keyboard back."""
        if self.isHidden():
            return
        before, self._before = self._before, None
        had_focus = self.field.hasFocus()
        self._window.removeEventFilter(self)
        self.hide()
        if had_focus and before is not None and before.isVisible():
            before.setFocus(Qt.FocusReason.PopupFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the place when the window changes its size."""
        if watched is self._window and event.type() == QEvent.Type.Resize:
            self._place()
        return super().eventFilter(watched, event)

    def _place(self) -> None:
        window = self._window
        n_rows = self.model.rowCount()
        width = min(px(WIDTH_PX), window.width() - 4 * STEP)
        around = self.field.sizeHint().height() + 2 * STEP + HALF + 2 * self.list.frameWidth()
        room = window.height() - _FROM_TOP - 2 * STEP - around
        n_shown = max(min(n_rows, _MAX_SHOWN, room // px(ROW_PX)), 1)  # no row is cut
        height = around + n_shown * px(ROW_PX)
        self.setGeometry((window.width() - width) // 2, _FROM_TOP, width, height)

    @Slot(str)
    def _search(self, text: str) -> None:
        self.model.show_rows(self._index.rows(text))
        has_rows = self.model.rowCount() > 0
        self.list.setVisible(has_rows)
        self.nothing.setVisible(not has_rows)
        if has_rows:
            self.list.setCurrentIndex(self.model.index(0, 0))
            self.list.scrollToTop()
        self._place()

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
        # The keyboard stays in the field, so nobody else tells a screen reader of the row.
        if self.isVisible() and current.isValid():
            words = str(current.data(Qt.ItemDataRole.AccessibleTextRole))
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self.field, words))

    @Slot(QModelIndex)
    def _on_clicked(self, index: QModelIndex) -> None:
        self.list.setCurrentIndex(index)
        self._on_taken()

    @Slot()
    def _on_taken(self) -> None:
        index = self.list.currentIndex()
        if not index.isValid():
            return
        command: PaletteCommand = index.data(ROW_ROLE).command
        if command.obstacle is not None:
            return
        self.leave()  # a command may put the keyboard somewhere else
        self._index.note_used(command)
        command.run()

    @Slot(QWidget, QWidget)
    def _on_focus_changed(self, _old: QWidget | None, new: QWidget | None) -> None:
        if new is not None and self.isVisible() and not self.isAncestorOf(new):
            self.leave()
