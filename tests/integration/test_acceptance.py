"""Coupled noise pays: drafts that use it are accepted more often than the likeliest token."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from benchmarks.acceptance import (
    TEMPERATURES,
    ArgmaxDraft,
    load,
    measure,
    paired_gain,
    wilson,
)
from integration.engine import WARM
from paceline.engine.draft.base import Workbench
from paceline.engine.pair import LoadedPair
from paceline.engine.sample.sampling import Sampler
from paceline.params import SamplingParams


@pytest.fixture(scope="module")
def pair(demo_pair: tuple[Path, Path]) -> Iterator[LoadedPair]:
    loaded = load(*demo_pair)
    yield loaded
    loaded.close()


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("temperature", TEMPERATURES)
def test_coupled_drafts_are_accepted_more_often(
    pair: LoadedPair, temperature: float, *, is_long: bool
) -> None:
    sampling = dataclasses.replace(SamplingParams(), temperature=temperature)
    result = measure(pair, sampling, n_seeds=3 if is_long else 2)
    assert result.n > (2250 if is_long else 1500)
    assert result.gain.low > 0
    assert result.gain.rate == pytest.approx(result.coupled.rate - result.argmax.rate)


def test_the_rival_does_not_draft_an_end_that_the_target_never_draws(pair: LoadedPair) -> None:
    vocab = pair.target.model.vocab
    for eog, expected in ((frozenset[int](), False), (vocab.eog, True)):
        bench = Workbench(
            vocab=vocab, sampler=Sampler(WARM, 1), draft=pair.draft, eog=eog, chunk=16
        )
        rival = ArgmaxDraft(bench, {"n_max": 1, "n_min": 0, "p_min": 0})
        row = np.zeros(vocab.n_tokens, np.float32)
        row[min(vocab.eog)] = 9
        assert (rival._sampler.draft(row, 0)[0] in vocab.eog) is expected
        rival.close()


def test_gains_are_paired() -> None:
    gain = paired_gain([(True, False)] * 10 + [(True, True)] * 80 + [(False, True)] * 10)
    assert gain.rate == 0
    assert gain.high == pytest.approx(1.96 * (0.2 / 100) ** 0.5)
    assert gain.low == -gain.high


@pytest.mark.parametrize(
    ("n_accepted", "n", "low", "high"),
    [(50, 100, 0.4038, 0.5962), (0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0)],
)
def test_intervals_are_wilsons(n_accepted: int, n: int, low: float, high: float) -> None:
    rate = wilson(n_accepted, n)
    assert (rate.low, rate.high) == pytest.approx((low, high), abs=2e-4)
    assert rate.low <= rate.rate <= rate.high
