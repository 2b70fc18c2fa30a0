"""A loaded pair that answers, one reply after the other, in this process."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Self

from paceline.hosting.inline import InlineClient
from paceline.messages import (
    Event,
    LoadFailed,
    LoadPair,
    ModelParams,
    PairLoaded,
    Reset,
    StartTurn,
    TurnFailed,
    TurnFinished,
)


class EngineRefusedError(Exception):
    """The engine could not load or answer; its own words."""


class Pair:
    """Target and draft in Paceline's engine, for a with statement, which frees them."""

    def __init__(self, target: Path, draft: Path, threads: int = 0) -> None:
        self._load = LoadPair(
            "load",
            ModelParams(str(target), n_threads=threads),
            ModelParams(str(draft), n_threads=threads),
        )
        self._client = InlineClient()
        self._client.set_listener(self._hear)
        self._answer: Event | None = None

    def __enter__(self) -> Self:
        self._client.submit(self._load)
        if not isinstance(self._answer, PairLoaded):
            self._client.close()
            raise EngineRefusedError(str(self._answer))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._client.close()

    def answer(self, turn: StartTurn) -> TurnFinished:
        """Return the finished reply to a turn; nothing of earlier ones is left.

        Raises:
            EngineRefusedError: The engine says why.
        """
        self._client.submit(Reset())
        self._client.submit(turn)
        if not isinstance(self._answer, TurnFinished):
            raise EngineRefusedError(str(self._answer))
        return self._answer

    def _hear(self, event: Event) -> None:
        if isinstance(event, PairLoaded | LoadFailed | TurnFinished | TurnFailed):
            self._answer = event
