"""The random schemas use every keyword, are mostly right, and are the same for the same seed."""

from __future__ import annotations

import json
import random
import re
from collections import Counter

from schemas.keywords import ANNOTATIONS, ASSERTIONS, keywords_of, within
from schemas.patterns import random_pattern
from schemas.random_schemas import random_schema
from schemas.validity import Judge
from schemas.words import FORMATS

N = 3000


def test_every_keyword_and_format_is_used() -> None:
    n_of: Counter[str] = Counter()
    formats: Counter[str] = Counter()
    for seed in range(N):
        schema = random_schema(seed)
        n_of.update(keywords_of(schema))
        formats.update(of for part in within(schema) if isinstance(of := part.get("format"), str))
    assert {word: n_of[word] for word in (*ASSERTIONS, *ANNOTATIONS) if n_of[word] < 5} == {}
    assert {of: formats[of] for of in FORMATS if formats[of] < 5} == {}


def test_most_schemas_are_right_and_simple_enough() -> None:
    schemas = [random_schema(seed) for seed in range(200)]
    n_wrong = sum(bool(Judge(schema).complaint) for schema in schemas)
    assert 0 < n_wrong < 20
    assert max(len(json.dumps(schema)) for schema in schemas) < 20_000


def test_a_seed_gives_the_same_schema_and_others_give_others() -> None:
    made = [json.dumps(random_schema(seed)) for seed in range(100)]
    assert made == [json.dumps(random_schema(seed)) for seed in range(100)]
    assert len(set(made)) > 95


def test_most_patterns_are_right() -> None:
    rng = random.Random(1)
    n_wrong = 0
    for _ in range(500):
        try:
            re.compile(random_pattern(rng))
        except re.error:
            n_wrong += 1
    assert 0 < n_wrong < 75
