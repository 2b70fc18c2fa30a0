"""From a conversation to the messages that the engine puts through the chat template."""

from __future__ import annotations

import re
from itertools import islice
from operator import is_
from time import perf_counter
from typing import TYPE_CHECKING

from paceline.chat.reasoning import answer_of
from paceline.messages import ChatMessage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.conversation import Attachment, Message

_BACKTICKS = re.compile("`+")
_LONGEST_ENDING = 10
_PER_LOOK = 50  # messages between two looks at the clock


def build_messages(path: Sequence[Message], system_prompt: str = "") -> tuple[ChatMessage, ...]:
    """Return the system prompt, if there is one, and the messages of the path.

    Earlier replies go without their reasoning, which models are not trained to see again; some
    templates take it out themselves, and that of gpt-oss refuses its marks.

    Many templates insist on user and assistant taking turns. So replies that never got an answer
    (stopped or failed before its first token) are left out, and messages of the same role that
    come to stand side by side are joined.
    """
    messages = _system(system_prompt)
    for message in path:
        _add(messages, message)
    return tuple(messages)


class GradualPrompt:
    """Builds the same in turns, for whoever must not be held up by a long conversation.

    What it has of a path is kept: the next question about the same path, or about one that goes on
    from it, costs no more than the new messages.
    """

    def __init__(self) -> None:
        self._system_prompt = ""
        self._taken: Sequence[Message] = ()
        self._n_taken = 0
        self._messages: list[ChatMessage] = []

    def take(self, path: Sequence[Message], system_prompt: str, until_s: float) -> bool:
        """Go on with a path until a moment of `perf_counter`; whether all of it is taken.

        Args:
            path: The same as in the last call, or another one: then it begins anew.
            system_prompt: Put before it; empty: none.
            until_s: At least a few messages are taken, however late it is.
        """
        taken = islice(self._taken, self._n_taken)
        goes_on = self._n_taken <= len(path) and all(map(is_, taken, path))
        if not goes_on or system_prompt != self._system_prompt:
            self._system_prompt, self._n_taken = system_prompt, 0
            self._messages = _system(system_prompt)
        self._taken = path
        while self._n_taken < len(path):
            for message in path[self._n_taken : self._n_taken + _PER_LOOK]:
                _add(self._messages, message)
                self._n_taken += 1
            if perf_counter() > until_s:
                break
        return self._n_taken == len(path)

    def messages(self, *more: Message) -> tuple[ChatMessage, ...]:
        """Return what is taken, and these behind it, which are not kept."""
        messages = list(self._messages)
        for message in more:
            _add(messages, message)
        return tuple(messages)


def _system(system_prompt: str) -> list[ChatMessage]:
    text = system_prompt.strip()
    return [ChatMessage("system", text)] if text else []


def _add(messages: list[ChatMessage], message: Message) -> None:
    content = with_attachments(message)
    if message.role == "assistant":
        content = answer_of(content)
        if not content:
            return
    if messages and messages[-1].role == message.role:
        messages[-1] = ChatMessage(message.role, f"{messages[-1].content}\n\n{content}")
    else:
        messages.append(ChatMessage(message.role, content))


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
