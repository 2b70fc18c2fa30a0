"""The pair of models: load it, tell how it stands, and go back to the last good one.

Loading frees what was loaded before. So when a load fails or is stopped, the pair that worked
last is loaded again, and the session stays usable. Owned by `chat.session`, which passes on the
engine's events; no Qt.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol

from paceline.messages import (
    EngineDied,
    KernelWish,
    LoadFailed,
    LoadPair,
    LoadProgressed,
    ModelInfo,
    ModelParams,
    PairLoaded,
    Sameness,
    SamenessChanged,
    Unloaded,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from paceline.hosting.client import EngineClient

PairStatus = Literal["empty", "loading", "ready", "failed", "dead"]
PairEvent = LoadProgressed | PairLoaded | SamenessChanged | LoadFailed | Unloaded | EngineDied


@dataclass(frozen=True, slots=True)
class Pair:
    """A target and, for strategies that need one, a draft model.

    Attributes:
        target: The target and how it is loaded.
        draft: The draft model and how it is loaded.
        lookup_cache: A static lookup-cache file; empty: none.
        exact: Choose batch widths that make a reply the same with any strategy.
    """

    target: ModelParams
    draft: ModelParams | None = None
    lookup_cache: str = ""
    exact: bool = False


@dataclass(frozen=True, slots=True)
class PairState:
    """How the pair stands.

    Attributes:
        status: "failed": nothing is loaded; "dead": the engine is gone and a load revives it.
        pair: What is loaded, being loaded, or was to be loaded when it failed.
        target: The loaded target.
        draft: The loaded draft model.
        stage: Which model is being loaded.
        fraction: How much of it, 0..1.
        has_begun: Whether the engine has begun with it; before, a reply may still be written.
        notes: Sentences for the user about the loaded pair.
        sameness: Whether the loaded pair's texts can depend on the strategy.
        problem: Why the status is "failed" or "dead".
    """

    status: PairStatus = "empty"
    pair: Pair | None = None
    target: ModelInfo | None = None
    draft: ModelInfo | None = None
    stage: Literal["target", "draft"] = "target"
    fraction: float = 0.0
    has_begun: bool = False
    notes: tuple[str, ...] = ()
    problem: str = ""
    sameness: Sameness | None = None


class PairListener(Protocol):
    """Who shows the pair."""

    def pair_changed(self, state: PairState) -> None:
        """Something about the pair is different."""

    def sameness_changed(self, state: PairState) -> None:
        """More is known of the loaded pair's texts; nothing else is different."""

    def load_failed(self, failure: LoadFailed, *, falls_back: bool) -> None:
        """A load failed; with `falls_back` the pair that worked last is being loaded again."""


def _new_id() -> str:
    return uuid.uuid4().hex


class PairLoader:
    """Loads pairs one at a time; a newer wish replaces an older one that is still loading.

    Attributes:
        kernels: Whose kernels compute what is loaded from now on.
    """

    def __init__(
        self,
        client: EngineClient,
        *,
        cache_dir: str = "",
        memory_dir: str = "",
        new_id: Callable[[], str] = _new_id,
    ) -> None:
        self.kernels: KernelWish = "stock"
        self._client = client
        self._cache_dir = cache_dir
        self._memory_dir = memory_dir
        self._new_id = new_id
        self._listener: PairListener | None = None
        self._request_id: str | None = None
        self._good: Pair | None = None
        self._decided: dict[Pair, Pair] = {}
        self._held: Pair | None = None
        self._state = self._before_expected = PairState()

    @property
    def state(self) -> PairState:
        """How the pair stands now."""
        return self._state

    @property
    def held(self) -> Pair | None:
        """What takes memory in the engine now, automatic values decided; None: nothing does."""
        return self._held

    @property
    def memory_dir(self) -> str:
        """Folder for what drafters learn; empty: nothing is kept."""
        return self._memory_dir

    def set_listener(self, listener: PairListener | None) -> None:
        """Tell `listener` from now on."""
        self._listener = listener

    def load(self, pair: Pair, decided: Pair | None = None) -> None:
        """Load this pair in place of what is loaded or being loaded.

        Args:
            pair: What is wished for, automatic values as such.
            decided: The same with automatic values decided; None: as before, else by the engine.
        """
        kept = [(p, d) for p, d in self._decided.items() if p in (self._good, pair)]
        self._decided = dict(kept)
        if decided is not None:
            self._decided[pair] = decided
        if self._request_id is not None:
            self._client.cancel(self._request_id)
        self._request_id = self._new_id()
        self._set(PairState("loading", pair))
        models = self._decided.get(pair, pair)
        self._client.submit(
            LoadPair(
                self._request_id,
                models.target,
                models.draft,
                cache_dir=self._cache_dir,
                memory_dir=self._memory_dir,
                lookup_cache=pair.lookup_cache,
                exact=pair.exact,
                kernels=self.kernels,
            )
        )

    def expect(self, pair: Pair) -> None:
        """Say that this pair is about to be loaded, so that a message waits for it."""
        if self._request_id is None and self._state.status != "dead":
            self._before_expected = self._state
            self._set(PairState("loading", pair))

    def reload(self) -> bool:
        """Load the pair again that worked last, else the one that was wanted; False: none.

        Behind the engine's death it is the pair that was loaded, or being loaded, when it died.
        """
        pair = self._state.pair
        if self._good is not None and self._state.status != "dead":
            pair = self._good
        if pair is None:
            return False
        self.load(pair)
        return True

    def cancel(self) -> None:
        """Stop the load that is under way; the pair that worked last comes back."""
        if self._request_id is not None:
            self._client.cancel(self._request_id)
        elif self._state.status == "loading":  # it was expected alone
            self._set(self._before_expected)

    def on_event(self, event: PairEvent) -> None:
        """Take an event about loading; those of an older request are dropped."""
        if isinstance(event, SamenessChanged):
            if self._state.status == "ready":
                self._state = replace(self._state, sameness=event.sameness)
                if self._listener is not None:
                    self._listener.sameness_changed(self._state)
            return
        self._held = None  # the first thing that a load does is to free what was there
        if isinstance(event, EngineDied):
            # A load that was waiting may still be answered by the engine that comes next.
            pair = self._state.pair if self._request_id else self._good or self._state.pair
            self._set(PairState("dead", pair, problem=event.reason))
        elif isinstance(event, Unloaded):
            if self._request_id is None:
                self._set(PairState("empty", self._state.pair))
        elif event.request_id == self._request_id:
            self._on_own_event(event)

    def _on_own_event(self, event: LoadProgressed | PairLoaded | LoadFailed) -> None:
        if isinstance(event, LoadProgressed):
            self._set(
                PairState(
                    "loading",
                    self._state.pair,
                    stage=event.stage,
                    fraction=event.fraction,
                    has_begun=True,
                )
            )
            return
        self._request_id = None
        wanted = self._state.pair
        if isinstance(event, PairLoaded):
            self._good = wanted
            self._held = self._decided.get(wanted, wanted) if wanted is not None else None
            self._set(
                PairState(
                    "ready", wanted, event.target, event.draft,
                    notes=event.notes, sameness=event.sameness,
                )
            )  # fmt: skip
            return
        fallback = self._good if self._good != wanted else None
        self._good = fallback  # a pair that fails is no longer good
        was_cancelled = event.code == "cancelled"
        if self._listener is not None and not was_cancelled:
            self._listener.load_failed(event, falls_back=fallback is not None)
        if fallback is not None:
            self.load(fallback)
        else:
            self._set(PairState("failed", wanted, problem=event.message))

    def _set(self, state: PairState) -> None:
        self._state = state
        if self._listener is not None:
            self._listener.pair_changed(state)
