"""A guard around a drafter: it is counted, timed, and unable to cost a reply.

Drafters may come from plug-ins, and none of them is needed for the text. So an exception of one
ends drafting for the reply and nothing more, and what it proposes is cut to tokens that exist and
converted to plain ints and floats before it is used.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar

from paceline.engine.draft.base import (
    NO_DRAFT,
    Draft,
    Drafter,
    DrafterInfo,
    Extender,
    Paced,
    Settings,
    Tunable,
    Workbench,
)
from paceline.engine.stats import DrafterMeter, TurnMeter
from paceline.errors import CancelledError

P = ParamSpec("P")
T = TypeVar("T")

_log = logging.getLogger(__name__)
_clock = time.perf_counter


class GuardedDrafter:
    """One drafter at work in one reply.

    Attributes:
        info: What it is.
        failure: What it raised, if it broke; it is asked for nothing any more then.

    Raises:
        UserError: The strategy cannot work here, e.g. without a draft model.
    """

    def __init__(
        self, info: DrafterInfo, settings: Settings, bench: Workbench, meter: TurnMeter
    ) -> None:
        self.info = info
        self.failure: Exception | None = None
        self._n_vocab = bench.vocab.n_tokens
        self._eog = bench.eog
        self._turn_meter = meter
        self._has_begun = False
        self._drafter: Drafter = info.make(bench, settings)
        # Asked once: a look at a protocol takes microseconds, and every step would take it.
        self._extender = self._drafter if isinstance(self._drafter, Extender) else None
        self._paced = self._drafter if isinstance(self._drafter, Paced) else None

    @property
    def may_draft(self) -> bool:
        """Whether it is worth asking."""
        return self.info.family != "off" and self.failure is None

    def propose(self, history: Sequence[int], n_prompt: int, n_max: int) -> Draft:
        """Return a sound proposal of at most `n_max` tokens.

        Raises:
            CancelledError: The user stopped the turn.
        """
        self._begin(history, n_prompt)
        return self._ask(self._sound_proposal, n_max)

    def extend(
        self, history: Sequence[int], n_prompt: int, ahead: Sequence[int], n_max: int
    ) -> Draft:
        """Return a sound proposal for what follows `ahead`; nothing where it cannot extend."""
        if self._extender is None:
            return NO_DRAFT
        self._begin(history, n_prompt)
        return self._ask(self._sound_extension, self._extender, ahead, n_max)

    def backlog(self, history: Sequence[int], n_prompt: int) -> int:
        """Return how many tokens it would have to read before it can draft, at least 1."""
        self._begin(history, n_prompt)
        return 1 if self._paced is None else self._guard(_backlog_of, self._paced) or 1

    @property
    def n_unread(self) -> int:
        """Tokens before these to be read as well, once it is to know the whole history."""
        return self._paced.n_unread if self._paced is not None else 0

    def propose_while(
        self,
        history: Sequence[int],
        n_prompt: int,
        n_max: int,
        goes_on: Callable[[float | None], bool],
        n_read: int,
    ) -> Draft:
        """Return a sound proposal that ends after the token to which `goes_on` says no.

        The last `n_read` tokens of the history are read before, see `Paced`.

        `goes_on` gets each token's confidence in turn. A drafter that cannot be stopped on its
        way is cut there.

        Raises:
            CancelledError: The user stopped the turn.
        """
        self._begin(history, n_prompt)
        if self._paced is not None:
            return self._ask(self._sound_paced, self._paced, n_max, goes_on, n_read)
        draft = self._ask(self._sound_proposal, n_max)
        sure = draft.confidences or (None,) * len(draft.tokens)
        n = next((i for i, c in enumerate(sure, 1) if not goes_on(c)), len(sure))
        return Draft(draft.tokens[:n], draft.confidences[:n])

    @property
    def n_decoded(self) -> int:
        """Tokens that its model has decoded so far; 0 where it tells nothing of that."""
        return self._paced.n_decoded if self._paced is not None else 0

    def tune(self, settings: Settings) -> bool:
        """Give it other settings; False when it has to be made again for them."""
        if self.failure is not None or not isinstance(self._drafter, Tunable):
            return False
        self._guard(self._drafter.tune, settings)
        return self.failure is None

    def observe(self, n_drafted: int, n_accepted: int, first: int = 0) -> None:
        """Let it see what a step committed, and count its proposal, if it made one.

        Args:
            n_drafted: Tokens of its own in the verified draft.
            n_accepted: How many of them were accepted.
            first: Place of the first of them in the draft.
        """
        if not self._has_begun:
            return
        if not n_drafted:
            self._guard(self._drafter.observe, None)
        else:
            began = _clock()
            self._guard(self._drafter.observe, n_accepted)
            meter = self._meter()
            meter.count_draft(n_drafted, n_accepted, first)
            meter.n_accept += 1
            meter.accept_s += _clock() - began

    def close(self) -> None:
        """Close the drafter; a failure is kept."""
        self._guard(self._drafter.close)

    def _begin(self, history: Sequence[int], n_prompt: int) -> None:
        if self._has_begun:
            return
        self._has_begun = True
        began = _clock()
        self._guard(self._drafter.begin, history, n_prompt)
        meter = self._meter()
        meter.n_begin += 1
        meter.begin_s += _clock() - began

    def _ask(self, call: Callable[P, Draft], *args: P.args, **kwargs: P.kwargs) -> Draft:
        began = _clock()
        draft = self._guard(call, *args, **kwargs) or NO_DRAFT
        meter = self._meter()
        meter.n_draft += 1
        meter.draft_s += _clock() - began
        return draft

    def _meter(self) -> DrafterMeter:
        return self._turn_meter.drafter(self.info.id)

    def _guard(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
        """Return what the call gives; None once the drafter has failed, now or before."""
        if self.failure is not None:
            return None
        try:
            return call(*args, **kwargs)
        except CancelledError:
            raise
        except Exception as error:  # noqa: BLE001  see the module's docstring
            self._fail(error)
            return None

    def _fail(self, error: Exception) -> None:
        self.failure = error
        try:  # it may hold a model's context
            self._drafter.close()
        except Exception as second:  # noqa: BLE001  the first failure is the one to tell
            error.__context__ = second

    def _sound_proposal(self, n_max: int) -> Draft:
        return self._sound(self._drafter.propose(n_max), n_max)

    def _sound_paced(
        self, drafter: Paced, n_max: int, goes_on: Callable[[float | None], bool], n_read: int
    ) -> Draft:
        return self._sound(drafter.propose_while(n_max, goes_on, n_read), n_max)

    def _sound_extension(self, drafter: Extender, ahead: Sequence[int], n_max: int) -> Draft:
        return self._sound(drafter.extend(ahead, n_max), n_max)

    def _sound(self, draft: Draft, n_max: int) -> Draft:
        """Cut to tokens that exist, and after the first that ends a generation."""
        if draft is NO_DRAFT or len(draft.tokens) == 0:  # an array has no truth value
            return NO_DRAFT
        tokens = list(map(int, draft.tokens[:n_max]))
        if min(tokens) < 0 or max(tokens) >= self._n_vocab or not self._eog.isdisjoint(tokens):
            tokens = tokens[: self._n_sound(tokens)]
        return Draft(tokens, _sound_confidences(draft.confidences, len(tokens)))

    def _n_sound(self, tokens: Sequence[int]) -> int:
        for i, token in enumerate(tokens):
            if not 0 <= token < self._n_vocab:
                return i
            if token in self._eog:
                return i + 1
        return len(tokens)


def _backlog_of(drafter: Paced) -> int:
    return drafter.n_backlog


def _sound_confidences(given: Sequence[float], n: int) -> Sequence[float]:
    """Return `n` numbers from 0 to 1, or nothing where one of them is none or is missing."""
    confidences = list(map(float, given[:n]))
    if len(confidences) != n or not n or math.isnan(sum(confidences)):
        return ()
    if min(confidences) < 0 or max(confidences) > 1:
        return [min(max(c, 0.0), 1.0) for c in confidences]
    return confidences
