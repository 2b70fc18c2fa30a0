"""Messages of a conversation as the engine puts them through the chat template.

Conversations and token ids that come as JSON, the prompts of `paceline chat` and the workloads of
the benchmark, are checked before the engine gets them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from operator import is_
from time import perf_counter
from typing import Any

from paceline.chat.reasoning import UNKNOWN, Known, answer_of
from paceline.content import Content, is_empty, joined, of_text, with_texts
from paceline.conversation import Attachment, Folder, Message
from paceline.messages import ChatMessage, EarlierReply
from paceline.params import ReplySettings

_BACKTICKS = re.compile("`+")
_MAX_ENDING_CHARS = 10
_SPEAKERS = ("system", "user", "assistant")
"""The roles in a file with a conversation, which knows no tools."""
_MESSAGES_PER_POLL = 50  # messages between two looks at the clock
KnownOf = Callable[[str], Known]
"""Returns the facts of how a reply was generated, by its message's id."""


def nothing_known(_message_id: str) -> Known:
    """Return the facts of a reply of which nothing is known."""
    return UNKNOWN


def build_messages(
    path: Sequence[Message], system_prompt: str = "", known: KnownOf = nothing_known
) -> tuple[ChatMessage, ...]:
    """Return the system prompt, if there is one, and the messages of the path.

    Earlier replies go without their reasoning, which models are not trained to see again; some
    templates take it out themselves, and that of gpt-oss refuses its marks.

    Many templates require that user and assistant alternate. So replies that never got an answer
    (stopped or failed before its first token) are left out, and messages of the same role that
    come to stand side by side are joined.
    """
    messages = _system(system_prompt)
    for message in path:
        _add(messages, message, known)
    return tuple(messages)


class GradualPrompt:
    """Builds the same in portions, so that a long conversation does not block the window.

    Messages that are built stay: the next call for the same path, or for one that continues it,
    builds only the new ones.
    """

    def __init__(self) -> None:
        self._system_prompt = ""
        self._taken: Sequence[Message] = ()
        self._n_taken = 0
        self._messages: list[ChatMessage] = []
        self._begins: list[int] = []  # of each message of these on the path; of the system prompt 0

    def take(
        self,
        path: Sequence[Message],
        system_prompt: str,
        until_s: float,
        known: KnownOf = nothing_known,
    ) -> bool:
        """Continue a path until a time of `perf_counter`; returns whether all of it is taken.

        Args:
            path: The same as in the last call, or another one: then it starts again.
            system_prompt: System prompt before the path; may be empty.
            until_s: The time to stop; at least a few messages are taken even after it.
            known: See `build_messages`.
        """
        taken = islice(self._taken, self._n_taken)
        goes_on = self._n_taken <= len(path) and all(map(is_, taken, path))
        if not goes_on or system_prompt != self._system_prompt:
            self._system_prompt, self._n_taken = system_prompt, 0
            self._messages = _system(system_prompt)
            self._begins = [0] * len(self._messages)
        self._taken = path
        while self._n_taken < len(path):
            for message in path[self._n_taken : self._n_taken + _MESSAGES_PER_POLL]:
                _add(self._messages, message, known)
                if len(self._messages) > len(self._begins):
                    self._begins.append(self._n_taken)
                self._n_taken += 1
            if perf_counter() > until_s:
                break
        return self._n_taken == len(path)

    def first_kept(self, n_cut: int) -> str:
        """Return the id of the first message of the path that a prompt has.

        Args:
            n_cut: Messages that were left out of it, none of them the system prompt.

        Returns:
            Empty if that is the first of all, or not among the messages built so far.
        """
        n_before = n_cut + bool(_system(self._system_prompt))
        if not n_cut or n_before >= len(self._begins):
            return ""
        return self._taken[self._begins[n_before]].message_id

    def messages(self, *more: Message) -> tuple[ChatMessage, ...]:
        """Return the messages built so far, followed by these, which are not kept."""
        messages = list(self._messages)
        for message in more:
            _add(messages, message, nothing_known)
        return tuple(messages)


def with_instructions(folder: Folder | None, settings: ReplySettings) -> ReplySettings:
    """Return a chat's settings with its folder's instructions before its system prompt."""
    if folder is None or not folder.instructions:
        return settings
    texts = (folder.instructions, settings.system_prompt.strip())
    return replace(settings, system_prompt="\n\n".join(filter(None, texts)))


def _system(system_prompt: str) -> list[ChatMessage]:
    text = system_prompt.strip()
    return [ChatMessage.of_text("system", text)] if text else []


def _add(messages: list[ChatMessage], message: Message, known: KnownOf) -> None:
    content = with_attachments(message)
    if message.role == "assistant":
        how = known(message.message_id)
        content = with_texts(content, lambda text: answer_of(text, how))
        if is_empty(content):
            return
    if messages and messages[-1].role == message.role:
        messages[-1] = ChatMessage(message.role, joined(messages[-1].content, content))
    else:
        messages.append(ChatMessage(message.role, content))


def with_attachments(message: Message) -> Content:
    """Return the message's files, each in a code fence, and its content after them.

    A fence is longer than any run of backticks in the file, so that no file can end its fence.
    """
    if not message.attachments:
        return message.content
    files = of_text("\n\n".join(map(_fenced, message.attachments)))
    return files if is_empty(message.content) else joined(files, message.content)


def _fenced(attachment: Attachment) -> str:
    longest = max((len(run) for run in _BACKTICKS.findall(attachment.text)), default=0)
    fence = "`" * max(3, longest + 1)
    end = "" if attachment.text.endswith("\n") else "\n"
    name = " ".join(attachment.name.split())
    return f"{name}\n{fence}{_language(name)}\n{attachment.text}{end}{fence}"


def _language(name: str) -> str:
    """Return the info string of the fence: the file's extension, which models know."""
    ending = name.rpartition(".")[2] if "." in name else ""
    return ending.lower() if ending.isalnum() and len(ending) <= _MAX_ENDING_CHARS else ""


_MAX_ID = 2**31 - 1  # what fits into the native library's integers


class PromptDataError(ValueError):
    """The data is no prompt.

    Attributes:
        message: One sentence: what is wrong.
        hint: The remedy; may be empty.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def is_unicode(text: str) -> bool:
    """Return whether the text has no unpaired surrogates, which come from broken UTF-8 or JSON."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def read_conversation(data: object, where: str) -> tuple[ChatMessage, ...]:
    """Return a list of {"role", "content"} as messages; the last one is the user's.

    Args:
        data: Parsed JSON.
        where: Where it stands, for the error, such as ``in FILE``.

    Raises:
        PromptDataError: It is something else.
    """
    items = _list(data, "messages", where)
    messages = tuple(_message(item, f"Message {i} {where}") for i, item in enumerate(items, 1))
    if messages[-1].role != "user":
        raise PromptDataError(
            f"The last message {where} is from the {messages[-1].role}.",
            "The model answers the user: let the last message have the role user.",
        )
    return messages


def read_token_ids(data: object, where: str) -> tuple[int, ...]:
    """Return a list of integers as token ids.

    Args:
        data: Parsed JSON.
        where: Where it stands, for the error, such as ``in FILE``.

    Raises:
        PromptDataError: It is something else.
    """
    items = _list(data, "token ids", where)
    for i, item in enumerate(items, 1):
        if type(item) is not int or not 0 <= item <= _MAX_ID:
            raise PromptDataError(f"Item {i} {where} is {item!r:.40}, not a token id (0 or more).")
    return tuple(items)


def read_earlier(data: object, where: str) -> EarlierReply:
    """Return an object with "tokens", "text" or both as an earlier reply; other keys are ignored.

    So the last line of `paceline chat --json` is one.

    Args:
        data: Parsed JSON.
        where: Where it stands, for the error, such as ``in FILE``.

    Raises:
        PromptDataError: It is something else.
    """
    held = data if isinstance(data, dict) else {}
    tokens, text = held.get("tokens"), held.get("text", "")
    if not isinstance(text, str) or not is_unicode(text):
        raise PromptDataError(f"The text {where} is not text.")
    has_tokens = tokens not in (None, [])
    if not (has_tokens or text):
        raise PromptDataError(
            f"There is no earlier reply {where}.",
            'Give {"tokens": [1, 2, …]} or {"text": "…"}.',
        )
    return EarlierReply(read_token_ids(tokens, where) if has_tokens else (), text)


def _list(data: object, what: str, where: str) -> list[Any]:
    if not isinstance(data, list) or not data:
        raise PromptDataError(f"There must be a list of {what} {where} that is not empty.")
    return data


def _message(item: Any, where: str) -> ChatMessage:
    if not isinstance(item, dict) or item.keys() != {"role", "content"}:
        raise PromptDataError(f"{where} is not an object with role and content alone.")
    role, content = item["role"], item["content"]
    if role not in _SPEAKERS:
        raise PromptDataError(f"{where} has the role {role!r:.40}, not {', '.join(_SPEAKERS)}.")
    if not isinstance(content, str) or not is_unicode(content):
        raise PromptDataError(f"{where} has a content that is not text.")
    if not content and role == "user":
        raise PromptDataError(f"{where} is empty.")
    return ChatMessage.of_text(role, content)
