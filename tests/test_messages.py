"""Messages are plain data: frozen, slotted, picklable, made of builtins alone."""

from __future__ import annotations

import pickle
import types
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from msgspec import structs

from any_message import any_message
from message_samples import COMMANDS, EVENTS, MESSAGES, is_value, required, sample
from paceline import messages
from paceline.sentence import UserText

IMPERATIVES = (
    "Load", "Start", "Tune", "Cancel", "Describe", "Count", "Remember", "Unload", "Shutdown",
    "Read", "Drop", "Calibrate", "Measure", "Reset", "Render", "Encode", "Say",
)  # fmt: skip


def _values_in(hint: Any, found: dict[Any, None]) -> None:
    for part in get_args(hint):
        _values_in(part, found)
    if is_value(hint) and hint not in found:
        found[hint] = None
        for part in get_type_hints(hint).values():
            _values_in(part, found)


def _values() -> list[Any]:
    """All messages, and what they are made of."""
    found: dict[Any, None] = {}
    _values_in(messages.Command | messages.Event, found)
    return list(found)


VALUES = _values()


@given(any_message())
def test_every_message_survives_pickling(message: Any) -> None:
    assert pickle.loads(pickle.dumps(message)) == message


@pytest.mark.parametrize("cls", VALUES)
def test_every_value_is_frozen_and_slotted(cls: type) -> None:
    value = sample(cls)
    for name in list(required(cls))[:1]:
        with pytest.raises(AttributeError):  # `FrozenInstanceError` is one
            setattr(value, name, None)
    assert not hasattr(value, "__dict__")
    assert hash(value) == hash(sample(cls))


@pytest.mark.parametrize("cls", VALUES)
def test_every_field_is_made_of_builtins_and_other_values(cls: type) -> None:
    for name, hint in get_type_hints(cls).items():
        assert _is_plain(hint), f"{cls.__name__}.{name}: {hint}"


def _is_plain(hint: Any) -> bool:
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return all(_is_plain(arg) for arg in args)
    if origin is Literal:
        return all(isinstance(arg, str) for arg in args)
    if origin is tuple:
        return all(_is_plain(arg) for arg in (args[:1] if args[-1] is Ellipsis else args))
    return hint in VALUES or hint in (str, UserText, int, float, bool, bytes, types.NoneType)


def test_a_mutable_field_would_be_noticed() -> None:
    assert not _is_plain(list[int])
    assert not _is_plain(dict[str, int])


def test_commands_are_imperatives_and_events_past_facts() -> None:
    for cls in COMMANDS:
        assert cls.__name__.startswith(IMPERATIVES), cls
    for cls in EVENTS:
        assert cls.__name__.endswith(("ed", "Died")), cls


def test_no_message_has_an_id() -> None:
    """A ticket says what an event is about."""
    for cls in MESSAGES:
        assert not [f.name for f in structs.fields(cls) if f.name.endswith("_id")], cls
