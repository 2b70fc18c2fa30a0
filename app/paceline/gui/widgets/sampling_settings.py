"""How replies are drawn: temperature, truncation, seed, length, system prompt."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QWidget,
)

from paceline.gui.widgets.card import FoldCard
from paceline.gui.widgets.fields import Number, SliderField, WholeNumber
from paceline.messages import SamplingParams
from paceline.settings import MAX_SEED

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent


@dataclass(frozen=True, slots=True)
class ReplySettings:
    """What the card edits; see `settings.Settings`."""

    sampling: SamplingParams = field(default_factory=SamplingParams)
    max_tokens: int = 1024
    seed: int | None = None
    system_prompt: str = ""


class _SystemPrompt(QPlainTextEdit):
    """Tab leaves the field, so that the keyboard does not get stuck in it."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
            event.ignore()
            self.focusNextPrevChild(event.key() == Qt.Key.Key_Tab)
            return
        super().keyPressEvent(event)


class SamplingSettings(FoldCard):
    """Applies to the next reply."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.set_title(self.tr("Sampling and prompt"))
        self._fixed_seed = 0
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
            0, 1, whole=False,
        )  # fmt: skip
        self.min_p = SliderField(
            self.tr("Min-p"),
            self.tr("Only tokens at least this likely, compared with the likeliest; 0 means all."),
            0, 1, whole=False,
        )  # fmt: skip
        for slider in (self.temperature, self.top_k, self.top_p, self.min_p):
            self.body.addWidget(slider)
            slider.value_changed.connect(self._on_changed)
        self.body.addLayout(self._make_numbers())
        self.body.addLayout(self._make_system_prompt())
        self.reset_button = QPushButton(self.tr("Reset to defaults"))
        self.reset_button.setProperty("kind", "link")
        self.reset_button.clicked.connect(self._on_reset)
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
        )
        seed = int(self.seed.value()) if self.is_seed_fixed.isChecked() else None
        return ReplySettings(
            sampling, self.max_tokens.value(), seed, self.system_prompt.toPlainText()
        )

    def show_settings(self, settings: ReplySettings) -> None:
        """Show other settings without telling anybody."""
        with QSignalBlocker(self):
            self.temperature.set_value(settings.sampling.temperature)
            self.top_k.set_value(settings.sampling.top_k)
            self.top_p.set_value(settings.sampling.top_p)
            self.min_p.set_value(settings.sampling.min_p)
            self.max_tokens.setValue(settings.max_tokens)
            self.is_seed_fixed.setChecked(settings.seed is not None)
            self.seed.setEnabled(settings.seed is not None)
            if settings.seed is not None:
                self.seed.setValue(settings.seed)
            self.system_prompt.setPlainText(settings.system_prompt)

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

    def _make_system_prompt(self) -> QHBoxLayout:
        self.system_prompt = _SystemPrompt()
        self.system_prompt.setFixedHeight(72)
        self.system_prompt.setPlaceholderText(self.tr("System prompt: what the model should be"))
        self.system_prompt.setAccessibleName(self.tr("System prompt"))
        self.system_prompt.textChanged.connect(self._on_changed)
        row = QHBoxLayout()
        row.addWidget(self.system_prompt)
        return row

    @Slot(bool)
    def _on_seed_toggled(self, is_fixed: bool) -> None:  # noqa: FBT001
        self.seed.setEnabled(is_fixed)
        self.changed.emit()

    @Slot()
    def _on_changed(self) -> None:
        self.changed.emit()

    @Slot()
    def _on_reset(self) -> None:
        self.show_settings(ReplySettings())
        self.changed.emit()
