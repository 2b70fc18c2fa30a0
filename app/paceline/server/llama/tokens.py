"""``/tokenize``, ``/detokenize`` and ``/apply-template``: prompts as the model reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from paceline.content import Chat, RawText, Tokens
from paceline.server.context import Context, ignored_header
from paceline.server.fields import read
from paceline.server.openai.messages import (
    MessageIn,
    ToolChoiceIn,
    ToolIn,
    read_messages,
    read_tools,
)
from paceline.server.shared.tools import functions_of
from paceline.server.streams import json_response
from paceline.server.turns import continued

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response


class TextIn(msgspec.Struct, kw_only=True):
    """A text to tokenize."""

    content: str
    add_special: bool = False
    parse_special: bool = True
    with_pieces: bool = False


class TokensIn(msgspec.Struct, kw_only=True):
    """Tokens to turn into text."""

    tokens: list[int]


class ConversationIn(msgspec.Struct, kw_only=True):
    """A conversation to turn into a prompt."""

    messages: list[MessageIn]
    tools: list[ToolIn] | None = None
    tool_choice: ToolChoiceIn | None = None
    parallel_tool_calls: bool | None = None


async def tokenize(request: Request) -> Response:
    """Return the tokens of a text."""
    context = Context.of(request)
    body, ignored = read(TextIn, await context.body(request))
    await context.models.wanted("")
    # The token that begins a prompt is asked for with a text, since an empty one is no prompt.
    prompt = RawText(body.content or "a", special=body.parse_special)
    encoded = await context.desk.encode(prompt, context.caller(request).name, {"prompt": "content"})
    begin = 0 if body.add_special else encoded.n_added
    end = len(encoded.tokens) if body.content else encoded.n_added
    tokens: list[Any] = list(encoded.tokens[begin:end])
    if body.with_pieces:
        pieces = map(_readable, encoded.pieces[begin:end])
        tokens = [
            {"id": token, "piece": piece} for token, piece in zip(tokens, pieces, strict=True)
        ]
    return json_response({"tokens": tokens}, headers=ignored_header(ignored))


def _readable(piece: bytes) -> str | list[int]:
    """Return a token's text, or its bytes if they are no text."""
    try:
        return piece.decode()
    except UnicodeDecodeError:
        return list(piece)


async def detokenize(request: Request) -> Response:
    """Return the text of tokens, control tokens by their names."""
    context = Context.of(request)
    body, ignored = read(TokensIn, await context.body(request))
    await context.models.wanted("")
    text = ""
    if body.tokens:
        prompt, asker = Tokens(tuple(body.tokens)), context.caller(request).name
        text = (await context.desk.encode(prompt, asker, {"prompt": "tokens"})).text
    return json_response({"content": text}, headers=ignored_header(ignored))


async def apply_template(request: Request) -> Response:
    """Return the prompt of a conversation."""
    context = Context.of(request)
    body, ignored = read(ConversationIn, await context.body(request))
    await context.models.wanted("")
    functions, passed_over = functions_of(body.tools or [], ToolIn.name_of, "function")
    tools = read_tools(functions, body.tool_choice, is_parallel=body.parallel_tool_calls)
    messages, begun = continued(read_messages(body.messages), "messages")
    chat = Chat(messages, context.defaults.prompting, tools=tools)
    encoded = await context.desk.encode(chat, context.caller(request).name, {"prompt": "messages"})
    return json_response(
        {"prompt": encoded.text + begun}, headers=ignored_header(ignored + passed_over)
    )
