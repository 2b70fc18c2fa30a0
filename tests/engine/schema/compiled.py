"""Schemas compiled for the demo pair's vocabulary, and what their grammars take and refuse."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

from paceline.engine.model.backend import Grammar, VocabularyFile
from paceline.errors import EngineError, ValueOutOfRangeError
from schemas.validity import Judge
from schemas.walks import BIASES, walk

_INTRO, _END = "The JSON schema cannot be used: ", "."


def refusal(vocab: VocabularyFile, schema: Any) -> str | None:
    """Return why a schema, or a text in its place, is refused, or None if it is accepted."""
    found = attempt(vocab, schema)
    if isinstance(found, str):
        return found
    found.close()
    return None


def attempt(vocab: VocabularyFile, schema: Any) -> Grammar | str:
    """Return the grammar of a schema, or why it is refused."""
    try:
        return grammar_of(vocab, schema)
    except ValueOutOfRangeError as error:
        said = error
    assert said.code == "bad-json-schema"
    assert said.message.startswith(_INTRO)
    assert said.message.endswith(_END)
    assert len(said.message) < 400
    return said.message[len(_INTRO) : -len(_END)]


def grammar_of(vocab: VocabularyFile, schema: Any) -> Grammar:
    """Return the grammar of a schema, or of a text in place of one."""
    return vocab.grammar_of_schema(schema if isinstance(schema, str) else json.dumps(schema))


def takes(vocab: VocabularyFile, grammar: Grammar, text: str) -> bool:
    """Return whether a whole text is allowed, written in the tokenizer's usual tokens."""
    copy = grammar.clone()
    try:
        for token in vocab.tokenize(text, special=False):
            copy.accept(token)
        return bool(copy.allowed().flags[sorted(vocab.eog)].any())
    except EngineError:
        return False
    finally:
        copy.close()


def walks(
    vocab: VocabularyFile, grammar: Grammar, rng: random.Random, n: int, limit: int = 120
) -> Iterator[str | None]:
    """Yield random texts that the grammar allows, or None for one that is too long or complex."""
    biases = rng.sample(list(BIASES), len(BIASES))
    for i in range(n):
        copy = grammar.clone()
        try:
            yield walk(copy, vocab, rng, limit, bias=biases[i % len(biases)])
        except EngineError as error:
            assert error.code == "grammar-too-slow"  # noqa: PT017
            yield None
        finally:
            copy.close()


def check_texts(vocab: VocabularyFile, schema: Any, n: int = 6, limit: int = 120) -> list[str]:
    """Return random texts by a schema, all of which are valid."""
    grammar, judge = grammar_of(vocab, schema), Judge(schema)
    found = [text for text in walks(vocab, grammar, random.Random(0), n, limit) if text is not None]
    grammar.close()
    for text in found:
        assert not judge.problem_of(text), (schema, text, judge.problem_of(text))
    return found
