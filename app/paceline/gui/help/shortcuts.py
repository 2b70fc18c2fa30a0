"""All keys of the window, read from its actions, and the dialog that lists them.

No list is kept: every key belongs to an action of a menu or of a widget, and these are read when
the dialog opens. Only the keys of the message field are listed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSize, Slot
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QDialog, QFrame, QMenuBar, QWidget

from paceline.gui.help.palette import actions_of, plain_text
from paceline.gui.kit.card import Card, FoundRow, show_matching
from paceline.gui.kit.dialogs import closing_row, scrolling, within_screen
from paceline.gui.kit.labels import text_label
from paceline.gui.kit.layouts import column_of, row_of, styled
from paceline.gui.kit.search_field import SearchField
from paceline.gui.kit.translation import translator
from paceline.gui.look.scale import GAP, HALF, PAGE, STEP, px

_tr = translator("Shortcuts")


@dataclass(frozen=True, slots=True)
class Shortcut:
    """Keys with their action.

    Attributes:
        group: The menu, or the widget that must have the focus.
        title: The action.
        keys: All key sequences for it, in the words of the platform.
    """

    group: str
    title: str
    keys: tuple[str, ...]


def shortcuts_of(menus: QMenuBar, window: QWidget) -> list[Shortcut]:
    """Return all keys of a window: of its menus in their order, then of single widgets."""
    found = []
    listed: set[QAction] = set()
    for path, action in actions_of(menus):
        listed.add(action)
        if action.shortcuts():
            found.append(_shortcut(path.split(" › ")[0], action))
    for action in window.findChildren(QAction):
        if action.shortcuts() and action not in listed and action.isVisible() and action.text():
            listed.add(action)
            found.append(_shortcut(_owner(action), action))
    return [*found, *_of_the_message_field()]


def _shortcut(group: str, action: QAction) -> Shortcut:
    native = QKeySequence.SequenceFormat.NativeText
    keys = tuple(keys.toString(native) for keys in action.shortcuts())
    return Shortcut(group, plain_text(action).rstrip("…"), keys)


def _owner(action: QAction) -> str:
    """Return the name of the widget that an action belongs to."""
    for owner in action.associatedObjects():
        if isinstance(owner, QWidget) and owner.accessibleName():
            return owner.accessibleName()
    return _tr("Elsewhere")


def _of_the_message_field() -> list[Shortcut]:
    group = _tr("Message field")
    return [
        Shortcut(group, _tr("Send, as chosen in the settings"), ("Enter", "Ctrl+Enter")),
        Shortcut(group, _tr("Begin a new line"), ("Shift+Enter",)),
    ]


class ShortcutsDialog(QDialog):
    """List of shortcuts by group, with a search."""

    def __init__(
        self,
        shortcuts: Sequence[Shortcut],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Keyboard shortcuts"))
        self.search = SearchField(self.tr("Search by name or key"))
        self.search.textChanged.connect(self._on_search)
        self.rows: list[FoundRow] = []
        self._nothing = text_label(self.tr("No shortcut contains these words."), "muted")
        self._nothing.hide()
        page = styled(QWidget(), kind="page")
        cards = column_of(self._nothing, on=page, margins=(PAGE, STEP, PAGE, PAGE), spacing=GAP)
        card = Card()
        group = ""
        for shortcut in shortcuts:
            if shortcut.group != group or not self.rows:
                group = shortcut.group
                card = Card(group)
                cards.addWidget(card)
            row = _row(shortcut)
            card.body.addWidget(row)
            words = " ".join((shortcut.group, shortcut.title, *shortcut.keys)).casefold()
            self.rows.append(FoundRow(card, row, words))
        cards.addStretch(1)
        head = column_of(self.search, margins=(PAGE, 2 * STEP, PAGE, STEP))
        column_of(
            head,
            (scrolling(page, self.tr("Shortcuts")), 1),
            closing_row(self),
            on=self,
            margins=0,
            spacing=0,
        )
        self.setMinimumSize(420, 320)
        self.resize(within_screen(self, QSize(px(560), px(640))))
        self.search.setFocus()

    @Slot(str)
    def _on_search(self, text: str) -> None:
        n_found = show_matching(self.rows, text.casefold().split())
        self._nothing.setVisible(not n_found)


def _row(shortcut: Shortcut) -> QWidget:
    row = QFrame()
    row.setAccessibleName(f"{shortcut.title}: {_tr(' or ').join(shortcut.keys)}")
    line = row_of(on=row, margins=0, spacing=HALF)
    title = text_label(shortcut.title, "", wraps=True)
    line.addWidget(title, 1)
    for keys in shortcut.keys:
        cap = text_label(keys, "keys")
        line.addWidget(cap)
    return row
