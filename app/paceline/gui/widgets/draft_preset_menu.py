"""The small menu of the draft settings: strategies that have a name, for the pair in use."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

if TYPE_CHECKING:
    from collections.abc import Callable

    from paceline.gui.viewmodels.draft_presets import DraftPresets


class DraftPresetButton(QToolButton):
    """A link-like button; the menu is made anew when it opens."""

    chosen = Signal(str)
    """Name of a preset of the pair"""
    save_as_wanted = Signal()
    rename_wanted = Signal(str)
    delete_wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._presets: DraftPresets | None = None
        self._strategy: Callable[[], str] | None = None
        self.setProperty("kind", "link")
        self.setText(self.tr("Presets ▾"))
        self.setAccessibleName(self.tr("Presets of draft settings for this pair"))
        self.setToolTip(
            self.tr(
                "Strategies with their settings, kept for this pair of models. What was used last "
                "with a pair comes back by itself when the pair is loaded."
            )
        )
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.menu_ = QMenu(self)
        self.menu_.setToolTipsVisible(True)
        self.menu_.aboutToShow.connect(self.fill)
        self.setMenu(self.menu_)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.hide()

    def set_presets(self, presets: DraftPresets, strategy: Callable[[], str]) -> None:
        """Offer these; `strategy` gives the text in force, which is ticked."""
        self._presets, self._strategy = presets, strategy
        presets.changed.connect(self.refresh)
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """There is nothing to keep presets for without a pair."""
        self.setVisible(self._presets is not None and self._presets.pair is not None)

    @Slot()
    def fill(self) -> None:
        """Show what there is now."""
        self.menu_.clear()
        presets = self._presets
        if presets is None or self._strategy is None:
            return
        now = self._strategy()
        for preset in presets.named:
            action = self._add(self.menu_, preset.name, preset.name, self._on_chosen)
            action.setCheckable(True)
            action.setChecked(preset.strategy == now)
            action.setToolTip(preset.strategy)
        if not presets.named:
            self.menu_.addAction(self.tr("None for this pair yet")).setEnabled(False)
        self.menu_.addSeparator()
        save = self.menu_.addAction(self.tr("Save as…"))
        save.setEnabled(presets.room > 0)
        save.triggered.connect(self.save_as_wanted.emit)
        if presets.named:
            rename = self.menu_.addMenu(self.tr("Rename"))
            delete = self.menu_.addMenu(self.tr("Delete"))
            for preset in presets.named:
                self._add(rename, f"{preset.name}…", preset.name, self._on_rename)
                self._add(delete, preset.name, preset.name, self._on_delete)

    @staticmethod
    def _add(menu: QMenu, text: str, name: str, slot: Callable[[], None]) -> QAction:
        action = menu.addAction(text.replace("&", "&&"))
        action.setData(name)
        action.triggered.connect(slot)
        return action

    def _name(self) -> str:
        return str(cast("QAction", self.sender()).data())

    @Slot()
    def _on_chosen(self) -> None:
        self.chosen.emit(self._name())

    @Slot()
    def _on_rename(self) -> None:
        self.rename_wanted.emit(self._name())

    @Slot()
    def _on_delete(self) -> None:
        self.delete_wanted.emit(self._name())
