"""The same text for the files that people have: a real model with weights of mixed types.

In Q4_K_M llama.cpp's kernels round by the width of the batch and by a row's place in it, for some
rows; Paceline's do not. Skipped where the model cannot be downloaded.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import real_models
from integration.engine import GREEDY, WARM, Engine
from paceline.installation import kernel_files
from paceline.messages import SamplingParams

PROMPTS = (
    "Write this list again in capital letters: red, green, blue, yellow, red, green, blue, black.",
    "Rename x to total and repeat the code: def f(x):\n    x = x + 1\n    x = x * 2\n    return x",
    "Quote this sentence three times: The rider behind the first one saves a third of the power.",
)
STRATEGIES = ("suffix:min_match=1:p_min=0", "ngram-simple", "auto")


@pytest.fixture(scope="module")
def model() -> Path:
    return real_models.path_or_skip("smollm2-135m", "q4_k_m")


@pytest.fixture
def built() -> None:
    if kernel_files.find() is None:
        pytest.skip("Paceline's own kernels are not built for this llama.cpp")


@pytest.mark.usefixtures("built")
@pytest.mark.grid(short=1)
@pytest.mark.parametrize("n_threads", [1, 2])
def test_own_kernels_give_the_same_text_with_any_strategy(
    model: Path, n_threads: int, *, is_long: bool
) -> None:
    with Engine(model, n_threads=n_threads, kernels="own") as engine:
        if {use.by for use in engine.loaded.target.kernels} != {"own"}:
            pytest.skip("Paceline's own kernels do not take all types of this model here")
        assert engine.loaded.sameness.holds is True
        tried = 0
        prompts = PROMPTS if is_long else PROMPTS[n_threads - 1 : 2]
        for prompt in prompts:
            sampling = GREEDY if prompt == PROMPTS[0] else WARM
            options = {"sampling": sampling, "max_tokens": 40, "ignore_eog": True}
            plain = engine.reply(prompt, **options)
            for strategy in STRATEGIES:
                drafted = engine.reply(prompt, strategy=strategy, **options)
                assert drafted.tokens == plain.tokens, (prompt, strategy)
                assert drafted.stats.batch_invariant is True
                tried += 0 < drafted.stats.n_accepted < drafted.stats.n_drafted
        assert tried >= len(prompts)
        engine.idle()
        sameness = engine.pair.promise.sameness
        assert sameness.holds is True
        assert sameness.n_rows > 0
        assert sameness.difference == 0.0


@pytest.mark.usefixtures("built")
@pytest.mark.long  # the usual run goes far beyond a window of 32 tokens, in test_sliding_windows.py
@pytest.mark.parametrize("n_threads", [1, 2])
def test_texts_far_beyond_a_sliding_window_are_the_same(n_threads: int) -> None:
    """Gemma 3's layers see 512 tokens, but for every sixth; itself drafts, too."""
    gemma = real_models.path_or_skip("gemma3-270m")
    words = (Path(__file__).parents[2] / "README.md").read_text("utf-8").split()
    prompt = " ".join((words * 9)[:2200])
    with Engine(gemma, gemma, n_threads=n_threads, n_ctx=4096, kernels="own") as engine:
        if {use.by for use in engine.loaded.target.kernels} != {"own"}:
            pytest.skip("Paceline's own kernels do not take all types of this model here")
        options = {"max_tokens": 60, "ignore_eog": True, "sampling": SamplingParams(0.3), "seed": 4}
        engine.reply(prompt, **{**options, "max_tokens": 1})  # so that all find the same cells
        plain = engine.reply(prompt, **options)
        assert plain.stats.n_prompt > 3000
        more = ("ngram-simple", "prompt-lookup", "draft:n_max=4:p_min=0", "suffix+draft")
        for strategy in (STRATEGIES[0], "auto", *more):
            drafted = engine.reply(prompt, strategy=strategy, **options)
            assert drafted.tokens == plain.tokens, strategy
            assert drafted.stats.n_accepted > 0 or strategy == "auto"
            held = engine.pair.target
            assert held.model.n_past == len(held.tokens)


def test_with_stock_kernels_the_figures_say_that_rows_differ(model: Path) -> None:
    """Allow for a build of llama.cpp with equal rows, where replies must be the same."""
    with Engine(model) as engine:
        assert engine.loaded.sameness.holds is not True, "a load sees little, but may refute"
        options = {"sampling": WARM, "max_tokens": 40, "ignore_eog": True}
        plain = engine.reply(PROMPTS[0], **options)
        engine.idle()
        drafted = engine.reply(PROMPTS[0], strategy=STRATEGIES[0], **options)
        stats = drafted.stats
        assert stats.batch_invariant is not None
        assert stats.logit_difference is not None
        assert stats.batch_invariant is (stats.logit_difference == 0)
        if stats.batch_invariant:
            assert drafted.tokens == plain.tokens


@pytest.mark.long  # a load alone takes 10 to 20 s; the usual run has the demo pair's in exact mode
def test_exact_mode_with_stock_kernels(model: Path) -> None:
    with Engine(model, n_threads=2, exact=True) as engine:
        options = {"sampling": WARM, "max_tokens": 40, "ignore_eog": True}
        plain = engine.reply(PROMPTS[1], **options)
        drafted = engine.reply(PROMPTS[1], strategy=STRATEGIES[0], **options)
        assert 0 < drafted.stats.n_accepted < drafted.stats.n_drafted
        if drafted.stats.batch_invariant:
            assert drafted.tokens == plain.tokens
