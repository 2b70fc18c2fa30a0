"""Random lives of a pair: turns, edits, switches, cancels and closes in any order.

hypothesis plays a user who does whatever can be done between two steps or within a decode, on
scripted models and with every drafter that there is, adversarial ones included. Beside it runs a
model of what must be: the reply computed token by token without any drafter, and the events added
up by hand.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from typing import Any
from unittest import mock

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from engine.gaps import gap
from engine.harness import (
    TIMED,
    Clock,
    PricedModel,
    draft_price,
    is_stretch,
    random_language,
    randomly,
    target_price,
)
from engine.random_control import RandomControl
from engine.workbench import workbench
from fake_model import EOG, N_VOCAB, FakeModel, Logits
from paceline.engine.auto.knowledge import Knowledge
from paceline.engine.cancel import CancelFlag
from paceline.engine.decode.decoder import Decoder
from paceline.engine.decode.text import TextAssembler
from paceline.engine.draft import registry
from paceline.engine.draft.auto_chain import AutoChain
from paceline.engine.draft.base import Draft, DrafterInfo, Settings, Workbench
from paceline.engine.draft.strategy import CompleteStrategy, parse_strategy
from paceline.engine.model.context import CachedContext
from paceline.engine.model.tokens import Gap, TokenSequence
from paceline.engine.sample.sampling import Sampler
from paceline.errors import CancelledError
from paceline.messages import SOURCE_TARGET, SamplingParams, StepCommitted

N_CTX, N_CTX_DRAFT = 150, 90  # a reply can reach the end of either
MAX_TOKENS = 90
LETTERS = b"abcde"


PICTURES = st.none() | st.builds(gap, st.sampled_from("xy"), st.integers(1, 20), st.integers(1, 30))
SELDOM = st.sampled_from([False, False, False, True])


class CountingModel(PricedModel):
    """Raises the cancel flag within a decode that a countdown of both models names."""

    countdown: Counter[str]
    flag: CancelFlag

    def decode(self, tokens: Sequence[int], n_rows: int) -> Any:
        if self.countdown["n"] > 0:
            self.countdown["n"] -= 1
            if self.countdown["n"] == 0:
                self.flag.set()
        return super().decode(tokens, n_rows)


class Faulty:
    """Random drafts that go on after others, and a fault now and then."""

    def __init__(self, seed: int, faults: Sequence[str]) -> None:
        self._inner = randomly(seed)
        self._random = random.Random(seed)
        self._n = 0
        self._faults = faults

    def _count(self, method: str) -> None:
        self._n += 1
        if method in self._faults and self._n > 20:
            raise ArithmeticError(method)

    def begin(self, history: Sequence[int], n_prompt: int) -> None:
        self._inner.begin(history, n_prompt)

    def propose(self, n_max: int) -> Draft:
        self._count("propose")
        mood = self._random.random()
        if mood < 0.4:
            return Draft([])
        if mood < 0.7:
            return Draft([self._random.choice(LETTERS) for _ in range(n_max)])
        tokens = self._inner.propose(n_max).tokens
        return Draft(tokens, [0.5] * (len(tokens) - 1))  # one too few

    def extend(self, ahead: Sequence[int], n_max: int) -> Draft:
        self._count("extend")
        return Draft([self._random.choice(LETTERS) for _ in range(n_max)])

    def observe(self, n_accepted: int | None) -> None:
        self._count("observe")

    def tune(self, settings: Settings) -> None:
        self._count("tune")

    def close(self) -> None:
        self._count("close")


def faulty(seed: int, faults: Sequence[str]) -> tuple[DrafterInfo, Settings]:
    def make(_bench: Workbench, _settings: Settings) -> Faulty:
        return Faulty(seed, faults)

    return DrafterInfo("faulty", "Faulty", "For tests.", "lookup", (), make), {}


@st.composite
def strategies(draw: st.DrawFn) -> CompleteStrategy:
    """Any chain that the registry allows, with settings from within their ranges; Auto as well."""
    if draw(st.integers(0, 2)) == 0:
        return parse_strategy(f"auto:n_max={draw(st.integers(1, 62))}")
    infos = [info for info in registry.available() if not info.id.startswith("plugin.")]
    lookups = [info for info in infos if info.family == "lookup"]
    names = [i.id for i in draw(st.lists(st.sampled_from(lookups), max_size=2, unique=True))]
    if draw(st.booleans()):
        names.append("draft")
    text = "+".join(names) or "off"
    for info in infos:
        if info.id not in names:
            continue
        for p in info.parameters:
            high = min(p.high, max(p.default, p.low + 3))
            if p.can_be_auto and draw(st.integers(0, 4)) == 0:
                value: float | str = "auto"
            elif p.kind == "int":
                value = draw(st.integers(int(p.low), int(high)))
            else:
                value = draw(st.sampled_from([p.low, p.default, (p.low + high) / 2]))
            if p.name != "n_min":  # tied to n_max
                text += f":{info.id}.{p.name}={value}"
    strategy = parse_strategy(text)
    if draw(st.integers(0, 3)) == 0:
        methods = ["propose", "extend", "observe", "tune", "close"]
        member = faulty(draw(st.integers(0, 99)), draw(st.lists(st.sampled_from(methods))))
        rest = [m for m in strategy.drafters if m[0].family != "off"]
        strategy = CompleteStrategy((member, *rest))
    return strategy


def few_letters(language: Logits) -> Logits:
    """The same language with five letters and an end: a text repeats itself soon."""
    mask = np.full(N_VOCAB, -50, np.float32)
    mask[list(LETTERS)] = 0
    mask[EOG] = -4
    return lambda tokens: (language(tokens) + mask).astype(np.float32)


def blended(a: Logits, b: Logits) -> Logits:
    """A draft model that agrees with `a` for the most part."""
    return lambda tokens: (a(tokens) + 0.4 * b(tokens)).astype(np.float32)


def plain_reply(
    language: Logits, prompt: Sequence[int], sampler: Sampler, max_tokens: int, stop: str
) -> tuple[list[int], str]:
    """The slow, obvious decoder: the reply's tokens and why it ends."""
    text = TokenSequence(prompt)
    sampler.start(prompt)
    for position in range(max_tokens):
        token = sampler.sample(language(text), position)
        text.append(token)
        sampler.commit(token)
        reply = text[len(prompt) :]
        if token == EOG:
            return reply, "eog"
        if stop and stop in bytes(reply).decode("utf-8", "replace"):
            return reply, "stop"
        if len(text) > N_CTX and position + 1 < max_tokens:
            return reply, "context"
    return reply, "length"


class Life(RuleBasedStateMachine):
    """One pair, from its load to its end."""

    @initialize(seed=st.integers(0, 10_000), spread=st.sampled_from([1.0, 3.0, 6.0]))
    def load(self, seed: int, spread: float) -> None:
        self.flag = CancelFlag()
        self.clock = Clock()
        self.patches = [mock.patch.object(module, "_clock", self.clock) for module in TIMED]
        for patch in self.patches:
            patch.start()
        self.countdown: Counter[str] = Counter()
        self.language = few_letters(random_language(seed, spread))
        draft = blended(self.language, random_language(seed + 1, spread))
        self.target = CachedContext(self.model(self.language, N_CTX, target_price))
        self.draft = CachedContext(self.model(draft, N_CTX_DRAFT, draft_price))
        self.kept: dict[str, object] = {}
        self.knowledge = Knowledge()
        self.history = TokenSequence(b"ask")
        self.decoder: Decoder | None = None
        self.steps: Generator[StepCommitted, None, None] | None = None

    def model(self, language: Logits, n_ctx: int, price: Callable[[int], float]) -> FakeModel:
        model = CountingModel(language, n_ctx=n_ctx, cancel=self.flag)
        model.countdown, model.flag = self.countdown, self.flag
        model.price, model.time = price, self.clock
        return model

    # ---------------------------------------------------------------------------------- rules

    @precondition(lambda self: self.steps is None)
    @rule(
        keep=st.floats(0, 1), picture=PICTURES, added=st.text("abcdeé", max_size=30),
        strategy=strategies(),
        temperature=st.sampled_from([0.0, 0.8, 1.2]), penalty=st.sampled_from([1.0, 1.3]),
        seed=st.integers(0, 3), max_tokens=st.integers(1, MAX_TOKENS),
        stop=st.sampled_from(["", "", "abc", "ee"]), is_warm=st.sampled_from([True, True, False]),
        control=st.integers(-20, 20), replaces=st.booleans(),
    )  # fmt: skip
    def start_a_turn(
        self, keep: float, picture: Gap | None, added: str, strategy: CompleteStrategy,
        temperature: float,
        penalty: float, seed: int, max_tokens: int, stop: str, is_warm: bool, control: int,
        replaces: bool,
    ) -> None:  # fmt: skip
        """Edit the history anywhere and ask again."""
        self.flag.clear()
        self.countdown.clear()
        prompt = self.history.first(round(keep * min(len(self.history), N_CTX // 2)))
        if picture:
            prompt.add(picture)
        prompt.extend(added.encode())
        prompt = prompt.first(N_CTX - 2)
        if not prompt or prompt[-1] < 0:
            prompt.append(65)
        params = SamplingParams(temperature=temperature, repeat_penalty=penalty)
        self.expected, self.reason = plain_reply(
            self.language, prompt, Sampler(params, seed), max_tokens, stop
        )
        while is_warm and self.knowledge.recent.n_needed:
            self.knowledge.recent.add(1.0)
        sampler = Sampler(params, seed)
        bench = workbench(
            sampler=sampler,
            draft=self.draft,
            eog=frozenset({EOG}),
            replaced=(self.expected[:9] + self.expected[10:],) if replaces else (),
            kept=self.kept,
        )
        self.decoder = Decoder(
            self.target, bench, strategy,
            text=TextAssembler(bench.vocab, [stop]), max_tokens=max_tokens,
            knowledge=self.knowledge,
        )  # fmt: skip
        self.ids = {info.id for info, _ in strategy.members(has_grammar=False, has_earlier=True)}
        self.control_at_random(control)
        self.prompt = self.history = prompt
        self.events: list[StepCommitted] = []
        self.strategy = strategy
        self.steps = self.decoder.run(prompt, lambda _n: None)

    @precondition(lambda self: self.steps is not None)
    @rule(n=st.integers(1, 20))
    def step(self, n: int) -> None:
        assert self.steps is not None
        assert self.decoder is not None
        for _ in range(n):
            try:
                event = next(self.steps)
            except (StopIteration, CancelledError) as end:
                if isinstance(end, CancelledError):
                    assert self.flag.is_set()
                    assert self.decoder.finish_reason is None
                self.end(is_whole=isinstance(end, StopIteration))
                return
            self.take(event)

    @precondition(lambda self: self.steps is not None)
    @rule()
    def finish(self) -> None:
        self.step(MAX_TOKENS + 1)

    @precondition(lambda self: self.steps is not None)
    @rule(strategy=strategies(), control=st.integers(-20, 20))
    def switch(self, strategy: CompleteStrategy, control: int) -> None:
        assert self.decoder is not None
        self.strategy = strategy
        self.decoder.switch(strategy)
        self.control_at_random(control)
        self.ids = {info.id for info, _ in strategy.members(has_grammar=False, has_earlier=True)}

    @precondition(lambda self: self.steps is not None and self.events)
    @rule(value=st.integers(1, 6))
    def tune(self, value: int) -> None:
        """The same drafters with other settings: no chain is made again where all can be tuned."""
        assert self.decoder is not None
        members = [
            (info, {**have, **{name: value for name in ("n_max", "n_pred") if name in have}})
            for info, have in self.strategy.drafters
        ]
        self.strategy = CompleteStrategy(tuple(members))
        self.decoder.switch(self.strategy)

    def control_at_random(self, seed: int) -> None:
        """Let chance decide in the controller's place, or not: seeds below 0."""
        assert self.decoder is not None
        chain = self.decoder._chain
        if seed >= 0 and isinstance(chain, AutoChain):
            models = [member.info.id for member in chain._models]
            chain._control_now = RandomControl(seed, models, list(chain._lookups))  # type: ignore[assignment]

    @precondition(lambda self: self.steps is not None)
    @rule(n=st.integers(1, 60))
    def cancel_within_a_decode(self, n: int) -> None:
        """The flag rises in the n-th decode from now, of whichever model."""
        self.countdown["n"] = n

    @precondition(lambda self: self.steps is not None)
    @rule(really=SELDOM)
    def cancel_between_steps(self, really: bool) -> None:
        if really:
            self.flag.set()

    @precondition(lambda self: self.steps is not None)
    @rule(really=SELDOM)
    def close(self, really: bool) -> None:
        assert self.steps is not None
        if really:
            self.steps.close()
            self.end(is_whole=False)

    # ---------------------------------------------------------------------------------- checks

    def take(self, event: StepCommitted) -> None:
        """Check what a step says of itself."""
        assert event.step == len(self.events)
        self.events.append(event)
        *drafted, last = event.tokens
        if last.source != SOURCE_TARGET:  # an end that was drafted: there is no bonus token
            drafted.append(last)
            assert self.decoder is not None
            assert self.decoder.finish_reason in ("eog", "stop")
        else:
            assert last.position == -1
            assert last.confidence is None
        assert [trace.position for trace in drafted] == list(range(len(drafted)))
        accepted = Counter(trace.source for trace in drafted)
        assert {c.drafter: c.n_accepted for c in event.drafted if c.n_accepted} == accepted
        assert {c.drafter for c in event.drafted} <= self.ids
        if event.decision is not None and event.decision.n_drafted:
            assert event.decision.drafter == event.drafted[0].drafter
            assert event.decision.n_drafted == sum(c.n_drafted for c in event.drafted)
        for count in event.drafted:
            n_rejected = count.n_drafted - count.n_accepted - count.n_discarded
            assert n_rejected >= 0
            assert count.n_drafted > 0
        for trace in drafted:
            assert trace.confidence is None or 0 <= trace.confidence <= 1

    def end(self, *, is_whole: bool) -> None:
        """Check what a reply leaves in the contexts; it may go on from there."""
        decoder = self.decoder
        assert decoder is not None
        self.steps = None
        if is_whole:
            assert decoder.generated == self.expected
            assert decoder.finish_reason == self.reason
        self.check_statistics(decoder)
        self.history = TokenSequence(decoder.history or self.prompt)

    def check_statistics(self, decoder: Decoder) -> None:
        stats = decoder.meter.freeze()
        totals: dict[str, Counter[str]] = {}
        places: dict[str, Counter[int]] = {}
        for event in self.events:
            for c in event.drafted:
                total = totals.setdefault(c.drafter, Counter())
                total.update(
                    drafts=1, tokens=c.n_drafted, accepted=c.n_accepted,
                    discarded=c.n_discarded, drafts_accepted=c.n_accepted > 0,
                )  # fmt: skip
            for trace in event.tokens:
                if trace.source != SOURCE_TARGET:
                    places.setdefault(trace.source, Counter())[trace.position] += 1
        for d in stats.by_drafter:
            total = totals.pop(d.drafter, Counter())
            assert (d.drafts, d.tokens) == (total["drafts"], total["tokens"])
            assert d.tokens_accepted == total["accepted"]
            assert d.drafts_accepted == total["drafts_accepted"]
            expected = places.get(d.drafter, Counter())
            assert {i: n for i, n in enumerate(d.accepted_per_position) if n} == expected
        assert not totals
        counts = [c for event in self.events for c in event.drafted]
        assert stats.n_drafted == sum(c.n_drafted for c in counts)
        assert stats.n_accepted == sum(c.n_accepted for c in counts)
        assert stats.n_discarded == sum(c.n_discarded for c in counts)
        assert stats.n_generated == len(decoder.generated)
        assert stats.n_steps == max(len(self.events) - 1, 0)

    @invariant()
    def contexts_hold_the_text_and_say_how_much_of_it(self) -> None:
        if getattr(self, "decoder", None) is None:
            return
        assert self.decoder is not None
        committed = self.decoder.history or None  # empty until the prefill has begun
        for context in (self.target, self.draft):
            model = context.model
            assert isinstance(model, FakeModel)
            assert model.n_past == len(context.tokens)
            assert model.tokens == context.tokens
            if committed is not None and context is self.target:
                assert context.tokens == committed.first(len(context.tokens))
            elif committed is not None and self.decoder_has_drafted():
                assert is_stretch(context.tokens, committed)

    def decoder_has_drafted(self) -> bool:
        """Say whether the draft model has begun in this turn: only then is its context cut back."""
        assert self.decoder is not None
        meter = self.decoder.meter.drafters.get("draft")
        return meter is not None and meter.n_begin > 0

    @invariant()
    def the_text_is_the_plain_one(self) -> None:
        if getattr(self, "decoder", None) is None:
            return
        assert self.decoder is not None
        n = len(self.decoder.generated)
        assert self.decoder.generated == self.expected[:n]
        assert [t.token for e in self.events for t in e.tokens] == self.expected[:n]
        shown = "".join(event.text for event in self.events)
        assert self.decoder.reply.startswith(shown)

    def teardown(self) -> None:
        for patch in getattr(self, "patches", []):
            patch.stop()
        if getattr(self, "steps", None) is not None:
            self.close(really=True)


TestLife = Life.TestCase
TestLife.settings = settings(stateful_step_count=30)
