"""One JSON form for every message, derived from the dataclasses themselves.

`encode` gives plain JSON data with the message's name under ``"type"``; `decode` checks names,
fields and types and refuses everything else, because in the process host the other end of the
pipe may be a broken child. Used by the process host, the log and replay; any thread.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import types
import typing
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from paceline import messages
from paceline.messages import Command, Event

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")
Message = Command | Event
_MESSAGES: dict[str, type] = {cls.__name__: cls for cls in (*get_args(Command), *get_args(Event))}


class CodecError(ValueError):
    """The data is not a message; the text says which field is wrong."""


def encode(message: Message) -> dict[str, Any]:
    """Return JSON data (dict, list, str, int, float, bool, None) for a message."""
    return {"type": type(message).__name__, **_encode_fields(message)}


def decode(data: object) -> Message:
    """Return the message that `encode` gave this data for.

    Raises:
        CodecError: Unknown type, missing or unknown field, or a value of the wrong type.
    """
    if not isinstance(data, dict):
        raise CodecError(f"a message is an object, not {type(data).__name__}")
    name = data.get("type")
    cls = _MESSAGES.get(name) if isinstance(name, str) else None
    if cls is None:
        raise CodecError(f"unknown message type {name!r}")
    fields = {key: value for key, value in data.items() if key != "type"}
    return typing.cast(Message, _decode_dataclass(cls, fields, cls.__name__))


def encode_part(value: DataclassInstance) -> dict[str, Any]:
    """Return JSON data for a dataclass that is part of a message, or is made of such parts."""
    return _encode_fields(value)


def decode_part(cls: type[T], data: object) -> T:
    """Return the value that `encode_part` gave this data for.

    Args:
        cls: The frozen dataclass; its fields have the types that messages have.
        data: Anything.

    Raises:
        CodecError: As for `decode`.
    """
    if not isinstance(data, dict):
        raise CodecError(f"{cls.__name__} is an object, not {type(data).__name__}")
    return typing.cast(T, _decode_dataclass(cls, data, cls.__name__))


def _encode_fields(message: Any) -> dict[str, Any]:
    return {f.name: _encode_value(getattr(message, f.name)) for f in dataclasses.fields(message)}


def _encode_value(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_encode_value(item) for item in value]
    if dataclasses.is_dataclass(value):
        return _encode_fields(value)
    return value


@functools.cache
def _hints(cls: type) -> dict[str, Any]:
    return get_type_hints(cls, vars(messages))


def _decode_dataclass(cls: type, data: dict[str, Any], where: str) -> object:
    hints = _hints(cls)
    unknown = data.keys() - hints.keys()
    if unknown:
        raise CodecError(f"{where} has no field {min(map(repr, unknown))}")
    values = {key: _decode_value(hints[key], v, f"{where}.{key}") for key, v in data.items()}
    try:
        return cls(**values)
    except TypeError as error:  # a required field is missing
        raise CodecError(f"{where}: {error}") from None


def _decode_value(hint: Any, value: Any, where: str) -> Any:
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return _decode_optional(hint, value, where)
    if origin is Literal:
        if value in get_args(hint):
            return value
    elif origin is tuple:
        if isinstance(value, list):
            item = get_args(hint)[0]
            return tuple(_decode_value(item, v, f"{where}[{i}]") for i, v in enumerate(value))
    elif dataclasses.is_dataclass(hint):
        if isinstance(value, dict):
            return _decode_dataclass(typing.cast(type, hint), value, where)
    elif hint is float:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            with contextlib.suppress(OverflowError):  # an int beyond every float
                return float(value)
    elif type(value) is hint:  # exact: True is not an int here
        return value
    raise CodecError(f"{where}: {value!r:.60} does not fit")


def _decode_optional(hint: Any, value: Any, where: str) -> Any:
    """Every union in the messages is `X | None`."""
    if value is None:
        return None
    (inner,) = (arg for arg in get_args(hint) if arg is not type(None))
    return _decode_value(inner, value, where)
