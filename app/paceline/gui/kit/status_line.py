"""The line at the window's foot: the engine's state, facts about it, and the settings in force."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QLabel, QStatusBar

from paceline.gui.kit.labels import ElidedLabel
from paceline.gui.look.current import look

_FACTS_PX, _SETTINGS_PX = 420, 520


class StatusLine(QStatusBar):
    """A dot with the state, facts about the engine, and the settings in force."""

    def __init__(self) -> None:
        super().__init__()
        self.setSizeGripEnabled(False)
        self.setContentsMargins(12, 0, 14, 0)
        self._words, self._tone = "", "muted"
        self._state = QLabel()
        self._facts = ElidedLabel(_FACTS_PX, Qt.TextElideMode.ElideRight)
        self._settings = ElidedLabel(_SETTINGS_PX, Qt.TextElideMode.ElideMiddle)
        for label in (self._state, self._facts):
            self.addWidget(label)
        self.addPermanentWidget(self._settings)
        look.follow(self._draw)

    @property
    def state(self) -> str:
        """The state in words."""
        return self._words

    @property
    def settings(self) -> str:
        """What is said about the next reply."""
        return self._settings.full_text

    def set_state(self, words: str, tone: str) -> None:
        """Show a state; the tone is a colour's name in the theme."""
        self._words, self._tone = words, tone
        self._state.setAccessibleName(words)
        self._draw()

    @Slot()
    def _draw(self) -> None:
        colour = getattr(look.theme, self._tone)
        self._state.setText(f'<span style="color:{colour}">●</span> {self._words}')

    def set_facts(self, words: str, details: str) -> None:
        """Show facts about library and devices, and more on hover."""
        self._facts.set_full_text(words)
        self._facts.setToolTip(f"{words}\n{details}".strip())

    def set_settings(self, words: str, details: str) -> None:
        """Show what the next reply will use, and more on hover."""
        self._settings.set_full_text(words)
        self._settings.setToolTip(details)
