"""From a reply that is asked for to the engine's command, and the way back from a refused one."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from paceline.chat.prompt import build_messages
from paceline.messages import StartTurn

if TYPE_CHECKING:
    from paceline.chat.reply import Reply
    from paceline.conversation import Conversation, Message


def start_turn(reply: Reply, conversation: Conversation) -> StartTurn:
    """Return the command for a reply in a conversation that has its message.

    Nothing of a private conversation is remembered, whatever the options say.
    """
    options = reply.options
    path = conversation.path_to(conversation.messages[reply.message_id].parent_id)
    remember = options.remember and not conversation.private
    return StartTurn(
        reply.turn_id,
        messages=build_messages(path, options.system_prompt),
        sampling=options.sampling,
        strategy=options.strategy,
        max_tokens=options.max_tokens,
        seed=options.seed,
        stop=options.stop,
        remember=remember,
        chat=conversation.conversation_id if remember else "",
        cuts=options.cuts,
    )


def without_reply(conversation: Conversation, reply_id: str) -> tuple[Conversation, Message | None]:
    """Take a reply out that never began, and its question if it has no other reply.

    Returns:
        The conversation, and the question if it was taken out, too.
    """
    question = conversation.messages[conversation.messages[reply_id].parent_id or ""]
    gone = {reply_id}
    others = [m for m in conversation.children(question.message_id) if m.message_id not in gone]
    if not others:  # then the question goes, too, and what it was edited from is shown again
        gone.add(question.message_id)
        others = [m for m in conversation.siblings(question.message_id) if m != question]
    messages = {name: m for name, m in conversation.messages.items() if name not in gone}
    rest = replace(conversation, messages=MappingProxyType(messages), leaf_id=question.parent_id)
    if others:
        rest = rest.activate(others[-1].message_id)
    return rest, question if question.message_id in gone else None
