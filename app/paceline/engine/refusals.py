"""Answers of an engine to commands that it cannot carry out, in every host."""

from __future__ import annotations

import errno
import logging

from paceline.errors import CancelledError, UserError
from paceline.messages import (
    AsideAnswered,
    Calibrate,
    Calibrated,
    Command,
    Encode,
    Encoded,
    Event,
    LoadFailed,
    LoadPair,
    MeasureReading,
    PromptRendered,
    ReadingMeasured,
    RenderPrompt,
    SayAside,
    StartTurn,
    Strategy,
    TokensCounted,
    TuneRejected,
    TurnFailed,
)
from paceline.sentence import sentence

_log = logging.getLogger(__name__)

TOO_LARGE = (
    "prompt-too-long",
    sentence("The conversation is larger than any context."),
    sentence("Shorten it or start a new chat."),
)
"""Code, message and hint for a conversation too large for a message to a process."""


def describe_failure(error: Exception) -> tuple[str, str, str]:
    """Return code, message and hint for any exception; bugs are logged with their traceback."""
    match error:
        case CancelledError():
            return "cancelled", "Stopped.", ""
        case UserError():
            return error.code, error.message, error.hint
        case MemoryError() | OSError(errno=errno.ENOMEM):  # mmap raises the latter
            hint = sentence("Choose a shorter context or a smaller model.")
            return "out-of-memory", sentence("There is not enough memory."), hint
        case _:
            _log.exception("unexpected failure in the engine")
            return (
                "bug",
                sentence(
                    "Something unexpected went wrong in the engine: {name}: {error}.",
                    name=type(error).__name__,
                    error=error,
                ),
                sentence("This is a fault of Paceline; the log file tells more."),
            )


def no_model() -> TurnFailed:
    """Return the answer to a turn while no model is loaded."""
    return TurnFailed("no-model", "No model is loaded.", "Choose one first, or load the demo pair.")


def not_running(strategy: Strategy) -> TuneRejected:
    """Return the answer to a `Tune` after the end of its reply."""
    return TuneRejected(
        strategy, "not-running",
        "This reply is not running any more.",
        "The setting counts from the next reply on.",
    )  # fmt: skip


def not_counted() -> TokensCounted:
    """Return the answer to a question about sizes while no model is loaded."""
    return TokensCounted(-1, 0)


def no_prompt() -> PromptRendered:
    """Return the answer to a question about a prompt while no model is loaded."""
    return PromptRendered(
        problem=sentence("No model is loaded."),
        hint=sentence("Load one to see its prompts."),
    )


def not_encoded() -> Encoded:
    """Return the answer to a question about tokens while no model is loaded."""
    none = no_model()
    return Encoded(code=none.code, problem=none.message, hint=none.hint)


def too_large_to_encode() -> Encoded:
    """Return the answer to a question about tokens that do not fit into a message to a process."""
    code, problem, hint = TOO_LARGE
    return Encoded(code=code, problem=problem, hint=hint)


def not_calibrated() -> Calibrated:
    """Return the answer to a calibration while no model is loaded."""
    return Calibrated(problem=sentence("No model is loaded."))


def stopped(command: Command) -> Event | None:
    """Return the answer to a command that was cancelled while waiting, or None if it needs none."""
    match command:
        case LoadPair():
            return LoadFailed("cancelled", "Stopped.", "")
        case StartTurn():
            return TurnFailed("cancelled", "Stopped.", "")
        case Calibrate():
            return Calibrated(problem=sentence("Stopped."))
        case MeasureReading():
            return ReadingMeasured()
        case SayAside():
            return AsideAnswered()
        case Encode():
            return Encoded(code="cancelled", problem=sentence("Stopped."))
        case RenderPrompt():
            return PromptRendered(problem=sentence("Stopped."))
        case _:
            return None
