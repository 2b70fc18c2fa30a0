"""Error codes are stable names, and one rule separates wrong usage from failure."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from architecture.source import Module, module, modules
from paceline.cli.loading import USAGE_CODES

if TYPE_CHECKING:
    from collections.abc import Iterator

KEBAB = re.compile(r"[a-z]+(-[a-z0-9]+)*")


def codes(source: Module, *endings: str) -> Iterator[str]:
    """Literal codes of the errors whose class name ends in one of these ways."""
    for node in ast.walk(source.tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id.endswith(endings)
            and node.args
            and isinstance(node.args[0], ast.Constant)
            and isinstance(node.args[0].value, str)
        ):
            yield node.args[0].value


def test_what_the_engine_refuses_is_wrong_usage_on_the_command_line() -> None:
    engine = [m for m in modules() if m.place.startswith(("engine/", "errors."))]
    refused = {code for m in engine for code in codes(m, "ValueOutOfRangeError")}
    assert refused == USAGE_CODES


def test_codes_are_names() -> None:
    errors = ("UserError", "ModelError", "EngineError", "OutOfRangeError", "FullError")
    found = {code for m in modules() for code in codes(m, *errors)}
    assert len(found) > 10
    assert [code for code in found if not KEBAB.fullmatch(code)] == []


def test_the_search_finds_a_code() -> None:
    source = module('raise ValueOutOfRangeError("no-such-thing", f"No {x}.")')
    assert list(codes(source, "ValueOutOfRangeError")) == ["no-such-thing"]
