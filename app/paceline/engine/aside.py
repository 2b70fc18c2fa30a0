"""An answer of the model that is no part of a chat; the context is unchanged afterwards.

A short question of the program is appended to the chat in the context. Its tokens are decoded in
batches of their own after the chat's cells, which stay, and are removed at the end. So the next
turn reuses the same cells and begins with the same numbers: its text is the same with any kernels.
What was read ahead after the chat is stored before, or read again. Where that is impossible, there
is no answer: if the context holds another text, has no room, or cannot go back without a copy, and
with a head, which reads the target's hidden states. Drafters, Auto's knowledge, and texts of
earlier chats are neither used nor changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from msgspec import structs

from paceline.engine.cancel import CancelFlag
from paceline.engine.decode.text import TextAssembler
from paceline.engine.model.backend import DraftHead
from paceline.engine.model.context import CachedContext
from paceline.engine.model.tokens import TokenSequence, common_prefix
from paceline.engine.pair import LoadedPair
from paceline.engine.prompt.reasoning_marks import opened_by
from paceline.engine.prompt.segments import tokenize_after
from paceline.engine.request import by_template, encode_begun, encode_prompt
from paceline.errors import CancelledError
from paceline.messages import Chat, ChatMessage, SayAside

_PIECE_TOKENS = 32
"""Tokens per decode, so that a waiting command waits no longer than for a step or two."""
_REPLY = "a reply that stands for the last one"


def say_aside(pair: LoadedPair, command: SayAside, cancel: CancelFlag) -> str:
    """Return the model's answer; empty if it cannot be asked, was stopped, or did not end.

    Args:
        pair: The pair whose target's context holds the chat.
        command: The question.
        cancel: Flag that is polled between and in decodes.

    Raises:
        UserError: The turn whose chat is continued is invalid.
        EngineError: A decode failed.
    """
    context, turn, chat = pair.target, command.turn, command.turn.prompt
    model = context.model
    has_head = pair.draft is not None and isinstance(pair.draft.model, DraftHead)
    if pair.is_lost or has_head or model.forgets or context.n_owed:
        return ""
    if not model.template or not isinstance(chat, Chat):  # the model was not trained to answer
        return ""
    pair.check_files()
    prompt = encode_prompt(pair, turn)
    whole = TokenSequence(prompt.tokens)
    whole.extend(encode_begun(model.vocab, turn, prompt).tokens)
    states = pair.states if turn.owner is not None else None
    n_held = common_prefix(context.tokens, whole)
    may_go_back = states is not None or n_held in (len(context.tokens), len(whole))
    if n_held < len(prompt.tokens) or not may_go_back:
        return ""
    question = _question(pair, chat, command.question)
    if not question or len(whole) + len(question) + command.max_tokens > context.n_ctx:
        return ""
    text = TextAssembler(model.vocab, prompt.stops)
    try:
        if states is not None:
            states.begin(whole, turn.owner, with_draft=False)
            n_held = common_prefix(context.tokens, whole)
        context.rollback(n_held)
        return _answer(context, [*whole[n_held:], *question], text, command.max_tokens, cancel)
    except CancelledError:
        return ""
    finally:
        context.rollback(n_held)
        if states is not None:
            states.end()


def _question(pair: LoadedPair, chat: Chat, question: str) -> list[int]:
    """Return the tokens from the end of the last reply to the begin of the answer.

    None if the answer would begin with reasoning.
    """
    choices = by_template(pair, chat, lambda prompts: prompts.template.switch.choices)
    if "off" in choices:
        chat = structs.replace(chat, prompting=replace(chat.prompting, think="off"))
    asked = ChatMessage.of_text("user", question)
    messages = (*chat.messages, ChatMessage.of_text("assistant", _REPLY), asked)
    text = by_template(pair, chat, lambda prompts: prompts.template.render(messages))
    _, reply, rest = text.rpartition(_REPLY)
    if not reply or opened_by(rest):
        return []
    return tokenize_after(pair.target.model.vocab, rest, special=True)


def _answer(
    context: CachedContext,
    tokens: Sequence[int],
    text: TextAssembler,
    most: int,
    cancel: CancelFlag,
) -> str:
    """Decode tokens and then the most likely ones, up to the end of the answer or of its line."""
    vocab = context.model.vocab
    for begin in range(0, len(tokens), _PIECE_TOKENS):
        piece = tokens[begin : begin + _PIECE_TOKENS]
        _check(cancel)
        rows = context.feed(piece, int(begin + _PIECE_TOKENS >= len(tokens)))
    said = ""
    for _ in range(most):
        token = int(rows[-1].argmax())
        is_over = token in vocab.eog or text.push(token)
        said += text.take()
        if is_over or "\n" in said.strip():
            return (said + text.finish()).strip().partition("\n")[0].rstrip()
        _check(cancel)
        rows = context.feed([token], 1)
    return ""


def _check(cancel: CancelFlag) -> None:
    if cancel.is_set():
        raise CancelledError
