"""``/props``: the loaded model, and the default sampling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paceline import __version__
from paceline.content import RawText
from paceline.server.context import Context
from paceline.server.streams import json_response

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from paceline.params import SamplingParams


async def props(request: Request) -> Response:
    """Describe the loaded model; in place of its path there is its name."""
    context = Context.of(request)
    served = await context.models.wanted("")
    settings = context.defaults.settings
    rendered = await context.rendered()
    encoded = await context.desk.encode(RawText("a"), context.caller(request).name)
    limit = settings.max_tokens if context.defaults.has_limit else -1
    params = drawn_by(settings.sampling, settings.seed, limit, settings.stop)
    return json_response(
        {
            "default_generation_settings": {
                "n_ctx": served.target.n_ctx,
                "params": params,
            },
            "total_slots": 1,
            "model_alias": served.id,
            "model_path": served.id,
            "n_ctx": served.target.n_ctx,
            "modalities": {"vision": False, "audio": False},
            "chat_template": rendered.own if rendered else "",
            "bos_token": b"".join(encoded.pieces[: encoded.n_added]).decode("utf-8", "replace"),
            "build_info": f"paceline-{__version__}",
        }
    )


def drawn_by(
    sampling: SamplingParams, seed: int | None, max_tokens: int, stop: tuple[str, ...]
) -> dict[str, Any]:
    """Return the sampling parameters by llama-server's names."""
    return {
        "seed": -1 if seed is None else seed,
        "temperature": sampling.temperature,
        "top_k": sampling.top_k,
        "top_p": sampling.top_p,
        "min_p": sampling.min_p,
        "repeat_penalty": sampling.repeat_penalty,
        "presence_penalty": sampling.presence_penalty,
        "frequency_penalty": sampling.frequency_penalty,
        "n_predict": max_tokens,
        "max_tokens": max_tokens,
        "stop": list(stop),
    }
