"""The errors that a person can do something about.

Two families, after qutebrowser's `misc/sql.py`: a `UserError` is the world's fault (a wrong file,
too little memory, a value out of range) and carries what to do; every other exception is a bug of
ours and is reported as such. The message is one sentence without a traceback, so that the window
and the command line can show it as it is.
"""

from __future__ import annotations

from typing import NoReturn

from paceline.sentence import Argument, joined, made, sentence


class UserError(Exception):
    """Something the user can mend.

    Attributes:
        code: Stable, machine-readable name in kebab-case, e.g. ``"file-not-found"``.
        message: One sentence: what happened. It is given as a literal template with its arguments,
            or as a `Sentence` that another error has.
        hint: One sentence: what to do about it; may be empty. As the message, with the same
            arguments.
        exit_code: What the command line exits with (1 failed, 2 wrong usage or value).
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
    """The reason for which something cannot be, as a part of a sentence that names it.

    Attributes:
        reason: That part; it is given as a literal template with its arguments.
    """

    def __init__(self, reason: str, /, **arguments: Argument) -> None:
        super().__init__(reason)
        self.reason = made(reason, arguments)

    def __str__(self) -> str:
        return self.reason


class ValueOutOfRangeError(UserError):
    """An option has a value that it cannot take."""

    exit_code = 2


def refuse(message: str, hint: str = "", /, **arguments: Argument) -> NoReturn:
    """Refuse a value that an option cannot take; see `UserError`.

    Raises:
        ValueOutOfRangeError: Always.
    """
    raise ValueOutOfRangeError("value-out-of-range", message, hint, **arguments)


class ModelError(UserError):
    """A model file cannot be used: not there, not a GGUF, broken, does not fit.

    Attributes:
        smaller_ctx: A shorter context in tokens that may fit; 0: none is known.
    """

    smaller_ctx = 0


class EngineError(UserError):
    """The engine failed while it ran: out of memory, a failed decode, invalid numbers."""


class LibraryError(EngineError):
    """llama.cpp's library cannot be loaded.

    Attributes:
        why: A part of a sentence.
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
    """A decode's batch was not taken; the context is as before."""


class DecodeMemoryError(EngineError):
    """A decode found too little memory; the context may hold a part of its tokens."""


class ComputeFailedError(EngineError):
    """A decode failed for no reason that is known; nothing it left behind can be trusted."""


class SamplingError(EngineError):
    """No token could be chosen, though both models are in order."""


class NothingAllowedError(SamplingError):
    """Biases and grammar leave no token to choose."""


class CancelledError(Exception):
    """The user stopped what was under way; not a failure."""
