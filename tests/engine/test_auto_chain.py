"""The controlled chain, by a controller that does what the test says: who is asked, what is cut."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from engine.chain_members import (
    REPLY,
    Lookup,
    Member,
    TextsGrammar,
    bench,
    copy,
    explode,
    nothing,
    strategy,
)
from engine.harness import (
    PROMPT,
    Clock,
    check_books,
    decoder_for,
    random_language,
    run,
)
from fake_model import FakeModel, scripted
from paceline.engine.auto.controller import FORCED, Controller, StepPlan, StepTimes
from paceline.engine.auto.knowledge import Knowledge
from paceline.engine.auto.tuning import TUNING
from paceline.engine.decode.decoder import Decoder
from paceline.engine.draft import auto_chain as auto_chain_module
from paceline.engine.draft import step_clock
from paceline.engine.draft.auto_chain import MAX_REST_STEPS, OWN_SHARE, AutoChain, make_chain
from paceline.engine.draft.base import AUTO, Draft, Parameter
from paceline.engine.draft.chain import Chain, Proposal
from paceline.engine.draft.step_clock import Lap
from paceline.engine.draft.strategy import CompleteStrategy, parse_strategy
from paceline.engine.stats import TurnMeter
from paceline.errors import CancelledError
from paceline.figures import Decision, DraftCount, Reason
from paceline.messages import SamplingParams

LAP = Lap(0.5, plain=False, is_warm=True, had_pause=False)
DECODE_S, HELD_S = 0.4, 0.05


SCRIPTS: list[Script] = []
"""Replacements of the controller; the last one decides, or else the controller itself."""
LENGTH = Parameter("n_max", "int", 9, 1, 62, "Tokens", "Tokens.", can_be_auto=True)


def controller(*arguments: Any, **named: Any) -> Any:
    return SCRIPTS[-1] if SCRIPTS else Controller(*arguments, **named)


@pytest.fixture(autouse=True)
def _scripted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let scripts decide.

    Scripted models take no time, so that no time at all would be left for deciding.
    """
    SCRIPTS.clear()
    monkeypatch.setattr(auto_chain_module, "Controller", controller)
    monkeypatch.setattr(auto_chain_module, "OWN_SHARE", 1e9)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of chains, which stands still but for what a test adds."""
    clock = Clock()
    monkeypatch.setattr(auto_chain_module, "_clock", clock)
    return clock


@dataclass
class Script:
    """Replacement of the controller: decides as its fields say, and records its calls.

    `verified` names the drafter whose draft is verified and the number of tokens. For None it is
    the model's whole draft, or the first offer if the model drafted nothing.
    """

    n_max: int = 10
    reason: Reason = "pays"
    models: bool = True
    worth: float = 0.0  # what an offer is worth
    n_read: int | None = None  # tokens that a model is to read, or None for all
    n_drafts: int = 99
    verified: tuple[str, int] | None = None
    rooms: list[tuple[int, int]] = field(default_factory=list)
    offers: list[tuple[str, list[float | None]]] = field(default_factory=list)
    backlogs: list[int] = field(default_factory=list)
    went_on: list[float | None] = field(default_factory=list)
    steps: list[StepTimes] = field(default_factory=list)
    shadows: list[tuple[str, int, int]] = field(default_factory=list)
    wait: int = 0
    ledger: Any = None
    rests: list[tuple[int, float]] = field(default_factory=list)

    def rested(self, n: int, decode_s: float, own_s: float) -> None:
        assert own_s > 0  # what an earlier step's learning took
        self.rests.append((n, decode_s))

    def plan(self, n_ctx: int, n_room: int) -> StepPlan:
        self.rooms.append((n_ctx, n_room))
        self._now: list[tuple[str, int]] = []
        self._n_model = 0
        return StepPlan(min(self.n_max, n_room), self.reason, self.models)

    def offer(self, drafter: str, confidences: Sequence[float | None]) -> float:
        self.offers.append((drafter, list(confidences)))
        self._now.append((drafter, len(confidences)))
        return self.worth

    def wants_model(self, drafter: str, n_backlog: int, n_unread: int = 0) -> int:
        self.backlogs.append(n_backlog)
        return n_backlog if self.n_read is None else self.n_read

    def goes_on(self, confidence: float | None) -> bool:
        self.went_on.append(confidence)
        self._n_model += 1
        return self._n_model < self.n_drafts

    def settle(self) -> Decision:
        drafter, n = "", 0
        if self.verified is not None:
            drafter, n = self.verified
        elif self._n_model:
            drafter, n = "model", self._n_model
        elif self._now:
            drafter, n = self._now[0]
        return Decision(drafter, n, "pays" if n else self.reason, 2.0, 1.5)

    def observe(self, step: StepTimes) -> float:
        self.steps.append(step)
        return float(step.n_accepted)

    def shadow(self, drafter: str, n_agreed: int, n: int) -> None:
        assert n >= n_agreed
        self.shadows.append((drafter, n_agreed, n))


class Model(Member):
    """A draft model that can be stopped after every token, and counts what it decodes."""

    def __init__(self, rule: Callable[[Sequence[int], int], Sequence[int]]) -> None:
        super().__init__(rule, sure=0.5)
        self.n_decoded = 0
        self.n_backlog = 1
        self.n_unread = 0

    def propose_while(self, n_max: int, goes_on: Callable[[float], bool], n_read: int) -> Draft:
        tokens: list[int] = []
        self.asked.append(("while", n_max))
        self.n_decoded += n_read - 1
        for token in list(self.rule(self.history, n_max))[:n_max]:
            tokens.append(token)
            self.n_decoded += 1
            if not goes_on(0.5):
                break
        return Draft(tokens, [0.5] * len(tokens))


class Text:
    """A text that a chain works on: proposes, and commits what the test says."""

    def __init__(self, chain: Chain, meter: TurnMeter, knowledge: Knowledge) -> None:
        self.chain = chain
        self.meter = meter
        self.knowledge = knowledge
        self.history = list(PROMPT)

    def propose(self, n_max: int = 10) -> Proposal:
        return self.chain.propose(self.history, len(PROMPT), n_max)[0]

    def commit(
        self,
        proposal: Proposal,
        tokens: str,
        n_accepted: int = 0,
        *,
        lap: Lap = LAP,
        decode_s: float = DECODE_S,
    ) -> list[DraftCount]:
        n_ctx = len(self.history) - 1
        self.history += tokens.encode()
        counts = self.chain.observe(proposal, n_accepted, 0)
        self.decision = self.chain.timed(lap, len(proposal.tokens) + 1, n_ctx, decode_s, 1.0)
        return counts


def text_of(control: Script, grammar: Any = None, **members: Member) -> Text:
    """A text, and a chain of these drafters with a script in the controller's place."""
    SCRIPTS.append(control)
    meter, knowledge = TurnMeter(), Knowledge()
    return Text(AutoChain(strategy(**members), bench(grammar), meter, knowledge), meter, knowledge)


def tokens_of(proposal: Proposal) -> str:
    return bytes(proposal.tokens).decode()


# ------------------------------------------------------------------------------------- who is asked


def test_lookups_are_asked_in_their_order_until_one_is_worth_it() -> None:
    a, b, c = Lookup(nothing), Lookup(copy(REPLY, 4), sure=0.5), Lookup(copy(REPLY, 2))
    control = Script(worth=1.0)
    text = text_of(control, a=a, b=b, c=c)
    assert tokens_of(text.propose(7)) == "The "
    assert (a.asked, b.asked, c.asked) == ([("propose", 7)], [("propose", 7)], [])
    assert control.offers == [("b", [0.5] * 4)]  # no proposal is no offer
    assert control.rooms == [(len(PROMPT) - 1, 7)]
    control.worth = 0.0
    text.propose(7)
    assert [name for name, _ in control.offers] == ["b", "b", "c"]


@pytest.mark.parametrize("reason", ["plain", "ledger", "shut"])
def test_in_a_plain_step_no_drafter_is_asked(reason: Reason) -> None:
    a, model = Lookup(copy(REPLY, 4)), Model(copy(REPLY, 4))
    text = text_of(Script(n_max=0, reason=reason), a=a, model=model)
    proposal = text.propose()
    assert (proposal.tokens, proposal.parts) == ([], [])
    assert (a.asked, model.asked) == ([], [])
    assert text.commit(proposal, "T") == []
    assert text.decision == Decision("", 0, reason, 2.0, 1.5)


def test_without_room_the_controller_is_asked_anyway() -> None:
    control = Script()
    a = Lookup(copy(REPLY, 4))
    text = text_of(control, a=a)
    for n_max in (0, -3):
        assert text.propose(n_max).tokens == []
    assert [room for _, room in control.rooms] == [0, 0]
    assert a.asked == []


def test_a_model_that_is_not_wanted_drafts_nothing_and_the_lookup_does() -> None:
    a, model = Lookup(copy(REPLY, 4)), Model(copy(REPLY, 4))
    model.n_backlog = 77
    control = Script(n_read=0)
    text = text_of(control, a=a, model=model)
    proposal = text.propose()
    assert control.backlogs == [77]
    assert (proposal.sources, model.asked) == (["a"] * 4, [])


@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_models_loop_ends_after_the_token_that_the_controller_says_no_to(n: int) -> None:
    control = Script(n_drafts=n)
    model = Model(copy(REPLY, 9))
    model.n_backlog = 5
    text = text_of(control, model=model)
    proposal = text.propose()
    assert tokens_of(proposal) == REPLY[:n]
    assert control.went_on == [0.5] * n
    text.commit(proposal, REPLY[: n + 1], n)
    (step,) = control.steps
    assert step.n_draft_decoded == 4 + n  # what it had to catch up with is charged
    assert 0 < step.draft_s < 0.5
    assert (step.n_accepted, step.n_judged, step.n_committed) == (n, n, n + 1)
    assert (step.n_ctx, step.width, step.decode_s) == (len(PROMPT) - 1, n + 1, DECODE_S)


def test_what_others_had_of_the_processor_is_shown_and_not_decided_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The thread's own seconds are decided on, of which there are fewer."""
    monkeypatch.setattr(auto_chain_module, "_clock", itertools.count(0.0, 10.0).__next__)
    monkeypatch.setattr(time, "thread_time", itertools.count(0.0, 0.01).__next__)
    control = Script(models=False)
    SCRIPTS.append(control)
    chain = AutoChain(
        strategy(a=Lookup(nothing)), bench(), TurnMeter(), Knowledge(), own=lambda: 0.0
    )
    _, shown_s = chain.propose(list(b"What?"), 5, 9)
    chain.timed(structs.replace(LAP, held_s=0.3), 1, 10, DECODE_S, 1.0)
    (step,) = control.steps
    assert shown_s == 10.0
    assert (step.decode_s, step.held_s) == (DECODE_S, 0.3)
    assert step.own_s == pytest.approx(0.01)


def test_what_asking_makes_of_the_rest_of_a_step_is_charged(clock: Clock) -> None:
    took = {"lookup": 0.002, "model": 0.0, "learning": 0.0}

    def taking(which: str) -> Callable[[Sequence[int], int], Sequence[int]]:
        def rule(_text: Sequence[int], _n_max: int) -> Sequence[int]:
            clock.now += took[which]
            return ()

        return rule

    class Learning(Script):
        def observe(self, step: StepTimes) -> float:
            clock.now += took["learning"]
            return super().observe(step)

    control = Learning()
    text = text_of(control, a=Lookup(taking("lookup")), model=Model(taking("model")))

    def step(beside_s: float, tokens: str, *, pauses: bool = False) -> float:
        """Return what a step is charged that took so long besides its decode and its asking."""
        began = clock.now
        proposal = text.propose()
        asking_s = clock.now - began
        lap = structs.replace(
            LAP, seconds=DECODE_S + HELD_S + asking_s + beside_s, held_s=HELD_S, had_pause=pauses
        )
        text.commit(proposal, tokens, lap=lap)
        return control.steps[-1].own_s

    near = pytest.approx
    assert step(0.009, "T") == near(0.002), "nothing to compare with"
    control.n_max = 0
    step(0.5, "?")
    step(0.001, "?", pauses=True)  # that may have been a stall
    step(-math.inf, "?")
    control.n_max = 9
    assert step(0.001, "?") == near(0.002), "clocks may stand still"
    control.n_max = 0
    assert step(0.001, "h") == 0.0, "no drafter is asked"
    control.n_max = 9
    assert step(0.0015, "e") == near(0.0025)
    took["model"] = 0.1
    assert step(0.0015, "e") == near(0.0025), "drafting is charged as such"
    took["model"] = 0.0
    assert step(0.5, "e", pauses=True) == near(0.002)
    assert step(0.5, " ") == near(0.004), "a stall is no cost of drafting"
    assert step(0.0015, "wet") == near(0.0005), "of three steps' rest"
    for _ in range(4):
        control.n_max, control.reason, control.wait, took["learning"] = 0, "ledger", 5, 0.004
        step(0.002, "a")
        for beside_s in (0.006, 0.002, 0.002, 0.002, 0.002):  # the first one after the learning
            step(beside_s, "b")
    control.n_max, took["learning"] = 9, 0.0
    assert step(0.0025, "e") == near(0.0025), "steps without a decision take 2 ms besides"


def test_a_model_that_cannot_be_stopped_is_cut() -> None:
    control = Script(n_drafts=2)
    stiff = Member(copy(REPLY, 5), sure=0.25)
    text = text_of(control, model=stiff)
    assert tokens_of(text.propose()) == "Th"
    assert control.backlogs == [1]
    silent = Member(copy(REPLY, 5))
    control = Script(n_drafts=3)
    assert tokens_of(text_of(control, model=silent).propose()) == "The"
    assert control.went_on == [None] * 3


# --------------------------------------------------------------------------------- what is verified


@pytest.mark.parametrize("n", range(5))
def test_a_draft_is_cut_to_what_is_settled(n: int) -> None:
    """The model drafts four tokens; the first n of them are verified."""
    control = Script(verified=("model" if n else "", n))
    model = Model(copy(REPLY, 4))
    text = text_of(control, model=model)
    proposal = text.propose()
    assert tokens_of(proposal) == REPLY[:n]
    assert len(proposal.confidences) == len(proposal.sources) == n
    counts = text.commit(proposal, REPLY[: n + 1], n)
    assert counts == ([DraftCount("model", n, n)] if n else [])
    assert model.seen == [n or None]


def test_a_proposal_that_was_not_verified_counts_for_nothing_but_is_scored() -> None:
    a, b = Lookup(copy(REPLY, 4)), Lookup(copy("Thus", 4))
    control = Script(verified=("a", 2))
    text = text_of(control, a=a, b=b, model=Model(copy("Xyz", 3)))
    proposal = text.propose()
    assert text.commit(proposal, "The", 2) == [DraftCount("a", 2, 2)]
    assert control.shadows == [("b", 2, 3), ("model", 0, 3)]
    stats = {d.drafter: d for d in text.meter.freeze().by_drafter}
    assert (stats["a"].tokens, stats["a"].tokens_accepted, stats["a"].drafts) == (2, 2, 1)
    for name in ("b", "model"):
        assert (stats[name].tokens, stats[name].drafts, stats[name].n_accept) == (0, 0, 0)
        assert stats[name].n_draft == 1


@given(st.lists(st.integers(0, 2), max_size=6), st.lists(st.integers(0, 2), min_size=1, max_size=6))
def test_shadow_scores_are_those_of_comparing_token_by_token(
    proposed: list[int], committed: list[int]
) -> None:
    control = Script(verified=("", 0))
    text = text_of(control, a=Lookup(lambda _text, _n: proposed))
    text.commit(text.propose(), bytes(committed).decode())
    n_agreed = 0
    for mine, theirs in zip(proposed, committed, strict=False):
        if mine != theirs:
            break
        n_agreed += 1
    n = min(len(proposed), len(committed))
    assert control.shadows == ([("a", n_agreed, n)] if proposed else [])


def test_drafters_that_are_not_asked_see_several_steps_at_once_before_they_are() -> None:
    a, model = Lookup(copy(REPLY, 2)), Model(copy(REPLY, 2))
    control = Script(verified=("", 0))
    text = text_of(control, a=a, model=model)
    text.commit(text.propose(), "T")
    assert (a.seen, model.seen) == ([], [None])  # what the model drafted is taken back at once
    control.n_max = 0
    for letter in "he ":
        text.commit(text.propose(), letter)
    assert (a.seen, model.seen) == ([], [None])
    control.n_max = 9
    text.propose()
    assert (a.seen, model.seen) == ([None], [None, None])
    assert a.asked[-1] == ("propose", 9)
    assert model.asked[-1] == ("while", 9)


# ------------------------------------------------------------------------------------------ trouble


@pytest.mark.parametrize("method", ["begin", "propose", "observe", "close"])
@pytest.mark.parametrize("broken", ["a", "b", "model"])
def test_a_member_that_breaks_costs_nothing_but_itself(broken: str, method: str) -> None:
    members: dict[str, Member] = {
        "a": Lookup(copy(REPLY, 3, behind=8, until=18)),
        "b": Lookup(copy(REPLY, 3, behind=28)),
        "model": Model(copy(REPLY, 2)),
    }
    name = "propose_while" if (broken, method) == ("model", "propose") else method
    setattr(members[broken], name, explode)
    decoder = controlled(Script(n_drafts=2), **members)
    run(decoder)
    assert decoder.reply == REPLY
    assert [found for found, _ in decoder.draft_failures] == [broken]
    rest = members.keys() - ({broken} if method != "close" else set())
    assert sum(decoder.meter.drafters[name].tokens_accepted for name in rest) > 10


def controlled(control: Script, reply: str = REPLY, **members: Member) -> Decoder:
    """A decoder on a scripted reply, whose chain of these drafters a script controls."""
    SCRIPTS.append(control)
    decoder = decoder_for(FakeModel(scripted(reply, len(PROMPT))))
    automatic = {"n_max": AUTO}
    drafters = strategy(**members).drafters
    decoder.switch(
        CompleteStrategy(
            tuple((replace(info, parameters=(LENGTH,)), automatic) for info, _ in drafters)
        )
    )
    return decoder


def test_a_model_that_breaks_on_its_way_leaves_a_plain_step() -> None:
    class Breaks(Model):
        def propose_while(self, n_max: int, goes_on: Callable[[float], bool], n_read: int) -> Draft:
            goes_on(0.5)
            raise RuntimeError("broken")

    text = text_of(Script(), model=Breaks(nothing))
    proposal = text.propose()
    assert proposal.tokens == []
    text.commit(proposal, "T")
    assert text.decision == Decision("", 0, "nothing")
    assert [name for name, _ in text.chain.failures] == ["model"]
    assert not text.chain.may_draft


def test_a_cancel_passes_through() -> None:
    class Cancelled(Model):
        def propose_while(self, n_max: int, goes_on: Callable[[float], bool], n_read: int) -> Draft:
            raise CancelledError

    with pytest.raises(CancelledError):
        text_of(Script(), model=Cancelled(nothing)).propose()


def test_what_a_grammar_forces_is_offered_and_what_it_forbids_is_cut() -> None:
    grammar = TextsGrammar(b"name: a", b"name: b")
    control = Script()
    text = text_of(control, grammar, a=Lookup(copy("nazz", 4)))
    assert tokens_of(text.propose()) == "name: "
    assert [(name, len(sure)) for name, sure in control.offers] == [(FORCED, 6), ("a", 2)]
    assert grammar.n_open == [1]


# ------------------------------------------------------------------------------------------- tuning


def test_autos_other_limit_reaches_its_drafters_without_a_new_chain(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[Controller] = []

    def make(*arguments: Any, **named: Any) -> Controller:
        made.append(Controller(*arguments, **named))
        return made[-1]

    monkeypatch.setattr(auto_chain_module, "Controller", make)
    chain = make_chain(parse_strategy("auto"), bench(), TurnMeter(), Knowledge())
    text = Text(chain, TurnMeter(), Knowledge())
    for _ in range(8):
        text.commit(text.propose(), "abcd")
    assert chain.tune(parse_strategy("auto:n_max=3"))
    assert chain.strategy.n_most == 3
    for _ in range(8):
        text.commit(text.propose(), "abcd")
    (control,) = made  # another one would have an allowance of its own
    assert control.plan(10, 100).n_max <= 3
    assert not chain.tune(parse_strategy("suffix"))
    assert not Chain(parse_strategy("suffix"), bench(), TurnMeter()).tune(parse_strategy("auto"))


def test_a_strategy_of_the_same_drafters_with_a_length_of_its_own_is_another_chain() -> None:
    chain = make_chain(parse_strategy("suffix:max=auto"), bench(), TurnMeter(), Knowledge())
    assert not chain.tune(parse_strategy("suffix:max=32:p_min=0"))
    ordinary = make_chain(
        parse_strategy("suffix:max=32:p_min=0"), bench(), TurnMeter(), Knowledge()
    )
    assert not ordinary.tune(parse_strategy("suffix:max=auto"))
    assert ordinary.tune(parse_strategy("suffix:max=4"))


def tuned(decoder: Decoder, *texts: str, every: int = 3) -> None:
    """Run a decoder and switch its strategy every few steps."""
    for i, _ in enumerate(decoder.run(PROMPT, lambda _n: None)):
        check_books(decoder)
        if i % every == every - 1:
            decoder.switch(parse_strategy(texts[i // every % len(texts)]))


def test_what_is_learned_outlives_a_change_of_strategy() -> None:
    language = random_language(3)
    target, draft = FakeModel(language), FakeModel(language)
    sampling = SamplingParams(temperature=0.9)
    plain = decoder_for(FakeModel(language), sampling=sampling, max_tokens=150)
    run(plain)
    knowledge = Knowledge()
    decoder = decoder_for(
        target, "auto", sampling=sampling, draft=draft, max_tokens=150, knowledge=knowledge
    )
    tuned(decoder, "off", "auto", "draft:n_max=3", "draft:n_max=auto", "auto:n_max=4", every=9)
    assert decoder.generated == plain.generated
    assert knowledge.costs.n_samples(1) > 0
    assert knowledge.pace.plain is not None
    assert decoder.was_controlled


# ----------------------------------------------------------------------------- the real controller


def decoded(
    strategy: str | CompleteStrategy, language: Any, draft: FakeModel | None = None, **options: Any
) -> tuple[Decoder, list[Any]]:
    text = strategy if isinstance(strategy, str) else "off"
    decoder = decoder_for(FakeModel(language), text, draft=draft, **options)
    return decoder, run(decoder)


@pytest.mark.parametrize("strategy", ["auto", "draft:n_max=auto", "suffix+draft:draft.n_max=auto"])
@pytest.mark.parametrize("temperature", [0.0, 0.9])
def test_every_step_has_a_decision_that_says_what_was_done(
    strategy: str, temperature: float
) -> None:
    language = random_language(4)
    sampling = SamplingParams(temperature=temperature)
    plain, _ = decoded("off", language, sampling=sampling, max_tokens=120)
    decoder, steps = decoded(
        strategy, language, FakeModel(language), sampling=sampling, max_tokens=120, warm=False
    )
    assert decoder.generated == plain.generated
    assert steps[0].decision is None  # the prefill's token
    assert [step.decision.reason for step in steps[1:6]] == ["first"] * 5
    for step in steps[1:]:
        n = sum(count.n_drafted for count in step.drafted)
        assert step.decision.n_drafted == n
        assert step.decision.drafter == (step.drafted[0].drafter if n else "")
        assert (step.decision.reason in ("pays", "trial", "forced")) == (n > 0)


def test_where_deciding_takes_too_long_some_steps_are_made_without(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(auto_chain_module, "OWN_SHARE", 1e-9)
    monkeypatch.setattr(step_clock, "LONG_GAP_S", math.inf)  # a step after a pause is not reported
    control = Script(models=False)
    SCRIPTS.append(control)
    decoder = decoder_for(FakeModel(random_language(3)), "auto", max_tokens=100)
    steps = list(decoder.run(PROMPT, lambda _n: None))  # decodes take no time here
    asked = [step.decision.reason != "shut" for step in steps[1:] if step.decision is not None]
    assert len(asked) == 99
    assert len(control.steps) == sum(asked) < 20
    assert sum(n for n, _ in control.rests) == 99 - sum(asked)
    assert max(n for n, _ in control.rests) == MAX_REST_STEPS
    assert decoder.generated == [step.tokens[0].token for step in steps]


def ticking(monkeypatch: pytest.MonkeyPatch, tick_s: float) -> None:
    """Let each look at the clock of chains be later by so much than the one before."""
    monkeypatch.setattr(auto_chain_module, "_clock", itertools.count(0.0, tick_s).__next__)


@pytest.mark.parametrize(
    ("step_s", "own_s"),
    [*((1.5e-3, own_s) for own_s in (32e-6, 63e-6, 125e-6, 505e-6)), (15e-3, 70e-6)],
)
def test_deciding_takes_no_more_than_its_share(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, step_s: float, own_s: float
) -> None:
    def slow(_text: Sequence[int], _n_max: int) -> Sequence[int]:
        clock.now += own_s
        return ()

    control, n_steps = Script(models=False), 4_000
    monkeypatch.setattr(auto_chain_module, "OWN_SHARE", OWN_SHARE)
    monkeypatch.setattr(Script, "rested", lambda *_: None)  # learning takes no time here
    text = text_of(control, a=Lookup(slow))
    for _ in range(n_steps):
        text.commit(text.propose(), "a", decode_s=step_s)
    n_decided = len(control.steps)
    allowed = OWN_SHARE * n_steps * step_s
    if own_s * n_steps < allowed:
        assert n_decided == n_steps, "no step is passed over where it costs next to nothing"
    else:
        seldom = (
            n_steps / (MAX_REST_STEPS + 1) * own_s
        )  # as often as that it is decided in any case
        assert 0.6 * allowed < n_decided * own_s < 1.1 * max(allowed, seldom)


@pytest.mark.parametrize("saved", [-0.5, 0.0, 0.5])
def test_only_a_draft_that_saved_time_fills_the_share_for_deciding_up(
    monkeypatch: pytest.MonkeyPatch, saved: float
) -> None:
    monkeypatch.setattr(Script, "observe", lambda _self, _step: saved)
    text = text_of(Script(models=False, worth=1.0), a=Lookup(lambda *_: b"he"))
    knowledge = text.knowledge
    knowledge.saved_up, knowledge.pace.plain = 3.0, DECODE_S
    monkeypatch.setattr(auto_chain_module, "OWN_SHARE", 1.0)
    text.commit(text.propose(), "he!")
    if saved > 0.0:
        assert knowledge.saved_up == TUNING.max_saved_steps
    else:
        assert 3.5 < knowledge.saved_up < 4.0


@pytest.mark.parametrize("decode_s", [0.0, DECODE_S])
def test_a_plain_step_does_not_fill_it_up_and_may_take_no_time(
    monkeypatch: pytest.MonkeyPatch, decode_s: float
) -> None:
    monkeypatch.setattr(Script, "observe", lambda _self, _step: 0.5)
    text = text_of(Script(models=False), a=Lookup(nothing))
    text.knowledge.saved_up = 3.0
    text.commit(text.propose(), "T", decode_s=decode_s)
    assert text.knowledge.saved_up <= 4.0
    for _ in range(100):
        text.commit(text.propose(), "T", decode_s=decode_s)
    assert text.knowledge.saved_up <= TUNING.max_saved_steps, "nor do many"


@pytest.mark.parametrize(("had_pause", "saved_up"), [(False, 2.0), (True, 3.0)])
def test_what_deciding_took_is_not_counted_after_a_pause(
    monkeypatch: pytest.MonkeyPatch, had_pause: bool, saved_up: float
) -> None:
    """Then the time of the step is none to compare it with."""
    monkeypatch.setattr(auto_chain_module, "OWN_SHARE", 1.0)
    ticking(monkeypatch, 2.0 * DECODE_S)
    text = text_of(Script(models=False), a=Lookup(nothing))
    text.knowledge.saved_up = 3.0
    text.commit(text.propose(), "T", lap=structs.replace(LAP, had_pause=had_pause))
    assert text.knowledge.saved_up == pytest.approx(saved_up)


@pytest.mark.parametrize("had_pause", [False, True])
def test_a_step_without_a_decision_is_reported_where_there_was_no_pause(
    monkeypatch: pytest.MonkeyPatch, had_pause: bool
) -> None:
    control = Script(n_max=0, reason="ledger", wait=1)
    ticking(monkeypatch, 0.001)
    text = text_of(control, a=Lookup(nothing))
    text.commit(text.propose(), "T")
    text.commit(text.propose(), "h", lap=structs.replace(LAP, had_pause=had_pause))
    text.chain.close()
    assert control.rests == ([] if had_pause else [(1, DECODE_S)])


def test_while_nothing_can_be_covered_nothing_is_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_clock, "LONG_GAP_S", math.inf)  # a step after a pause is not reported
    control = Script(n_max=0, reason="ledger", wait=6)
    SCRIPTS.append(control)
    decoder = decoder_for(FakeModel(random_language(3)), "auto", max_tokens=40)
    steps = list(decoder.run(PROMPT, lambda _n: None))
    assert len(control.steps) + sum(n for n, _ in control.rests) == len(steps) - 1 == 39
    assert [n for n, _ in control.rests[:-1]] == [6] * (len(control.rests) - 1)
    assert all(seconds >= 0 for _, seconds in control.rests)
    assert {step.decision.reason for step in steps[8:] if step.decision} == {"ledger"}


@pytest.mark.parametrize("between", ["off", "suffix", "suffix:max=auto"])
def test_a_strategy_in_between_does_not_renew_the_allowance(between: str) -> None:
    decoder = decoder_for(FakeModel(random_language(3)), "auto", max_tokens=40)
    for i, _ in enumerate(decoder.run(PROMPT, lambda _n: None)):
        if i == 10:
            ledger = decoder.meter.ledger
            assert ledger is not None
            ledger.book(1, 1000.0, 1.0)  # far more than the reply's steps take
            decoder.switch(parse_strategy(between))
        elif i == 20:
            decoder.switch(parse_strategy("auto"))
    report = decoder.report()
    assert report is not None
    assert report.slack_s < -900


def test_a_draft_model_that_stood_still_catches_up_and_is_charged() -> None:
    language = random_language(3)
    draft = FakeModel(language)
    control = Script(models=False, n_drafts=2)
    SCRIPTS.append(control)
    decoder = decoder_for(FakeModel(language), "auto", draft=draft, max_tokens=100)
    for i, _ in enumerate(decoder.run(PROMPT, lambda _n: None)):
        check_books(decoder)
        if i == 40:
            assert draft.widths == []
            control.models = True
    n_behind = len(PROMPT) + 41
    first = next(step for step in control.steps if step.n_draft_decoded)
    assert control.backlogs[0] == n_behind
    assert first.n_draft_decoded == n_behind + 1
    assert max(draft.widths) <= 16  # read in pieces
    assert max(control.backlogs[1:]) <= 2
    assert max(step.n_draft_decoded for step in control.steps[42:]) <= 3


def test_what_was_drafted_after_an_end_is_not_judged() -> None:
    control = Script()
    decoder = controlled(control, "abc", model=Model(copy("abcdefgh", 6)))
    run(decoder)
    (step,) = control.steps
    # The prefill gives "a"; "b" and "c" are accepted, and "d" is refuted by the end.
    assert (step.width, step.n_accepted, step.n_judged) == (7, 2, 3)
