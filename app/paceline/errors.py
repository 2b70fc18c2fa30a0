"""Errors that a user can do something about.

There are two families, after qutebrowser's `misc/sql.py`: a `UserError` has an external cause (a
wrong file, too little memory, a value out of range) and says what to do; every other exception is a
bug of ours and is reported as such. The message is one sentence without a traceback, so that the
window and the command line can show it unchanged.
"""

from __future__ import annotations

from typing import NoReturn

from paceline.sentence import Argument, joined, made, sentence


class UserError(Exception):
    """An error that the user can correct.

    Attributes:
        code: Stable, machine-readable name in kebab-case, for example ``"file-not-found"``.
        message: One sentence that says what happened. It is given as a literal template with its
            arguments, or as the `Sentence` of another error.
        hint: One sentence that says what to do; may be empty. It is given like the message, with
            the same arguments.
        exit_code: Exit code of the command line (1 failed, 2 wrong usage or value).
    """

    exit_code = 1

    def __init__(self, code: str, message: str, hint: str = "", /, **arguments: Argument) -> None:
        super().__init__(message)
        self.code = code
        self.message = made(message, arguments)
        self.hint = made(hint, arguments)

    def __str__(self) -> str:
        return joined([self.message, self.hint])

    def __reduce__(self) -> tuple[type[UserError], tuple[str, ...]]:
        return type(self), (self.code, self.message, self.hint)


class ReasonError(Exception):
    """The reason why something is impossible, as a part of a sentence.

    Attributes:
        reason: The reason; given as a literal template with its arguments.
    """

    def __init__(self, reason: str, /, **arguments: Argument) -> None:
        super().__init__(reason)
        self.reason = made(reason, arguments)

    def __str__(self) -> str:
        return self.reason


class ValueOutOfRangeError(UserError):
    """An option has an invalid value."""

    exit_code = 2


def refuse(message: str, hint: str = "", /, **arguments: Argument) -> NoReturn:
    """Refuse an invalid value of an option; see `UserError`.

    Raises:
        ValueOutOfRangeError: Always.
    """
    raise ValueOutOfRangeError("value-out-of-range", message, hint, **arguments)


class ModelError(UserError):
    """A model file cannot be used: it is missing, not a GGUF, damaged, or does not fit.

    Attributes:
        smaller_ctx: Size of a smaller context in tokens that may fit; 0 if none is known.
    """

    smaller_ctx = 0


class EngineError(UserError):
    """The engine failed while it ran: out of memory, a failed decode, invalid numbers."""


class LibraryError(EngineError):
    """llama.cpp's library cannot be loaded.

    Attributes:
        why: The reason, as a part of a sentence.
    """

    def __init__(self, why: str, hint: str) -> None:
        message = sentence("llama.cpp's library cannot be loaded: {why:bare}.", why=why)
        super().__init__("library-not-loaded", message, hint)
        self.why = why

    def __reduce__(self) -> tuple[type[LibraryError], tuple[str, ...]]:
        return type(self), (self.why, self.hint)


class ContextFullError(EngineError):
    """The tokens do not fit into the context."""


class BatchRefusedError(EngineError):
    """A decode's batch was refused; the context is unchanged."""


class DecodeMemoryError(EngineError):
    """A decode had too little memory; the context may hold a part of its tokens."""


class ComputeFailedError(EngineError):
    """A decode failed for an unknown reason; neither context nor device can be trusted."""


class SamplingError(EngineError):
    """Choosing a token failed, although both models work."""


class NothingAllowedError(SamplingError):
    """Biases and grammar allow no token."""


class CancelledError(Exception):
    """The user stopped the operation; not a failure."""
