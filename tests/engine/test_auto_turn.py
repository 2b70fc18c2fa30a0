"""Turns with Auto, on scripted models: what they report, keep, and do without."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from engine.bench import PROMPT_LENGTH, Bench
from engine.harness import (
    TIMED,
    Clock,
    PricedModel,
    decoder_for,
    draft_price,
    random_language,
    run,
    target_price,
)
from fake_model import EOG, FakeModel, scripted
from paceline.engine import turn as turn_module
from paceline.engine.auto.acceptance import rates_from_json
from paceline.engine.facts import Facts
from paceline.engine.pair import LoadedPair
from paceline.messages import (
    ControlReported,
    Event,
    LoadPair,
    ModelParams,
    RawText,
    Reset,
    SamplingParams,
    StartTurn,
    StepCommitted,
    TuneApplied,
    TurnFinished,
    TurnStarted,
)
from paceline.params import DraftModel
from strategies import strategy as strategy_of
from strategies import whole

LANGUAGE = random_language(3)
REPLY = "aaaa bbbb aaaa bbbb aaaa bbbb aaaa bbbb aaaa bbbb"
LONG = {"max_tokens": 120, "sampling": SamplingParams(temperature=0.9)}


def bench_of(draft: FakeModel | None = None, target: FakeModel | None = None) -> Bench:
    models = {"target": target or FakeModel(LANGUAGE)} | ({"draft": draft} if draft else {})
    bench = Bench(**models)
    bench.load(draft="draft" if draft else None)
    return bench


def finished(event: Event) -> TurnFinished:
    assert isinstance(event, TurnFinished), event
    return event


def events_of(bench: Bench, kind: type[Any]) -> list[Any]:
    return [event for event in bench.events if isinstance(event, kind)]


def test_auto_reports_what_it_knows_and_last_of_all_before_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0
    monkeypatch.setattr(turn_module, "_clock", lambda: now)
    bench = bench_of(FakeModel(LANGUAGE))

    def tick(event: Event) -> None:
        nonlocal now
        now += 0.2 * isinstance(event, StepCommitted)

    bench.on_event = tick
    last = finished(bench.ask(strategy="auto", **LONG))
    n_steps = len(events_of(bench, StepCommitted))
    reports = events_of(bench, ControlReported)
    assert isinstance(bench.events[-2], ControlReported)
    assert n_steps / 3 - 1 <= len(reports) <= n_steps / 3 + 2  # every 0.5 s at 0.2 s per step
    steps = [report.step for report in reports]
    assert steps == sorted(steps)
    assert steps[-1] == last.stats.n_steps
    final = reports[-1]
    assert final.plain_s > 0
    assert [w.width for w in final.costs][:1] == [1]
    assert {outlook.drafter for outlook in final.drafters} == {"draft", "suffix"}


@pytest.mark.parametrize("strategy", ["off", "suffix"])
def test_other_strategies_report_nothing(strategy: str) -> None:
    bench = bench_of()
    bench.ask(strategy=strategy)
    assert events_of(bench, ControlReported) == []


def test_decisions_come_with_the_steps() -> None:
    bench = bench_of(FakeModel(LANGUAGE))
    finished(bench.ask(strategy="auto", **LONG))
    first, *steps = events_of(bench, StepCommitted)
    assert first.decision is None
    assert all(step.decision is not None for step in steps)
    assert steps[0].decision.reason == "first"


# ------------------------------------------------------------------------------------ does without


def unable(language: Callable[..., Any] = LANGUAGE) -> FakeModel:
    return FakeModel(language, can_rollback=False)


@pytest.mark.parametrize(
    ("models", "words"),
    [
        ({}, ""),
        ({"draft": unable()}, "Auto uses the lookups alone"),
        ({"target": unable()}, "Auto decodes plainly"),
        ({"target": unable(), "draft": FakeModel(LANGUAGE)}, "Auto decodes plainly"),
    ],
    ids=["no draft", "draft", "target", "target with a draft"],
)
def test_auto_makes_do_with_what_there_is(models: dict[str, FakeModel], words: str) -> None:
    expected = finished(bench_of().ask(**LONG)).tokens
    bench = bench_of(**models)
    last = finished(bench.ask(strategy="auto", **LONG))
    assert last.tokens == expected
    (started,) = events_of(bench, TurnStarted)
    assert [words in note for note in started.notes] == ([True] if words else [])
    assert "draft" not in {entry.drafter for entry in last.stats.by_drafter}
    if "plainly" in words:
        assert last.stats.n_drafted == 0
        assert events_of(bench, ControlReported) == []
        in_mid_reply = Bench(target=unable())
        in_mid_reply.load()
        in_mid_reply.on_event = tune_once(in_mid_reply, "auto")
        assert finished(in_mid_reply.ask(**LONG)).tokens == expected
        assert len(events_of(in_mid_reply, TuneApplied)) == 1


def tune_once(bench: Bench, *strategies: str, at: int = 5) -> Callable[[Event], None]:
    """Ask for these strategies one after the other, every few steps."""
    waiting = list(strategies)

    def on_event(event: Event) -> None:
        if isinstance(event, StepCommitted) and event.step % at == at - 1 and waiting:
            bench.client.tune(strategy_of(waiting.pop(0)))

    return on_event


def test_an_automatic_length_needs_a_target_that_can_take_tokens_back() -> None:
    bench = Bench(target=unable())
    bench.load()
    failed = bench.ask(strategy="suffix:max=auto")
    assert getattr(failed, "code", "") == "cannot-rollback"


@pytest.mark.parametrize("strategy", ["auto", "draft:n_max=auto"])
def test_a_useless_draft_changes_nothing(strategy: str) -> None:
    expected = finished(bench_of().ask(**LONG)).tokens
    bench = bench_of(FakeModel(random_language(99)))
    for _ in range(2):
        assert finished(bench.ask(strategy=strategy, **LONG)).tokens == expected


# -------------------------------------------------------------------------------------- what stays


def test_tuning_to_auto_and_back_keeps_the_text_and_what_was_learned() -> None:
    expected = finished(bench_of().ask(**LONG)).tokens
    bench = bench_of(FakeModel(LANGUAGE))
    bench.on_event = tune_once(bench, "draft:n_max=2", "auto", "off", "auto:n_max=4", "suffix")
    last = finished(bench.ask(strategy="auto", **LONG))
    assert last.tokens == expected
    applied = [event.strategy for event in events_of(bench, TuneApplied)]
    assert applied[:3] == [whole("draft:n_max=2"), whole("auto"), whole("off")]
    counts = [
        {c.width: c.n_samples for c in report.costs} for report in events_of(bench, ControlReported)
    ]
    assert all(a.get(1, 0) <= b.get(1, 0) for a, b in pairwise(counts))


class OnDisk:
    """The same pair, loaded again for every turn, with a folder for facts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock = Clock()

    def loaded(self, *, draft: bool = True) -> Bench:
        models = {"target": self._model(target_price)}
        if draft:
            models["draft"] = self._model(draft_price)
        bench = Bench(**models)
        drafting = DraftModel(ModelParams("draft")) if draft else None
        bench.client.request(LoadPair(ModelParams("target"), drafting, cache_dir=str(self.folder)))
        return bench

    def ask(self, *, remember: bool, draft: bool = True) -> None:
        self.loaded(draft=draft).ask(strategy="auto", remember=remember, max_tokens=60)

    def n_judged(self) -> dict[str, int]:
        """Return the number of judged tokens by drafter after the load."""
        bench = self.loaded()
        bench.ask(strategy="auto", max_tokens=1)
        (report,) = events_of(bench, ControlReported)
        return {outlook.drafter: outlook.n_judged for outlook in report.drafters}

    def _model(self, price: Callable[[int], float]) -> FakeModel:
        model = PricedModel(scripted(REPLY, PROMPT_LENGTH))
        model.price, model.time = price, self.clock
        return model

    def facts(self) -> dict[str, Any]:
        path = self.folder / "facts.json"
        facts = json.loads(path.read_text("utf-8")) if path.exists() else {}
        return {k: v for k, v in facts.items() if k.startswith("acceptance|")}


def test_acceptance_is_kept_for_the_pair_where_the_turn_allows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = OnDisk(tmp_path)
    for module in TIMED:
        monkeypatch.setattr(module, "_clock", disk.clock)
    disk.ask(remember=False)
    assert disk.facts() == {}
    assert set(disk.n_judged().values()) == {0}
    disk.ask(remember=True)
    ((name, kept),) = disk.facts().items()
    assert name == "acceptance|fake|fake"
    n_judged = {d: rates.n_judged for d, rates in rates_from_json(kept).items()}
    assert max(n_judged.values()) > 0
    again = disk.n_judged()
    assert again == {drafter: n_judged.get(drafter, 0) for drafter in again}
    disk.ask(remember=True, draft=False)
    assert set(disk.facts()) == {"acceptance|fake|fake", "acceptance|fake|none"}


@pytest.mark.parametrize("damaged", ["", "{}", "[1]", '{"version": 99}', "x" * 99, "[" * 10**5])
def test_what_was_kept_and_cannot_be_read_is_passed_over(tmp_path: Path, damaged: str) -> None:
    facts = {"acceptance|fake|fake": damaged}
    (tmp_path / "facts.json").write_text(json.dumps(facts), "utf-8")
    assert set(OnDisk(tmp_path).n_judged().values()) == {0}


def test_a_reset_does_not_cost_what_was_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = OnDisk(tmp_path)
    for module in TIMED:
        monkeypatch.setattr(module, "_clock", disk.clock)

    def n_judged() -> int:
        ((_, kept),) = disk.facts().items()
        return sum(rates.n_judged for rates in rates_from_json(kept).values())

    bench = disk.loaded()
    for _ in range(3):
        bench.ask(strategy="auto", remember=True, max_tokens=60)
    before = n_judged()
    bench.client.request(Reset())
    bench.ask(strategy="auto", max_tokens=60)  # a benchmark's
    assert n_judged() == before
    bench.ask(strategy="auto", remember=True, max_tokens=60)
    once = n_judged()
    assert once > before
    bench.ask(strategy="auto", remember=True, max_tokens=60)
    assert n_judged() > once, "recalled once, not with every reply"


def test_a_turn_without_auto_keeps_nothing(tmp_path: Path) -> None:
    bench = Bench(target=FakeModel(LANGUAGE))
    bench.client.request(LoadPair(ModelParams("target"), cache_dir=str(tmp_path)))
    bench.client.request(
        StartTurn(RawText("ask"), strategy=strategy_of("suffix"), remember=True, max_tokens=20)
    )
    finished(bench.events[-1])
    assert OnDisk(tmp_path).facts() == {}


# ----------------------------------------------------------------------------------- a first guess


def sized(size: int) -> FakeModel:
    model = FakeModel(LANGUAGE)
    model.info = structs.replace(model.info, size_bytes=size)
    return model


@pytest.mark.parametrize(
    ("target", "draft", "guess"),
    [(1000, 20, 0.03), (1000, 999, 1.0), (1000, 5000, 1.0), (0, 20, 1.0), (1000, 0, 1.0)],
)
def test_what_drafting_costs_is_guessed_by_the_sizes_until_it_is_measured(
    target: int, draft: int, guess: float
) -> None:
    pair = LoadedPair(sized(target), sized(draft), Facts(""))
    assert pair.knowledge.draft_costs["draft"].guess == pytest.approx(guess)


def test_without_a_draft_model_nothing_is_guessed() -> None:
    assert LoadedPair(sized(1000), None, Facts("")).knowledge.draft_costs == {}


@pytest.mark.parametrize("n_ctx", [512, 4096], ids=["short", "long"])
def test_a_draft_model_with_a_shorter_context_continues_drafting(
    monkeypatch: pytest.MonkeyPatch, n_ctx: int
) -> None:
    """It reads the text's end again if the text has outgrown it, in the prompt or after it."""
    clock = Clock()
    for module in TIMED:
        monkeypatch.setattr(module, "_clock", clock)
    language = random_language(1)

    def endless(tokens: Sequence[int]) -> np.ndarray:
        row = language(tokens)
        row[EOG] = -99
        return row

    def priced(price: Callable[[int], float], n_ctx: int) -> PricedModel:
        model = PricedModel(endless, n_ctx=n_ctx)
        model.price, model.time = price, clock
        return model

    target = priced(lambda n: 1 + 0.02 * (n - 1), 4096)
    draft = priced(lambda n: 0.03 + 0.012 * n, n_ctx)
    decoder = decoder_for(
        target, "auto", draft=draft, max_tokens=1200, sampling=SamplingParams(temperature=0.8)
    )
    known = decoder._knowledge  # as after the first idle time
    for width in range(1, 33):
        for _ in range(3):
            known.costs.add(width, 0, 1 + 0.02 * (width - 1))
    known.draft_costs["draft"].guess = 0.05
    drawn = random.Random(3)
    prompt = [drawn.randrange(256) for _ in range(600)]
    steps = run(decoder, prompt)
    assert len(steps) < 1200 / 8
    assert len(draft.widths) > 200
