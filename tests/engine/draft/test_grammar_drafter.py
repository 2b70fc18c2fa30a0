"""The grammar drafter: it drafts exactly the forced text and leaves the grammar's state alone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.token_grammar import Books, Rule, TokenGrammar, one_of
from engine.workbench import workbench
from fake_model import EOG, ByteVocabulary
from paceline.engine.draft.base import NO_DRAFT, Workbench
from paceline.engine.draft.grammar_drafter import ForcedTokens
from paceline.engine.model.backend import Grammar, Vocabulary
from paceline.engine.native import llama_backend
from paceline.errors import UserError


def bench_of(grammar: Grammar | None, vocab: Vocabulary, eog: frozenset[int]) -> Workbench:
    return workbench(vocab=vocab, eog=eog, grammar=grammar)


def drafter_of(rule: Rule, books: Books | None = None) -> tuple[ForcedTokens, TokenGrammar]:
    grammar = TokenGrammar(rule, books=books)
    return ForcedTokens(bench_of(grammar, ByteVocabulary(), frozenset({EOG})), {}), grammar


def forced(rule: Rule, n_max: int = 64, ahead: Sequence[int] = ()) -> list[int]:
    books = Books()
    drafter, grammar = drafter_of(rule, books)
    proposed = drafter.extend(ahead, n_max) if ahead else drafter.propose(n_max)
    assert grammar.text == ()
    assert books.n_open == 1
    return list(proposed.tokens)


def test_after_another_draft() -> None:
    rule = one_of("call(a)", "call(b)", "keep(1)")
    assert forced(rule) == []
    assert forced(rule, ahead=list(b"k")) == [*b"eep(1)", EOG]
    assert forced(rule, ahead=list(b"ca")) == list(b"ll(")
    assert forced(rule, ahead=list(b"zz")) == []  # the grammar does not allow it
    assert forced(one_of("a"), ahead=[*b"a", EOG]) == []


def test_a_dead_end_forces_nothing() -> None:
    assert forced(lambda _text: ()) == []


@given(st.lists(st.text('ab{" é', max_size=6), min_size=1, max_size=4), st.integers(1, 9))
def test_against_the_common_prefix(texts: list[str], n_max: int) -> None:
    data = {(*text.encode(), EOG) for text in texts}
    n = 0
    while all(len(d) > n for d in data) and len({d[n] for d in data}) == 1:
        n += 1
    assert forced(one_of(*texts), n_max) == list(min(data)[:n])[:n_max]


def test_an_open_place_costs_one_question_and_no_copy() -> None:
    books = Books()
    drafter, _ = drafter_of(lambda _text: range(32, 127), books)
    for _ in range(10):
        assert drafter.propose(16) is NO_DRAFT
    assert books.n_clones == 0
    assert books.n_questions == 10


def test_without_a_grammar_it_refuses() -> None:
    with pytest.raises(UserError) as caught:
        ForcedTokens(bench_of(None, ByteVocabulary(), frozenset({EOG})), {})
    assert caught.value.code == "no-grammar"


# ------------------------------------------------------------------------------ llama.cpp's own


@pytest.fixture(scope="module")
def vocab(demo_pair: tuple[Path, Path]) -> Iterator[Vocabulary]:
    vocabulary = llama_backend().load_vocabulary(str(demo_pair[0]))
    yield vocabulary
    vocabulary.close()


def text_of(vocab: Vocabulary, tokens: Sequence[int]) -> str:
    return b"".join(vocab.piece(token) for token in tokens).decode()


def test_names_of_a_json_schema_are_drafted(vocab: Vocabulary) -> None:
    schema = {
        "type": "object",
        "properties": {"temperature": {"type": "integer"}, "unit": {"enum": ["C", "F"]}},
        "required": ["temperature", "unit"],
        "additionalProperties": False,
    }
    grammar = vocab.grammar_of_schema(json.dumps(schema))
    drafter = ForcedTokens(bench_of(grammar, vocab, vocab.eog), {})
    drafted = []
    for typed in ('{"', '": 21', ', "'):
        for token in vocab.tokenize(typed, special=False):
            grammar.accept(token)
        before = grammar.allowed()
        draft = drafter.propose(40)
        assert grammar.allowed() == before
        assert not set(draft.tokens) & vocab.eog
        for token in draft.tokens:
            grammar.accept(token)
        drafted.append(text_of(vocab, draft.tokens).strip())
    assert drafted == ["temperature", "", "unit"]
    grammar.close()


def test_a_fixed_text_is_drafted_to_its_end(vocab: Vocabulary) -> None:
    grammar = vocab.grammar('root ::= "def main() -> None:"')
    drafter = ForcedTokens(bench_of(grammar, vocab, vocab.eog), {})
    tokens = list(drafter.propose(40).tokens)
    assert text_of(vocab, tokens[:-1]) == "def main() -> None:"
    assert tokens[-1] == vocab.eos
    assert len(tokens) < 12  # the usual tokens, not bytes
    grammar.close()
