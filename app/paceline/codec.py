"""Conversion of values to plain data and back, by msgspec, determined by their fields.

Messages, and everything that child processes send in them, are frozen structs: `Checked`, or
`Tagged` for one of several kinds. Contents of files may be dataclasses as well. Names, fields and
types are checked when a value is decoded. A field of the type `UserText` keeps its `Sentence`. Any
thread.
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, cast, overload

import msgspec

from paceline.errors import ReasonError
from paceline.sentence import Argument, Sentence, UserText, joined, made, sentence

T = TypeVar("T")


class Checked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A value that refuses data with an unknown field."""


class Tagged(Checked, frozen=True, tag=True):
    """A `Checked` value whose data has its class's name under ``"type"``."""


class CodecError(ReasonError, ValueError):
    """The data does not fit the type; the text names the wrong field.

    Attributes:
        reason: The problem, in words that follow the name of the place.
        place: The field, such as ``.tokens[0]``; empty for the whole value.
    """

    def __init__(self, reason: str, /, place: str = "", **arguments: Argument) -> None:
        super().__init__(reason, **arguments)
        self.place = place

    def __str__(self) -> str:
        return joined([self.place.removeprefix("."), self.reason])


class UnknownFieldError(CodecError):
    """The data has a field that this version of the program does not have."""


def misfit(value: object, expected: str, place: str = "") -> CodecError:
    """Return the error about a value of another type, see `CodecError`."""
    return CodecError(
        "must be {expected}, not {value:.60}",
        place,
        expected=made(expected, {}),
        value=repr(value),
    )


def encode(value: Any) -> Any:
    """Return plain data for a value: dicts, tuples, lists, texts, numbers, booleans, None."""
    return msgspec.to_builtins(value, enc_hook=encode_other)


@overload
def decode(kind: type[T], data: object) -> T: ...
@overload
def decode(kind: UnionType, data: object) -> Any: ...
def decode(kind: Any, data: object) -> Any:
    """Return the value for data of `encode`.

    Args:
        kind: A class, or a union of `Tagged` ones.
        data: Any data.

    Raises:
        CodecError: A field is missing, unknown, or of the wrong type.
    """
    value = decode_known(kind, data)
    _check_names(value, data, "")
    return value


def decode_known(kind: type[T], data: object) -> T:
    """Return the value like `decode`, but ignore unknown fields of dataclasses."""
    try:
        return msgspec.convert(data, kind, dec_hook=decode_other)
    except msgspec.ValidationError as error:
        raise _explained(str(error), data) from None
    except UnicodeError:  # half a surrogate pair in the name of a field or of a kind
        raise misfit(data, "an object") from None


def made_of(cls: type[T], source: object, **given: Any) -> T:
    """Return a `cls` with the fields of `source` by name, except for those in `given`.

    Raises:
        TypeError: A field without a default is in neither `given` nor `source`.
    """
    names = _field_names(cls)
    taken = {n: getattr(source, n) for n in names if n not in given and hasattr(source, n)}
    return cls(**taken, **given)


def encode_other(value: Any) -> Any:
    """Return data for types that msgspec does not support: sentences, paths, numpy's numbers.

    Raises:
        TypeError: The value cannot be encoded.
    """
    if isinstance(value, Sentence):
        return {"template": value.template, "arguments": value.arguments}
    if isinstance(value, Path):
        return str(value)
    for plain in (str, float, int):
        if isinstance(value, plain):
            return plain(value)
    raise TypeError(f"{type(value).__name__} cannot be data")


def decode_other(kind: type, data: Any) -> Any:
    """Return the value for data of `encode_other`.

    Raises:
        ValueError: The data does not fit the type.
    """
    if kind is UserText:
        return _read_text(data)
    if type(data) is str:
        return kind(data)
    raise ValueError(_NO_TEXT)


def _field_names(kind: type) -> tuple[str, ...]:
    """Return the names of a struct's or dataclass's fields; empty for other types."""
    return cast(
        "tuple[str, ...]",
        getattr(kind, "__struct_fields__", None) or (*getattr(kind, "__dataclass_fields__", ()),),
    )


def _check_names(value: Any, data: Any, place: str) -> None:
    """Refuse unknown fields of dataclasses, which msgspec ignores."""
    if isinstance(value, tuple):
        for number, (item, of_item) in enumerate(zip(value, data, strict=True)):
            _check_names(item, of_item, f"{place}[{number}]")
        return
    names = _field_names(type(value))
    if not names:
        return
    if not isinstance(value, msgspec.Struct) and not data.keys() <= {*names}:
        raise _unknown(min(map(str, data.keys() - {*names})), place)
    for name in names:
        if name in data:
            _check_names(getattr(value, name), data[name], f"{place}.{name}")


# ---------------------------------------------------------------------------- msgspec's errors


_ERROR = re.compile(r"(.*?)(?: - at (?:`key` in )?`\$([^`]*)`)?", re.DOTALL)
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")
_NO_TEXT = "Expected `str`"
_KINDS = {
    "str": sentence("a text"), "int": sentence("a whole number"), "float": sentence("a number"),
    "bool": sentence("true or false"), "array": sentence("a list"), "object": sentence("an object"),
}  # fmt: skip


def _explained(text: str, data: Any) -> CodecError:
    """Return an error of msgspec about this data in words of ours, which are translated."""
    found = _ERROR.fullmatch(text)
    assert found is not None
    what, place = found[1], found[2] or ""
    value = _at(place, data)
    match what.split("`"):
        case ["Object missing required field ", name, ""]:
            return CodecError("is missing", f"{place}.{name}")
        case ["Object contains unknown field ", *name, ""]:
            return _unknown("`".join(name), place)
        case ["Expected ", "array", rest] if rest.startswith(" of length "):
            n = rest.removeprefix(" of length ").partition(",")[0]
            return misfit(value, sentence("a list of {n}", n=n), place)
        case ["Expected ", kinds, *_]:
            kind = kinds.removesuffix(" | null")
            return misfit(value, _KINDS.get(kind, kind), place)
        case ["Number out of range"]:
            return misfit(value, "a number that fits", place)
    return CodecError("cannot be {value:.60}", place, value=repr(value))


def _unknown(name: str, place: str) -> UnknownFieldError:
    return UnknownFieldError("is not known", f"{place}.{name:.200}")


def _at(place: str, data: Any) -> Any:
    """Return the part of the data at a place, or the smallest existing part around it."""
    for name, number in _STEP.findall(place):
        try:
            data = data[int(number)] if number else data[name]
        except (LookupError, TypeError):
            break
    return data


# ------------------------------------------------------------------------------------ sentences


def _read_text(value: Any) -> str:
    if type(value) is str:
        return value
    match value:
        case {"template": str(template), "arguments": dict(arguments), **others} if not others:
            given = {name: _read_argument(item) for name, item in arguments.items()}
            with contextlib.suppress(ValueError):
                if _is_as_long_as_its_data(template, given):
                    return Sentence(template, given)
    raise ValueError(_NO_TEXT)


def _read_argument(value: Any) -> str | int | float:
    return value if type(value) in (int, float) else _read_text(value)


def _is_as_long_as_its_data(template: str, arguments: Mapping[str, Argument]) -> bool:
    """Return whether a sentence cannot become far longer than its data, as if to fill memory."""
    n_uses = Counter(re.findall(r"{(\w+)", template))
    return all(
        n <= 1 + (not isinstance(arguments.get(name), Sentence)) for name, n in n_uses.items()
    )
