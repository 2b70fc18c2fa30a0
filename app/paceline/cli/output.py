"""The terminal: results on stdout, remarks and progress on stderr, tables, and Ctrl+C.

Readers may leave at any time. Ctrl+C comes while the main thread waits for the engine or reads a
file: Python runs a signal handler only between two of its own instructions, and a native call may
take seconds. The byte that Python's C handler writes to a wake-up socket comes at once, so a thread
waits for it and acts: the first Ctrl+C cancels, the second one ends the program on the spot.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Collection, Sequence
from types import FrameType
from typing import Self

from paceline.errors import UserError
from paceline.names import visible
from paceline.sizes import one_line

_CONTROLS = {code: "�" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}
"""Characters that could move the cursor or recolour a terminal, which no model may do."""
_MAX_CELL_CHARS = 1000
POLL_S = 0.5
"""Seconds between two updates of the line."""


class Results:
    """Stdout. When it cannot be written to any more, `on_lost` is called once and the rest dropped.

    Text for a terminal is freed of control characters; text for a file or a pipe is left alone.
    """

    def __init__(self, on_lost: Callable[[], None] = lambda: None) -> None:
        self._stream = sys.stdout
        self._on_lost = on_lost
        self._is_terminal = self._stream.isatty()
        self.error: OSError | None = None

    def write(self, text: str) -> None:
        """Write and flush."""
        if self.error is not None or not text:
            return
        try:
            self._stream.write(text.translate(_CONTROLS) if self._is_terminal else text)
            self._stream.flush()
        except OSError as error:
            self.error = error
            discard_stdout()
            self._on_lost()

    def check(self) -> None:
        """Raise the error of an earlier write. A reader that has left, like `head`, is no error.

        Raises:
            UserError: The results could not be written.
        """
        if self.error is not None and not isinstance(self.error, BrokenPipeError):
            raise UserError(
                "output-failed",
                f"The results cannot be written ({self.error.strerror}).",
                "Make room on the disk, or write to another place.",
            )


def print_result(text: str) -> None:
    """Write a whole result to stdout.

    Raises:
        UserError: It could not be written; see `Results.check`.
    """
    results = Results()
    results.write(text)
    results.check()


def as_json(data: object) -> str:
    """Return JSON for people and programs; ends with a line break."""
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def use_utf8() -> None:
    """Write UTF-8 to pipes and files on every system; terminals keep their encoding."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is None:
            continue  # replaced, for example by a test that captures the output
        if stream.isatty():
            reconfigure(errors="replace")
        else:
            reconfigure(encoding="utf-8", errors="replace")


def discard_stdout() -> None:
    """Discard the rest of stdout's buffer; the flush at exit would fail once more."""
    with contextlib.suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


def keep_from_native_code() -> None:
    """Discard native code's output to stdout; the program's own results still reach it."""
    ours = os.dup(sys.stdout.fileno())
    encoding, errors = sys.stdout.encoding, sys.stdout.errors
    discard_stdout()
    sys.stdout = open(ours, "w", encoding=encoding, errors=errors)  # noqa: SIM115, PTH123


def remark(text: str) -> None:
    """Print one line on stderr, if there is one: `print` would take stdout instead."""
    if sys.stderr is None:
        return
    line = visible(" ".join(text.split()))
    with contextlib.suppress(OSError):
        print(f"paceline: {line}", file=sys.stderr, flush=True)


class ProgressLine:
    """One line on stderr that is overwritten in place; nothing when stderr is not a terminal.

    As a context it ends without the line.

    Attributes:
        is_shown: Whether it is one.
    """

    def __init__(self) -> None:
        self.is_shown = sys.stderr is not None and sys.stderr.isatty()
        self._is_open = False
        self._is_over = threading.Event()
        self._follower: threading.Thread | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def show(self, text: str) -> None:
        """Replace the line."""
        if self.is_shown:
            self._is_open = True
            with contextlib.suppress(OSError):
                print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    def follow(self, words: Callable[[], str]) -> None:
        """Show the result of `words` repeatedly, on a thread of its own, until `clear`."""
        if self.is_shown:
            self.clear()
            self._is_over.clear()
            self._follower = threading.Thread(
                target=self._follow, args=(words,), name="progress", daemon=True
            )
            self._follower.start()

    def _follow(self, words: Callable[[], str]) -> None:
        while not self._is_over.wait(POLL_S):
            if line := words():
                self.show(line)

    def clear(self) -> None:
        """Take the line away, before anything else is printed."""
        if self._follower is not None:
            self._is_over.set()
            self._follower.join()
            self._follower = None
        if self._is_open:
            self._is_open = False
            with contextlib.suppress(OSError):
                print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def in_columns(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> str:
    """Return rows of equal length as lines, each column as wide as its widest cell.

    Line breaks and control characters are left out of the cells.

    Args:
        rows: The first one may be the titles.
        right: Columns that are flush right, as numbers are.
    """
    rows = [[one_line(cell, _MAX_CELL_CHARS) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    return "".join(f"{line.rstrip()}\n" for line in lines)


EXIT_CODE = 130
_STOP = b"\0"


class Interrupts:
    """A context manager for the main thread; within it Ctrl+C raises nothing.

    It spans the imports as well, because NumPy turns a `KeyboardInterrupt` in its own import into
    an `ImportError` about a broken installation.

    Attributes:
        hit: Whether Ctrl+C was pressed.
    """

    def __init__(self) -> None:
        self.hit = False
        self._cancel: Callable[[], None] | None = None
        self._reader, self._writer = socket.socketpair()
        self._writer.setblocking(False)  # noqa: FBT003
        self._thread = threading.Thread(target=self._watch, name="interrupts", daemon=True)

    def __enter__(self) -> Self:
        self._old_fd = signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        self._old_handler = signal.signal(signal.SIGINT, _ignore)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._old_handler)
        if self.hit:
            # Python takes its handlers down before itself: another Ctrl+C would kill it then.
            atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
        signal.set_wakeup_fd(self._old_fd)
        self._writer.send(_STOP)
        self._thread.join()
        self._reader.close()
        self._writer.close()

    def when_hit(self, cancel: Callable[[], None]) -> None:
        """Call `cancel` on a helper thread at the first Ctrl+C, or now if that has been."""
        self._cancel = cancel
        if self.hit:
            cancel()

    def _watch(self) -> None:
        while (byte := self._reader.recv(1)) not in (_STOP, b""):
            if byte[0] != signal.SIGINT:
                continue
            if self.hit:
                os._exit(EXIT_CODE)
            self.hit = True
            if self._cancel is not None:
                self._cancel()


def _ignore(_signal: int, _frame: FrameType | None) -> None:
    """Stand in for the default handler, which would raise; the thread does the work."""
