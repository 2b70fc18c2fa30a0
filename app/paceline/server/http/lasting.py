"""The lifetime of a request, during which its model stays loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from paceline.server.served import ServedModels


class Lasting:
    """Lets a request keep its model until its last byte is written; ASGI middleware."""

    def __init__(self, app: ASGIApp, models: ServedModels) -> None:
        self._app = app
        self._models = models

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        with self._models.request():
            await self._app(scope, receive, send)
