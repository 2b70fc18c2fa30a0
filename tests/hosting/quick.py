"""Calibrations that measure twice instead of five times, and compare no rows.

That takes a tenth of the time. It is for tests whose figures do not matter.
"""

from __future__ import annotations

import importlib
import socket
from collections.abc import Callable

from paceline.hosting.child import run_child
from paceline.hosting.process import ProcessService

FEWER = (
    ("paceline.engine.measure.calibration", "ROUNDS", 2),
    ("paceline.engine.measure.calibration", "LONG", 128),
    ("paceline.engine.sameness.promise", "LIMIT_S", 0.0),
)


def everywhere(set_in: Callable[[object, str, object], None] = setattr) -> None:
    """Make it so in this process, and in the engine's processes that it starts."""
    measure_little(set_in)
    defaults = ProcessService.__init__.__kwdefaults__
    assert "main" in defaults
    set_in(ProcessService.__init__, "__kwdefaults__", {**defaults, "main": run_quick_child})


def measure_little(set_in: Callable[[object, str, object], None] = setattr) -> None:
    """Make it so in this process."""
    for module, name, value in FEWER:
        set_in(importlib.import_module(module), name, value)


def run_quick_child(pipe: socket.socket, parent_pid: int, output: str) -> None:
    """Run an engine whose calibrations are such ones in this process."""
    run_child(pipe, parent_pid, output, measure_little)
