"""Measures the cost of decodes of each width, in idle time or at once by the command `Calibrate`.

In idle time every slice is one decode, which a command stops through the cancel flag. A load spends
at most the time of twelve plain steps, or a second, on all its slices together: what is still
missing then, such as the cost of a long context, is learned from real steps. Measurements of an
earlier load are only checked: if a plain step and a wide one take about as long as they did, the
others are trusted.

The command measures thoroughly, in rounds over all widths, so that a short disturbance affects each
of them at most once. Afterwards a longer text is put into the context, if that can be done quickly:
how much slower a step is there shows the cost of each token of the context.

A single width is measured by decoding that many tokens after what the context holds and removing
them again, so that the next reply finds the same cells. Each is decoded twice in a row, because the
first decode of another width rebuilds the graph; only the second one counts. A reply makes many
plain steps in a row, but only one or two of other widths: so a plain decode counts after several
more where decodes are short (1.41 ms for the demo pair's second one, 1.20 for its eighth). The
tokens are the context's own last ones, since a mixture of experts reads other weights for a text
than for random tokens.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from paceline.engine.auto.costs import DraftCosts
from paceline.engine.auto.tuning import TUNING
from paceline.engine.measure.known import BACKLOG_TOKENS, add_draft_costs, keep_costs
from paceline.engine.model.context import CachedContext
from paceline.engine.model.states import no_copies
from paceline.engine.model.threads import Clock, own_clock
from paceline.engine.model.tokens import last_ids
from paceline.engine.pair import LoadedPair
from paceline.engine.refusals import not_calibrated
from paceline.engine.sample.drawing import MakeDrawer
from paceline.engine.sample.sampling import Sampler
from paceline.errors import (
    CancelledError,
    ComputeFailedError,
    UserError,
)
from paceline.figures import WidthCost
from paceline.messages import Calibrated
from paceline.params import SamplingParams
from paceline.sentence import sentence

WIDTHS = (1, 2, 4, 8, 3, 5, 6, 12, 16, 9, 17, 33)
"""Widths to measure, in tokens, most useful first: cliffs were seen beyond 4 and 8, and lookups
draft far."""
_N_FIRST = 4  # widths of the target before the draft model has its turn
_SETTLED, _SETTLED_S = 8, 0.01
"""Number of plain decodes in a row, and their seconds, after which the next ones are no faster."""

WIDE = 4
"""Width of the batch that shows what the context costs each row, in tokens."""
_MIN_SLOPE_TOKENS = 128
_PIECE_TOKENS = 128
_N_SLOPE_TIMINGS = 3
_MIN_BACKLOG_STEPS = 1e-3
_MIN_ADDED_STEPS = 0.15  # plain steps; below that, noise would decide the share


@dataclass(eq=False)
class WidthTimings:
    """Timed decodes of one width of one model.

    Attributes:
        context: The model's context.
        width: Tokens of the batch.
        is_draft: Whether the model is the draft model, which needs only one row of logits.
        seconds: Durations of the decodes that count.
        first_s: Durations of decodes after another width, which built their graph; without the very
            first one where a device computes, which may compile programs for it.
    """

    context: CachedContext
    width: int
    is_draft: bool = False
    seconds: list[float] = field(default_factory=list)
    first_s: list[float] = field(default_factory=list)

    @property
    def on_device(self) -> bool:
        """Return whether devices hold layers of its model."""
        return self.context.model.info.n_gpu_layers > 0

    @property
    def has_room(self) -> bool:
        """Return whether a batch of this width fits into the context and can be removed again."""
        if self.context.tokens and not self.context.model.can_rollback:
            return False
        return len(self.context.tokens) + self.width <= self.context.n_ctx


def pair_clock(pair: LoadedPair) -> Clock:
    """Return the clock that measures decodes of a pair best."""
    own = own_clock(pair.target.model, pair.draft.model if pair.draft else None)
    return own or time.perf_counter


class DecodeTimer:
    """Times single decodes and removes them again; says which of them count.

    Args:
        clock: Monotonic seconds for timing decodes.
        limits: Monotonic seconds for time limits, or None for `clock`.
        make_drawer: Makes the drawer of rows, or None for the best installed one.
    """

    def __init__(
        self,
        clock: Clock = time.perf_counter,
        limits: Clock | None = None,
        make_drawer: MakeDrawer | None = None,
    ) -> None:
        self._clock = clock
        self._limits = limits or clock
        self._sampler = Sampler(SamplingParams(), 0, make_drawer=make_drawer)
        self._last: WidthTimings | None = None
        self._native_s = 0.0
        self._n_alike = 0
        self._alike_s = 0.0

    def run(self, item: WidthTimings) -> bool:
        """Decode once, draw a token as a step would, and note the time.

        Returns:
            Whether it counts: false where the graph was not warm yet, plain decodes had not
            settled, or the device may have compiled its programs.

        Raises:
            CancelledError: The flag was set; the context is as before.
            EngineError: The model failed; the context is as before, or empty.
        """
        context = item.context
        model = context.model
        is_alike = item is self._last and model.native_s == self._native_s
        n_held = len(context.tokens)
        tokens = _tokens(context, item.width)
        self._last, n_firsts = None, model.n_firsts
        began = self._clock()
        try:
            if item.is_draft:
                self._sampler.draft(context.feed(tokens, 1)[0], 0)
            else:
                self._sampler.sample(context.feed(tokens, item.width)[0], 0)
            seconds = self._clock() - began
        finally:
            context.rollback(n_held)
        if model.n_firsts != n_firsts:
            return False
        self._last, self._native_s = item, model.native_s
        if not is_alike:
            item.first_s.append(seconds)
            self._n_alike, self._alike_s = 0, 0.0
        else:
            self._n_alike += 1
        self._alike_s += seconds
        # A GPU's driver records a graph when it comes for the second time.
        counts = self._n_alike >= (2 if item.on_device else 1)
        if item.width == 1 and not item.is_draft:
            counts &= self._n_alike >= _SETTLED or self._alike_s >= _SETTLED_S
        if counts:
            item.seconds.append(seconds)
        return counts

    def take(self, item: WidthTimings, n: int = 1) -> float | None:
        """Decode until there are `n` more timings and return their median; None without room."""
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
            context: The context to measure in; holds the same tokens afterwards.
            n_more: Tokens to append temporarily; fewer where there is less room.
            limit_s: Seconds after which no more of them are appended.

        Returns:
            None where too few fit to show a difference.

        Raises:
            CancelledError: The flag was set.
            EngineError: The model failed; the context is as before, or empty.
        """
        if not context.model.can_rollback:
            return None
        n_held = len(context.tokens)
        n_more = min(n_more, context.n_ctx - n_held - WIDE)
        if n_more < _MIN_SLOPE_TOKENS:
            return None
        tokens = _tokens(context, n_more)
        began = self._limits()
        try:
            here = self.plain_and_wide(context)
            for done in range(0, n_more, _PIECE_TOKENS):
                if done and self._limits() - began > limit_s:
                    break
                context.feed(tokens[done : done + _PIECE_TOKENS], 0)
            n_there = len(context.tokens)
            there = self.plain_and_wide(context)
        finally:
            self._last = None
            context.rollback(n_held)
        if here is None or there is None:
            return None
        return between(n_held, here, n_there, there)

    def plain_and_wide(self, context: CachedContext) -> tuple[float, float] | None:
        """Return the seconds of one token and of `WIDE` in a batch, or None without room.

        Errors and the context afterwards are as for `run`.
        """
        plain, wide = WidthTimings(context, 1), WidthTimings(context, WIDE)
        if self.take(plain, _N_SLOPE_TIMINGS) is None or self.take(wide, _N_SLOPE_TIMINGS) is None:
            return None
        return min(plain.seconds), min(wide.seconds)  # interruptions only make them slower


def between(
    n_here: int, here: tuple[float, float], n_there: int, there: tuple[float, float]
) -> tuple[float, float] | None:
    """Return slope and share of what the context adds (`ContextCost`), from two of its lengths.

    Args:
        n_here: The shorter length, in tokens.
        here: Result of `DecodeTimer.plain_and_wide` there, in seconds.
        n_there: The longer length, in tokens.
        there: Result of `DecodeTimer.plain_and_wide` there, in seconds.

    Returns:
        None where they are too similar to show a difference.
    """
    if n_there - n_here < _MIN_SLOPE_TOKENS:
        return None
    # here = A (1 + b n_here) and there = A (1 + b n_there), solved for b
    below = here[0] * n_there - there[0] * n_here
    added = there[0] - here[0]
    if below <= 0:  # no step can take negative time
        return None
    slope = min(max(added / below, 0.0), TUNING.max_context_slope)
    if added < _MIN_ADDED_STEPS * here[0]:  # too little to be divided
        return slope, TUNING.context_share
    share = ((there[1] - here[1]) / added - 1.0) / (WIDE - 1)
    return slope, min(max(share, 0.0), 1.0)


def items_of(pair: LoadedPair) -> list[WidthTimings]:
    """Return the widths to measure, in order; none of a model that cannot remove tokens."""
    target, draft = pair.target, pair.draft
    if not target.model.max_rollback:
        return []
    # A width between those in use costs as much as the next wider one.
    widths = target.widths
    most = min(target.model.max_rows, target.model.max_rollback)
    in_use = set(widths.every) & set(range(most + 1))
    items = [
        WidthTimings(target, width)
        for width in WIDTHS
        if width == 1 or (width in in_use and width > widths.lowest)
    ]
    if draft and draft.model.max_rollback:
        items.insert(_N_FIRST, WidthTimings(draft, 1, is_draft=True))
        items.append(WidthTimings(draft, BACKLOG_TOKENS, is_draft=True))
    return items


def _tokens(context: CachedContext, n: int) -> Sequence[int]:
    """Return tokens to decode: the context's last ones, or arbitrary ones if it holds too few."""
    tokens = last_ids(context.tokens, n)
    return tokens if len(tokens) == n else context.any_tokens(n)


IDLE_S = 1.0
IDLE_STEPS = 12
COMPILING_S = 5.0
"""Seconds that compiling a device's programs may take in a load's idle time: it cannot be
cancelled, so a reply would wait. The rest is compiled, and learned, by real steps."""
_FIT_FACTOR = 1.3
"""Factor by which a plain step must differ to show that the table is of other conditions."""
_N_TIMINGS = 2
SLOPE_TOKENS = 256
"""Tokens appended to the context to measure how much slower that makes a step."""


class IdleCalibration:
    """Measures what is missing in idle time; for the engine's thread.

    Args:
        pair: The pair whose costs it fills in.
        is_known: Whether the costs come from an earlier load; they are then checked once.
        clock: Monotonic seconds, or None for wall time, and the thread's own time for decodes.

    Attributes:
        spent_s: Seconds of all slices, except those in which a device may have compiled its
            programs.
    """

    def __init__(self, pair: LoadedPair, *, is_known: bool, clock: Clock | None = None) -> None:
        self._pair = pair
        self._clock = clock or time.perf_counter
        self._timer = DecodeTimer(clock or pair_clock(pair), self._clock, pair.make_drawer)
        self._items = items_of(pair)
        is_there = is_known and bool(self._items)
        self._checks = [WidthTimings(pair.target, w) for w in (1, WIDE)] if is_there else []
        self._wants_slope = bool(self._items) and pair.knowledge.costs.context.slope == 0
        self._n_measured = self._n_kept = 0
        self.spent_s = self._firsts_s = 0.0

    @property
    def contexts(self) -> tuple[CachedContext, ...]:
        """Return the contexts of the models."""
        pair = self._pair
        return (pair.target, pair.draft) if pair.draft else (pair.target,)

    def slice(self) -> bool:
        """Do one decode, or a few that belong together; return False when nothing is left to do.

        Raises:
            CancelledError: The flag was set; the contexts are as before.
            EngineError: A model failed; the contexts are as before, or empty.
        """
        work = self._next()
        if work is None:
            self._keep()
            return False
        began, n_firsts = self._clock(), self._n_firsts
        try:
            work()
        finally:
            seconds = self._clock() - began
            if self._n_firsts == n_firsts:
                self.spent_s += seconds
            else:
                self._firsts_s += seconds
        return True

    @property
    def _n_firsts(self) -> int:
        return sum(context.model.n_firsts for context in self.contexts)

    # ----------------------------------------------------------------------------- what is next

    def _next(self) -> Callable[[], None] | None:
        """Return the first task that is missing, has room and fits the budget."""
        if self._firsts_s > COMPILING_S:
            return None
        if self._checks:
            return self._check_table if self._checks[-1].has_room else None
        for n_each in range(1, _N_TIMINGS + 1):
            for item in self._items:
                if self._n_known(item) < n_each and item.has_room and self._can_afford(item):
                    return partial(self._measure, item)
        return self._measure_slope if self._can_measure_slope() else None

    def _n_known(self, item: WidthTimings) -> int:
        knowledge = self._pair.knowledge
        if not item.is_draft:
            return knowledge.costs.n_samples(item.width)
        costs = knowledge.draft_costs[item.context.model.drafter]
        known = costs.per_token if item.width == 1 else costs.per_backlog
        # A batch as fast as one token shows nothing, however often it is measured.
        return _N_TIMINGS if known is not None or len(item.seconds) >= _N_TIMINGS else 0

    def _can_afford(self, item: WidthTimings) -> bool:
        return self._expected_s(item) <= self._left_s

    @property
    def _left_s(self) -> float:
        first_s = self._items[0].first_s if self._items else ()  # these take a little longer
        plain_s = self._pair.knowledge.costs.plain or min(first_s, default=0.0)
        return max(IDLE_S, IDLE_STEPS * plain_s) - self.spent_s

    def _expected_s(self, item: WidthTimings) -> float:
        """Return the maximum seconds of a decode: per token no more than a narrower one's."""
        times = [i for i in self._items if i.context is item.context and i.seconds]
        narrower = [i for i in times if i.width <= item.width]
        if not narrower:
            return 0.0
        nearest = max(narrower, key=lambda i: i.width)
        return nearest.seconds[-1] * item.width / nearest.width

    def _can_measure_slope(self) -> bool:
        if not self._wants_slope or not any(i.seconds for i in self._items):
            return False
        filling = WidthTimings(self._pair.target, SLOPE_TOKENS)
        return filling.has_room and 2 * self._expected_s(filling) <= self._left_s

    # ---------------------------------------------------------------------------------- doing it

    def _check_table(self) -> None:
        """Check whether plain and wide steps of an earlier load still take as long."""
        for item in self._checks:
            if len(item.seconds) < _N_TIMINGS:
                self._timer.run(item)
                return
        knowledge, n_ctx = self._pair.knowledge, len(self._pair.target.tokens)
        found = [min(item.seconds) for item in self._checks]
        known = [knowledge.costs.seconds(item.width, n_ctx) or 0.0 for item in self._checks]
        if not all(
            k / _FIT_FACTOR < f < k * _FIT_FACTOR for k, f in zip(known, found, strict=True)
        ):
            knowledge.costs, self._wants_slope = knowledge.costs.emptied(), True
        self._checks = []

    def _measure(self, item: WidthTimings) -> None:
        if not self._timer.run(item):
            return
        self._n_measured += 1
        knowledge, seconds = self._pair.knowledge, item.seconds[-1]
        if not item.is_draft:
            n_ctx = len(item.context.tokens)
            knowledge.costs.add(item.width, n_ctx, seconds, calibrated=True)
        elif len(item.seconds) == _N_TIMINGS:
            costs = knowledge.draft_costs[item.context.model.drafter]
            if item.width == 1:
                add_draft_costs(costs, min(item.seconds), 0.0)
            elif costs.per_token is not None:
                backlog_s = _backlog_s(item, costs.per_token, min(item.seconds))
                add_draft_costs(costs, costs.per_token, backlog_s)

    def _measure_slope(self) -> None:
        found = self._timer.context_cost(self._pair.target, SLOPE_TOKENS, self._left_s / 2)
        self._wants_slope = False
        if found is not None:
            self._n_measured += 1
            self._pair.knowledge.learn_context(*found)

    def _keep(self) -> None:
        if self._n_measured > self._n_kept:
            self._n_kept = self._n_measured
            keep_costs(self._pair)


ROUNDS = 5
LIMIT_S = 15.0
"""Seconds after which no further round begins, except the second one."""
SHORT_TOKENS = 64
"""Tokens in the context while the widths are measured."""
LONG_TOKENS = 1024
MAX_LONG_S = 2.0
"""Tokens of the longer text, and the maximum seconds for decoding them."""


def calibrated(pair: LoadedPair | None, clock: Clock | None = None) -> Calibrated:
    """Measure the pair again and keep the results. Both contexts are empty afterwards.

    Before that it is tested whether rows depend on the width of their batch, until that is known.

    Returns:
        The answer; its `problem` reports a failure or a cancel, which change nothing.
    """
    if pair is None or pair.is_lost:
        return not_calibrated()
    if not pair.target.model.max_rollback:
        return Calibrated(
            problem=no_copies(sentence("model")),
        )
    try:
        pair.empty()
        pair.promise.find_out()
        items = _measure(pair, clock)
    except CancelledError:
        return Calibrated(problem="Stopped.")
    except UserError as error:
        pair.is_lost = isinstance(error, ComputeFailedError)
        return Calibrated(problem=str(error))
    keep_costs(pair)
    return Calibrated(
        pair.target.model.info.n_threads,
        pair.knowledge.costs.table(SHORT_TOKENS),
        _draft_table(items),
    )


def _measure(pair: LoadedPair, given: Clock | None) -> list[WidthTimings]:
    clock = given or time.perf_counter
    began = clock()
    items = items_of(pair)
    timer = DecodeTimer(given or pair_clock(pair), clock, pair.make_drawer)
    try:
        pair.empty()
        n_held = _fill(pair)
        for number in range(ROUNDS):
            if number > 1 and clock() - began > LIMIT_S:
                break
            for item in items:
                timer.take(item)
        context = timer.context_cost(pair.target, LONG_TOKENS, MAX_LONG_S)
    finally:
        pair.empty()
    knowledge = pair.knowledge
    knowledge.costs = costs = knowledge.costs.emptied()
    if context is not None:
        costs.set_context(*context)
    for item in items:
        if not item.is_draft:
            for seconds in item.seconds:
                costs.add(item.width, n_held, seconds)
    knowledge.switch = _switch(items)
    drafting = _draft_costs(items)
    if pair.draft and drafting.per_token is not None:
        knowledge.draft_costs[pair.draft.model.drafter] = drafting
    return items


def _fill(pair: LoadedPair) -> int:
    """Fill contexts with a few tokens, so that decodes can be removed again; see `has_room`.

    Returns:
        The number of tokens in the target's context.
    """
    for context in (pair.target, pair.draft):
        if context is not None and context.model.can_rollback:
            n = min(SHORT_TOKENS, context.n_ctx // 2)
            context.feed(context.any_tokens(n), 0)
    return len(pair.target.tokens)


def _switch(items: list[WidthTimings]) -> float:
    """Return how many plain steps a change of the width costs once, since the graph is rebuilt."""
    plain_s = statistics.median(items[0].seconds)
    extra = [
        (statistics.median(item.first_s) - statistics.median(item.seconds)) / plain_s
        for item in items
        if not item.is_draft and item.seconds
    ]
    return min(max(statistics.median(extra), 0.0), TUNING.max_switch_steps)


def _draft_costs(items: list[WidthTimings]) -> DraftCosts:
    costs = DraftCosts()
    median_s = {cost.width: cost.seconds for cost in _draft_table(items)}
    if 1 in median_s:
        token_s, last = median_s[1], next(item for item in reversed(items) if item.is_draft)
        add_draft_costs(
            costs, token_s, _backlog_s(last, token_s, median_s.get(BACKLOG_TOKENS, 0.0))
        )
    return costs


def _backlog_s(item: WidthTimings, token_s: float, batch_s: float) -> float:
    """Return the seconds of each further token of a draft model's batch, or 0 if not known.

    On a device the batch may take no longer than one token; on a processor that would be noise.
    """
    least = _MIN_BACKLOG_STEPS * token_s if item.on_device and batch_s else 0.0
    return max((batch_s - token_s) / (BACKLOG_TOKENS - 1), least)


def _draft_table(items: list[WidthTimings]) -> tuple[WidthCost, ...]:
    """Return the draft model's costs; empty if it cannot remove tokens or had no room."""
    return tuple(
        WidthCost(item.width, statistics.median(item.seconds), len(item.seconds))
        for item in items
        if item.is_draft and item.seconds
    )
