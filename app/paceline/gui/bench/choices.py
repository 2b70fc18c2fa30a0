"""Strategies that a benchmark can compare here, and questions of the shown chat. Pure functions.

Strategies come as contenders: the usual ones, the rest, and for some the reason why they cannot be
measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf

from paceline.bench.workload import Workload
from paceline.chat.prompt import GradualPrompt, KnownOf, build_messages, nothing_known
from paceline.conversation import Conversation, Message
from paceline.engine.draft.strategy import strategy_named
from paceline.gui.bench.words import PLAIN, title_of
from paceline.gui.kit.translation import translator
from paceline.gui.state.speculation import GROUPS, SpeculationModel
from paceline.messages import Chat
from paceline.params import ReplySettings

USUAL = (PLAIN, "auto", "draft:n_max=3", "draft:n_max=8", "suffix", "suffix+draft")
"""Strategies that are ticked at first."""
LENGTHS = (1, 2, 4, 6, 12)
"""Further draft lengths, in the folded part."""
CHAT_TOKENS = 128
"""Maximum length of replies to a chat's questions, in tokens; longer ones change ratios little."""
_NAME_LETTERS = 48
_SEED = 1

_tr = translator("BenchChoices")


def n_questions(conversation: Conversation) -> int:
    """Return the number of questions on the shown path."""
    return sum(message.role == "user" for message in conversation.path())


def chat_workloads(
    conversation: Conversation,
    settings: ReplySettings,
    n_last: int,
    known: KnownOf = nothing_known,
) -> tuple[Workload, ...]:
    """Return the last questions of the shown path, each after everything that came before it.

    Args:
        conversation: The chat.
        settings: Settings of its replies.
        n_last: Number of questions.
        known: Returns the record of a reply.
    """
    path, prompt = conversation.path(), GradualPrompt()
    found = []
    for at, workload in _outlines(path, settings, n_last):
        prompt.take(path[: at + 1], settings.system_prompt, inf, known)
        found.append(replace(workload, prompt=Chat(prompt.messages())))
    return tuple(found)


def chat_outline(
    conversation: Conversation, settings: ReplySettings, n_last: int
) -> tuple[Workload, ...]:
    """Return the same with the questions alone, for counting: cheap even in a long chat."""
    return tuple(workload for _, workload in _outlines(conversation.path(), settings, n_last))


def _outlines(
    path: Sequence[Message], settings: ReplySettings, n_last: int
) -> Iterator[tuple[int, Workload]]:
    """Yield the last questions with their positions in the path."""
    asked = [at for at, message in enumerate(path) if message.role == "user"]
    for number, at in enumerate(asked, 1):
        if number > len(asked) - n_last:
            yield (
                at,
                Workload(
                    f"{number}. {_beginning(path[at].text)}".strip(),
                    Chat(build_messages(path[at : at + 1])),
                    max_tokens=min(settings.max_tokens, CHAT_TOKENS),
                    sampling=settings.sampling,
                    seed=_SEED if settings.seed is None else settings.seed,
                ),
            )


def _beginning(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _NAME_LETTERS else f"{words[: _NAME_LETTERS - 1]}…"


@dataclass(frozen=True, slots=True)
class Contender:
    """One strategy that can be ticked.

    Attributes:
        strategy: Its text.
        title: Its name for users.
        summary: A sentence about what it does.
        is_usual: Whether it is shown above the fold.
        obstacle: Why it cannot be measured here, or empty if it can.
    """

    strategy: str
    title: str
    summary: str
    is_usual: bool
    obstacle: str = ""

    @property
    def is_needed(self) -> bool:
        """Return whether all others are compared with it."""
        return self.strategy == PLAIN


def contenders(
    speculation: SpeculationModel, *, can_rollback: bool = True
) -> tuple[Contender, ...]:
    """Return all strategies that can be compared, the usual ones first.

    Args:
        speculation: All strategies, and the chosen one.
        can_rollback: Whether the loaded target can roll tokens back.
    """
    found: dict[str, bool] = {}
    for strategy in USUAL:
        found.setdefault(strategy, True)
    found.setdefault(speculation.text, True)
    for strategy in _further(speculation):
        found.setdefault(strategy, False)
    return tuple(
        _contender(speculation, strategy, is_usual=is_usual, can_rollback=can_rollback)
        for strategy, is_usual in found.items()
        if speculation.knows(strategy_named(strategy))
    )


def _further(speculation: SpeculationModel) -> Iterator[str]:
    yield "draft:n_max=auto"
    for length in LENGTHS:
        yield f"draft:n_max={length}"
    for group in GROUPS:
        for choice in speculation.choices(group):
            yield choice.name


def _contender(
    speculation: SpeculationModel, strategy: str, *, is_usual: bool, can_rollback: bool
) -> Contender:
    choice = speculation.choice_for(strategy_named(strategy))
    obstacle = ""
    if strategy != PLAIN:
        obstacle = speculation.obstacle(choice.name)
        if not can_rollback:
            obstacle = _tr("This model cannot take tokens back, so nothing can be drafted for it.")
    title = title_of(strategy)
    if strategy == speculation.text and strategy not in USUAL:
        title = _tr("{}, as in the panel").format(title)
    return Contender(strategy, title, _summary(speculation, strategy), is_usual, obstacle)


def _summary(speculation: SpeculationModel, strategy: str) -> str:
    if strategy == PLAIN:
        return _tr("Everything is compared with this, so it is always measured.")
    return speculation.choice_for(strategy_named(strategy)).summary
