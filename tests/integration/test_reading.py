"""A prompt gives the same numbers wherever it is cut, by own kernels: warm is cold, bit for bit."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import make_pairs
import real_models
import wide_models
from integration.engine import Engine
from paceline.engine.model.context import CachedContext
from paceline.engine.sameness.look import sample_tokens
from paceline.installation import kernel_files
from paceline.messages import SamplingParams
from requantised import requantise

N_TOKENS = 1100
"""Tokens of a prompt: two whole batches of 512 and a part of one."""
REAL = {
    "SmolLM2, Q8_0": ("smollm2-135m", "q8_0"),
    "SmolLM2, Q4_K_M": ("smollm2-135m", "q4_k_m"),
    "Gemma 3, Q4_K_M": ("gemma3-270m", ""),
}


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    if kernel_files.find() is None:
        pytest.skip("Paceline's own kernels are not built for this llama.cpp")


@pytest.fixture(scope="module", params=[0, 4], ids=["dense", "experts"])
def small(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Random layers with rows of 256 and 512, which every type can have."""
    path = tmp_path_factory.mktemp("small") / "q8_0.gguf"
    model = wide_models.random_llama(
        make_pairs.read(make_pairs.DEMO_DRAFT), 256, 512, layers=2, heads=8, experts=request.param
    )
    with path.open("wb") as out:
        model.write(out)
    return path


def opened(path: Path, n_threads: int = 1, **options: object) -> Engine:
    """Load a model whose every product own kernels compute."""
    engine = Engine(path, n_threads=n_threads, n_ctx=2048, kernels="own", mtp="off", **options)
    if {use.by for use in engine.loaded.target.kernels} != {"own"}:
        engine.client.close()
        pytest.skip("Paceline's own kernels do not take all types of this model here")
    return engine


def read(context: CachedContext, tokens: list[int], drawn: random.Random) -> bytes:
    """Read a prompt in pieces of random lengths, some of which are taken back; return its row."""
    while len(context.tokens) < len(tokens) - 1:
        done = len(context.tokens)
        n = drawn.choice((1, 2, 7, 63, 64, 65, 200, 511, 512))
        piece = tokens[done : min(done + n, len(tokens) - 1)]
        if drawn.random() < 0.3:  # another text, that goes again
            context.feed(piece[::-1], 0)
            context.rollback(done)
        context.feed(piece, drawn.randint(0, min(len(piece), 63)))
        if drawn.random() < 0.3:
            context.rollback(max(len(context.tokens) - drawn.randint(1, 300), 1))
    return context.feed(tokens[-1:], 1).tobytes()


def check(path: Path, n_lives: int, n_tokens: int = N_TOKENS) -> None:
    rows: set[bytes] = set()
    for n_threads in (1, 2):
        with opened(path, n_threads) as engine:
            assert engine.loaded.sameness.any_context
            assert engine.loaded.sameness.holds is True
            context = engine.pair.target
            tokens = sample_tokens(context.model.vocab, n_tokens, 3)
            rows.add(context.prefill(tokens, context.model.n_batch).tobytes())
            for seed in range(n_lives):
                drawn = random.Random(seed)
                context.rollback(drawn.choice((0, drawn.randrange(n_tokens))))
                rows.add(read(context, tokens, drawn))
                context.rollback(drawn.randrange(1, n_tokens))
                rows.add(context.prefill(tokens, drawn.choice((512, 100))).tobytes())
    assert len(rows) == 1


@pytest.mark.grid(short=3)
@pytest.mark.parametrize(
    "kind",
    [
        *("q8_0", "q4_0", "q4_k", "q4_k_m", "q6_k", "iq4_xs", "q4_1", "q5_k_m", "f16", "bf16"),
        *("q2_k", "iq3_s"),
    ],
)
def test_random_weights_of_any_type(kind: str, small: Path, tmp_path: Path) -> None:
    path = small
    if kind != "q8_0":
        path = tmp_path / f"{kind}.gguf"
        requantise(small, kind, path)
    check(path, 2)


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("name", REAL)
def test_weights_that_people_have_trained(name: str, *, is_long: bool) -> None:
    check(real_models.path_or_skip(*REAL[name]), *((6,) if is_long else (1, 600)))


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("kind", ["q4_0", "q4_k", "iq4_nl"])
def test_the_layout_of_weights_makes_no_difference(kind: str, small: Path, tmp_path: Path) -> None:
    """ggml changes the layout of these types if it can."""
    path = tmp_path / f"{kind}.gguf"
    requantise(small, kind, path)
    rows: list[bytes] = []
    for is_laid_out in (True, False):
        with opened(path, extra_bufts=is_laid_out) as engine:
            context = engine.pair.target
            tokens = sample_tokens(context.model.vocab, N_TOKENS, 3)
            rows.append(context.prefill(tokens, context.model.n_batch).tobytes())
            rows[-1] += context.feed(tokens[:9], 9).tobytes() + context.feed([5], 1).tobytes()
    assert rows[0] == rows[1]


def test_with_stock_kernels_a_cut_does_make_a_difference(small: Path, tmp_path: Path) -> None:
    """The control."""
    path = tmp_path / "q4_k_m.gguf"
    requantise(small, "q4_k_m", path)
    with Engine(path, n_ctx=2048, kernels="stock") as engine:
        assert not engine.loaded.sameness.any_context
        context = engine.pair.target
        tokens = sample_tokens(context.model.vocab, N_TOKENS, 3)
        row = context.prefill(tokens, 512).tobytes()
        context.clear()
        assert read(context, tokens, random.Random(1)) != row


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("is_exact", [False, True])
def test_exact_mode_costs_nothing(small: Path, is_exact: bool) -> None:
    """No token is read again, whatever the place where a prompt begins to differ."""
    with opened(small, exact=is_exact) as engine:
        context = engine.pair.target
        tokens = sample_tokens(context.model.vocab, N_TOKENS, 3)
        context.prefill(tokens, 512)
        assert context.reuse([*tokens[:777], 5]) == 777
        basis = engine.loaded.sameness.basis
        options = {"sampling": SamplingParams(1.0), "max_tokens": 5, "ignore_eog": True}
        assert engine.reply("abc", **options).stats.any_context
    with opened(small, exact=not is_exact) as engine:
        assert engine.loaded.sameness.basis == basis
