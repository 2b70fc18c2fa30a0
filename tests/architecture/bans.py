"""Banned habits in code, found in the syntax tree alone."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from architecture.source import Module

Finding = tuple[int, str]
"""Line and better way."""

OWNERS = ("Client", "Service", "Settings", "Paths", "Broker", "Session", "Thread", "Timer")
QT_VALUES = ("QColor", "QMargins", "QModelIndex", "QPoint", "QPointF", "QRect", "QSize", "QSizeF")
"""Immutable in use, and fit to be made before there is an application."""


def _calls(nodes: Iterable[ast.AST]) -> Iterator[ast.Call]:
    return (node for node in nodes if isinstance(node, ast.Call))


def _name(function: ast.expr) -> str:
    """The last part of what is called: `connect` of `button.clicked.connect`."""
    match function:
        case ast.Attribute():
            return function.attr
        case ast.Name():
            return function.id
    return ""


def unsafe_slots(module: Module) -> Iterator[Finding]:
    """A lambda, partial or nested function runs on the thread of the sender, not the receiver."""
    nested = {
        inner.name
        for outer in module.nodes
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef))
        for inner in ast.walk(outer)
        if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)) and inner is not outer
    }
    nested |= {
        target.id
        for outer in module.nodes
        if isinstance(outer, ast.Assign) and isinstance(outer.value, ast.Lambda)
        for target in outer.targets
        if isinstance(target, ast.Name)
    }
    for call in _calls(module.nodes):
        if not isinstance(call.func, ast.Attribute) or call.func.attr != "connect":
            continue
        for slot in (*call.args, *(keyword.value for keyword in call.keywords)):
            bad = (
                isinstance(slot, ast.Lambda)
                or (isinstance(slot, ast.Call) and _name(slot.func) in ("partial", "partialmethod"))
                or (isinstance(slot, ast.Name) and slot.id in nested)
            )
            if bad:
                yield call.lineno, "connect a bound method of a QObject"


def event_pumping(module: Module) -> Iterator[Finding]:
    """Pumping events re-enters whatever is under way."""
    for node in module.nodes:
        if isinstance(node, (ast.Attribute, ast.Name)) and _name(node) == "processEvents":
            yield node.lineno, "return to the event loop and go on in a slot"


def thread_killing(module: Module) -> Iterator[Finding]:
    """A thread that is terminated holds its locks for ever."""
    for call in _calls(module.nodes):
        if isinstance(call.func, ast.Attribute) and call.func.attr == "terminate":
            yield call.lineno, "set the cancel flag and wait"


def sleeping_window(module: Module) -> Iterator[Finding]:
    """A window that sleeps is frozen."""
    if not module.place.startswith("gui/"):
        return
    for call in _calls(module.nodes):
        if _name(call.func) in ("sleep", "msleep", "usleep"):
            yield call.lineno, "use a timer"


def message_boxes(module: Module) -> Iterator[Finding]:
    """There is one door to the user."""
    if module.place == "gui/kit/notices.py":
        return
    for node in module.nodes:
        named = isinstance(node, (ast.Attribute, ast.Name)) and _name(node) == "QMessageBox"
        imported = isinstance(node, ast.alias) and node.name == "QMessageBox"
        if named or imported:
            yield node.lineno, "tell it through gui/kit/notices.py"


def module_state(module: Module) -> Iterator[Finding]:
    """An instance that is made at import is shared by all, and no one ends it."""
    for statement in module.tree.body:
        value = getattr(statement, "value", None)
        if not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Expr)) or value is None:
            continue
        for call in _calls(ast.walk(value)):
            name = _name(call.func)
            is_qt = name[:1] == "Q" and name[1:2].isupper() and name not in QT_VALUES
            if is_qt or name.endswith(OWNERS):
                yield call.lineno, "make it in the entry point and hand it down"


def prints(module: Module) -> Iterator[Finding]:
    """Stdout belongs to the results of the command line."""
    if module.place.startswith("cli/"):
        return
    for call in _calls(module.nodes):
        if isinstance(call.func, ast.Name) and call.func.id == "print":
            yield call.lineno, "log it, or emit an event"


BANS: tuple[Callable[[Module], Iterator[Finding]], ...] = (
    unsafe_slots,
    event_pumping,
    thread_killing,
    sleeping_window,
    message_boxes,
    module_state,
    prints,
)
