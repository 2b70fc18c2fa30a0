"""Inspectors' processes that go wrong on purpose, by the names of the files they are asked about.

`main` is a `main` for `Inspector`. A file whose name begins with the name of a fault brings it
about; any other file is answered as ever.
"""

from __future__ import annotations

import ctypes
import os
import socket
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from msgspec import structs

from paceline.catalog.inspect.child import Reader, run_inspector
from paceline.catalog.inspect.wire import Answer, LookAt, Measure, Question, Seen, Texts, TextsOf
from paceline.hosting.wire import encode_message
from paceline.workers.frames import READY, frame

Fault = Callable[[socket.socket, Callable[[], Answer]], Answer]


def main(pipe: socket.socket) -> None:
    """Answer, or strike."""
    run_inspector(pipe, partial(_prepare, pipe))


def silent(pipe: socket.socket) -> None:
    """Never get ready."""
    os._exit(3)


def chatty(pipe: socket.socket) -> None:
    """Say more than that it is ready."""
    pipe.sendall(2 * frame(READY))
    time.sleep(60)


def _prepare(pipe: socket.socket, reader: Reader) -> None:
    answer = reader.answer

    def strike(question: Question) -> Answer:
        file = {LookAt: lambda q: q.files[0], TextsOf: lambda q: q.file}.get(type(question))
        name = Path(file(question) if file else "").name
        if isinstance(question, Measure):
            name = Path(question.params.path).name
        for fault, action in FAULTS.items():
            if name.startswith(fault):
                return action(pipe, partial(answer, question))
        return answer(question)

    reader.answer = strike  # type: ignore[method-assign]


def _segfault(_pipe: socket.socket, answer: Callable[[], Answer]) -> Answer:
    ctypes.string_at(0)
    return answer()


def _hang(_pipe: socket.socket, answer: Callable[[], Answer]) -> Answer:
    time.sleep(60)
    return answer()


def _spin(_pipe: socket.socket, answer: Callable[[], Answer]) -> Answer:
    """Keep the interpreter's lock in native code, which a regular expression does."""
    import re

    re.match(r"(a+)+$", "a" * 60 + "b")
    return answer()


def _eat(_pipe: socket.socket, answer: Callable[[], Answer]) -> Answer:
    """Take more memory than the process may have."""
    eaten = bytearray(1 << 50 if sys.maxsize > 1 << 50 else 1 << 30)
    assert eaten
    return answer()


def _twice(pipe: socket.socket, answer: Callable[[], Answer]) -> Answer:
    pipe.sendall(2 * frame(encode_message(answer())))
    time.sleep(60)
    return answer()


def _poison(_pipe: socket.socket, answer: Callable[[], Answer]) -> Answer:
    """Answer, but from now on every file kills."""
    for fault in FAULTS:
        FAULTS[fault] = _segfault
    FAULTS["sound"] = _segfault
    return answer()


def _changed(pipe: socket.socket, answer: Callable[[], Answer]) -> Answer:
    """Send cards that contradict themselves."""
    seen = answer()
    assert isinstance(seen, Seen)
    return structs.replace(seen, card=structs.replace(seen.card, n_layers=seen.card.n_layers + 1))


def _path(pipe: socket.socket, answer: Callable[[], Answer]) -> Answer:
    """Send a hash that leads out of the cache."""
    seen = answer()
    assert isinstance(seen, Seen)
    return structs.replace(seen, card=structs.replace(seen.card, vocabulary="../../../../evil"))


def _texts(pipe: socket.socket, answer: Callable[[], Answer]) -> Answer:
    """Send texts that are others than those of the hash."""
    found = answer()
    return Texts(f"QUFB{found.joined}") if isinstance(found, Texts) else found


def _wrong_kind(pipe: socket.socket, answer: Callable[[], Answer]) -> Answer:
    return Texts("")


FAULTS: dict[str, Fault] = {
    "segfault": _segfault,
    "hang": _hang,
    "spin": _spin,
    "eat": _eat,
    "twice": _twice,
    "poison": _poison,
    "changed": _changed,
    "path": _path,
    "texts": _texts,
    "wrong-kind": _wrong_kind,
}
