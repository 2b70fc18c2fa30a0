"""The line at the bottom: the engine's state at the left, what the next reply uses at the right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QStatusBar, QWidget

from paceline.gui.widgets.elided_label import ElidedLabel

if TYPE_CHECKING:
    from paceline.gui.theme import Theme


_FACTS_PX, _SETTINGS_PX = 420, 520


class StatusLine(QStatusBar):
    """A dot with the state, facts about the engine, and the settings in force."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizeGripEnabled(False)
        self.setContentsMargins(12, 0, 14, 0)
        self._theme = theme
        self._tone = "muted"
        self._state = QLabel()
        self._facts = ElidedLabel(_FACTS_PX, Qt.TextElideMode.ElideRight)
        self._settings = ElidedLabel(_SETTINGS_PX, Qt.TextElideMode.ElideMiddle)
        for label in (self._state, self._facts):
            self.addWidget(label)
        self.addPermanentWidget(self._settings)
        self._words = ""

    @property
    def state(self) -> str:
        """The state in words."""
        return self._words

    @property
    def settings(self) -> str:
        """What is said about the next reply."""
        return self._settings.full_text

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours."""
        self._theme = theme
        self.set_state(self._words, self._tone)

    def set_state(self, words: str, tone: str) -> None:
        """Show a state; the tone is a colour's name in the theme."""
        self._words, self._tone = words, tone
        colour = getattr(self._theme, tone)
        self._state.setText(f'<span style="color:{colour}">●</span> {words}')
        self._state.setAccessibleName(words)

    def set_facts(self, words: str, details: str) -> None:
        """Show facts about library and devices, and more on hover."""
        self._facts.set_full_text(words)
        self._facts.setToolTip(f"{words}\n{details}".strip())

    def set_settings(self, words: str) -> None:
        """Show what the next reply will use."""
        self._settings.set_full_text(words)
        self._settings.setToolTip(words)
