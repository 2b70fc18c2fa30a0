"""The numbers of `SamplingParams` as sliders, each with what it does and its usual range."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from paceline.chat.presets import MAX_TEMPERATURE, MAX_TOP_K
from paceline.gui.widgets.fields import SliderField
from paceline.params import SamplingParams


class SamplingSliders(QWidget):
    """In the order in which they are applied to a token, but the temperature first."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        usual = SamplingParams()
        self.temperature = SliderField(
            self.tr("Temperature"),
            self.tr(
                "How much chance has a say. 0 always takes the likeliest token; usual are 0.2 for "
                "facts and code, 0.7 for chat, 1 for stories. The lower, the more drafts are "
                "accepted."
            ),
            0, MAX_TEMPERATURE, whole=False, slider_high=2, default=usual.temperature,
        )  # fmt: skip
        self.top_k = SliderField(
            self.tr("Top-k"),
            self.tr(
                "Only this many of the likeliest tokens can be drawn, whatever their "
                "probabilities. Usual: 20 to 100; 0 means all."
            ),
            0, MAX_TOP_K, whole=True, slider_high=200, default=usual.top_k,
        )  # fmt: skip
        self.top_p = SliderField(
            self.tr("Top-p"),
            self.tr(
                "Only the likeliest tokens that together have this probability: few where the "
                "model is sure, many where it is not. Usual: 0.8 to 0.95; 1 means all."
            ),
            0.01, 1, whole=False, default=usual.top_p,
        )  # fmt: skip
        self.min_p = SliderField(
            self.tr("Min-p"),
            self.tr(
                "Only tokens that have at least this share of the likeliest one's probability. "
                "Keeps high temperatures readable. Usual: 0.02 to 0.1; 0 means all."
            ),
            0, 1, whole=False, default=usual.min_p,
        )  # fmt: skip
        self.repeat_penalty = SliderField(
            self.tr("Repeat penalty"),
            self.tr(
                "Makes the last 64 tokens less likely to come again. Helps small models that go "
                "in circles; harms code and tables. Usual: 1 to 1.15; 1 is off."
            ),
            0.01, 10, whole=False, slider_high=2, default=usual.repeat_penalty,
        )  # fmt: skip
        self.presence_penalty = SliderField(
            self.tr("Presence"),
            self.tr(
                "Taken once from the logit of every token among the last 64: draws the reply to "
                "new words. Usual: 0 to 1; 0 is off."
            ),
            -10, 10, whole=False, slider_range=(-2, 2), default=usual.presence_penalty,
        )  # fmt: skip
        self.frequency_penalty = SliderField(
            self.tr("Frequency"),
            self.tr(
                "Taken once for each time that a token is among the last 64: the more often, the "
                "less likely. Usual: 0 to 0.5; 0 is off."
            ),
            -10, 10, whole=False, slider_range=(-2, 2), default=usual.frequency_penalty,
        )  # fmt: skip
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        for slider in (
            self.temperature, self.top_k, self.top_p, self.min_p,
            self.repeat_penalty, self.presence_penalty, self.frequency_penalty,
        ):  # fmt: skip
            column.addWidget(slider)
            slider.value_changed.connect(self._on_value)

    def put_into(self, params: SamplingParams) -> SamplingParams:
        """Return the parameters with the values of the sliders."""
        return replace(
            params,
            temperature=self.temperature.value,
            top_k=int(self.top_k.value),
            top_p=self.top_p.value,
            min_p=self.min_p.value,
            repeat_penalty=self.repeat_penalty.value,
            presence_penalty=self.presence_penalty.value,
            frequency_penalty=self.frequency_penalty.value,
        )

    def show_params(self, params: SamplingParams) -> None:
        """Show these without telling anybody."""
        self.temperature.set_value(params.temperature)
        self.top_k.set_value(params.top_k)
        self.top_p.set_value(params.top_p)
        self.min_p.set_value(params.min_p)
        self.repeat_penalty.set_value(params.repeat_penalty)
        self.presence_penalty.set_value(params.presence_penalty)
        self.frequency_penalty.set_value(params.frequency_penalty)

    @Slot()
    def _on_value(self) -> None:
        self.changed.emit()
