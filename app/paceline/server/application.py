"""The application: its routes, and the middleware of every request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route

from paceline.server.anthropic.messages import count_tokens, messages
from paceline.server.context import Context
from paceline.server.errors import ApiError, fault, log_fault
from paceline.server.http.guard import Access, Guard
from paceline.server.http.hang_ups import HangUps
from paceline.server.http.lasting import Lasting
from paceline.server.llama.completion import completion, infill
from paceline.server.llama.props import props
from paceline.server.llama.tokens import apply_template, detokenize, tokenize
from paceline.server.metrics import MEDIA_TYPE
from paceline.server.openai.chat import chat_completions
from paceline.server.openai.completions import completions
from paceline.server.openai.models import list_models, show_model
from paceline.server.openai.responses import responses
from paceline.server.streams import json_response

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp


async def health(request: Request) -> Response:
    """Say that the server answers, with a model that is loaded."""
    if Context.of(request).models.loaded is None:
        raise ApiError(503, "no_model", "No model is loaded. A request for a reply loads it.")
    return json_response({"status": "ok"})


async def metrics(request: Request) -> Response:
    """Return the counts of answered requests."""
    context = Context.of(request)
    return Response(context.metrics.text(context.desk), media_type=MEDIA_TYPE)


ROUTES = (
    Route("/health", health),
    Route("/metrics", metrics),
    Route("/props", props),
    Route("/tokenize", tokenize, methods=["POST"]),
    Route("/detokenize", detokenize, methods=["POST"]),
    Route("/apply-template", apply_template, methods=["POST"]),
    Route("/completion", completion, methods=["POST"]),
    Route("/infill", infill, methods=["POST"]),
    Route("/v1/models", list_models),
    Route("/v1/models/{name:path}", show_model),
    Route("/v1/chat/completions", chat_completions, methods=["POST"]),
    Route("/v1/completions", completions, methods=["POST"]),
    Route("/v1/responses", responses, methods=["POST"]),
    Route("/v1/messages", messages, methods=["POST"]),
    Route("/v1/messages/count_tokens", count_tokens, methods=["POST"]),
)


def make_application(context: Context, access: Access) -> ASGIApp:
    """Return the application.

    Args:
        context: Objects that its routes use.
        access: Rules of who may send requests.
    """
    application = Starlette(
        routes=ROUTES,
        exception_handlers={
            ApiError: _refuse,
            HTTPException: _refuse_path,
            Exception: _tell_of_fault,
        },
    )
    application.router.redirect_slashes = False
    application.state.context = context
    return Guard(HangUps(Lasting(application, context.models)), access)


async def _refuse(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    return json_response(error.body(request.scope["path"]), error.status, error.headers)


async def _refuse_path(request: Request, error: Exception) -> Response:
    """Answer a request for an unknown path or method."""
    assert isinstance(error, HTTPException)
    known = ", ".join(route.path_format for route in ROUTES)
    path, method = request.scope["path"], request.method
    what = f"{path:.80} cannot be asked by {method}" if error.status_code == 405 else (
        f"There is no {path:.80}"
    )  # fmt: skip
    refusal = ApiError(error.status_code, "not_found", f"{what}. There are {known}.")
    headers = dict(error.headers or {})
    return json_response(refusal.body(path), refusal.status, headers)


async def _tell_of_fault(request: Request, error: Exception) -> Response:
    """Answer after an internal error, which is logged without the request's text."""
    log_fault("a request", error)
    told = fault()
    return json_response(told.body(request.scope["path"]), told.status)
