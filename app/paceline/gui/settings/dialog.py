"""The settings: pages at the left, a search over all of them, and everything acts at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QSize, Qt, QTimer, Slot
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from paceline.gui.kit.dialogs import closing_row, scrolling
from paceline.gui.kit.search_field import SearchField
from paceline.gui.look.scale import GAP, STEP, px
from paceline.gui.settings.pages import GeneralPage, LooksPage, ModelsPage, PrivacyPage

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from paceline.gui.settings.forms import SettingsPage
    from paceline.gui.state.settings_store import Setting, SettingsStore

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
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowModality(Qt.WindowModality.WindowModal)
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
        self.list = QListWidget()
        self.list.setProperty("kind", "chats")
        self.list.setAccessibleName(self.tr("Pages"))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.stack = QStackedWidget()
        for page in self.pages:
            self.list.addItem(QListWidgetItem(page.title))
            self.stack.addWidget(scrolling(page))
        self._nothing = QLabel(self.tr("No setting contains these words."))
        self._nothing.setProperty("role", "muted")
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

    def changeEvent(self, event: QEvent) -> None:
        """Make room for another size of text."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self._fit()

    def _fit(self) -> None:
        """Make room for names in the size that the text has."""
        self._side.setFixedWidth(px(_LIST_PX))
        self.setMinimumSize(px(680), px(400))
        for row in range(self.list.count()):
            self.list.item(row).setSizeHint(QSize(100, px(_ROW_PX)))

    def _lay_out(self) -> None:
        self.reset = QPushButton(self.tr("Reset this page"))
        self.reset.setProperty("kind", "quiet")
        self.reset.clicked.connect(self._on_reset)
        self.told = QLabel()
        self.told.setProperty("role", "small")
        self.undo = QPushButton(self.tr("Undo"))
        self.undo.setProperty("kind", "quiet")
        self.undo.clicked.connect(self._on_undo)
        for button in (self.reset, self.undo):
            button.setAutoDefault(False)
        self._foot = closing_row(self, (self.reset, self.told, self.undo))
        self._side = QWidget()
        self._side.setProperty("kind", "sidebar")
        self._side.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        side = QVBoxLayout(self._side)
        side.setContentsMargins(GAP, GAP, GAP, GAP)
        side.setSpacing(STEP)
        side.addWidget(self.search)
        side.addWidget(self.list, 1)
        middle = QHBoxLayout()
        middle.setSpacing(0)
        middle.addWidget(self._side)
        middle.addWidget(self.stack, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(middle, 1)
        column.addWidget(self._foot)
        self._fit()
        self._show_undo("")

    def sizeHint(self) -> QSize:
        """Room for every page without scrolling, at scale 1."""
        return QSize(860, 660)

    def _show_undo(self, words: str) -> None:
        self.told.setText(words)
        self.told.setVisible(bool(words))
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
