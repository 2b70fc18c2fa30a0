"""What a benchmark generates: the prompts that are shipped, or questions of the shown chat."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

from paceline.bench.workload import Workload
from paceline.chat.prompt import GradualPrompt, build_messages

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paceline.conversation import Conversation, Message
    from paceline.gui.viewmodels.reply_settings import ReplySettings

CHAT_TOKENS = 128
"""Tokens that a question of a chat is answered with at most; more change the ratios little."""
_NAME_LETTERS = 48
_SEED = 1


def n_questions(conversation: Conversation) -> int:
    """How many questions the shown path has."""
    return sum(message.role == "user" for message in conversation.path())


def chat_workloads(
    conversation: Conversation, settings: ReplySettings, n_last: int
) -> tuple[Workload, ...]:
    """Return the last questions of the shown path, each behind everything that came before it.

    Args:
        conversation: The chat.
        settings: How its replies are generated.
        n_last: How many questions.
    """
    path, prompt = conversation.path(), GradualPrompt()
    found = []
    for at, workload in _outlines(path, settings, n_last):
        prompt.take(path[: at + 1], settings.system_prompt, inf)
        found.append(replace(workload, messages=prompt.messages()))
    return tuple(found)


def chat_outline(
    conversation: Conversation, settings: ReplySettings, n_last: int
) -> tuple[Workload, ...]:
    """Return the same with the questions alone, to count by: a long chat costs next to nothing."""
    return tuple(workload for _, workload in _outlines(conversation.path(), settings, n_last))


def _outlines(
    path: Sequence[Message], settings: ReplySettings, n_last: int
) -> Iterator[tuple[int, Workload]]:
    """Yield the last questions with their places in the path."""
    asked = [at for at, message in enumerate(path) if message.role == "user"]
    for number, at in enumerate(asked, 1):
        if number > len(asked) - n_last:
            yield (
                at,
                Workload(
                    f"{number}. {_beginning(path[at].content)}".strip(),
                    build_messages(path[at : at + 1]),
                    max_tokens=min(settings.max_tokens, CHAT_TOKENS),
                    sampling=settings.sampling,
                    seed=_SEED if settings.seed is None else settings.seed,
                ),
            )


def _beginning(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _NAME_LETTERS else f"{words[: _NAME_LETTERS - 1]}…"
