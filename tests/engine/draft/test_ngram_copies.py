"""The n-gram lookups that copy: ngram-simple, ngram-map-k and -k4v, against slow references."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.draft.costs import check_costs
from engine.draft.references import Reference, SlowMapK, SlowMapK4V, SlowSimple
from engine.draft.rehearsal import Rehearsal, Settings, moves, play_text, prompts
from engine.draft.rehearsal import real_tokens as tokens_of
from engine.workbench import workbench
from paceline.engine.draft.base import Drafter, DrafterInfo, Extender
from paceline.engine.draft.lookups import lookup, ngram_map, ngram_simple

SIMPLE, K, K4V = "simple", "map-k", "map-k4v"
MAPS = K, K4V


class Kind(NamedTuple):
    """One of the lookups.

    Attributes:
        info: Its description.
        slow: Makes its reference.
        settings: Settings that find something in short texts.
        shaping: Settings with which its index changes.
    """

    info: DrafterInfo
    slow: Callable[[Settings], Reference]
    settings: st.SearchStrategy[Settings]
    shaping: tuple[str, ...]


MAP_SETTINGS = st.fixed_dictionaries(
    {"n": st.integers(1, 3), "m": st.integers(1, 4), "min_hits": st.integers(1, 4)}
)
KINDS = {
    SIMPLE: Kind(
        ngram_simple.INFO,
        lambda s: SlowSimple(s["n"], s["m"]),
        st.fixed_dictionaries({"n": st.integers(1, 5), "m": st.integers(1, 9)}),
        ("n",),
    ),
    K: Kind(
        ngram_map.INFO_K,
        lambda s: SlowMapK(s["n"], s["m"], s["min_hits"]),
        MAP_SETTINGS,
        ("n", "m", "min_hits"),
    ),
    K4V: Kind(
        ngram_map.INFO_K4V,
        lambda s: SlowMapK4V(s["n"], s["m"], s["min_hits"]),
        MAP_SETTINGS,
        ("n", "m", "min_hits"),
    ),
}
MAP_TEXTS = (
    ({"n": 12, "m": 48, "min_hits": 1}, {"n": 6, "m": 24, "min_hits": 1}),
    ({"n": 1, "m": 2, "min_hits": 1}, {"n": 2, "m": 3, "min_hits": 2}),
    ({"n": 4, "m": 12, "min_hits": 1}, {"n": 1, "m": 3, "min_hits": 4}),
)
REAL_TEXTS = (
    (SIMPLE, {"n": 12, "m": 48}, {"n": 5, "m": 48}),
    (SIMPLE, {"n": 1, "m": 4}, {"n": 2, "m": 16}),
    *((kind, *case) for case in MAP_TEXTS for kind in MAPS),
)
"""Settings for a real text, and those that they are changed to in its midst."""
COSTLY = (
    *((SIMPLE, {"n": 12, "m": 48}), (SIMPLE, {"n": 64, "m": 1024})),
    *((kind, {"n": 12, "m": 48, "min_hits": 1}) for kind in MAPS),
    *((kind, {"n": 64, "m": 1024, "min_hits": 2}) for kind in MAPS),
    *((kind, {"n": 1, "m": 1, "min_hits": 1024}) for kind in MAPS),
)


def rehearsal(kind: str, settings: Settings) -> Rehearsal:
    return Rehearsal(KINDS[kind].info, KINDS[kind].slow, settings, KINDS[kind].shaping)


def drafter(kind: str, n: int = 1, m: int = 2, min_hits: int = 1) -> Drafter:
    return KINDS[kind].info.make(workbench(), {"n": n, "m": m, "min_hits": min_hits})


def tokens(it: Drafter, n_max: int = 1000, ahead: Sequence[int] = ()) -> list[int]:
    """Return what it proposes after the history and then `ahead`."""
    assert isinstance(it, Extender)
    return list(it.extend(ahead, n_max).tokens)


def proposed(
    kind: str, text: Sequence[int], n: int = 1, m: int = 2, min_hits: int = 1,
    ahead: Sequence[int] = (),
) -> list[int]:  # fmt: skip
    it = drafter(kind, n, m, min_hits)
    it.begin(list(text), len(text))
    return tokens(it, ahead=ahead)


# --------------------------------------------------------------------------------------- all three


@pytest.mark.parametrize("n_tokens", [2, 5])
@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_any_course_is_that_of_the_reference(kind: str, n_tokens: int, data: st.DataObject) -> None:
    settings = KINDS[kind].settings
    played = rehearsal(kind, data.draw(settings))
    played.play(data.draw(prompts(n_tokens)), data.draw(moves(settings, n_tokens)))


@pytest.mark.grid(short=4)
@pytest.mark.parametrize(("kind", "settings", "others"), REAL_TEXTS)
def test_a_real_text(target_path: Path, kind: str, settings: Settings, others: Settings) -> None:
    played = rehearsal(kind, settings)
    play_text(played, tokens_of(target_path), 1, others)
    assert min(played.seen[what] for what in ("empty", "in full", "in part")) > 0, played.seen


@pytest.mark.parametrize("kind", KINDS)
def test_a_long_text_is_indexed_in_slices(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookup, "PREFILL_S", -1.0)  # every slice is as short as can be
    monkeypatch.setattr(lookup, "STEP_S", -1.0)
    text = [*range(150), *range(150)]
    it = drafter(kind, n=12, m=48)
    it.begin(text, len(text))
    n_steps = 0
    while not tokens(it):
        it.observe(None)
        n_steps += 1
    assert n_steps >= 3
    assert tokens(it) == list(range(48))


@pytest.mark.parametrize(("kind", "next_one"), [(SIMPLE, [6, 0, 5]), (K, [6]), (K4V, [6])])
def test_the_next_turn_continues_with_index_and_limits(
    kind: str, next_one: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookup, "PREFILL_S", -1.0)
    it, text = drafter(kind, m=4), [*range(300), 5]
    it.begin(text, 301)
    for _ in range(9):
        it.observe(None)
    assert tokens(it) == [6, 7, 8, 9]
    text += [6, 0]
    it.observe(1)
    it.close()
    it.begin([*text, 5], 304)
    assert tokens(it) == next_one
    it.close()
    it.begin([*text[:200], 5, *text[:200]], 401)  # not the same chat: all is to be done again
    assert tokens(it) == []


@pytest.mark.grid(short=4)
@pytest.mark.parametrize(("kind", "settings"), COSTLY)
def test_costs(kind: str, settings: Settings) -> None:
    check_costs(KINDS[kind].info, settings)


# ------------------------------------------------------------------------------------ ngram-simple


@pytest.mark.parametrize(
    ("text", "n", "m", "copied"),
    [
        ([1, 2, 5, 0, 1, 2, 6, 0, 1, 2], 2, 1, [6]),  # the latest copy
        ([1, 2, 3, 4, 0, 2, 3], 3, 8, []),  # all n tokens must agree
        ([1, 2, 3, 4, 0, 2, 3], 2, 1, [4]),
        ([1, 2, 1], 1, 8, [2, 1]),
        ([1, 2, 9, 1, 2], 2, 8, [9, 1, 2]),
        ([1, 2], 2, 8, []),
        ([1], 2, 8, []),
        # More than m tokens followed: exactly the m tokens that llama.cpp's server copies.
        ([*range(100, 112), *range(200, 260), *range(100, 112)], 12, 48, [*range(200, 248)]),
        # A copy ends at the text's end, but where the text repeats itself.
        ([7, 1, 2, 3, 4, 1, 2], 2, 8, [3, 4, 1, 2]),
        ([7, 3, 4, 1, 2, 3, 4, 1, 2], 2, 10, [3, 4, 1, 2, 3, 4, 1, 2, 3, 4]),
        ([5, 5], 1, 8, [5] * 8),
    ],
)
def test_the_latest_copy_is_gone_on_with(
    text: list[int], n: int, m: int, copied: list[int]
) -> None:
    assert proposed(SIMPLE, text, n, m) == copied


@pytest.mark.parametrize("kind", MAPS)
@pytest.mark.parametrize(
    ("ahead", "n_accepted", "committed"),
    [
        ([], 2, [2, 3]),  # the reply ended within the draft
        ([], 2, [2, 3, 4]),  # the engine had cut it
        ([], None, [2, 8]),  # another drafter was asked
        ([9, 1], 0, [7]),  # the draft model before it was wrong
    ],
)
def test_what_was_not_judged_is_not_refused(
    kind: str, ahead: list[int], n_accepted: int | None, committed: list[int]
) -> None:
    it = drafter(kind, m=4)
    history = [1, 2, 3, 4, 5, 9, 6 if ahead else 1]
    it.begin(history, len(history))
    assert tokens(it, ahead=ahead) == [2, 3, 4, 5]
    history += committed
    it.observe(n_accepted)
    assert tokens(it, ahead=[1]) == [2, 3, 4, 5]


# ---------------------------------------------------------------------------- what both maps share


# -------------------------------------------------------------------------------------- each alone


A, B, C, D, E = ([1, i, i] for i in range(2, 7))  # the key 1, and what followed it
FIVE = (A, A, B, C, D, E)
OTHERS = [[1, i, i] for i in range(10, 30)]


@pytest.mark.parametrize(
    ("followers", "min_hits", "winner"),
    [
        # The winner is drafted, and not the latest one.
        *(([A, A, B], 1, A), ([A, B, A], 1, A), ([B, A, A], 1, A)),
        # It is twice as frequent as all others together.
        *(([A, B], 1, None), ([A, A, A, B, B], 1, None), ([A, A, A, A, B, B], 1, A)),
        *(([A, A, A, B, C], 1, None), ([A, A, A, A, B, C], 1, A)),
        # `min_hits` says how often the key must have occurred.
        *(([A], 1, A), ([A], 2, None), ([A, A, B], 3, A), ([A, A, B], 4, None)),
        # A fifth one takes the place of the oldest of the rarest ones.
        ([A, B, C, D, *[E] * 8], 1, E),
        *(([*FIVE, *[A] * 5], 1, None), ([*FIVE, *[A] * 6], 1, A)),  # 8 of 12: A stayed known
        *(([*FIVE, *[C] * 8], 1, None), ([*FIVE, *[C] * 9], 1, C)),  # 10 of 15: so did C
        *(([*FIVE, *[B] * 11], 1, None), ([*FIVE, *[B] * 12], 1, B)),  # 12 of 18: B starts again
        # Those that are forgotten still count against the winner.
        *(([*[A] * 6, *OTHERS], 1, None), ([*[A] * 40, *OTHERS], 1, A)),
    ],
)
def test_of_several_followers_the_winner_is_drafted(
    followers: list[list[int]], min_hits: int, winner: list[int] | None
) -> None:
    text = [*chain(*followers), 1]
    assert proposed(K4V, text, min_hits=min_hits) == (winner[1:] if winner else [])
