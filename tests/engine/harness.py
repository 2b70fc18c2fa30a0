"""A decoder on a scripted model, and drafters made for trouble."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from engine.gaps import seen
from fake_model import EOG, N_VOCAB, FakeModel, Logits
from paceline.engine.auto.knowledge import Knowledge
from paceline.engine.decode import decoder as decoder_module
from paceline.engine.decode.decoder import Decoder
from paceline.engine.decode.text import TextAssembler
from paceline.engine.draft import auto_chain, step_clock
from paceline.engine.draft.base import Draft, DrafterInfo, Settings, Workbench
from paceline.engine.draft.strategy import CompleteStrategy, parse_strategy
from paceline.engine.model.backend import Rows
from paceline.engine.model.context import CachedContext
from paceline.engine.sample.sampling import Sampler
from paceline.messages import SamplingParams, StepCommitted

PROMPT = list(b"ask")


TIMED = (auto_chain, decoder_module, step_clock)
"""The modules that take the time of steps, each by its `_clock`."""


class Clock:
    """Stands still but for decodes, so that what Auto decides can be repeated."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class PricedModel(FakeModel):
    """A model whose decodes take the seconds that a function of their width says, by a `Clock`."""

    price: Callable[[int], float]
    time: Clock

    def decode(self, tokens: Sequence[int], n_rows: int) -> Rows:
        self.time.now += self.price(len(tokens))
        return super().decode(tokens, n_rows)


def target_price(n: int) -> float:
    """A target for which wide batches are nearly free."""
    return 1 + 0.05 * n


def draft_price(n: int) -> float:
    """A draft model that is twenty times as fast as that target."""
    return 0.04 + 0.01 * n


def random_language(seed: int, spread: float = 3.0) -> Logits:
    """Logits that depend on the last two tokens: every text is possible, few are likely."""
    tables: dict[tuple[int, ...], np.ndarray] = {}

    def logits(tokens: Sequence[int]) -> np.ndarray:
        key = tuple(tokens[-2:])
        if min(key, default=0) < 0:
            key = seen(tokens, 2)
        if key not in tables:
            rng = np.random.default_rng([seed, *key])
            tables[key] = (rng.normal(size=N_VOCAB) * spread).astype(np.float32)
        return tables[key].copy()

    return logits


@dataclass
class Scripted:
    """Proposes what a function of the history says; keeps what it saw."""

    proposals: Callable[[Sequence[int], int], Sequence[int]]
    seen: list[int | None] = field(default_factory=list)
    closed: int = 0
    history: Sequence[int] = ()

    def begin(self, history: Sequence[int], n_prompt: int) -> None:
        self.history = history

    def propose(self, n_max: int) -> Draft:
        return Draft(list(self.proposals(self.history, n_max)))

    def observe(self, n_accepted: int | None) -> None:
        self.seen.append(n_accepted)

    def close(self) -> None:
        self.closed += 1


def strategy_of(drafter: Scripted) -> CompleteStrategy:
    def make(bench: Workbench, settings: Settings) -> Scripted:
        return drafter

    return CompleteStrategy(((DrafterInfo("test", "Test", "For tests.", "lookup", (), make), {}),))


def oracle(model: FakeModel, sampler: Sampler, n_prompt: int = len(PROMPT)) -> Scripted:
    """A drafter that knows the target's logits and noise: everything it drafts is accepted."""

    def propose(history: Sequence[int], n_max: int) -> list[int]:
        text = list(history)
        for _ in range(n_max):
            text.append(sampler.sample(model.logits(text), len(text) - n_prompt))
        return text[len(history) :]

    return Scripted(propose)


def randomly(seed: int) -> Scripted:
    """Random tokens in random number, some outside the vocabulary, sometimes too many."""
    rng = random.Random(seed)

    def propose(history: Sequence[int], n_max: int) -> list[int]:
        return [rng.randrange(-2, N_VOCAB + 3) for _ in range(rng.randrange(0, n_max + 4))]

    return Scripted(propose)


class OpenDecoder(Decoder):
    """A decoder whose contexts and knowledge are public.

    Attributes:
        target: The target's context.
        draft: The draft model's context, or None if there is none.
        knowledge: Measurements and estimates of Auto.
    """

    def __init__(
        self,
        target: CachedContext,
        bench: Workbench,
        strategy: CompleteStrategy,
        knowledge: Knowledge,
        **options: Any,
    ) -> None:
        super().__init__(target, bench, strategy, knowledge=knowledge, **options)
        self.target, self.draft, self.knowledge = target, bench.draft, knowledge


def decoder_for(
    model: FakeModel,
    drafter: Scripted | str = "off",
    *,
    sampling: SamplingParams | None = None,
    seed: int = 1,
    max_tokens: int = 60,
    stop: Sequence[str] = (),
    draft: FakeModel | CachedContext | None = None,
    context: CachedContext | None = None,
    warm: bool = True,
    knowledge: Knowledge | None = None,
    sampler: Sampler | None = None,
) -> OpenDecoder:
    sampler = sampler or Sampler(sampling or SamplingParams(temperature=0), seed)
    bench = Workbench(
        vocab=model.vocab,
        sampler=sampler,
        draft=CachedContext(draft) if isinstance(draft, FakeModel) else draft,
        eog=frozenset({EOG}),
        chunk=16,
    )
    knowledge = knowledge or Knowledge()
    if warm:  # the plain steps after a load are not what these tests are about
        for _ in range(8):
            knowledge.recent.add(1.0)
    return OpenDecoder(
        context or CachedContext(model),
        bench,
        parse_strategy(drafter) if isinstance(drafter, str) else strategy_of(drafter),
        knowledge,
        text=TextAssembler(model.vocab, stop),
        max_tokens=max_tokens,
    )


def run(decoder: OpenDecoder, prompt: Sequence[int] = PROMPT) -> list[StepCommitted]:
    """Run to the end and check what holds after every step."""
    steps = []
    for step in decoder.run(prompt, lambda _n: None):
        steps.append(step)
        check_books(decoder)
    check_books(decoder)
    return steps


def check_books(decoder: OpenDecoder) -> None:
    """Both contexts hold committed tokens, the target's from the first one on, and say how many."""
    for context in (decoder.target, decoder.draft):
        if context is not None:
            assert context.model.n_past == len(context.tokens)
            assert is_stretch(context.tokens, decoder.history)
            assert isinstance(context.model, FakeModel)
            assert context.model.tokens == context.tokens
    held = decoder.target.tokens
    assert held == decoder.history.first(len(held))


def is_stretch(held: Sequence[int], history: Sequence[int]) -> bool:
    """Say whether these tokens are a part of the history: a draft model may read its end alone."""
    n = len(held)
    return any(list(history[i : i + n]) == list(held) for i in range(len(history) - n + 1))
