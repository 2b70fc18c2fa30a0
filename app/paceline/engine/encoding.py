"""The tokens of a prompt, for programs that count or show them, or apply templates themselves."""

from __future__ import annotations

from itertools import chain

from msgspec import structs

from paceline.engine.model.vocabularies import name_or_piece
from paceline.engine.pair import LoadedPair
from paceline.engine.prompt.conversation import tools_of
from paceline.engine.prompt.size import PromptSizes
from paceline.engine.refusals import not_encoded, too_large_to_encode
from paceline.engine.request import PlainPrompt, by_template, encode_plain, encode_prompt
from paceline.errors import UserError
from paceline.messages import (
    Chat,
    Encode,
    Encoded,
    Infill,
    Prompt,
    RawText,
    StartTurn,
    Tokens,
)

_MAX_TOKENS = 1 << 20
_MAX_BYTES = 4 << 20
"""Maximum number of tokens, and of bytes of their texts, that fit into a message."""


def encode(pair: LoadedPair | None, command: Encode) -> Encoded:
    """Return the answer; the reason why a prompt cannot be made is part of it."""
    if pair is None or pair.is_lost:
        return not_encoded()
    vocab, prompt = pair.target.model.vocab, command.prompt
    if _size(prompt) > _MAX_BYTES:  # tokenizing it would take seconds
        return too_large_to_encode()
    written: bytes | None = None
    notes: tuple[str, ...] = ()
    try:
        if isinstance(prompt, Chat):
            chat = structs.replace(prompt, cuts=False)
            fitted = encode_prompt(pair, StartTurn(chat))
            plain, notes = PlainPrompt([*chain.from_iterable(fitted.tokens.texts())]), fitted.notes
            text = by_template(pair, chat, lambda prompts: _written(prompts, chat))
            written = text.encode("utf-8", "replace")
        else:
            plain = encode_plain(vocab, prompt)
    except UserError as error:
        return Encoded(code=error.code, problem=error.message, hint=error.hint)
    tokens, n_added = plain
    if len(tokens) > _MAX_TOKENS:
        return too_large_to_encode()
    by_token = {token: name_or_piece(vocab, token) for token in set(tokens)}
    pieces = tuple(by_token[token] for token in tokens)
    whole = b"".join(pieces)
    written = whole if written is None else written
    if max(len(whole), len(written)) > _MAX_BYTES:
        return too_large_to_encode()
    return Encoded(tuple(tokens), pieces, written.decode("utf-8", "replace"), n_added, notes)


def _written(prompts: PromptSizes, chat: Chat) -> str:
    return prompts.template.render(chat.messages, tools_of(chat))


def _size(prompt: Prompt) -> int:
    """Return the number of characters of a prompt's texts, or of its tokens."""
    match prompt:
        case Chat():
            return sum(len(message.text) for message in prompt.messages)
        case RawText():
            return len(prompt.text)
        case Infill():
            files = sum(len(file.name) + len(file.text) for file in prompt.files)
            return len(prompt.before) + len(prompt.after) + files
        case Tokens():
            return len(prompt.ids)
