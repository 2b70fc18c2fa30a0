"""The test of a model within its load, before the first reply relies on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from engine.harness import random_language
from fake_model import N_VOCAB, FakeBackend, FakeModel
from inline_client import InlineClient
from paceline.engine.model.backend import LanguageModel, Rows
from paceline.engine.sameness.look import check_going_back, self_test
from paceline.errors import ModelError
from paceline.hosting.threaded import make_engine_service
from paceline.messages import Event, LoadFailed, LoadPair, LoadProgressed, ModelParams, PairLoaded
from paceline.params import DraftModel


class Odd(FakeModel):
    """Gives one number to every row's first logit, depending on width and row."""

    def __init__(
        self, first: dict[tuple[int, int], float] | None = None, **options: object
    ) -> None:
        super().__init__(lambda _tokens: np.zeros(N_VOCAB, np.float32), **options)  # type: ignore[arg-type]
        self.first = first or {}
        self.rows_asked: list[int] = []

    def decode(self, tokens: Sequence[int], n_rows: int) -> Rows:
        assert len(tokens) <= self.n_batch
        assert n_rows <= self.max_rows
        rows = super().decode(tokens, n_rows)
        self.rows_asked.append(n_rows)
        self.native_s += 1.0
        for row in range(n_rows):
            rows[row, 0] = self.first.get((len(tokens), row), 0.0)
        return rows


def failure_of(model: FakeModel) -> ModelError:
    with pytest.raises(ModelError) as caught:
        self_test(model)
    assert caught.value.hint
    return caught.value


def test_three_widths_are_decoded_and_nothing_stays() -> None:
    model = Odd()
    assert self_test(model).can_rollback
    assert model.widths == model.rows_asked == [1, 2, 8]
    assert model.tokens == []
    assert model.native_s == 0.0


@pytest.mark.parametrize(
    ("n_ctx", "n_batch", "max_rows", "widths", "rows"),
    [
        (1, 512, 63, [1], [1]),
        (4, 512, 63, [1, 2], [1, 2]),
        (8, 512, 63, [1, 2, 8], [1, 2, 8]),
        (512, 4, 63, [1, 2], [1, 2]),
        (512, 512, 1, [1, 2, 8], [1, 1, 1]),
        (512, 512, 4, [1, 2, 8], [1, 2, 4]),
    ],
)
def test_as_far_as_they_fit(
    n_ctx: int, n_batch: int, max_rows: int, widths: list[int], rows: list[int]
) -> None:
    model = Odd(n_ctx=n_ctx, max_rows=max_rows)
    model.n_batch = n_batch
    assert self_test(model).can_rollback
    assert (model.widths, model.rows_asked) == (widths, rows)


@pytest.mark.parametrize("number", [np.nan, np.inf])
@pytest.mark.parametrize("place", [(1, 0), (2, 0), (2, 1), (8, 0), (8, 5), (8, 7)])
def test_any_row_that_is_no_number_is_found(place: tuple[int, int], number: float) -> None:
    model = Odd({place: number})
    assert failure_of(model).code == "invalid-numbers"
    assert model.tokens == []


def test_rows_of_minus_infinity_are_found_and_single_ones_are_fine() -> None:
    model = Odd({(2, 1): -np.inf})
    assert self_test(model).can_rollback
    silent = FakeModel(lambda _tokens: np.full(N_VOCAB, -np.inf, np.float32))
    assert failure_of(silent).code == "invalid-numbers"


def test_a_model_that_cannot_take_tokens_back_is_recognised() -> None:
    assert not self_test(Odd(can_rollback=False)).can_rollback


@pytest.mark.parametrize(
    ("first", "apart"),
    [
        ({}, {}),
        ({(2, 0): 0.5}, {(1, 2): 0.5}),
        ({(8, 0): 0.5, (8, 1): -2.0}, {(1, 8): 0.5, (2, 8): 2.0}),
        ({(8, 7): 4.0}, {}),  # no other row has this token's place
    ],
)
def test_rows_of_one_place_are_compared(
    first: dict[tuple[int, int], float], apart: dict[tuple[int, int], float]
) -> None:
    assert self_test(Odd(first)).apart == apart
    assert self_test(Odd(first, max_rows=1)).apart == {}


class Recurrent(FakeModel):
    """Takes tokens back by states or copies, and may find another text there."""

    def __init__(self, *, wrong: str = "", **options: Any) -> None:
        super().__init__(random_language(1), can_rollback=False, **options)
        self.wrong = wrong

    def rollback(self, n_past: int) -> bool:
        done = super().rollback(n_past)
        if done and self.wrong == "states":
            self.tokens[-1:] = [7] * len(self.tokens[-1:])
        return done

    def restore(self, n_past: int) -> int:
        n_held = super().restore(n_past)
        if self.wrong == "copies":
            self.tokens[-1:] = [7] * len(self.tokens[-1:])
        return n_held


@pytest.mark.parametrize(
    ("wrong", "has_copies", "way"),
    [
        ("", False, "states"), ("", True, "states"), ("states", False, "none"),
        ("states", True, "copies"), ("copies", True, "states"),
    ],
)  # fmt: skip
def test_what_brings_another_text_back_is_not_used(wrong: str, has_copies: bool, way: str) -> None:
    model = Recurrent(wrong=wrong, n_states=16, has_copies=has_copies)
    model.keep_states(16)
    check_going_back(model)
    assert model.max_rollback == {"states": 16, "copies": model.n_batch, "none": 0}[way]
    assert model.needs_copies == (way == "copies")
    model.save("prompt")
    assert bool(model.saved) == (has_copies and wrong != "copies")


# -------------------------------------------------------------------------------- in a load


class Quiet(FakeBackend):
    """Never says how far it is."""

    def load(self, params: ModelParams, **options: Any) -> LanguageModel:
        return super().load(params, **options | {"progress": lambda _fraction: None})


def load(backend: FakeBackend, hear: Callable[[Event], None]) -> None:
    client = InlineClient(partial(make_engine_service, backend=lambda: backend), hear)
    client.request(LoadPair(ModelParams("target"), DraftModel(ModelParams("draft"))))


@pytest.mark.parametrize("kind", [FakeBackend, Quiet])
def test_each_load_is_reported_as_complete_before_its_test_begins(kind: type[FakeBackend]) -> None:
    models = {"target": Odd(), "draft": Odd(max_rows=1)}
    told: list[tuple[Event, list[int]]] = []
    load(kind(dict(models)), lambda event: told.append((event, list(models[at(event)].widths))))
    complete = [
        (event.stage, widths)
        for event, widths in told
        if isinstance(event, LoadProgressed) and event.fraction == 1
    ]
    assert complete == [("target", []), ("draft", [])]
    assert isinstance(told[-1][0], PairLoaded)
    assert models["draft"].widths == [1, 2, 8]


def at(event: Event) -> str:
    """Return the model that an event is about."""
    return event.stage if isinstance(event, LoadProgressed) else "target"


def test_what_the_test_finds_out_is_reported() -> None:
    events: list[Event] = []
    models = {"target": Odd(can_rollback=False), "draft": Odd()}
    for model in models.values():  # what a backend says before it was tried
        model.info = structs.replace(model.info, can_rollback=True)
    load(FakeBackend(dict(models)), events.append)
    loaded = events[-1]
    assert isinstance(loaded, PairLoaded)
    assert loaded.draft is not None
    assert (loaded.target.can_rollback, loaded.draft.can_rollback) == (False, True)
    assert any("cannot take tokens back" in note for note in loaded.notes)


@pytest.mark.parametrize("failing", ["target", "draft"])
def test_a_model_that_fails_is_freed_and_so_is_the_other(failing: str) -> None:
    events: list[Event] = []
    models = {"target": Odd(), "draft": Odd()}
    models[failing].first = {(8, 7): np.nan}
    load(FakeBackend(dict(models)), events.append)
    failed = events[-1]
    assert isinstance(failed, LoadFailed)
    assert failed.code == "invalid-numbers"
    assert models["target"].closed
    assert models["draft"].closed == (failing == "draft")


@pytest.mark.parametrize(("first", "holds"), [({}, None), ({(8, 1): 0.5}, False)])
def test_a_load_says_at_once_that_rows_depend_on_their_batch(
    first: dict[tuple[int, int], float], holds: bool | None
) -> None:
    events: list[Event] = []
    load(FakeBackend({"target": Odd(first), "draft": Odd()}), events.append)
    loaded = events[-1]
    assert isinstance(loaded, PairLoaded)
    assert loaded.sameness is not None
    assert loaded.sameness.holds is holds
    assert loaded.sameness.difference == (0.5 if first else None)
