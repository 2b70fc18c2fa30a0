"""Commands of a benchmark to its engine: order, warm-up, failures, stopping, remaining time."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from bench.scripted import Engine, finished, model, stats
from paceline.bench.plan import WARM_UP_TOKENS, make_plan
from paceline.bench.report import to_json
from paceline.bench.runner import BenchRun
from paceline.bench.runs import Report, text_mark
from paceline.bench.workload import Workload
from paceline.chat.pair import Pair
from paceline.cli.bench_text import report_text
from paceline.engine.draft.strategy import strategy_text
from paceline.errors import ValueOutOfRangeError
from paceline.hosting.threaded import ThreadedClient
from paceline.messages import (
    Calibrate,
    Calibrated,
    Chat,
    ChatMessage,
    DescribeEngine,
    EngineDied,
    Event,
    LoadPair,
    ModelParams,
    PairLoaded,
    Reset,
    SamplingParams,
    StartTurn,
    TurnFailed,
    TurnFinished,
    Unloaded,
)
from paceline.params import DraftModel, Strategy


def workload(name: str, text: str = "Hi", **more: object) -> Workload:
    return Workload(name, Chat((ChatMessage.of_text("user", text),)), max_tokens=10, **more)  # type: ignore[arg-type]


A, B = workload("a"), workload("b", "A longer question.")
SPEED = {"off": 1.0, "draft": 0.5, "suffix": 2.0, "auto": 0.8}


def reply(command: StartTurn) -> Event:
    """Answer a turn: `draft` takes half the time of plain decoding, `suffix` twice the time."""
    plain_s = 2.0 if command.prompt == B.prompt else 1.0
    seconds = SPEED[strategy_text(command.strategy)] * plain_s
    return finished(command, stats(seconds, n_tokens=command.max_tokens, plain_s=plain_s))


def bench(strategies: tuple[str, ...], repeats: int = 3) -> tuple[BenchRun, Engine]:
    run = BenchRun(make_plan([A, B], strategies, repeats), model(), None)
    return run, Engine(reply)


def measured(
    *strategies: str, answer: Callable[[StartTurn], Event] = reply, repeats: int = 3
) -> tuple[Report, Engine]:
    """Carry a benchmark out to its end."""
    run, engine = bench(strategies, repeats)
    engine.reply = answer
    engine.drive(run)
    assert run.is_over
    assert run.progress.n_done == run.progress.n_total
    return run.result(), engine


def test_every_run_follows_a_reset_and_the_warm_up_does_not_count() -> None:
    report, engine = measured("draft", "suffix")
    assert isinstance(engine.commands[0], DescribeEngine)
    assert isinstance(engine.commands[1], Calibrate), "steps are timed for any strategy"
    neighbours = zip(engine.commands, engine.commands[1:], strict=False)
    assert all(isinstance(a, Reset) for a, b in neighbours if isinstance(b, StartTurn))
    warm = [turn for turn in engine.turns if turn.max_tokens == WARM_UP_TOKENS]
    assert [(t.prompt, strategy_text(t.strategy)) for t in warm] == [
        (A.prompt, "off"), (B.prompt, "off"), (A.prompt, "draft"), (A.prompt, "suffix"),
    ]  # fmt: skip
    counted = engine.turns[len(warm) :]
    assert all(turn.max_tokens == 10 for turn in counted)
    assert report.is_complete
    assert len(report.runs) == len(counted) == 2 * 3 * 3


def test_ratios_are_relative_to_plain_decoding() -> None:
    report, _ = measured("draft", "suffix")
    assert [w.name for w in report.workloads] == ["a", "b"]
    assert report.geomean == pytest.approx({"off": 1.0, "draft": 2.0, "suffix": 0.5})
    assert report.failures == ()
    assert "somebody" not in str(report.conditions)


def test_strategies_of_a_workload_follow_each_other_in_changing_order() -> None:
    _, engine = measured("draft", "suffix", repeats=6)
    counted = [t for t in engine.turns if t.max_tokens == 10]
    groups = [counted[i : i + 3] for i in range(0, len(counted), 3)]
    assert all(len({turn.prompt for turn in group}) == 1 for group in groups)
    assert all({strategy_text(t.strategy) for t in g} == {"off", "draft", "suffix"} for g in groups)
    assert len({tuple(t.strategy for t in g) for g in groups}) > 2
    _, other = measured("draft", "suffix", repeats=6)
    assert [t.strategy for t in other.turns] == [t.strategy for t in engine.turns]


def test_a_report_contains_no_folder_and_no_text_of_a_reply() -> None:
    target = model("/home/somebody/m.gguf")
    settings = Pair(ModelParams("/home/somebody/m.gguf"), lookup_cache="/home/somebody/c.bin")
    run = BenchRun(make_plan([A], ("off",), 1), target, None, settings=settings)
    Engine(reply).drive(run)
    text = json.dumps(to_json(run.result()))
    assert "somebody" not in text
    assert '"c.bin"' in text
    (one,) = run.result().runs
    assert one.n_tokens == 10
    assert len(one.text) == 16


def test_the_cost_of_steps_is_measured_once() -> None:
    report, engine = measured("auto")
    assert sum(isinstance(command, Calibrate) for command in engine.commands) == 1
    assert [cost.width for cost in report.conditions.costs] == [1, 2]
    bound = report.workloads[0].results[1].bound
    assert bound is not None
    assert (bound.n_within, bound.n_replies) == (3, 3)
    assert {(run.workload, run.plain_s) for run in report.runs} == {("a", 1.0), ("b", 2.0)}


def test_plain_decoding_is_not_estimated_where_a_reply_has_no_figure_of_it() -> None:
    def unknown(command: StartTurn) -> Event:
        return finished(command, stats(1.0, n_tokens=command.max_tokens))

    report, _ = measured("auto", answer=unknown)
    assert {run.plain_s for run in report.runs} == {None}
    assert all(result.bound is None for found in report.workloads for result in found.results)


def test_many_strategies_are_compared_with_several_plain_runs() -> None:
    others = tuple(f"draft:n_max={n}" for n in range(1, 14))
    SPEED.update(dict.fromkeys(others, 1.0))
    report, _ = measured(*others, repeats=1)
    plain = report.workloads[0].results[0]
    assert (plain.strategy, plain.n_runs) == ("off", 3)
    assert len(report.runs) == make_plan([A, B], others, 1).n_runs


def test_the_remaining_time_is_known_after_the_warm_up_and_decreases() -> None:
    run, engine = bench(("draft",), repeats=2)
    assert run.progress.left_s is None
    left: list[float] = []
    while (command := run.next_command()) is not None:
        progress = run.progress
        if progress.stage == "measure" and progress.left_s is not None:
            left.append(progress.left_s)
            assert progress.cell is not None
        for event in engine.ask(command):
            run.on_event(event)
    # Two plain and two drafted replies of 1 s and 2 s, estimated from warm-up replies of 8 tokens.
    assert left[0] == pytest.approx(4 * 3 * 9 / 7, rel=0.05)
    assert left == sorted(left, reverse=True)
    assert run.progress.stage == "done"
    assert (run.progress.n_done, run.progress.n_total) == (8, 8)


def test_a_stop_keeps_what_was_measured() -> None:
    run, engine = bench(("draft",), repeats=3)
    while len(engine.turns) < 9:
        engine.drive(run, most=1)
    run.stop()
    assert run.next_command() is None
    assert run.is_over
    report = run.result()
    assert not report.is_complete
    assert len(report.runs) == 9 - 3


def test_the_run_that_a_stop_interrupts_does_not_count() -> None:
    run, engine = bench(("draft",))
    engine.reply = lambda command: reply(command) if len(engine.turns) < 6 else None
    engine.drive(run)
    assert not run.is_over
    run.stop()
    assert not run.is_over, "the engine still works on the last turn"
    run.on_event(TurnFinished("cancelled", "", (1,), 1, Strategy.of("off"), stats(0.1)))
    assert run.is_over
    assert len(run.result().runs) == 2


def test_a_strategy_that_fails_is_left_out_of_that_workload_alone() -> None:
    def fail(command: StartTurn) -> Event:
        if strategy_text(command.strategy) == "draft" and command.prompt == B.prompt:
            return TurnFailed("decode-failed", "It broke.", "Try less.")
        return reply(command)

    report, _ = measured("draft", "suffix", answer=fail)
    assert [(f.workload, f.strategy, f.code) for f in report.failures] == [
        ("b", "draft", "decode-failed")
    ]
    assert [r.strategy for r in report.workloads[1].results] == ["off", "suffix"]
    assert report.geomean == pytest.approx({"off": 1.0, "draft": 2.0, "suffix": 0.5})
    assert not report.is_complete


def test_a_prompt_that_does_not_fit_leaves_out_its_workload_alone() -> None:
    def fail(command: StartTurn) -> Event:
        if command.prompt == B.prompt:
            return TurnFailed("prompt-too-long", "Too long.", "")
        return reply(command)

    report, engine = measured("draft", answer=fail)
    assert [w.name for w in report.workloads] == ["a"]
    assert len(report.failures) == 1
    assert sum(turn.prompt == B.prompt for turn in engine.turns) == 1


def test_the_death_of_the_engine_ends_the_benchmark() -> None:
    run, engine = bench(("draft",))
    engine.reply = lambda command: reply(command) if len(engine.turns) < 8 else None
    engine.drive(run)
    run.on_event(EngineDied("It was killed.", "Run it again."))
    assert run.is_over
    assert run.next_command() is None
    report = run.result()
    assert report.failures[-1].message == "It was killed."
    assert len(report.runs) == 4


@pytest.mark.parametrize("has_reason", [True, False])
def test_an_unload_ends_the_benchmark_and_is_reported_with_its_reason(has_reason: bool) -> None:
    run, engine = bench(("draft",))
    engine.reply = lambda command: reply(command) if len(engine.turns) < 8 else None
    engine.drive(run)
    if has_reason:  # after a fatal decode error the engine reports the unload, then the reason
        run.on_event(Unloaded())
        failed = TurnFailed("compute-failed", "The GPU failed.", "")
        run.on_event(failed)
    else:
        run.on_event(reply(engine.turns[-1]))
        run.on_event(Unloaded())
    assert run.is_over
    assert run.next_command() is None
    (failure,) = run.result().failures
    assert failure.code == ("compute-failed" if has_reason else "unloaded")


def test_a_calibration_that_fails_is_reported() -> None:
    run, engine = bench(("auto",))
    while (command := run.next_command()) is not None:
        events = engine.ask(command)
        if isinstance(command, Calibrate):
            events = [Calibrated(problem="There is no room.")]
        for event in events:
            run.on_event(event)
    report = run.result()
    assert report.is_complete
    (note,) = report.notes
    assert "There is no room." in note
    assert note in report_text(report)
    assert to_json(report)["notes"] == [note]


def test_a_calibration_that_unloads_the_models_is_reported() -> None:
    run, engine = bench(("auto",))
    for _ in range(2):
        command = run.next_command()
        assert command is not None
        if isinstance(command, Calibrate):
            run.on_event(Unloaded())
            run.on_event(Calibrated(problem="The GPU failed."))
        else:
            for event in engine.ask(command):
                run.on_event(event)
    assert run.is_over
    assert [failure.message for failure in run.result().failures] == ["The GPU failed."]


def test_strategies_are_checked_beforehand() -> None:
    with pytest.raises(ValueOutOfRangeError, match="twice"):
        make_plan([A], ("draft", "draft"), 1)
    with pytest.raises(ValueOutOfRangeError):
        make_plan([A], ("no-such-thing",), 1)
    assert make_plan([A], ("draft", "off"), 1).strategies == ("off", "draft")


# -------------------------------------------------------------------------- on the real engine


SAMPLING = SamplingParams(temperature=0.8)
REAL = (
    workload("list", "What is a list?", ignore_eog=True, sampling=SAMPLING),
    workload("file", "How do I open a file?", ignore_eog=True, sampling=SAMPLING, seed=4),
)


class Loaded:
    """The demo pair, freshly loaded."""

    def __init__(self, demo_pair: tuple[object, object]) -> None:
        self.client = ThreadedClient()
        target, draft = (ModelParams(str(path), n_threads=1) for path in demo_pair)
        pair = self.client.request(LoadPair(target, DraftModel(draft))).wait()
        assert isinstance(pair, PairLoaded)
        self.pair = pair

    def bench(self, strategies: tuple[str, ...]) -> BenchRun:
        run = BenchRun(make_plan(REAL, strategies, 2), self.pair.target, self.pair.draft)
        while (command := run.next_command()) is not None:
            for event in self.client.request(command):
                run.on_event(event)
        return run

    def close(self) -> None:
        self.client.close()


@pytest.mark.parametrize("is_fresh", [False, True])
def test_auto_keeps_its_acceptance_rates_between_runs_unless_asked_to_forget(
    is_fresh: bool,
) -> None:
    engine = Engine(reply)
    run = BenchRun(make_plan([A], ("auto",), 2, is_fresh=is_fresh), model(), None)
    engine.drive(run)
    resets = [command for command in engine.commands if isinstance(command, Reset)]
    assert len(resets) == 2 + 4
    assert {command.keeps_rates for command in resets} == {not is_fresh}
    report = run.result()
    assert any("without knowing" in note for note in report.notes) == is_fresh
    assert ("without knowing" in report_text(report)) == is_fresh


@pytest.mark.usefixtures("quick_calibration")
def test_a_run_after_a_reset_equals_one_after_a_fresh_load(
    demo_pair: tuple[object, object],
) -> None:
    strategies = ("draft:n_max=3:p_min=0", "ngram-mod:n_match=2:n_min=1")
    loaded = Loaded(demo_pair)
    report = loaded.bench(strategies).result()
    loaded.close()
    assert report.is_complete
    assert all(result.same_text for w in report.workloads for result in w.results)
    for strategy in strategies:
        runs = [r for r in report.runs if r.strategy == strategy and r.workload == "file"]
        fresh = Loaded(demo_pair)
        # The first steps after a load are always plain. Another reply uses them up.
        fresh.client.request(REAL[0].turn("off"))
        fresh.client.request(Reset())
        end = fresh.client.request(REAL[1].turn(strategy)).wait()
        fresh.close()
        assert isinstance(end, TurnFinished)
        assert end.stats.n_reused == 0
        expected = (
            text_mark(end.tokens),
            end.stats.n_drafted,
            end.stats.n_accepted,
            end.stats.n_steps,
        )
        for run in runs:
            assert (run.text, run.n_drafted, run.n_accepted, run.n_steps) == expected
    assert sum(run.n_accepted for run in report.runs) > 0


@pytest.mark.usefixtures("quick_calibration")
def test_auto_takes_part_on_the_real_engine(demo_pair: tuple[object, object]) -> None:
    loaded = Loaded(demo_pair)
    report = loaded.bench(("auto",)).result()
    loaded.close()
    assert report.is_complete
    assert {cost.width for cost in report.conditions.costs} >= {1, 2, 4}
    for w in report.workloads:
        auto = w.result_of("auto")
        assert auto is not None
        assert auto.same_text
        assert auto.bound is not None
