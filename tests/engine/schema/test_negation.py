"""Values of a negated schema never validate, and two disjoint schemas never both hold."""

from __future__ import annotations

import json
import random
from typing import Any

from engine.schema.compiled import attempt, takes, walks
from paceline.engine.model.backend import VocabularyFile
from paceline.engine.schema.disjoint import Disjointness
from paceline.engine.schema.document import Document
from schemas.random_schemas import random_schema
from schemas.validity import Judge
from trials import Trials

VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, 1.0, 1.5, -1, 7, 100, "", "a", "x", "abc", "2024-01-02", [], [1],
    [1, 1], ["a"], [True, 1], {}, {"a": 1}, {"a": "x"}, {"a": 1, "b": 2}, {"x": None},
)  # fmt: skip
WORDS = ("$schema", "$defs", "definitions", "$id", "id", "$anchor")


def a_part(seed: int) -> Any:
    """Return a random schema that can be part of another one, or None if there is none."""
    schema = random_schema(seed)
    if not isinstance(schema, dict) or schema.keys() & set(WORDS) or Judge(schema).complaint:
        return None
    text = json.dumps(schema)
    return None if "$ref" in text or "Anchor" in text or "$id" in text else schema


def test_what_is_negated_never_validates(vocab: VocabularyFile, trials: Trials) -> None:
    n_taken = n_texts = 0
    for seed in trials(150, 4000):
        part = a_part(seed)
        whole = {"not": part}
        grammar = "" if part is None else attempt(vocab, whole)
        if isinstance(grammar, str):
            continue
        n_taken += 1
        judge = Judge(whole)
        texts = [json.dumps(value) for value in VALUES]
        texts = [text for text in texts if takes(vocab, grammar, text)]
        rng = random.Random(seed)
        texts += [text for text in walks(vocab, grammar, rng, 2, 40) if text is not None]
        grammar.close()
        assert [text for text in texts if judge.problem_of(text)] == [], part
        n_texts += len(texts)
    print(f"{n_taken} taken, {n_texts} texts")
    assert n_texts > n_taken > 20


def test_what_is_disjoint_never_holds_together(trials: Trials) -> None:
    n_disjoint = 0
    for seed in trials(600, 10_000):
        one, other = a_part(2 * seed), a_part(2 * seed + 1)
        if one is None or other is None:
            continue
        document = Document(json.dumps({"oneOf": [one, other]}))
        assert isinstance(document.root, dict)
        parts = [(part, document.scope) for part in document.root["oneOf"]]
        if not Disjointness(document).holds(*parts):
            continue
        n_disjoint += 1
        judges = Judge(one), Judge(other)
        both = [each for each in VALUES if all(judge.allows(each) for judge in judges)]
        assert both == [], (one, other)
    print(f"{n_disjoint} disjoint")
    assert n_disjoint > 20
