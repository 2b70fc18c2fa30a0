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
from paceline.catalog.inspect.inspector import InspectorThread, NoAnswerError
from paceline.catalog.inspect.wire import Answer, LookAt, Question


class _Borrowed:
    """An inspector's thread that ends nothing of what others use, too."""

    def __init__(self, thread: InspectorThread) -> None:
        self._thread = thread
        self._is_closed = False

    @property
    def pid(self) -> int:
        return self._thread.pid

    def ask(self, question: Question) -> list[Answer]:
        if self._is_closed:
            raise NoAnswerError("closed")
        return self._thread.ask(question)

    def rest(self) -> None:
        pass

    def close(self) -> None:
        self._is_closed = True


@contextlib.contextmanager
def one_reader(model: Path) -> Iterator[InspectorThread]:
    """A process that runs at once, so that no test is said to have left it behind."""
    thread = InspectorThread(idle_s=600)
    try:
        thread.ask(LookAt((str(model),), card_only=True))
        pid = thread.pid
        yield thread
        assert thread.pid == pid, "a test has cost the process: give it one of its own"
    finally:
        thread.close()


@contextlib.contextmanager
def lent(thread: InspectorThread) -> Iterator[None]:
    """Have every `Inspector` that is made meanwhile ask this one's process."""

    def borrow(*_: object, **__: object) -> _Borrowed:
        return _Borrowed(thread)

    with mock.patch.object(inspector, "InspectorThread", borrow):
        yield
