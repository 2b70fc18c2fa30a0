"""Asks the engine what it is, for the doctor: in a process of its own, then within this program.

A library that crashes when it is loaded would take the doctor along. So the process is asked first,
which costs no more time than loading the library here, and this program loads it only when the
process could not tell and did not crash in native code.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from paceline.errors import UserError
from paceline.messages import DescribeEngine, EngineDescribed, Event

ANSWER_S = 20.0


@dataclass(frozen=True, slots=True)
class Asked:
    """What the engine says of itself, and what came in its way.

    Attributes:
        answer: What the native library says; None when it says nothing.
        library_error: Why it says nothing; empty when it does.
        process_error: Why the engine's own process does not answer; empty when it does.
        seconds: From the start of that process to its answer, or until it was given up.
    """

    answer: EngineDescribed | None
    library_error: str
    process_error: str
    seconds: float


def ask_engine() -> Asked:
    """Return what the engine says of itself."""
    began = time.monotonic()
    answer, process_error, has_crashed = _ask_process()
    seconds = time.monotonic() - began
    if answer is not None or has_crashed:
        return Asked(answer, process_error, process_error, seconds)
    answer, library_error = _ask_here()
    return Asked(answer, library_error, process_error, seconds)


def _ask_process() -> tuple[EngineDescribed | None, str, bool]:
    """Return the answer, or why there is none and whether native code crashed."""
    from paceline.hosting.child import run_child
    from paceline.hosting.child_process import ChildProcess, engine_language
    from paceline.hosting.wire import WireError

    try:
        child = ChildProcess(run_child, engine_language())
    except OSError as error:
        return None, f"it cannot be started ({error.strerror or error})", False
    deadline = time.monotonic() + ANSWER_S
    try:
        child.send(DescribeEngine())
        while time.monotonic() < deadline:
            for message in child.receive(0.1):
                if isinstance(message, EngineDescribed):
                    child.end()
                    return message, "", False
            if child.has_ended:
                death = child.describe_death()
                return None, death.reason, death.is_native
    except WireError as error:
        child.kill()
        return None, f"it sent something that is no message ({error})", False
    child.kill()
    return None, f"it has not answered for {ANSWER_S:.0f} seconds", False


def _ask_here() -> tuple[EngineDescribed | None, str]:
    """Return what the native library says of itself, or why it says nothing."""
    answers: list[Event] = []
    try:
        from paceline.hosting.inline import InlineClient

        client = InlineClient()
        client.set_listener(answers.append)
        client.submit(DescribeEngine())
        client.close()
    except (ImportError, OSError, RuntimeError, UserError) as error:
        return None, str(error)
    for event in answers:
        if isinstance(event, EngineDescribed):
            return event, ""
    return None, "; ".join(str(event) for event in answers) or "it does not answer"
