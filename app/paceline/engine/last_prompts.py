"""The last prompts, to explain why parts of the next one are read again.

A text that is read twice was in an earlier prompt of the same chat or program. So the last prompts
are held, each with the tokens in the context after its reply. The next prompt is compared with the
most similar one of the same owner: the explanation quotes both, and never a text of another owner.
Prompts are held in memory only, and dropped with their owner's states.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from paceline.content import ChatMessage, Prompt
from paceline.engine.model.backend import Vocabulary
from paceline.engine.model.context import CachedContext
from paceline.engine.model.kept_states import KeptStates
from paceline.engine.prompt.difference import (
    PromptChange,
    Sent,
    difference,
    quoted,
    written_otherwise,
)
from paceline.figures import Reread, RereadCode
from paceline.messages import Chat, StateOwner
from paceline.sentence import Sentence, sentence

MIN_REREAD = 64
"""Number of tokens that may be read again without an explanation."""
_MAX_PROMPTS = 24
_MAX_TOKENS = 1 << 20
"""Maximum number of tokens of all prompts together: 4 MB, and about as much for their texts."""
_MIN_SHARED = 0.5
"""Minimum share of a prompt that must be in a longer one for that to replace it."""
_STRETCH_TOKENS = 16
"""Number of tokens of a stretch that is searched in the other text."""
_MAX_TRIES = 24
_GROWTH = 1.6
"""Growth of the distance between successive tries, so that they reach the end of any prompt."""
_N_QUOTED = 8
_TOKEN_CHARS = 4
"""Typical number of characters per token."""

_Ids = NDArray[np.int32]


@dataclass(frozen=True)
class NewPrompt:
    """A prompt that is about to be read.

    Attributes:
        owner: Owner of the text.
        prompt: The prompt as sent.
        n_cut: See `FittedPrompt`.
        tokens: All tokens of the prompt.
        n_reused: Number of them that need not be read.
    """

    owner: StateOwner
    prompt: Prompt
    n_cut: int
    tokens: Sequence[int]
    n_reused: int

    @cached_property
    def ids(self) -> _Ids:
        """All of its tokens, int32 [n]."""
        return _as_ids(self.tokens)

    @cached_property
    def messages(self) -> frozenset[ChatMessage]:
        """Its messages; empty if it is not a conversation."""
        return frozenset(self.prompt.messages if isinstance(self.prompt, Chat) else ())

    def then(self, tokens: Sequence[int]) -> _Ids:
        """Return the context's tokens after the reply, which may have ended during the prefill."""
        if len(tokens) < len(self.tokens):
            return _as_ids(tokens)
        return np.concatenate((self.ids, _as_ids(tokens[len(self.tokens) :])))


@dataclass(frozen=True)
class _Read:
    """A prompt that was read, with the reply to it."""

    new: NewPrompt
    reply: str
    ids: _Ids
    model: str
    n_load: int

    def is_of(self, owner: StateOwner, model: str) -> bool:
        """Return whether it belongs to this owner and was read by this model."""
        return self.new.owner == owner and self.model == model

    def likeness(self, later: NewPrompt) -> int:
        """Return approximately how many tokens it shares with a later prompt."""
        shared = sum(len(each.text) for each in self.new.messages & later.messages)
        return _n_same(self.ids, later.ids) + shared // _TOKEN_CHARS


class LastPrompts:
    """Holds the last prompts and finds why one is read again; for the engine's thread."""

    def __init__(self) -> None:
        self._read: list[_Read] = []
        self._running: NewPrompt | None = None
        self._n_load = 0

    def begin_load(self) -> None:
        """Note that the contexts were freed."""
        self._n_load += 1

    def begin(
        self, new: NewPrompt, context: CachedContext, states: KeptStates | None
    ) -> Reread | None:
        """Return the reason why a part of a prompt is read again, or None if hardly anything is.

        Args:
            new: The prompt.
            context: The target's context with the reused tokens.
            states: The stored states, or None if none are stored.
        """
        self._running = new
        if len(new.tokens) - new.n_reused < MIN_REREAD:
            return None
        found = [each for each in self._read if each.is_of(new.owner, context.model.facts_key)]
        if not found:
            return None
        like = max(reversed(found), key=lambda each: each.likeness(new))
        was, now = like.ids, new.ids
        n_same = min(_n_same(was, now), len(now) - 1)
        n_lost = max(n_same - new.n_reused, 0)
        n_moved = _n_moved(was, now, max(n_same, new.n_reused))
        if max(n_lost, n_moved) < MIN_REREAD:
            return None
        if n_lost >= n_moved:
            is_cut = n_same < len(was)
            code, why = self._why_lost(like, context, states, n_lost, is_cut=is_cut)
            return _reread(n_lost, PromptChange(code, why))
        before = Sent(like.new.prompt, like.new.n_cut, like.reply)
        changed = difference(before, Sent(new.prompt, new.n_cut))
        if changed is None:
            change = _of_tokens(context.model.vocab, was[n_same:], now[n_same:])
            changed = written_otherwise(new.prompt, change)
        return _reread(n_moved, changed)

    def _why_lost(
        self,
        read: _Read,
        context: CachedContext,
        states: KeptStates | None,
        n_lost: int,
        *,
        is_cut: bool,
    ) -> tuple[RereadCode, Sentence]:
        """Return the reason why text that was read is no longer in the context.

        Args:
            read: The earlier prompt.
            context: The target's context.
            states: The stored states, or None, as in `begin`.
            n_lost: Number of tokens that are read again.
            is_cut: Whether the new text diverges before the end of what was read.
        """
        if read.n_load != self._n_load:
            return "loaded", sentence("the models were loaded anew")
        if n_lost < context.prefill_piece:
            return "piece", sentence("exact mode goes on from whole pieces of a prompt alone")
        if is_cut and not context.model.n_block:
            return "whole", sentence(
                "this model's memory cannot be cut, and goes back to a few places alone"
            )
        if states is None or not states.most_bytes:
            return "used", sentence("the model read something else meanwhile, and nothing is kept")
        return "used", sentence(
            "the model read something else meanwhile, and there was no room to keep this"
        )

    def end(self, context: CachedContext, reply: str) -> None:
        """Note the text that was read, with the reply.

        Args:
            context: The target's context after the reply.
            reply: The whole text of the reply.
        """
        new, self._running = self._running, None
        if new is None or not context.tokens:
            return
        model = context.model.facts_key
        ids = new.then(context.tokens)
        self._read = [
            each
            for each in self._read
            if not each.is_of(new.owner, model)
            or len(each.ids) > len(ids)
            or each.likeness(new) < _MIN_SHARED * len(each.ids)
        ]
        new = replace(new, tokens=())  # a list takes nine times as much memory
        self._read.append(_Read(new, reply, ids, model, self._n_load))
        n_tokens = sum(len(each.ids) for each in self._read)
        while len(self._read) > _MAX_PROMPTS or (n_tokens > _MAX_TOKENS and len(self._read) > 1):
            n_tokens -= len(self._read.pop(0).ids)

    def forget(self, owners: Sequence[str] = ()) -> None:
        """Drop the prompts of these owners; all prompts without any owner."""
        self._read = [each for each in self._read if owners and each.new.owner.name not in owners]
        if self._running is not None and (not owners or self._running.owner.name in owners):
            self._running = None


def _reread(n_tokens: int, found: PromptChange) -> Reread:
    words = sentence("{n:,} tokens were read again, since {why}.", n=n_tokens, why=found.why)
    return Reread(found.code, n_tokens, words, found.pattern)


def _of_tokens(vocab: Vocabulary, was: _Ids, now: _Ids) -> Sentence:
    """Return the first different tokens of two texts, quoted."""
    texts = [
        b"".join(vocab.piece(token) for token in ids[:_N_QUOTED].tolist() if token >= 0).decode(
            "utf-8", "replace"
        )
        for ids in (was, now)
    ]
    return quoted(*texts)


def _as_ids(tokens: Sequence[int]) -> _Ids:
    return np.frombuffer(array("i", tokens), np.int32)


def _n_same(some: _Ids, other: _Ids) -> int:
    """Return how many leading tokens are equal."""
    n = min(len(some), len(other))
    differs = some[:n] != other[:n]
    first = int(differs.argmax()) if n else 0
    return first if n and differs[first] else n


def _n_moved(was: _Ids, now: _Ids, first: int) -> int:
    """Return how many tokens occur in both texts in the same order but at other places.

    The count is a lower bound: short stretches, and those after a very long difference, are not
    found. It searches the text about twenty times at most.

    Args:
        was: The earlier text.
        now: The later one.
        first: Index from which on both are searched.
    """
    at_old, at, n_found, step = first, first, 0, 1.0
    for _ in range(_MAX_TRIES):
        if at + _STRETCH_TOKENS > len(now):
            break
        place = _find(was, now[at : at + _STRETCH_TOKENS], at_old)
        if place < 0:
            at += int(step)
            step *= _GROWTH
            continue
        n_back = _n_same(was[at_old:place][::-1], now[first:at][::-1])
        n_on = _n_same(was[place:], now[at:])
        n_found += n_back + n_on
        first = at = at + n_on
        at_old, step = place + n_on, 1.0
    return n_found


def _find(ids: _Ids, stretch: _Ids, first: int) -> int:
    """Return the index of a stretch of tokens from `first` on, or -1 if it does not occur."""
    last = len(ids) - len(stretch) + 1
    if first >= last:
        return -1
    places = np.flatnonzero(ids[first:last] == stretch[0]) + first
    for i in range(1, len(stretch)):
        if not len(places):
            return -1
        places = places[ids[places + i] == stretch[i]]
    return int(places[0]) if len(places) else -1
