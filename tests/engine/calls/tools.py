"""Tools for tests, and calls of them as a form writes them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from paceline.content import Tool
from paceline.engine.calls.form import (
    CallForm,
    Hole,
    OneText,
    Perhaps,
    PythonArguments,
    TaggedArguments,
)
from paceline.engine.calls.pieces import (
    AnswerText,
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
    """What a reply was read as: its answer, its whole calls, and how many were cut."""

    answer: str
    calls: list[Called]
    n_broken: int


def read_of(pieces: Sequence[CallPiece]) -> Read:
    """Put pieces together, and check that they come in their order."""
    answer, names, texts = "", list[str](), list[str]()
    whole: list[bool] = []
    for piece in pieces:
        match piece:
            case AnswerText(text):
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


def written(form: CallForm, calls: Sequence[Called], n_ids: int = 0) -> str:
    """Return the text of calls in a form, from its mark on."""
    texts = [_call(form, call, str(n_ids + i)) for i, call in enumerate(calls)]
    return form.marks[0] + form.begin + form.between.join(texts) + form.end


def _call(form: CallForm, call: Called, made_id: str) -> str:
    text = ""
    for element in form.call:
        match element:
            case str():
                text += element
            case Hole.NAME:
                text += call.name
            case Hole.ID:
                text += made_id
            case OneText(texts):
                text += texts[0]
            case Perhaps(parts):
                text += "".join(made_id if part is Hole.ID else str(part) for part in parts)
            case TaggedArguments():
                text += "".join(_tagged(element, *item) for item in call.arguments.items())
            case PythonArguments():
                items = call.arguments.items()
                text += ", ".join(f"{name}={_python(value)}" for name, value in items)
            case _:
                separators = (",", ":") if form.is_compact else (", ", ": ")
                text += json.dumps(call.arguments, ensure_ascii=False, separators=separators)
    return text


def _tagged(tags: TaggedArguments, name: str, value: object) -> str:
    is_text = isinstance(value, str)
    after = tags.after_name if is_text or not tags.after_json_name else tags.after_json_name
    shown = value if is_text else json.dumps(value, ensure_ascii=False)
    return f"{tags.before}{name}{after}{shown}{tags.after_value}"


def _python(value: object) -> str:
    return repr(value) if value in (True, False, None) else json.dumps(value, ensure_ascii=False)
