"""How replies are drawn: temperature, truncation, penalties, biases, form, seed, length, prompt."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QGridLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from paceline.gui.viewmodels.constraints import read_biases, write_biases
from paceline.gui.widgets.card import FoldCard
from paceline.gui.widgets.fields import Number, SliderField, WholeNumber
from paceline.gui.widgets.leaving_edit import LeavingEdit
from paceline.gui.widgets.reply_form import ReplyForm
from paceline.gui.widgets.soft_breaks import with_soft_breaks
from paceline.messages import LogitBias, SamplingParams
from paceline.settings import MAX_SEED

if TYPE_CHECKING:
    from collections.abc import Iterable

_FORM_CODES = ("bad-grammar", "bad-json-schema")
"""What the engine answers to a grammar or a schema that it cannot use."""
REFUSALS = (*_FORM_CODES, "value-out-of-range")
"""What it answers to settings of this card; the reply has not begun then."""


@dataclass(frozen=True, slots=True)
class ReplySettings:
    """What the card edits; see `settings.Settings`."""

    sampling: SamplingParams = field(default_factory=SamplingParams)
    max_tokens: int = 1024
    seed: int | None = None
    system_prompt: str = ""


class SamplingSettings(FoldCard):
    """Applies to the next reply."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.set_title(self.tr("Sampling and prompt"))
        self._biases: tuple[LogitBias, ...] = ()
        self._bias_problem = self._refusal = ""
        self._make_sliders()
        self.form = ReplyForm()
        self.form.changed.connect(self._on_changed)
        self.problem = QLabel()
        self.problem.setProperty("role", "danger")
        self.problem.setWordWrap(True)
        self.problem.hide()
        self.system_prompt = LeavingEdit()
        self.system_prompt.setFixedHeight(72)
        self.system_prompt.setPlaceholderText(self.tr("System prompt: what the model should be"))
        self.system_prompt.setAccessibleName(self.tr("System prompt"))
        self.system_prompt.textChanged.connect(self._on_changed)
        self.reset_button = QPushButton(self.tr("Reset to defaults"))
        self.reset_button.setProperty("kind", "link")
        self.reset_button.clicked.connect(self._on_reset)
        self._add((self.temperature, self.top_k, self.top_p, self.min_p))
        self._add((self.repeat_penalty, self.presence_penalty, self.frequency_penalty))
        self.body.addLayout(self._make_biases())
        self.body.addWidget(self.problem)
        self.body.addWidget(self.form)
        self.body.addLayout(self._make_numbers())
        self.body.addWidget(self.system_prompt)
        self.body.addWidget(self.reset_button, 0, Qt.AlignmentFlag.AlignRight)
        self.show_settings(ReplySettings())

    @property
    def settings(self) -> ReplySettings:
        """What is set."""
        sampling = SamplingParams(
            temperature=self.temperature.value,
            top_k=int(self.top_k.value),
            top_p=self.top_p.value,
            min_p=self.min_p.value,
            repeat_penalty=self.repeat_penalty.value,
            presence_penalty=self.presence_penalty.value,
            frequency_penalty=self.frequency_penalty.value,
            logit_bias=self._biases,
            grammar=self.form.grammar,
            json_schema=self.form.schema,
        )
        seed = int(self.seed.value()) if self.is_seed_fixed.isChecked() else None
        return ReplySettings(
            sampling, self.max_tokens.value(), seed, self.system_prompt.toPlainText()
        )

    @property
    def obstacle(self) -> str:
        """What keeps a reply from beginning, in words; empty: nothing."""
        return self._bias_problem or self.form.obstacle

    def show_refusal(self, code: str, text: str) -> None:
        """Say beside the field why the engine did not take it; a change takes that away."""
        self.set_open(True)
        if code in _FORM_CODES:
            self.form.show_refusal(text)
        else:
            self._refusal = text
            self._show_problem()

    def show_settings(self, settings: ReplySettings) -> None:
        """Show other settings without telling anybody."""
        sampling = settings.sampling
        with QSignalBlocker(self):
            self.temperature.set_value(sampling.temperature)
            self.top_k.set_value(sampling.top_k)
            self.top_p.set_value(sampling.top_p)
            self.min_p.set_value(sampling.min_p)
            self.repeat_penalty.set_value(sampling.repeat_penalty)
            self.presence_penalty.set_value(sampling.presence_penalty)
            self.frequency_penalty.set_value(sampling.frequency_penalty)
            self.biases.setText(write_biases(sampling.logit_bias))
            self.form.show_constraints(sampling.grammar, sampling.json_schema)
            self.max_tokens.setValue(settings.max_tokens)
            self.is_seed_fixed.setChecked(settings.seed is not None)
            self.seed.setEnabled(settings.seed is not None)
            if settings.seed is not None:
                self.seed.setValue(settings.seed)
            self.system_prompt.setPlainText(settings.system_prompt)

    # -------------------------------------------------------------------------------- building

    def _add(self, sliders: Iterable[SliderField]) -> None:
        for slider in sliders:
            self.body.addWidget(slider)
            slider.value_changed.connect(self._on_changed)

    def _make_sliders(self) -> None:
        self.temperature = SliderField(
            self.tr("Temperature"),
            self.tr("0 always takes the likeliest token; higher values vary more."),
            0, 5, whole=False, slider_high=2,
        )  # fmt: skip
        self.top_k = SliderField(
            self.tr("Top-k"),
            self.tr("Only this many of the likeliest tokens can be drawn; 0 means all."),
            0, 100_000, whole=True, slider_high=200,
        )  # fmt: skip
        self.top_p = SliderField(
            self.tr("Top-p"),
            self.tr("Only the likeliest tokens that together have this probability; 1 means all."),
            0.01, 1, whole=False,
        )  # fmt: skip
        self.min_p = SliderField(
            self.tr("Min-p"),
            self.tr("Only tokens at least this likely, compared with the likeliest; 0 means all."),
            0, 1, whole=False,
        )  # fmt: skip
        self.repeat_penalty = SliderField(
            self.tr("Repeat penalty"),
            self.tr("Makes the last 64 tokens less likely to come again; 1 is off."),
            0.01, 10, whole=False, slider_high=2,
        )  # fmt: skip
        self.presence_penalty = SliderField(
            self.tr("Presence"),
            self.tr("Taken from every token among the last 64; 0 is off."),
            -10, 10, whole=False, slider_range=(-2, 2),
        )  # fmt: skip
        self.frequency_penalty = SliderField(
            self.tr("Frequency"),
            self.tr("Taken once for each time that a token is among the last 64; 0 is off."),
            -10, 10, whole=False, slider_range=(-2, 2),
        )  # fmt: skip

    def _make_biases(self) -> QVBoxLayout:
        label = QLabel(self.tr("Logit bias"))
        label.setProperty("role", "muted")
        self.biases = QLineEdit()
        self.biases.setPlaceholderText("ID=X, ID=X")
        self.biases.setAccessibleName(label.text())
        self.biases.setToolTip(
            self.tr(
                "Numbers added to the logits of single tokens, by their ids; -inf forbids a token. "
                "For example: 13=-2.5, 50=-inf"
            )
        )
        self.biases.setAccessibleDescription(self.biases.toolTip())
        label.setBuddy(self.biases)
        self.biases.textChanged.connect(self._on_biases)
        column = QVBoxLayout()
        column.setSpacing(2)
        column.addWidget(label)
        column.addWidget(self.biases)
        return column

    def _make_numbers(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(8)
        grid.setColumnStretch(1, 1)
        self.is_seed_fixed = QCheckBox(self.tr("Fixed seed"))
        self.is_seed_fixed.setToolTip(
            self.tr("Off: every reply draws a new seed. On: the same seed gives the same reply.")
        )
        self.seed = Number(0, MAX_SEED)
        self.seed.setDecimals(0)
        self.seed.setSingleStep(1)
        self.seed.setFixedWidth(112)
        self.seed.setAccessibleName(self.tr("Seed"))
        self.max_tokens = WholeNumber(1, 1_000_000)
        self.max_tokens.setFixedWidth(112)
        self.max_tokens.setAccessibleName(self.tr("Tokens per reply at most"))
        label = QLabel(self.tr("Max. tokens"))
        label.setProperty("role", "muted")
        label.setBuddy(self.max_tokens)
        grid.addWidget(self.is_seed_fixed, 0, 0)
        grid.addWidget(self.seed, 0, 2)
        grid.addWidget(label, 1, 0)
        grid.addWidget(self.max_tokens, 1, 2)
        self.is_seed_fixed.toggled.connect(self._on_seed_toggled)
        self.seed.valueChanged.connect(self._on_changed)
        self.max_tokens.valueChanged.connect(self._on_changed)
        return grid

    # ----------------------------------------------------------------------------------- slots

    def _show_problem(self) -> None:
        problem = self._bias_problem or self._refusal
        self.problem.setText(with_soft_breaks(problem))
        self.problem.setVisible(bool(problem))

    @Slot()
    def _on_biases(self) -> None:
        try:
            self._biases = read_biases(self.biases.text())
            self._bias_problem = ""
        except ValueError as error:
            self._bias_problem = str(error)
        self._on_changed()

    @Slot(bool)
    def _on_seed_toggled(self, is_fixed: bool) -> None:  # noqa: FBT001
        self.seed.setEnabled(is_fixed)
        self._on_changed()

    @Slot()
    def _on_changed(self) -> None:
        self._refusal = ""
        self._show_problem()
        self.changed.emit()

    @Slot()
    def _on_reset(self) -> None:
        self.show_settings(ReplySettings())
        self.changed.emit()
