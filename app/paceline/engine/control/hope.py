"""What asking a draft model is worth before its steps have told, from what is known of its tokens.

A mean acceptance does not tell that. Where only sure tokens pay for their verification, a model
pays that is sure now and then, and doubtful tokens cost just their drafting, since they are thrown
away. So the worth is a mean over the classes of confidence that the first token may be of, of what
the best length gains behind each of them.
"""

from __future__ import annotations

from collections.abc import Sequence

_DEEPEST = 5  # tokens that are looked at


def hope(
    chances: Sequence[float],
    first: Sequence[float],
    mean: float,
    rate: float,
    ratios: Sequence[float],
    *,
    most: int,
    each: float,
    switch: float,
) -> float:
    """Return the tokens that one step of the model gains over a plain one, less its time.

    Args:
        chances: How likely the first token is of each class, [N_CLASSES].
        first: How likely a first token of each class is accepted, [N_CLASSES].
        mean: How likely any token is, given those before it.
        rate: Tokens per plain step at present.
        ratios: Plain steps by width of the batch.
        most: Tokens that may be verified, at least 1.
        each: Plain steps that drafting one token takes.
        switch: Plain steps that a batch of another width costs once: now and then in any case, and
            with a model that is seldom sure in every step that verifies something.

    Returns:
        Below 0 where drafting costs more than it brings.
    """
    n = min(most, _DEEPEST)
    prices = [rate * (ratios[i + 1] - ratios[i] + each) for i in range(1, n + 1)]
    worth = 0.0
    for chance, accepted in zip(chances, first, strict=True):
        survival, likely = accepted, 0.5 * (accepted + mean)
        best, total = -rate * each, -rate * switch  # the first token, thrown away
        for price in prices:
            total += survival - price
            best = max(best, total)
            survival *= likely
        worth += chance * best
    return worth


def pays_back(catch_up: float, value: float, rate: float, n_left: float) -> bool:
    """Whether a model gains twice what catching up with the text costs before the reply ends.

    Args:
        catch_up: Plain steps that it takes.
        value: Tokens that a step of the model gains over a plain one.
        rate: Tokens per plain step at present.
        n_left: Tokens that the reply may still have.
    """
    return value * n_left / (1.0 + rate) >= 2.0 * catch_up
