"""Nobody who takes events forgets one of them."""

from __future__ import annotations

import ast
from typing import get_args

import pytest

from architecture.source import PACKAGE, module
from paceline import messages

EVENTS = {cls.__name__ for cls in get_args(messages.Event)}
# Modules that take the engine's events, those that share the work together.
LISTENERS = [("chat/session.py", "chat/reply_runner.py"), ("cli/chat_run.py",)]


def forgotten(tree: ast.Module) -> set[str]:
    """Events that no `case` names, and "assert_never" when no match is closed by it."""
    named = {
        node.cls.id
        for node in ast.walk(tree)
        if isinstance(node, ast.MatchClass) and isinstance(node.cls, ast.Name)
    }
    closed = any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "assert_never"
        for node in ast.walk(tree)
    )
    return (EVENTS - named) | (set() if closed else {"assert_never"})


@pytest.mark.parametrize("places", LISTENERS)
def test_every_event_is_handled_or_ignored_on_purpose(places: tuple[str, ...]) -> None:
    text = "\n".join((PACKAGE / place).read_text(encoding="utf-8") for place in places)
    assert forgotten(ast.parse(text)) == set()


@pytest.mark.parametrize("missing", sorted(EVENTS))
def test_a_forgotten_event_is_noticed(missing: str) -> None:
    cases = " | ".join(f"{name}()" for name in sorted(EVENTS - {missing}))
    code = f"match event:\n case {cases}:\n  pass\n case _:\n  assert_never(event)\n"
    assert forgotten(module(code).tree) == {missing}


def test_an_open_match_is_noticed() -> None:
    cases = " | ".join(f"{name}()" for name in EVENTS)
    assert forgotten(module(f"match event:\n case {cases}:\n  pass\n").tree) == {"assert_never"}
