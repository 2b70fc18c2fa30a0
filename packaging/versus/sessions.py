"""Recorded sessions: conversations in which a file is edited and returned, to be asked anew.

A line of a file of sessions is ``{"name", "messages", "max_tokens": […]}``. The last replies of the
conversation are recorded, one for each number in ``max_tokens``, which is how many tokens it has;
what is before is given. A request has all messages before a recorded reply. A line of a workload
for ``paceline bench``, whose last message is the user's, is a session of one request.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from paceline.engine.api import Pair, generate
from paceline.messages import ChatMessage, SamplingParams

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_FENCED = re.compile(r"^```\w*\n(.*?)\n```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Request:
    """A request of a session.

    Attributes:
        messages: The conversation up to the user's wish.
        max_tokens: Tokens of the reply at most.
        prediction: The last version of the file in the conversation, or empty if there is none.
        recorded: The recorded reply, or empty if there is none.
    """

    messages: tuple[dict[str, str], ...]
    max_tokens: int
    prediction: str
    recorded: str


@dataclass(frozen=True)
class Session:
    """A session; both sides are asked the same."""

    name: str
    requests: tuple[Request, ...]


def read_sessions(path: Path) -> list[Session]:
    """Return the sessions of a file.

    Lines whose reply is drawn are left out: each side draws in its own way.
    """
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    return [Session(line["name"], tuple(requests_of(line))) for line in lines if is_greedy(line)]


def is_greedy(line: dict[str, Any]) -> bool:
    """Say of a line whether its replies are made of the likeliest tokens."""
    return not line.get("temperature")


def requests_of(line: dict[str, Any]) -> Iterator[Request]:
    """Yield the requests of a line in their order."""
    messages, limits = line["messages"], line["max_tokens"]
    if isinstance(limits, int):
        yield _request(messages, limits, "")
        return
    for at, limit in zip(_recorded(line), limits, strict=True):
        yield _request(messages[:at], limit, messages[at]["content"])


def record(path: Path, pair: Pair) -> None:
    """Write anew what is on record in a file: the replies of this model without drafts."""
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for line in lines:
        messages, limits = line["messages"], line["max_tokens"]
        for nth, at in enumerate(_recorded(line)):
            said = [ChatMessage.of_text(each["role"], each["content"]) for each in messages[:at]]
            greedy = SamplingParams(temperature=0.0)
            reply = generate(pair, said, strategy="off", sampling=greedy, max_tokens=600).finish()
            messages[at]["content"], limits[nth] = reply.text, len(reply.tokens)
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")


def _recorded(line: dict[str, Any]) -> range:
    """Return the places of the replies on record, which are every second message."""
    n = len(line["messages"])
    return range(n + 1 - 2 * len(line["max_tokens"]), n, 2)


def _request(messages: Sequence[dict[str, str]], max_tokens: int, recorded: str) -> Request:
    files = _FENCED.findall("\n".join(each["content"] for each in messages))
    return Request(tuple(messages), max_tokens, files[-1] if files else "", recorded)
