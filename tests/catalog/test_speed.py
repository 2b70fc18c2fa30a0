"""Expected speeds: found ones lie in their intervals, and what they follow from."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from catalog.made_machines import cpu, gpu
from catalog.made_models import CARD, SMALL
from paceline.catalog.judge.curated import curated_pairs_path, load_curated
from paceline.catalog.judge.speed import (
    ExpectedSpeed,
    TokenWork,
    expected,
    expected_of_pair,
    measured_speeds,
    reading_for,
    work_of,
    work_of_head,
)
from paceline.engine.measure.known import MeasuredPair
from paceline.messages import Reading

GB = 10**9
ZEN_5 = Reading(1, 24.3 * GB, 24.8 * GB, 25.3 * GB)
"""One core of a virtual machine, as `MeasureReading` found it."""

SMOLLM = {"n_layers": 30, "n_vocab": 49_152, "kv_elements": ((192, 192),) * 30}
GEMMA = {"n_layers": 18, "n_vocab": 262_144, "kv_elements": ((256, 256),) * 18}
RANDOM = {"n_layers": 8, "n_vocab": 8192, "kv_elements": ((1024, 1024),) * 8}
FOUND = [
    ("smollm2-135m-q4_0", SMOLLM, 75_785_472, 144.1, 182.5),
    ("smollm2-135m-q4_1", SMOLLM, 96_576_768, 134.8, 125.6),
    ("smollm2-135m-q4_k_m", SMOLLM, 103_668_480, 118.2, 121.7),
    ("smollm2-135m-q8_0", SMOLLM, 143_025_408, 80.8, 111.9),
    ("smollm2-135m-f16", SMOLLM, 269_100_288, 95.2, 88.3),
    ("gemma3-270m-q4_k_m", GEMMA, 246_587_904, 53.7, 73.7),
    ("gemma3-270m-q8_0", GEMMA, 285_018_624, 49.4, 68.7),
    ("random-4096-q4_0", RANDOM, 816_594_944, 32.8, 26.9),
    ("random-4096-q4_k_m", RANDOM, 876_068_864, 26.0, 26.7),
    ("random-4096-q8_0", RANDOM, 1_542_209_536, 12.1, 15.0),
]
"""Medians of 40 plain decodes with 256 tokens in the context: by own kernels, by llama.cpp's."""

sizes = st.floats(1e6, 1e11)
rates = st.floats(1e9, 1e12)
shares = st.none() | st.floats(0.0, 1.0)


@pytest.mark.parametrize(("shape", "n_bytes", "own", "stock"), [row[1:] for row in FOUND])
def test_what_was_found_lies_in_the_interval(
    shape: dict[str, object], n_bytes: int, own: float, stock: float
) -> None:
    card = structs.replace(
        CARD, layer_bytes=(n_bytes,), output_bytes=0, tied_bytes=0,
        **shape,  # type: ignore[arg-type]
    )  # fmt: skip
    speeds = expected(work_of(card), ZEN_5)
    assert speeds is not None
    assert speeds.alone.low <= min(own, stock)
    assert max(own, stock) <= speeds.alone.high
    assert speeds.alone.high < 3 * speeds.alone.low, "it says something"


def reading(rate: float) -> Reading:
    return Reading(4, 0.9 * rate, rate, 1.05 * rate)


@given(sizes, sizes, rates, shares)
def test_drafts_never_make_it_slower_and_the_middle_lies_between(
    target: float, draft: float, rate: float, acceptance: float | None
) -> None:
    speeds = expected(TokenWork(target, 1e-3), reading(rate), TokenWork(draft, 1e-4), acceptance)
    assert speeds is not None
    assert speeds.drafted is not None
    assert speeds.basis == "estimate"
    for speed in (speeds.alone, speeds.drafted):
        assert 0 < speed.low < speed.typical < speed.high
    for alone, drafted in zip(speeds.alone, speeds.drafted, strict=True):
        assert drafted >= alone
    assert speeds.gain >= 1


@given(sizes, rates, st.floats(1.1, 10), st.floats(0.0, 0.8))
def test_what_it_follows_from(n: float, rate: float, more: float, acceptance: float) -> None:
    def alone(n_bytes: float, rate: float) -> float:
        speeds = expected(TokenWork(n_bytes, 0.0), reading(rate))
        assert speeds is not None
        assert speeds.gain == 1
        return speeds.alone.typical

    def gain(draft: float, acceptance: float) -> float:
        speeds = expected(TokenWork(n, 0.0), reading(rate), TokenWork(draft, 0.0), acceptance)
        assert speeds is not None
        return speeds.gain

    assert alone(more * n, rate) == pytest.approx(alone(n, rate) / more)
    assert alone(n, more * rate) == pytest.approx(alone(n, rate) * more)
    assert gain(n / 20, acceptance) >= gain(n / 20 * more, acceptance)
    assert gain(n / 20, acceptance + 0.1) >= gain(n / 20, acceptance)
    assert gain(2 * n, 0.99) == 1, "a draft model that is larger is not asked"


@given(st.floats(0.01, 1e5))
def test_a_number_is_rounded_far_within_its_interval(typical: float) -> None:
    said = ExpectedSpeed(typical / 2, typical, 2 * typical).rounded
    assert abs(said - typical) <= typical / 12 + 1e-9
    assert float(f"{said:.2g}") == pytest.approx(said)


def test_nothing_is_reported_where_it_is_not_known() -> None:
    pair = next(p for p in load_curated(curated_pairs_path()) if p.title == "Gemma 4 E2B")
    assert expected(work_of(CARD), None) is None
    assert expected(TokenWork(0, 0), ZEN_5) is None
    assert expected_of_pair(pair, None) is None
    assert expected_of_pair(replace(pair, target_bytes=None), ZEN_5) is None
    alone = expected_of_pair(replace(pair, draft_bytes=None), ZEN_5)
    assert alone is not None
    assert alone.drafted is None
    assert reading_for(ZEN_5, [gpu(8), cpu(8)]) is reading_for(None, [cpu(8)]) is None
    assert reading_for(ZEN_5, [cpu(8)]) is ZEN_5


def test_a_pair_of_the_list_is_told_by_its_sizes_and_its_acceptance() -> None:
    pair = next(p for p in load_curated(curated_pairs_path()) if p.title.startswith("Llama 3.1"))
    speeds = expected_of_pair(pair, ZEN_5)
    better = expected_of_pair(replace(pair, acceptance=0.9), ZEN_5)
    half = expected_of_pair(replace(pair, active=0.5), ZEN_5)
    assert speeds is not None
    assert better is not None
    assert half is not None
    assert 3 < speeds.alone.typical < 6
    assert 1.1 < speeds.gain < 2
    assert better.gain > speeds.gain
    assert half.alone.typical > 1.8 * speeds.alone.typical
    by_header = expected(work_of(CARD), ZEN_5, work_of(SMALL))
    assert by_header is not None
    assert by_header.gain > 1.2
    assert work_of_head(80_000_000).fixed_s < work_of(SMALL).fixed_s


@given(st.floats(1e-4, 10), st.floats(0.0, 0.95), st.floats(0.0, 1.0))
def test_what_was_measured_takes_the_place_of_an_estimate(
    plain_s: float, acceptance: float, price: float
) -> None:
    flat = tuple(1 + 0.1 * max(n - 1, 0) for n in range(20))
    alone = measured_speeds(MeasuredPair(plain_s, flat))
    assert alone.basis == "measured"
    assert alone.drafted is None
    assert alone.alone.typical == pytest.approx(1 / plain_s)
    pair = measured_speeds(MeasuredPair(plain_s, flat, price * plain_s, acceptance))
    assert pair.drafted is not None
    assert pair.gain >= 1
    best = max(sum(acceptance**k for k in range(n + 1)) / (1 + n * (0.1 + price)) for n in range(9))
    assert pair.gain == pytest.approx(best)
