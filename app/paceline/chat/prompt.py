"""From a conversation to the messages that the engine puts through the chat template."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from paceline.chat.reasoning import answer_of
from paceline.messages import ChatMessage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.conversation import Attachment, Message

_BACKTICKS = re.compile("`+")
_LONGEST_ENDING = 10


def build_messages(path: Sequence[Message], system_prompt: str = "") -> tuple[ChatMessage, ...]:
    """Return the system prompt, if there is one, and the messages of the path.

    Earlier replies go without their reasoning, which models are not trained to see again; some
    templates take it out themselves, and that of gpt-oss refuses its marks.

    Many templates insist on user and assistant taking turns. So replies that never got an answer
    (stopped or failed before its first token) are left out, and messages of the same role that
    come to stand side by side are joined.
    """
    messages: list[ChatMessage] = []
    if system_prompt.strip():
        messages.append(ChatMessage("system", system_prompt.strip()))
    for message in path:
        content = with_attachments(message)
        if message.role == "assistant":
            content = answer_of(content)
            if not content:
                continue
        if messages and messages[-1].role == message.role:
            joined = f"{messages[-1].content}\n\n{content}"
            messages[-1] = ChatMessage(message.role, joined)
        else:
            messages.append(ChatMessage(message.role, content))
    return tuple(messages)


def with_attachments(message: Message) -> str:
    """The message's text behind the files that were sent with it, each in a fence of its own.

    A fence is longer than any run of backticks in the file, so that no file can end its own.
    """
    parts = [_fenced(attachment) for attachment in message.attachments]
    return "\n\n".join([*parts, message.content] if message.content else parts)


def _fenced(attachment: Attachment) -> str:
    longest = max((len(run) for run in _BACKTICKS.findall(attachment.text)), default=0)
    fence = "`" * max(3, longest + 1)
    end = "" if attachment.text.endswith("\n") else "\n"
    name = " ".join(attachment.name.split())
    return f"{name}\n{fence}{_language(name)}\n{attachment.text}{end}{fence}"


def _language(name: str) -> str:
    """What stands behind the fence: the file's ending, which models know from Markdown."""
    ending = name.rpartition(".")[2] if "." in name else ""
    return ending.lower() if ending.isalnum() and len(ending) <= _LONGEST_ENDING else ""
