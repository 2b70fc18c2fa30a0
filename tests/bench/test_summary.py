"""Figures of runs: pairing, quartiles, same text, Auto's bound, means over workloads."""

from __future__ import annotations

import pytest

from bench.scripted import stats
from paceline.bench.plan import make_plan
from paceline.bench.report import to_json
from paceline.bench.runs import (
    BenchMachine,
    Bound,
    Conditions,
    Report,
    Run,
    acceptance,
    summarise,
    text_mark,
)
from paceline.bench.workload import Workload
from paceline.messages import RawText
from paceline.run_record import ModelRecord

CONDITIONS = Conditions(
    BenchMachine("A processor", cores=4, threads=2), ModelRecord("M", "m.gguf", n_params=10**9)
)


def run(
    workload: str,
    strategy: str,
    repeat: int,
    total_s: float,
    *,
    prefill_s: float = 0.0,
    tokens: tuple[int, ...] = tuple(range(11)),
    drafted: tuple[int, int] = (0, 0),
    plain_s: float | None = None,
) -> Run:
    figures = stats(total_s, prefill_s, len(tokens), drafted)
    return Run(
        workload, strategy, repeat, len(tokens), text_mark(tokens), figures.prefill_s,
        figures.decode_s, 20, figures.n_steps, figures.n_drafted, figures.n_accepted, 0,
        plain_s=plain_s,
    )  # fmt: skip


def report(
    runs: list[Run], strategies: tuple[str, ...] = ("draft",), names: tuple[str, ...] = ("a",)
) -> Report:
    repeats = max((r.repeat for r in runs), default=1)
    plan = make_plan([Workload(name, RawText("x")) for name in names], strategies, repeats)
    return summarise(plan, runs, CONDITIONS, wall_s=3.0, is_complete=len(runs) == plan.n_runs)


def test_ratios_are_paired_within_the_repeats() -> None:
    times = [(1.0, 0.5), (10.0, 4.0), (2.0, 1.0)]  # the machine was slow in the second
    runs = [
        run("a", strategy, repeat, seconds)
        for repeat, pair in enumerate(times, 1)
        for strategy, seconds in zip(("off", "draft"), pair, strict=True)
    ]
    (plain, draft) = report(runs).workloads[0].results
    assert (plain.ratio_to_off.low, plain.ratio_to_off.high) == (1.0, 1.0)
    ratio = draft.ratio_to_off
    assert (ratio.median, ratio.low, ratio.high) == pytest.approx((2.0, 2.0, 2.25))
    assert draft.n_runs == 3


def test_the_prompt_counts_in_one_ratio_and_not_in_the_other() -> None:
    runs = [run("a", "off", 1, 5.0, prefill_s=4.0), run("a", "draft", 1, 4.5, prefill_s=4.0)]
    draft = report(runs).workloads[0].results[1]
    assert draft.ratio_to_off.median == pytest.approx(5 / 4.5)
    assert draft.ratio_writing.median == pytest.approx(2.0)


def test_other_tokens_are_seen_in_every_repeat() -> None:
    same, other = (1, 2, 3), (1, 2, 4)
    runs = [
        run("a", "off", 1, 1.0, tokens=same), run("a", "draft", 1, 1.0, tokens=same),
        run("a", "off", 2, 1.0, tokens=same), run("a", "draft", 2, 1.0, tokens=other),
    ]  # fmt: skip
    plain, draft = report(runs).workloads[0].results
    assert (plain.same_text, plain.n_different) == (True, 0)
    assert (draft.same_text, draft.n_different) == (False, 1)


def test_plain_decoding_is_compared_with_its_own_first_repeat() -> None:
    runs = [run("a", "off", n, 1.0, tokens=(1, n)) for n in (1, 2, 3)]
    assert report(runs).workloads[0].results[0].n_different == 2


@pytest.mark.parametrize(("prefill_s", "most_s"), [(0.0, 1.522), (2.0, 3.622)])
def test_the_bound_of_auto(prefill_s: float, most_s: float) -> None:
    # Eleven plain steps of 0.1 s: 1.02 times them, 1.05 times the prompt, and 0.4 s are promised.
    def bound_at(total_s: float) -> Bound:
        runs = [
            run("a", "off", 1, 9.0, plain_s=9.0),  # of another minute
            run("a", "auto", 1, total_s, prefill_s=prefill_s, plain_s=1.1),
        ]
        bound = report(runs, ("auto",)).workloads[0].results[1].bound
        assert bound is not None
        assert bound.n_replies == 1
        assert bound.worst == pytest.approx(total_s / most_s)
        return bound

    assert bound_at(most_s - 0.001).n_within == 1
    assert bound_at(most_s + 0.001).n_within == 0


def test_every_reply_is_compared_with_its_own_plain_time() -> None:
    pairs = [(1.0, 1.0), (2.0, 2.0), (2.0, 1.0), (9.0, None)]  # what is not known does not count
    runs = [
        each
        for repeat, (total_s, plain_s) in enumerate(pairs, 1)
        for each in (
            run("a", "off", repeat, 1.0),
            run("a", "auto", repeat, total_s, plain_s=plain_s),
        )
    ]
    bound = report(runs, ("auto",)).workloads[0].results[1].bound
    assert bound is not None
    assert (bound.n_within, bound.n_replies) == (2, 3)
    assert bound.worst == pytest.approx(2.0 / (1.02 + 4 / 11))


def test_auto_alone_has_promised_anything() -> None:
    strategies = ("off", "draft", "auto")
    runs = [run("a", strategy, n, 1.0, plain_s=1.0) for strategy in strategies for n in (1, 2)]
    results = report(runs, ("draft", "auto")).workloads[0].results
    assert [result.strategy for result in results if result.bound is not None] == ["auto"]


def test_a_reply_of_the_prefill_alone_says_nothing_about_the_bound() -> None:
    runs = [run("a", strategy, 1, 1.0, tokens=(7,), plain_s=0.1) for strategy in ("off", "auto")]
    assert report(runs, ("auto",)).workloads[0].results[1].bound is None


def test_several_plain_runs_count_by_their_median() -> None:
    plain = [run("a", "off", 1, seconds) for seconds in (1.0, 2.0, 9.0)]
    found = report([*plain, run("a", "draft", 1, 1.0)])
    assert found.workloads[0].results[1].ratio_to_off.median == 2.0


def test_means_are_over_what_all_have_run() -> None:
    runs = [
        run("a", "off", 1, 1.0), run("a", "draft", 1, 0.25), run("a", "suffix", 1, 0.5),
        run("b", "off", 1, 1.0), run("b", "draft", 1, 1.0), run("b", "suffix", 1, 0.5),
        run("c", "off", 1, 1.0), run("c", "draft", 1, 0.01),
    ]  # fmt: skip
    found = report(runs, ("draft", "suffix", "ngram-mod"), ("a", "b", "c", "d"))
    assert found.geomean == pytest.approx({"off": 1.0, "draft": 2.0, "suffix": 2.0})
    assert [w.name for w in found.workloads] == ["a", "b", "c"]


def test_a_run_without_its_plain_one_is_left_out() -> None:
    found = report([run("a", "draft", 1, 0.5)])
    assert found.workloads == ()
    assert found.geomean == {}


def test_acceptance_is_over_all_judged_tokens() -> None:
    runs = [run("a", "draft", 1, 1.0, drafted=(8, 2)), run("a", "draft", 2, 1.0, drafted=(2, 2))]
    assert acceptance(runs) == pytest.approx(0.4)
    assert acceptance([run("a", "off", 1, 1.0)]) is None


CONTRACT = {
    "strategy", "tokens_per_s", "ratio_to_off", "acceptance_rate", "mean_committed_per_step",
    "same_text", "n_runs",
}  # fmt: skip


def test_the_json_is_that_of_the_contract() -> None:
    runs = [run("a", "off", 1, 1.0), run("a", "draft:n_max=4", 1, 0.5, drafted=(8, 4))]
    data = to_json(report(runs, ("draft:n_max=4",)))
    assert {"machine", "target", "draft", "workloads", "geomean"} <= data.keys()
    (workload,) = data["workloads"]
    assert workload["name"] == "a"
    plain, draft = workload["results"]
    assert data["geomean"].keys() == {"off", "draft:n_max=4"}
    assert plain.keys() >= CONTRACT
    assert draft["ratio_to_off"] == {"median": 2.0, "low": 2.0, "high": 2.0}
    assert (draft["strategy"], draft["acceptance_rate"], draft["same_text"]) == (
        "draft:n_max=4", 0.5, True,
    )  # fmt: skip
    assert "bound" not in draft
    assert draft["runs"][0]["total_s"] == 0.5
