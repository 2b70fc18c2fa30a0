"""Commands in, events out, on scripted models."""

from __future__ import annotations

import errno
import math
import mmap
from collections.abc import Callable

import pytest

from engine.bench import ASK, PROMPT_LENGTH, Bench, writer
from engine.harness import random_language
from fake_model import N_VOCAB, ByteVocabulary, FakeModel, scripted
from paceline.engine import turn
from paceline.engine.refusals import describe_failure
from paceline.messages import (
    ChatMessage,
    DescribeEngine,
    EngineDescribed,
    EngineDied,
    Event,
    FiguresReported,
    LoadFailed,
    LoadProgressed,
    LogitBias,
    PairLoaded,
    PrefillProgressed,
    SamplingParams,
    StepCommitted,
    Tune,
    TuneApplied,
    TuneRejected,
    TurnFinished,
    TurnStarted,
    Unload,
    Unloaded,
)
from strategies import strategy
from turns import turn_of


def test_a_turn_from_start_to_finish(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn, "REPORT_S", 600)  # a busy machine would report more
    bench = Bench(target=writer())
    assert isinstance(bench.load(), PairLoaded)
    finished = bench.finish()
    assert (finished.text, finished.reason, finished.seed) == ("Hello!", "eog", 1)
    kinds = [type(event) for event in bench.events]
    assert kinds[:2] == [LoadProgressed] * 2  # it begins, and it has all weights
    assert kinds[2:5] == [PairLoaded, TurnStarted, PrefillProgressed]
    assert kinds[5:-1] == [StepCommitted] * 7
    shown = "".join(e.text for e in bench.events if isinstance(e, StepCommitted))
    assert shown == "Hello!"
    assert finished.tokens == (*b"Hello!", 256)
    assert finished.stats.n_prompt == PROMPT_LENGTH


def test_figures_are_reported_a_few_times_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(target=writer())
    bench.load()
    monkeypatch.setattr(turn, "REPORT_S", 0.0)  # at once
    n_before = len(bench.events)
    bench.ask()
    kinds = [type(event) for event in bench.events[n_before:]]
    assert kinds[2:-1] == [StepCommitted, FiguresReported] * 7


def test_the_last_long_prompt_says_how_long_the_next_one_takes() -> None:
    bench = Bench(target=FakeModel(random_language(1)))
    bench.load()
    stats = []
    for text in ("a" * 100, "b", "c" * 50):
        finished = bench.finish(messages=(), prompt=text, max_tokens=1)
        stats.append(finished.stats)
    expected = [event.expected_s for event in bench.events if isinstance(event, TurnStarted)]
    each_s = stats[0].prefill_s / 100
    assert expected == pytest.approx([0.0, each_s, 50 * each_s])


def test_a_missing_seed_is_drawn_and_reported() -> None:
    bench = Bench(target=FakeModel(random_language(1)))
    bench.load()
    first, second = bench.ask(seed=None), bench.ask(seed=None)
    assert isinstance(first, TurnFinished)
    assert isinstance(second, TurnFinished)
    assert first.seed != second.seed
    again = bench.finish(seed=first.seed)
    assert again.tokens == first.tokens


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"messages": ()}, "empty-prompt"),
        ({"messages": (ChatMessage.of_text("user", "  "),)}, "empty-prompt"),
        ({"messages": (), "prompt": ""}, "empty-prompt"),
        ({"messages": (), "prompt_tokens": ()}, "empty-prompt"),
        ({"messages": (), "prompt_tokens": (1, 999)}, "no-such-token"),
        ({"messages": (), "prompt": "x" * 600}, "prompt-too-long"),
        ({"max_tokens": 0}, "value-out-of-range"),
        ({"seed": -1}, "value-out-of-range"),
        ({"strategy": "nonsense"}, "bad-strategy"),
        ({"strategy": "draft"}, "no-draft-model"),
        ({"strategy": "prompt-lookup:n_pred=65"}, "bad-strategy"),
    ],
)
def test_what_cannot_be_is_refused_with_a_hint_and_the_next_turn_works(
    options: dict[str, object], code: str
) -> None:
    bench = Bench(target=writer())
    bench.load()
    failed = bench.fail(**options)
    assert failed.code == code
    assert failed.message.endswith(".")
    bench.finish()


def test_a_turn_without_a_model_says_so() -> None:
    failed = Bench().fail()
    assert failed.code == "no-model"


def test_a_failed_load_frees_the_target_and_says_which_file() -> None:
    bench = Bench(target=writer())
    failed = bench.load(draft="missing.gguf")
    assert isinstance(failed, LoadFailed)
    assert "missing.gguf" in failed.message
    assert bench.models["target"].closed
    bench.fail()


def test_a_draft_with_another_vocabulary_is_refused_by_the_first_token_that_differs() -> None:
    class Other(ByteVocabulary):
        def text(self, token: int) -> bytes:
            return b"%d" % token if token >= 65 else super().text(token)

    draft = writer()
    draft.vocab = Other()
    bench = Bench(target=writer(), draft=draft)
    failed = bench.load(draft="draft")
    assert isinstance(failed, LoadFailed)
    assert failed.code == "vocabulary-mismatch"
    assert "Token 65 is “A” in the main model and “65” in the draft model" in failed.message
    assert draft.closed
    assert bench.models["target"].closed


def test_a_new_load_frees_the_old_pair() -> None:
    bench = Bench(target=writer(), other=writer("Bye."), draft=writer())
    bench.load(draft="draft")
    bench.load("other")
    assert bench.models["target"].closed
    assert bench.models["draft"].closed
    finished = bench.finish()
    assert finished.text == "Bye."


def test_tune_takes_effect_within_the_reply_and_a_bad_one_changes_nothing() -> None:
    bench = Bench(target=FakeModel(random_language(6)))
    bench.load()
    plain = bench.ask(max_tokens=120)
    wishes = {10: "prompt-lookup:max_ngram=1", 20: "draft", 30: "off:x=1", 40: "off"}

    def tune(event: Event) -> None:
        if isinstance(event, StepCommitted) and event.step in wishes:
            bench.client.tune(strategy(wishes.pop(event.step)))

    bench.on_event = tune
    bench.events.clear()
    tuned = bench.ask(max_tokens=120)
    assert isinstance(plain, TurnFinished)
    assert isinstance(tuned, TurnFinished)
    assert tuned.tokens == plain.tokens
    assert tuned.strategy == strategy("off")
    answers = [e for e in bench.events if isinstance(e, (TuneApplied, TuneRejected))]
    assert [type(a) for a in answers] == [TuneApplied, TuneRejected, TuneRejected, TuneApplied]
    assert isinstance(answers[1], TuneRejected)
    assert answers[1].code == "no-draft-model"
    assert any(e.drafted for e in bench.events if isinstance(e, StepCommitted))


def test_tune_without_a_running_turn_is_rejected() -> None:
    bench = Bench(target=writer())
    bench.client.request(Tune(strategy("off")))
    assert isinstance(bench.events[-1], TuneRejected)


@pytest.mark.parametrize("at", range(6))
def test_cancel_keeps_what_was_committed(at: int) -> None:
    bench = Bench(target=writer())
    bench.load()

    def cancel(event: Event) -> None:
        if isinstance(event, StepCommitted) and event.step == at:
            bench.client.cancel()

    bench.on_event = cancel
    finished = bench.finish()
    assert finished.reason == "cancelled"
    assert finished.text == "Hello!"[: at + 1]
    bench.on_event = lambda _event: None
    again = bench.finish()
    assert again.text == "Hello!"


def test_cancel_of_another_turn_is_ignored() -> None:
    bench = Bench(target=writer())
    bench.load()
    over = bench.client.request(turn_of(messages=ASK))
    bench.on_event = lambda _event: over.cancel()
    finished = bench.finish()
    assert finished.reason == "eog"


def test_a_target_that_cannot_roll_back_runs_plainly_and_refuses_drafts() -> None:
    bench = Bench(target=FakeModel(scripted("Hello!", PROMPT_LENGTH), can_rollback=False))
    loaded = bench.load()
    assert isinstance(loaded, PairLoaded)
    assert any("without speculation" in note for note in loaded.notes)
    refused = bench.fail(strategy="prompt-lookup")
    assert refused.code == "cannot-rollback"
    for _ in range(2):  # the second prompt has to be read again from its start
        finished = bench.finish()
        assert finished.text == "Hello!"


def test_a_bug_becomes_an_event_and_the_engine_lives(
    allow_warnings: Callable[[str], None],
) -> None:
    allow_warnings("unexpected failure in the engine")
    broken = writer()
    bench = Bench(target=broken)
    bench.load()
    decode, broken.decode = broken.decode, None  # type: ignore[assignment, method-assign]
    failed = bench.fail()
    assert failed.code == "bug"
    broken.decode = decode  # type: ignore[method-assign]
    bench.finish()


def test_memory_that_the_system_refuses_to_map_is_no_bug(
    allow_warnings: Callable[[str], None],
) -> None:
    allow_warnings("unexpected failure in the engine")  # of the other kind
    with pytest.raises(OSError, match="memory") as refused:
        mmap.mmap(-1, 1 << 62)
    code, message, hint = describe_failure(refused.value)
    assert code == "out-of-memory"
    assert message == "There is not enough memory."
    assert hint
    assert describe_failure(OSError(errno.EIO, "of another kind"))[0] == "bug"


def test_unload_describe_and_shutdown() -> None:
    bench = Bench(target=writer())
    bench.client.request(DescribeEngine())
    assert isinstance(bench.events[-1], EngineDescribed)
    bench.load()
    bench.client.request(Unload())
    assert isinstance(bench.events[-1], Unloaded)
    assert bench.models["target"].closed
    bench.load()
    assert bench.client.close()
    assert bench.models["target"].closed
    assert isinstance(bench.client.request(DescribeEngine()).wait(0), EngineDied)


def test_where_nothing_is_allowed_the_contexts_stay() -> None:
    """Nothing is wrong with their numbers, and a long prompt is not to be read again."""
    bench = Bench(target=writer())
    bench.load()
    nothing = tuple(LogitBias(token, -math.inf) for token in range(N_VOCAB))
    failed = bench.fail(sampling=SamplingParams(logit_bias=nothing))
    assert failed.code == "all-forbidden"
    bench.events.clear()
    finished = bench.finish()
    assert finished.text == "Hello!"
    assert finished.stats.n_reused == PROMPT_LENGTH - 1
