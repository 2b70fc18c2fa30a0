"""What the shown chat has set otherwise than new chats, as a line above the composer's buttons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, Slot
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QWidget

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paceline.gui.sampling.presets import ReplyPresets
    from paceline.params import ReplySettings

_MOST = 3
"""Differences that are named; the tooltip has all of them."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("SettingsBadge", text)


def _names() -> dict[str, str]:
    translate = QCoreApplication.translate  # as the sliders are called
    return {
        "temperature": translate("SamplingSliders", "Temperature"),
        "top_k": translate("SamplingSliders", "Top-k"),
        "top_p": translate("SamplingSliders", "Top-p"),
        "min_p": translate("SamplingSliders", "Min-p"),
        "repeat_penalty": translate("SamplingSliders", "Repeat penalty"),
        "presence_penalty": translate("SamplingSliders", "Presence"),
        "frequency_penalty": translate("SamplingSliders", "Frequency"),
    }


def differences(now: ReplySettings, usual: ReplySettings) -> Iterator[str]:
    """Yield in a few words each what is set otherwise."""
    drawn, usually = now.sampling, usual.sampling
    for name, title in _names().items():
        value = getattr(drawn, name)
        if value != getattr(usually, name):
            yield f"{title} {value:g}"
    if (drawn.json_schema, drawn.grammar) != (usually.json_schema, usually.grammar):
        is_free = not (drawn.json_schema or drawn.grammar)
        yield _tr("Free text") if is_free else "JSON" if drawn.json_schema else _tr("Grammar")
    if now.system_prompt != usual.system_prompt:
        yield _tr("System prompt") if now.system_prompt else _tr("No system prompt")
    if now.max_tokens != usual.max_tokens:
        yield _tr("At most {} tokens").format(f"{now.max_tokens:,}")
    if now.stop != usual.stop:
        yield _tr("Stop strings") if now.stop else _tr("No stop strings")
    if drawn.logit_bias != usually.logit_bias:
        yield _tr("Logit bias") if drawn.logit_bias else _tr("No logit bias")
    if now.seed != usual.seed:
        yield _tr("New seed each time") if now.seed is None else _tr("Seed {}").format(now.seed)


class SettingsBadge(QWidget):
    """Two buttons: the differences, which lead to the settings, and one that takes them back.

    Hidden while there are none.
    """

    def __init__(self, presets: ReplyPresets, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._presets = presets
        self.open_button = QPushButton()
        self.open_button.setProperty("kind", "chip")
        self.reset_button = QPushButton(self.tr("Reset"))
        self.reset_button.setProperty("kind", "link")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addWidget(self.open_button)
        row.addWidget(self.reset_button)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        presets.changed.connect(self.refresh)
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Say what differs now."""
        presets = self._presets
        found = tuple(differences(presets.now, presets.default_settings))
        n_more = len(found) - _MOST
        shown = [*found[:_MOST], *([self.tr("{} more").format(n_more)] if n_more > 0 else [])]
        preset = presets.preset(presets.default_key)
        usual = preset.name if preset is not None else ""
        words = " · ".join(shown)
        self.open_button.setText(words.replace("&", "&&"))
        self.open_button.setAccessibleName(self.tr("Settings of this chat: {}").format(words))
        self.open_button.setToolTip(
            self.tr("Set for this chat, otherwise than in “{}”:\n{}\nA click shows it.").format(
                usual, "\n".join(f"• {difference}" for difference in found)
            )
        )
        self.reset_button.setToolTip(
            self.tr("Let this chat have what new chats begin with: “{}”").format(usual)
        )
        self.reset_button.setAccessibleName(self.tr("Reset the settings of this chat"))
        self.setVisible(bool(found))
