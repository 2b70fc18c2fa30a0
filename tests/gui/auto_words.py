"""All that is said of Auto: a line each, made by its functions from figures of every kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import get_args

from msgspec import structs

from gui.control_events import CURVE, drafting_step, outlook, plain_step, report
from gui.fake_client import model_info
from paceline.chat.advice import Advice, advise, pair_advice
from paceline.chat.auto_words import (
    balance,
    by_confidence,
    by_place,
    cost_words,
    decision_rows,
    decision_words,
    drafted_words,
    outlook_words,
    phase_words,
    promise_words,
    reason_words,
    reasons_words,
    shown_costs,
    unused_words,
)
from paceline.chat.decisions import KIND_OF, Phase, PhaseKind, Price, mix_of
from paceline.engine.draft.strategy import strategy_named
from paceline.figures import Decision, Reason
from paceline.gui.kit.sentences import said
from paceline.gui.state.sources import Sources
from paceline.messages import DrafterStats, TurnStats

DRAFT, BOTH = ("draft",), ("draft", "suffix")


def phases() -> Iterator[Phase]:
    """One of each, with more and with fewer figures."""
    for kind in get_args(PhaseKind):
        for names in (DRAFT, BOTH):
            yield Phase(kind, names, 2.6, 1.4 if kind in KIND_OF.values() else None, 0.67)
        yield Phase(kind, ("suffix", "ngram-mod"), 1.1, gain=0.82)
    yield Phase("expensive", price=Price(3, 0.9, 1.24))
    yield Phase("expensive", price=Price(1, 0.6, 0.72))
    yield Phase("shut")
    yield Phase("nothing", n_drafts=4)
    for phase in (
        *(Phase(kind, DRAFT, 2.6, rate=0.67) for kind in get_args(PhaseKind)),
        Phase("trial", BOTH),
        Phase("nothing", n_drafts=4),
        Phase("shut", DRAFT, gain=0.82),
        Phase("shut"),
    ):
        yield replace(phase, has_ended=True)


def stats(*drafters: DrafterStats, speed: float = 30.0) -> TurnStats:
    n, accepted = (
        sum(getattr(d, name) for d in drafters) for name in ("tokens", "tokens_accepted")
    )
    return TurnStats(
        True, 10, 0, 200, 0.1, 10.0, 10.1, speed, 10.0, 100, n, accepted, 0, accepted / max(n, 1),
        2.0, 0.1, drafters, plain_low=9.5, plain_high=10.5,
    )  # fmt: skip


def did(
    drafter: str, tokens: int, accepted: int, drafts: int = 100, s: float = 0.0
) -> DrafterStats:
    return DrafterStats(drafter, 1, 100, drafts, 0.0, s, 0.0, drafts, 0, tokens, accepted, ())


def advice(sources: Sources) -> Iterator[Advice]:
    """Each rule's, and what is said of pairs."""
    cases = (
        (stats(did("draft", 1000, 900, s=4.0), speed=9.0), "draft"),
        (stats(did("mtp", 1000, 900, s=4.0), speed=9.0), "mtp"),
        (stats(did("draft", 1000, 900), speed=9.0), "draft"),
        (stats(did("draft", 1000, 300)), "draft:p_min=0"),
        (stats(did("ngram-simple", 1000, 100)), "ngram-simple"),
        (stats(did("ngram-simple", 300, 40)), "ngram-simple"),
        (stats(did("draft", 1200, 1000)), "suffix+draft"),
        (stats(did("draft", 300, 270)), "draft"),
        (stats(did("ngram-mod", 0, 0, 0)), "ngram-mod"),
        (stats(did("ngram-mod", 10, 5, 1)), "ngram-mod"),
    )
    for figures, strategy in cases:
        yield from advise(figures, strategy_named(strategy), title=sources.full_title)
    small = structs.replace(model_info("x.gguf"), size_bytes=70 << 20)
    bad = outlook(n_judged=2400, saved_s=-1.2, gain=0.97)
    for target, drafter, curve in (
        (small, bad, CURVE),
        (small, structs.replace(bad, saved_s=1.0), CURVE),
        (small, bad, (1.0, 1.95, 2.9, 3.8)),
        (structs.replace(small, n_gpu_layers=9), bad, (1.0, 1.95, 2.9, 3.8)),
    ):
        found = pair_advice(
            report(drafter, curve=curve),
            models={"draft"},
            target=target,
            draft=small,
            title=sources.full_title,
        )
        assert found is not None
        yield found


def all_words(sources: Sources) -> Iterator[str]:
    """Everything, a line each, with a title before each group."""
    title = sources.title
    yield "# Phases"
    yield from dict.fromkeys(
        phase_words(phase, title, judges=judges) for judges in (True, False) for phase in phases()
    )
    yield "# One decision"
    for reason in get_args(Reason):
        yield reason_words(reason)
        yield decision_words(Decision("draft", 3, reason, 2.4, 1.6))
    yield decision_words(Decision("", 0, "shut"))
    yield "# A whole reply"
    steps = [drafting_step(i) for i in range(300)]
    mix = mix_of([*steps, *(plain_step(i, "nothing") for i in range(99)), plain_step(1, "first")])
    for name, words in decision_rows(mix, sources.full_title, stats(did("draft", 900, 600))):
        yield f"{said(name)}: {said(words)}"
    yield drafted_words(mix)
    yield reasons_words(mix)
    yield "# What was measured"
    shut = outlook("suffix", is_open=False, gain=0.82, saved_s=-0.4, n_judged=1200, n_accepted=31)
    idle, late = outlook("ngram-mod", n_judged=0, saved_s=0.0), outlook(is_open=False, saved_s=0.0)
    told = report(outlook(), shut, idle)
    yield from (cost_words(cost, 0.04) for cost in shown_costs(told.costs)[:2])
    yield cost_words(told.costs[1], 0.0)
    for each in (*told.drafters, late):
        yield outlook_words(each)
    yield unused_words(told.drafters, sources.full_title)
    yield from (accepted.words for accepted in (*by_place(outlook()), *by_confidence(outlook())))
    yield from balance(told)
    yield from balance(structs.replace(report(outlook(saved_s=-1.5)), pace=0.5, slack_s=-0.1))
    yield promise_words(1_234, 2_000)
    yield promise_words(2_000, 2_000)
    yield "# Advice"
    for piece in advice(sources):
        yield f"{piece.code}: {said(piece.text)} {said(piece.reason)}"
