"""The contract of `Grammar` in `engine/model/backend.py`, kept by all that make one.

The tests of sampling and drafting run on rules in Python (`token_grammar.py`); real replies have
grammars of GBNF, of JSON schemas, of calls, and of two of these.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest

from engine.calls.tools import TOOLS, Called, written
from engine.token_grammar import TokenGrammar, one_of
from fake_model import ByteVocabulary
from paceline.content import ToolUse
from paceline.engine.calls.call_grammar import compile_calls, grammar_of_tools
from paceline.engine.calls.forms import HERMES
from paceline.engine.decode.text import TextAssembler
from paceline.engine.model.backend import Grammar, Reasoning, Vocabulary, VocabularyFile
from paceline.errors import EngineError

SCHEMA = '{"type": "object", "properties": {"rain": {"type": "boolean"}}, "required": ["rain"]}'
ANSWER = '{"rain": true}'
CALL = written(HERMES, [Called("get_weather", {"city": "Rome"})])
THINK = Reasoning("<think>", "</think>")
REQUIRED = ToolUse(TOOLS, "required")


def either(vocab: Vocabulary) -> Grammar:
    make_answer = lambda: vocab.grammar_of_schema(SCHEMA)  # noqa: E731
    text = TextAssembler(vocab, ())
    return grammar_of_tools(vocab, HERMES, ToolUse(TOOLS), None, text, answer=make_answer)[0]


def waiting(vocab: Vocabulary) -> Grammar:
    return grammar_of_tools(vocab, HERMES, ToolUse(TOOLS), None, TextAssembler(vocab, ()))[0]


class Kind(NamedTuple):
    """A way to make a grammar, and a whole text that it allows."""

    make: Callable[[Vocabulary], Grammar]
    text: str


KINDS = {
    "rule": Kind(lambda _vocab: TokenGrammar(one_of("return", "returns", "reset")), "returns"),
    "gbnf": Kind(lambda vocab: vocab.grammar('root ::= "return " ("s" | [0-9]+) "naïve"'),
                 "return 17naïve"),
    "after reasoning": Kind(lambda vocab: vocab.grammar('root ::= "yes" | "no"', THINK),
                            "<think>Is it so?</think>yes"),
    "schema": Kind(lambda vocab: vocab.grammar_of_schema(SCHEMA), ANSWER),
    "calls": Kind(lambda vocab: compile_calls(vocab, HERMES, REQUIRED, None, any_mark=False)[0],
                  CALL),
    "call or answer": Kind(either, ANSWER),
    "answer or call": Kind(either, CALL),
    "until a call": Kind(waiting, f"I look it up.\n{CALL}"),
}  # fmt: skip


class Begun(NamedTuple):
    """A grammar at its beginning, with the tokens of a whole text."""

    grammar: Grammar
    vocab: Vocabulary
    tokens: list[int]


@pytest.fixture(params=KINDS)
def begun(request: pytest.FixtureRequest, demo_vocab: VocabularyFile) -> Iterator[Begun]:
    kind = KINDS[request.param]
    vocab: Vocabulary = ByteVocabulary() if request.param == "rule" else demo_vocab
    grammar = kind.make(vocab)
    yield Begun(grammar, vocab, vocab.tokenize(kind.text, special=False))
    grammar.close()


def allowed_by(grammar: Grammar, vocab: Vocabulary) -> list[int]:
    """Return the tokens that may come next."""
    mask = grammar.allowed()
    if mask is None:
        return list(range(vocab.n_tokens))
    return list(mask.flags.nonzero()[0].tolist())


def test_a_text_is_taken_token_by_token_up_to_its_end(begun: Begun) -> None:
    grammar, vocab, tokens = begun
    for token in tokens:
        grammar.accept(token)
    assert vocab.eog <= set(allowed_by(grammar, vocab))


def test_a_mask_has_a_bit_for_each_token_of_the_vocabulary(begun: Begun) -> None:
    grammar, vocab, tokens = begun
    for token in tokens:
        mask = grammar.allowed()
        if mask is not None:
            assert mask.n_tokens == len(mask.flags) <= vocab.n_tokens
            assert not any(mask.has(beyond) for beyond in (-1, mask.n_tokens, 2**40))
        grammar.accept(token)


def test_each_token_that_is_allowed_is_taken(begun: Begun) -> None:
    grammar, vocab, tokens = begun
    rng = random.Random(1)
    for token in tokens:
        allowed = allowed_by(grammar, vocab)
        for each in rng.sample(allowed, min(5, len(allowed))):
            copy = grammar.clone()
            copy.accept(each)
            copy.close()
        grammar.accept(token)


def test_a_token_that_is_refused_changes_nothing(begun: Begun) -> None:
    grammar, vocab, tokens = begun
    rng = random.Random(2)
    n_refused = 0
    for token in tokens:
        before = grammar.allowed()
        if before is not None:
            for wrong in (*rng.choices(range(vocab.n_tokens), k=20), -1, vocab.n_tokens, 2**40):
                copy = grammar.clone()
                try:
                    copy.accept(wrong)
                except EngineError as error:
                    n_refused += 1
                    assert error.code == "grammar-refuses"  # noqa: PT017
                    assert copy.allowed() == before
                else:
                    assert 0 <= wrong < vocab.n_tokens
                copy.close()
        grammar.accept(token)
    assert n_refused


def test_what_must_follow_is_all_that_is_allowed(begun: Begun) -> None:
    grammar, vocab, tokens = begun
    n_forced = 0
    for token in tokens:
        before = grammar.allowed()
        forced = grammar.forced()
        assert grammar.allowed() == before, "it changes nothing"
        copy = grammar.clone()
        for each in forced:
            others = set(allowed_by(copy, vocab)) - {each}
            assert others <= (vocab.eog if each in vocab.eog else set())
            copy.accept(each)
        n_forced += len(forced)
        copy.close()
        grammar.accept(token)
    if before is not None:
        assert n_forced


def test_copies_go_their_own_way(begun: Begun) -> None:
    tokens = begun.tokens
    first = begun.grammar.clone()
    middle = len(tokens) // 2
    for token in tokens[:middle]:
        first.accept(token)
    before, second = first.allowed(), first.clone()
    for token in tokens[middle:]:
        second.accept(token)
    after = second.allowed()
    second.close()
    assert first.allowed() == before
    third = first.clone()
    first.close()
    for token in tokens[middle:]:
        third.accept(token)
    assert third.allowed() == after
    third.close()


def test_nothing_follows_an_end(begun: Begun) -> None:
    grammar, vocab, tokens = begun
    for token in tokens:
        grammar.accept(token)
    grammar.accept(vocab.eos)
    for ended in (grammar, grammar.clone()):
        assert allowed_by(ended, vocab) == []
        assert ended.forced() == []
        for token in (vocab.eos, tokens[0]):
            with pytest.raises(EngineError):
                ended.accept(token)
        if ended is not grammar:
            ended.close()
