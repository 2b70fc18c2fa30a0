"""The thread that owns the inspector's process: starts it, asks it, ends it.

On Linux a child dies with the thread that started it, so the thread is one of its own and lives as
long as the inspector. Others put questions into a queue and wait. A process that dies over a
question, hangs or says anything but an answer is replaced, and the question is asked once more
where the process had answered others before: one of those files may have done the damage.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Literal

from paceline.catalog.inspector_child import run_inspector
from paceline.catalog.inspector_wire import (
    Answer,
    Leave,
    Question,
    decode_answer,
    encode_question,
    is_last,
)
from paceline.hosting.child_process import ChildMain, ChildProcess, Language
from paceline.hosting.deaths import OUT_OF_MEMORY
from paceline.hosting.frames import FrameError
from paceline.hosting.wire import Ready, WireError

ANSWER_S = 20.0
IDLE_S = 60.0
START_S = 60.0
_POLL_S = 0.02

Trouble = Literal["closed", "crashed", "out-of-memory", "slow", "nonsense", "not-started"]
_MAYBE_ANOTHERS: tuple[Trouble, ...] = ("crashed", "out-of-memory", "nonsense")
"""What an earlier file may have caused: it is the file's own fault only in a fresh process."""
_logger = logging.getLogger(__name__)


class NoAnswerError(Exception):
    """A question was not answered.

    Attributes:
        trouble: What happened to the process.
    """

    def __init__(self, trouble: Trouble, text: str = "") -> None:
        super().__init__(text or trouble)
        self.trouble = trouble


@dataclass(frozen=True, slots=True)
class _Asked:
    question: Question
    answers: Future[list[Answer]] = field(default_factory=Future)


class InspectorThread:
    """Asks a process of its own; any thread may call, and nothing starts before the first question.

    Args:
        main: What runs in the process.
        answer_s: Seconds that a question may take.
        idle_s: Seconds without a question behind which the process is ended.
    """

    def __init__(
        self,
        main: ChildMain = run_inspector,
        *,
        answer_s: float = ANSWER_S,
        idle_s: float = IDLE_S,
    ) -> None:
        self._main = main
        self._answer_s = answer_s
        self._idle_s = idle_s
        self._lock = threading.Lock()
        self._queue: queue.SimpleQueue[_Asked | Literal["rest", "end"]] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._child: ChildProcess[Question, Answer] | None = None
        self._is_closed = False

    @property
    def pid(self) -> int:
        """The process's id; 0 when there is none."""
        child = self._child
        with contextlib.suppress(ValueError):  # it has just been buried
            return child.pid if child else 0
        return 0

    def ask(self, question: Question) -> list[Answer]:
        """Wait for the answers to a question, the last one of which ends it.

        Raises:
            NoAnswerError: There is none.
        """
        asked = _Asked(question)
        with self._lock:
            if self._is_closed:
                raise NoAnswerError("closed")
            if self._thread is None:
                # A program that forgets to close must still be able to end.
                self._thread = threading.Thread(target=self._run, name="inspector", daemon=True)
                self._thread.start()
            self._queue.put(asked)
        return asked.answers.result()

    def rest(self) -> None:
        """End the process behind the questions that are waiting; the next one starts another."""
        with self._lock:
            if self._thread is not None and not self._is_closed:
                self._queue.put("rest")

    def close(self) -> None:
        """End process and thread; whoever waits for an answer gets `NoAnswerError`."""
        with self._lock:
            self._is_closed = True
            thread = self._thread
        if thread is not None:
            self._queue.put("end")
            thread.join()

    # --------------------------------------------------------------- on the inspector's thread

    def _run(self) -> None:
        while True:
            try:
                asked = self._queue.get(timeout=self._idle_s if self._child else None)
            except queue.Empty:
                asked = "rest"
            if asked == "rest":
                self._end()
                continue
            if asked == "end":
                break
            try:
                asked.answers.set_result(self._answers(asked.question))
            except BaseException as error:  # noqa: BLE001  raised again where it was asked
                asked.answers.set_exception(error)
        self._end()
        while not self._queue.empty():
            left = self._queue.get()
            if isinstance(left, _Asked):
                left.answers.set_exception(NoAnswerError("closed"))

    def _answers(self, question: Question) -> list[Answer]:
        is_fresh = self._child is None
        try:
            return self._answers_once(question)
        except NoAnswerError as error:
            if is_fresh or error.trouble not in _MAYBE_ANOTHERS:
                raise
        return self._answers_once(question)

    def _answers_once(self, question: Question) -> list[Answer]:
        if self._is_closed:
            raise NoAnswerError("closed")
        try:
            child = self._ready_child()
            if not child.send(question):
                raise self._lost(child)
            answers: list[Answer] = []
            deadline = time.monotonic() + self._answer_s
            while not (answers and is_last(answers[-1])):
                self._take(child, answers, deadline)
        except (WireError, FrameError) as error:
            text = f"it said nonsense: {error}"
            raise self._killed("nonsense", text) from None
        return answers

    def _take(
        self, child: ChildProcess[Question, Answer], answers: list[Answer], deadline: float
    ) -> None:
        """Add what the process says meanwhile."""
        for answer in child.receive(_POLL_S):
            if isinstance(answer, Ready) or (answers and is_last(answers[-1])):
                raise WireError("an answer that nobody asked for")
            answers.append(answer)
        if answers and is_last(answers[-1]):
            return
        if child.has_ended:
            raise self._lost(child)
        if self._is_closed:
            raise self._killed("closed")
        if time.monotonic() > deadline:
            raise self._killed("slow", "it took too long")

    def _ready_child(self) -> ChildProcess[Question, Answer]:
        child = self._child
        if child is not None:
            # It may have died in silence, which costs nothing; and nobody has asked it anything.
            is_sane = not list(child.receive(0)) and not list(child.receive(0))
            if is_sane and not child.has_ended:
                return child
            self._kill()
        try:
            child = self._child = ChildProcess(
                self._main, Language("paceline-inspector", encode_question, decode_answer, Leave())
            )
        except OSError as error:
            raise NoAnswerError("not-started", str(error.strerror or error)) from None
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            if answers := list(child.receive(_POLL_S)):
                if len(answers) > 1 or not isinstance(answers[0], Ready):
                    raise WireError("an answer before any question")
                return child
            if child.has_ended:
                self._lost(child)
                raise NoAnswerError("not-started", "it ended at once")
            if self._is_closed:
                raise self._killed("closed")
        raise self._killed("not-started", "it was not ready in time")

    def _lost(self, child: ChildProcess[Question, Answer]) -> NoAnswerError:
        """Return the error for a process that died."""
        self._child = None
        death = child.describe_death()
        _logger.warning("the reader of model files ended: %s", death.reason)
        is_memory = death.code == OUT_OF_MEMORY
        return NoAnswerError("out-of-memory" if is_memory else "crashed", death.reason)

    def _killed(self, trouble: Trouble, text: str = "") -> NoAnswerError:
        """End the process at once; returns the error to raise."""
        self._kill()
        if text:
            _logger.warning("the reader of model files was ended: %s", text)
        return NoAnswerError(trouble, text)

    def _kill(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.kill()

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.end()
