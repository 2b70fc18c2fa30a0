"""The interface of drafters: objects that propose tokens and observe which were accepted.

To add one, write a class with these methods, describe it by a `DrafterInfo`, and list that in
`registry.py`, or in `heads.py` if it drafts with a head; or publish the class under the entry-point
group ``paceline.drafters``. The decoder does not know which drafter it holds, and no drafter can
change the text: the target judges every token. It can only be slow, or useless.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

from paceline.engine.draft.lookups.earlier_texts import EarlierTexts
from paceline.engine.model.backend import Grammar, Vocabulary
from paceline.engine.model.context import CachedContext
from paceline.engine.sample.sampling import Sampler
from paceline.parameters import AUTO as AUTO  # noqa: PLC0414  exported for drafters
from paceline.parameters import Parameter as Parameter  # noqa: PLC0414


@dataclass(frozen=True, slots=True)
class Draft:
    """A proposal; `confidences`, 0..1, is empty or as long as `tokens`."""

    tokens: Sequence[int]
    confidences: Sequence[float] = ()

    @property
    def sure(self) -> Sequence[float | None]:
        """The confidence of each token, or None where there is none."""
        return self.confidences or (None,) * len(self.tokens)

    def first(self, n: int) -> Draft:
        """Return the first `n` tokens of it."""
        return Draft(self.tokens[:n], self.confidences[:n])


NO_DRAFT = Draft(())


class Drafter(Protocol):
    """Proposes the tokens that the target is likely to commit next.

    All calls come from the engine's thread, in the order begin, (propose, observe)*, close.
    """

    def begin(self, history: Sequence[int], n_prompt: int) -> None:
        """Start after a prefill, or in the middle of a reply when the user switches strategies.

        Args:
            history: Prompt and committed tokens. It is live and read-only: it grows before every
                `observe`, and its last token is the one that the target has not decoded yet. Where
                a prompt has a gap (a stretch without token ids), each of its cells is a negative
                number that occurs nowhere else (`TokenSequence`).
            n_prompt: Number of prompt tokens; the next token's position within the reply is
                ``len(history) - n_prompt``.
        """

    def propose(self, n_max: int) -> Draft:
        """Return up to `n_max` tokens that may follow the history; `n_max` is at least 1.

        Raises:
            CancelledError: The user stopped the turn; leave everything as it was.
        """

    def observe(self, n_accepted: int | None) -> None:
        """Observe what a step committed; the history already contains it.

        Args:
            n_accepted: Number of accepted tokens of this drafter's last proposal, or None if the
                step verified no proposal of this drafter.
        """

    def close(self) -> None:
        """End work on the turn, or give way to another drafter. `begin` may follow again.

        With Auto, the history may have grown since the last `observe`.
        """


@runtime_checkable
class Extender(Protocol):
    """A drafter that can also continue a draft of another one (all lookups)."""

    def extend(self, ahead: Sequence[int], n_max: int) -> Draft:
        """Return up to `n_max` tokens that may follow the history and then `ahead`.

        Called instead of or after `propose`, between two `observe`; an empty `ahead` is allowed.
        """


class Paced(Protocol):
    """A drafter whose every token takes time, so that the caller may decide when to stop.

    Attributes:
        n_decoded: Tokens that its model has decoded so far.
    """

    n_decoded: int

    @property
    def n_backlog(self) -> int:
        """Tokens of the history that it would have to decode first, including the pending ones."""

    @property
    def n_unread(self) -> int:
        """Tokens before the backlog that it must also read to know the whole history."""

    def propose_while(self, n_max: int, goes_on: Callable[[float], bool], n_read: int) -> Draft:
        """Propose tokens while `goes_on`, called with each token's confidence, returns True.

        First decodes the last `n_read` tokens of the history: the backlog, or fewer or more.

        The token for which `goes_on` returned False is part of the proposal. Called instead of
        `propose`; raises the same errors.
        """


@runtime_checkable
class Tunable(Protocol):
    """A drafter that accepts other settings in mid-turn without being made again."""

    def tune(self, settings: Settings) -> None:
        """Use these settings, a complete set within its ranges, from the next proposal on."""


@dataclass(frozen=True, slots=True)
class Workbench:
    """The objects that a drafter may use; given to its factory per turn or change of strategy.

    Attributes:
        vocab: The target's vocabulary.
        sampler: The target's sampler; a drafter with rows of its own takes a `twin`.
        draft: The draft model's context, or None if no draft model is loaded.
        eog: Ids that end a generation in this turn; empty if they are suppressed.
        chunk: Tokens per native call when a long text has to be decoded.
        grammar: The target's grammar in its present state, or None without one.
        earlier: Texts of earlier chats, or None if the turn may not use them.
        lookup_cache: The static lookup-cache file that the user chose, or None.
        replaced: Tokens of the reply that this one replaces, and of its other versions.
        repeats: Whether the first of these was drawn with this turn's noise.
        same_prompt: Whether it answered the same prompt, as far as is known.
        kept: Storage in memory that lives as long as the pair, for indexes that the next turn of
            the same chat can continue.
    """

    vocab: Vocabulary
    sampler: Sampler
    draft: CachedContext | None
    eog: frozenset[int]
    chunk: int
    grammar: Grammar | None = None
    earlier: EarlierTexts | None = None
    lookup_cache: Path | None = None
    replaced: Sequence[Sequence[int]] = ()
    repeats: bool = True
    same_prompt: bool = True
    kept: dict[str, object] = field(default_factory=dict)


Settings = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class DrafterInfo:
    """The description of a drafter for users, and its factory.

    Attributes:
        id: Its name in settings, command line, window and events.
        title: Two or three words.
        summary: One sentence about what it is good for.
        family: "off", "model" (a draft model), "lookup" (needs no model), or "auto" (a portfolio of
            the others, which makes no drafter of its own).
        parameters: Its settings.
        make: Makes one from the workbench and a complete set of settings.
    """

    id: str
    title: str
    summary: str
    family: Literal["off", "auto", "model", "lookup"]
    parameters: tuple[Parameter, ...]
    make: Callable[[Workbench, Settings], Drafter]
