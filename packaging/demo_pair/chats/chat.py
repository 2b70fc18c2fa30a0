"""A chat, and how it is written as ChatML and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

START, END, TEXT_END = "<|im_start|>", "<|im_end|>", "<|endoftext|>"
SPECIAL = (TEXT_END, START, END)
"""Their ids are 0, 1 and 2."""
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@dataclass(frozen=True)
class Chat:
    """Messages in turns.

    Attributes:
        kind: What it teaches, e.g. ``explain``; counts and evaluations go by it.
        turns: Role (system, user or assistant) and text of each message.
    """

    kind: str
    turns: tuple[tuple[str, str], ...]

    def text(self) -> str:
        """Return it as ChatML."""
        return "".join(f"{START}{role}\n{text}{END}\n" for role, text in self.turns)


def asked(kind: str, *texts: str) -> Chat:
    """Return a chat of texts in turns, the user's first."""
    roles = ("user", "assistant")
    return Chat(kind, tuple((roles[n % 2], text.strip()) for n, text in enumerate(texts)))


def write_chats(path: Path, chats: Iterable[Chat]) -> None:
    """Write one JSON object per line."""
    with path.open("w", encoding="utf-8") as file:
        for chat in chats:
            turns = [{"role": role, "content": text} for role, text in chat.turns]
            line = json.dumps({"kind": chat.kind, "messages": turns}, ensure_ascii=False)
            file.write(line + "\n")


def read_chats(path: Path) -> Iterator[Chat]:
    """Yield the chats of a file that `write_chats` wrote."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            data = json.loads(line)
            yield Chat(data["kind"], tuple((m["role"], m["content"]) for m in data["messages"]))
