"""Calibrations that measure twice instead of five times, and compare few rows; less patience.

That takes a tenth of the time. It is for tests whose figures do not matter.
"""

from __future__ import annotations

import importlib
import socket
from collections.abc import Callable
from typing import Any

from engine.template_attacks import ATTACKS
from paceline.hosting.child import run_child
from paceline.hosting.process import ProcessService
from paceline.workers.process import ChildMain
from paceline.workers.worker import Worker

FEWER = (
    ("paceline.engine.measure.calibration", "ROUNDS", 2),
    ("paceline.engine.measure.calibration", "LONG_TOKENS", 128),
    ("paceline.engine.sameness.promise", "LIMIT_S", 0.0),
    ("paceline.engine.sameness.promise", "IDLE_S", 0.5),
)


def everywhere(set_in: Callable[[object, str, object], None] = setattr) -> None:
    """Make it so in this process, and in the engine's processes that it starts."""
    measure_little(set_in)
    _have_processes_run(run_quick_child, set_in)


def impatient_everywhere(set_in: Callable[[object, str, object], None]) -> None:
    """Give attacking templates a quarter of the time, here and in the engine's processes."""
    be_impatient(set_in)
    _have_processes_run(run_impatient_child, set_in)


def _have_processes_run(main: ChildMain, set_in: Callable[[object, str, object], None]) -> None:
    defaults = ProcessService.__init__.__kwdefaults__
    assert "main" in defaults
    set_in(ProcessService.__init__, "__kwdefaults__", {**defaults, "main": main})


def measure_little(set_in: Callable[[object, str, object], None] = setattr) -> None:
    """Make it so in this process."""
    for module, name, value in FEWER:
        set_in(importlib.import_module(module), name, value)


def be_impatient(set_in: Callable[[object, str, object], None] = setattr) -> None:
    """Give attacking templates a quarter of the time in this process; others keep all of it."""
    ask, attacks = Worker.ask, frozenset(ATTACKS.values())

    def hurried(self: Worker[Any, Any], question: Any, seconds: float, *more: Any) -> Any:
        is_attack = isinstance(question, tuple) and question[0][0] in attacks
        return ask(self, question, seconds / 4 if is_attack else seconds, *more)

    set_in(Worker, "ask", hurried)


def run_quick_child(pipe: socket.socket) -> None:
    """Run an engine whose calibrations are such ones in this process."""
    run_child(pipe, measure_little)


def run_impatient_child(pipe: socket.socket) -> None:
    """Run an engine whose attacking templates have so little time in this process."""
    run_child(pipe, be_impatient)
