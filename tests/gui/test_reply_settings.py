"""Penalties, biases and the form of a reply: what is typed, sent, refused and brought back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from paceline.conversation import Attachment
from paceline.gui.sampling.reply_form import EXAMPLES, judge
from paceline.messages import SamplingParams, StartTurn, TurnFailed

if TYPE_CHECKING:
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
        ("schema", "  ", "Write"),
        ("schema", '{"a": ', "line 1, column 7"),
        ("schema", "[1]", "braces"),
        ("schema", "[" * 100_000, "deep"),
        ("grammar", GRAMMAR, ""),
        ("grammar", "", "Write"),
        ("grammar", 'start ::= "x"', "root"),
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
    card = program.window.panel.sampling
    form = card.form
    assert form.editor.isHidden()
    choose_form(program, "JSON schema", SCHEMA)
    choose_form(program, "Grammar", GRAMMAR)
    form.form_choice.setCurrentText("Free text")
    assert form.editor.isHidden()
    assert program.shown.settings.sampling == SamplingParams()
    form.form_choice.setCurrentText("JSON schema")
    assert form.editor.toPlainText() == SCHEMA
    form.form_choice.setCurrentText("Any JSON")
    assert form.editor.isHidden()
    assert form.obstacle == ""
    kept = program.shown.settings.sampling
    assert (json.loads(kept.json_schema), kept.grammar) == ({"type": "object"}, "")
    for schema, choice in ((EXAMPLES["schema"], "JSON schema"), (kept.json_schema, "Any JSON")):
        form.show_constraints("", schema)
        assert (form.form_choice.currentText(), form.schema) == (choice, schema)
    card.reset_button.click()
    assert program.shown.settings.sampling == SamplingParams()


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


@pytest.mark.parametrize("code", ["bad-grammar", "bad-json-schema", "value-out-of-range"])
def test_a_refused_reply_gives_the_message_back(
    program: Program, client: FakeClient, code: str
) -> None:
    composer, sampling = program.window.chat_pane.composer, program.window.panel.sampling
    choose_form(program, "Grammar", GRAMMAR)
    program.chat.send("One")
    client.reply("Two")
    file = Attachment("notes.txt", "Some notes.", 11)
    composer.files.add([file])
    composer.button.click()
    assert composer.attachments == ()
    composer.set_text("And then")
    client.emit(TurnFailed(code, "The grammar is wrong in line 1.", "Correct it."))
    assert (composer.text, composer.attachments) == ("And then", (file,))
    problem = sampling.problem if code == "value-out-of-range" else sampling.form.problem
    assert problem.text() == "The grammar is wrong in line 1. Correct it."
    assert program.window.panel.tab == "chat"
    assert "wrong in line 1" in program.window.chat_pane.errors.text.text()
    assert [m.text for m in program.shown.conversation.path()] == ["One", "Two"]
    composer.files.set_attachments(())
    composer.button.click()
    client.emit(TurnFailed(code, "It is wrong.", ""))
    assert composer.text == "And then"
    assert composer.button.isEnabled()
    sampling.form.editor.setPlainText('root ::= "maybe"')
    assert problem.isHidden()
    assert program.window.chat_pane.errors.isHidden()


def test_other_failures_stay_in_the_chat(program: Program, client: FakeClient) -> None:
    program.chat.send("One")
    client.emit(TurnFailed("decode", "The decode failed.", ""))
    assert [m.text for m in program.shown.conversation.path()] == ["One", ""]
    assert program.window.chat_pane.composer.text == ""


@pytest.mark.parametrize("code", ["bad-lookup-cache", "cannot-read", "other-vocabulary"])
def test_a_lookup_cache_that_is_refused_gives_the_message_back(
    program: Program, client: FakeClient, code: str
) -> None:
    pane = program.window.chat_pane
    program.chat.send("Hello?")
    client.emit(TurnFailed(code, "The file is damaged.", ""))
    assert pane.composer.text == "Hello?"
    assert program.shown.conversation.path() == ()
    assert pane.errors.text.text() == "The file is damaged."
    assert not pane.errors.action.isHidden()
    program.models.reload()
    assert pane.errors.isHidden()
