"""Times single decodes that leave a context as it was.

A width is measured by decoding so many tokens at the tail of what the context holds and taking
them back, so that the next reply finds the same cells. Twice in a row, because the first decode of
another width builds its graph again; only the second one counts. The tokens are the context's own
last ones, since a mixture of experts reads other weights for a text than for random tokens.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from paceline.engine.auto.context_cost import USUAL_SHARE
from paceline.engine.measure.known import BACKLOG
from paceline.engine.model.context import CachedContext
from paceline.engine.model.threads import Clock, own_clock
from paceline.engine.pair import LoadedPair
from paceline.engine.sample.sampling import Sampler
from paceline.params import SamplingParams

WIDTHS = (1, 2, 4, 8, 3, 5, 6, 12, 16, 9, 17, 33)
"""Most useful first: cliffs were seen beyond 4 and 8, and lookups draft far."""
_N_FIRST = 4  # widths of the target before the draft model has its turn

MOST_SLOPE = 0.01
"""Measured with the smallest models, whose weights lie in the CPU's cache: 0.007."""
WIDE = 4
"""Tokens of the batch that shows what the context costs each row."""
_LEAST_MORE = 128
_PIECE = 128
_N_SLOPE = 3
_LEAST_ADDED = 0.05


@dataclass(eq=False)
class Item:
    """One width of one model.

    Attributes:
        context: The model's.
        width: Tokens of the batch.
        is_draft: Whether it is the draft model's, which needs one row alone.
        seconds: The decodes that count.
        first_s: Those that came after other widths, so that their graphs were built.
    """

    context: CachedContext
    width: int
    is_draft: bool = False
    seconds: list[float] = field(default_factory=list)
    first_s: list[float] = field(default_factory=list)

    @property
    def has_room(self) -> bool:
        """Whether so many tokens fit after what the context holds, and can be taken back."""
        if self.context.tokens and not self.context.model.can_rollback:
            return False
        return len(self.context.tokens) + self.width <= self.context.n_ctx


def pair_clock(pair: LoadedPair) -> Clock:
    """Return the clock that tells best what decodes of a pair take."""
    own = own_clock(pair.target.model, pair.draft.model if pair.draft else None)
    return own or time.perf_counter


class DecodeTimer:
    """Times single decodes that leave nothing behind; says which of them count.

    Args:
        clock: Seconds that only grow; they are what decodes are said to take.
        limits: The same for limits; None: `clock`.
    """

    def __init__(self, clock: Clock = time.perf_counter, limits: Clock | None = None) -> None:
        self._clock = clock
        self._limits = limits or clock
        self._sampler = Sampler(SamplingParams(), 0)
        self._last: Item | None = None
        self._native_s = 0.0
        self._n_alike = 0

    def run(self, item: Item) -> bool:
        """Decode once, draw a token as a step would, and note what it took.

        Returns:
            Whether it counts: false where the graph was not warm yet.

        Raises:
            CancelledError: The flag was set; the context is as before.
            EngineError: The model failed; the context is as before, or empty.
        """
        context = item.context
        model = context.model
        is_alike = item is self._last and model.native_s == self._native_s
        n_held = len(context.tokens)
        tokens = _tokens(context, item.width)
        self._last = None
        began = self._clock()
        try:
            if item.is_draft:
                self._sampler.draft(context.feed(tokens, 1)[0], 0)
            else:
                self._sampler.sample(context.feed(tokens, item.width)[0], 0)
            seconds = self._clock() - began
        finally:
            context.rollback(n_held)
        self._last, self._native_s = item, model.native_s
        self._n_alike = self._n_alike + 1 if is_alike else 0
        if not is_alike:
            item.first_s.append(seconds)
        # A GPU's driver records a graph when it comes for the second time.
        counts = self._n_alike >= (2 if model.info.n_gpu_layers else 1)
        if counts:
            item.seconds.append(seconds)
        return counts

    def take(self, item: Item, n: int = 1) -> float | None:
        """Decode until `n` more times are there; returns their median, None without room."""
        if not item.has_room:
            return None
        for _ in range(n):
            while not self.run(item):
                pass
        return statistics.median(item.seconds[-n:])

    def context_cost(
        self, context: CachedContext, n_more: int, limit_s: float
    ) -> tuple[float, float] | None:
        """Return slope and share of what the context adds to a step; see `ContextCost`.

        Args:
            context: Holds the same tokens afterwards.
            n_more: Tokens that are put after them for a while, fewer where there is less room.
            limit_s: Seconds after which no more of them are put there.

        Returns:
            None where too few find room to tell.

        Raises:
            CancelledError: The flag was set.
            EngineError: The model failed; the context is as before, or empty.
        """
        if not context.model.can_rollback:
            return None
        n_held = len(context.tokens)
        n_more = min(n_more, context.n_ctx - n_held - WIDE)
        if n_more < _LEAST_MORE:
            return None
        tokens = _tokens(context, n_more)
        began = self._limits()
        try:
            here = self.plain_and_wide(context)
            for done in range(0, n_more, _PIECE):
                if done and self._limits() - began > limit_s:
                    break
                context.feed(tokens[done : done + _PIECE], 0)
            n_there = len(context.tokens)
            there = self.plain_and_wide(context)
        finally:
            self._last = None
            context.rollback(n_held)
        if here is None or there is None:
            return None
        return between(n_held, here, n_there, there)

    def plain_and_wide(
        self, context: CachedContext, n_each: int = _N_SLOPE
    ) -> tuple[float, float] | None:
        """Return the seconds of one token and of `WIDE` in a batch; None without room.

        Raises and leaves behind what `run` does.
        """
        plain, wide = Item(context, 1), Item(context, WIDE)
        if self.take(plain, n_each) is None or self.take(wide, n_each) is None:
            return None
        return min(plain.seconds), min(wide.seconds)  # what comes in between makes them slower


def between(
    n_here: int, here: tuple[float, float], n_there: int, there: tuple[float, float]
) -> tuple[float, float] | None:
    """Return slope and share of what the context adds (`ContextCost`), by two of its lengths.

    Args:
        n_here: The shorter one.
        here: What `DecodeTimer.plain_and_wide` gave there.
        n_there: The longer one.
        there: The same.

    Returns:
        None where they are too alike to tell.
    """
    if n_there - n_here < _LEAST_MORE:
        return None
    # here = A (1 + b n_here) and there = A (1 + b n_there), solved for b
    below = here[0] * n_there - there[0] * n_here
    added = there[0] - here[0]
    if below <= 0:  # no step of any length takes less than nothing
        return None
    slope = min(max(added / below, 0.0), MOST_SLOPE)
    if added < _LEAST_ADDED * here[0]:  # too little to be shared out
        return slope, USUAL_SHARE
    share = ((there[1] - here[1]) / added - 1.0) / (WIDE - 1)
    return slope, min(max(share, 0.0), 1.0)


def items_of(pair: LoadedPair) -> list[Item]:
    """Return what there is to measure, in order: nothing of a model that takes no tokens back."""
    target, draft = pair.target, pair.draft
    if not target.model.max_rollback:
        return []
    # Widths between those that are in use cost what the next one does.
    widths = target.widths
    most = min(target.model.max_rows, target.model.max_rollback)
    in_use = set(widths.every) & set(range(most + 1))
    items = [
        Item(target, width)
        for width in WIDTHS
        if width == 1 or (width in in_use and width > widths.lowest)
    ]
    if draft and draft.model.max_rollback:
        items.insert(_N_FIRST, Item(draft, 1, is_draft=True))
        items.append(Item(draft, BACKLOG, is_draft=True))
    return items


def _tokens(context: CachedContext, n: int) -> Sequence[int]:
    """Return tokens to decode: the context's last ones, or any where it holds too few."""
    if len(context.tokens) >= n:
        return context.tokens[-n:]
    return context.any_tokens(n)
