"""Measuring in idle time: what it finds, what it may take, and that it leaves no trace."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from engine.timed_models import REBUILD_S, Clock, TimedModel, pair_of
from fake_model import FakeModel
from paceline.engine.auto import VerifyCosts
from paceline.engine.cancel import CancelFlag
from paceline.engine.facts import Facts
from paceline.engine.idle import IdleWork
from paceline.engine.measure.calibration import IDLE_S, IDLE_STEPS, WIDTHS, IdleCalibration
from paceline.engine.measure.known import recall_costs
from paceline.engine.model.context import BatchWidths
from paceline.engine.pair import LoadedPair
from paceline.errors import BatchRefusedError, ComputeFailedError, DecodeMemoryError

TOKENS = list(range(40, 80))
Cost = Callable[[int, int], float]


def flat(seconds: float) -> Cost:
    """A plain step of so many seconds, 3 % more per further token, 0.1 % per token of context."""
    return lambda n, past: seconds * (1 + 0.03 * (n - 1)) * (1 + 0.001 * past)


@pytest.fixture
def clock() -> Clock:
    return Clock()


def made(
    clock: Clock,
    cost: Cost,
    *,
    draft_cost: Cost | None = None,
    held: list[int] | None = None,
    n_ctx: int = 512,
    cancel: CancelFlag | None = None,
    facts: Facts | None = None,
    compiling_s: float = 0.0,
) -> tuple[LoadedPair, IdleCalibration]:
    """A pair whose contexts hold some tokens, and what measures it."""
    target, draft = (
        TimedModel(clock, each, n_ctx=n_ctx, cancel=cancel, compiling_s=compiling_s)
        if each
        else None
        for each in (cost, draft_cost)
    )
    assert target is not None
    pair = pair_of(target, draft, facts)
    is_known = recall_costs(pair)
    for context in (pair.target, pair.draft):
        if context and held:
            context.feed(held, 0)
    target.widths.clear()
    return pair, IdleCalibration(pair, is_known=is_known, clock=clock)


def widths_of(pair: LoadedPair) -> list[int]:
    assert isinstance(pair.target.model, FakeModel)
    return pair.target.model.widths


def finish(calibration: IdleCalibration | IdleWork) -> int:
    """Let it do all it wants; returns the slices."""
    n = 0
    while calibration.slice():
        n += 1
        assert n < 1000
    return n


def missing(costs: VerifyCosts, widths: Iterable[int]) -> list[int]:
    """Return those of these widths that no two steps have measured."""
    return [width for width in widths if costs.n_samples(width) < 2]


def holds(pair: LoadedPair, tokens: list[int]) -> bool:
    """Return whether both contexts hold exactly these tokens, in Python and in the model."""
    contexts = [context for context in (pair.target, pair.draft) if context]
    return all(c.tokens == tokens == c.model.tokens for c in contexts)  # type: ignore[attr-defined]


@pytest.mark.parametrize("held", [[], TOKENS])
def test_it_finds_what_decodes_cost_and_leaves_the_contexts_as_they_were(
    clock: Clock, held: list[int]
) -> None:
    cost, draft_cost = flat(0.005), flat(0.001)
    pair, calibration = made(clock, cost, draft_cost=draft_cost, held=held)
    finish(calibration)
    assert holds(pair, held)
    costs = pair.knowledge.costs
    assert missing(costs, WIDTHS) == []
    for width in WIDTHS:
        assert costs.seconds(width, len(held)) == pytest.approx(cost(width, len(held)), rel=0.02)
    assert costs.context.slope == pytest.approx(0.001, rel=0.05)
    drafting = pair.knowledge.draft_costs["draft"]
    assert drafting.per_token == pytest.approx(draft_cost(1, len(held)))
    assert drafting.per_backlog is not None


def test_what_a_device_takes_for_a_first_decode_counts_neither_as_cost_nor_as_time(
    clock: Clock,
) -> None:
    cost, draft_cost = flat(0.005), flat(0.001)
    pair, calibration = made(clock, cost, draft_cost=draft_cost, compiling_s=0.2)
    finish(calibration)
    costs = pair.knowledge.costs
    assert missing(costs, WIDTHS) == []
    for width in WIDTHS:
        assert costs.seconds(width, 0) == pytest.approx(cost(width, 0), rel=0.02)
    assert pair.knowledge.draft_costs["draft"].per_token == pytest.approx(0.001)
    assert calibration.spent_s < IDLE_S


def test_a_device_that_compiles_for_minutes_is_left_to_real_steps(clock: Clock) -> None:
    began = clock.now
    pair, calibration = made(clock, flat(0.005), compiling_s=60.0)
    assert finish(calibration) == 1
    assert clock.now - began < 61
    assert pair.knowledge.costs.plain is None


def test_on_a_device_two_rows_may_take_less_than_one(clock: Clock) -> None:
    """So may a draft model's batch, which then costs nothing."""

    def cost(n: int, past: int) -> float:
        return 0.005 if n == 1 else 0.004 + 0.0001 * n

    pair, calibration = made(clock, cost, draft_cost=lambda n, _: 0.001, compiling_s=1e-3)
    finish(calibration)
    costs, drafting = pair.knowledge.costs, pair.knowledge.draft_costs["draft"]
    assert costs.ratios()[2] == pytest.approx(0.0042 / 0.005)
    assert costs.cheapest(2) == 2
    assert drafting.per_backlog == pytest.approx(0.0, abs=1e-5)
    assert drafting.catch_up(100, 0.005) < 0.001


@pytest.mark.parametrize("share", [0.0, 0.6, 1.0])
def test_it_finds_what_the_context_costs_each_row(clock: Clock, share: float) -> None:
    def cost(n: int, past: int) -> float:
        return 0.0005 * (1 + 0.1 * (n - 1) + 0.002 * past * (1 + share * (n - 1)))

    pair, calibration = made(clock, cost, held=TOKENS)
    finish(calibration)
    context = pair.knowledge.costs.context
    assert context.slope == pytest.approx(0.002, rel=0.05)
    assert context.share == pytest.approx(share, abs=0.05)
    for width in (1, 4, 8):
        known_s = pair.knowledge.costs.seconds(width, 640)
        assert known_s == pytest.approx(cost(width, 640), rel=0.05)


@pytest.mark.parametrize(("plain_s", "n_plain"), [(0.0005, 9), (0.003, 3), (0.02, 2)])
def test_the_decode_that_builds_a_graph_does_not_count(
    clock: Clock, plain_s: float, n_plain: int
) -> None:
    """Nor the plain ones after another width, where they are short: caches fill slowly."""
    pair, calibration = made(clock, flat(plain_s))
    finish(calibration)
    assert pair.knowledge.costs.plain == pytest.approx(plain_s)
    widths = widths_of(pair)
    assert widths[: n_plain + 4] == [*[1] * n_plain, 2, 2, 4, 4]


@pytest.mark.parametrize("plain_s", [0.0005, 0.01, 0.05, 0.3, 2.0, 40.0])
@pytest.mark.parametrize("per_token", [0.03, 0.55, 1.0])
def test_a_load_spends_no_more_than_it_may(clock: Clock, plain_s: float, per_token: float) -> None:
    pair, calibration = made(
        clock, lambda n, _past: plain_s * (1 + per_token * (n - 1)), draft_cost=flat(plain_s / 10)
    )
    began = clock.now
    finish(calibration)
    spent = clock.now - began
    assert calibration.spent_s == pytest.approx(spent)
    assert spent <= max(IDLE_S, IDLE_STEPS * (plain_s + REBUILD_S)) + REBUILD_S
    assert pair.knowledge.costs.n_samples(2), "two tokens are the least that is of use"
    assert pair.knowledge.draft_costs["draft"].per_token is not None or plain_s > 0.05


def test_an_interruption_at_any_decode_changes_nothing(clock: Clock) -> None:
    quiet, calibration = made(clock, flat(0.002), draft_cost=flat(0.0004), held=TOKENS)
    n_slices = finish(calibration)
    for at in range(n_slices):
        flag = CancelFlag()
        pair, calibration = made(
            clock, flat(0.002), draft_cost=flat(0.0004), held=TOKENS, cancel=flag
        )
        work = IdleWork(pair, [calibration])
        for _ in range(at):
            assert work.slice()
        flag.set()
        assert work.slice(), "there is more to do"
        assert holds(pair, TOKENS)
        flag.clear()
        finish(work)
        assert holds(pair, TOKENS)
        assert missing(pair.knowledge.costs, WIDTHS) == []
        for width in WIDTHS:
            expected = quiet.knowledge.costs.seconds(width, 40)
            assert pair.knowledge.costs.seconds(width, 40) == pytest.approx(expected)


def test_an_interruption_while_the_context_is_filled(clock: Clock) -> None:
    """The slice that measures how a longer context costs more makes several decodes."""
    flag = CancelFlag()
    pair, calibration = made(clock, flat(0.0005), held=TOKENS, cancel=flag)
    work = IdleWork(pair, [calibration])
    model = pair.target.model
    assert isinstance(model, TimedModel)

    def before(_n: int) -> None:
        if len(model.tokens) > 200:
            flag.set()

    model.before = before
    while not flag.is_set():
        assert work.slice()
    assert holds(pair, TOKENS)
    model.before = lambda _n: None
    flag.clear()
    finish(work)
    assert holds(pair, TOKENS)
    assert pair.knowledge.costs.context.slope == pytest.approx(0.001, rel=0.05)


def test_a_reply_in_between_makes_the_graph_cold_again(clock: Clock) -> None:
    pair, calibration = made(clock, flat(0.001), held=TOKENS)
    calibration.slice()
    pair.target.feed([1, 2, 3], 3)
    finish(calibration)
    assert pair.knowledge.costs.plain == pytest.approx(0.001, rel=0.01)


@pytest.mark.parametrize("n_free", range(0, 40, 3))
def test_a_context_with_little_room(clock: Clock, n_free: int) -> None:
    held = [i % 250 for i in range(64 - n_free)]
    pair, calibration = made(clock, flat(0.001), held=held, n_ctx=64)
    finish(calibration)
    assert holds(pair, held)
    fitting = [w for w in WIDTHS if w <= n_free]
    assert missing(pair.knowledge.costs, fitting) == []
    assert set(widths_of(pair)) == set(fitting)


def test_what_had_no_room_is_measured_when_there_is_some(clock: Clock) -> None:
    pair, calibration = made(clock, flat(0.001), held=[i % 250 for i in range(62)], n_ctx=64)
    finish(calibration)
    assert missing(pair.knowledge.costs, WIDTHS)
    pair.target.rollback(10)
    finish(calibration)
    assert missing(pair.knowledge.costs, WIDTHS) == []


def test_exact_mode_is_measured_within_its_widths(clock: Clock) -> None:
    target = TimedModel(clock, flat(0.001))
    pair = pair_of(target)
    pair.target.widths, pair.target.prefill_piece = BatchWidths(3, 1, 8), 16
    pair.target.prefill(TOKENS, 64, lambda _n: None)
    target.widths.clear()
    finish(IdleCalibration(pair, is_known=False, clock=clock))
    slope_pieces = {128}
    assert set(target.widths) - slope_pieces == {3, 4, 5, 6, 8}
    assert holds(pair, TOKENS)
    assert missing(pair.knowledge.costs, [1, 4, 5, 6, 8]) == []
    assert pair.knowledge.costs.plain == pytest.approx(0.001 * 1.06, rel=0.01)  # padded to three
    assert pair.target.reuse([*TOKENS, 1]) == 32, "whole pieces are still known as such"


def test_a_model_that_takes_no_tokens_back_is_left_alone(clock: Clock) -> None:
    target = TimedModel(clock, flat(0.001), can_rollback=False)
    calibration = IdleCalibration(pair_of(target), is_known=False, clock=clock)
    assert not calibration.slice()
    assert target.widths == []


# ------------------------------------------------------------------------------------- facts


def test_what_was_found_is_there_in_the_next_load(clock: Clock, tmp_path: Path) -> None:
    facts = Facts(str(tmp_path))
    cost, draft_cost = flat(0.004), flat(0.001)
    pair, calibration = made(clock, cost, draft_cost=draft_cost, facts=facts)
    finish(calibration)
    again, calibration = made(clock, cost, draft_cost=draft_cost, facts=Facts(str(tmp_path)))
    assert again.knowledge.costs.table(100) == pair.knowledge.costs.table(100)
    assert again.knowledge.costs.context.slope == pair.knowledge.costs.context.slope > 0
    ours, theirs = (p.knowledge.draft_costs["draft"] for p in (pair, again))
    assert theirs.per_token == pytest.approx(ours.per_token)
    assert theirs.per_backlog == pytest.approx(ours.per_backlog)
    finish(calibration)
    assert widths_of(again) == [1, 1, 1, 4, 4, 4], "a look at plain and wide, and that is all"


@pytest.mark.parametrize("factor", [0.5, 1.25, 1.4, 3.0])
def test_a_table_that_does_not_fit_any_more_is_measured_anew(clock: Clock, factor: float) -> None:
    facts = Facts("")
    _, calibration = made(clock, flat(0.004), facts=facts)
    finish(calibration)
    pair, calibration = made(clock, flat(0.004 * factor), facts=facts)
    finish(calibration)
    is_measured_anew = len(widths_of(pair)) > 6
    assert is_measured_anew == (factor != 1.25)
    expected = 0.004 * (factor if is_measured_anew else 1)
    assert pair.knowledge.costs.plain == pytest.approx(expected)
    if is_measured_anew:
        assert missing(pair.knowledge.costs, WIDTHS) == []


def test_wide_steps_that_were_measured_in_a_bad_second_are_measured_anew(clock: Clock) -> None:
    """Else speculation would stay off on this machine for good."""
    facts = Facts("")
    _, calibration = made(clock, lambda n, _: 0.004 * (1 if n == 1 else 2.5), facts=facts)
    finish(calibration)
    pair, calibration = made(clock, flat(0.004), facts=facts)
    assert pair.knowledge.costs.ratios()[4] == pytest.approx(2.5)
    finish(calibration)
    assert pair.knowledge.costs.ratios()[4] == pytest.approx(1.09, rel=0.01)


def test_a_slice_between_two_replies_mixes_no_contexts(clock: Clock) -> None:
    """A plain step of one context and a wide one of another say nothing of what it costs."""

    def cost(n: int, past: int) -> float:
        return 0.05 * (1 + 0.1 * (n - 1) + 0.0005 * past)

    pair, calibration = made(clock, cost, n_ctx=4096)
    for _ in range(3):
        assert calibration.slice()
    text = TOKENS * 40
    for start in range(0, len(text), 400):
        pair.target.feed(text[start : start + 400], 0)
    finish(calibration)
    for start in range(0, len(text), 400):
        pair.target.feed(text[start : start + 400], 0)
    finish(calibration)
    assert pair.knowledge.costs.context.slope < 0.001


def test_what_a_slow_load_left_out_the_next_one_measures(clock: Clock) -> None:
    facts = Facts("")
    cost = flat(0.2)
    for _ in range(20):
        pair, calibration = made(clock, cost, facts=facts)
        finish(calibration)
    assert missing(pair.knowledge.costs, WIDTHS) == []


def test_other_threads_and_exact_mode_have_tables_of_their_own(clock: Clock) -> None:
    facts = Facts("")
    _, calibration = made(clock, flat(0.004), facts=facts)
    finish(calibration)
    assert recall_costs(pair_of(TimedModel(clock, flat(1)), None, facts))
    other = pair_of(TimedModel(clock, flat(1)), None, facts)
    other.target.widths = BatchWidths(2, 2, 62)
    assert not recall_costs(other)
    other.target.widths = BatchWidths()
    other.target.model.set_threads(3, 7)
    assert not recall_costs(other)


@pytest.mark.parametrize("text", ["", "nonsense", "{}", "[1]", '{"version": 1}', "[" * 10**5, "7"])
def test_a_broken_fact_is_no_fact(clock: Clock, text: str) -> None:
    facts = Facts("")
    facts.put("verify_costs|fake", text)
    facts.put("draft_costs|fake-draft", text)
    pair, calibration = made(clock, flat(0.001), draft_cost=flat(0.0001), facts=facts)
    finish(calibration)
    assert missing(pair.knowledge.costs, WIDTHS) == []


@pytest.mark.parametrize("text", ["[1" + "0" * 400 + ", 0]", "[1e300, 1]", "[1, NaN]", "[-1, 0]"])
def test_a_draft_model_that_cannot_be_so_slow_is_measured_anew(clock: Clock, text: str) -> None:
    facts = Facts("")
    facts.put("verify_costs|fake", '{"version": 1, "slope": 0, "samples": {"1": [[0, 0.001]]}}')
    facts.put("draft_costs|fake-draft", text)
    pair, calibration = made(clock, flat(0.001), draft_cost=flat(0.0001), facts=facts)
    finish(calibration)
    assert pair.knowledge.draft_costs["draft"].per_token == pytest.approx(flat(0.0001)(1, 0))


def test_a_batch_as_fast_as_one_token_is_measured_twice_and_no_more(clock: Clock) -> None:
    pair, calibration = made(clock, flat(0.001), draft_cost=lambda _width, _n_past: 0.0001)
    finish(calibration)
    assert pair.draft is not None
    draft = pair.draft.model
    assert isinstance(draft, TimedModel)
    assert draft.widths.count(32) <= 4


# ---------------------------------------------------------------------------------- failures


def failing(clock: Clock, error: Exception) -> tuple[LoadedPair, IdleWork]:
    pair, calibration = made(clock, flat(0.001), held=TOKENS)
    model = pair.target.model
    assert isinstance(model, TimedModel)

    def fail(n_decodes: int) -> None:
        if n_decodes == 5:
            raise error

    model.before = fail
    return pair, IdleWork(pair, [calibration])


def test_a_decode_that_is_refused_ends_the_measuring_and_nothing_else(clock: Clock) -> None:
    pair, calibration = failing(clock, BatchRefusedError("batch-refused", "No."))
    finish(calibration)
    assert len(widths_of(pair)) == 5
    assert holds(pair, TOKENS)
    assert not pair.is_lost


def test_memory_that_runs_out_empties_the_contexts(clock: Clock) -> None:
    pair, calibration = failing(clock, DecodeMemoryError("out-of-memory", "No."))
    finish(calibration)
    assert holds(pair, [])
    assert not pair.is_lost


def test_a_failed_computation_is_reported(clock: Clock) -> None:
    pair, calibration = failing(clock, ComputeFailedError("compute-failed", "No."))
    with pytest.raises(ComputeFailedError):
        finish(calibration)
    assert pair.is_lost
