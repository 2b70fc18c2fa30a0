"""Penalties, biases and the form of a reply: what is typed, sent, refused and brought back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from paceline.conversation import Attachment
from paceline.gui.sampling.reply_form import EXAMPLES, judge
from paceline.messages import SamplingParams, StartTurn, TurnFailed

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.program import Program

SCHEMA, GRAMMAR = '{"type": "object"}', 'root ::= "yes" | "no"'


# ----------------------------------------------------------------------------- what can be said


@pytest.mark.parametrize(
    ("form", "text", "reason"),
    [
        ("free", "", ""),
        ("schema", SCHEMA, ""),
        ("schema", "true", "object"),
        ("schema", "  ", "Write a JSON schema"),
        ("schema", '{"a": ', "line 1, column 7"),
        ("schema", "[1]", "an object in braces"),
        ("schema", "[" * 100_000, "nested too deeply"),
        ("grammar", GRAMMAR, ""),
        ("grammar", "", "Write a grammar"),
        ("grammar", 'start ::= "x"', "a rule named root"),
    ],
)
def test_forms_are_judged_in_words(form: str, text: str, reason: str) -> None:
    verdict = judge(form, text)  # type: ignore[arg-type]
    assert reason in verdict
    assert bool(verdict) == bool(reason)


# ------------------------------------------------------------------------------------ the window


def choose_form(program: Program, name: str, text: str) -> None:
    form = program.window.panel.sampling.form
    form.form_choice.setCurrentText(name)
    form.editor.setPlainText(text)


def test_each_form_keeps_its_text(program: Program) -> None:
    form = program.window.panel.sampling.form
    assert form.editor.isHidden()
    choose_form(program, "JSON schema", SCHEMA)
    choose_form(program, "Grammar", GRAMMAR)
    form.form_choice.setCurrentText("Free text")
    assert form.editor.isHidden()
    assert program.shown.settings.sampling == SamplingParams()
    form.form_choice.setCurrentText("JSON schema")
    assert form.editor.toPlainText() == SCHEMA
    program.window.panel.sampling.reset_button.click()
    assert program.shown.settings.sampling == SamplingParams()


def test_any_json_is_one_choice(program: Program) -> None:
    form = program.window.panel.sampling.form
    choose_form(program, "JSON schema", EXAMPLES["schema"])
    form.form_choice.setCurrentText("Any JSON")
    assert form.editor.isHidden()
    assert form.obstacle == ""
    kept = program.shown.settings.sampling
    assert json.loads(kept.json_schema) == {"type": "object"}
    assert kept.grammar == ""
    form.show_constraints("", EXAMPLES["schema"])
    assert form.form_choice.currentText() == "JSON schema"
    form.show_constraints("", kept.json_schema)
    assert form.form_choice.currentText() == "Any JSON"
    assert form.schema == kept.json_schema


@pytest.mark.parametrize("what", ["bias", "schema"])
def test_what_cannot_be_sent_says_why_and_keeps_the_text(
    program: Program, client: FakeClient, what: str
) -> None:
    composer, sampling = program.window.chat_pane.composer, program.window.panel.sampling
    composer.set_text("Hello?")
    if what == "bias":
        sampling.biases.setText("13=x")
        problem, mend = sampling.problem, lambda: sampling.biases.setText("13=1")
    else:
        choose_form(program, "JSON schema", "{")
        problem, mend = sampling.form.problem, lambda: sampling.form.editor.setPlainText(SCHEMA)
    assert not problem.isHidden()
    assert not composer.button.isEnabled()
    assert composer.button.toolTip() == problem.text()
    composer.edit.send_requested.emit()
    assert client.all(StartTurn) == []
    assert composer.text == "Hello?"
    mend()
    assert problem.isHidden()
    composer.button.click()
    assert len(client.all(StartTurn)) == 1


@pytest.mark.parametrize(
    ("code", "is_form"), [("bad-grammar", True), ("bad-json-schema", True),
                          ("value-out-of-range", False)]
)  # fmt: skip
def test_a_refused_reply_gives_the_message_back(
    program: Program, client: FakeClient, qtbot: QtBot, code: str, is_form: bool
) -> None:
    composer, sampling = program.window.chat_pane.composer, program.window.panel.sampling
    choose_form(program, "Grammar", GRAMMAR)
    program.chat.send("Hello?")
    composer.set_text("And then")
    client.emit(TurnFailed(code, "The grammar is wrong in line 1.", "Correct it."))
    assert composer.text == "Hello?\nAnd then"
    problem = sampling.form.problem if is_form else sampling.problem
    assert problem.text() == "The grammar is wrong in line 1. Correct it."
    assert program.window.panel.tab == "chat"
    assert "wrong in line 1" in program.window.chat_pane.errors.text.text()
    assert program.shown.conversation.path() == ()
    assert program.session.summaries == ()
    assert composer.button.isEnabled()
    sampling.form.editor.setPlainText('root ::= "maybe"')
    assert problem.isHidden()
    assert program.window.chat_pane.errors.isHidden()


def test_a_refused_message_of_files_alone_brings_them_back(
    program: Program, client: FakeClient
) -> None:
    composer = program.window.chat_pane.composer
    file = Attachment("notes.txt", "Some notes.", 11)
    composer.files.add([file])
    composer.button.click()
    assert composer.attachments == ()
    client.emit(TurnFailed("bad-grammar", "No.", ""))
    assert (composer.text, composer.attachments) == ("", (file,))
    assert composer.button.isEnabled()
    assert program.shown.conversation.path() == ()


def test_a_refused_second_message_leaves_the_first(program: Program, client: FakeClient) -> None:
    program.chat.send("One")
    client.reply("Two")
    program.chat.send("Three")
    client.emit(TurnFailed("bad-grammar", "No.", ""))
    assert [m.text for m in program.shown.conversation.path()] == ["One", "Two"]
    assert program.window.chat_pane.composer.text == "Three"


def test_other_failures_stay_in_the_chat(program: Program, client: FakeClient) -> None:
    program.chat.send("One")
    client.emit(TurnFailed("decode", "The decode failed.", ""))
    assert [m.text for m in program.shown.conversation.path()] == ["One", ""]
    assert program.window.chat_pane.composer.text == ""


@pytest.mark.parametrize("code", ["bad-lookup-cache", "cannot-read", "other-vocabulary"])
def test_a_lookup_cache_that_is_refused_gives_the_message_back(
    program: Program, client: FakeClient, code: str
) -> None:
    window = program.window
    program.chat.send("Hello?")
    client.emit(TurnFailed(code, "The file is damaged.", ""))
    assert window.chat_pane.composer.text == "Hello?"
    assert program.shown.conversation.path() == ()
    assert window.chat_pane.errors.text.text() == "The file is damaged."
    assert window.chat_pane.errors.action.text() == "Choose models…"
    program.models.reload()
    assert window.chat_pane.errors.isHidden()
