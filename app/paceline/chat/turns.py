"""From a reply that is asked for to the engine's command, and the way back from a refused one."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from paceline.chat.prompt import build_messages
from paceline.messages import StartTurn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.chat.reply import Reply
    from paceline.conversation import Conversation, Message


def start_turn(reply: Reply, path: Sequence[Message]) -> StartTurn:
    """Return the command for a reply to this path of a conversation."""
    options = reply.options
    return StartTurn(
        reply.turn_id,
        messages=build_messages(path, options.system_prompt),
        sampling=options.sampling,
        strategy=options.strategy,
        max_tokens=options.max_tokens,
        seed=options.seed,
        remember=options.remember,
    )


def without_reply(conversation: Conversation, reply_id: str) -> tuple[Conversation, str]:
    """Take a reply out that never began, and its question if nobody else has answered it.

    Returns:
        The conversation, and the question's text if it was taken out, else "".
    """
    question = conversation.messages[conversation.messages[reply_id].parent_id or ""]
    messages = {name: m for name, m in conversation.messages.items() if name != reply_id}
    others = [m.message_id for m in messages.values() if m.parent_id == question.message_id]
    if others:
        rest = replace(conversation, messages=MappingProxyType(messages), leaf_id=others[-1])
        return rest.activate(others[-1]), ""
    del messages[question.message_id]
    rest = replace(conversation, messages=MappingProxyType(messages), leaf_id=question.parent_id)
    return rest, question.content
