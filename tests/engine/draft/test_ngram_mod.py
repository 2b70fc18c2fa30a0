"""The n-gram pool against the obvious way: look for the n-gram's last place, again and again."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.workbench import workbench
from paceline.engine.draft.base import Workbench
from paceline.engine.draft.lookups.ngram_mod import (
    INFO,
    REST_STEPS,
    SLOT_BITS,
    NextTokens,
    NgramMod,
    Pool,
)

END = 9
MIB_16 = 16 << 20
SMALL = {"n_match": 3, "n_min": 0, "n_max": 8}


def bench(eog: Sequence[int] = (), **more: Any) -> Workbench:
    return workbench(eog=frozenset(eog), **more)


def pool_of(text: Sequence[int], on: Workbench | None = None, **settings: int) -> NgramMod:
    """Return a drafter that has read a whole prompt."""
    drafter = NgramMod(on or bench(), {**SMALL, **settings})
    history = list(text)
    drafter.begin(history, len(history))
    return drafter


def proposed(drafter: NgramMod, n_max: int = 99) -> list[int]:
    return list(drafter.propose(n_max).tokens)


def obvious(
    text: Sequence[int], ahead: Sequence[int], n_match: int, n_min: int, n_max: int, room: int
) -> list[int]:
    chain = [*text, *ahead]
    n_known = len(chain)
    while len(chain) - n_known < n_max:
        tail = chain[len(chain) - n_match :] if len(chain) >= n_match else None
        places = [i for i in range(n_match, len(text)) if list(text[i - n_match : i]) == tail]
        if not places:
            break
        chain.append(text[places[-1]])
    found = chain[n_known:]
    return found[:room] if len(found) >= min(n_min, n_max) else []


TEXTS = st.integers(1, 4).flatmap(lambda n: st.lists(st.integers(0, n), min_size=1, max_size=60))
CHUNKS = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=40), max_size=8)


@given(TEXTS, st.integers(1, 6), st.integers(0, 12), st.integers(1, 12), st.integers(1, 14))
def test_a_text_at_once(text: list[int], n_match: int, n_min: int, n_max: int, room: int) -> None:
    drafter = pool_of(text, n_match=n_match, n_min=n_min, n_max=n_max)
    assert proposed(drafter, room) == obvious(text, (), n_match, n_min, n_max, room)


@given(TEXTS, CHUNKS, st.integers(1, 6), st.integers(0, 5), st.lists(st.integers(0, 3), max_size=9))
def test_a_text_that_grows(
    prompt: list[int], chunks: list[list[int]], n_match: int, n_min: int, ahead: list[int]
) -> None:
    drafter = NgramMod(bench(), {"n_match": n_match, "n_min": n_min, "n_max": 8})
    history = list(prompt)
    drafter.begin(history, len(prompt))
    for chunk in chunks:
        history += chunk
        drafter.observe(None)
        assert proposed(drafter) == obvious(history, (), n_match, n_min, 8, 99)
        extended = list(drafter.extend(ahead, 5).tokens)
        assert extended == obvious(history, ahead, n_match, n_min, 8, 5)


@pytest.mark.parametrize("n_match", [1, 24, 128])
def test_long_texts_are_hashed_as_short_ones(n_match: int) -> None:
    rng = random.Random(n_match)
    text = [rng.randrange(200_000) for _ in range(5000)]
    one_by_one, at_once = (NextTokens(n_match) for _ in range(2))
    for place in range(len(text)):
        one_by_one.feed(text, place, place + 1)
    for start, end in pairwise((0, 100, 128, 1500, 1501, 5000)):
        at_once.feed(text, start, end)
    assert np.array_equal(one_by_one.pool.table, at_once.pool.table)
    assert one_by_one.pool.n_used == at_once.pool.n_used
    assert one_by_one.pool.n_used == np.count_nonzero(at_once.pool.table)
    for each in (one_by_one, at_once):
        each.feed([*text, *text[:n_match]], 5000, 5000 + n_match)
    assert np.array_equal(one_by_one.pool.table, at_once.pool.table)


def test_the_defaults_draft_long_repeats_only() -> None:
    settings = {parameter.name: int(parameter.default) for parameter in INFO.parameters}
    assert settings == {"n_match": 24, "n_min": 48, "n_max": 64}
    rng = random.Random(5)
    text = [rng.randrange(1, 250) for _ in range(400)]
    assert proposed(pool_of([*text, *text[100:123]], **settings)) == []  # 23 tokens agree
    assert proposed(pool_of([*text, *text[100:124]], **settings)) == text[124:188]


def test_a_chain_that_breaks_early_is_dropped() -> None:
    settings = {parameter.name: int(parameter.default) for parameter in INFO.parameters}
    text = list(range(71))
    end = [*range(100, 124)]  # nothing follows these
    assert proposed(pool_of([*text, *end, 99, *text[:24]], **settings)) != []
    assert proposed(pool_of([99, *text[:24]], **settings)) == []
    short = [*text[:30], *text[:24]]  # 6 tokens, and then the chain begins again
    assert proposed(pool_of(short, **settings)) == (text[24:30] + text[:24]) * 2 + text[24:28]
    once = [*text[:30], *text[:24]]
    assert proposed(pool_of(once, **{**settings, "n_max": 4, "n_min": 3})) == text[24:28]


def test_how_long_a_chain_is_does_not_depend_on_the_room() -> None:
    text = [1, 2, 3, 4, 5, 9, 8, 1, 2, 3]
    assert proposed(pool_of(text, n_min=8), 1) == [4]
    assert proposed(pool_of(text, n_min=8, n_max=2)) == [4, 5]


def test_a_draft_ends_with_an_end_of_generation() -> None:
    text = [1, 2, 3, 4, END, 6, 7, 8, 1, 2, 3]
    assert proposed(pool_of(text, bench(eog=(END,)), n_min=4)) == [4, END]


# -------------------------------------------------------------------------------- bad drafts


PERIOD = [1, 2, 3, 4] * 4


def in_a_period() -> tuple[NgramMod, list[int]]:
    """Return a drafter that has read a periodic text, and that text."""
    drafter, history = NgramMod(bench(), SMALL), list(PERIOD)
    drafter.begin(history, len(history))
    return drafter, history


def draft_and_accept(drafter: NgramMod, history: list[int], accepted: Sequence[int]) -> None:
    """Propose, accept so many tokens, reject the next one, and come back to the period."""
    for n in accepted:
        chain = proposed(drafter)
        assert len(chain) == 8
        history += [*chain[:n], 7, *PERIOD]
        drafter.observe(n)


@pytest.mark.parametrize(
    ("accepted", "rests"),
    [
        ([1] * 4, False),
        ([1] * 5, True),
        ([0] * 5, True),
        ([2] * 9, False),  # a quarter is enough
        ([1, 1, 1, 1, 2, 1, 1, 1, 1], False),
    ],
)
def test_five_bad_drafts_earn_a_rest(accepted: list[int], rests: bool) -> None:
    drafter, history = in_a_period()
    draft_and_accept(drafter, history, accepted)
    for _ in range(REST_STEPS if rests else 0):
        assert proposed(drafter) == []
        drafter.observe(None)
    assert proposed(drafter) == [1, 2, 3, 4] * 2


def test_steps_without_a_draft_of_its_own_do_not_count() -> None:
    drafter, history = in_a_period()
    for _ in range(4):
        draft_and_accept(drafter, history, [1])
        drafter.observe(None)
    draft_and_accept(drafter, history, [1])
    assert proposed(drafter) == []


def test_a_draft_that_was_cut_and_not_contradicted_is_not_a_bad_one() -> None:
    drafter, history = in_a_period()
    for _ in range(9):
        chain = proposed(drafter)
        assert len(chain) == 8
        history += chain[:2]
        drafter.observe(1)  # the step verified one of eight; the target's own token agrees as well


# ------------------------------------------------------------------------------------ the pool


def closed_pool(drafter: NgramMod) -> Pool:
    """Close a drafter; returns the pool that it leaves for the next turn."""
    drafter.close()
    _, index, *_ = drafter.bench.kept[NgramMod.name]  # type: ignore[misc]
    assert isinstance(index, NextTokens)
    return index.pool


@pytest.mark.parametrize("is_full", [False, True])
def test_a_pool_continues_with_its_chat_unless_it_is_too_full(is_full: bool) -> None:
    on = bench()
    pool = closed_pool(pool_of([5, 6, 7, 8, 9], on))
    assert pool.table.nbytes == len(pool.slots) * 4 == 2**SLOT_BITS * 4 == MIB_16
    pool.n_used = len(pool.table) // 4 + is_full
    second = pool_of([5, 6, 7, 8, 9, 5, 6, 7], on)
    assert proposed(second) == [8, 9, 5, 6, 7, 8, 9, 5], "the prompt is not lost"
    assert (closed_pool(second) is pool) is not is_full
    assert proposed(pool_of([5, 6, 7], on)) == [], "another chat"
