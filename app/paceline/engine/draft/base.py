"""What a drafter is: something that proposes tokens and sees what became of them.

To add one, write a class with these methods, describe it by a `DrafterInfo`, and name that in
`registry.py`, or in `heads.py` where it drafts with a head; or publish the class through the
entry-point group ``paceline.drafters``. The decoder never asks which drafter it holds, and a
drafter can never change the text: the target judges every token. It can only be slow, or useless.
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
from paceline.parameters import AUTO as AUTO  # noqa: PLC0414  they are found here, too
from paceline.parameters import Parameter as Parameter  # noqa: PLC0414


@dataclass(frozen=True, slots=True)
class Draft:
    """A proposal. `confidences`, 0..1, is empty or as long as `tokens`."""

    tokens: Sequence[int]
    confidences: Sequence[float] = ()

    @property
    def sure(self) -> Sequence[float | None]:
        """Each token's confidence; None: not said."""
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
        """Start working after a prefill, or in the middle of a reply when the user switches.

        Args:
            history: Prompt and committed tokens. It is live and read-only: it grows before every
                `observe`, and its last token is the one that the target has not decoded yet. Where
                a prompt has a stretch without token ids, each of its cells is a negative number
                that no other place has (`TokenSequence`).
            n_prompt: How many of them are the prompt's; the next token's position within the
                reply is ``len(history) - n_prompt``.
        """

    def propose(self, n_max: int) -> Draft:
        """Return up to `n_max` tokens (at least 1 is asked for) that may follow the history.

        Raises:
            CancelledError: The user stopped the turn; leave everything as it was.
        """

    def observe(self, n_accepted: int | None) -> None:
        """See what a step committed; the history holds it now.

        Args:
            n_accepted: How many tokens of this drafter's last proposal were accepted; None when
                the step verified no proposal of this drafter.
        """

    def close(self) -> None:
        """The turn is over, or another drafter takes its place. `begin` may follow again.

        Where Auto drafts, the history may have grown since the last `observe`.
        """


@runtime_checkable
class Extender(Protocol):
    """A drafter that can also go on after what another one has drafted (all lookups)."""

    def extend(self, ahead: Sequence[int], n_max: int) -> Draft:
        """Return up to `n_max` tokens that may follow the history and then `ahead`.

        Called instead of or after `propose`, between two `observe`; an empty `ahead` is allowed.
        """


class Paced(Protocol):
    """A drafter whose every token takes time, so that the caller may say when to stop.

    Attributes:
        n_decoded: Tokens that its model has decoded so far.
    """

    n_decoded: int

    @property
    def n_backlog(self) -> int:
        """Tokens of the history that it would have to read first, the pending ones included."""

    @property
    def n_unread(self) -> int:
        """Tokens before the backlog to be read as well, once it is to know the whole history."""

    def propose_while(self, n_max: int, goes_on: Callable[[float], bool], n_read: int) -> Draft:
        """Propose as long as `goes_on`, called with each token's confidence, says so.

        Reads the last `n_read` tokens of the history before: its backlog, or less or more of it.

        The last token belongs to the proposal, also where `goes_on` said no to it. Instead of
        `propose`; raises the same.
        """


@runtime_checkable
class Tunable(Protocol):
    """A drafter that takes other settings in mid-turn without being made again."""

    def tune(self, settings: Settings) -> None:
        """Use these settings, a complete set within its ranges, from the next proposal on."""


@dataclass(frozen=True, slots=True)
class Workbench:
    """What a drafter may use; passed to its factory once per turn or change of strategy.

    Attributes:
        vocab: The target's tokens.
        sampler: The target's sampler; a drafter with rows of its own takes a `twin`.
        draft: The draft model's context; None when no draft model is loaded.
        eog: Ids that end a generation in this turn; empty when they are suppressed.
        chunk: Tokens per native call when a long text has to be decoded.
        grammar: The target's grammar in its present state; None when there is none.
        earlier: Texts of earlier chats; None where the turn may not use them.
        lookup_cache: The static lookup-cache file that the user chose; None without one.
        replaced: The tokens of the reply that this one replaces, and of its other versions.
        repeats: Whether the first of these was drawn with this turn's noise.
        same_prompt: Whether it answered the same prompt, as far as is known.
        kept: A shelf in memory that lives as long as the pair, for indexes that the next turn of
            the same chat can go on with.
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
    """A drafter for people, and how to make it.

    Attributes:
        id: The name used everywhere: settings, command line, window, events.
        title: Two or three words.
        summary: One sentence: what it is good for.
        family: "off", "model" (a draft model), "lookup" (needs no model), or "auto" (a portfolio of
            the others, which makes no drafter of its own).
        parameters: Its settings.
        make: Builds one from the workbench and a complete set of settings.
    """

    id: str
    title: str
    summary: str
    family: Literal["off", "auto", "model", "lookup"]
    parameters: tuple[Parameter, ...]
    make: Callable[[Workbench, Settings], Drafter]
