"""Exceptions to what a person is told."""

from __future__ import annotations

import logging

from paceline.errors import CancelledError, UserError

_log = logging.getLogger(__name__)


def describe_failure(error: Exception) -> tuple[str, str, str]:
    """Return code, message and hint for any exception; bugs are logged with their traceback."""
    match error:
        case CancelledError():
            return "cancelled", "Stopped.", ""
        case UserError():
            return error.code, error.message, error.hint
        case MemoryError():
            hint = "Choose a shorter context or a smaller model."
            return "out-of-memory", "There is not enough memory.", hint
        case _:
            _log.exception("unexpected failure in the engine")
            return (
                "bug",
                f"Something unexpected went wrong in the engine: {type(error).__name__}: {error}.",
                "This is a fault of Paceline; the log file tells more.",
            )
