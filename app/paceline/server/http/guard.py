"""Access to the server: the key, the names that a request may call it by, and its origin.

A page in a browser can send requests to a server on the same computer. Two things keep it out: a
request that names an Origin is refused unless that was allowed, and so is one whose Host is a name
that the server does not know, which is how a page makes its own name point here (DNS rebinding).
"""

from __future__ import annotations

import hmac
import ipaddress
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response

from paceline.server.errors import ApiError
from paceline.server.limits import MAX_HEAD_BYTES, MAX_HEADERS
from paceline.server.streams import json_response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

OPEN_PATHS = ("/health",)
"""Paths that are answered without a key."""
_ONCE = (
    "host",
    "origin",
    "authorization",
    "x-api-key",
    "content-type",
    "content-length",
    "transfer-encoding",
    "access-control-request-method",
    "access-control-request-headers",
)
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^\[\]:]+)(?::([0-9]{1,5}))?", re.IGNORECASE)
_HEADER_NAMES = re.compile(r"[\w!#$%&'*+.^`|~, -]*", re.ASCII)
_PREFLIGHT_S = 600


@dataclass(slots=True)
class Access:
    """The rules of who may send requests.

    Attributes:
        host: The address that the server is bound to.
        port: Its port.
        key: Key that programs must send, or empty if they need none. The window replaces it.
        origins: Origins of web pages that may send requests.
    """

    host: str
    port: int
    key: str = ""
    origins: tuple[str, ...] = ()

    def check_sender(self, headers: Headers) -> None:
        """Refuse a request of a page that was not allowed, or to a name that is not the server's.

        Raises:
            ApiError: It is refused; the text says why.
        """
        origin = headers.get("origin")
        if origin is not None and origin not in self.origins:
            raise ApiError(
                403,
                "origin_refused",
                "Pages in a browser may not ask. Start Paceline with --allow-origin and the "
                "page's address to let this one.",
            )
        if not self.key and not self._knows(headers.get("host", "")):
            raise ApiError(
                403,
                "host_refused",
                "The request calls this server by a name that is not its own. Use its address.",
            )

    def check_key(self, path: str, headers: Headers) -> None:
        """Refuse a request without the key, or with another one beside it.

        Raises:
            ApiError: It is refused; the text says what to send.
        """
        if not self.key or path in OPEN_PATHS:
            return
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        given = [headers.get("x-api-key", ""), bearer.strip() if scheme.lower() == "bearer" else ""]
        right = [hmac.compare_digest(key.encode(), self.key.encode()) for key in given if key]
        if not right or not all(right):
            raise ApiError(
                401,
                "invalid_api_key",
                "The key is missing or wrong. Send it as “Authorization: Bearer …” or “x-api-key”.",
                headers={"www-authenticate": "Bearer"},
            )

    def _knows(self, host: str) -> bool:
        """Return whether a Host header names this server."""
        found = _HOST.fullmatch(host)
        if found is None or int(found[2] or 80) != self.port:
            return False
        name = found[1].lower()
        if name in ("localhost", f"[{self.host}]" if ":" in self.host else self.host):
            return True
        try:
            address = ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return False
        return address.is_loopback and (address.version == 6) == name.startswith("[")


class Guard:
    """Lets a request through, or answers it; an ASGI application around another one.

    Args:
        app: Answers what is let through.
        access: The rules.
    """

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers, path, method = Headers(scope=scope), scope["path"], scope["method"]
        answers = self._app
        try:
            _check_form(scope, headers)
            self._access.check_sender(headers)
            origin = headers.get("origin")
            if origin is not None:
                send = _inviting(send, origin)
            if origin is not None and method == "OPTIONS":
                answers = _preflight(headers)
            else:
                self._access.check_key(path, headers)
                _check_type(method, headers)
        except ApiError as error:
            answers = json_response(error.body(path), error.status, error.headers)
        await answers(scope, receive, send)


def _check_form(scope: Scope, headers: Headers) -> None:
    """Refuse a request that two programs could read in two ways, or that is too large."""
    size = len(scope["raw_path"]) + len(scope["query_string"])
    size += sum(len(name) + len(value) for name, value in headers.raw)
    if size > MAX_HEAD_BYTES or len(headers.raw) > MAX_HEADERS:
        raise ApiError(
            431,
            "headers_too_large",
            f"There may be {MAX_HEADERS} headers at most, of {MAX_HEAD_BYTES >> 10} KB together.",
        )
    for name in _ONCE:
        if len(headers.getlist(name)) > 1:
            raise _unclear(f"There are two headers {name}.")
    if "content-length" in headers and "transfer-encoding" in headers:
        raise _unclear("There is a Content-Length beside a Transfer-Encoding.")
    if not scope["path"].startswith("/"):
        raise ApiError(400, "bad_path", "The request's path does not begin with “/”.")


def _unclear(message: str) -> ApiError:
    return ApiError(400, "bad_header", message, headers={"connection": "close"})


def _check_type(method: str, headers: Headers) -> None:
    """Refuse a body that a form in a page could have sent."""
    if method != "POST":
        return
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise ApiError(
            415,
            "unsupported_media_type",
            "The body must be JSON, its Content-Type application/json.",
        )


def _preflight(headers: Headers) -> Response:
    """Answer a browser's preflight request, which carries no key, for an allowed page."""
    told = {
        "access-control-allow-methods": "GET, POST",
        "access-control-max-age": str(_PREFLIGHT_S),
    }
    wanted = headers.get("access-control-request-headers", "")
    if wanted and _HEADER_NAMES.fullmatch(wanted):
        told["access-control-allow-headers"] = wanted
    return Response(status_code=204, headers=told)


def _inviting(send: Send, origin: str) -> Send:
    """Let an allowed page read what is sent."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers["access-control-allow-origin"] = origin
            headers["access-control-expose-headers"] = "retry-after, x-paceline-ignored"
            headers.add_vary_header("origin")
        await send(message)

    return sending
