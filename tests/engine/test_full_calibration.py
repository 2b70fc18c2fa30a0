"""The commands `Calibrate` and `Reset` on scripted models, and what `Calibrate` measures."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.bench import Bench
from engine.test_calibration import Cost, flat, missing
from engine.timed_models import Clock, TimedModel, pair_of
from paceline.engine.measure.calibration import (
    LIMIT_S,
    MAX_LONG_S,
    ROUNDS,
    WIDTHS,
    calibrated,
)
from paceline.engine.pair import LoadedPair
from paceline.engine.sameness import promise
from paceline.engine.service import EngineService
from paceline.errors import CancelledError, ComputeFailedError, EngineError
from paceline.messages import (
    Calibrate,
    Calibrated,
    Chat,
    ChatMessage,
    LoadPair,
    ModelParams,
    PairLoaded,
    Reset,
    SamenessChanged,
    StartTurn,
    Unloaded,
)
from paceline.params import DraftModel

QUESTION = (ChatMessage.of_text("user", "hello there, how are you"),)


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_it_measures_everything_and_leaves_empty_contexts(clock: Clock) -> None:
    target, draft = TimedModel(clock, flat(0.02), n_ctx=1024), TimedModel(clock, flat(0.001))
    pair = pair_of(target, draft)
    pair.target.feed([1, 2, 3], 0)
    answer = calibrated(pair, clock)
    assert (answer.problem, answer.n_threads) == ("", 1)
    assert target.tokens == draft.tokens == pair.target.tokens == []
    measured = {cost.width: cost for cost in answer.costs}
    assert set(measured) == set(WIDTHS)
    for width, cost in measured.items():
        assert cost.n_samples == ROUNDS
        assert cost.seconds == pytest.approx(flat(0.02)(width, 64), rel=0.02)
    assert [cost.width for cost in answer.draft_costs] == [1, 32]
    assert answer.draft_costs[0].seconds == pytest.approx(flat(0.001)(1, 64))
    knowledge = pair.knowledge
    assert knowledge.costs.context.slope == pytest.approx(0.001, rel=0.05)
    assert knowledge.switch == pytest.approx(0.002 / flat(0.02)(1, 64), rel=0.3)
    assert pair.facts.get("verify_costs|fake")


def test_it_forgets_what_was_measured_before(clock: Clock) -> None:
    pair = pair_of(TimedModel(clock, flat(0.004)))
    pair.knowledge.costs.add(1, 0, 9.0)
    pair.knowledge.costs.add(62, 0, 9.0)
    calibrated(pair, clock)
    assert pair.knowledge.costs.plain == pytest.approx(0.004)
    assert pair.knowledge.costs.n_samples(62) == 0


@pytest.mark.parametrize("cost", [flat(0.5), flat(3.0)])
def test_a_slow_model_is_measured_in_fewer_rounds(
    monkeypatch: pytest.MonkeyPatch, clock: Clock, cost: Cost
) -> None:
    pair = pair_of(TimedModel(clock, cost))
    monkeypatch.setattr(promise, "_clock", clock)
    began = clock.now
    pair.promise.find_out()
    looked_s = clock.now - began
    assert looked_s <= promise.LIMIT_S + 40 * cost(1, 512)
    answer = calibrated(pair, clock)
    round_s = sum(2 * cost(width, 64) for width in WIDTHS)
    assert clock.now - began - 2 * looked_s <= max(
        LIMIT_S + round_s, 2 * round_s
    ) + MAX_LONG_S + 30 * cost(1, 512)
    assert {cost.n_samples for cost in answer.costs} <= {2, 3, 4, 5}


@pytest.mark.parametrize("n_ctx", [4, 16, 70])
def test_a_short_context(clock: Clock, n_ctx: int) -> None:
    pair = pair_of(TimedModel(clock, flat(0.001), n_ctx=n_ctx))
    answer = calibrated(pair, clock)
    assert not answer.problem
    room = n_ctx - min(64, n_ctx // 2)
    assert {c.width for c in answer.costs} == {w for w in WIDTHS if w <= room}


@pytest.mark.parametrize("at", [0, 1, 7, 50, 130])
def test_a_cancel_anywhere_leaves_what_was_known(clock: Clock, at: int) -> None:
    target = TimedModel(clock, flat(0.004))
    pair = pair_of(target)
    pair.knowledge.costs.add(1, 0, 9.0)

    def stop(n_decodes: int) -> None:
        if n_decodes == at:
            raise CancelledError

    target.before = stop
    answer = calibrated(pair, clock)
    assert answer == Calibrated(problem="Stopped.")
    assert pair.knowledge.costs.plain == 9.0
    assert target.tokens == pair.target.tokens == []
    assert not pair.is_lost


@pytest.mark.parametrize(
    ("error", "is_lost"),
    [
        (EngineError("odd", "It went wrong.", "Try again."), False),
        (ComputeFailedError("compute-failed", "It broke."), True),
    ],
)
def test_a_failure_is_reported(clock: Clock, error: EngineError, *, is_lost: bool) -> None:
    target = TimedModel(clock, flat(0.004))
    pair = pair_of(target)

    def fail(n_decodes: int) -> None:
        if n_decodes == 9:
            raise error

    target.before = fail
    assert calibrated(pair, clock).problem == str(error)
    assert pair.is_lost == is_lost


def test_what_takes_no_tokens_back_is_not_measured(clock: Clock) -> None:
    pair = pair_of(TimedModel(clock, flat(1.0), can_rollback=False))
    assert "cannot take tokens back" in calibrated(pair, clock).problem


# ---------------------------------------------------------------------------- as commands


class Measured(Bench):
    """An inline engine on a pair whose decodes take the time of a clock."""

    def __init__(self, clock: Clock) -> None:
        self.target, self.draft = (TimedModel(clock, flat(0.001)) for _ in range(2))
        super().__init__(target=self.target, draft=self.draft)

    def begin(self, cache_dir: str = "") -> None:
        """Load the pair, and forget the events of that."""
        draft = DraftModel(ModelParams("draft"))
        self.client.request(LoadPair(ModelParams("target"), draft, cache_dir=cache_dir))
        assert isinstance(self.events[-1], PairLoaded)
        self.events.clear()

    def idle(self) -> None:
        """Use idle time for as long as there is a use for it."""
        assert isinstance(self.client.service, EngineService)
        while self.client.service.idle():
            pass

    def reuse(self) -> int:
        """Get a reply; return how many tokens of the prompt were still in the context."""
        self.events.clear()
        finished = self.finish(messages=QUESTION, strategy="prompt-lookup", max_tokens=20)
        assert self.started.n_reused == finished.stats.n_reused
        return finished.stats.n_reused


def samples(bench: Measured) -> list[int]:
    """Return how often decodes of each width were measured."""
    return [bench.client.pair.knowledge.costs.n_samples(width) for width in WIDTHS]


def test_calibrate_is_answered(clock: Clock, tmp_path: Path) -> None:
    bench = Measured(clock)
    bench.client.request(Calibrate())
    assert bench.events == [Calibrated(problem="No model is loaded.")]
    bench.begin(str(tmp_path))
    bench.client.request(Calibrate())
    told, answer = bench.events
    assert isinstance(told, SamenessChanged)
    assert told.sameness.holds is True
    assert isinstance(answer, Calibrated)
    assert not answer.problem
    assert {cost.width for cost in answer.costs} == set(WIDTHS)
    measured = samples(bench)
    bench.idle()
    assert samples(bench) == measured, "nothing is missing"
    again = Measured(clock)
    again.begin(str(tmp_path))
    assert missing(again.client.pair.knowledge.costs, WIDTHS) == []


def test_calibrate_can_be_cancelled_by_its_id(clock: Clock) -> None:
    bench = Measured(clock)
    bench.begin()
    target = bench.target
    target.cancel = bench.client.flag
    n = len(target.widths)
    target.before = lambda n_decodes: bench.client.cancel() if n_decodes == n + 5 else None
    bench.client.request(Calibrate())
    assert bench.events == [Calibrated(problem="Stopped.")]
    assert len(target.widths) == n + 5
    target.before = lambda n_decodes: None
    assert bench.reuse() == 0


def test_a_computation_that_fails_frees_the_models(clock: Clock) -> None:
    bench = Measured(clock)
    bench.begin()
    target = bench.target

    def fail(_n: int) -> None:
        raise ComputeFailedError("compute-failed", "It broke.")

    target.before = fail
    bench.client.request(Calibrate())
    assert [type(e) for e in bench.events] == [Unloaded, Calibrated]
    assert target.closed


@pytest.mark.parametrize("have_changed", [True, False])
def test_widths_that_change_before_a_turn_are_reported_and_measured_anew(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, *, have_changed: bool
) -> None:
    bench = Measured(clock)
    bench.begin()
    bench.client.request(Calibrate())
    bench.events.clear()
    monkeypatch.setattr(LoadedPair, "choose_widths", lambda _pair: have_changed)
    bench.client.request(StartTurn(Chat(QUESTION), max_tokens=2))
    assert isinstance(bench.events[0], SamenessChanged) is have_changed
    n_decodes = len(bench.target.widths)
    bench.idle()
    assert (1 in bench.target.widths[n_decodes:]) is have_changed, "plain decodes are timed again"


def test_reset_forgets_texts_and_keeps_what_was_measured(clock: Clock) -> None:
    bench = Measured(clock)
    bench.client.request(Reset())  # nothing is there to be forgotten
    assert bench.events == []
    bench.begin()
    bench.idle()
    bench.reuse()
    assert bench.reuse() > 10, "the prompt is still there"
    pair = bench.client.pair
    pair.kept["index"] = object()
    pair.knowledge.rates["draft"]
    costs, plain = pair.knowledge.costs, pair.knowledge.recent.pace
    assert plain is not None
    bench.events.clear()
    bench.client.request(Reset())
    assert bench.events == []
    assert pair.target.tokens == bench.target.tokens == []
    assert pair.draft is not None
    assert pair.draft.tokens == bench.draft.tokens == []
    assert pair.kept == {}
    assert pair.knowledge.rates == {}
    assert pair.knowledge.costs is costs
    assert missing(costs, WIDTHS) == []
    assert pair.knowledge.recent.pace == plain
    assert bench.reuse() == 0


@pytest.mark.parametrize("keeps_rates", [False, True])
def test_a_reset_may_keep_how_often_drafts_are_accepted(clock: Clock, keeps_rates: bool) -> None:
    bench = Measured(clock)
    bench.begin()
    bench.reuse()
    pair = bench.client.pair
    pair.kept["index"] = object()
    pair.knowledge.rates["draft"].add([4], 1, 1)
    bench.client.request(Reset(keeps_rates=keeps_rates))
    assert pair.kept == {}
    assert pair.target.tokens == []
    assert ("draft" in pair.knowledge.rates) == keeps_rates
    assert pair.knowledge.rates["draft"].n_judged == int(keeps_rates)
    assert pair.has_forgotten, "what a benchmark has learned is not kept for the user"


def test_a_draft_model_that_takes_no_tokens_back_is_left_out(clock: Clock) -> None:
    draft = TimedModel(clock, flat(0.001), can_rollback=False)
    pair = pair_of(TimedModel(clock, flat(0.02)), draft)
    guess = pair.knowledge.draft_costs["draft"].guess = 0.3
    answer = calibrated(pair, clock)
    assert answer.problem == ""
    assert answer.costs
    assert answer.draft_costs == ()
    assert pair.knowledge.draft_costs["draft"].guess == guess


def test_what_real_steps_have_taught_is_kept_at_the_end(clock: Clock, tmp_path: Path) -> None:
    bench = Measured(clock)
    bench.begin(str(tmp_path))
    bench.client.pair.knowledge.costs.add(1, 0, 0.004)
    bench.client.close()
    again = Measured(clock)
    again.begin(str(tmp_path))
    assert again.client.pair.knowledge.costs.plain == 0.004
