"""Reports on a load that killed the engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from msgspec import structs

from message_samples import sample
from paceline.engine.model.own_kernels import write_mark
from paceline.hosting.exit_reasons import describe_death
from paceline.hosting.process import LoadWatch, without_extra_bufts
from paceline.messages import (
    LoadFailed,
    LoadPair,
    LoadProgressed,
    ModelParams,
    PairLoaded,
)
from paceline.params import DraftModel, params_of
from paceline.workers.ends import End

PAIR = LoadPair(ModelParams("/m/target.gguf"), DraftModel(ModelParams("/m/draft.gguf")))
CRASH = describe_death(End(-4))
KILLED = describe_death(End(-9))
MEMORY = describe_death(End(-6, "std::bad_alloc"))


def progress(stage: Literal["target", "draft"], fraction: float) -> LoadProgressed:
    return LoadProgressed(stage, fraction)


def answer(cls: type[LoadFailed] | type[PairLoaded]) -> LoadFailed | PairLoaded:
    return sample(cls)


def test_the_second_try_is_the_same_load_without_extra_buffers() -> None:
    again = without_extra_bufts(PAIR)
    assert again is not None
    draft = params_of(again.drafting)
    assert draft is not None
    assert not again.target.extra_bufts
    assert not draft.extra_bufts
    assert structs.replace(
        again,
        target=replace(again.target, extra_bufts=True),
        drafting=DraftModel(replace(draft, extra_bufts=True)),
    ) == PAIR  # fmt: skip
    assert without_extra_bufts(again) is None, "there is no third try"


def test_a_draft_alone_is_a_reason_for_a_second_try() -> None:
    assert without_extra_bufts(structs.replace(PAIR, target=ModelParams("t", extra_bufts=False)))
    target_only = LoadPair(ModelParams("t", extra_bufts=False))
    assert without_extra_bufts(target_only) is None
    assert without_extra_bufts(structs.replace(target_only, target=ModelParams("t"))) == target_only


@pytest.mark.parametrize(
    ("events", "is_self_test"),
    [
        ([], False),
        ([progress("target", 0.5)], False),
        ([progress("target", 1.0)], True),
        ([progress("target", 1.0), progress("draft", 0.0)], False),
        ([progress("target", 1.0), progress("draft", 1.0)], True),
        ([progress("target", 1.0), answer(LoadFailed)], False),
        ([progress("target", 1.0), answer(PairLoaded)], False),
    ],
)
def test_a_crash_counts_as_the_self_tests_only_when_the_weights_are_there(
    events: list[LoadProgressed | LoadFailed | PairLoaded], *, is_self_test: bool
) -> None:
    watch = LoadWatch(PAIR)
    for event in events:
        assert watch.hear(event) is event
    assert watch.died_in_self_test(CRASH) is is_self_test
    assert not watch.died_in_self_test(KILLED)


def test_the_model_that_was_being_loaded_is_named() -> None:
    watch = LoadWatch(PAIR)
    assert "“target.gguf”" in watch.explain(CRASH)[0]
    watch.hear(progress("target", 1.0))
    assert "“target.gguf”" in watch.explain(CRASH)[0]
    watch.hear(progress("draft", 0.1))
    message, hint = watch.explain(CRASH)
    assert message == f"The engine ended while it loaded “draft.gguf”. {CRASH.reason}"
    assert "may be damaged" in hint


def test_too_little_memory_is_no_damaged_file() -> None:
    message, hint = LoadWatch(PAIR).explain(MEMORY)
    assert "Memory ran out" in message
    assert hint == MEMORY.hint


def test_a_second_try_that_succeeds_says_why_it_was_needed() -> None:
    watch = LoadWatch(PAIR, note="It crashed.")
    loaded = PairLoaded(sample(PairLoaded).target, None, 1.0, ("Something else.",))
    told = watch.hear(loaded)
    assert isinstance(told, PairLoaded)
    assert told.notes[0] == "Something else."
    assert told.notes[1].startswith("It crashed. So the models were loaded again without")
    assert structs.replace(told, notes=loaded.notes) == loaded
    assert watch.is_over


def test_kernels_that_left_a_mark_are_a_reason_for_the_same_load_again(
    tmp_path: Path, allow_warnings: Callable[[str], None]
) -> None:
    allow_warnings("loaded again without")
    load = structs.replace(PAIR, cache_dir=str(tmp_path), kernels="auto")
    write_mark(load.cache_dir, "fedcba9876543210")  # from another day
    watch = LoadWatch(load)
    assert watch.next_try(CRASH) is None
    write_mark(load.cache_dir, "0123456789abcdef")
    second = watch.next_try(KILLED)
    assert second is not None
    assert second.command == load
    assert second.next_try(CRASH) is None
    second.hear(progress("target", 1.0))
    third = second.next_try(CRASH)
    assert third is not None
    assert third.command == without_extra_bufts(load)
    third.hear(progress("target", 1.0))
    assert third.next_try(CRASH) is None
