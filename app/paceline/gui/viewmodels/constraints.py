"""What users type about tokens and form of a reply: read, written and judged in words. No widgets.

Only what can be said without a model is said here; the engine judges the rest when a reply begins.
"""

from __future__ import annotations

import json
import math
import re
from typing import Literal

from PySide6.QtCore import QCoreApplication

from paceline.messages import LogitBias

Form = Literal["free", "schema", "grammar"]
EXAMPLES: dict[str, str] = {
    "schema": """{
  "type": "object",
  "properties": {
    "title": {"type": "string"},
    "year": {"type": "integer"},
    "tags": {"type": "array", "items": {"type": "string"}}
  },
  "required": ["title", "year", "tags"]
}""",
    "grammar": """root ::= answer "\\n"
answer ::= ("yes" | "no") ", because " reason "."
reason ::= [a-zA-Z ,]+""",
}
"""What the editors of the forms can be filled with; both can be used as they are."""
MAX_FORM_BYTES = 1_000_000
"""Of a file that holds a schema or a grammar."""
_ROOT = re.compile(r"^\s*root\s*::=", re.MULTILINE)


def _tr(text: str) -> str:
    return QCoreApplication.translate("Constraints", text)


def read_biases(text: str) -> tuple[LogitBias, ...]:
    """Read ``ID=X, ID=X``; X may be ``-inf``.

    Raises:
        ValueError: A part is none of these; the message is for people.
    """
    biases: dict[int, LogitBias] = {}
    for part in filter(None, (part.strip() for part in re.split(r"[,;\n]", text))):
        name, equals, value = part.partition("=")
        if not equals:
            raise ValueError(_tr("“{}” is not of the form ID=X.").format(part))
        if not name.strip().isdecimal():
            raise ValueError(_tr("“{}” is no token id: give a whole number.").format(name.strip()))
        try:
            bias = float(value)
        except ValueError:
            bias = math.nan
        if math.isnan(bias):
            raise ValueError(_tr("“{}” is no number.").format(value.strip()))
        token = int(name)
        if token in biases:
            raise ValueError(_tr("Token {} is given twice.").format(token))
        biases[token] = LogitBias(token, bias)
    return tuple(biases.values())


def write_biases(biases: tuple[LogitBias, ...]) -> str:
    """Write what `read_biases` reads."""
    return ", ".join(f"{b.token}={b.bias:g}" for b in biases)


def judge(form: Form, text: str) -> str:
    """What is wrong with a schema or a grammar, in words; empty: nothing that shows here."""
    if form == "schema":
        return _judge_schema(text)
    if form == "grammar":
        if not text.strip():
            return _tr('Write a grammar, for example: root ::= "yes" | "no"')
        if not _ROOT.search(text):
            return _tr("The grammar needs a rule named root: root ::= …")
    return ""


def _judge_schema(text: str) -> str:
    if not text.strip():
        return _tr("Write a JSON schema, for example: {}").format('{"type": "object"}')
    try:
        schema = json.loads(text)
    except json.JSONDecodeError as error:
        return _tr("This is no JSON: {} (line {}, column {}).").format(
            error.msg, error.lineno, error.colno
        )
    except (ValueError, RecursionError):
        return _tr("This JSON is nested too deeply or holds too large numbers.")
    if not isinstance(schema, dict):
        return _tr("A JSON schema is an object in braces: {…}")
    return ""
