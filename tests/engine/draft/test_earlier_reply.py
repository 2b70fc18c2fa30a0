"""The reply that is replaced as a draft: the cursor, its way back, and what is kept."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.workbench import workbench
from paceline.engine.decode import comparison
from paceline.engine.decode.comparison import kept_of
from paceline.engine.draft.lookups.earlier_reply import EarlierReplyDrafter
from paceline.engine.draft.strategy import parse_strategy
from paceline.figures import Kept

SETTINGS = {"max": 8, "p_min": 0.0}
OLD = tuple(range(10, 40))


def drafter(*replies: tuple[int, ...], **settings: float) -> EarlierReplyDrafter:
    return EarlierReplyDrafter(workbench(replaced=replies), {**SETTINGS, **settings})


def after(
    new: tuple[int, ...], *replies: tuple[int, ...], n_max: int = 8, **settings: float
) -> list[int]:
    """Return its proposal after these tokens, whether committed one by one or at once."""
    found = []
    for pieces in ([new], [new[:1], new[1:]], [(token,) for token in new]):
        it, history = drafter(*replies, **settings), [1, 2, 3]
        it.begin(history, 3)
        for piece in pieces:
            history += piece
            it.observe(None)
        found.append(list(it.propose(n_max).tokens))
    assert found[0] == found[1] == found[2]
    return found[0]


def test_it_copies_the_reply_from_its_first_token() -> None:
    assert after((), OLD) == list(OLD[:8])
    assert after(OLD[:5], OLD) == list(OLD[5:13])
    assert after(OLD[:-2], OLD) == list(OLD[-2:])
    assert after(OLD, OLD) == []
    assert after((), OLD, max=2) == list(OLD[:2])


@pytest.mark.parametrize("what", ["repeats", "same_prompt"])
def test_with_other_noise_or_prompt_it_waits_until_some_tokens_have_come_again(what: str) -> None:
    other = workbench(replaced=(OLD,), **{what: False})
    it = EarlierReplyDrafter(other, {"max": 8, "p_min": 0.5})
    history = [1, 2, 3]
    it.begin(history, 3)
    assert list(it.propose(8).tokens) == []
    history += OLD[:9]
    it.observe(None)
    assert list(it.propose(8).tokens)[:1] == [OLD[9]]


def test_a_token_that_differs_is_passed_over() -> None:
    assert after((*OLD[:5], 99), OLD) == list(OLD[6:14])


@pytest.mark.parametrize(
    ("new", "goes_on"),
    [
        ((*OLD[:5], 98, 99, *OLD[5:8]), 8),  # inserted
        ((*OLD[:5], *OLD[9:12]), 12),  # left out
        ((*OLD[20:24], *OLD[:3]), 3),  # another order
    ],
)
def test_it_finds_its_place_again(new: tuple[int, ...], goes_on: int) -> None:
    assert after(new, OLD) == list(OLD[goes_on : goes_on + 8])


def test_another_version_continues_where_the_first_does_not() -> None:
    other = tuple(range(60, 80))
    assert after(other[:3], OLD, other) == list(other[3:11])
    assert after((*OLD[:6], *other[4:9]), OLD, other) == list(other[9:17])
    assert after(OLD[:-1], OLD, other) == [OLD[-1]], "a draft ends with its version"


def test_of_several_places_the_nearest_counts() -> None:
    text = (1, 2, 3, 7, 8, 1, 2, 3, 9, 8, 1, 2, 3, 4, 8)
    assert after((1, 2, 3, 7, 8, 5, 5, 5, 1, 2, 3), text)[:1] == [4]
    assert after((5, 5, 1, 2, 3), text)[:1] == [7]


def test_it_continues_after_a_draft_that_the_reply_has_as_well() -> None:
    it = drafter(OLD)
    it.begin([1, *OLD[:2]], 1)
    assert list(it.extend(OLD[2:4], 3).tokens) == list(OLD[4:7])
    assert not it.extend((99,), 3).tokens


def test_confidence_follows_what_agreed() -> None:
    it, history = drafter(OLD), [1]
    it.begin(history, 1)
    first = it.propose(4).confidences
    history += OLD[:10]
    it.observe(None)
    surer = it.propose(4).confidences
    history += (97, 98, 99)
    it.observe(None)
    after_misses = it.propose(4).confidences
    assert after_misses[0] < first[0] < surer[0] < 1
    assert list(surer) == sorted(surer)


def test_it_ends_where_it_becomes_unlikely() -> None:
    new = tuple(99 for _ in range(20))
    assert after(new, OLD)
    assert not after(new, OLD, p_min=0.4)
    assert len(after(OLD[:20], OLD, p_min=0.4)) == 8


def test_without_an_earlier_reply_it_is_no_part_of_auto() -> None:
    assert not drafter().propose(8).tokens
    auto = parse_strategy("auto")
    ids = [info.id for info, _ in auto.members(has_grammar=False, has_earlier=True)]
    assert ids[0] == "earlier"
    assert ids[1:] == [info.id for info, _ in auto.members(has_grammar=False)]


# ------------------------------------------------------------------------------------ what is kept


@pytest.mark.parametrize(
    ("new", "kept"),
    [
        (OLD, Kept(30, 30, 30, 30)),
        ((), Kept(30, 0, 30, 0)),
        (OLD[:12], Kept(30, 12, 30, 12)),
        ((*OLD[:5], 99, *OLD[6:]), Kept(30, 29, 30, 29)),
        ((*OLD[:5], 99, *OLD[5:]), Kept(30, 30, 5, 5)),
        ((*OLD[:5], *OLD[6:]), Kept(30, 29, 6, 5)),
        ((99, 98, 97, OLD[1], 99, OLD[0]), Kept(30, 0, 30, 0)),
        ((99, 98, OLD[2], 99, 99), Kept(30, 1, 30, 1)),
    ],
)
def test_what_is_kept(new: tuple[int, ...], kept: Kept) -> None:
    assert kept_of(OLD, new) == kept
    assert kept.share == kept.n_kept / 30


def slow_kept(a: list[int], b: list[int]) -> int:
    """Most tokens of `a` in runs of three that `b` has in the same order: all choices tried."""
    threes = [(i, j) for i in range(len(a) - 2) for j in range(len(b) - 2)
              if a[i : i + 3] == b[j : j + 3]]  # fmt: skip
    for n in range(len(threes), -1, -1):
        for chosen in combinations(threes, n):
            if all(i < k and j < m for (i, j), (k, m) in pairwise(chosen)):
                return n
    return 0


@given(st.lists(st.integers(0, 1), max_size=6), st.lists(st.integers(0, 1), max_size=6))
@example([0, 1, 0, 1, 0], [1, 0, 1, 0, 1])
def test_runs_are_those_of_a_longest_common_subsequence(a: list[int], b: list[int]) -> None:
    found = comparison._common(comparison._runs(a), comparison._runs(b))
    assert len(found) == slow_kept(a, b)
    assert all(a[i : i + 3] == b[j : j + 3] for i, j in found)
    assert all(x[0] < y[0] and x[1] < y[1] for x, y in pairwise(found))
