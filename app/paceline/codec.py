"""Dataclasses as JSON data, and made of one another; their fields alone say how.

`encode` gives plain JSON data with the message's name under ``"type"``; `decode` checks names,
fields and types and refuses everything else, because in the process host the other end of the
pipe may be a broken child. A field can be one of several kinds of value: frozen `msgspec.Struct`s,
each with a tag. A text that is a `Sentence` stays one. Any thread.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import operator
import re
import types
import typing
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from paceline.errors import ReasonError
from paceline.sentence import Argument, Sentence, joined, made, sentence

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")
_type_hints = functools.cache(get_type_hints)
_PLAIN = frozenset({str, int, float, bool, type(None)})


class CodecError(ReasonError, ValueError):
    """The data is not a message; the text says which field is wrong.

    Attributes:
        reason: What is wrong, in words that follow the name of the place.
        place: Where that is, such as ``.tokens[0]``; empty: it is the whole.
    """

    def __init__(self, reason: str, /, place: str = "", **arguments: Argument) -> None:
        super().__init__(reason, **arguments)
        self.place = place

    def __str__(self) -> str:
        return joined([self.place.removeprefix("."), self.reason])


class UnknownFieldError(CodecError):
    """The data has a field that this version of the program does not know."""


def by_name(union: Any) -> dict[str, type]:
    """Return the classes of a union by their names."""
    return {cls.__name__: cls for cls in get_args(union)}


def encode(message: DataclassInstance) -> dict[str, Any]:
    """Return JSON data (dict, list, str, int, float, bool, None) for a message, with its name."""
    return {"type": type(message).__name__, **encode_part(message)}


def decode(data: object, classes: Mapping[str, type[T]]) -> T:
    """Return the message that `encode` gave this data for.

    Args:
        data: Anything.
        classes: From `by_name`: the dataclasses that are accepted.

    Raises:
        CodecError: Unknown type, missing or unknown field, or a value of the wrong type.
    """
    if not isinstance(data, dict):
        raise CodecError("a message is an object, not {name}", name=type(data).__name__)
    name = data.get("type")
    cls = classes.get(name) if isinstance(name, str) else None
    if cls is None:
        raise CodecError("unknown type {name:.60}", name=repr(name))
    try:
        return decode_part(cls, {key: value for key, value in data.items() if key != "type"})
    except CodecError as error:
        error.place = f"{cls.__name__}{error.place}"
        raise


def encode_part(value: DataclassInstance) -> dict[str, Any]:
    """Return JSON data for a dataclass that is part of a message, or is made of such parts."""
    names, get_values = _fields(type(value))
    return {
        name: item if type(item) in _PLAIN else encode_value(item)
        for name, item in zip(names, get_values(value), strict=True)
    }


def decode_part(cls: type[T], data: object) -> T:
    """Return the value that `encode_part` gave this data for.

    Args:
        cls: The frozen dataclass; its fields have the types that messages have.
        data: Anything.

    Raises:
        CodecError: As for `decode`.
    """
    return typing.cast(T, _dataclass_reader(typing.cast(type, cls))(data))


def decode_known(cls: type[T], data: object) -> T:
    """As `decode_part`, without the fields that only a later version of the program knows.

    Those of the class itself, and of dataclasses among its fields and in tuples, are passed over.
    """
    return decode_part(cls, _known(cls, data))


def made_of(cls: type[T], source: object, **given: Any) -> T:
    """Return a `cls` whose fields are those of `source` by name, but for what is given.

    Raises:
        TypeError: A field without a default is neither given nor one of the source's.
    """
    names, _ = _fields(typing.cast(type, cls))
    taken = {n: getattr(source, n) for n in names if n not in given and hasattr(source, n)}
    return cls(**taken, **given)


def _known(hint: Any, data: Any) -> Any:
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return data if _is_of_structs(hint) else _known(_inner(hint), data)
    if origin is tuple and isinstance(data, list):
        return [_known(get_args(hint)[0], item) for item in data]
    if not (dataclasses.is_dataclass(hint) and isinstance(data, dict)):
        return data
    hints = _type_hints(typing.cast(type, hint))
    return {key: _known(hints[key], value) for key, value in data.items() if key in hints}


def _is_of_structs(hint: Any) -> bool:
    """Return whether a type is a kind of `msgspec.Struct`, or one of several."""
    kinds = [kind for kind in get_args(hint) or (hint,) if kind is not type(None)]
    return all(isinstance(kind, type) and issubclass(kind, msgspec.Struct) for kind in kinds)


def _inner(hint: Any) -> Any:
    """Return X of `X | None`."""
    (inner,) = (arg for arg in get_args(hint) if arg is not type(None))
    return inner


def encode_value(value: Any) -> Any:
    """Return JSON data for the value of a field."""
    if isinstance(value, tuple):
        return [item if type(item) in _PLAIN else encode_value(item) for item in value]
    if hasattr(type(value), "__dataclass_fields__"):
        return encode_part(value)
    if isinstance(value, msgspec.Struct):
        return msgspec.to_builtins(value, enc_hook=encode_value)
    if isinstance(value, Sentence):
        arguments = {name: encode_value(item) for name, item in value.arguments.items()}
        return {"template": value.template, "arguments": arguments}
    return str(value) if isinstance(value, Path) else value


@functools.cache
def _fields(cls: type) -> tuple[tuple[str, ...], Callable[[Any], tuple[Any, ...]]]:
    """Return the fields' names, and what gives their values."""
    names = tuple(field.name for field in dataclasses.fields(cls))
    if len(names) > 1:
        return names, operator.attrgetter(*names)
    return names, lambda message: tuple(getattr(message, name) for name in names)


# A step's event is decoded as often as tokens are generated, so types are looked at once per class:
# every type has a reader, and the place of a wrong value is put together on the way out.


_Reader = Callable[[Any], Any]


@functools.cache
def _dataclass_reader(cls: type) -> _Reader:
    readers = {name: _reader(hint) for name, hint in _type_hints(cls).items()}
    known = readers.keys()
    required = frozenset(
        field.name
        for field in dataclasses.fields(cls)
        if field.default is field.default_factory is dataclasses.MISSING
    )

    def read(data: Any) -> Any:
        if not isinstance(data, dict):
            raise misfit(data, "an object")
        if not data.keys() <= known:
            unknown = min(map(str, data.keys() - known))
            raise UnknownFieldError("is not known", f".{unknown:.200}")
        if not required <= data.keys():
            raise CodecError("is missing", f".{min(required - data.keys())}")
        values = {}
        key = ""
        try:
            for key, value in data.items():
                values[key] = readers[key](value)
        except CodecError as error:
            error.place = f".{key}{error.place}"
            raise
        return cls(**values)

    return read


@functools.cache
def _reader(hint: Any) -> _Reader:
    origin = get_origin(hint)
    if origin in (Union, types.UnionType, None) and _is_of_structs(hint):
        return _struct_reader(hint)
    if origin in (Union, types.UnionType):
        return _optional_reader(hint)
    if origin is Literal:
        return _literal_reader(get_args(hint))
    if origin is tuple:
        items = get_args(hint)
        if items[-1] is Ellipsis:
            return _tuple_reader(_reader(items[0]))
        return _record_reader([_reader(item) for item in items])
    if dataclasses.is_dataclass(hint):
        return _dataclass_reader(typing.cast(type, hint))
    own: dict[Any, _Reader] = {float: _read_float, str: decode_text, Path: _read_path}
    return own.get(hint) or _exact_reader(hint)


_KINDS = {
    str: sentence("a text"), int: sentence("a whole number"), bool: sentence("true or false")
}  # fmt: skip


def misfit(value: object, expected: str, place: str = "") -> CodecError:
    """Return the error about a value that is something else, see `CodecError`."""
    return CodecError(
        "must be {expected}, not {value:.60}",
        place,
        expected=made(expected, {}),
        value=repr(value),
    )


def _struct_reader(hint: Any) -> _Reader:
    def read(value: Any) -> Any:
        try:
            return msgspec.convert(value, hint)
        except (msgspec.ValidationError, UnicodeError) as error:
            _, _, path = str(error).partition(" - at ")  # such as `$.parts[0].text`
            raise misfit(value, "an object", path.strip("`").removeprefix("$")) from None

    return read


def _optional_reader(hint: Any) -> _Reader:
    inner = _reader(_inner(hint))
    return lambda value: None if value is None else inner(value)


def _literal_reader(allowed: tuple[Any, ...]) -> _Reader:
    def read(value: Any) -> Any:
        if value not in allowed:
            raise misfit(value, sentence("one of {allowed}", allowed=", ".join(map(repr, allowed))))
        return value

    return read


def _tuple_reader(item: _Reader) -> _Reader:
    def read(value: Any) -> Any:
        if not isinstance(value, list):
            raise misfit(value, "a list")
        items: list[Any] = []
        try:
            for element in value:
                items.append(item(element))
        except CodecError as error:
            error.place = f"[{len(items)}]{error.place}"
            raise
        return tuple(items)

    return read


def _record_reader(items: list[_Reader]) -> _Reader:
    """Read a tuple of a fixed length."""

    def read(value: Any) -> Any:
        if not isinstance(value, list) or len(value) != len(items):
            raise misfit(value, sentence("a list of {n}", n=len(items)))
        return tuple(item(element) for item, element in zip(items, value, strict=True))

    return read


def _exact_reader(cls: type) -> _Reader:
    def read(value: Any) -> Any:
        if type(value) is not cls:  # exact: True is not an int here
            raise misfit(value, _KINDS[cls])
        return value

    return read


def decode_text(value: Any) -> str:
    """Return the text, perhaps a `Sentence`, that `encode_value` gave this data for.

    Raises:
        CodecError: It is none.
    """
    if type(value) is str:
        return value
    match value:
        case {"template": str(template), "arguments": dict(arguments), **others} if not others:
            given = {name: _read_argument(item) for name, item in arguments.items()}
            with contextlib.suppress(ValueError):
                if _is_as_long_as_its_data(template, given):
                    return Sentence(template, given)
    raise misfit(value, _KINDS[str])


def _is_as_long_as_its_data(template: str, arguments: Mapping[str, Argument]) -> bool:
    """Return whether a sentence cannot multiply: in a chat of a stranger, 1 kB may become 1 TB."""
    n_uses = Counter(re.findall(r"{(\w+)", template))
    return all(
        n <= 1 + (not isinstance(arguments.get(name), Sentence)) for name, n in n_uses.items()
    )


def _read_argument(value: Any) -> str | int | float:
    return value if type(value) in (int, float) else decode_text(value)


def _read_path(value: Any) -> Path:
    """No message has a path, but files of this program name some."""
    if type(value) is not str:
        raise misfit(value, _KINDS[str])
    return Path(value)


def _read_float(value: Any) -> float:
    if type(value) is float:
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        with contextlib.suppress(OverflowError):  # an int beyond every float
            return float(value)
        raise misfit(value, "a number that fits")
    raise misfit(value, "a number")
