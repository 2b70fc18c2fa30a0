"""From a conversation to the messages that the engine puts through the chat template."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paceline.messages import ChatMessage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.conversation import Message


def build_messages(path: Sequence[Message], system_prompt: str = "") -> tuple[ChatMessage, ...]:
    """Return the system prompt, if there is one, and the messages of the path.

    Many templates insist on user and assistant taking turns. So replies that never got a text
    (stopped or failed before the first token) are left out, and messages of the same role that
    come to stand side by side are joined.
    """
    messages: list[ChatMessage] = []
    if system_prompt.strip():
        messages.append(ChatMessage("system", system_prompt.strip()))
    for message in path:
        if message.role == "assistant" and not message.content:
            continue
        if messages and messages[-1].role == message.role:
            joined = f"{messages[-1].content}\n\n{message.content}"
            messages[-1] = ChatMessage(message.role, joined)
        else:
            messages.append(ChatMessage(message.role, message.content))
    return tuple(messages)
