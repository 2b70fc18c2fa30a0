"""The acceptance rule: commit the target's tokens in order until one disagrees with the draft.

Since the tokens come from the target's own rows, with noise that depends only on seed and position,
the committed text is that of plain decoding; the draft decides merely how many rows can be used
(`common_sampler_sample_and_accept_n` in llama.cpp's `common/sampling.cpp` has the same structure).
Uses no model and no clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from paceline.errors import EngineError


class Verdict(msgspec.Struct):
    """The result of one verify decode.

    Attributes:
        tokens: The committed tokens; all but the last agree with the draft.
        n_accepted: Number of them that were drafted. Equal to ``len(tokens)`` if the reply ended
            with an accepted token, or failed after one, otherwise ``len(tokens) - 1``: the last is
            the bonus token, or the target's own choice in place of a rejected one.
        n_discarded: Drafted tokens after the reply's end, which were never judged.
        ended: Whether the last token ends the reply.
        failure: Error of the row after the last token, for example invalid numbers, or None.
    """

    tokens: list[int]
    n_accepted: int
    n_discarded: int
    ended: bool
    failure: EngineError | None = None


def verify(draws: Iterable[int], draft: Sequence[int], commit: Callable[[int], bool]) -> Verdict:
    """Commit tokens until the first mismatch, the reply's end, or a row that gives no token.

    Args:
        draws: Yields each row's token in order: the i-th is that of the row after the first i
            drafted tokens. Raises an `EngineError` for a row that gives no token. A token is taken
            after the one before it was committed.
        draft: The drafted tokens; may be empty.
        commit: Called with every committed token in order; returns True if it ends the reply. A
            token that it refuses by an `EngineError` is not committed.
    """
    tokens: list[int] = []
    n_draft = len(draft)
    rows = iter(draws)
    for i in range(n_draft + 1):
        try:
            token = next(rows)
            ended = commit(token)
        except EngineError as failure:
            return Verdict(tokens, i, n_draft - i, ended=False, failure=failure)
        tokens.append(token)
        accepted = i < n_draft and draft[i] == token
        if ended:
            return Verdict(tokens, i + accepted, max(n_draft - i - 1, 0), ended=True)
        if not accepted:
            break
    return Verdict(tokens, len(tokens) - 1, 0, ended=False)
