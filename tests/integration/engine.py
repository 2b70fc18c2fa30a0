"""The real engine on real weights, inline."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import llama_cpp

from inline_client import InlineClient
from paceline.engine.llama.model import LlamaModel
from paceline.engine.model.backend import LanguageModel
from paceline.engine.model.context import CachedContext
from paceline.engine.pair import LoadedPair
from paceline.messages import (
    ChatMessage,
    Event,
    KernelWish,
    LoadFailed,
    LoadPair,
    LogitBias,
    ModelParams,
    PairLoaded,
    SamplingParams,
    StateStorage,
    StepCommitted,
    TurnFailed,
    TurnFinished,
)
from paceline.params import DraftModel, read_head
from turns import turn_of

FEW = range(100, 106)
"""The only tokens of `of_few_tokens`, so that random weights write what repeats now and then."""
_BIAS = tuple(LogitBias(token, -math.inf) for token in range(8192) if token not in FEW)
PROMPT = "abc abc abc hello world hello"
GREEDY = SamplingParams(temperature=0)
WARM = SamplingParams(temperature=0.8)


def of_few_tokens(temperature: float) -> SamplingParams:
    """Sample from `FEW` alone, of a vocabulary of 8,192."""
    return SamplingParams(temperature, top_k=0, top_p=1, min_p=0, logit_bias=_BIAS)


def native_context(model: LanguageModel) -> Any:
    """Return llama.cpp's context of a model."""
    return model._context  # type: ignore[attr-defined]


def last_position(model: LanguageModel) -> int:
    """Return the last position that the native context holds; -1: it is empty."""
    memory = llama_cpp.llama_get_memory(native_context(model))
    return int(llama_cpp.llama_memory_seq_pos_max(memory, 0))


def check_positions(context: CachedContext) -> None:
    """Compare the native context's positions with what the books say that it holds."""
    model = context.model
    assert isinstance(model, LlamaModel)
    n_held = len(context.tokens) - context.n_owed
    assert model.n_past == n_held
    if getattr(model, "shares_memory", False):
        return  # it has no cache of its own
    native = native_context(model)
    first = llama_cpp.llama_memory_seq_pos_min(llama_cpp.llama_get_memory(native), 0)
    window = llama_cpp.llama_model_n_swa(llama_cpp.llama_get_model(native))
    assert last_position(model) == n_held - 1
    if not n_held or not model.can_rollback:
        # A recurrent memory has one cell, for its last token, and attention beside it more.
        assert first <= n_held - 1
    elif model.forgets:
        # Cells of the window's last positions at least; the ring keeps older ones for a while.
        assert 0 <= first <= max(n_held - window, 0)
    else:
        assert first == 0, "all of the text is there"


class Engine:
    """Loads one pair; every `reply` starts from what the last one left in the contexts."""

    def __init__(
        self,
        target: Path,
        draft: Path | None = None,
        *,
        n_threads: int = 1,
        exact: bool = False,
        lookup_cache: str = "",
        kernels: KernelWish = "stock",
        mtp: str | Path = "auto",
        states: StateStorage | None = None,
        servers: tuple[str, ...] = (),
        **params: object,
    ) -> None:
        self.events: list[Event] = []
        self.client = InlineClient(on_event=self.events.append)
        model = replace(ModelParams("", n_threads=n_threads), **params)  # type: ignore[arg-type]
        self.client.request(
            LoadPair(
                replace(model, path=str(target)),
                DraftModel(replace(model, path=str(draft))) if draft else read_head(str(mtp)),
                exact=exact,
                lookup_cache=lookup_cache,
                kernels=kernels,
                states=states,
                servers=servers,
            )
        )
        self.loaded = self.events[-1]
        self.checks = 0
        """Number of the last turn's steps after which all contexts' positions were compared."""

    def __enter__(self) -> Engine:
        assert isinstance(self.loaded, PairLoaded), self.loaded
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    @property
    def pair(self) -> LoadedPair:
        """The engine's own view of what is loaded."""
        return self.client.pair

    def watch_positions(self) -> None:
        """Compare the positions of all contexts with their tokens after every further step."""
        self.client.on_event = self._on_event

    def _on_event(self, event: Event) -> None:
        self.events.append(event)
        if isinstance(event, StepCommitted):
            for context in filter(None, (self.pair.target, self.pair.draft)):
                check_positions(context)
            self.checks += 1

    def idle(self) -> None:
        """Use idle time for as long as there is a use for it."""
        while self.client.service.idle():  # type: ignore[attr-defined]
            pass

    def run(self, prompt: str, **options: object) -> TurnFinished | TurnFailed | LoadFailed:
        """Run a turn and return its last event; the steps are in `steps`."""
        self.events.clear()
        self.checks = 0
        defaults = {"strategy": "off", "max_tokens": 200, "seed": 1, "sampling": GREEDY}
        options = defaults | {"messages": (ChatMessage.of_text("user", prompt),)} | options
        self.client.request(turn_of(**options))  # type: ignore[arg-type]
        last = self.events[-1]
        assert isinstance(last, (TurnFinished, TurnFailed))
        return last

    def reply(self, prompt: str, **options: object) -> TurnFinished:
        """Run a turn that must finish."""
        last = self.run(prompt, **options)
        assert isinstance(last, TurnFinished), last
        return last

    @property
    def steps(self) -> list[StepCommitted]:
        """The steps of the last turn."""
        return [event for event in self.events if isinstance(event, StepCommitted)]


def ids(engine: Engine, strategy: str, temperature: float, prompt: str = PROMPT) -> tuple[int, ...]:
    """Return a reply of 120 tokens, all of `FEW`."""
    return engine.reply(
        prompt, strategy=strategy, sampling=of_few_tokens(temperature), seed=3, max_tokens=120,
        ignore_eog=True,
    ).tokens  # fmt: skip
