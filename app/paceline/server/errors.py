"""Errors in the form of each API: HTTP status, message, and the request field at fault."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Mapping
from typing import Any

from paceline.errors import UserError

CONTEXT_LENGTH = "context_length_exceeded"
"""OpenAI's code for a prompt that does not fit into the context."""

_STATUS = {
    "prompt-too-long": 400,
    "no-model": 503,
    "cancelled": 503,
    "engine-died": 500,
    "bug": 500,
    "out-of-memory": 500,
    "context-memory": 500,
    "invalid-numbers": 500,
    "no-renderer": 500,
}
"""HTTP status by error code of the engine; all other codes blame the request: 400."""
_CODES = {"prompt-too-long": CONTEXT_LENGTH}
_FIELDS = {
    "bad-grammar": "grammar",
    "bad-json-schema": "json_schema",
    "no-draft-model": "paceline.strategy",
    "no-mtp-head": "paceline.strategy",
    "prompt-too-long": "prompt",
    "empty-prompt": "prompt",
    "no-such-token": "prompt",
    "cannot-continue": "prompt",
    "bad-call": "prompt",
    "bad-tool": "tools",
    "no-infill": "suffix",
}
"""Request field by error code of the engine, named as most APIs name it."""
_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    405: "invalid_request_error",
    408: "timeout_error",
    413: "request_too_large",
    415: "invalid_request_error",
    429: "rate_limit_error",
    431: "invalid_request_error",
    503: "overloaded_error",
}
ANTHROPIC = "/v1/messages"
"""Prefix of the paths whose errors have Anthropic's form; all others have OpenAI's."""

_logger = logging.getLogger(__name__)


class ApiError(Exception):
    """A request that is refused, or a reply that failed.

    Attributes:
        status: HTTP status.
        code: Stable name of the problem.
        message: The problem and its remedy, for people.
        field: The field of the request that is at fault, or empty if there is none.
        headers: Additional headers of the response.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        field: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.field = field
        self.headers = dict(headers or {})

    def body(self, path: str) -> dict[str, Any]:
        """Return the JSON body in the form of the API that the path belongs to."""
        kind = _TYPES.get(self.status, "api_error")
        if path.startswith(ANTHROPIC):
            # Anthropic's form has no key for the field, so the message names it.
            is_named = self.field in self.message
            message = self.message if is_named else f"{self.field}: {self.message}"
            return {"type": "error", "error": {"type": kind, "message": message}}
        return {
            "error": {
                "message": self.message,
                "type": kind,
                "param": self.field or None,
                "code": self.code,
            }
        }


def refused(field: str, message: str, code: str = "invalid_value") -> ApiError:
    """Return the error about a field that cannot be honoured."""
    return ApiError(400, code, message, field=field)


def from_engine(
    code: str, message: str, hint: str, names: Mapping[str, str] | None = None
) -> ApiError:
    """Return the error for a problem that the engine reported; its texts contain no paths.

    Args:
        code: The engine's error code.
        message: The problem.
        hint: The remedy.
        names: Names of fields in this API, where they differ from the usual ones.
    """
    text, field = f"{message} {hint}".strip(), _FIELDS.get(code, "")
    return ApiError(
        _STATUS.get(code, 400),
        _CODES.get(code, code.replace("-", "_")),
        text,
        field=(names or {}).get(field, field),
    )


def not_loaded(why: str) -> ApiError:
    """Return the error for a request without a loaded model; `why` must contain no path."""
    return ApiError(503, "no_model", f"No model is loaded. {why}".strip())


def of_value(field: str, error: UserError) -> ApiError:
    """Return the error for a field whose value was rejected with `error`."""
    return refused(field, str(error))


def log_fault(what: str, error: BaseException) -> None:
    """Log a bug of the program: the error's type and traceback.

    The error's message is left out, since it may quote a prompt.
    """
    places = "".join(traceback.format_tb(error.__traceback__))
    _logger.error("%s failed: %s\n%s", what, type(error).__name__, places)


def fault() -> ApiError:
    """Return the error that a client gets for a bug of the program; see `log_fault`."""
    return ApiError(
        500, "bug", "Something unexpected went wrong in Paceline. Its log file tells more."
    )
