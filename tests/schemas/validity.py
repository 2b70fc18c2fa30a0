"""A judge of replies: is a text JSON, and does it validate against a schema?

The judge is the library `jsonschema`, with the validator that the schema's `$schema` names and the
formats that are installed. Only `multipleOf` is judged otherwise, by the digits as they were
written: 0.3 is a multiple of 0.1, which it is not as a binary number.
"""

from __future__ import annotations

import contextlib
import functools
import json
import re
import sys
import warnings
from collections.abc import Iterator
from typing import Any, NoReturn

from jsonschema import Draft202012Validator, FormatChecker, ValidationError
from jsonschema.exceptions import SchemaError
from jsonschema.validators import extend, validator_for
from jsonschema_specifications import REGISTRY
from referencing.exceptions import Unresolvable

FRAMES = 12_000
"""Calls within each other that a text of some hundred tokens may need, many for each bracket."""
_NUMBER = re.compile(r"(-?\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?")
_NOT_UTF8 = re.compile("[\udc80-\udcff]")


class Written(float):
    """A number with the digits as they were written: `digits` times ten to the `exponent`."""

    digits: int
    exponent: int

    def __new__(cls, text: str) -> Written:
        """Read a JSON number."""
        made = super().__new__(cls, text)
        made.digits, made.exponent = _exactly(text)
        return made


def _exactly(text: str) -> tuple[int, int]:
    found = _NUMBER.fullmatch(text)
    assert found, text
    whole, fraction, exponent = found[1], found[2] or "", found[3] or "0"
    return int(whole + fraction), int(exponent) - len(fraction)


def is_multiple(number: float, of: float) -> bool:
    """Return whether a number is a multiple of another one, both in decimals.

    A `float` counts as the shortest decimals that mean it.
    """
    digits, exponent = _decimals(number)
    divisor, other_exponent = _decimals(of)
    shift = exponent - other_exponent
    if digits == 0:
        return True
    if shift >= 0:
        return digits * pow(10, shift, divisor) % divisor == 0
    # A divisor with more zeros than the number has digits is larger than the number.
    return -shift <= len(str(abs(digits))) and digits % (divisor * 10**-shift) == 0


def _decimals(number: float) -> tuple[int, int]:
    if isinstance(number, Written):
        return number.digits, number.exponent
    return (number, 0) if isinstance(number, int) else _exactly(repr(number))


def _multiple_of(
    validator: Any, of: float, instance: object, _schema: object
) -> Iterator[ValidationError]:
    if validator.is_type(instance, "number") and not is_multiple(instance, of):  # type: ignore[arg-type]
        yield ValidationError(f"{instance!r} is not a multiple of {of}")


@functools.cache
def _exact(validator: Any) -> Any:
    """Return the validator with an exact `multipleOf`."""
    return extend(validator, {"multipleOf": _multiple_of})


def _formats(validator: Any) -> FormatChecker:
    """Return the draft's formats, and the newest draft's beside them.

    Schemas of draft 7 often use `uuid`, which came later.
    """
    formats = FormatChecker()
    newest = Draft202012Validator.FORMAT_CHECKER.checkers
    formats.checkers = {**newest, **validator.FORMAT_CHECKER.checkers}
    return formats


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Allow many calls within each other, and patterns that `re` warns of, as ``[[a]``."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, FRAMES))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            yield
    finally:
        sys.setrecursionlimit(before)


class Judge:
    """Judges many texts by one schema, a `dict` or a Boolean.

    Attributes:
        complaint: The fault of the schema itself, or empty if it is valid.
    """

    def __init__(self, schema: Any) -> None:
        named = validator_for(schema, default=Draft202012Validator)
        self.complaint = ""
        with _undisturbed():
            try:
                named.check_schema(schema)
            except SchemaError as error:
                self.complaint = f"{error.json_path}: {_short(error.message)}"
            except RecursionError:
                self.complaint = "it is nested too deep"
        if isinstance(schema, dict):
            # The library would go back to the validator of this name at each reference to the root.
            schema = {key: value for key, value in schema.items() if key != "$schema"}
        self._validator = _exact(named)(schema, format_checker=_formats(named), registry=REGISTRY)

    def problem_of(self, text: str) -> str:
        """Return the fault of a text as ``keyword: why``, or empty if it is valid.

        Instead of a keyword stands ``utf-8`` where bytes were no UTF-8 (as `surrogateescape`
        decodes them), ``json`` where the text is no JSON, and ``schema`` where the schema is none.
        """
        if self.complaint:
            return f"schema: {self.complaint}"
        if _NOT_UTF8.search(text):
            return "utf-8: the text holds bytes that make no character"
        with _undisturbed():
            try:
                value = json.loads(text, parse_float=Written, parse_constant=_refuse_constant)
            except (ValueError, RecursionError) as error:
                return f"json: {error}"
            return self._problem_of_value(value)

    def allows(self, value: object) -> bool:
        """Return whether a value is valid."""
        with _undisturbed():
            return not self.complaint and not self._problem_of_value(value)

    def _problem_of_value(self, value: object) -> str:
        try:
            error = next(self._validator.iter_errors(value), None)
        except Unresolvable as missing:
            return f"schema: {_short(str(missing))}"
        except RecursionError:
            return "schema: a reference leads to itself"
        if error is None:
            return ""
        return f"{error.validator or 'false'}: {error.json_path}: {_short(error.message)}"


def _short(words: str) -> str:
    return words if len(words) <= 300 else f"{words[:200]} … {words[-80:]}"


def problem_of(schema: Any, text: str) -> str:
    """Return the fault of a text under a schema, or empty if it is JSON and valid."""
    return Judge(schema).problem_of(text)
