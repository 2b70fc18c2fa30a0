"""The fields that requests of several APIs share, and the turn that is made of them."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import structs

from paceline.engine.draft.strategy import read_strategy
from paceline.errors import UserError
from paceline.messages import EarlierReply, Prompt, StartTurn, StateOwner, Strategy
from paceline.params import MAX_SEED
from paceline.server.errors import of_value, refused
from paceline.server.fields import read_biases, with_sampling
from paceline.server.limits import MAX_REPLIES

if TYPE_CHECKING:
    from paceline.content import ChatMessage
    from paceline.server.served import Defaults, Served


OWNER = "programs"
"""Owner of the prompt-cache entries of programs, which share them."""


class OwnFields(msgspec.Struct, kw_only=True):
    """The field ``paceline`` of a request."""

    strategy: str | None = None


class SamplingFields(msgspec.Struct, kw_only=True):
    """Sampling settings; absent ones are those of `paceline serve`."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    repeat_penalty: float | None = None
    logit_bias: dict[str, float] | None = None
    seed: int | None = None
    grammar: str | None = None
    json_schema: dict[str, Any] | bool | None = None
    ignore_eos: bool | None = None
    paceline: OwnFields | None = None


def continued(messages: tuple[ChatMessage, ...], field: str) -> tuple[tuple[ChatMessage, ...], str]:
    """Return the conversation before a reply, and the text that the reply continues.

    Args:
        messages: At least one; if the last one is the model's, without calls, it is continued.
        field: The request's field with them.

    Raises:
        ApiError: There is nothing before that reply.
    """
    *before, last = messages
    if last.role != "assistant" or last.calls:
        return messages, ""
    if not before:
        raise refused(field, "There is nothing before the reply that is to be continued.")
    return tuple(before), last.text


def make_turn(
    prompt: Prompt,
    fields: SamplingFields,
    defaults: Defaults,
    served: Served,
    *,
    max_tokens: int | None,
    limit_field: str = "max_tokens",
    stop: tuple[str, ...] | None,
    prediction: str = "",
    begun_text: str = "",
    n_likely: int = -1,
) -> StartTurn:
    """Return the turn of a request.

    Args:
        prompt: The prompt.
        fields: Sampling settings of the request.
        defaults: Values for absent fields.
        served: The loaded pair.
        max_tokens: Upper bound of the reply's tokens; None means the default.
        limit_field: The request's field with `max_tokens`.
        stop: Texts that end it; None means the default.
        prediction: Expected text of the reply, for drafts.
        begun_text: The text that the reply continues.
        n_likely: As in `StartTurn`.

    Raises:
        ApiError: A field cannot be honoured.
    """
    settings = defaults.settings
    if max_tokens is not None and max_tokens < 1:
        raise refused(limit_field, f"{limit_field} must be 1 or more.")
    limit = max_tokens or (settings.max_tokens if defaults.has_limit else served.target.n_ctx)
    schema = fields.json_schema
    sampling = with_sampling(
        settings.sampling,
        {
            "temperature": fields.temperature,
            "top_p": fields.top_p,
            "top_k": fields.top_k,
            "min_p": fields.min_p,
            "presence_penalty": fields.presence_penalty,
            "frequency_penalty": fields.frequency_penalty,
            "repeat_penalty": fields.repeat_penalty,
            "logit_bias": read_biases(fields.logit_bias),
            "grammar": fields.grammar,
            "json_schema": None if schema is None else msgspec.json.encode(schema).decode(),
        },
        served.target.n_vocab,
    )
    seed = settings.seed if fields.seed is None else fields.seed
    if seed is not None and not 0 <= seed < 2**63:
        seed %= MAX_SEED  # other servers take any number, and -1 as "draw one"
    if fields.seed == -1:
        seed = None
    return StartTurn(
        prompt,
        sampling,
        _strategy(fields, defaults),
        min(limit, served.target.n_ctx),
        seed,
        settings.stop if stop is None else stop,
        ignore_eog=bool(fields.ignore_eos),
        remember=defaults.remember,
        begun_text=begun_text,
        earlier=(EarlierReply(text=prediction),) if prediction else (),
        n_likely=n_likely,
        owner=StateOwner(OWNER),
    )


def _strategy(fields: SamplingFields, defaults: Defaults) -> Strategy:
    own = fields.paceline
    if own is None or own.strategy is None:
        return defaults.strategy
    try:
        return read_strategy(own.strategy)
    except UserError as error:
        raise of_value("paceline.strategy", error) from None


def turns_of(turn: StartTurn, n: int) -> list[StartTurn]:
    """Return a turn for each of `n` replies; their seeds are counted up.

    Raises:
        ApiError: There are too many.
    """
    if not 1 <= n <= MAX_REPLIES:
        raise refused("n", f"n must be from 1 to {MAX_REPLIES}.")
    if n == 1:
        return [turn]
    first = secrets.randbelow(MAX_SEED - n) if turn.seed is None else turn.seed
    return [structs.replace(turn, seed=(first + i) % 2**63) for i in range(n)]
