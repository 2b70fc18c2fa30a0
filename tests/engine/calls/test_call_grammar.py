"""Grammars of calls: what they allow is what readers read, and its arguments are valid."""

from __future__ import annotations

import json
import random

import pytest

from engine.calls.tools import SCHEMAS, TOOLS, Called, read_of, written
from engine.schema.compiled import takes, walks
from paceline.content import Tool, ToolUse
from paceline.engine.calls.call_grammar import compile_calls
from paceline.engine.calls.form import CallForm
from paceline.engine.calls.forms import BY_ID, FORMS, HERMES
from paceline.engine.calls.reader import CallReader
from paceline.engine.model.backend import Reasoning, VocabularyFile
from schemas.validity import Judge

ALL = pytest.mark.parametrize("form", FORMS, ids=lambda form: form.id)
CALLS = [
    Called("get_weather", {"city": "Rome", "days": 3, "unit": "C", "deep": True}),
    Called("get_weather_words", {"words": ["a", "b"], "most": None}),
    Called("write", {"path": "a.py", "text": "def f():\n    pass"}),
    Called("now", {}),
]


@ALL
def test_every_text_that_is_allowed_is_read_as_valid_calls(
    form: CallForm, vocab: VocabularyFile, is_long: bool
) -> None:
    grammar, notes = compile_calls(vocab, form, ToolUse(TOOLS), None, any_mark=True)
    assert not notes
    n_read = 0
    for text in walks(vocab, grammar, random.Random(form.id), 60 if is_long else 12, limit=150):
        if text is None:
            continue
        reader = CallReader(form, TOOLS)
        read = read_of([*reader.add(text), *reader.finish(is_cut=False)])
        assert read.calls, text
        assert (read.answer, read.n_broken) == ("", 0), text
        n_read += 1
        for call in read.calls:
            problem = Judge(SCHEMAS[call.name]).problem_of(json.dumps(call.arguments))
            assert not problem, (text, problem)
    grammar.close()
    assert n_read >= 3


@ALL
def test_calls_as_templates_write_them_are_allowed(form: CallForm, vocab: VocabularyFile) -> None:
    use = ToolUse(TOOLS)
    for any_mark in (True, False):
        grammar, _ = compile_calls(vocab, form, use, None, any_mark=any_mark)
        for call in CALLS:
            assert takes(vocab, grammar, written(form, [call])), call
        assert takes(vocab, grammar, written(form, CALLS)) == bool(form.between)
        grammar.close()


@ALL
def test_what_is_no_call_is_not_allowed(form: CallForm, vocab: VocabularyFile) -> None:
    grammar, _ = compile_calls(vocab, form, ToolUse(TOOLS), None, any_mark=False)
    call = written(form, CALLS[:1])
    wrong = [
        Called("get_weathers", {"city": "Rome"}),
        Called("get_weather", {"city": "Rome", "town": "Rome"}),
        Called("get_weather", {}),
        Called("get_weather", {"city": "Rome", "days": 31}),
        Called("get_weather", {"city": "Rome, that is far"}),
    ]
    for text in ("", "Well", f" {call}", f"{call} so", *(written(form, [each]) for each in wrong)):
        assert not takes(vocab, grammar, text), text
    grammar.close()


@ALL
def test_one_call_or_a_named_one(form: CallForm, vocab: VocabularyFile) -> None:
    one = ToolUse(TOOLS, "required", is_parallel=False)
    named = ToolUse(TOOLS, "required", "now")
    for use, n_single in ((one, len(CALLS)), (named, 1)):
        grammar, _ = compile_calls(vocab, form, use, None, any_mark=False)
        allowed = [takes(vocab, grammar, written(form, [call])) for call in CALLS]
        assert sum(allowed) == n_single
        assert allowed[-1]
        assert not takes(vocab, grammar, written(form, [CALLS[-1], CALLS[-1]]))
        grammar.close()


def test_what_must_follow_is_known(vocab: VocabularyFile) -> None:
    grammar, _ = compile_calls(vocab, HERMES, ToolUse(TOOLS[2:]), None, any_mark=False)
    assert _text(vocab, grammar.forced()) == '<tool_call>\n{"name": "'
    for token in vocab.tokenize('<tool_call>\n{"name": "w', special=False):
        grammar.accept(token)
    assert _text(vocab, grammar.forced()).startswith('rite", "arguments": {"path":')
    grammar.close()


def _text(vocab: VocabularyFile, tokens: list[int]) -> str:
    return b"".join(map(vocab.piece, tokens)).decode()


def test_a_reasoning_may_come_before(vocab: VocabularyFile) -> None:
    before = Reasoning("<think>", "</think>")
    grammar, _ = compile_calls(vocab, HERMES, ToolUse(TOOLS), before, any_mark=False)
    call = written(HERMES, CALLS[:1])
    for text in (call, f"<think>So <tool_call> it is.</think>\n\n{call}"):
        assert takes(vocab, grammar, text)
    assert not takes(vocab, grammar, f"<think>So it is. {call}")
    grammar.close()


BAD = Tool("bad", "", '{"type": "object", "properties": {"a": {"type": "array", "items": 3}}}')
WORSE = Tool("worse", "", "no JSON")


@pytest.mark.parametrize(
    ("name", "bad"), [("hermes", BAD), ("hermes", WORSE), ("qwen-coder", BAD), ("lfm", BAD)]
)
def test_a_schema_that_cannot_be_kept_costs_its_tool_the_constraint(
    name: str, bad: Tool, vocab: VocabularyFile
) -> None:
    form = BY_ID[name]
    grammar, notes = compile_calls(vocab, form, ToolUse((*TOOLS, bad)), None, any_mark=False)
    (note,) = notes
    assert note.startswith(f"The arguments of the tool “{bad.name}” are not constrained. ")
    assert takes(vocab, grammar, written(form, [Called(bad.name, {"any": 3})]))
    assert takes(vocab, grammar, written(form, CALLS[:1]))
    assert not takes(vocab, grammar, written(form, [Called("get_weather", {"any": 3})]))
    grammar.close()


EITHER = json.dumps({"anyOf": [SCHEMAS["write"], SCHEMAS["get_weather"]]})
SPELT = '{"properties": {"city": {"type": "string", "pattern": "^R"}}}'
UNNAMED = '{"required": ["city"]}'
MATCHED = '{"patternProperties": {"^city$": {"type": "string"}}, "minProperties": 1}'
WITHIN = '{"properties": {"city": {"type": "string"}, "parts": {"items": {"$ref": "#"}}}}'


@pytest.mark.parametrize(
    ("schema", "in_part"),
    [
        (EITHER, {"glm", "lfm"}),
        (SPELT, {"glm"}),
        (UNNAMED, {"glm", "lfm"}),
        (MATCHED, {"glm", "lfm"}),
        (WITHIN, {"glm", "lfm"}),
    ],
    ids=["either", "spelt", "unnamed", "matched", "within"],
)
def test_what_a_form_has_no_place_for_is_reported(
    schema: str, in_part: set[str], vocab: VocabularyFile
) -> None:
    use = ToolUse((Tool("tool", "", schema),))
    for name in ("hermes", "glm", "lfm"):
        grammar, notes = compile_calls(vocab, BY_ID[name], use, None, any_mark=False)
        assert [("in part" in note) for note in notes] == [True] * (name in in_part)
        assert takes(vocab, grammar, written(BY_ID[name], [Called("tool", {"city": "Rome"})]))
        grammar.close()


def test_arguments_are_an_object_whatever_else_a_schema_allows(vocab: VocabularyFile) -> None:
    call = '<tool_call>\n{"name": "tool", "arguments": %s}\n</tool_call>'
    for schema in (
        '{"title": "Anything"}',
        '{"type": ["object", "null"]}',
        '{"anyOf": [{"type": "object"}, {"type": "integer"}, {"type": "null"}]}',
        '{"$ref": "#/definitions/any", "definitions": {"any": {"type": ["object", "null"]}}}',
    ):
        use = ToolUse((Tool("tool", "", schema),))
        grammar, notes = compile_calls(vocab, HERMES, use, None, any_mark=False)
        assert not notes
        assert takes(vocab, grammar, call % "{}")
        for value in ("null", "3", '"text"', "[]"):
            assert not takes(vocab, grammar, call % value), (schema, value)
        grammar.close()


@ALL
def test_words_of_a_request_are_never_control_tokens(form: CallForm, vocab: VocabularyFile) -> None:
    control = vocab.text(min(vocab.eog)).decode()
    named = f"file-{control[:-1]}"  # an argument's name that ends a tag is none
    schema = {"properties": {named: {"enum": [control]}}, "required": [named]}
    tool = Tool(f"tool{control}", "", json.dumps(schema))
    grammar, _ = compile_calls(vocab, form, ToolUse((tool,)), None, any_mark=False)
    (text, *_) = filter(None, walks(vocab, grammar, random.Random(form.id), 1, limit=200))
    reader = CallReader(form, (tool,))
    read = read_of([*reader.add(text), *reader.finish(is_cut=False)])
    assert read.calls[0] == Called(tool.name, {named: control})
    grammar.close()
