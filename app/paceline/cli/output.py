"""Writing results to stdout and remarks to stderr, whatever becomes of those who read them."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING

from paceline.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable

_CONTROLS = {code: "�" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}
"""What could move the cursor or recolour a terminal; a model's text has no business with it."""


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
        """Tell what went wrong. A reader that has left, as `head` does, has all that it wanted.

        Raises:
            UserError: The results could not be written.
        """
        if self.error is not None and not isinstance(self.error, BrokenPipeError):
            raise UserError(
                "output-failed",
                f"The results cannot be written ({self.error.strerror}).",
                "Make room on the disk, or write to another place.",
            )


def use_utf8() -> None:
    """Write UTF-8 to pipes and files on every system; terminals keep their encoding."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is None:
            continue  # replaced by somebody who wants to see what is printed
        if stream.isatty():
            reconfigure(errors="replace")
        else:
            reconfigure(encoding="utf-8", errors="replace")


def discard_stdout() -> None:
    """Send what is still in stdout's buffer nowhere; the flush at exit would fail once more."""
    with contextlib.suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


def remark(text: str) -> None:
    """Print one line on stderr, if there is one: `print` would take stdout instead."""
    if sys.stderr is None:
        return
    line = " ".join(text.split()).translate(_CONTROLS)
    with contextlib.suppress(OSError):
        print(f"paceline: {line}", file=sys.stderr, flush=True)


class Progress:
    """One line on stderr that is overwritten in place; nothing when stderr is not a terminal.

    Attributes:
        is_shown: Whether it is one.
    """

    def __init__(self) -> None:
        self.is_shown = sys.stderr is not None and sys.stderr.isatty()
        self._is_open = False

    def show(self, text: str) -> None:
        """Replace the line."""
        if self.is_shown:
            self._is_open = True
            with contextlib.suppress(OSError):
                print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Take the line away, before anything else is printed."""
        if self._is_open:
            self._is_open = False
            with contextlib.suppress(OSError):
                print("\r\x1b[K", end="", file=sys.stderr, flush=True)
