"""The child processes of the program, each tried by `paceline doctor`: that it starts and answers.

Every kind of child is in one list. They are tried at the same time, beside what else the doctor
does. Imports little: a child imports this module.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from paceline.errors import UserError

if TYPE_CHECKING:  # it would load the half of the program into a child
    from paceline.cli.loading import Asked

LIMIT_S = 20.0
"""Time limit in seconds for a start, and for an answer."""
_POLL_S = 0.05
_KERNEL = "q8_0"
"""Its test is short, and every library of kernels has it."""


class ChildAnswer(NamedTuple):
    """The outcome of one child's trial.

    Attributes:
        name: Its name in lists of processes.
        starts: Whether it has started and answered.
        seconds: From its start to its answer, or until it was given up.
        error: Why it does not answer, or empty if it does.
    """

    name: str
    starts: bool
    seconds: float
    error: str


class KnownChild(NamedTuple):
    """One kind of child.

    Attributes:
        name: Its name in lists of processes.
        ask: Starts it, waits for an answer and ends it; returns why there is none, else "".
    """

    name: str
    ask: Callable[[Path], str]


class TrialOfChildren:
    """All children, tried from now on until `close`.

    Args:
        cache_dir: See `Paths`.
    """

    def __init__(self, cache_dir: Path) -> None:
        self._pool = ThreadPoolExecutor(len(CHILDREN), thread_name_prefix="children")
        self._answers: list[Future[ChildAnswer | None]] = [
            self._pool.submit(_tried, child, cache_dir) for child in CHILDREN
        ]

    def answers(self, asked: Asked) -> tuple[ChildAnswer, ...]:
        """Wait for all, and return them with the one that described the engine."""
        described = ChildAnswer(
            DESCRIPTION, not asked.process_error, asked.seconds, asked.process_error
        )
        found = (answer.result() for answer in self._answers)
        return (described, *(each for each in found if each is not None))

    def close(self) -> None:
        """Wait until none is under way."""
        self._pool.shutdown()


def as_line(answers: Sequence[Mapping[str, Any]]) -> str:
    """Return the report for people; `answers` as in the report."""
    silent = [f"{x['name']} does not ({x['error']})" for x in answers if not x["starts"]]
    n_answering = len(answers) - len(silent)
    counted = f"child processes: {n_answering} of {len(answers)} answer"
    return "; ".join([counted, *silent])


def _tried(child: KnownChild, cache_dir: Path) -> ChildAnswer | None:
    began = time.monotonic()
    try:
        error = child.ask(cache_dir)
    except _NotHereError:
        return None
    except Exception as failure:  # noqa: BLE001  one child's trial costs no report
        error = str(failure) or type(failure).__name__
    return ChildAnswer(child.name, not error, time.monotonic() - began, error)


class _NotHereError(Exception):
    """There is nothing that the child could do here."""


def _ask_engine(_: Path) -> str:
    from paceline.hosting.exit_reasons import describe_death
    from paceline.hosting.wire import engine_language
    from paceline.messages import Shutdown, Unload, Unloaded
    from paceline.workers.process import ChildProcess

    deadline = time.monotonic() + 2 * LIMIT_S
    child = ChildProcess("paceline.hosting.child:run_child", engine_language())
    child.send(Unload())  # costs least, since nothing is loaded
    while time.monotonic() < deadline:
        if any(isinstance(message, Unloaded) for message in child.receive(_POLL_S)):
            child.end(Shutdown())
            return ""
        if child.has_ended:
            return describe_death(child.find_end()).reason
    child.kill()
    return "it has not answered in time"


def _ask_inspector(_: Path) -> str:
    from paceline.catalog.inspect.inspector import inspecting_worker
    from paceline.catalog.inspect.wire import Know, Refused

    with contextlib.closing(inspecting_worker()) as worker:
        answer = worker.ask(Know("llama"), LIMIT_S)
    return answer.message if isinstance(answer, Refused) else ""


def _ask_templates(_: Path) -> str:
    from paceline.engine.prompt.renderer import Renderer, RenderJob
    from paceline.messages import ChatMessage

    word = "Hello"
    job = RenderJob((ChatMessage.of_text("user", word),), {})
    with contextlib.closing(Renderer()) as renderer:
        (outcome,) = renderer.render(("{{ messages[0].content }}", "", ""), (job,))
    return "" if (outcome.kind, outcome.text) == ("text", word) else outcome.text or outcome.kind


def _ask_prover(cache_dir: Path) -> str:
    from paceline.engine.model import own_kernels
    from paceline.workers.worker import Worker

    try:
        library = own_kernels.find_library(str(cache_dir))
    except UserError as error:
        raise _NotHereError from error
    main = partial(run_prover, str(library))
    worker = Worker(main, own_kernels.prover_language(), start_s=LIMIT_S, asks_again=False)
    with contextlib.closing(worker):
        worker.ask(_KERNEL, LIMIT_S)  # whether the result is right is reported elsewhere
    return ""


def run_prover(library: str, pipe: socket.socket) -> None:
    """Run the prover; llama.cpp is loaded in the child alone."""
    from paceline.engine.llama.kernel_library import run_prover as run

    run(library, pipe)


DESCRIPTION = "paceline-description"
"""The process that the doctor asks before all else."""
CHILDREN = (
    KnownChild("paceline-engine", _ask_engine),
    KnownChild("paceline-inspector", _ask_inspector),
    KnownChild("paceline-templates", _ask_templates),
    KnownChild("paceline-prover", _ask_prover),
)
"""All others; the prover is left out if there are no kernels."""
