"""Tools for tests, and calls of them as a form writes them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from paceline.content import Tool, ToolCall
from paceline.engine.calls import writer
from paceline.engine.calls.form import CallForm
from paceline.engine.calls.pieces import (
    Answer,
    CallArguments,
    CallBegan,
    CallEnded,
    CallPiece,
)

WEATHER = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "minLength": 1, "maxLength": 12},
        "days": {"type": "integer", "minimum": 0, "maximum": 30},
        "unit": {"enum": ["C", "F"]},
        "deep": {"type": "boolean"},
    },
    "required": ["city"],
}
LOOKUP = {
    "type": "object",
    "properties": {
        "words": {"type": "array", "items": {"type": "string", "maxLength": 8}, "maxItems": 3},
        "most": {"type": ["integer", "null"], "maximum": 9, "minimum": -9},
    },
    "required": ["words"],
}
WRITE = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "maxLength": 20},
        "text": {"type": "string", "maxLength": 30},
    },
    "required": ["path", "text"],
}
SCHEMAS: dict[str, dict[str, Any]] = {
    "get_weather": WEATHER,
    "get_weather_words": LOOKUP,
    "write": WRITE,
    "now": {"type": "object", "additionalProperties": False},
}
TOOLS = tuple(
    Tool(name, f"does {name}", "" if name == "now" else json.dumps(schema))
    for name, schema in SCHEMAS.items()
)


class Called(NamedTuple):
    """A call: the tool's name and its arguments."""

    name: str
    arguments: Mapping[str, Any]


class Read(NamedTuple):
    """A reply as it was read: its answer, its whole calls, and how many were cut."""

    answer: str
    calls: list[Called]
    n_broken: int


def read_of(pieces: Sequence[CallPiece]) -> Read:
    """Put pieces together, and check that they come in their order."""
    answer, names, texts = "", list[str](), list[str]()
    whole: list[bool] = []
    for piece in pieces:
        match piece:
            case Answer(text):
                assert len(whole) == len(names)
                answer += text
            case CallBegan(index, name, id_):
                assert index == len(names) == len(whole)
                assert id_
                names.append(name)
                texts.append("")
            case CallArguments(index, text):
                assert index == len(whole) == len(names) - 1
                texts[index] += text
            case CallEnded(index, is_whole):
                assert index == len(whole) == len(names) - 1
                whole.append(is_whole)
    assert len(whole) == len(names)
    found = zip(names, texts, whole, strict=True)
    calls = [Called(name, json.loads(text)) for name, text, is_whole in found if is_whole]
    return Read(answer, calls, whole.count(False))


def written(form: CallForm, calls: Sequence[Called]) -> str:
    """Return the text of calls in a form, from its mark on."""
    made = (ToolCall(str(i), call.name, json.dumps(call.arguments)) for i, call in enumerate(calls))
    return writer.written(form, tuple(made))
