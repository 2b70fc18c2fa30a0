"""General settings: language, writing, long chats, the start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paceline.gui.widgets.settings.controls import ChoiceField, SwitchRow
from paceline.gui.widgets.settings.page import SettingRow, SettingsPage

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from paceline.gui.preferences import Preferences


class GeneralPage(SettingsPage):
    """Settings that belong to no other page."""

    def __init__(self, preferences: Preferences, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.set_title(self.tr("General"))
        self._all = preferences

    def _fill(self) -> None:
        preferences = self._all
        window = self.section(self.tr("Window"))
        language = SettingRow(
            self.tr("Language"),
            self.tr("Takes effect at the next start."),
            ChoiceField(
                (
                    ("system", self.tr("Like the desktop")),
                    ("en", "English"),
                    ("de", "Deutsch"),
                ),
                preferences.language,
            ),
        )
        self.add(window, language, (language.label.text(), "english deutsch"), preferences.language)
        start = SwitchRow(
            self.tr("Start with the last chat"),
            self.tr("Off: every start shows a new, empty chat."),
            preferences.opens_last_chat,
        )
        self.add(window, start, (start.box.text(),), preferences.opens_last_chat)

        writing = self.section(self.tr("Writing"))
        send = SettingRow(
            self.tr("A message is sent by"),
            self.tr("Shift+Enter always makes a new line, and Ctrl+Enter always sends."),
            ChoiceField(
                (("enter", self.tr("Enter")), ("ctrl+enter", self.tr("Ctrl+Enter"))),
                preferences.send_key,
            ),
        )
        self.add(
            writing, send, (send.label.text(), self.tr("send key enter")), preferences.send_key
        )
        cuts = SwitchRow(
            self.tr("Shorten chats that outgrow the context"),
            self.tr(
                "The oldest messages are left out of what the model sees; the chat itself stays "
                "whole. Off: such a message is refused, and nothing is left out."
            ),
            preferences.cuts_long_chats,
        )
        self.add(writing, cuts, (cuts.box.text(), cuts.remark.text()), preferences.cuts_long_chats)
