"""Sessions in which the same text is asked for again and again, after something else came.

Two are made of Python's own library as text, so that every machine has the same:

- agent: each request has the conversation so far, after a system prompt whose first line changes;
- chats: several conversations by turns, each with a text of its own.

Replies in a history are of no model: every side reads them in the request that has them first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.many_chats import Texts

from .sessions import Request, Session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CHANGES = r"^session-id: \w+$"
"""An expression that the changing line matches."""
MAX_TOKENS = 16
_REPLY = 60
_QUESTION = "Which function is called in line {n}? Name it, and what it returns."


def agent(n_tokens: Callable[[str], int], n_requests: int, n_system: int) -> Session:
    """Return the session of an agent.

    Args:
        n_tokens: Counts the tokens of a text.
        n_requests: Number of requests.
        n_system: Tokens of its system prompt, about.
    """
    texts = Texts(41)
    system = texts.of_tokens(n_system, n_tokens)
    growing = growing_chat("Read the file and tell me about it.", texts, n_tokens, n_requests)
    requests = [
        Request(
            ({"role": "system", "content": f"session-id: {n:06x}\n{system}"}, *messages),
            MAX_TOKENS, "", "",
        )
        for n, messages in enumerate(growing, 0xA1B2C)
    ]  # fmt: skip
    return Session("agent", tuple(requests))


def chats(n_tokens: Callable[[str], int], n_chats: int, n_rounds: int, n_each: int) -> Session:
    """Return conversations by turns, in so many rounds; each begins with about so many tokens."""
    growing = []
    for n in range(n_chats):
        texts = Texts(42 + n)
        growing.append(growing_chat(texts.of_tokens(n_each, n_tokens), texts, n_tokens, n_rounds))
    by_turns = [messages for of_round in zip(*growing, strict=True) for messages in of_round]
    return Session("chats", tuple(Request(each, MAX_TOKENS, "", "") for each in by_turns))


def growing_chat(
    first: str, texts: Texts, n_tokens: Callable[[str], int], n_requests: int
) -> Iterator[tuple[dict[str, str], ...]]:
    """Yield the messages of each request of a conversation, which begins with a text."""
    messages = [{"role": "user", "content": first}]
    for n in range(n_requests):
        yield tuple(messages)
        messages.append({"role": "assistant", "content": texts.of_tokens(_REPLY, n_tokens)})
        messages.append({"role": "user", "content": _QUESTION.format(n=n + 1)})
