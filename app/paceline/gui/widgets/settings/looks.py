"""How the window looks: theme, size of the text, colours of tokens, motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from paceline.gui.scale import GAP, STEP
from paceline.gui.theme import ui_font
from paceline.gui.widgets.settings.controls import ChoiceField, SizeField, SwitchRow
from paceline.gui.widgets.settings.page import SettingRow, SettingsPage
from paceline.gui.widgets.settings.theme_pictures import ThemePictures
from paceline.settings import HIGHEST_FONT_PX, LOWEST_FONT_PX

if TYPE_CHECKING:
    from paceline.gui.preferences import Preferences
    from paceline.gui.theme import Theme


class LooksPage(SettingsPage):
    """Everything here is seen at once, behind the dialog and in it."""

    def __init__(
        self, preferences: Preferences, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.set_title(self.tr("Appearance"))
        self._all = preferences
        self._theme = theme

    def _fill(self) -> None:
        preferences = self._all
        colours = self.section(self.tr("Colours"))
        self.themes = ThemePictures(self._theme, preferences.theme)
        row = SettingRow(self.tr("Theme"), "", self.themes, is_wide=True)
        self.add(colours, row, (row.label.text(), self.tr("light dark mode")), preferences.theme)
        tokens = SwitchRow(
            self.tr("Token colours"),
            self.tr(
                "Replies show where each token came from: the draft model, a lookup, or the target."
            ),
            preferences.token_colours,
        )
        self.add(colours, tokens, (tokens.box.text(),), preferences.token_colours)

        text = self.section(self.tr("Text"))
        self.size_field = SizeField(LOWEST_FONT_PX, HIGHEST_FONT_PX, preferences.font_px)
        title = self.tr("Text size")
        self.size_field.name(title)
        self.sample = _Sample()
        self.size_field.moved.connect(self.sample.show_size)
        self.sample.show_size(preferences.font_px.value)
        size = SettingRow(
            title,
            self.tr("Everything grows with it. Keys: Ctrl + plus, Ctrl + minus, Ctrl + 0."),
            self.size_field,
            is_wide=True,
        )
        size.layout().addWidget(self.sample)  # type: ignore[union-attr]  # it has one
        self.add(text, size, (title, self.tr("font")), preferences.font_px)

        motion = self.section(self.tr("Motion"))
        moves = SettingRow(
            self.tr("Movement"),
            self.tr("Reduced: the view jumps instead of gliding, and nothing fades or blinks."),
            ChoiceField(
                (
                    ("system", self.tr("Like the desktop")),
                    ("full", self.tr("Full")),
                    ("reduced", self.tr("Reduced")),
                ),
                preferences.motion,
            ),
        )
        self.add(motion, moves, (moves.label.text(), self.tr("animation")), preferences.motion)

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours."""
        self._theme = theme
        if self.is_built:
            self.themes.set_theme(theme)


class _Sample(QFrame):
    """A few words in the size that the slider stands on."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "bubble")
        self._label = QLabel(
            self.tr("Four tokens drafted, three accepted: 41.2 tokens per second.")
        )
        self._label.setWordWrap(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(GAP, STEP, GAP, STEP)
        column.addWidget(self._label)

    @Slot(int)
    def show_size(self, size: int) -> None:
        """Show the words in a size in pixels, whatever size the window has."""
        font = ui_font()
        font.setPixelSize(size)
        self._label.setFont(font)
        # A style sheet's size for all labels would win over the font.
        self._label.setStyleSheet(f"font-size: {size}px;")
