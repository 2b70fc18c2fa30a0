"""Who may ask: the key, the names that a request may call the server by, and its origin.

A page in a browser can send requests to a server on the same computer. Two things keep it out: a
request that names an Origin is refused unless that was allowed, and so is one whose Host is a name
that the server does not know, which is how a page makes its own name point here (DNS rebinding).
"""

from __future__ import annotations

import hmac
import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.datastructures import Headers

from paceline.server.errors import ApiError
from paceline.server.streams import json_response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

OPEN_PATHS = ("/health",)
"""What is answered without a key."""


@dataclass(slots=True)
class Access:
    """Who may ask.

    Attributes:
        host: The address that the server is bound to.
        port: Its port.
        key: What programs have to know; empty: nothing. The window exchanges it.
        origins: Pages that may ask.
    """

    host: str
    port: int
    key: str = ""
    origins: tuple[str, ...] = ()

    def check(self, path: str, headers: Headers) -> None:
        """Refuse a request that may not be made.

        Raises:
            ApiError: Says why.
        """
        for name in ("host", "origin", "authorization", "x-api-key", "content-type"):
            if len(headers.getlist(name)) > 1:
                raise ApiError(400, "bad_header", f"There are two headers {name}.")
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
        if self.key and path not in OPEN_PATHS and not self._has_key(headers):
            raise ApiError(
                401,
                "invalid_api_key",
                "The key is missing or wrong. Send it as “Authorization: Bearer …” or “x-api-key”.",
                headers={"www-authenticate": "Bearer"},
            )

    def _has_key(self, headers: Headers) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        bearer = given.strip() if scheme.lower() == "bearer" else ""
        found = headers.get("x-api-key", "") or bearer
        return hmac.compare_digest(found.encode(), self.key.encode())

    def _knows(self, host: str) -> bool:
        """Whether a Host header names this server."""
        name, _, port = host.rpartition(":")
        if not port.isdecimal():
            name, port = host, "80"
        if int(port[:6]) != self.port:
            return False
        name = name.strip("[]").lower()
        if name in ("localhost", self.host):
            return True
        try:
            return ipaddress.ip_address(name).is_loopback
        except ValueError:
            return False


class Guard:
    """Lets a request through, or answers it; ASGI middleware."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers, path = Headers(scope=scope), scope["path"]
        try:
            self._access.check(path, headers)
            _check_type(scope["method"], headers)
        except ApiError as error:
            response = json_response(error.body(path), error.status, error.headers)
            await response(scope, receive, send)
            return
        await self._app(scope, receive, send)


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
