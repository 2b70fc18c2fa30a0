"""Sampled frequencies against exact distributions, and faults planted to see them found.

Every test decides by Pearson's χ² at one false alarm in a million (see `chi_square.py`), and with
fixed seeds. Exact distributions come from `plain_sampler.py`, in float64 and without the sampler.

What is found for certain (`test_the_power_that_is_stated` measures it):

* one row, 32 tokens, 20,000 draws: a shift of 0.03 in total variation (limit of χ²: 84.2);
  total variation itself, checked beside it, is limited to 0.038 and finds 0.06;
* three tokens of a reply, 5³ = 125 outcomes, 5,000 replies: a shift of 0.06;
* the rate of acceptance of a coupled draft, 20,000 rows: 0.018 (five standard errors).

A token of probability zero must never appear. Positions are tested apart and as triples, since a
marginal distribution alone does not see wrong conditioning.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.chi_square import assert_follows, chi_square, total_variation
from engine.plain_sampler import PlainSampler, distribution, faulty_verify
from engine.token_grammar import Rule, TokenGrammar, random_rule
from engine.workbench import workbench
from paceline.engine.draft.lookups.earlier_reply import EarlierReplyDrafter
from paceline.engine.sample.sampling import Sampler
from paceline.engine.sample.verify import Verdict, verify
from paceline.params import LogitBias, SamplingParams

N = 20_000
N_REPLIES = 5_000
TV_LIMIT = 0.038
SIGMAS = 5.0
OFF = SamplingParams(temperature=1, top_k=0, top_p=1, min_p=0)
RECENT = (3, 3, 3, 7, 9, 12)
BIASES = (LogitBias(2, 1.5), LogitBias(4, -math.inf), LogitBias(6, -2.0))
PENALTIES = {"repeat_penalty": 1.3, "presence_penalty": 0.4, "frequency_penalty": 0.3}


def changed(**values: object) -> SamplingParams:
    return dataclasses.replace(OFF, **values)  # type: ignore[arg-type]


def make_row(seed: int, n: int = 32) -> NDArray[np.float32]:
    return (np.random.default_rng(seed).normal(size=n) * 1.6).astype(np.float32)


# ---------------------------------------------------------------------------------- one row

Make = Callable[[SamplingParams, int, Rule | None], Any]


def real(p: SamplingParams, seed: int, rule: Rule | None) -> Sampler:
    return Sampler(p, seed, grammar=TokenGrammar(rule) if rule else None)


def faulty(fault: str) -> Make:
    return lambda p, seed, rule: PlainSampler(p, seed, rule, fault)


SETTINGS = {
    "off, T 0.3": changed(temperature=0.3),
    "off, T 2": changed(temperature=2.0),
    "top-k": changed(temperature=1.2, top_k=9),
    "top-p": changed(temperature=0.8, top_p=0.93),
    "min-p": changed(temperature=2.0, min_p=0.05),
    "all": changed(temperature=0.8, top_k=16, top_p=0.9, min_p=0.02),
    "all, hot": changed(temperature=2.0, top_k=20, top_p=0.9, min_p=0.05),
    "bias": changed(temperature=1.2, logit_bias=BIASES, top_k=8),
    "penalties": changed(temperature=0.8, **PENALTIES),
    "penalties and bias": changed(
        temperature=1.2, logit_bias=BIASES, top_k=12, min_p=0.02, **PENALTIES
    ),
}


def check_row(
    make: Make, p: SamplingParams, n: int = N, rule: Rule | None = None, seed: int = 5
) -> None:
    """Draw from one row at many positions."""
    row = make_row(seed)
    exact = distribution(row, p, RECENT, sorted(rule(())) if rule else None)
    assert (exact > 0).sum() >= 4
    sampler = make(p, 77, rule)
    sampler.start(RECENT)
    counts = np.bincount([sampler.sample(row.copy(), i) for i in range(n)], minlength=32)
    assert_follows(counts, exact)
    if n == N:
        assert total_variation(counts, exact) < TV_LIMIT


@pytest.mark.grid(short=5)
@pytest.mark.parametrize("name", SETTINGS)
def test_one_row(name: str) -> None:
    check_row(real, SETTINGS[name])


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("name", ["off, T 2", "top-p", "penalties and bias"])
def test_one_row_under_a_grammar_is_masked_and_renormalised(name: str) -> None:
    check_row(real, SETTINGS[name], rule=random_rule(6, 32, 0.5))


def test_the_race_draws_exactly() -> None:
    """Rows long enough for thresholds instead of all the noise; a tail as heavy as its head."""
    n, p = 17_000, changed(temperature=0.8)
    row = np.full(n, 0.0, np.float32)
    row[:31] += 0.8 * math.log(n / 31) + make_row(1)[:31]
    exact = distribution(row, p)
    groups = np.minimum(np.arange(n), 31)  # the tail is one bin
    sampler = Sampler(p, 3)
    counts = np.bincount([groups[sampler.sample(row, i)] for i in range(5_000)], minlength=32)
    assert_follows(counts, np.bincount(groups, exact))
    tail = [t for i in range(5_000) if (t := sampler.sample(row, i)) > 30]
    assert_follows(np.bincount((np.array(tail) - 31) * 16 // (n - 31), minlength=16), [1 / 16] * 16)


# ----------------------------------------------------------------------------- whole replies

K = 5
PROMPT = (1, 4, 1)
TABLE = (np.array([make_row(20 + i, K) for i in range(K)]) * 0.7).astype(np.float32)
DRAFT_TABLE = (TABLE + 0.4 * np.array([make_row(40 + i, K) for i in range(K)])).astype(np.float32)

REPLIES: dict[str, tuple[SamplingParams, Rule | None]] = {
    "off, T 1.2": (changed(temperature=1.2), None),
    "chat": (changed(temperature=0.8, top_k=4, top_p=0.95, min_p=0.05), None),
    "penalties": (changed(temperature=0.8, top_k=4, **PENALTIES), None),
    "grammar": (
        changed(temperature=1.2, top_p=0.9, logit_bias=(LogitBias(2, 1.0),)),
        random_rule(11, K, 0.6),
    ),
}


def row_by_row(
    rows: NDArray[np.float32],
    draft: Sequence[int],
    position: int,
    sample: Callable[[NDArray[np.float32], int], int],
    commit: Callable[[int], bool],
) -> Verdict:
    """The acceptance rule as `faulty_verify` is called."""
    return verify((sample(row, position + i) for i, row in enumerate(rows)), draft, commit)


def exact_replies(p: SamplingParams, rule: Rule | None) -> NDArray[np.float64]:
    """The probability of every reply of three tokens, float64 [K, K, K]."""

    def step(reply: tuple[int, ...]) -> NDArray[np.float64]:
        text = (*PROMPT, *reply)
        return distribution(TABLE[text[-1]], p, text, sorted(rule(reply)) if rule else None)

    exact = np.zeros((K, K, K))
    for a in step(()).nonzero()[0].tolist():
        for b in step((a,)).nonzero()[0].tolist():
            exact[a, b] = step(())[a] * step((a,))[b] * step((a, b))
    return exact


def coupled(p: SamplingParams, seed: int, rule: Rule | None) -> Callable[..., list[int]]:
    """Drafts by another model's rows and the same noise."""
    draft = Sampler(p, seed)

    def propose(text: Sequence[int], position: int, n: int) -> list[int]:
        out: list[int] = []
        for i in range(n):
            last = [*text, *out][-1]
            out.append(draft.sample(DRAFT_TABLE[last].copy(), position + i))
        return out

    return propose


def earlier(p: SamplingParams, seed: int, rule: Rule | None) -> Callable[..., list[int]]:
    """Drafts by the reply to an edited prompt: of the same seed, and all of it drawn before."""
    old = coupled(p, seed, rule)(PROMPT, 0, 3)
    drafter = EarlierReplyDrafter(workbench(replaced=(old,)), {"max": 8, "p_min": 0.0})

    def propose(text: Sequence[int], position: int, n: int) -> list[int]:
        drafter.begin(text, len(text) - position)
        return list(drafter.propose(n).tokens)

    return propose


def check_replies(
    make: Make,
    name: str,
    judge: Callable[..., Any] = row_by_row,
    n: int = N_REPLIES,
    *,
    drafting: Callable[..., Callable[..., list[int]]] = coupled,
) -> None:
    """Write replies of three tokens in steps that verify drafts."""
    p, rule = REPLIES[name]
    counts = np.zeros((K, K, K), int)
    n_drafted = n_accepted = n_bonus = 0
    for seed in range(n):
        sampler, propose = make(p, seed, rule), drafting(p, seed, rule)
        sampler.start(PROMPT)
        reply: list[int] = []

        def commit(token: int, reply: list[int] = reply, sampler: Any = sampler) -> bool:
            reply.append(token)
            sampler.commit(token)
            return False

        while len(reply) < 3:
            position = len(reply)
            text = [*PROMPT, *reply]
            draft = propose(text, position, min(1 + seed % 2, 2 - position))
            rows = TABLE[[text[-1], *draft]]
            verdict = judge(rows, draft, position, sampler.sample, commit)
            n_drafted += len(draft)
            n_accepted += verdict.n_accepted
            n_bonus += 0 < len(draft) == verdict.n_accepted
        counts[tuple(reply)] += 1
    exact = exact_replies(p, rule)
    for axis in range(3):  # positions apart
        others = tuple({0, 1, 2} - {axis})
        assert_follows(counts.sum(axis=others), exact.sum(axis=others))
        assert_follows(counts.sum(axis=axis).ravel(), exact.sum(axis=axis).ravel())  # pairs
    assert_follows(counts.ravel(), exact.ravel())
    assert n_bonus > n / 10
    assert 0.3 < n_accepted / n_drafted < 0.97


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("name", REPLIES)
def test_replies_with_coupled_drafts(name: str) -> None:
    check_replies(real, name)


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("name", REPLIES)
def test_an_earlier_reply_of_the_same_seed_does_not_bias_the_new_one(name: str) -> None:
    check_replies(real, name, drafting=earlier)


def check_positions(make: Make, judge: Callable[..., Any] = row_by_row, n: int = N) -> None:
    """Verify one draft over and over: each position's tokens have their own exact law.

    The draft does not depend on the noise, so its acceptance says nothing about later positions.
    """
    p, _ = REPLIES["penalties"]
    draft = [int(TABLE[PROMPT[-1]].argmax())]
    draft.append(int(TABLE[draft[0]].argsort()[-2]))
    rows = TABLE[[PROMPT[-1], *draft]]
    laws = [distribution(rows[i], p, (*PROMPT, *draft[:i])) for i in range(3)]
    counts = np.zeros((3, K), int)
    for seed in range(n):
        sampler = make(p, seed, None)
        sampler.start(PROMPT)
        verdict = judge(
            rows.copy(), draft, 0, sampler.sample, lambda token, s=sampler: s.commit(token)
        )
        for i, token in enumerate(verdict.tokens):
            counts[i, token] += 1
    for i, law in enumerate(laws):  # the first, the second after an accepted one, the bonus token
        assert counts[i].sum() > n / 20
        assert_follows(counts[i], law)
    for i in range(2):  # the target's own choice in place of a rejected token
        own, law = counts[i].copy(), laws[i].copy()
        own[draft[i]] = law[draft[i]] = 0
        assert_follows(own, law / law.sum())


def test_accepted_own_and_bonus_tokens_each_follow_their_law() -> None:
    check_positions(real, n=6_000)


# ---------------------------------------------------------------------------- planted faults

ROW_FAULTS = {
    "slightly too cold": "penalties",
    "temperature before truncation": "all, hot",
    "top-p before top-k": "all, hot",
    "min-p before top-p": "all, hot",
    "bias after truncation": "bias",
    "prompt not penalised": "penalties",
    "grammar after truncation": "top-k",
}
REPLY_FAULTS = {
    "the same noise at every position": "off, T 1.2",
    "one position per step": "off, T 1.2",
    "bonus token one position late": "off, T 1.2",
    "penalties once per step": "penalties",
    "own choice from the row before": "chat",
    "a likely draft is good enough": "chat",
}


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("fault", ROW_FAULTS)
def test_a_fault_in_a_row_is_found(fault: str) -> None:
    rule = random_rule(6, 32, 0.5) if "grammar" in fault else None
    with pytest.raises(AssertionError, match=r"χ²|impossible"):
        check_row(faulty(fault), SETTINGS[ROW_FAULTS[fault]], rule=rule)


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("fault", REPLY_FAULTS)
def test_a_fault_between_positions_is_found(fault: str) -> None:
    with pytest.raises(AssertionError, match=r"χ²|impossible"):
        check_replies(faulty(fault), REPLY_FAULTS[fault], faulty_verify(fault), n=2_500)


def test_late_penalties_are_found_at_the_bonus_position() -> None:
    judge = faulty_verify("penalties once per step")
    with pytest.raises(AssertionError, match=r"χ²|impossible"):
        check_positions(faulty(""), judge, n=3_000)


def test_what_has_no_fault_passes(is_long: bool) -> None:
    """Else the tests above would show nothing."""
    for setting in sorted(set(ROW_FAULTS.values())):
        check_row(faulty(""), SETTINGS[setting], n=2_000)
    check_row(faulty(""), SETTINGS["top-k"], n=4_000, rule=random_rule(6, 32, 0.5))
    names = sorted(set(REPLY_FAULTS.values()))
    for name in names if is_long else names[:1]:
        check_replies(faulty(""), name, faulty_verify(""), n=1_000)
    check_positions(faulty(""), faulty_verify(""), n=2_000)


def test_noise_that_follows_the_rank_is_found_by_its_draft() -> None:
    """It leaves every distribution as it is; only the coupling suffers."""
    with pytest.raises(AssertionError, match="accepted"):
        check_acceptance(faulty("noise of the tokens' ranks"), SETTINGS["off, T 2"], n=4_000)


@pytest.mark.parametrize(
    ("n_bins", "n", "shift"), [(32, N, 0.03), (125, N_REPLIES, 0.06)], ids=["row", "reply"]
)
def test_the_power_that_is_stated(n_bins: int, n: int, shift: float) -> None:
    p, rule = REPLIES["off, T 1.2"]
    exact = distribution(make_row(5), OFF) if n_bins == 32 else exact_replies(p, rule).ravel()
    rng = np.random.default_rng(3)
    for _ in range(100):
        shifted = exact.copy()
        a = int(exact.argmax())
        b = int(rng.choice(np.flatnonzero(exact > exact.mean())))
        if a == b:
            continue
        shifted[a] -= shift
        shifted[b] += shift
        statistic, limit = chi_square(rng.multinomial(n, np.abs(shifted)), exact)
        assert statistic > limit
        statistic, limit = chi_square(rng.multinomial(n, exact), exact)
        assert statistic < limit


# -------------------------------------------------------------------------------- acceptance


def check_acceptance(make: Make, p: SamplingParams, n: int = N, seed: int = 5) -> None:
    """Two models' rows, the same noise: the rate of agreement is known exactly.

    Token i is both argmaxes with probability 1 / Σ_j max(p_j / p_i, q_j / q_i).
    """
    rows = make_row(seed), (make_row(seed) + 0.4 * make_row(seed + 1)).astype(np.float32)
    ours, theirs = (distribution(row, p, RECENT) for row in rows)
    tv = float(np.abs(ours - theirs).sum() / 2)
    assert 0.05 < tv < 0.5
    both = np.flatnonzero((ours > 0) & (theirs > 0))
    rate = sum(1 / np.maximum(ours / ours[i], theirs / theirs[i]).sum() for i in both)
    assert (1 - tv) / (1 + tv) - 1e-12 <= rate <= 1 - tv + 1e-12
    target, draft = make(p, 9, None), make(p, 9, None)
    target.start(RECENT)
    draft.start(RECENT)
    same = sum(
        target.sample(rows[0].copy(), i) == draft.sample(rows[1].copy(), i) for i in range(n)
    )
    error = math.sqrt(rate * (1 - rate) / n)
    assert abs(same / n - rate) < SIGMAS * error, (
        f"accepted {same / n:.4f}, exactly {rate:.4f} ± {error:.4f}, "
        f"at least {(1 - tv) / (1 + tv):.4f}"
    )


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("name", ["off, T 0.3", "off, T 2", "all", "penalties and bias"])
def test_a_coupled_draft_is_accepted_as_often_as_theory_says(name: str) -> None:
    check_acceptance(real, SETTINGS[name])
