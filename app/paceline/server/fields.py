"""Fields of requests: read from JSON and checked; unknown ones are listed."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from paceline.engine.sample.sampling import check_sampling
from paceline.errors import UserError
from paceline.messages import LogitBias, SamplingParams
from paceline.server.errors import of_value, refused
from paceline.server.limits import MAX_BIASES, MAX_DEPTH, MAX_MESSAGES, MAX_STOP_CHARS, MAX_STOPS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

T = TypeVar("T", bound=msgspec.Struct)

_PLACE = re.compile(r"^(.*?)(?: - at `\$?\.?(.*)`)?$", re.DOTALL)


def read(kind: type[T], body: bytes) -> tuple[T, tuple[str, ...]]:
    """Return a request, and the names of its unknown fields; null counts as absent.

    Args:
        kind: The known fields; those without a default are required.
        body: JSON.

    Raises:
        ApiError: It is no such request; the text names the field.
    """
    try:
        data = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise refused("", f"The body is not JSON: {error}.", "invalid_json") from None
    except RecursionError:
        raise _too_deep() from None
    if not isinstance(data, dict):
        raise refused("", "The body must be a JSON object.", "invalid_json")
    if _is_deep(body, data):
        raise _too_deep()
    given = {name: value for name, value in data.items() if value is not None}
    try:
        request = msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        raise _explained(str(error)) from None
    except RecursionError:
        raise _too_deep() from None
    return request, tuple(_unknown(request, given))


def _unknown(known: msgspec.Struct, given: Mapping[str, Any], place: str = "") -> Iterator[str]:
    """Yield the unknown fields, also of objects within it, but not of those in lists.

    Those of a list's items, of which a conversation has many, would fill a header.
    """
    names = {field.encode_name: field.name for field in msgspec.structs.fields(known)}
    for name, value in given.items():
        if name not in names:
            if value is not None:
                yield place + name
        elif isinstance(inner := getattr(known, names[name]), msgspec.Struct):
            yield from _unknown(inner, value, f"{place}{name}.")


def _too_deep() -> Exception:
    return refused("", f"The body is nested deeper than {MAX_DEPTH} levels.", "invalid_json")


def _is_deep(body: bytes, data: object) -> bool:
    """Return whether a body is nested deeper than allowed; counting brackets settles most cases."""
    if body.count(b"[") + body.count(b"{") <= MAX_DEPTH:
        return False
    level: list[Any] = [data]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for each in level
            for inner in (each.values() if isinstance(each, dict) else each)
            if isinstance(inner, (dict, list))
        ]
    return bool(level)


def _explained(error: str) -> Exception:
    """Return the error about a field of the wrong type or one that is missing."""
    found = _PLACE.match(error)
    what, place = (found[1], found[2] or "") if found else (error, "")
    missing = re.match(r"Object missing required field `(.*)`", what)
    if missing:
        place = f"{place}.{missing[1]}" if place else missing[1]
        return refused(place, f"The field {place} is missing.", "missing_field")
    where = f"The field {place}" if place else "The body"
    return refused(place, f"{where} has a value that it cannot have: {what}.")


def check_messages(given: Sequence[object], field: str) -> None:
    """Refuse a conversation without messages, or with too many.

    Raises:
        ApiError: It has; the text names the field.
    """
    if not given:
        raise refused(field, f"{field} is empty.")
    if len(given) > MAX_MESSAGES:
        raise refused(field, f"{field} may hold {MAX_MESSAGES:,} messages at most.")


def with_sampling(
    sampling: SamplingParams, given: Mapping[str, Any], n_vocab: int
) -> SamplingParams:
    """Return the sampling parameters with a request's values.

    Args:
        sampling: Values for absent fields.
        given: Values by the names of `SamplingParams`, or None if absent.
        n_vocab: Tokens of the vocabulary.

    Raises:
        ApiError: A value is out of range.
    """
    for name, value in given.items():
        if value is None:
            continue
        sampling = replace(sampling, **{name: value})
        try:
            check_sampling(sampling, n_vocab)
        except UserError as error:
            raise of_value(name, error) from None
    return sampling


def read_biases(given: Mapping[str, float] | None) -> tuple[LogitBias, ...] | None:
    """Return the logit biases of a request, or None if it has none.

    Raises:
        ApiError: There are too many, or a name is no token id.
    """
    if given is None:
        return None
    if len(given) > MAX_BIASES:
        raise refused("logit_bias", f"logit_bias may name {MAX_BIASES:,} tokens at most.")
    wrong = next((name for name in given if not name.isdecimal() or len(name) > 9), None)
    if wrong is not None:
        raise refused("logit_bias", f"logit_bias names “{wrong:.40}”, which is no token id.")
    return tuple(LogitBias(int(name), bias) for name, bias in given.items())


def read_stops(given: str | Sequence[str] | None, field: str = "stop") -> tuple[str, ...] | None:
    """Return the stop texts of a request, or None if it has none.

    Raises:
        ApiError: There are too many, or one is too long.
    """
    if given is None:
        return None
    stops = (given,) if isinstance(given, str) else tuple(given)
    if len(stops) > MAX_STOPS or any(len(stop) > MAX_STOP_CHARS for stop in stops):
        raise refused(
            field,
            f"{field} may hold {MAX_STOPS} texts at most, of {MAX_STOP_CHARS:,} characters each.",
        )
    return tuple(filter(None, stops))
