"""Has chat templates rendered in a process of its own, which is ended when one takes too much.

The process (`sandbox`) stays warm between replies; the first load starts it, beside the reading of
the model. A template that hangs, eats memory or crashes the process costs what was asked, and the
next question starts another one.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import psutil

from paceline.codec import decode
from paceline.content import Part, Text
from paceline.engine.children import end_of, start_own
from paceline.errors import EngineError, ReasonError
from paceline.messages import ChatMessage
from paceline.sentence import UserText, sentence

RENDER = "--render-templates"
"""The program's argument that makes it this process."""
DEADLINE_S = 2.5
MEMORY = 300 << 20
_START_S = 60.0
_LOOK_S = 0.01
_HINT = sentence("Close other programs and try again.")

_REASONING_NAMES = ("reasoning_content", "reasoning", "thinking")
"""What templates call the reasoning of a reply."""


class Job(NamedTuple):
    """What is put through a template.

    Attributes:
        messages: A conversation.
        variables: Given besides those that all templates are given.
        reasoning: Of its last message; empty: it has none.
    """

    messages: Sequence[ChatMessage]
    variables: Mapping[str, Any]
    reasoning: str = ""

    def as_json(self) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Return what the process is told of it."""
        told: list[dict[str, Any]] = [
            {"role": m.role, "content": [_as_told(part) for part in m.content]}
            for m in self.messages
        ]
        if self.reasoning:
            told[-1] |= dict.fromkeys(_REASONING_NAMES, self.reasoning)
        return told, dict(self.variables)


def _as_told(part: Part) -> dict[str, Any]:
    """Return a part as templates read it that take contents in parts."""
    match part:
        case Text(text):
            return {"type": "text", "text": text}


class Outcome(NamedTuple):
    """What came of a job.

    Attributes:
        kind: "text", "refused" or "failed".
        text: The prompt; or what the template said against the conversation; or why it failed, as
            a part of a sentence.
    """

    kind: str
    text: str


class _EndedError(ReasonError):
    """The process ended over a question; the text says why, as a part of a sentence."""


class Renderer:
    """Asks one process, one question at a time. Any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._is_ready = False

    @property
    def pid(self) -> int:
        """The process's id; 0 when there is none."""
        child = self._child
        return child.pid if child is not None and child.poll() is None else 0

    def start(self) -> None:
        """Start the process, if it does not run, and do not wait for it."""
        with self._lock, contextlib.suppress(EngineError):  # told when it is needed
            self._running()

    def render(self, template: tuple[str, str, str], jobs: Sequence[Job]) -> list[Outcome]:
        """Return what comes of each job; all of them have `DEADLINE_S` seconds and `MEMORY` bytes.

        Args:
            template: Its source, and the texts of the tokens BOS and EOS.
            jobs: At least one.

        Raises:
            EngineError: There is no process.
        """
        question = {
            "template": template,
            "jobs": [job.as_json() for job in jobs],
        }
        with self._lock:
            child = self._running()
            try:
                if not self._is_ready:
                    self._exchange(child, b"", _START_S)
                    self._is_ready = True
            except _EndedError as error:
                raise _not_started(str(error)) from None
            try:
                line = self._exchange(child, json.dumps(question).encode() + b"\n", DEADLINE_S)
            except _EndedError as error:
                return [Outcome("failed", str(error))] * len(jobs)
        return [Outcome(kind, decode(UserText, text)) for kind, text in json.loads(line)]

    def close(self) -> None:
        """End the process; the next question starts another one."""
        with self._lock:
            self._end()

    def _running(self) -> subprocess.Popen[bytes]:
        child = self._child
        if child is None or child.poll() is not None:
            self._end()
            try:
                child = self._child = start_own(RENDER, stdin=subprocess.PIPE)
            except OSError as error:
                raise _not_started(error.strerror or str(error)) from None
        return child

    def _exchange(self, child: subprocess.Popen[bytes], data: bytes, seconds: float) -> bytes:
        """Send a line and return the one that comes back."""
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            with _watched(child, seconds) as reasons, contextlib.suppress(OSError):
                child.stdin.write(data)
                child.stdin.flush()
                if (line := child.stdout.readline()).endswith(b"\n"):
                    return line
            raise _EndedError(
                reasons[0] if reasons else sentence("its process {end}", end=end_of(child))
            )
        except BaseException:  # also Ctrl+C: the answer would be taken for the next one's
            self._end()
            raise

    def _end(self) -> None:
        child, self._child, self._is_ready = self._child, None, False
        if child is not None:
            child.kill()
            with contextlib.suppress(OSError):  # what was not written yet
                child.communicate()


@contextlib.contextmanager
def _watched(child: subprocess.Popen[bytes], seconds: float) -> Iterator[list[str]]:
    """Kill a child that takes too long or too much memory, and say so in the list."""
    reasons: list[str] = []
    is_over = threading.Event()
    end = time.monotonic() + seconds

    def watch() -> None:
        with contextlib.suppress(psutil.Error):  # it has ended
            process = psutil.Process(child.pid)
            while not is_over.wait(_LOOK_S):
                if time.monotonic() > end:
                    reasons.append(
                        sentence("it ran longer than {seconds} seconds", seconds=seconds)
                    )
                elif process.memory_info().rss > MEMORY:
                    reasons.append(sentence("it took too much memory"))
                if reasons:
                    process.kill()
                    return

    watcher = threading.Thread(target=watch, name="templates", daemon=True)
    watcher.start()
    try:
        yield reasons
    finally:
        is_over.set()
        watcher.join()


def _not_started(reason: str) -> EngineError:
    return EngineError(
        "no-renderer",
        "Chat templates cannot be read: their process does not start ({reason}).",
        _HINT,
        reason=reason,
    )


@functools.cache
def renderer() -> Renderer:
    """Return the one of this program; its process ends with the program."""
    shared = Renderer()
    atexit.register(shared.close)
    return shared
