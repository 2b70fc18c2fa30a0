"""The grammar of a reply that calls tools or has a form."""

from __future__ import annotations

import json
import random

import pytest

from engine.calls.tools import SCHEMAS, TOOLS, Called, read_of, written
from engine.schema.compiled import grammar_of, takes, walks
from paceline.content import ToolUse
from paceline.engine.calls.call_grammar import grammar_of_tools
from paceline.engine.calls.form import CallForm
from paceline.engine.calls.forms import BY_ID, FORMS, HERMES
from paceline.engine.calls.reader import CallReader
from paceline.engine.decode.text import TextAssembler
from paceline.engine.model.backend import Grammar, Reasoning, VocabularyFile
from paceline.errors import ValueOutOfRangeError
from schemas.validity import Judge

ALL = pytest.mark.parametrize("form", FORMS, ids=lambda form: form.id)
SCHEMA = {
    "type": "object",
    "properties": {"rain": {"type": "boolean"}, "days": {"type": "integer", "maximum": 9}},
    "required": ["rain"],
    "additionalProperties": False,
}
ANSWER = '{"rain": true}'
CALL = Called("get_weather", {"city": "Rome"})
THINK = Reasoning("<think>", "</think>")


def either(
    vocab: VocabularyFile, form: CallForm, use: ToolUse, reasoning: Reasoning | None = None
) -> tuple[Grammar, tuple[str, ...]]:
    text = TextAssembler(vocab, ())
    answer = json.dumps(SCHEMA)
    return grammar_of_tools(
        vocab, form, use, reasoning, text,
        answer=lambda: vocab.grammar_of_schema(answer, reasoning),
    )  # fmt: skip


@ALL
def test_a_reply_is_a_call_or_an_answer_of_the_form(form: CallForm, vocab: VocabularyFile) -> None:
    grammar, notes = either(vocab, form, ToolUse(TOOLS))
    assert not notes
    call = written(form, [CALL])
    for text in (ANSWER, '{\n  "rain": false,\n  "days": 3\n}', call):
        assert takes(vocab, grammar, text), text
    wrong = written(form, [Called("get_weather", {"city": "Rome", "days": 31})])
    for text in (
        "",
        "It rains.",
        ANSWER + call,
        call + ANSWER,
        f"So: {call}",
        wrong,
        '{"rain": 1}',
    ):
        assert not takes(vocab, grammar, text), text
    grammar.close()


@ALL
def test_what_is_allowed_is_one_of_both(
    form: CallForm, vocab: VocabularyFile, is_long: bool
) -> None:
    grammar, _ = either(vocab, form, ToolUse(TOOLS))
    n_calls = n_answers = 0
    for text in walks(vocab, grammar, random.Random(form.id), 60 if is_long else 12, limit=150):
        if text is None:
            continue
        reader = CallReader(form, TOOLS)
        read = read_of([*reader.add(text), *reader.finish(is_cut=False)])
        for call in read.calls:
            n_calls += 1
            assert not Judge(SCHEMAS[call.name]).problem_of(json.dumps(call.arguments)), text
        if not read.calls:
            n_answers += 1
            assert not Judge(SCHEMA).problem_of(text), text
    grammar.close()
    assert n_calls + n_answers >= 3


def test_either_comes_after_a_reasoning(vocab: VocabularyFile) -> None:
    grammar, _ = either(vocab, HERMES, ToolUse(TOOLS), THINK)
    for rest in (ANSWER, written(HERMES, [CALL])):
        for text in (rest, f"<think>So {{<tool_call> it is.</think>\n\n{rest}"):
            assert takes(vocab, grammar, text), text
    assert not takes(vocab, grammar, "<think>So.</think>\n\nIt rains.")
    grammar.close()


def test_a_call_that_must_come_needs_no_form(vocab: VocabularyFile) -> None:
    grammar, (note,) = either(vocab, HERMES, ToolUse(TOOLS, "required"))
    assert "has no effect" in note
    assert takes(vocab, grammar, written(HERMES, [CALL]))
    assert not takes(vocab, grammar, ANSWER)
    grammar.close()


def test_a_form_that_cannot_be_is_refused(vocab: VocabularyFile) -> None:
    text = TextAssembler(vocab, ())
    with pytest.raises(ValueOutOfRangeError) as refused:
        grammar_of_tools(
            vocab, BY_ID["hermes"], ToolUse(TOOLS), None, text,
            answer=lambda: grammar_of(vocab, {"type": "array", "items": 3}),
        )  # fmt: skip
    assert refused.value.code == "bad-json-schema"
