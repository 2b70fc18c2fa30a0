"""``/v1/models``, in the forms of OpenAI's and Anthropic's API at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paceline.server.context import Context
from paceline.server.errors import ApiError
from paceline.server.streams import json_response

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from paceline.server.served import Served


async def list_models(request: Request) -> Response:
    """List the models that can be requested."""
    models = Context.of(request).models
    names = await models.names()
    pages = {"has_more": False, "first_id": names[0], "last_id": names[-1]} if names else {}
    entries = [_entry(name, models.loaded) for name in names]
    return json_response({"object": "list", "data": entries, **pages})


async def show_model(request: Request) -> Response:
    """Describe one model."""
    name, models = request.path_params["name"], Context.of(request).models
    if name not in await models.names():
        raise ApiError(404, "model_not_found", f"There is no model “{name:.80}” here.")
    return json_response(_entry(name, models.loaded))


_UNKNOWN = "1970-01-01T00:00:00Z"
"""The date of a model's publication where that is not known, as Anthropic's API says it."""


def _entry(name: str, loaded: Served | None) -> dict[str, Any]:
    """Describe a model; of the loaded one llama-server's `meta`, and when it was loaded."""
    entry = {"id": name, "object": "model", "created": 0, "owned_by": "paceline"}
    entry |= {"type": "model", "display_name": name, "created_at": _UNKNOWN, "lifecycle": "active"}
    if loaded is None or loaded.id != name:
        return entry
    target = loaded.target
    meta = {
        "n_ctx": target.n_ctx,
        "n_ctx_train": target.n_ctx_train,
        "n_vocab": target.n_vocab,
        "n_params": target.n_params,
        "size": target.size_bytes,
    }
    return entry | {"created": loaded.loaded_s, "meta": meta}
