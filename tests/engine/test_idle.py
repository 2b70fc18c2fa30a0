"""The draft model catches up with the target's text, whatever it holds of another one."""

from __future__ import annotations

import errno
from collections.abc import Sequence

import pytest

from engine.harness import random_language
from fake_model import ByteVocabulary, FakeModel
from paceline.engine.facts import Facts
from paceline.engine.idle import PIECE_TOKENS, CatchingUp, Grammars, IdleWork
from paceline.engine.model.backend import Rows
from paceline.engine.pair import LoadedPair
from paceline.errors import CancelledError

TEXT = [i % 200 for i in range(PIECE_TOKENS + 30)]


@pytest.mark.parametrize(
    "held",
    [
        [],
        TEXT[:20],
        [*TEXT[:20], 255, 254, 253],
        [255] * 5,
        [*TEXT[:20], *[255] * PIECE_TOKENS * 2],
    ],
    ids=["nothing", "a part", "wrong tokens after it", "another text", "a longer one"],
)
def test_the_draft_model_ends_up_with_the_targets_tokens(held: list[int]) -> None:
    model = FakeModel(random_language(1))
    pair = LoadedPair(FakeModel(random_language(1)), model, Facts(""))
    assert pair.draft is not None
    pair.uses_draft = True
    pair.target.feed(TEXT, 0)
    if held:
        pair.draft.feed(held, 0)
    work, n_slices = CatchingUp(pair), 0
    while work.slice():
        n_slices += 1
        assert model.tokens == pair.draft.tokens == TEXT[: len(model.tokens)]
    assert n_slices == 2
    assert model.tokens == TEXT


class Stopped(FakeModel):
    """Has a recurrent memory and copies of it; a decode can be stopped halfway."""

    is_stopped = False

    def decode(self, tokens: Sequence[int], n_rows: int) -> Rows:
        if self.is_stopped:
            self.tokens.extend(tokens[: len(tokens) // 2])
            raise CancelledError
        return super().decode(tokens, n_rows)


@pytest.mark.parametrize("n_before", [0, 1, 2])
def test_a_slice_that_is_stopped_leaves_a_recurrent_draft_model_what_it_held(n_before: int) -> None:
    text = TEXT * 3
    model = Stopped(random_language(1), can_rollback=False, has_copies=True)
    model.keep_states(0)
    pair = LoadedPair(FakeModel(random_language(1)), model, Facts(""))
    assert pair.draft is not None
    pair.uses_draft = True
    pair.target.feed(text, 0)
    work = CatchingUp(pair)
    for _ in range(n_before):
        assert work.slice()
    for model.is_stopped in (True, True, False):
        held = list(pair.draft.tokens)
        assert held == text[: n_before * PIECE_TOKENS]
        if model.is_stopped:
            with pytest.raises(CancelledError):
                work.slice()
            assert pair.draft.tokens == held
            assert model.tokens == held[: len(held) - pair.draft.n_owed]
    while work.slice():
        pass
    assert model.tokens == pair.draft.tokens == text
    assert sum(model.widths) == len(text), "nothing is decoded twice"


class Failing:
    """A job that can do nothing."""

    contexts = ()

    def __init__(self, error: Exception) -> None:
        self.error = error

    def slice(self) -> bool:
        raise self.error


@pytest.mark.parametrize("error", [MemoryError(), OSError(errno.ENOMEM, "no memory to map")])
def test_a_job_without_memory_ends_and_the_others_continue(error: Exception) -> None:
    model = FakeModel(random_language(1))
    pair = LoadedPair(FakeModel(random_language(1)), model, Facts(""))
    pair.uses_draft = True
    pair.target.feed(TEXT, 0)
    work, n_slices = IdleWork(pair, (Failing(error), CatchingUp(pair))), 0
    while work.slice():
        n_slices += 1
    assert n_slices == 3  # one of the job that fails
    assert model.tokens == TEXT


class Preparing(ByteVocabulary):
    """Needs two slices until grammars have what they need."""

    n_left = 2

    def prepare_grammars(self) -> bool:
        self.n_left -= 1
        return self.n_left >= 0


def test_what_grammars_need_is_made_in_idle_time(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = LoadedPair(FakeModel(random_language(1)), None, Facts(""))
    monkeypatch.setattr(pair.target.model, "vocab", Preparing())
    work = IdleWork(pair, (Grammars(pair),))
    assert [work.slice() for _ in range(3)] == [True, True, False]
