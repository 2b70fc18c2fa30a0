"""The settings dialog, and what keeps menus and the look in line with the settings about it.

The dialog has pages at the left and a search over all of them; everything acts at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QSize, Qt, QTimer, Slot
from PySide6.QtWidgets import (
    QDialog,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QStackedWidget,
    QWidget,
)

from paceline import logs
from paceline.gui.kit.dialogs import DialogOwner, closing_row, scrolling
from paceline.gui.kit.labels import say, text_label
from paceline.gui.kit.layouts import column_of, row_of, styled
from paceline.gui.kit.search_field import SearchField
from paceline.gui.look.current import look
from paceline.gui.look.scale import BASE_PX, GAP, STEP, px
from paceline.gui.settings.pages import GeneralPage, LooksPage, ModelsPage, PrivacyPage
from paceline.settings import HIGHEST_FONT_PX, LOWEST_FONT_PX

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from PySide6.QtGui import QAction

    from paceline.gui.context import AppContext
    from paceline.gui.settings.forms import SettingsPage
    from paceline.gui.state.actions import Actions
    from paceline.gui.state.settings_store import Setting, SettingsStore
    from paceline.paths import Paths


class SettingsController(DialogOwner["SettingsDialog"]):
    """Owns the dialog; main thread."""

    def __init__(self, context: AppContext, paths: Paths, *, has_library: bool) -> None:
        """Open the dialog when the menu asks for it.

        Args:
            context: The settings and the window.
            paths: The folders that the dialog names.
            has_library: Whether there is a library of models, which has folders of the user's.
        """
        super().__init__(context.window)
        self._context = context
        self._paths = paths
        self._has_library = has_library
        context.actions.settings.triggered.connect(self.open)

    @Slot()
    def open(self) -> None:
        """Show the dialog, or bring it to the front."""
        if self.dialog is None:
            dialog = SettingsDialog(
                self._context.settings,
                places=self._places(),
                has_library=self._has_library,
                parent=self._context.window,
            )
            self.own(dialog).open()
        self.bring_to_front()

    def _places(self) -> tuple[tuple[str, Path], ...]:
        """The program's folders, with their names."""
        log = logs.current_file()
        places = (
            (self.tr("Chats"), self._paths.data_dir),
            (self.tr("Settings"), self._paths.config_dir),
            (self.tr("Measurements"), self._paths.cache_dir),
        )
        return places if log is None else (*places, (self.tr("Log"), log.parent))


class Appearance(QObject):
    """Applies theme, size of text and motion when they change; main thread."""

    def __init__(self, store: SettingsStore, actions: Actions, parent: QObject) -> None:
        super().__init__(parent)
        self._store = store
        self._actions = actions
        # A held key asks for many sizes, and dressing a window takes a while: only the last counts.
        self._resize = QTimer(self, singleShot=True, interval=0)
        self._resize.timeout.connect(self._on_resize)
        store.changed.connect(self._on_changed)
        actions.flip_theme.triggered.connect(self._on_flip_theme)
        actions.themes.triggered.connect(self._on_theme_chosen)
        actions.larger.triggered.connect(self._on_larger)
        actions.smaller.triggered.connect(self._on_smaller)
        actions.normal_size.triggered.connect(self._on_normal_size)
        self._show_choices()

    def _show_choices(self) -> None:
        theme, size = self._store.value("theme"), self._store.value("font_px")
        for action in self._actions.themes.actions():
            action.setChecked(action.data() == theme)
        self._actions.larger.setEnabled(size < HIGHEST_FONT_PX)
        self._actions.smaller.setEnabled(size > LOWEST_FONT_PX)
        self._actions.normal_size.setEnabled(size != BASE_PX)

    @Slot(str)
    def _on_changed(self, name: str) -> None:
        if name == "theme":
            look.set_mode(self._store.value(name))
        elif name == "font_px":
            self._resize.start()
        elif name == "motion":
            look.set_motion(self._store.value(name))
        elif name == "wraps_code":
            look.set_code_wrap(self._store.value(name))
        self._show_choices()

    @Slot()
    def _on_resize(self) -> None:
        look.set_font_px(self._store.value("font_px"))

    @Slot()
    def _on_flip_theme(self) -> None:
        self._store.set("theme", "light" if look.theme.is_dark else "dark")

    @Slot("QAction*")
    def _on_theme_chosen(self, action: QAction) -> None:
        self._store.set("theme", action.data())

    @Slot()
    def _on_larger(self) -> None:
        self._resize_by(1)

    @Slot()
    def _on_smaller(self) -> None:
        self._resize_by(-1)

    @Slot()
    def _on_normal_size(self) -> None:
        self._store.set("font_px", BASE_PX)

    def _resize_by(self, step: int) -> None:
        size = self._store.value("font_px") + step
        self._store.set("font_px", max(LOWEST_FONT_PX, min(size, HIGHEST_FONT_PX)))


_LIST_PX = 208
_ROW_PX = 38


class SettingsDialog(QDialog):
    """Shows the store of settings; there is no OK, and a reset can be undone.

    A page is built when it is turned to, and the rest when something is searched for.
    """

    def __init__(
        self,
        store: SettingsStore,
        *,
        places: Sequence[tuple[str, Path]],
        has_library: bool,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Settings"))
        self._before: list[tuple[Setting, Any]] = []
        self.looks = LooksPage(store)
        self.models = ModelsPage(store, has_library=has_library)
        self.privacy = PrivacyPage(store, places)
        self.pages: tuple[SettingsPage, ...] = (
            GeneralPage(store), self.looks, self.models, self.privacy,
        )  # fmt: skip
        self.search = SearchField(self.tr("Search settings"))
        self.search.textChanged.connect(self._on_search)
        self._next = QTimer(self)  # one page per turn of the event loop
        self._next.setSingleShot(True)
        self._next.setInterval(0)
        self._next.timeout.connect(self._on_next)
        self.list = styled(QListWidget(), kind="chats")
        self.list.setAccessibleName(self.tr("Pages"))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.stack = QStackedWidget()
        for page in self.pages:
            self.list.addItem(QListWidgetItem(page.title))
            self.stack.addWidget(scrolling(page))
        self._nothing = text_label(self.tr("No setting contains these words."), "muted")
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.stack.addWidget(self._nothing)
        self.list.currentRowChanged.connect(self._on_row)
        self._lay_out()
        self.list.setCurrentRow(0)
        self.list.setFocus()
        self.resize(px(860), px(660))

    def show_page(self, name: str) -> None:
        """Turn to "general", "looks", "models" or "privacy", which is built by then."""
        self.list.setCurrentRow(("general", "looks", "models", "privacy").index(name))

    @Slot()
    def _fit(self) -> None:
        """Make room for names in the size that the text has."""
        self._side.setFixedWidth(px(_LIST_PX))
        self.setMinimumSize(px(680), px(400))
        for row in range(self.list.count()):
            self.list.item(row).setSizeHint(QSize(100, px(_ROW_PX)))

    def _lay_out(self) -> None:
        self.reset = styled(QPushButton(self.tr("Reset this page")), kind="quiet")
        self.reset.clicked.connect(self._on_reset)
        self.told = text_label()
        self.undo = styled(QPushButton(self.tr("Undo")), kind="quiet")
        self.undo.clicked.connect(self._on_undo)
        for button in (self.reset, self.undo):
            button.setAutoDefault(False)
        self._foot = closing_row(self, (self.reset, self.told, self.undo))
        self._side = styled(QWidget(), kind="sidebar")
        self._side.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        column_of(self.search, (self.list, 1), on=self._side, margins=GAP, spacing=STEP)
        middle = row_of(self._side, (self.stack, 1), spacing=0)
        column_of((middle, 1), self._foot, on=self, margins=0, spacing=0)
        look.follow(self._fit)
        self._show_undo("")

    def sizeHint(self) -> QSize:
        """Room for every page without scrolling, at scale 1."""
        return QSize(860, 660)

    def _show_undo(self, words: str) -> None:
        say(self.told, words)
        self.undo.setVisible(bool(words))

    @Slot(int)
    def _on_row(self, row: int) -> None:
        if row >= 0:
            self.pages[row].build()
            self.stack.setCurrentIndex(row)
            self._order(self.pages[row])
        self._show_undo("")

    def _order(self, page: SettingsPage) -> None:
        """Let Tab come to the foot after the page, which may have been made later."""
        by_key = Qt.FocusPolicy.TabFocus
        # The lists of combo boxes are windows of their own.
        rows = [w for w in page.findChildren(QWidget) if w.window() is self]
        before = next(w for w in reversed(rows) if w.focusPolicy() & by_key)
        for button in self._foot.findChildren(QPushButton):
            self.setTabOrder(before, button)
            before = button

    @Slot()
    def _on_next(self) -> None:
        """Build another page, which the search may find something on."""
        waiting = [page for page in self.pages if not page.is_built]
        if waiting:
            waiting[0].build()
            self._on_search(self.search.text())

    @Slot(str)
    def _on_search(self, text: str) -> None:
        words = text.casefold().split()
        found = [page.show_matching(words) > 0 or not words for page in self.pages]
        for row, is_found in enumerate(found):
            self.list.item(row).setHidden(not is_found)
        row = self.list.currentRow()
        is_whole = not words or all(page.is_built for page in self.pages)
        if not is_whole:
            self._next.start()
        if not any(found):
            if not is_whole:
                return
            self.stack.setCurrentWidget(self._nothing)
        else:
            self.list.setCurrentRow(row if row >= 0 and found[row] else found.index(True))
            self.stack.setCurrentIndex(self.list.currentRow())
        self.reset.setEnabled(any(found))

    @Slot()
    def _on_reset(self) -> None:
        page = self.pages[self.list.currentRow()]
        self._before = [(each, each.value) for each in page.settings]
        for each in page.settings:
            each.set_value(each.default)
        self._show_undo(self.tr("“{}” is back to its defaults.").format(page.title))
        self.undo.setFocus()

    @Slot()
    def _on_undo(self) -> None:
        for each, value in self._before:
            each.set_value(value)
        self._show_undo("")
        self.reset.setFocus()
