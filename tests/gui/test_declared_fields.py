"""Declared settings in the window: their labels, hover texts, ranges, values and differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtWidgets import QLabel, QWidget

from declared_values import FIELDS, NUMBERS, OTHER, parameter, reply_settings
from paceline.chat.pair import Pair
from paceline.gui.kit.fields import show_value, value_of
from paceline.gui.models.picker.device_field import DeviceField
from paceline.gui.models.picker.load_form import LoadForm
from paceline.gui.run.run_words import sampling_words
from paceline.gui.sampling.controller import differences
from paceline.gui.sampling.sampling_settings import SamplingSettings, read_biases, write_bias
from paceline.messages import DeviceInfo, EngineDescribed
from paceline.params import (
    DraftModel,
    LogitBias,
    ModelParams,
    ReplySettings,
    SamplingParams,
    read_shares,
)

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

OF_REPLIES = [each for each in FIELDS if each[0] is not ModelParams]
OF_MODELS = [name for cls, name in FIELDS if cls is ModelParams]
ONLY_OPTIONS = {"n_threads_batch"}
"""Fields that the command line alone offers."""
DEVICES = tuple(DeviceInfo(f"CUDA{n}", f"Card {n}", "gpu", 10, 10) for n in range(2))
every_reply_setting = pytest.mark.parametrize(("cls", "name"), OF_REPLIES)
every_model_setting = pytest.mark.parametrize("name", OF_MODELS)


@pytest.fixture
def card(qtbot: QtBot) -> SamplingSettings:
    made = SamplingSettings()
    qtbot.addWidget(made)
    return made


def words_of(widget: QWidget) -> set[str]:
    """Return all labels of a widget, and the first lines of its hover texts."""
    children = widget.findChildren(QWidget)
    labels = {child.text() for child in children if isinstance(child, QLabel)}
    return labels | {child.toolTip().partition("\n")[0] for child in children}


@every_reply_setting
def test_the_card_labels_explains_and_takes_every_setting(
    card: SamplingSettings, cls: type, name: str, qtbot: QtBot
) -> None:
    of, other = parameter(cls, name), reply_settings(cls, name, OTHER[cls][name])
    words = words_of(card) | {card.system_prompt.accessibleName()}
    words |= {card.form.form_choice.itemText(i) for i in range(card.form.form_choice.count())}
    assert of.title in words
    assert not of.help or of.help in words
    assert card.settings == ReplySettings()
    with qtbot.waitSignal(card.changed):
        card.use(other)
    assert card.settings == other
    in_form = {"grammar": card.form.grammar, "json_schema": card.form.schema}
    shown = in_form[name] if name in in_form else value_of(card.fields[name])
    assert shown == OTHER[cls][name]
    with qtbot.assertNotEmitted(card.changed):
        card.show_settings(ReplySettings())
    assert card.settings == ReplySettings()


@pytest.mark.parametrize("name", [name for cls, name in NUMBERS if cls is SamplingParams])
def test_sliders_and_fields_end_where_the_declared_ranges_say(
    card: SamplingSettings, name: str
) -> None:
    of, field = parameter(SamplingParams, name), card.sliders[name]
    assert (field.field.minimum(), field.field.maximum()) == of.offered
    for place, end in zip((field.slider.minimum(), field.slider.maximum()), of.on_slider,
                          strict=True):  # fmt: skip
        field.slider.setValue(place)
        assert field.value == end
        assert getattr(card.settings.sampling, name) == end
    field.put_back()
    assert field.value == of.default
    assert f"Default: {of.default:g}" in field.slider.toolTip()


@every_reply_setting
def test_a_difference_names_its_setting(qapp: object, cls: type, name: str) -> None:
    of, other = parameter(cls, name), reply_settings(cls, name, OTHER[cls][name])
    (there,) = differences(other, ReplySettings())
    (back,) = differences(ReplySettings(), other)
    assert there.startswith(of.title)
    assert back == of.unset or back.startswith(of.title)
    assert list(differences(other, other)) == []


@pytest.mark.parametrize(
    ("text", "biases"),
    [
        ("", ()),
        (" , ", ()),
        ("13 = -2.5,50=-inf", (LogitBias(13, -2.5), LogitBias(50, float("-inf")))),
        ("1=1;2=2\n3=3", (LogitBias(1, 1.0), LogitBias(2, 2.0), LogitBias(3, 3.0))),
    ],
)
def test_biases_are_read_and_written(text: str, biases: tuple[LogitBias, ...]) -> None:
    assert read_biases(text) == biases
    assert read_biases(", ".join(map(write_bias, biases))) == biases


# ------------------------------------------------------------------------------------ loading


@pytest.fixture
def form(qtbot: QtBot) -> LoadForm:
    made = LoadForm()
    qtbot.addWidget(made)
    made.show_engine(EngineDescribed("", "", DEVICES))
    return made


@every_model_setting
def test_load_settings_are_labelled_explained_and_taken(
    form: LoadForm, name: str, qtbot: QtBot
) -> None:
    of, value = parameter(ModelParams, name), OTHER[ModelParams][name]
    for column, whose in ((form.target, "Model"), (form.draft, "Draft")):
        if name == "n_ctx" or name in ONLY_OPTIONS:
            continue  # contexts have a field of their own
        field = column.fields[name]
        assert any(of.title in words for words in words_of(form))
        assert (field.toolTip(), field.accessibleName()) == (of.help, f"{whose}: {of.title}")
        assert value_of(field) == of.default
        before = ModelParams("/m/a.gguf", **OTHER[ModelParams])
        column.show_params(before)
        assert column.params(ModelParams("x")) == ModelParams(
            "x", **{name: OTHER[ModelParams][name] for name in column.fields}
        )
        with qtbot.waitSignal(column.changed):
            show_and_tell(field, of.default)
        assert getattr(column.params(before), name) == of.default
        assert getattr(before, name) == value
        if of.is_number:
            ends = {of.offered[0], of.offered[1], *([of.auto] if of.can_be_auto else [])}
            assert (field.minimum(), field.maximum()) == (min(ends), max(ends))


def show_and_tell(field: Any, value: Any) -> None:
    """Put a value into a field as its user does."""
    match value:
        case bool():
            field.setChecked(value)
        case int():
            field.setValue(value)
        case tuple():
            field.setText(", ".join(map(str, value)))
        case _ if isinstance(field, DeviceField):
            next(each for each in field.menu.actions() if each.data() == value).trigger()
        case _:
            field.setCurrentIndex(field.findData(value))


def test_wanted_settings_are_those_of_both_columns(form: LoadForm) -> None:
    assert {*form.draft.fields} == {*OF_MODELS} - ONLY_OPTIONS
    form.show_pair(Pair(ModelParams("a"), DraftModel(ModelParams("b"))))
    form.show_models(has_target=True, has_draft=True)
    assert (form.target_params("a"), form.draft_params("b")) == (ModelParams("a"), ModelParams("b"))
    for column in (form.target, form.draft):
        for name, field in column.fields.items():
            show_and_tell(field, OTHER[ModelParams][name])
    wanted = {name: OTHER[ModelParams][name] for name in form.target.fields}
    assert form.target_params("a") == ModelParams("a", **wanted)
    assert form.draft_params("b") == ModelParams("b", **wanted)
    for name, field in form.target.fields.items():
        of = parameter(ModelParams, name)
        if of.can_be_auto:
            show_value(field, of.auto)
            assert field.text() == of.unset


def test_wrong_shares_and_biases_are_reported(form: LoadForm, card: SamplingSettings) -> None:
    shares = form.target.fields["tensor_split"]
    shares.setText("3, x")
    assert form.problem == "“x” is no share: give numbers such as 3, 1."
    assert form.problem_text.text() == form.problem
    assert shares.value == ()
    shares.setText("3, 1")
    assert form.problem_text.isHidden()
    assert shares.value == read_shares("3, 1")
    for text in ("13", "13=1, 13=2"):
        card.biases.setText(text)
        assert card.problem.text() == card.obstacle != ""
    card.biases.setText("13=1")
    assert (card.problem.text(), card.obstacle) == ("", "")


def test_a_record_names_the_sampling_that_is_on(qapp: object) -> None:
    cold = SamplingParams(0, presence_penalty=0.5, logit_bias=(LogitBias(1, 1), LogitBias(2, 1)))
    assert sampling_words(cold) == (
        "Temperature 0 (the likeliest token), Presence penalty 0.5, 2 logit biases"
    )
