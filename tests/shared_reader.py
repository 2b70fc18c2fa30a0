"""One process that reads model files, for all tests of a file that are not about the process.

It is the real one, with the real questions and answers; what is known of models is each test's
own. To start it takes half a second, which most of these tests would spend on little else.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from paceline.catalog.inspect import inspector
from paceline.catalog.inspect.inspector import ANSWER_S, inspecting_worker
from paceline.catalog.inspect.wire import Answer, LookAt, Question
from paceline.workers.worker import NoAnswerError, Worker

Reading = Worker[Question, Answer]


class _Borrowed:
    """A worker that ends nothing of what others use, too."""

    def __init__(self, worker: Reading) -> None:
        self._worker = worker
        self._is_closed = False

    @property
    def pid(self) -> int:
        return self._worker.pid

    def ask(self, question: Question, seconds: float) -> Answer:
        if self._is_closed:
            raise NoAnswerError("stopped", "")
        return self._worker.ask(question, seconds)

    def rest(self) -> None:
        pass

    def close(self) -> None:
        self._is_closed = True


@contextlib.contextmanager
def one_reader(model: Path) -> Iterator[Reading]:
    """A process that runs at once, so that no test is blamed for leaving it running."""
    worker = inspecting_worker(idle_s=600)
    try:
        worker.ask(LookAt((str(model),), card_only=True), ANSWER_S)
        pid = worker.pid
        yield worker
        assert worker.pid == pid, "a test has cost the process: give it one of its own"
    finally:
        worker.close()


@contextlib.contextmanager
def lent(worker: Reading) -> Iterator[None]:
    """Have every `Inspector` that is made meanwhile ask this one's process."""

    def borrow(*_: object, **__: object) -> _Borrowed:
        return _Borrowed(worker)

    with mock.patch.object(inspector, "inspecting_worker", borrow):
        yield
