"""A sampler written down from its definition in float64, into which a fault can be planted.

It shares the noise with the real one and nothing else, computes every distribution exactly, and
shows that the tests of distributions find the faults that samplers have.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from engine.token_grammar import Rule
from paceline.engine.sample.noise import gumbel, position_key
from paceline.engine.sample.verify import Verdict
from paceline.params import SamplingParams

Vector = NDArray[np.float64]


def edit(
    row: Sequence[float] | NDArray[np.float32],
    p: SamplingParams,
    recent: Sequence[int],
    allowed: Sequence[int] | None,
    fault: str = "",
) -> Vector:
    """Logits after biases, penalties and grammar."""
    logits = np.array(row, np.float64)
    for bias in p.logit_bias:
        if fault != "bias after truncation":
            logits[bias.token] += bias.bias
    for token, count in zip(
        *np.unique(np.array(recent[-64:], int), return_counts=True), strict=True
    ):
        logits[token] *= p.repeat_penalty if logits[token] <= 0 else 1 / p.repeat_penalty
        logits[token] -= p.presence_penalty + count * p.frequency_penalty
    if allowed is not None and fault != "grammar after truncation":
        mask = np.full(len(logits), -math.inf)
        mask[list(allowed)] = 0
        logits += mask
    return logits


def truncate(logits: Vector, p: SamplingParams, fault: str = "") -> NDArray[np.bool_]:
    """Return the tokens that top-k, top-p and min-p leave, bool [n_vocab]."""
    weights = np.exp(logits - logits.max())
    if fault == "temperature before truncation":
        weights = weights ** (1 / p.temperature)
    order = np.lexsort((np.arange(len(weights)), -weights))
    ranked = weights[order]
    keep = ranked > 0
    top_k = np.arange(len(ranked)) < (p.top_k or len(ranked))
    least = ranked >= p.min_p
    if fault != "top-p before top-k":
        keep &= top_k
    if fault == "min-p before top-p":
        keep &= least
    if p.top_p < 1:
        mass = np.where(keep, ranked, 0)
        before = np.cumsum(mass) - mass
        keep &= before < p.top_p * mass.sum()
    keep &= least & top_k
    kept = np.zeros(len(weights), bool)
    kept[order[keep]] = True
    return kept


def distribution(
    row: Sequence[float] | NDArray[np.float32],
    p: SamplingParams,
    recent: Sequence[int] = (),
    allowed: Sequence[int] | None = None,
) -> Vector:
    """The exact distribution of the token that such a row gives."""
    logits = edit(row, p, recent, allowed)
    weights = np.where(truncate(logits, p), np.exp((logits - logits.max()) / p.temperature), 0)
    return weights / weights.sum()


class PlainSampler:
    """Draws by the definition; `fault` names what it does wrong."""

    def __init__(
        self, params: SamplingParams, seed: int, rule: Rule | None = None, fault: str = ""
    ) -> None:
        self.params = params
        self.seed = seed
        self.rule = rule
        self.fault = fault
        self.prompt: list[int] = []
        self.reply: list[int] = []

    def start(self, prompt: Sequence[int]) -> None:
        if self.fault != "prompt not penalised":
            self.prompt = list(prompt)

    def commit(self, token: int) -> None:
        self.reply.append(token)

    def sample(self, row: NDArray[np.float32], position: int) -> int:
        p, fault = self.params, self.fault
        allowed = sorted(self.rule(tuple(self.reply))) if self.rule else None
        logits = edit(row, p, [*self.prompt, *self.reply], allowed, fault)
        kept = truncate(logits, p, fault)
        if fault == "bias after truncation":
            for bias in p.logit_bias:
                logits[bias.token] += bias.bias
        if fault == "grammar after truncation" and allowed is not None:
            fitting = kept & np.isin(np.arange(len(kept)), allowed)
            kept = fitting if fitting.any() else np.isin(np.arange(len(kept)), allowed)
        if fault == "the same noise at every position":
            position = 0
        if fault == "noise of the tokens' ranks":
            ids = (-logits).argsort().argsort()
        else:
            ids = np.arange(len(logits))
        noise = gumbel(position_key(self.seed, position), ids)
        scale = 0.95 if fault == "slightly too cold" else 1.0
        scores = np.where(kept, logits / (p.temperature * scale) + noise, -math.inf)
        return int(scores.argmax())


def faulty_verify(fault: str) -> Callable[..., Verdict]:
    """The acceptance rule with a fault."""

    def verify(
        rows: NDArray[np.float32],
        draft: Sequence[int],
        position: int,
        sample: Callable[[NDArray[np.float32], int], int],
        commit: Callable[[int], bool],
    ) -> Verdict:
        late: list[int] = []
        tokens: list[int] = []
        for i in range(len(draft) + 1):
            row, at = rows[i], position + i
            if fault == "one position per step":
                at = position
            elif fault == "bonus token one position late" and i == len(draft) > 0:
                at += 1
            elif fault == "own choice from the row before" and i > 0:
                again = sample(rows[i].copy(), at)
                row = rows[i] if i < len(draft) and again == draft[i] else rows[i - 1]
            token = sample(row.copy(), at)
            accepted = i < len(draft) and token == draft[i]
            if fault == "a likely draft is good enough" and i < len(draft):
                accepted = accepted or bool(row[draft[i]] > row.max() - 0.5)
                token = draft[i] if accepted else token
            tokens.append(token)
            if fault == "penalties once per step":
                late.append(token)
            else:
                commit(token)
            if not accepted:
                break
        for token in late:
            commit(token)
        return Verdict(tokens, len(tokens) - 1, 0, ended=False)

    return verify
