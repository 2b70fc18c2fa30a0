"""The acceptance rule on made-up rows: row i is [the token that it gives]."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from hypothesis import given
from hypothesis import strategies as st

from paceline.engine.sample.verify import Verdict, verify

END = 9


def judge(
    choices: Sequence[int], draft: Sequence[int], ends: Callable[[int], bool] = lambda t: t == END
) -> Verdict:
    """Verify a draft against what the target chooses, and check when each row was asked."""
    assert len(choices) == len(draft) + 1
    asked: list[int] = []
    committed: list[int] = []

    def draws() -> Iterator[int]:
        for token in choices:
            assert len(committed) == len(asked), "a token was committed before the next was drawn"
            asked.append(token)
            yield token

    def commit(token: int) -> bool:
        committed.append(token)
        return ends(token)

    verdict = verify(draws(), draft, commit)
    assert committed == verdict.tokens
    assert asked == verdict.tokens
    return verdict


def test_what_ends_the_reply_is_for_commit_to_say() -> None:
    seen: list[int] = []

    def third(token: int) -> bool:
        seen.append(token)
        return len(seen) == 3

    assert judge([1, 1, 1, 1, 1], [1, 1, 1, 1], third) == Verdict([1, 1, 1], 3, 1, ended=True)


@given(st.data())
def test_against_the_plain_reply(data: st.DataObject) -> None:
    n = data.draw(st.integers(0, 16))
    tokens = st.sampled_from([1, 2, END])
    choices = data.draw(st.lists(tokens, min_size=n + 1, max_size=n + 1))
    kept = data.draw(st.integers(0, n))  # long agreements are rare by chance
    draft = choices[:kept] + data.draw(st.lists(tokens, min_size=n - kept, max_size=n - kept))

    plain: list[int] = []  # what plain decoding would write, as far as the rows are valid
    for i, token in enumerate(choices):
        plain.append(token)
        if token == END or i == n or draft[i] != token:
            break
    ended = plain[-1] == END
    n_accepted = sum(a == b for a, b in zip(plain, draft, strict=False))

    verdict = judge(choices, draft)
    assert verdict.tokens == plain
    assert verdict.ended == ended
    assert verdict.n_accepted == n_accepted
    assert verdict.n_discarded == (max(n - len(plain), 0) if ended else 0)
    n_rejected = n - verdict.n_accepted - verdict.n_discarded
    assert n_rejected >= 0
    if ended:  # at most the one that the end took the place of
        assert n_rejected <= 1
