"""Messages for tests: a hypothesis strategy and one filled sample for every message type."""

from __future__ import annotations

import dataclasses
import types
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from paceline import messages

COMMANDS = get_args(messages.Command)
EVENTS = get_args(messages.Event)
MESSAGES = (*COMMANDS, *EVENTS)


def any_message() -> st.SearchStrategy[Any]:
    """Every message with every value that its types allow; NaN, which equals nothing, left out."""
    return st.one_of([_dataclass(cls) for cls in MESSAGES])


def _dataclass(cls: type) -> st.SearchStrategy[Any]:
    return st.builds(cls, **{name: _value(hint) for name, hint in get_type_hints(cls).items()})


def _value(hint: Any) -> st.SearchStrategy[Any]:
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return st.one_of([_value(arg) for arg in get_args(hint)])
    if origin is Literal:
        return st.sampled_from(get_args(hint))
    if origin is tuple:
        items = get_args(hint)
        if items[-1] is not Ellipsis:
            return st.tuples(*map(_value, items))
        return st.lists(_value(items[0]), max_size=3).map(tuple)
    if dataclasses.is_dataclass(hint):
        return _dataclass(hint)
    return {
        str: st.text(max_size=20),
        int: st.integers(),
        float: st.floats(allow_nan=False),
        bool: st.booleans(),
        types.NoneType: st.none(),
    }[hint]


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
    if dataclasses.is_dataclass(hint):
        return sample(hint)
    return {str: "ä", int: 7, float: 0.5, bool: True}[hint]
