"""Measures what decodes of each width cost, thoroughly and all at once: the command `Calibrate`.

Rounds over all widths, so that a hiccup of the machine meets each of them once at most. Behind
them a longer text is put into the context, as far as that is quickly done: how much dearer a step
is there tells what each token of the context costs.
"""

from __future__ import annotations

import statistics
import time

import numpy as np

from paceline.engine.answers import not_calibrated
from paceline.engine.control.costs import VerifyCosts
from paceline.engine.control.draft_costs import DraftCosts
from paceline.engine.control.learning import MOST_SWITCH
from paceline.engine.decode_timer import DecodeTimer, Item, items_of, pair_clock
from paceline.engine.known_costs import BACKLOG, DRAFTER, add_draft_costs, keep_costs
from paceline.engine.own_time import Clock
from paceline.engine.pair import LoadedPair
from paceline.errors import CancelledError, ComputeFailedError, UserError
from paceline.figures import WidthCost
from paceline.messages import Calibrate, Calibrated

ROUNDS = 5
LIMIT_S = 15.0
"""A round that begins later than this is left out, but for the second one."""
SHORT = 64
"""Tokens in the context while the widths are measured."""
LONG = 1024
LONG_S = 2.0
"""Tokens of the longer text, and how long filling them in may take."""


def calibrated(
    pair: LoadedPair | None, command: Calibrate, clock: Clock | None = None
) -> Calibrated:
    """Measure the pair anew, and keep what was found. Both contexts are empty afterwards.

    Returns:
        The answer; a failure and a cancel are told by its `problem`, and change nothing.
    """
    request_id = command.request_id
    if pair is None or pair.is_lost:
        return not_calibrated(command)
    if not pair.target.model.can_rollback:
        return Calibrated(
            request_id,
            problem="This model cannot take tokens back, so nothing can be drafted for it.",
        )
    try:
        items = _measure(pair, clock)
    except CancelledError:
        return Calibrated(request_id, problem="Stopped.")
    except UserError as error:
        pair.is_lost = isinstance(error, ComputeFailedError)
        return Calibrated(request_id, problem=str(error))
    keep_costs(pair)
    return Calibrated(
        request_id,
        pair.target.model.info.n_threads,
        pair.knowledge.costs.table(SHORT),
        _draft_table(items),
    )


def _measure(pair: LoadedPair, given: Clock | None) -> list[Item]:
    clock = given or time.perf_counter
    began = clock()
    items = items_of(pair)
    timer = DecodeTimer(given or pair_clock(pair), clock)
    try:
        pair.empty()
        n_held = _fill(pair)
        for number in range(ROUNDS):
            if number > 1 and clock() - began > LIMIT_S:
                break
            for item in items:
                timer.take(item)
        context = timer.context_cost(pair.target, LONG, LONG_S)
    finally:
        pair.empty()
    knowledge = pair.knowledge
    knowledge.costs = costs = VerifyCosts()
    if context is not None:
        costs.set_context(*context)
    for item in items:
        if not item.is_draft:
            for seconds in item.seconds:
                costs.add(item.width, n_held, seconds)
    knowledge.switch = _switch(items)
    drafting = _draft_costs(items)
    if drafting.per_token is not None:
        knowledge.draft_costs[DRAFTER] = drafting
    return items


def _fill(pair: LoadedPair) -> int:
    """Let both contexts hold a few tokens; returns how many the target's has."""
    rng = np.random.default_rng(0)
    for context in (pair.target, pair.draft):
        if context is not None:
            n = min(SHORT, context.n_ctx // 2)
            context.feed(rng.integers(0, context.model.vocab.n_tokens, n).tolist(), 0)
    return len(pair.target.tokens)


def _switch(items: list[Item]) -> float:
    """Return how many plain steps another width costs once, since the graph is built anew."""
    plain_s = statistics.median(items[0].seconds)
    extra = [
        (statistics.median(item.first_s) - statistics.median(item.seconds)) / plain_s
        for item in items
        if not item.is_draft and item.seconds
    ]
    return min(max(statistics.median(extra), 0.0), MOST_SWITCH)


def _draft_costs(items: list[Item]) -> DraftCosts:
    costs = DraftCosts()
    median_s = {cost.width: cost.seconds for cost in _draft_table(items)}
    if 1 in median_s:
        token_s, batch_s = median_s[1], median_s.get(BACKLOG, 0.0)
        add_draft_costs(costs, token_s, max(batch_s - token_s, 0.0) / (BACKLOG - 1))
    return costs


def _draft_table(items: list[Item]) -> tuple[WidthCost, ...]:
    """Return the draft model's figures; none where it takes no tokens back, or found no room."""
    return tuple(
        WidthCost(item.width, statistics.median(item.seconds), len(item.seconds))
        for item in items
        if item.is_draft and item.seconds
    )
