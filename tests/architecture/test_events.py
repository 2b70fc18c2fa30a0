"""Every event of the engine is handled by a listener."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import get_args

from architecture.source import modules
from paceline import messages

EVENTS = {cls.__name__ for cls in get_args(messages.Event)}
OF_TURNS = {cls.__name__ for cls in get_args(messages.TurnEvent)}
LISTENERS = ("bench", "chat", "cli", "gui", "server")
"""Rooms that take the engine's events; those below make them or pass them on."""


def taken(trees: Iterable[ast.Module]) -> set[str]:
    """Events that a `case` names, or that something is compared with."""
    return {name for tree in trees for node in ast.walk(tree) for name in _named(node)} & EVENTS


def _named(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.MatchClass(cls=ast.Name(name)):
            yield name
        case ast.Call(func=ast.Name("isinstance"), args=[_, kinds]):
            for part in ast.walk(kinds):
                if isinstance(part, ast.Name):
                    yield part.id


def taken_in(*rooms: str) -> set[str]:
    return taken(m.tree for m in modules() if m.place.split("/")[0] in rooms)


def test_no_event_is_sent_for_nothing() -> None:
    assert EVENTS - taken_in(*LISTENERS) == set()


def test_use_cases_pass_over_no_event_of_a_turn() -> None:
    """An event that the command line alone takes would be missing in every other front end."""
    assert OF_TURNS - taken_in("chat") == set()


def test_an_event_that_no_code_handles_is_noticed() -> None:
    code = (
        "from paceline.messages import Unloaded\n"
        "match event:\n case TurnStarted() | Remembered(chat='c'):\n  pass\n"
        "if isinstance(event, (Calibrated, int)) and event is not TurnFailed:\n  Unloaded()\n"
    )
    assert taken([ast.parse(code)]) == {"TurnStarted", "Remembered", "Calibrated"}
