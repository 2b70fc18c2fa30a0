"""A drafter behind a guard: counted, timed, and unable to cost a reply.

Drafters may be anybody's (plug-ins), and none of them is needed for the text. So whatever one
raises ends drafting for the reply and nothing else, and what it proposes is cut to tokens that
exist and brought into plain ints and floats before anybody relies on it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar

from paceline.engine.drafters.base import NO_DRAFT, Draft, Drafter, Workbench
from paceline.engine.drafters.registry import Strategy
from paceline.engine.stats import DrafterMeter, TurnMeter
from paceline.errors import CancelledError

P = ParamSpec("P")
T = TypeVar("T")

_clock = time.perf_counter


class GuardedDrafter:
    """One drafter at work in one reply.

    Attributes:
        info: What it is.
        failure: What it raised, if it broke; it is asked for nothing any more then.

    Raises:
        UserError: The strategy cannot work here, e.g. without a draft model.
    """

    def __init__(self, strategy: Strategy, bench: Workbench, meter: TurnMeter) -> None:
        self.info = strategy.info
        self.failure: Exception | None = None
        self._n_vocab = bench.vocab.n_tokens
        self._turn_meter = meter
        self._has_begun = False
        self._drafter: Drafter = strategy.make(bench)

    @property
    def may_draft(self) -> bool:
        """Whether it is worth asking."""
        return self.info.family != "off" and self.failure is None

    def propose(self, history: Sequence[int], n_prompt: int, n_max: int) -> tuple[Draft, float]:
        """Return a sound proposal of at most `n_max` tokens, and the seconds it took.

        Raises:
            CancelledError: The user stopped the turn.
        """
        meter = self._meter()
        began = _clock()
        if not self._has_begun:
            self._has_begun = True
            self._guard(self._drafter.begin, history, n_prompt)
            meter.n_begin += 1
            meter.begin_s += _clock() - began
        draft_began = _clock()
        draft = self._guard(self._sound_proposal, n_max) or NO_DRAFT
        now = _clock()
        meter.n_draft += 1
        meter.draft_s += now - draft_began
        return draft, now - began

    def observe(self, n_drafted: int, n_accepted: int) -> None:
        """Let it see what a step committed, and count its proposal, if it made one."""
        if not self._has_begun:
            return
        began = _clock()
        self._guard(self._drafter.observe, n_accepted if n_drafted else None)
        if n_drafted:
            meter = self._meter()
            meter.count_draft(n_drafted, n_accepted)
            meter.n_accept += 1
            meter.accept_s += _clock() - began

    def close(self) -> None:
        """Let it go."""
        self._guard(self._drafter.close)

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
        draft = self._drafter.propose(n_max)
        if draft is NO_DRAFT:
            return draft
        tokens = [int(token) for token in draft.tokens[:n_max]]
        for i, token in enumerate(tokens):
            if not 0 <= token < self._n_vocab:
                tokens = tokens[:i]
                break
        return Draft(tokens, [float(c) for c in draft.confidences[: len(tokens)]])
