"""Proposals where memory does not suffice: always something smaller, never nothing."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.engine.model import model_params
from paceline.engine.model.memory_hints import (
    MIN_PROPOSAL_TOKENS,
    is_about_memory,
    smaller_context,
    what_to_do,
    what_to_do_about_weights,
    with_readable_sizes,
)
from paceline.engine.model.model_params import (
    KV_TYPES,
    NO_REASON,
    check_kv_memory,
    kv_bytes_per_token,
    no_context,
)
from paceline.errors import ModelError
from paceline.messages import ModelParams
from paceline.sizes import readable_size

F16 = ModelParams("x.gguf")
CONTEXTS = st.integers(1, 1 << 22)
FITS = st.none() | st.floats(0, 1e9)


@given(CONTEXTS, FITS)
def test_a_proposal_is_smaller_and_fits_by_the_estimate(n_ctx: int, n_fits: float | None) -> None:
    n = smaller_context(n_ctx, n_fits)
    if n is not None:
        assert MIN_PROPOSAL_TOKENS <= n < n_ctx
        assert n_fits is None or n <= n_fits or n_fits >= n_ctx


@pytest.mark.parametrize(
    ("n_ctx", "n_fits", "proposal"),
    [
        (4096, None, 2048),
        (4096, 5000.0, 2048),  # it should have fitted, and did not
        (4096, 4000.0, 3072),
        (131072, 20000.0, 15872),
        (4096, 600.0, None),
        (4096, 0.0, None),
        (1000, None, 512),
        (513, None, 512),
        (512, None, None),
        (100, 50.0, None),
    ],
)
def test_which_context_is_proposed(n_ctx: int, n_fits: float | None, proposal: int | None) -> None:
    assert smaller_context(n_ctx, n_fits) == proposal


@given(CONTEXTS, FITS, st.sampled_from(sorted(KV_TYPES)))
def test_the_hint_names_that_context_or_none(n_ctx: int, n_fits: float | None, kind: str) -> None:
    hint = what_to_do(ModelParams("x", kv_type_k=kind), n_ctx, n_fits)
    n = smaller_context(n_ctx, n_fits)
    assert re.findall(r"\d[\d,]*", hint) == ([] if n is None else [f"{n:,}"])
    assert ("quantised cache" in hint) is (KV_TYPES[kind][1] >= 2)
    assert "a smaller model" in hint
    assert hint.startswith("What can help: a ")


def test_hints_read_well() -> None:
    assert what_to_do(F16, 4096) == (
        "What can help: a context of 2,048 tokens or fewer, a quantised cache, a smaller model."
    )
    quantised = ModelParams("x", kv_type_k="q8_0")
    assert what_to_do(quantised, 512) == "What can help: a smaller model."
    assert "repacking" in what_to_do_about_weights(F16)
    assert "repacking" not in what_to_do_about_weights(ModelParams("x", extra_bufts=False))


@pytest.mark.parametrize(
    "why",
    [
        "unable to allocate CPU_REPACK buffer",
        "failed to allocate buffer for kv cache",
        "failed to allocate compute pp buffers",
        "mmap failed: Cannot allocate memory",
        "std::bad_alloc",
        "insufficient memory (attempted to allocate  24.00 MB)",
        "CUDA error: out of memory",
        "cudaMalloc failed: out of memory",
    ],
)
def test_complaints_about_memory_are_recognised(why: str) -> None:
    assert is_about_memory(why)


@pytest.mark.parametrize(
    "why",
    [
        NO_REASON,
        "unknown model architecture: 'x'",
        "quantized V cache was requested, but this requires Flash Attention",
        "tensor 'output.weight' data is not within the file bounds, model is corrupted",
    ],
)
def test_and_others_are_not_taken_for_them(why: str) -> None:
    assert not is_about_memory(why)


def test_sizes_are_shown_in_units() -> None:
    assert readable_size(3.5 * 2**20) == "4 MB"
    assert readable_size(1.5 * 2**30) == "1.6 GB"
    why = "failed to allocate CPU buffer of size 3221225472"
    assert with_readable_sizes(why) == "failed to allocate CPU buffer of 3.2 GB"
    assert with_readable_sizes("of size 2.50 MiB") == "of size 2.50 MiB"


# ------------------------------------------------------------------- the errors made from these


@pytest.fixture
def one_gib_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_params, "free_memory", lambda: 2**30)


@pytest.mark.usefixtures("one_gib_free")
def test_a_cache_beyond_the_free_memory_is_refused_with_sizes() -> None:
    per_token = kv_bytes_per_token(F16, n_heads=32 * 8, head_k=128, head_v=128)
    assert per_token == 131072  # 8 B parameters, f16
    check_kv_memory(F16, 8192, per_token)
    with pytest.raises(ModelError) as caught:
        check_kv_memory(F16, 8193, per_token)
    assert caught.value.code == "does-not-fit"
    assert "1.1 GB are free" in caught.value.message
    assert "a context of 6,400 tokens or fewer" in caught.value.hint
    with pytest.raises(ModelError) as caught:
        check_kv_memory(F16, 8192, 2**24)  # 64 tokens would fit
    assert "context" not in caught.value.hint


@pytest.mark.usefixtures("one_gib_free")
def test_a_context_that_llama_cpp_refuses_for_memory() -> None:
    error = no_context(F16, 4096, 131072.0, "failed to allocate CPU buffer of size 536870912")
    assert error.code == "does-not-fit"
    assert error.message == (
        "There is no room for a context of 4,096 tokens for “x.gguf”, whose cache takes 537 MB: "
        "failed to allocate CPU buffer of 537 MB."
    )
    assert "a context of 2,048 tokens" in error.hint
    assert "a context of 6,400 tokens" in no_context(F16, 16384, 131072.0, NO_REASON).hint
    assert "a context of 8,192 tokens" in no_context(F16, 16384, None, NO_REASON).hint


def test_a_context_that_llama_cpp_refuses_for_something_else() -> None:
    error = no_context(F16, 4096, 1.0, "this requires Flash Attention")
    assert error.code == "no-context"
    assert "this requires Flash Attention" in error.message
    assert error.hint
