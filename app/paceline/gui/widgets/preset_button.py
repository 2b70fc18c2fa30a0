"""The button that shows and chooses the preset of replies, and the menu behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QPushButton, QSizePolicy, QWidget

if TYPE_CHECKING:
    from paceline.gui.viewmodels.presets import ReplyPresets

_TITLE_CHARS = 22
_MARK = " •"
"""Behind the name while other values are set than the preset's."""


class PresetMenu(QMenu):
    """All presets to choose from, and what can be done with them; made anew when it opens."""

    chosen = Signal(str)
    """Key of a preset"""
    save_as_wanted = Signal()
    update_wanted = Signal()
    rename_wanted = Signal()
    delete_wanted = Signal()
    import_wanted = Signal()
    export_wanted = Signal()

    def __init__(self, presets: ReplyPresets, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._presets = presets
        self.setToolTipsVisible(True)
        self.aboutToShow.connect(self.fill)
        self.fill()

    @Slot()
    def fill(self) -> None:
        """Show what there is now."""
        self.clear()
        presets = self._presets
        was_built_in = True
        for row in presets.rows:
            if was_built_in and not row.is_built_in:
                self.addSeparator()
            was_built_in = row.is_built_in
            action = self.addAction(_menu_text(row.title))
            action.setCheckable(True)
            action.setChecked(row.key == presets.chosen)
            action.setData(row.key)
            action.setToolTip(row.summary)
            action.triggered.connect(self._on_preset)
        self.addSeparator()
        own = presets.chosen_own
        self._add(self.tr("Save as…"), self.save_as_wanted.emit, is_on=presets.room > 0)
        if own is not None:
            name = _menu_text(own.name)
            self._add(
                self.tr("Update “{}”").format(name), self.update_wanted.emit, is_on=presets.differs
            )
            self._add(self.tr("Rename “{}”…").format(name), self.rename_wanted.emit)
            self._add(self.tr("Delete “{}”").format(name), self.delete_wanted.emit)
        self.addSeparator()
        self._add(self.tr("Import…"), self.import_wanted.emit)
        self._add(self.tr("Export…"), self.export_wanted.emit, is_on=bool(presets.own))

    def _add(self, text: str, slot: object, *, is_on: bool = True) -> None:
        action = self.addAction(text)
        action.setEnabled(is_on)
        action.triggered.connect(slot)

    @Slot()
    def _on_preset(self) -> None:
        action = cast("QAction", self.sender())
        action.setChecked(action.data() == self._presets.chosen)  # the tick follows the choice
        self.chosen.emit(action.data())


class PresetButton(QPushButton):
    """Says which preset is in force; `long` has the word before it and takes the whole width."""

    def __init__(self, presets: ReplyPresets, *, long: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._presets = presets
        self.menu_ = PresetMenu(presets, self)
        self.setProperty("kind", "chip" if long else "quiet")
        if long:
            self.setProperty("align", "left")
            self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        if long:
            # With a menu of its own, text at the left would lose its margin.
            self.clicked.connect(self._on_clicked)
        else:
            self.setMenu(self.menu_)
        presets.changed.connect(self.refresh)
        self.refresh()

    @Slot()
    def _on_clicked(self) -> None:
        self.menu_.popup(self.mapToGlobal(QPoint(0, self.height())))

    @Slot()
    def refresh(self) -> None:
        """Show the choice."""
        presets = self._presets
        title = presets.title or self.tr("none")
        mark = _MARK if presets.differs else ""
        words = self.tr("Preset: {}").format(f"{_short(title)}{mark}")
        self.setText(f"{_menu_text(words)} ▾")
        name = self.tr("Preset of replies: {}").format(title)
        if presets.differs:
            name = self.tr("{}, changed since").format(name)
        self.setAccessibleName(name)
        explanation = self.tr("How replies are drawn: temperature, length, stop strings, prompt.")
        if presets.differs:
            explanation = self.tr("{}\n• Other values are set than those of “{}”.").format(
                explanation, title
            )
        self.setToolTip(explanation)


def _short(title: str) -> str:
    return title if len(title) <= _TITLE_CHARS else f"{title[: _TITLE_CHARS - 1]}…"


def _menu_text(text: str) -> str:
    return text.replace("&", "&&")
