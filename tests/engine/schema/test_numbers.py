"""Bounds and divisors: no number outside of them is allowed, however it is written."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from engine.schema.compiled import attempt, takes
from paceline.engine.model.backend import VocabularyFile
from schemas.validity import Judge
from trials import Trials

ODD = (
    0, -0.0, 1.0, 1e16, -1e16, 2**53, 2**53 + 1, -(2**53) - 1, 2**63, -(2**63), 1e17, 1e18, 1e-7,
    -1e-7, 1e-20, 0.1, 0.3, 1e300, 5e-324, 10**400,
)  # fmt: skip
DIVISORS = (0.1, 0.01, 5, 0.5, 2.5, 1e-6, 0.3, 7, 12, 1.5)
NEAR = (0, 1, Fraction(1, 10), Fraction(1, 10**6), Fraction(1, 10**17), Fraction(1, 10**25))
USUAL = ["0", "-0", "0.0", "1", "1.0", "1e0", "1E5", "-1", "1e400", "9007199254740993.0"]


def a_number(rng: random.Random) -> float:
    match rng.randrange(5):
        case 0:
            return rng.randint(-30, 30)
        case 1:
            return round(rng.uniform(-5, 5), rng.choice([1, 2, 3, 7]))
        case 2:
            return rng.choice(ODD)
        case 3:
            return rng.uniform(-1, 1) * 10 ** rng.randint(-9, 18)
        case _:
            return rng.randint(-(10**18), 10**18)


def a_schema(rng: random.Random) -> tuple[dict[str, Any], list[float]]:
    """Return a schema and the numbers in it."""
    schema: dict[str, Any] = {"type": rng.choice(["number", "number", "integer"])}
    named = []
    for word in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
        if rng.random() < 0.35:
            schema[word] = a_number(rng)
            named.append(schema[word])
    if rng.random() < 0.3:
        schema["multipleOf"] = rng.choice(DIVISORS)
        named += [schema["multipleOf"], schema["multipleOf"] * 3]
    if rng.random() < 0.3:
        schema["allOf"] = [
            rng.choice([{"minimum": -2.5}, {"multipleOf": 0.25}, {"type": "integer"}])
        ]
    return schema, named


def texts_near(numbers: list[float]) -> Iterator[str]:
    """Yield ways to write numbers at and beside some."""
    yield from USUAL
    for number in numbers:
        exact = Fraction(repr(number) if isinstance(number, float) else number)
        for distance in NEAR:
            for value in (exact + distance, exact - distance):
                whole, rest = divmod(abs(value), 1)
                sign = "-" if value < 0 else ""
                decimals = f"{int(rest * 10**30):030d}".rstrip("0")
                yield f"{sign}{whole}.{decimals or 0}"
                yield f"{sign}{whole}.{decimals}0001"
                if not decimals:
                    yield f"{sign}{whole}"


def test_only_numbers_within_bounds_are_allowed(vocab: VocabularyFile, trials: Trials) -> None:
    n_taken = n_texts = 0
    for seed in trials(120, 5000):
        schema, numbers = a_schema(random.Random(seed))
        grammar, judge = attempt(vocab, schema), Judge(schema)
        if isinstance(grammar, str):
            continue
        n_taken += 1
        for text in dict.fromkeys(texts_near(numbers)):
            if takes(vocab, grammar, text):
                n_texts += 1
                assert not judge.problem_of(text), (schema, text)
        grammar.close()
    print(f"{n_taken} taken, {n_texts} texts")
    assert n_texts > n_taken > 60
