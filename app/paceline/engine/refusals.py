"""What an engine answers where it cannot do as asked, in every host: no model, or a failure."""

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
"""Code, message and hint where a conversation does not even fit into a message to a process."""


def describe_failure(error: Exception) -> tuple[str, str, str]:
    """Return code, message and hint for any exception; bugs are logged with their traceback."""
    match error:
        case CancelledError():
            return "cancelled", "Stopped.", ""
        case UserError():
            return error.code, error.message, error.hint
        case MemoryError() | OSError(errno=errno.ENOMEM):  # the latter of mmap
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
    """Answer a turn that finds no model loaded."""
    return TurnFailed("no-model", "No model is loaded.", "Choose one first, or load the demo pair.")


def not_running(strategy: Strategy) -> TuneRejected:
    """Answer a `Tune` that comes after the end of its reply."""
    return TuneRejected(
        strategy, "not-running",
        "This reply is not running any more.",
        "The setting counts from the next reply on.",
    )  # fmt: skip


def not_counted() -> TokensCounted:
    """Answer a question about sizes that finds no model loaded."""
    return TokensCounted(-1, 0)


def no_prompt() -> PromptRendered:
    """Answer a question about a prompt that finds no model loaded."""
    return PromptRendered(
        problem=sentence("No model is loaded."),
        hint=sentence("Load one to see its prompts."),
    )


def not_encoded() -> Encoded:
    """Answer a question about tokens that finds no model loaded."""
    none = no_model()
    return Encoded(code=none.code, problem=none.message, hint=none.hint)


def too_large_to_encode() -> Encoded:
    """Answer a question about the tokens of what no message to or from a process can hold."""
    code, problem, hint = TOO_LARGE
    return Encoded(code=code, problem=problem, hint=hint)


def not_calibrated() -> Calibrated:
    """Answer a wish to measure that finds no model loaded."""
    return Calibrated(problem=sentence("No model is loaded."))


def stopped(command: Command) -> Event | None:
    """Answer a command that was cancelled while it waited; None: it needs no answer."""
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
