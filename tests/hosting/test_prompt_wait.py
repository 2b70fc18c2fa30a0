"""Messages about the wait for a first token, with clocks that the tests control."""

from __future__ import annotations

import math
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from paceline.hosting.prompt_wait import SHOWN_AFTER_S, PromptWait
from paceline.messages import PrefillProgressed, TurnStarted

PIECE = 512


def told(
    n_total: int, n_warm: int = 0, *, each_s: float, growth: float = 0.0, expected_s: float = 0.0
) -> list[tuple[float, float, float | None]]:
    """Read a simulated prompt and ask for the remaining time ten times a second.

    Args:
        n_total: Tokens of the prompt.
        n_warm: Tokens that need no reading.
        each_s: Seconds per token at the beginning of a context.
        growth: Relative growth of this time with each earlier token.
        expected_s: Expected seconds at the beginning; 0 if unknown.

    Returns:
        Time, true remaining time and its estimate (None if there is none), in seconds.
    """

    def taken(n: int) -> float:
        return each_s * (n - n_warm + growth * (n * n - n_warm * n_warm) / 2)

    wait = PromptWait(TurnStarted(n_total, n_warm, 1, expected_s=expected_s), 0.0)
    ends = [*range(n_warm + PIECE, n_total, PIECE), n_total]
    looks, at, tenths = [], 0.0, 0
    for end in ends:
        at = taken(end)
        while tenths / 10 < at:
            looks.append((tenths / 10, taken(n_total) - tenths / 10, wait.left_s(tenths / 10)))
            tenths += 1
        wait.grow(PrefillProgressed(end, n_total), at)
    assert wait.left_s(at) == 0
    return looks


def test_it_is_said_how_far_it_is_what_was_warm_and_how_long_it_takes() -> None:
    wait = PromptWait(TurnStarted(4100, 2048, 1), 100.0)
    assert wait.words(100.0 + SHOWN_AFTER_S - 0.01) == "", "a short wait is not worth a word"
    assert wait.words(101.0) == "Reading 2,048 of 4,100 tokens · 2,048 were warm"
    wait.grow(PrefillProgressed(3200, 4100), 107.68)
    assert wait.words(107.7) == ("Reading 3,200 of 4,100 tokens · 2,048 were warm · about 6 s left")
    assert wait.words(112.1) == ("Reading 3,200 of 4,100 tokens · 2,048 were warm · about 2 s left")


def test_a_few_warm_tokens_are_no_news() -> None:
    wait = PromptWait(TurnStarted(100, 1, 1), 0.0)
    assert wait.words(1.0) == "Reading 1 of 100 tokens"


def test_the_last_prompt_says_how_long_this_one_takes_until_it_is_known() -> None:
    wait = PromptWait(TurnStarted(4000, 0, 1, expected_s=20.0), 0.0)
    assert wait.left_s(5.0) == 15.0
    assert wait.left_s(21.0) is None, "what was expected is over, and nothing else is known"
    wait.grow(PrefillProgressed(400, 4000), 21.0)
    assert math.isclose(wait.left_s(21.0) or 0, 3600 * (21 + 64 * 0.005) / 464)


def test_a_slow_end_is_foreseen() -> None:
    """Tokens at the end take three times as long as those at the beginning."""
    looks = told(8000, each_s=0.002, growth=2 / 8000)
    late = [(at, true, said) for at, true, said in looks if at > looks[-1][0] / 4]
    for at, true, said in late:
        assert said is not None, at
        assert 0.7 * true - 1 <= said <= 1.3 * true + 1, (at, true, said)


@given(
    st.integers(1, 20_000), st.floats(0, 1), st.floats(1e-5, 0.003), st.floats(0, 3e-4),
    st.sampled_from([0.0, 1.0, 3.0]),
)  # fmt: skip
def test_the_time_left_never_grows_while_a_prompt_is_read_evenly(
    n_total: int, warm: float, each_s: float, growth: float, known: float
) -> None:
    n_warm = int(warm * (n_total - 1))
    expected_s = known * each_s * (n_total - n_warm)
    looks = told(n_total, n_warm, each_s=each_s, growth=growth, expected_s=expected_s)
    first_piece = next((at for at, _, said in looks if said is not None), 0.0)
    after = [said for at, _, said in looks if at >= first_piece and said is not None]
    grown = [b for a, b in pairwise(after) if b > a]
    # The first piece and the speed that it shows may each raise the estimate once.
    assert len(grown) <= 2, grown


@given(st.lists(st.tuples(st.integers(0, 50), st.floats(0, 9)), max_size=20))
def test_whatever_is_told_there_are_words_and_no_time_below_zero(
    told_of: list[tuple[int, float]],
) -> None:
    """Include a prompt that is read again after a failed decode."""
    wait, at = PromptWait(TurnStarted(50, 20, 1), 0.0), 0.0
    for n_done, seconds in told_of:
        at += seconds
        wait.grow(PrefillProgressed(n_done, 50), at)
        left = wait.left_s(at)
        assert left is None or left >= 0
        assert wait.words(at, 0.0).startswith(f"Reading {n_done} of 50 tokens")


def test_an_estimate_that_is_plainly_wrong_is_given_up() -> None:
    """Another program takes the machine: what was 3 s is now much more."""
    wait = PromptWait(TurnStarted(2000, 0, 1), 0.0)
    for n_done in (400, 800):
        wait.grow(PrefillProgressed(n_done, 2000), n_done / 400)
    assert wait.left_s(2.0) == 3.0
    wait.grow(PrefillProgressed(1200, 2000), 30.0)
    assert (wait.left_s(30.0) or 0) > 10
