"""The choice of thread counts, on models whose times depend on the count in known ways."""

from __future__ import annotations

import random
import time
from collections import namedtuple
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import psutil
import pytest
from msgspec import structs

from engine.harness import random_language
from engine.timed_models import Clock
from fake_model import FakeBackend, FakeModel
from inline_client import InlineClient
from paceline.engine.facts import Facts
from paceline.engine.measure.thread_choice import (
    BUDGET_S,
    ForeignLoad,
    ThreadChooser,
    ThreadTrial,
    best_of,
    candidates,
    note,
)
from paceline.engine.model.backend import Rows
from paceline.engine.sameness.look import self_test
from paceline.errors import CancelledError
from paceline.hosting.threaded import make_engine_service
from paceline.messages import Event, LoadFailed, LoadPair, ModelParams, PairLoaded

AUTO = ModelParams("fake")
Seconds = Callable[[int, int], float]


class Threaded(FakeModel):
    """A decode of n tokens takes `seconds(n_threads, n)`; batches have threads of their own."""

    def __init__(
        self, clock: Clock, seconds: Seconds, n_default: int = 7, noise: float = 0.0
    ) -> None:
        super().__init__(random_language(1))
        self.info = structs.replace(self.info, n_threads=n_default, n_threads_batch=n_default)
        self.facts_key = f"fake|t{n_default}-{n_default}"
        self.seconds = seconds
        self.clock_of_test = clock
        self.before: Callable[[], None] = lambda: None
        self._noise = noise
        self._chance = random.Random(1)

    def decode(self, tokens: Sequence[int], n_rows: int) -> Rows:
        self.before()
        rows = super().decode(tokens, n_rows)
        n = self.info.n_threads if len(tokens) == 1 else self.info.n_threads_batch
        noise = 1 + self._noise * self._chance.random()
        seconds = self.seconds(n, len(tokens)) * noise
        self.clock_of_test.now += seconds
        self.last_decode = len(tokens), seconds
        return rows


def scaling(n_threads: int, n: int) -> float:
    """Every thread helps."""
    return 0.02 / n_threads * (1 + 0.1 * (n - 1))


def crowded(n_threads: int, n: int) -> float:
    """Memory is the limit from three threads on, and the more there are the longer they wait."""
    return 0.02 * (1 + 0.1 * (n - 1)) / min(n_threads, 3) * (1 + 0.05 * n_threads)


def quiet() -> float:
    return 0.0


def chooser(clock: Clock, facts: Facts | None = None) -> ThreadChooser:
    return ThreadChooser(facts or Facts(""), clock=clock, foreign_cores=quiet)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.mark.parametrize(
    ("most", "expected"),
    [(1, (1,)), (2, (2, 1)), (3, (3, 2, 1)), (7, (7, 4, 5, 2)), (15, (15, 8, 11, 4))],
)
def test_candidates_are_never_more_than_the_default(most: int, expected: tuple[int, ...]) -> None:
    assert candidates(most) == expected


def test_where_every_thread_helps_the_default_stays(clock: Clock) -> None:
    model = Threaded(clock, scaling)
    assert chooser(clock).choose(model, AUTO) is None
    assert (model.info.n_threads, model.info.n_threads_batch) == (7, 7)
    assert model.facts_key == "fake|t7-7"
    assert model.tokens == []


def test_a_count_that_is_clearly_faster_is_taken(clock: Clock) -> None:
    model = Threaded(clock, crowded, noise=0.05)
    choice = chooser(clock).choose(model, AUTO)
    assert choice is not None
    assert (choice.n_threads, choice.n_default) == (4, 7)
    assert choice.gain == pytest.approx(1.35 / 1.2, rel=0.05)
    assert (model.info.n_threads, model.info.n_threads_batch) == (4, 7)
    assert model.facts_key == "fake|t4-7"
    assert "4 threads, which is 1" in note("Model", choice)
    assert model.tokens == []


def test_a_little_faster_is_not_enough(clock: Clock) -> None:
    model = Threaded(clock, lambda n_threads, n: 0.01 * (1 + 0.01 * n_threads))
    assert chooser(clock).choose(model, AUTO) is None
    assert model.info.n_threads == 7


def test_nothing_is_taken_that_makes_a_verify_decode_slower(clock: Clock) -> None:
    """Let each change of the number of threads cost time, as with OpenMP."""
    model = Threaded(clock, crowded)

    def seconds(n_threads: int, n: int) -> float:
        changes = n > 1 and model.info.n_threads != model.info.n_threads_batch
        return crowded(n_threads, n) + 0.002 * changes

    model.seconds = seconds
    assert chooser(clock).choose(model, AUTO) is None
    assert model.info.n_threads == 7


def test_noise_seldom_looks_like_a_gain(clock: Clock) -> None:
    """Steps that take up to half as long again by chance; all counts are equally fast."""
    chosen = []
    for seed in range(100):
        model = Threaded(clock, lambda n_threads, n: 0.004, noise=0.5)
        model._chance = random.Random(seed)
        chosen.append(chooser(clock).choose(model, AUTO))
    assert sum(choice is not None for choice in chosen) <= 10


@pytest.mark.parametrize("params", [replace(AUTO, n_threads=3), replace(AUTO, n_threads=7)])
def test_a_count_of_the_users_own_stays(clock: Clock, params: ModelParams) -> None:
    model = Threaded(clock, crowded)
    assert chooser(clock).choose(model, params) is None
    assert model.widths == []


def test_batches_keep_the_count_that_the_user_gave_them(clock: Clock) -> None:
    model = Threaded(clock, crowded)
    model.info = structs.replace(model.info, n_threads_batch=5)
    assert chooser(clock).choose(model, replace(AUTO, n_threads_batch=5)) is not None
    assert (model.info.n_threads, model.info.n_threads_batch) == (4, 5)


def test_with_one_candidate_nothing_is_measured(clock: Clock) -> None:
    """Use a machine with two cores, which has one candidate."""
    model = Threaded(clock, crowded, n_default=1)
    assert chooser(clock).choose(model, AUTO) is None
    assert model.widths == []


def test_a_model_on_the_gpu_is_left_alone(clock: Clock) -> None:
    model = Threaded(clock, crowded)
    model.info = structs.replace(model.info, n_gpu_layers=999)
    assert chooser(clock).choose(model, AUTO) is None
    assert model.widths == []


@pytest.mark.parametrize("scale", [0.05, 1.0, 4.0, 10.0, 30.0, 1000.0])
@pytest.mark.parametrize("seconds", [scaling, crowded])
def test_both_models_together_take_no_longer_than_they_may(
    clock: Clock, seconds: Seconds, scale: float
) -> None:
    target = Threaded(clock, lambda t, n: scale * seconds(t, n), n_default=15)
    draft = Threaded(clock, lambda t, n: 0.2 * scale * seconds(t, n), n_default=15)
    for model in (target, draft):
        self_test(model)
    began = clock.now
    choose = chooser(clock)
    choose.choose(target, AUTO)
    choose.choose(draft, AUTO, target)
    assert clock.now - began <= BUDGET_S


def test_a_choice_is_made_once(clock: Clock) -> None:
    facts = Facts("")
    chooser(clock, facts).choose(Threaded(clock, crowded), AUTO)
    again = Threaded(clock, crowded)
    choice = chooser(clock, facts).choose(again, AUTO)
    assert choice is not None
    assert again.info.n_threads == 4
    assert again.widths == []
    slow = Threaded(clock, scaling)
    slow.facts_key = "another model|t7-7"
    chooser(clock, facts).choose(slow, AUTO)
    again = Threaded(clock, scaling)
    again.facts_key = "another model|t7-7"
    assert chooser(clock, facts).choose(again, AUTO) is None
    assert again.widths == []


@pytest.mark.parametrize(
    "fact", ["", "x", "0 1.5", "99 2.0", "4", "1 nan", "1 inf", "1 -3", True, 4]
)
def test_a_broken_fact_is_measured_anew(clock: Clock, fact: str | int) -> None:
    facts = Facts("")
    facts.put("threads|fake|t7-7", fact)
    model = Threaded(clock, crowded)
    assert chooser(clock, facts).choose(model, AUTO) is not None
    assert model.widths
    assert model.info.n_threads == 4


def test_on_a_busy_machine_nothing_is_learned(clock: Clock) -> None:
    facts = Facts("")
    model = Threaded(clock, crowded)
    busy = ThreadChooser(facts, clock=clock, foreign_cores=lambda: 2.0)
    assert busy.choose(model, AUTO) is None
    assert model.info.n_threads == 7
    assert chooser(clock, facts).choose(model, AUTO) is not None, "the next load looks again"


def test_the_draft_model_must_not_slow_down_the_targets_verify_decode(clock: Clock) -> None:
    draft = Threaded(clock, crowded)
    target = Threaded(clock, lambda t, n: 0.05 + 0.004 * (n > 1 and draft.info.n_threads != 7))
    assert chooser(clock).choose(draft, AUTO, target) is None
    assert draft.info.n_threads == 7
    target.seconds = lambda t, n: 0.05
    assert chooser(clock).choose(draft, AUTO, target) is not None
    assert draft.info.n_threads == 4
    assert target.tokens == draft.tokens == []


def test_too_few_rounds_say_nothing() -> None:
    slow, fast = ThreadTrial(2.0, 3.0), ThreadTrial(1.0, 3.0)
    assert best_of({7: [slow] * 2, 4: [fast] * 2}, 7) is None
    assert best_of({7: [slow] * 3, 4: [fast] * 3}, 7) == (4, 7, 2.0)
    assert best_of({7: [slow] * 3, 4: [fast, fast, ThreadTrial(9.0, 3.0)]}, 7) == (7, 7, 1.0)
    assert best_of({7: [slow]}, 7) == (7, 7, 1.0), "all others were dropped as hopeless"


def test_others_cpu_time_counts_and_the_own_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    times = {"user": 100.0, "idle": 50.0, "iowait": 10.0, "guest": 30.0}
    own = {"user": 5.0, "system": 1.0}

    def look(values: dict[str, float]) -> object:
        return namedtuple("Times", values)(**values)

    monkeypatch.setattr(psutil, "cpu_times", lambda: look(times))
    monkeypatch.setattr(psutil.Process, "cpu_times", lambda _self: look(own))
    clock = Clock()
    foreign = ForeignLoad(clock)
    clock.now += 2.0
    times.update(user=104.0, idle=60.0, iowait=13.0, guest=33.0)
    own.update(user=7.0, system=1.5)
    assert foreign() == pytest.approx((4.0 - 2.5) / 2.0)
    clock.now += 2.0
    own.update(user=9.0)
    assert foreign() == 0.0


def test_this_machine_reports_the_load_of_other_programs() -> None:
    foreign = ForeignLoad()
    time.sleep(0.05)
    assert 0 <= foreign() < 10 * (psutil.cpu_count() or 1)


# --------------------------------------------------------------------------------- in a load


@pytest.fixture
def quiet_machine(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    """Let loads measure on the test's clock."""
    chooser = partial(ThreadChooser, clock=clock, foreign_cores=quiet)
    monkeypatch.setattr("paceline.engine.opening.ThreadChooser", chooser)


def load(model: FakeModel, params: ModelParams = AUTO, client: InlineClient | None = None) -> Event:
    events: list[Event] = []
    own = client or InlineClient(
        partial(make_engine_service, backend=lambda: FakeBackend({"fake": model}))
    )
    own.on_event = events.append
    own.request(LoadPair(params))
    own.close()
    return events[-1]


@pytest.mark.usefixtures("quiet_machine")
def test_a_load_reports_a_choice_that_is_not_the_default(clock: Clock) -> None:
    model = Threaded(clock, lambda t, n: 0.002 + 0.001 * t * (n == 1))
    loaded = load(model)
    assert isinstance(loaded, PairLoaded)
    assert loaded.target.n_threads < 7
    assert loaded.target.n_threads_batch == 7
    assert any("decodes single tokens with" in text for text in loaded.notes)


@pytest.mark.usefixtures("quiet_machine")
def test_the_measuring_is_cancelled_like_a_load(clock: Clock) -> None:
    model = Threaded(clock, crowded)

    def stop() -> None:
        if len(model.widths) == 9:
            raise CancelledError

    model.before = stop
    failed = load(model)
    assert isinstance(failed, LoadFailed)
    assert failed.code == "cancelled"
    assert model.closed
    assert model.info.n_threads == 7
