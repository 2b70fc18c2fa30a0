"""How many tokens to verify, and whether to draft one more: the marginal-rate rule.

Tokens per second are a ratio of sums, so the best policy maximises tokens - rate * time step by
step, with the rate that it reaches itself (renewal reward; Dinkelbach's method). All times are in
plain steps, all rates in tokens per plain step. Going on behind token i pays where the chance that
one of the next tokens is accepted exceeds what they cost at that rate; looking several tokens
ahead crosses plateaus and cliffs of the cost curve. And one more drafted token is worth its cost
where the draft model may turn out to be so sure of it that verifying it pays (the optimal policy
is a threshold on the chance of a rejection, SpecDec++, arXiv 2405.19715).
"""

from __future__ import annotations

from collections.abc import Sequence

LOOK_AHEAD = 5


def best_cut(
    survivals: Sequence[float],
    rate: float,
    ratios: Sequence[float],
    most: int,
    last_width: int,
    *,
    switch: float,
) -> tuple[int, float, float]:
    """Return how many tokens to verify, what that is worth in tokens, and how many to expect.

    Args:
        survivals: How likely each token is accepted, with all before it.
        rate: Tokens per plain step that decoding reaches at present, at least 1.
        ratios: Plain steps by width of the batch.
        most: Tokens that may be verified.
        last_width: Width of the step before; another one costs `switch` plain steps more.
        switch: See `last_width`.

    Returns:
        The number of tokens, 0 for none; tokens gained over a plain step, less the time at that
        rate, 0 for none; and tokens that the step is expected to commit.
    """
    base = 1.0 if last_width == 1 else 1.0 + switch
    best = width = 1
    best_value = best_total = total = 0.0
    if len(survivals) > most:
        survivals = survivals[:most]
    for survival in survivals:
        total += survival
        width += 1
        cost = ratios[width] - base
        if width != last_width:
            cost += switch
        value = total - rate * cost
        if value > best_value:
            best, best_value, best_total = width, value, total
    return best - 1, best_value, best_total + 1.0


def pays_ahead(
    survival: float,
    hope: float,
    rate: float,
    ratios: Sequence[float],
    n: int,
    *,
    most: int,
    each: float,
) -> bool:
    """Whether some of the next tokens behind the first `n` are worth drafting and verifying.

    Args:
        survival: How likely all `n` tokens are accepted.
        hope: How likely each further one is, given those before it.
        rate: See `best_cut`.
        ratios: See `best_cut`.
        n: Tokens drafted so far.
        most: Tokens that may be verified.
        each: Plain steps that drafting one token takes.
    """
    start = ratios[n + 1]
    gain, cost = 0.0, 0.0
    end = n + LOOK_AHEAD if n + LOOK_AHEAD < most else most
    for width in range(n + 2, end + 2):
        survival *= hope
        gain += survival
        cost += each
        if gain >= rate * (cost + ratios[width] - start):
            return True
    return False


def is_option(
    survival: float, chances: Sequence[float], rates: Sequence[float], dearer: float, price: float
) -> bool:
    """Whether one more token is worth drafting because it may turn out to be worth verifying.

    Args:
        survival: How likely all tokens so far are accepted.
        chances: How likely the next token is of each class of confidence.
        rates: How likely a token of each class is accepted.
        dearer: Tokens that verifying one more costs at the present rate.
        price: Tokens that drafting one more costs at the present rate.
    """
    worth = 0.0
    for cls, rate in enumerate(rates):
        gain = survival * rate - dearer
        if gain > 0.0:
            worth += chances[cls] * gain
    return worth >= price
