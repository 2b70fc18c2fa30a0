"""Writing of earlier calls of tools in the form of a model family."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from paceline.content import ToolCall
from paceline.engine.calls.form import (
    CallForm,
    Element,
    Hole,
    OneText,
    Perhaps,
    PythonArguments,
    TaggedArguments,
)
from paceline.engine.calls.forms import form_in
from paceline.engine.calls.values import as_json


def writer_of(template: str) -> Callable[[Sequence[ToolCall]], str] | None:
    """Return a function that writes calls as the models of a chat template, in Jinja, do.

    None if the template shows no form, or one in which a reply has only one call.
    """
    form = form_in(template)
    return partial(written, form) if form and form.between else None


def written(form: CallForm, calls: Sequence[ToolCall]) -> str:
    """Return the text of calls, from the first mark on.

    Args:
        form: Form of the family.
        calls: At least one call; exactly one if a reply in this form has only one.
    """
    texts = form.between.join(_call(form, call) for call in calls)
    return form.marks[0] + form.begin + texts + form.end


def _call(form: CallForm, call: ToolCall) -> str:
    arguments = json.loads(call.arguments)

    def text_of(element: Element) -> str:
        match element:
            case str(text) | OneText((text, *_)):
                return text
            case Hole.NAME:
                return call.name
            case Hole.ID:
                return call.id.removeprefix(form.id_of.format(name=call.name, id=""))
            case Perhaps(parts):
                return "".join(map(text_of, parts))
            case TaggedArguments():
                return "".join(_tagged(element, *each) for each in arguments.items())
            case PythonArguments():
                return _python(arguments)
            case _:
                separators = (",", ":") if form.is_compact else None
                return json.dumps(arguments, ensure_ascii=False, separators=separators)

    return "".join(map(text_of, form.call))


def _tagged(tags: TaggedArguments, name: str, value: Any) -> str:
    if isinstance(value, str):
        return f"{tags.before}{name}{tags.after_name}{value}{tags.after_value}"
    after_name = tags.after_json_name or tags.after_name
    return f"{tags.before}{name}{after_name}{as_json(value)}{tags.after_value}"


def _python(arguments: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name}={value if value in (True, False, None) else as_json(value)}"
        for name, value in arguments.items()
    )
