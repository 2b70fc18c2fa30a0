"""Cancels at random times: they are quick, and nothing of them is left in the next reply."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hosting.engines import HOSTS, Canceller, Host, text_of
from paceline.messages import (
    LoadFailed,
    PairLoaded,
    SamplingParams,
    StepCommitted,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)

if TYPE_CHECKING:
    from trials import Trials

SIZES = (30, 150, 600, 1500, 3900, 5400)
"""Characters of the prompts: from a dozen to 1,500 tokens."""
WEIGHTS = (8, 8, 8, 4, 1, 1)
STRATEGIES = ("off", "draft", "prompt-lookup", "suffix+draft")
N_REPLY = 32
P95_S = 0.3
MAX_S = 2.0
NOISE = 10
"""So much slower a machine may be that does other things beside."""


def options(size: int, strategy: str, temperature: float) -> dict[str, object]:
    return {
        "prompt": text_of(size),
        "strategy": strategy,
        "sampling": SamplingParams(temperature=temperature),
        "seed": 7,
        "max_tokens": N_REPLY,
        "ignore_eog": True,
    }


class References:
    """Replies after a fresh load, and after one other turn that was not stopped.

    In exact mode the two are the same. Else they may differ in near-ties: a prompt is computed in
    wide batches, whose rounding depends on the width, and the second turn keeps some of the first
    one's numbers.
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self._known: dict[tuple[object, ...], TurnFinished] = {}

    def fresh(self, size: int, temperature: float) -> TurnFinished:
        key = size, temperature
        if key not in self._known:
            self._host.must_load()
            self._known[key] = self._host.reply(**options(size, "off", temperature))
        return self._known[key]

    def behind(self, first: int, size: int, temperature: float) -> TurnFinished:
        key = first, size, temperature
        if key not in self._known:
            self._host.must_load()
            self._host.reply(**options(first, "off", temperature) | {"max_tokens": 1})
            self._known[key] = self._host.reply(**options(size, "off", temperature))
        return self._known[key]


@dataclass
class Book:
    """Delays and outcomes of the cancels."""

    delays: list[float] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    different: list[str] = field(default_factory=list)

    def note(self, what: str, host: Host, canceller: Canceller) -> None:
        if canceller.at == 0.0 or canceller.at > host.times[-1]:
            self.outcomes[f"{what} too late"] += 1
        else:
            self.outcomes[what] += 1
            self.delays.append(host.times[-1] - canceller.at)

    def report(self, title: str) -> None:
        self.delays.sort()
        n = len(self.delays)
        p95, most = self.delays[int(0.95 * n)], self.delays[-1]
        print(
            f"\n{title}: {dict(sorted(self.outcomes.items()))}; cancel to last event: "
            f"median {self.delays[n // 2] * 1e3:.0f} ms, p95 {p95 * 1e3:.0f} ms, "
            f"max {most * 1e3:.0f} ms; {len(self.different)} replies differ"
        )
        for line in self.different:
            print("  ", line)
        assert p95 <= P95_S * NOISE
        assert most <= MAX_S * NOISE


class Trial:
    """Cancels one thing after the other on one host and checks the reply after each."""

    def __init__(self, host: Host, references: References, seed: int) -> None:
        self.host = host
        self.references = references
        self.is_exact = host.pair.exact
        self.chance = random.Random(seed)
        self.book = Book()
        host.must_load()  # twice: the first load starts the process and reads the files
        self.load_s = host.must_load().load_s

    def run(self, what: str) -> None:
        chance = self.chance
        size, other = chance.choices(SIZES, WEIGHTS, k=2)
        first, temperature = chance.choice((size, other)), chance.choice((0.0, 0.8))
        if what == "load":
            self.cancel_a_load()
        else:
            if not self.is_exact:  # one turn before this one, and no more
                self.host.must_load()
            self.cancel_a_turn(what, first, temperature)
        reply = self.host.reply(**options(size, chance.choice(STRATEGIES), temperature))
        self.compare(reply, what, first, size, temperature)

    def compare(
        self, reply: TurnFinished, what: str, first: int, size: int, temperature: float
    ) -> None:
        fresh = self.references.fresh(size, temperature)
        if reply.tokens == fresh.tokens:
            return
        place = next(i for i in range(N_REPLY) if reply.tokens[i] != fresh.tokens[i])
        started = next(e for e in self.host.events if isinstance(e, TurnStarted))
        self.book.different.append(
            f"behind a cancelled {what}: {reply.strategy}, temperature {temperature}, prompt of "
            f"{started.n_prompt} tokens, {started.n_reused} kept: token {place}"
        )
        assert not self.is_exact, self.book.different[-1]
        assert what != "load"
        assert reply.tokens == self.references.behind(first, size, temperature).tokens

    def cancel_a_load(self) -> None:
        delay_s = self.chance.uniform(0, self.load_s)
        with Canceller(self.host, delay_s) as canceller:
            last = self.host.load()
        self.book.note("load", self.host, canceller)
        if isinstance(last, LoadFailed):
            assert last.code == "cancelled"
        else:
            assert isinstance(last, PairLoaded)
        self.host.must_load()

    def cancel_a_turn(self, what: str, size: int, temperature: float) -> None:
        stats = self.references.fresh(size, temperature).stats
        behind = TurnStarted if what == "prefill" else StepCommitted
        longest_s = stats.prefill_s if what == "prefill" else 4 * stats.decode_s
        turn = options(size, self.chance.choice(STRATEGIES), temperature) | {"max_tokens": 200}
        with Canceller(self.host, self.chance.uniform(0, longest_s), behind) as canceller:
            last = self.host.turn(**turn)
        self.book.note(what, self.host, canceller)
        assert isinstance(last, TurnFinished)
        assert last.reason in {"cancelled", "length"}
        steps = [e for e in self.host.events if isinstance(e, StepCommitted)]
        assert last.tokens == tuple(trace.token for step in steps for trace in step.tokens)
        assert last.text.startswith("".join(step.text for step in steps))


@pytest.mark.grid(short=2)
@pytest.mark.parametrize(
    ("kind", "mode", "n"),
    [
        ("process", "default", 3),
        ("process", "exact", 3),
        ("thread", "default", 3),
        ("thread", "exact", 3),
    ],
)
def test_nothing_of_a_cancel_is_left_in_the_next_reply(
    demo_pair: tuple[Path, Path], tmp_path: Path, trials: Trials, kind: str, mode: str, n: int
) -> None:
    def host(kind: str) -> Host:
        return Host(kind, demo_pair, exact=mode == "exact", cache_dir=str(tmp_path))

    with host("thread") as calm, host(kind) as tried:
        trial = Trial(tried, References(calm), seed=11)
        for number in trials(n, 300):
            trial.run(("load", "prefill", "decode")[number % 3])
        trial.book.report(f"{kind}, {mode}")


@pytest.mark.parametrize("kind", HOSTS)
def test_what_a_cancelled_load_leaves_is_nothing_or_what_was_asked_for(
    kind: str, demo_pair: tuple[Path, Path], is_long: bool
) -> None:
    """The engine's side: after "cancelled" in mid-load there is no model, and it says so."""
    short = {"prompt": "What is a list?", "seed": 1, "max_tokens": 8, "strategy": "off"}
    with Host(kind, demo_pair) as host:
        seen = set()
        load_s = max(host.must_load().load_s, host.must_load().load_s)
        chance = random.Random(3)
        n_least = 12 if is_long else 4
        for trial in range(10 * n_least):
            if trial >= n_least and LoadFailed in seen:  # a load may be over before its cancel
                break
            with Canceller(host, chance.uniform(0, 1.5 * load_s)):
                last = host.load()
            seen.add(type(last))
            after = host.turn(**short)
            if isinstance(last, LoadFailed):
                assert last.code == "cancelled"
                assert isinstance(after, TurnFailed)
                assert after.code == "no-model"
            else:
                assert isinstance(last, PairLoaded)
                assert isinstance(after, TurnFinished)
        assert LoadFailed in seen
        host.must_load()
        assert isinstance(host.turn(**short), TurnFinished)
