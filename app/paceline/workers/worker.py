"""Asks a child process one question after the other, and replaces it when one ends it.

On Linux a child dies with the thread that started it, so a worker has a thread of its own that
lives as long as itself. Other threads put questions into a queue and wait.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Generic, Literal, TypeVar

from paceline.sentence import sentence
from paceline.workers.ends import End
from paceline.workers.frames import FrameError, WireError
from paceline.workers.process import ChildMain, ChildProcess, Language

Down = TypeVar("Down")
Up = TypeVar("Up")

START_S = 60.0
_POLL_S = 0.01

Trouble = Literal[
    "stopped",
    "not-started",
    "not-ready",
    "too-large",
    "crashed",
    "out-of-memory",
    "slow",
    "nonsense",
]
"""Reasons for no answer. "stopped": the worker was closed, or the caller gave up; "not-started":
the system starts no process; "too-large": the question is."""
_MAYBE_ANOTHERS: tuple[Trouble, ...] = ("crashed", "out-of-memory", "nonsense")
"""Troubles that an earlier question may have caused; in a new process the question itself has."""
_logger = logging.getLogger(__name__)


class NoAnswerError(Exception):
    """A question was not answered; its text is `words`.

    Attributes:
        trouble: The kind.
        words: The predicate of a sentence about the process, such as "crashed, SIGSEGV"; where the
            system starts none, the system's reason.
        end: The process's end, or None if it did not start, was ended by the worker, or sent
            nonsense.
    """

    def __init__(self, trouble: Trouble, words: str, end: End | None = None) -> None:
        super().__init__(words)
        self.trouble, self.words, self.end = trouble, words, end


class Worker(Generic[Down, Up]):
    """Asks one process; any thread may call, and questions take turns.

    The process starts with the first question or `start`. One that dies over a question, hangs,
    takes too much memory or sends something that is no answer is replaced. The question is asked
    once more if the process had answered others before: one of those may have done the damage.

    Args:
        main: Runs in the process, and calls `child.serve`.
        language: Its questions and answers.
        memory: Upper bound of the process's memory in bytes; 0 for no limit.
        idle_s: Seconds without a question after which the process is ended; None means never.
        start_s: Upper bound of the seconds for the process's start.
        asks_again: Whether a question that ended the process may be asked once more.
    """

    def __init__(
        self,
        main: ChildMain,
        language: Language[Down, Up],
        *,
        memory: int = 0,
        idle_s: float | None = None,
        start_s: float = START_S,
        asks_again: bool = True,
    ) -> None:
        self._main = main
        self._language = language
        self._memory = memory
        self._idle_s = idle_s
        self._start_s = start_s
        self._asks_again = asks_again
        self._lock = threading.Lock()  # held to queue a task, so that none comes after the last
        self._tasks: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._child: ChildProcess[Down, Up] | None = None
        self._has_answered = False  # the process has
        self._is_closed = False

    @property
    def pid(self) -> int:
        """The process's id; 0 when there is none."""
        child = self._child
        return child.pid if child is not None else 0

    def start(self) -> None:
        """Start the process if there is none, and do not wait for it."""
        self._queue(self._start_ahead)

    def ask(
        self, question: Down, seconds: float, is_stopped: Callable[[], bool] = lambda: False
    ) -> Up:
        """Wait for the answer to a question.

        Args:
            question: The question.
            seconds: The time for the answer, from when the process has the question.
            is_stopped: Polled meanwhile, on another thread; true gives up and ends the process.

        Raises:
            NoAnswerError: There is no answer.
        """
        answer: Future[Up] = Future()
        if not self._queue(partial(self._fulfil, answer, question, seconds, is_stopped)):
            raise _stopped()
        return answer.result()

    def rest(self) -> None:
        """End the process after the waiting questions; the next question starts another."""
        if self._thread is not None:
            self._queue(self._kill)

    def close(self) -> None:
        """End process and thread; calls that wait for an answer raise `NoAnswerError`."""
        with self._lock:
            self._is_closed = True
            self._tasks.put(None)
        if self._thread is not None:
            self._thread.join()

    def _queue(self, task: Callable[[], None]) -> bool:
        """Queue a task for the worker's thread; return False if the worker is closed."""
        with self._lock:
            if self._is_closed:
                return False
            self._tasks.put(task)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._work, name=self._language.name, daemon=True
                )
                self._thread.start()
        return True

    # ---------------------------------------------------------------------- on the worker's thread

    def _work(self) -> None:
        while True:
            try:
                task = self._tasks.get(timeout=self._idle_s if self._child is not None else None)
            except queue.Empty:
                task = self._kill
            if task is None:
                break
            task()
        self._kill()

    def _start_ahead(self) -> None:
        if self._child is None:
            with contextlib.suppress(OSError):  # reported to the caller
                self._begin()

    def _begin(self) -> ChildProcess[Down, Up]:
        self._has_answered = False
        self._child = ChildProcess(self._main, self._language)
        return self._child

    def _fulfil(
        self,
        answer: Future[Up],
        question: Down,
        seconds: float,
        is_stopped: Callable[[], bool],
    ) -> None:
        def stops() -> bool:
            return self._is_closed or is_stopped()

        try:
            answer.set_result(self._answer(question, seconds, stops))
        except BaseException as error:  # noqa: BLE001  it is raised where the answer is waited for
            if not (isinstance(error, NoAnswerError) and error.trouble == "too-large"):
                self._kill()
            answer.set_exception(error)

    def _answer(self, question: Down, seconds: float, stops: Callable[[], bool]) -> Up:
        try:
            return self._answer_once(question, seconds, stops)
        except NoAnswerError as error:
            is_fit = self._asks_again and self._has_answered
            if not (is_fit and error.trouble in _MAYBE_ANOTHERS):
                raise
            _logger.info("%s %s; another one is asked", self._language.name, error.words)
            self._kill()
            return self._answer_once(question, seconds, stops)

    def _answer_once(self, question: Down, seconds: float, stops: Callable[[], bool]) -> Up:
        try:
            child = self._ready_child(stops)
            if not child.send(question):
                raise _lost(child)
            answer = self._heard(child, seconds, stops)
        except FrameError:
            words = sentence("takes no question of this size")
            raise NoAnswerError("too-large", words) from None
        except WireError as error:
            words = sentence("said nonsense: {error}", error=error)
            raise NoAnswerError("nonsense", words) from None
        self._has_answered = True
        return answer

    def _ready_child(self, stops: Callable[[], bool]) -> ChildProcess[Down, Up]:
        """Return the process that takes a question; start one where there is none."""
        if stops():
            raise _stopped()
        child = self._child
        if child is not None:  # it may have died since the last question, which costs nothing
            is_silent = not list(child.receive(0)) and not list(child.receive(0))
            if child.has_ended or not is_silent:
                self._kill()
                child = None
        if child is None:
            try:
                child = self._begin()
            except OSError as error:
                raise NoAnswerError("not-started", str(error.strerror or error)) from None
        deadline = time.monotonic() + self._start_s
        while not child.is_ready:
            if list(child.receive(_POLL_S)):
                raise WireError("an answer before any question")
            if child.has_ended:
                end = child.find_end()
                raise NoAnswerError("not-ready", end.words, end)
            if stops():
                raise _stopped()
            if time.monotonic() > deadline:
                raise NoAnswerError("not-ready", sentence("was not ready in time"))
        return child

    def _heard(
        self, child: ChildProcess[Down, Up], seconds: float, stops: Callable[[], bool]
    ) -> Up:
        """Wait for the one answer that is due."""
        deadline = time.monotonic() + seconds
        while not (answers := list(child.receive(_POLL_S))):
            if child.has_ended:
                raise _lost(child)
            if stops():
                raise _stopped()
            if time.monotonic() > deadline:
                raise NoAnswerError(
                    "slow", sentence("ran longer than {seconds} seconds", seconds=seconds)
                )
            if self._memory and child.memory > self._memory:
                raise NoAnswerError("out-of-memory", sentence("took too much memory"))
        if len(answers) > 1:
            raise WireError("more than one answer")
        return answers[0]

    def _kill(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.kill()


def _lost(child: ChildProcess[Down, Up]) -> NoAnswerError:
    """Return the error for a process that died."""
    end = child.find_end()
    return NoAnswerError("out-of-memory" if end.lacked_memory else "crashed", end.words, end)


def _stopped() -> NoAnswerError:
    return NoAnswerError("stopped", "was stopped")
