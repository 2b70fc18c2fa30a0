"""Messages for tests: a hypothesis strategy for every message type."""

from __future__ import annotations

import types
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from message_samples import MESSAGES, is_value
from paceline.sentence import UserText, sentence


def any_message() -> st.SearchStrategy[Any]:
    """Every message with every value that its types allow; NaN, which equals nothing, left out."""
    return st.one_of([any_of(cls) for cls in MESSAGES])


def any_of(cls: type) -> st.SearchStrategy[Any]:
    """Every value of a class of messages that its types allow."""
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
    if is_value(hint):
        return any_of(hint)
    return {
        str: st.text(max_size=20),
        bytes: st.binary(max_size=4),
        UserText: st.text(max_size=20) | st.builds(_sentence, st.text(max_size=20)),
        int: st.integers(-(2**63), 2**64 - 1),
        float: st.floats(allow_nan=False),
        bool: st.booleans(),
        types.NoneType: st.none(),
    }[hint]


def _sentence(text: str) -> UserText:
    return sentence("{a}, {b:,}, {c}", a=text, b=2**40, c=sentence("{{}} {n}", n=text))
