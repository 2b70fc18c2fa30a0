"""An answer of the model beside a chat; afterwards the context is as it was, to the last cell.

The chat that the context holds goes on by a short question of the program's own. What that adds is
decoded in batches of its own after the chat's cells, which stay, and is taken back at the end. So
the next turn reuses what it would have reused, and begins with the same numbers: its text is the
one that it would have been, with any kernels. What was read ahead after the chat is stored before,
or read again. Where that cannot be had, nothing is said: in a context that holds something else, or
has no room, or cannot go back without a copy, and beside a head, which reads what the target has
decoded. Drafters, what Auto knows, and texts of earlier chats are neither used nor changed.
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

_PIECE = 32
"""Tokens per decode, so that who wants the engine waits no longer than for a step or two."""
_REPLY = "a reply that stands for the last one"


def say_aside(pair: LoadedPair, command: SayAside, cancel: CancelFlag) -> str:
    """Return what the model says; empty where it cannot be asked, was stopped, or did not end.

    Args:
        pair: Its target's context holds the chat.
        command: What is asked.
        cancel: Polled between decodes, and by them.

    Raises:
        UserError: The turn that is gone on after cannot be.
        EngineError: A decode failed.
    """
    context, turn, chat = pair.target, command.turn, command.turn.prompt
    model = context.model
    has_head = pair.draft is not None and isinstance(pair.draft.model, DraftHead)
    if pair.is_lost or has_head or model.forgets or context.n_owed:
        return ""
    if not model.template or not isinstance(chat, Chat):  # it was not trained to answer
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
    """Return the tokens from the end of the last reply to where the answer begins.

    None where the answer would begin with reasoning.
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
    """Decode tokens and then the likeliest ones, up to the end of the answer or of its line."""
    vocab = context.model.vocab
    for begin in range(0, len(tokens), _PIECE):
        piece = tokens[begin : begin + _PIECE]
        _check(cancel)
        rows = context.feed(piece, int(begin + _PIECE >= len(tokens)))
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
