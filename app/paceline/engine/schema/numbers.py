"""Bounds and divisors of numbers, as the grammar library computes them.

It compares the digits of a text with those of a bound, while a validator compares the parsed
number. Both agree for integers that a float represents exactly and for decimals with few digits, so
bounds are moved inwards to such numbers.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from paceline.engine.schema.document import Scope
from paceline.engine.schema.terms import type_of

BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
"""The keywords that bound numbers."""
_MAX_EXACT = 1 << 53
"""Bound up to which a float represents every integer."""
_MAX_INTEGER = (1 << 63) - 1024
"""Largest integer that both the library and a float represent."""
_MAX_OPEN_BOUND = 10**17
"""Largest bound from which the library can count without a bound on the other side."""
_MAX_DIGITS = 15
"""Number of digits that every reader reads alike, and that a float distinguishes."""
_MAX_DECIMALS = 20
"""Maximum number of decimals of a bound; more would be read in different ways."""
_MAX_REMAINDERS = 100_000
"""Maximum number of remainders that the library can track within a second."""
_MAX_COEFFICIENT = (1 << 32) - 1


class Divisor(NamedTuple):
    """A `multipleOf` as `coefficient / 10 ** exponent`."""

    coefficient: int
    exponent: int


def divisor_of(value: float, scope: Scope) -> Divisor:
    """Return a `multipleOf` as the library reads it.

    Raises:
        SchemaError: The library would read another number.
    """
    exact = Decimal(repr(value))
    scaled, exponent = float(value), 0
    while scaled != math.floor(scaled) and exponent < 30:
        scaled *= 10
        exponent += 1
    if scaled > _MAX_COEFFICIENT or Decimal(int(scaled)).scaleb(-exponent) != exact:
        scope.reject(
            "multipleOf", "cannot be enforced: {value} has too many digits", value=repr(value)
        )
    coefficient = int(scaled)
    core = coefficient
    while core % 2 == 0 or core % 5 == 0:  # determined by the last digits
        core //= 2 if core % 2 == 0 else 5
    if core > _MAX_REMAINDERS:
        scope.reject("multipleOf", "cannot be enforced: {value} is too large", value=repr(value))
    while exponent and coefficient % 10 == 0:
        coefficient, exponent = coefficient // 10, exponent - 1
    return Divisor(coefficient, exponent)


def lower_number(
    words: dict[str, Any], scope: Scope, *, is_integer: bool, is_draft_4: bool
) -> dict[str, Any]:
    """Return the keywords for numbers in lowered form.

    Args:
        words: The keywords of a schema.
        scope: Place of the schema.
        is_integer: Whether only integers are allowed.
        is_draft_4: Whether flags exclude the bounds, as in draft 4.

    Raises:
        SchemaError: A bound or divisor cannot be enforced, or no number satisfies all of them.
    """
    least, most = _bounds(words, is_draft_4=is_draft_4)
    lowered: dict[str, Any] = {"type": "integer" if is_integer else "number"}
    step = Fraction(1 if is_integer else 0)
    if "multipleOf" in words:
        divisor_of(words["multipleOf"], scope)
        lowered["multipleOf"] = words["multipleOf"]
        given = Fraction(repr(words["multipleOf"]))
        step = _common_multiple(given, step) if step else given
    low, high = (
        bound and _moved(bound, step if is_integer else _step_beside(bound), sign)
        for bound, sign in ((least, 1), (most, -1))
    )
    if low is not None:
        lowered["minimum"] = _written(low, scope, "minimum", 1, is_integer=is_integer)
    if high is not None:
        lowered["maximum"] = _written(high, scope, "maximum", -1, is_integer=is_integer)
    if is_integer:  # the library cannot count without end from a very large bound
        if abs(lowered.get("minimum", 0)) > _MAX_OPEN_BOUND:
            lowered.setdefault("maximum", _MAX_INTEGER)
        if abs(lowered.get("maximum", 0)) > _MAX_OPEN_BOUND:
            lowered.setdefault("minimum", -_MAX_INTEGER)
    is_empty = lowered.get("minimum", -math.inf) > lowered.get("maximum", math.inf)
    if step and low is not None and high is not None:
        is_empty |= math.ceil(low / step) > math.floor(high / step)
    if is_empty:
        named = next(word for word in words if word in BOUNDS)
        scope.reject(named, "leaves no number, with what stands beside it")
    return lowered


def is_multiple(value: object, of: float) -> bool:
    """Return whether a value is not a number, or a multiple of one, in decimal arithmetic."""
    if type_of(value) != "number":
        return True
    return (Fraction(repr(value)) / Fraction(repr(of))).denominator == 1


class _Bound(NamedTuple):
    value: Fraction
    included: bool


def _bounds(words: dict[str, Any], *, is_draft_4: bool) -> tuple[_Bound | None, _Bound | None]:
    found: list[_Bound | None] = []
    for name, strict, sign in (
        ("minimum", "exclusiveMinimum", 1),
        ("maximum", "exclusiveMaximum", -1),
    ):
        bounds = []
        for key in (name, strict):
            value = words.get(key)
            if value is None or isinstance(value, bool):
                continue
            included = key == name and not (is_draft_4 and words.get(strict) is True)
            exact = Fraction(repr(value) if isinstance(value, float) else value)
            bounds.append(_Bound(exact, included))
        found.append(max(bounds, key=lambda b: (sign * b.value, not b.included), default=None))
    return found[0], found[1]


def _moved(bound: _Bound, step: Fraction, sign: int) -> Fraction:
    """Return the first multiple of a step within a bound.

    Args:
        bound: A bound.
        step: More than 0.
        sign: 1 for a lower bound, -1 for an upper one.
    """
    n = math.ceil(sign * bound.value / step)
    if n * step == sign * bound.value and not bound.included:
        n += 1
    return sign * n * step


def _step_beside(bound: _Bound) -> Fraction:
    """Return the distance of the numbers among which a bound is chosen."""
    if not bound.value:
        return Fraction(1, 10**_MAX_DIGITS)
    size = min(abs(bound.value), Fraction(_MAX_EXACT))
    before_point = math.floor(math.log10(size)) + 1
    return Fraction(10) ** max(before_point - _MAX_DIGITS, -_MAX_DECIMALS)


def _written(value: Fraction, scope: Scope, keyword: str, sign: int, *, is_integer: bool) -> float:
    """Return a bound that library and validators read alike, moved inwards if necessary."""
    if not is_integer and abs(value) > _MAX_EXACT:
        if sign * value > 0:
            scope.reject(keyword, "cannot be enforced beyond {n:,}", n=_MAX_EXACT)
        return -sign * _MAX_EXACT
    if value.denominator > 1:
        return float(value)
    inner = sign * int(value)
    if inner <= -_MAX_INTEGER:
        return -sign * _MAX_INTEGER
    if inner > _MAX_INTEGER:
        scope.reject(keyword, "cannot be enforced beyond {n:,}", n=_MAX_INTEGER)
    near = float(inner)
    return sign * int(near if near >= inner else math.nextafter(near, math.inf))


def _common_multiple(one: Fraction, other: Fraction) -> Fraction:
    """Return the smallest common multiple of two numbers."""
    numerator = math.lcm(one.numerator * other.denominator, other.numerator * one.denominator)
    return Fraction(numerator, one.denominator * other.denominator)
