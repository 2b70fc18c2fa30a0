"""The grammar that waits for a call."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.calls.tools import TOOLS, Called, written
from engine.schema.compiled import takes
from paceline.content import ToolUse
from paceline.engine.calls.call_grammar import grammar_of_tools
from paceline.engine.calls.form import CallForm
from paceline.engine.calls.forms import BY_ID, FORMS, HERMES, shown_tokens
from paceline.engine.decode.text import TextAssembler
from paceline.engine.model.backend import Grammar, Reasoning, VocabularyFile
from paceline.errors import EngineError

ALL = pytest.mark.parametrize("form", FORMS, ids=lambda form: form.id)
CALL = Called("get_weather", {"city": "Rome"})


def waiting(vocab: VocabularyFile, form: CallForm, opening: str = "") -> Grammar:
    text = TextAssembler(vocab, (), opening, shown=shown_tokens(form, vocab))
    grammar, notes = grammar_of_tools(vocab, form, ToolUse(TOOLS), None, text)
    assert not notes
    return grammar


@pytest.fixture
def grammar(vocab: VocabularyFile) -> Iterator[Grammar]:
    grammar = waiting(vocab, HERMES)
    yield grammar
    grammar.close()


def write(vocab: VocabularyFile, grammar: Grammar, text: str) -> None:
    for token in vocab.tokenize(text, special=False):
        grammar.accept(token)


def waits(grammar: Grammar) -> bool:
    """Return whether anything may be written, and nothing must be."""
    return grammar.allowed() is None and not grammar.forced()


@ALL
def test_anything_may_be_written_until_a_call_begins(form: CallForm, vocab: VocabularyFile) -> None:
    grammar = waiting(vocab, form)
    before = "" if form.is_first else "Let me see.\n\n"
    call = written(form, [CALL])
    for char in before:
        assert waits(grammar)
        write(vocab, grammar, char)
    for i, char in enumerate(call):
        assert waits(grammar) == (i < len(form.marks[0]))
        write(vocab, grammar, char)
    allowed = grammar.allowed()
    assert allowed is not None
    assert all(map(allowed.has, vocab.eog))
    with pytest.raises(EngineError):
        write(vocab, grammar, "And so on")
    grammar.close()


@pytest.mark.parametrize(
    "text",
    [
        "<think>\nSo <tool_call> it is",
        "[THINK]<tool_call>",
        "```\n<tool_call>\n```\n",
        "A `<tool_call>",
        "<tool_cal l>",
    ],
)
def test_what_is_no_mark_of_a_call_is_text(
    text: str, vocab: VocabularyFile, grammar: Grammar
) -> None:
    write(vocab, grammar, text)
    assert waits(grammar)


def test_a_call_begins_after_the_reasoning(vocab: VocabularyFile) -> None:
    for opening, text in (("", "<think>\n<tool_call></think>\n\n"), ("<think>\n", "x</think>")):
        grammar = waiting(vocab, HERMES, opening)
        write(vocab, grammar, text)
        assert waits(grammar)
        write(vocab, grammar, "<tool_call>")
        assert not waits(grammar)
        grammar.close()


def test_a_token_that_continues_as_no_call_makes_the_mark_text(
    vocab: VocabularyFile, grammar: Grammar
) -> None:
    ends = [
        token
        for token in range(vocab.n_tokens)
        if vocab.piece(token).startswith(b">") and vocab.piece(token)[1:].strip(b" \n{")
    ]
    assert ends
    write(vocab, grammar, "<tool_call")
    copy = grammar.clone()
    copy.accept(ends[0])
    assert waits(copy)
    write(vocab, copy, "<tool_call>")
    assert not waits(copy)
    copy.close()


def test_a_copy_goes_its_own_way(vocab: VocabularyFile, grammar: Grammar) -> None:
    write(vocab, grammar, "<tool")
    early = grammar.clone()
    write(vocab, early, "_call>")
    assert not waits(early)
    assert waits(grammar)
    write(vocab, grammar, " box")
    late = early.clone()
    write(vocab, late, '\n{"name": "write", "arg')
    write(vocab, early, '\n{"name": "now", "arg')
    assert late.forced()
    assert early.forced()
    assert late.forced() != early.forced()
    assert waits(grammar)
    for each in (late, early):
        each.close()


def test_after_an_answer_gpt_oss_may_call_in_its_channel(vocab: VocabularyFile) -> None:
    grammar = waiting(vocab, BY_ID["harmony"])
    write(vocab, grammar, "<|channel|>analysis<|message|>Call functions.now.<|end|>")
    assert waits(grammar)
    write(vocab, grammar, "<|start|>assistant<|channel|>commentary to=functions.")
    assert not waits(grammar)
    with pytest.raises(EngineError):
        write(vocab, grammar, "no_such_tool")
    grammar.close()


def test_before_a_call_gpt_oss_may_reason_in_its_channel(vocab: VocabularyFile) -> None:
    use = ToolUse(TOOLS, "required")
    form = BY_ID["harmony"]
    grammar, _ = grammar_of_tools(vocab, form, use, None, TextAssembler(vocab))
    reasoning = "<|channel|>analysis<|message|>Which one?<|end|><|start|>assistant"
    assert takes(vocab, grammar, written(form, [CALL]))
    assert takes(vocab, grammar, reasoning + written(form, [CALL]))
    assert not takes(vocab, grammar, f"{reasoning}<|channel|>final<|message|>None.")
    grammar.close()


def test_a_call_comes_in_place_of_an_answer_after_a_reasoning(vocab: VocabularyFile) -> None:
    marks = {
        "command": ("<|START_THINKING|>", "<|END_THINKING|>", "<|START_TEXT|>"),
        "solar": ("<|think|>", "<|end|><|begin|>assistant", "<|content|>"),
    }
    for name, (opening, closing, answer) in marks.items():
        form = BY_ID[name]
        before = Reasoning(opening, closing + answer)
        use = ToolUse(TOOLS, "required")
        grammar, _ = grammar_of_tools(vocab, form, use, before, TextAssembler(vocab))
        assert takes(vocab, grammar, f"{opening}Which one?{closing}{written(form, [CALL])}")
        grammar.close()
