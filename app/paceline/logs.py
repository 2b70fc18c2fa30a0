"""The log: one rotating file, and warnings on stderr. Set up by entry points only.

The log contains numbers, names and error codes. It never contains prompts, replies or file
contents, on any level, since people attach logs to bug reports.
"""

from __future__ import annotations

import contextlib
import logging
import logging.handlers
import sys
from collections import deque
from io import TextIOWrapper
from pathlib import Path
from typing import TextIO

from paceline.errors import UserError
from paceline.paths import ensure

FILE_NAME = "paceline.log"
_LOGGER = "paceline"
_FORMAT = "%(asctime)s %(levelname)s %(name)s %(threadName)s: %(message)s"


def set_up(log_dir: Path) -> None:
    """Send this program's records to `log_dir` and its warnings to stderr; replaces a former setup.

    Folder and file are created with the first record. If the folder cannot be written to, the file
    is missing, but the program runs.
    """
    tear_down()
    console = _Console()
    console.setLevel(logging.WARNING)
    console.setFormatter(_OneLine())
    file = _LogFile(log_dir / FILE_NAME)
    file.setLevel(logging.INFO)
    file.setFormatter(logging.Formatter(_FORMAT))
    logger = logging.getLogger(_LOGGER)
    logger.setLevel(logging.INFO)
    logger.addHandler(console)
    logger.addHandler(file)


def tear_down() -> None:
    """Close and remove what `set_up` installed."""
    logger = logging.getLogger(_LOGGER)
    for handler in logger.handlers[:]:
        if isinstance(handler, (_Console, _LogFile)):
            logger.removeHandler(handler)
            handler.close()


class _Console(logging.StreamHandler[TextIO]):
    """Handler of warnings on stderr."""

    def __init__(self) -> None:
        super().__init__()
        self.addFilter(_is_for_console)


def _is_for_console(record: logging.LogRecord) -> bool:
    """Return False for records about the end of a helper process, which its caller reports."""
    return not record.name.startswith(("paceline.hosting.", "paceline.catalog.inspect.inspector"))


class _OneLine(logging.Formatter):
    """Formatter of single lines, since tracebacks belong into the file."""

    def format(self, record: logging.LogRecord) -> str:
        # Records from the engine's process have their traceback in the message.
        first, _, _ = record.getMessage().partition("\n")
        return f"paceline: {first}"


class _LogFile(logging.handlers.RotatingFileHandler):
    """Log in at most four files of one megabyte; stops with one warning if it cannot be written."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, maxBytes=1_000_000, backupCount=3, encoding="utf-8", delay=True)

    def _open(self) -> TextIOWrapper:
        ensure(Path(self.baseFilename).parent)
        file = super()._open()
        with contextlib.suppress(OSError):  # the file belongs to another user
            Path(self.baseFilename).chmod(0o600)  # like all files of the program
        return file

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        error = sys.exc_info()[1]
        if not isinstance(error, (OSError, UserError)):
            super().handleError(record)  # a bug in a call of the logger
            return
        logger = logging.getLogger(_LOGGER)
        logger.removeHandler(self)
        logger.warning("the log file is not written: %s", error)


def current_file() -> Path | None:
    """Return the present file of the log, which may not exist yet, or None without a log file."""
    for handler in logging.getLogger(_LOGGER).handlers:
        if isinstance(handler, _LogFile):
            return Path(handler.baseFilename)
    return None


def last_lines(n: int) -> str:
    """Return up to `n` lines at the end of the log; empty if nothing has been written.

    Raises:
        UserError: A file of the log cannot be read.
    """
    file = current_file()
    if file is None:
        return ""
    lines: deque[str] = deque(maxlen=n)
    for each in (file.with_name(f"{file.name}.1"), file):  # the older file first
        try:
            with each.open(encoding="utf-8", errors="replace") as text:
                lines.extend(text)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise UserError(
                "cannot-read",
                "{path} cannot be read ({why}).",
                "Look at who owns the file, or delete it.",
                path=each,
                why=error.strerror or error,
            ) from error
    return "".join(lines)
