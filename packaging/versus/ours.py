"""Paceline's engine in this process."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Self

from paceline.engine.draft.strategy import read_strategy
from paceline.hosting.inline import InlineClient
from paceline.messages import (
    Event,
    LoadFailed,
    LoadPair,
    ModelParams,
    SamplingParams,
    StartTurn,
    StepCommitted,
    TurnFailed,
    TurnFinished,
)

from .figures import Measurement

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import TracebackType

    from .settings import Settings


class EngineError(Exception):
    """The engine answered with an error."""


class Ours:
    """A loaded pair, for a with statement, which frees it.

    The server's pool of ``ngram-mod`` outlives a request, so what it learned from one run helps the
    next; ours is a chat's own.
    """

    def __init__(self, settings: Settings, strategy: str) -> None:
        self._settings = settings
        self._strategy = strategy
        self._client = InlineClient()
        self._client.set_listener(self._hear)
        self._first_s = self._last_s = 0.0
        self._finished: TurnFinished | None = None
        self._failure = ""

    def __enter__(self) -> Self:
        try:
            target, draft = self._settings.target, self._settings.draft
            draft_params = self._model(draft) if draft else None
            self._client.submit(
                LoadPair(
                    "load",
                    self._model(target),
                    draft_params,
                    kernels=self._settings.kernels,
                )
            )
            self._check()
        except BaseException:
            self._client.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._client.close()

    def run(self, prompt: Sequence[int], n_tokens: int) -> Measurement:
        """Generate exactly `n_tokens`, always the likeliest."""
        self._first_s = 0.0
        turn = StartTurn(
            "turn",
            prompt_tokens=tuple(prompt),
            sampling=SamplingParams(temperature=0.0, top_k=0, top_p=1.0, min_p=0.0),
            strategy=read_strategy(self._strategy),
            max_tokens=n_tokens,
            seed=0,
            ignore_eog=True,
        )
        start = time.perf_counter()
        self._client.submit(turn)
        wall_s = time.perf_counter() - start
        self._check()
        finished = self._take_finished()
        stats = finished.stats
        return Measurement(
            tokens=finished.tokens,
            decode_s=self._last_s - self._first_s,
            total_s=stats.total_s,
            wall_s=wall_s,
            reported=stats.tokens_per_s,
            drafted=stats.n_drafted,
            accepted=stats.n_accepted,
        )

    def _model(self, path: Path) -> ModelParams:
        settings = self._settings
        return ModelParams(
            str(path),
            n_ctx=settings.n_ctx,
            n_threads=settings.threads,
            n_threads_batch=settings.threads,
            n_gpu_layers=settings.gpu_layers,
            flash_attn=settings.flash_attn,
            kv_type_k=settings.kv_type,
            kv_type_v=settings.kv_type,
        )

    def _take_finished(self) -> TurnFinished:
        finished, self._finished = self._finished, None
        if finished is None:
            raise EngineError("the turn ended without an answer")
        return finished

    def _check(self) -> None:
        if self._failure:
            raise EngineError(self._failure)

    def _hear(self, event: Event) -> None:
        if isinstance(event, StepCommitted):
            self._last_s = time.perf_counter()
            self._first_s = self._first_s or self._last_s
        elif isinstance(event, TurnFinished):
            self._finished = event
        elif isinstance(event, LoadFailed | TurnFailed):
            self._failure = f"{event.code}: {event.message} {event.hint}"
