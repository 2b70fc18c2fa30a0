"""Stop strings, the seed, values that are put back, forms from files, and one truth for cutting."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QGuiApplication

from gui.fake_client import STATS
from paceline.chat.presets import MAX_STOPS
from paceline.engine.draft.strategy import strategy_named
from paceline.gui.sampling.reply_form import EXAMPLES, StopField, judge
from paceline.messages import TurnFinished
from paceline.params import MAX_SEED, Strategy

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.program import Program
    from paceline.messages import FinishReason


# ---------------------------------------------------------------------------------- stop strings


@pytest.fixture
def stops(qtbot: QtBot) -> StopField:
    field = StopField()
    qtbot.addWidget(field)
    field.show()
    return field


def test_stop_strings_by_keyboard(stops: StopField, qtbot: QtBot) -> None:
    qtbot.keyClicks(stops.field, "\\n\\n")
    with qtbot.waitSignal(stops.changed):
        qtbot.keyClick(stops.field, Qt.Key.Key_Return)
    qtbot.keyClicks(stops.field, "User:")
    qtbot.keyClick(stops.field, Qt.Key.Key_Enter)
    assert stops.value == ("\n\n", "User:")
    assert stops.field.text() == ""
    assert stops.chips[0].text().startswith("\\n\\n")
    # Backspace in the empty field goes to the last one, the next takes it away.
    qtbot.keyClick(stops.field, Qt.Key.Key_Backspace)
    assert stops.value == ("\n\n", "User:")
    assert stops.focusWidget() is stops.chips[-1]
    qtbot.keyClick(stops.chips[-1], Qt.Key.Key_Backspace)
    assert stops.value == ("\n\n",)
    assert stops.focusWidget() is stops.chips[0]
    qtbot.keyClick(stops.chips[0], Qt.Key.Key_Delete)
    assert (stops.value, stops.chips) == ((), [])
    assert stops.focusWidget() is stops.field


@pytest.mark.parametrize(
    ("before", "typed"),
    [(("a",), "a"), ((), "x" * 201), (tuple(map(str, range(MAX_STOPS))), "x")],
)
def test_what_cannot_be_a_stop_string_stays_typed(
    stops: StopField, before: tuple[str, ...], typed: str
) -> None:
    stops.show_value(before)
    stops.field.setText(typed)
    stops.add(stops.field.text())
    assert stops.problem.text()
    assert (stops.value, stops.field.text()) == (before, typed)
    stops.add("")
    assert stops.value == before
    if before:
        stops.chips[0].click()
        assert stops.value == before[1:], "a click removes it"


def test_a_seed_is_new_or_fixed_or_that_of_the_last_reply(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    field = program.window.panel.sampling.seed
    program.window.panel.show_tab("chat")
    program.window.panel.open_only(("more",))
    assert (field.value, field.number.isVisibleTo(field)) == (None, False)
    with qtbot.waitSignal(field.changed):
        field.choice.buttons["fixed"].click()
    assert field.number.isVisibleTo(field)
    assert field.value is not None
    field.number.setValue(MAX_SEED)
    field.copy.click()
    assert QGuiApplication.clipboard().text() == str(MAX_SEED)
    field.choice.buttons["new"].click()
    assert field.value is None
    field.choice.buttons["fixed"].click()
    assert field.value == MAX_SEED  # the number was kept
    field.choice.buttons["new"].click()
    assert not field.last.isEnabled()
    program.chat.send("Hello?")
    client.reply("Hi")
    field.last.click()
    assert (field.value, program.shown.settings.seed) == (7, 7)
    program.shown.new()
    assert not field.last.isEnabled()


# ----------------------------------------------------------------------------------------- seed


def test_one_value_is_put_back(program: Program, qtbot: QtBot) -> None:
    sampling, drafts = program.window.panel.sampling, program.window.panel.draft_settings
    program.speculation.use(strategy_named("draft:n_max=3:p_min=0.25"))
    drafts.fields["n_max"].put_back_button.click()
    assert program.speculation.text == "draft:p_min=0.25"
    assert drafts.fields["n_max"].put_back_button.isHidden()
    program.window.panel.show_tab("chat")
    field, other = sampling.sliders["top_p"], sampling.sliders["min_p"]
    assert field.put_back_button.isHidden()
    field.field.setValue(0.5)
    other.field.setValue(0.3)
    assert not field.put_back_button.isHidden()
    qtbot.mouseDClick(field.label, Qt.MouseButton.LeftButton)
    qtbot.mouseRelease(field.label, Qt.MouseButton.LeftButton)
    assert field.value == 0.95
    assert field.put_back_button.isHidden()
    other.put_back_button.setFocus()
    qtbot.keyClick(other.put_back_button, Qt.Key.Key_Space)
    assert program.shown.settings.sampling.min_p == 0.05
    assert sampling.focusWidget() is other.field


def test_every_setting_teaches_its_range_and_default(program: Program) -> None:
    model, card = program.speculation, program.window.panel.draft_settings
    for info in model.infos:
        model.choose(info.id)
        assert len(card.fields) == len(info.parameters)
        for parameter in info.parameters:
            field = card.fields[parameter.name]
            assert parameter.help in field.field.toolTip()
            assert f"{parameter.default:g}" in field.field.toolTip()
            spoken = QAccessible.queryAccessibleInterface(field.slider)
            assert spoken.text(QAccessible.Text.Description) == field.slider.toolTip()
            assert spoken.text(QAccessible.Text.Name)


def test_an_example_can_be_used_and_taken_back(program: Program) -> None:
    card = program.window.panel.sampling.form
    assert card.tools.isHidden()
    for form, at in (("schema", 2), ("grammar", 3)):
        card.form_choice.setCurrentIndex(at)
        assert card.problem.isHidden(), "nothing was typed yet"
        card.editor.setPlainText("mine")
        card.example.click()
        assert card.editor.toPlainText() == EXAMPLES[form]
        assert judge(form, EXAMPLES[form]) == ""  # type: ignore[arg-type]
        assert card.problem.isHidden()
        card.editor.undo()
        assert card.editor.toPlainText() == "mine"


# -------------------------------------------------------------------------------- form and length


def test_a_schema_is_loaded_from_a_file(program: Program, tmp_path: Path, qtbot: QtBot) -> None:
    file = tmp_path / "schema.json"
    file.write_text('{"type": "array"}', "utf-8")
    card = program.window.panel.sampling.form
    card.form_choice.setCurrentText("JSON schema")
    card.load.click()
    opener = program.open_file
    assert opener.dialog is not None
    opener.dialog.reject()
    assert opener.dialog is None
    with qtbot.waitSignal(card.changed):
        opener.read(str(file))
    assert program.shown.settings.sampling.json_schema == '{"type": "array"}'


@pytest.mark.parametrize(
    ("reason", "text", "is_told"),
    [
        ("length", '{"a": ', True), ("stop", '{"a": ', True), ("length", '{"a": 1}', False),
        ("cancelled", '{"a": ', False),
    ],
)  # fmt: skip
def test_json_that_was_cut_is_reported(
    program: Program, client: FakeClient, reason: FinishReason, text: str, *, is_told: bool
) -> None:
    errors = program.window.chat_pane.errors
    errors.text.setText("")  # an earlier test's words, which are hidden
    program.window.panel.sampling.form.put_text("schema", '{"type": "object"}')
    program.chat.send("Hello?")
    client.start_turn()
    client.step(text, 1)
    client.emit(TurnFinished(reason, text, (1, 2, 3), 7, Strategy.of("draft"), STATS))
    assert errors.isHidden() is not is_told
    assert ("1024" in errors.text.text()) == (is_told and reason == "length")


def test_cutting_is_one_truth_with_the_settings_dialog(program: Program) -> None:
    cuts, preference = (
        program.window.panel.sampling.cuts,
        program.settings.setting("cuts_long_chats"),
    )
    assert cuts.isChecked()
    for change, is_on in ((cuts.click, False), (lambda: preference.set_value(True), True)):
        change()
        assert (cuts.isChecked(), preference.value) == (is_on, is_on)
        assert program.next_reply.options().cuts is is_on
