"""Settings of a chat's replies: prompt, preset, temperature and length; the rest is folded.

The rest are further numbers, penalties, reasoning, template, seed, stops, form and biases.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from paceline.errors import refuse
from paceline.gui.kit.card import Card, FoldSection
from paceline.gui.kit.fields import (
    DropDown,
    LeavingEdit,
    ParsedLine,
    SliderField,
    changes_of,
    number_field,
    show_value,
    value_of,
)
from paceline.gui.kit.labels import (
    YieldingCheckBox,
    YieldingLabel,
    say,
    text_label,
    with_soft_breaks,
)
from paceline.gui.kit.layouts import column_of, fill, row_of, styled
from paceline.gui.kit.translation import fields_in_words, translator
from paceline.gui.look.current import look
from paceline.gui.look.scale import px
from paceline.gui.sampling.reply_form import ReplyForm, SeedField, StopField
from paceline.messages import LogitBias, SamplingParams
from paceline.params import Prompting, ReplySettings, read_bias

_FORM_CODES = ("bad-grammar", "bad-json-schema")
"""The engine's error codes for a grammar or a schema that cannot be used."""
REFUSALS = (*_FORM_CODES, "value-out-of-range")
"""The engine's error codes for settings of this card; the reply has not begun then."""
_PROMPT_PX, _FIELD_PX = 72, 124

_tr = translator("SamplingSettings")


def _thinking_name(choice: str) -> str:
    names = {
        "off": _tr("off"),
        "on": _tr("on"),
        "low": _tr("low"),
        "medium": _tr("medium"),
        "high": _tr("high"),
        "max": _tr("most"),
    }
    return names[choice]


def read_biases(text: str) -> tuple[LogitBias, ...]:
    """Read ``ID=X, ID=X``; X may be ``-inf``.

    Raises:
        ValueOutOfRangeError: A part has another form.
    """
    biases: dict[int, LogitBias] = {}
    for part in filter(None, (part.strip() for part in re.split(r"[,;\n]", text))):
        bias = read_bias(part)
        if bias.token in biases:
            refuse("Token {token} is given twice.", token=bias.token)
        biases[bias.token] = bias
    return tuple(biases.values())


def write_bias(bias: LogitBias) -> str:
    """Return a bias in the form that `read_biases` reads."""
    return f"{bias.token}={bias.bias:g}"


class SamplingSettings(Card):
    """Card with the shown chat's settings; changes apply to its next reply.

    Attributes:
        fields: The fields by the names of the settings; `form` has grammar and JSON schema.
    """

    changed = Signal()
    shown = Signal()
    """Another chat's settings are shown."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(self.tr("Sampling and prompt"))
        self._parameters = {**fields_in_words(SamplingParams), **fields_in_words(ReplySettings)}
        self._refusal = ""
        self.sliders = {
            name: SliderField(parameter)
            for name, parameter in fields_in_words(SamplingParams).items()
            if parameter.is_number
        }
        self.form = ReplyForm()
        self.stops = StopField()
        self.seed = SeedField()
        self.biases = ParsedLine(read_biases, write_bias, "ID=X, ID=X")
        self.max_tokens = number_field(self._parameters["max_tokens"])
        self.system_prompt = LeavingEdit()
        self.system_prompt.setPlaceholderText(self.tr("System prompt: the model's role"))
        self._explain(self.system_prompt, "system_prompt")
        self.folder = text_label(wraps=True, plain=True)
        self.folder.hide()
        self.fields: dict[str, QWidget] = {
            **self.sliders, "logit_bias": self.biases, "max_tokens": self.max_tokens,
            "seed": self.seed, "system_prompt": self.system_prompt, "stop": self.stops,
        }  # fmt: skip
        for field in (*self.fields.values(), self.form):
            changes_of(field).connect(self._on_changed)
        self.problem = text_label("", "danger", wraps=True)
        self.problem.hide()
        self._make_cuts()
        self.reset_button = styled(QPushButton(self.tr("Reset to defaults")), kind="link")
        self.body.setSpacing(10)
        self._lay_out()
        self.show_settings(ReplySettings())
        look.follow(self._fit)

    @property
    def settings(self) -> ReplySettings:
        """The settings: as they were shown, with the user's changes.

        Unchanged fields keep exact values, since fields round numbers, and Qt's text fields know
        one kind of space and of line end.
        """
        given, changed = self._given, dict(self._read().items() - self._as_read.items())
        drawn = {name: changed.pop(name) for name in [*changed] if hasattr(given.sampling, name)}
        return replace(given, sampling=replace(given.sampling, **drawn), **changed)

    def _read(self) -> dict[str, Any]:
        form = {"grammar": self.form.grammar, "json_schema": self.form.schema}
        return {name: value_of(field) for name, field in self.fields.items()} | form

    @property
    def obstacle(self) -> str:
        """Reason why no reply can begin, in words, or empty."""
        return self.biases.problem or self.form.obstacle

    def show_refusal(self, code: str, text: str) -> None:
        """Show beside the field why the engine refused its value, until it is changed."""
        if code in _FORM_CODES:
            self.more.toggle.setChecked(True)
            self.form.show_refusal(text)
        else:
            self._refusal = text
            self._show_problem()

    def show_folder(self, words: str, instructions: str) -> None:
        """Show whose instructions precede the system prompt; empty for none."""
        self.folder.setText(self.tr("Before it go the instructions {}.").format(words))
        self.folder.setToolTip(instructions)
        self.folder.setVisible(bool(words))

    def show_settings(self, settings: ReplySettings) -> None:
        """Show other settings without emitting a signal."""
        sampling = settings.sampling
        for name, field in self.fields.items():
            show_value(field, getattr(settings if hasattr(settings, name) else sampling, name))
        with QSignalBlocker(self):
            self.form.show_constraints(sampling.grammar, sampling.json_schema)
        self._given, self._as_read = settings, self._read()

    def show_prompting(
        self, prompting: Prompting, choices: Sequence[str], *, is_guessed: bool
    ) -> None:
        """Show the prompting of the loaded model.

        Args:
            prompting: The choices.
            choices: Possible amounts of reasoning; empty without a switch.
            is_guessed: Whether its own template is a guess.
        """
        with QSignalBlocker(self.thinking):
            self.thinking.clear()
            self.thinking.addItem(self.tr("as the model does"), "")
            for choice in choices:
                self.thinking.addItem(_thinking_name(choice), choice)
            self.thinking.setCurrentIndex(max(self.thinking.findData(prompting.think), 0))
        self._thinking_row.setVisible(bool(choices))
        words = self.tr("Chat template…")
        if prompting.template:
            words = self.tr("Chat template: your own…")
        elif is_guessed:
            words = self.tr("Chat template: guessed…")
        self.template_button.setText(words)

    def use(self, settings: ReplySettings) -> None:
        """Show other settings and emit `changed` once."""
        self.show_settings(settings)
        self._on_changed()

    # -------------------------------------------------------------------------------- building

    def _lay_out(self) -> None:
        """Put the most used settings above the folded ones; `problem` below both moves none."""
        self.more = FoldSection()
        self.more.set_title(self.tr("More"))
        self.more.body.setSpacing(10)
        first, *others = self.sliders.values()  # temperature is declared first
        label = styled(YieldingLabel(keeps=8), role="muted")
        self._explain(self.max_tokens, "max_tokens", label)
        length = row_of(label, None, self.max_tokens)
        above = self.system_prompt, self.folder
        fill(self.body, *above, first, length, self.more, self.problem)
        title = text_label("", "muted")
        self._explain(self.biases, "logit_bias", title)
        left, right = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight
        fill(
            self.more.body,
            column_of(*others, spacing=6),
            self._make_thinking(),
            (self.template_button, 0, left),
            self.seed,
            self.stops,
            self.form,
            column_of(title, self.biases, spacing=4),
            self.cuts,
            self._cuts_remark,
            (self.reset_button, 0, right),
        )

    def add_presets(self, button: QWidget) -> None:
        """Put the button of the presets below the prompt."""
        self.body.insertWidget(1, button)

    @Slot()
    def _fit(self) -> None:
        self.system_prompt.setFixedHeight(px(_PROMPT_PX))
        self.max_tokens.setFixedWidth(px(_FIELD_PX))
        self._cuts_remark.setContentsMargins(px(20), 0, 0, 0)

    def _explain(self, field: QWidget, name: str, label: QLabel | None = None) -> None:
        """Give a field, and its label, the words of its parameter."""
        parameter = self._parameters[name]
        field.setAccessibleName(parameter.title)
        field.setToolTip(parameter.help)
        if label is not None:
            label.setText(parameter.title)
            label.setToolTip(parameter.help)
            label.setBuddy(field)

    def _make_thinking(self) -> QWidget:
        label = styled(YieldingLabel(self.tr("Reasoning"), keeps=8), role="muted")
        self.thinking = DropDown(n_letters=12)
        self.thinking.setToolTip(
            self.tr(
                "How much the model reasons before it answers: the choices that its chat template "
                "has. Kept for each model."
            )
        )
        label.setBuddy(self.thinking)
        self.template_button = styled(QPushButton(), kind="link")
        self._thinking_row = QWidget()
        row_of(label, None, self.thinking, on=self._thinking_row, margins=0)
        return self._thinking_row

    def _make_cuts(self) -> None:
        self.cuts = YieldingCheckBox(self.tr("Shorten long chats"))
        self.cuts.setChecked(True)
        explanation = self.tr(
            "The oldest messages are left out when a chat outgrows the context. Off: such a "
            "message is refused."
        )
        self.cuts.setToolTip(explanation)
        self._cuts_remark = text_label(explanation, wraps=True)

    # ----------------------------------------------------------------------------------- slots

    def _show_problem(self) -> None:
        problem = self.biases.problem or self._refusal
        say(self.problem, with_soft_breaks(problem))

    @Slot()
    def _on_changed(self) -> None:
        self._refusal = ""
        self._show_problem()
        self.changed.emit()
