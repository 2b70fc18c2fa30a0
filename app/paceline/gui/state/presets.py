"""Presets that the user names: their list, the menu that offers them, the dialog for a name.

There are presets of sampling and of draft settings. Main thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from paceline.chat.presets import clean_name
from paceline.gui.kit.dialogs import DialogOwner, NameDialog
from paceline.names import visible
from paceline.settings import MAX_PRESETS, DraftPreset, ReplyPreset

_Preset = TypeVar("_Preset", ReplyPreset, DraftPreset)
_List = TypeVar("_List", bound="PresetList[Any]")


class PresetList(QObject, Generic[_Preset]):
    """The user's presets of one kind.

    Attributes:
        own: All of them, in the order in which they are saved.
    """

    changed = Signal()
    """The list has changed, or what it is compared with."""
    kept_changed = Signal()
    """The values to be saved have changed."""

    def __init__(self, own: Sequence[_Preset] = (), parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.own: tuple[_Preset, ...] = tuple(own)

    @property
    def offered(self) -> tuple[_Preset, ...]:
        """Presets that can be chosen now."""
        return self.own

    @property
    def titles(self) -> list[str]:
        """Names that no further preset may have."""
        return [preset.name for preset in self.offered]

    @property
    def room(self) -> int:
        """Number of named presets that may still be added; an older file may have one too many."""
        return max(MAX_PRESETS - sum(bool(preset.name) for preset in self.own), 0)

    def find(self, name: str) -> _Preset | None:
        """Return the preset of this name that can be chosen, or None if there is none."""
        return next((preset for preset in self.offered if preset.name == name), None)

    def obstacle(self, name: str, but: str = "") -> str:
        """Return why a preset cannot have a name, or empty if it can; `but` is its present name."""
        name = clean_name(name)
        if not name:
            return self.tr("Give the preset a name.")
        if name.casefold() in {title.casefold() for title in self.titles if title != but}:
            return self.tr("There is a preset of this name.")
        return ""

    def rename(self, old: str, new: str) -> None:
        """Rename a preset; the new name has no obstacle."""
        found = self.find(old)
        if found is not None:
            renamed = replace(found, name=clean_name(new))
            self.set_own(tuple(renamed if preset is found else preset for preset in self.own))

    def delete(self, name: str) -> None:
        """Drop a preset."""
        found = self.find(name)
        if found is not None:
            self.set_own(tuple(preset for preset in self.own if preset is not found))

    def set_own(self, own: tuple[_Preset, ...]) -> None:
        """Replace the list."""
        self.own = own
        self.changed.emit()
        self.kept_changed.emit()


class PresetMenu(QMenu):
    """A menu that is filled each time it opens; `add_entry` fills it."""

    def __init__(self, fill: Callable[[QMenu], None], parent: QWidget) -> None:
        super().__init__(parent)
        self._fill = fill
        self.setToolTipsVisible(True)
        self.aboutToShow.connect(self.fill)
        self.triggered.connect(self._on_triggered)

    @Slot()
    def fill(self) -> None:
        """Replace the entries by the present ones."""
        self.clear()
        self._fill(self)

    @Slot(QAction)
    def _on_triggered(self, action: QAction) -> None:
        action.data()()


def add_entry(
    menu: QMenu,
    text: str,
    run: Callable[[], object],
    *,
    is_on: bool = True,
    is_chosen: bool | None = None,
    explanation: str = "",
) -> None:
    """Add an entry to a `PresetMenu`, or to a menu in it.

    Args:
        menu: The menu.
        text: Its words; names in them are not translated.
        run: Called when it is chosen.
        is_on: Whether it can be chosen.
        is_chosen: Whether it has a tick, or None for an entry without one.
        explanation: Its tooltip, or empty to repeat the text.
    """
    action = menu.addAction(visible(text).replace("&", "&&"))
    action.setData(run)
    action.setEnabled(is_on)
    action.setCheckable(is_chosen is not None)
    action.setChecked(bool(is_chosen))
    if explanation:
        action.setToolTip(explanation)


class PresetNamer(DialogOwner[NameDialog], Generic[_List]):
    """Dialog owner for the names of presets.

    Attributes:
        presets: The list whose presets are named.
    """

    def __init__(self, presets: _List, window: QWidget, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.presets = presets
        self._window = window

    def ask_name(self, title: str, action: str, done: Callable[[str], None], but: str = "") -> None:
        """Open a dialog that calls a function with a name that has no obstacle.

        Args:
            title: The title of the dialog.
            action: The text of the button.
            done: Takes the name.
            but: The name that a preset has already.
        """
        obstacle = partial(self.presets.obstacle, but=but)
        dialog = NameDialog(title, action, obstacle, done, name=but, parent=self._window)
        self.own(dialog).open()

    def ask_new_name(self, name: str) -> None:
        """Ask for another name of a preset and rename it."""
        done = partial(self.presets.rename, name)
        self.ask_name(self.tr("Rename the preset"), self.tr("Rename"), done, name)
