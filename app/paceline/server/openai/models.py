"""``/v1/models``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paceline.server.context import Context
from paceline.server.errors import ApiError
from paceline.server.streams import json_response

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response


async def list_models(request: Request) -> Response:
    """List what can be asked for."""
    names = await Context.of(request).models.names()
    return json_response({"object": "list", "data": [_entry(name) for name in names]})


async def show_model(request: Request) -> Response:
    """Describe one model."""
    name = request.path_params["name"]
    if name not in await Context.of(request).models.names():
        raise ApiError(404, "model_not_found", f"There is no model “{name:.80}” here.")
    return json_response(_entry(name))


def _entry(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "paceline"}
