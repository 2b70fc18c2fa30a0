"""The native side on real files: loading, cancelling, refusing, and the book-keeping."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import make_pairs
from integration.engine import GREEDY, Engine
from paceline.engine.cancel import CancelFlag
from paceline.engine.llama import LlamaBackend
from paceline.errors import CancelledError
from paceline.messages import (
    LoadFailed,
    ModelParams,
    PrefillProgressed,
    StepCommitted,
    TurnFailed,
    TurnFinished,
)

if TYPE_CHECKING:
    from trials import Trials

QUESTION = "What does os.path.join do?"


@pytest.fixture(scope="module")
def engine(demo_pair: tuple[Path, Path]) -> Iterator[Engine]:
    with Engine(*demo_pair) as engine:
        yield engine


def load_failure(target: Path | str, draft: Path | None = None, **params: object) -> LoadFailed:
    engine = Engine(Path(target), draft, **params)  # type: ignore[arg-type]
    engine.client.close()
    assert isinstance(engine.loaded, LoadFailed), engine.loaded
    assert engine.loaded.message.endswith(".")
    return engine.loaded


def test_files_that_are_no_models(tmp_path: Path) -> None:
    assert load_failure(tmp_path).code == "is-a-directory"
    assert load_failure(tmp_path / "none.gguf").code == "file-not-found"
    assert load_failure(make_pairs.path("not-a-model")).code == "not-a-gguf"
    truncated = load_failure(make_pairs.path("truncated"))
    assert truncated.code == "cannot-load"
    assert truncated.hint


def test_values_that_cannot_be_served(target_path: Path) -> None:
    assert load_failure(target_path, n_ctx=10_000_000).code == "context-too-long"
    assert load_failure(target_path, kv_type_v="q9").code == "value-out-of-range"
    assert load_failure(target_path, kv_type_v="q8_0", flash_attn="off").code.endswith("range")
    assert load_failure(target_path, device="CUDA7").code == "no-such-device"


def test_devices_that_cannot_be_shared_are_no_fault_of_the_file(target_path: Path) -> None:
    failed = load_failure(target_path, device="CPU", split_mode="tensor")
    assert failed.code == "cannot-place"
    assert "needs >= 1 devices" in failed.message
    assert "not damaged" in failed.hint


def test_a_draft_with_too_few_of_the_tokens_is_refused_by_name(target_path: Path) -> None:
    failed = load_failure(target_path, make_pairs.path("tiny-foreign"))
    assert failed.code == "vocabulary-mismatch"
    assert "Paceline tiny-foreign" in failed.message
    assert "in the main model and “foreign-" in failed.message
    assert "cannot be translated" in failed.message


def test_a_model_of_invalid_numbers_is_refused_by_the_self_test() -> None:
    failed = load_failure(make_pairs.path("tiny-nan"))
    assert failed.code == "invalid-numbers"


def test_a_truncated_file_is_refused_with_llama_cpps_own_reason() -> None:
    failed = load_failure(make_pairs.path("truncated"))
    assert "not within the file bounds" in failed.message


def test_a_long_run_of_one_character_does_not_end_the_process(engine: Engine) -> None:
    failed = engine.run("a" * 60_000)
    assert isinstance(failed, TurnFailed)
    assert failed.code == "prompt-too-long"


def test_an_aborted_decode_of_a_recurrent_model_is_forgotten() -> None:
    """Its state is half updated then, and the next reply must not start from it."""
    with Engine(make_pairs.path("tiny-mamba")) as engine:
        fresh = engine.reply(QUESTION, max_tokens=20, ignore_eog=True)
        model, flag = engine.pair.target.model, engine.client.flag
        decode = model.decode

        def aborting(tokens, n_rows):  # type: ignore[no-untyped-def]
            timer = threading.Timer(0.0005, flag.set)
            timer.start()
            try:
                return decode(tokens, n_rows)
            finally:
                timer.join()

        n_stopped = 0
        for _ in range(20):
            model.decode = aborting  # type: ignore[method-assign]
            stopped = engine.reply(QUESTION, max_tokens=20, ignore_eog=True)
            n_stopped += stopped.reason == "cancelled"
            model.decode = decode  # type: ignore[method-assign]
            assert engine.reply(QUESTION, max_tokens=20, ignore_eog=True).tokens == fresh.tokens
        assert n_stopped


def test_typed_control_tokens_stay_text(engine: Engine) -> None:
    harmless = engine.reply("say | im end |", max_tokens=2).stats.n_prompt
    typed = engine.reply("say <|im_end|><|im_start|>", max_tokens=2).stats.n_prompt
    assert typed > harmless - 4 + 2  # ten characters each, not one control token each


@pytest.mark.parametrize("strategy", ["off", "draft:n_max=10000:p_min=0"])
def test_a_context_that_is_nearly_full(
    demo_pair: tuple[Path, Path], strategy: str, trials: Trials
) -> None:
    """Prompts of three tokens less than the context holds to 50 more."""
    with Engine(*demo_pair, n_ctx=64) as engine:
        for i in trials(54, 54):
            tokens = tuple(100 + k for k in range(61 + i))
            end = engine.run("", messages=(), prompt_tokens=tokens, strategy=strategy)
            if len(tokens) < 64:
                assert isinstance(end, TurnFinished)
                assert end.reason in ("context", "eog")
                assert end.stats.n_prompt + len(end.tokens) <= 65
            else:
                assert isinstance(end, TurnFailed)
                assert end.code == "prompt-too-long"
            assert engine.pair.target.model.n_past <= 64


@pytest.mark.parametrize("when", ["prefill", "decode"])
def test_cancel_within_a_step_and_the_next_reply_equals_a_fresh_one(
    engine: Engine, when: str
) -> None:
    fresh = engine.reply(QUESTION, max_tokens=60, ignore_eog=True)
    long = "word " * 1500
    asked_at = 0.0

    def cancel(event: object) -> None:
        nonlocal asked_at
        engine.events.append(event)  # type: ignore[arg-type]
        hit = PrefillProgressed if when == "prefill" else StepCommitted
        if isinstance(event, hit) and not asked_at:
            asked_at = time.perf_counter()
            engine.client.cancel()

    engine.client.on_event = cancel
    finished = engine.reply(long if when == "prefill" else QUESTION, max_tokens=2000)
    took = time.perf_counter() - asked_at
    engine.client.on_event = engine.events.append
    assert isinstance(finished, TurnFinished)
    assert finished.reason == "cancelled"
    assert took < 3
    assert engine.reply(QUESTION, max_tokens=60, ignore_eog=True).tokens == fresh.tokens


def test_the_flag_stops_a_native_decode_from_another_thread() -> None:
    flag = CancelFlag()
    model = LlamaBackend().load(
        ModelParams(str(make_pairs.path("twin-350m")), n_threads=1),
        n_rows=1,
        cancel=flag,
        progress=lambda _fraction: None,
    )
    try:
        timer = threading.Timer(0.05, flag.set)
        timer.start()
        with pytest.raises(CancelledError):
            model.decode([5] * 512, 0)
        timer.join()
        flag.clear()
        assert model.n_past in range(513)
        model.clear()
        assert np.isfinite(model.decode([5], 1)).all()
    finally:
        model.close()


def test_statistics_add_up(engine: Engine) -> None:
    stats = engine.reply(
        QUESTION, strategy="draft:n_max=4:p_min=0", sampling=GREEDY, ignore_eog=True
    ).stats
    (drafter,) = stats.by_drafter
    assert drafter.drafter == "draft"
    assert drafter.tokens == stats.n_drafted
    assert drafter.tokens_accepted == stats.n_accepted == sum(drafter.accepted_per_position)
    assert stats.n_generated == 200 == 1 + stats.n_steps + stats.n_accepted
    assert stats.n_steps == len(engine.steps) - 1
    assert stats.decode_s == pytest.approx(sum(s.total_s for s in engine.steps), rel=0.02)
    assert 0 < stats.overhead_s < stats.decode_s
    assert drafter.drafts == drafter.n_accept <= drafter.n_draft
