"""Messages for tests: one filled sample for every message type; any others: `any_message`.

Children of tests import this: it stays light.
"""

from __future__ import annotations

import dataclasses
import types
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import structs

from paceline import messages
from paceline.sentence import UserText, sentence

COMMANDS = get_args(messages.Command)
EVENTS = get_args(messages.Event)
MESSAGES = (*COMMANDS, *EVENTS)


def is_value(hint: Any) -> bool:
    """Return whether a type is a struct or a dataclass: a message, or a value in one."""
    is_struct = isinstance(hint, type) and issubclass(hint, msgspec.Struct)
    return is_struct or dataclasses.is_dataclass(hint)


def required(cls: type) -> dict[str, bool]:
    """Return whether each field must be given, by name."""
    if issubclass(cls, msgspec.Struct):
        return {field.encode_name: field.required for field in structs.fields(cls)}
    none = dataclasses.MISSING
    return {f.name: f.default is f.default_factory is none for f in dataclasses.fields(cls)}


def sample(cls: type) -> Any:
    """One message of this type with every field filled, the optional ones too."""
    return cls(**{name: _filled(hint) for name, hint in get_type_hints(cls).items()})


def _filled(hint: Any) -> Any:
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return _filled(next(arg for arg in get_args(hint) if arg is not types.NoneType))
    if origin is Literal:
        return get_args(hint)[0]
    if origin is tuple:
        return tuple(_filled(item) for item in get_args(hint) if item is not Ellipsis)
    if is_value(hint):
        return sample(hint)
    return {
        str: "ä",
        bytes: b"\xc3",
        UserText: sentence("{n} of ä", n=7),
        int: 7,
        float: 0.5,
        bool: True,
    }[hint]
