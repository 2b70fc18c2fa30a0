"""The pair of models: load it, say in which state it is, and go back to the last good one.

Loading frees what was loaded before. So when a load fails or is stopped, the pair that worked
last is loaded again, and the session stays usable. On the thread of the engine's client; no Qt.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from paceline.figures import DeviceMemory
from paceline.messages import (
    EngineDied,
    Event,
    KernelWish,
    LoadFailed,
    LoadPair,
    LoadProgressed,
    ModelInfo,
    ModelParams,
    PairLoaded,
    Sameness,
    SamenessChanged,
    StateStorage,
    Unloaded,
)
from paceline.params import (
    OWN_HEAD,
    Drafting,
    drafter_of,
    file_of,
    params_of,
    with_params,
    written_head,
)
from paceline.settings import KeptPair

if TYPE_CHECKING:
    from collections.abc import Callable

    from paceline.hosting.broker import EngineEvent, Ticket
    from paceline.hosting.client import EngineClient

PairStatus = Literal["empty", "loading", "ready", "failed", "dead"]
PairEvent = LoadProgressed | PairLoaded | LoadFailed | Unloaded | EngineDied


@dataclass(frozen=True, slots=True)
class Pair:
    """A target and what drafts for it.

    Attributes:
        target: The target and how it is loaded.
        drafting: The draft model or head; a head in the target's file may be absent.
        lookup_cache: A static lookup-cache file, or empty if there is none.
        exact: Choose batch widths that make a reply the same with any strategy.
    """

    target: ModelParams
    drafting: Drafting = OWN_HEAD
    lookup_cache: str = ""
    exact: bool = False

    @classmethod
    def of(cls, kept: KeptPair) -> Pair:
        """Return the pair that settings keep."""
        return cls(kept.target, kept.drafting, kept.lookup_cache, kept.exact)

    @property
    def kept(self) -> KeptPair:
        """The pair as settings and reports have it."""
        draft, head = self.draft, written_head(self.drafting)
        return KeptPair(self.target, draft, self.lookup_cache, self.exact, head)

    @property
    def placed_anew(self) -> Pair:
        """The same pair without what depends on which devices of RPC servers there are."""
        draft = _placed_anew(self.draft) if self.draft is not None else None
        drafting = with_params(self.drafting, draft)
        return replace(self, target=_placed_anew(self.target), drafting=drafting)

    @property
    def draft(self) -> ModelParams | None:
        """The draft model, as it is loaded, or None if there is none."""
        return params_of(self.drafting)

    @property
    def files(self) -> tuple[str, ...]:
        """Target, then the draft model or the head's own file where there is one."""
        drafter = file_of(self.drafting)
        return (self.target.path, drafter) if drafter else (self.target.path,)


def _placed_anew(params: ModelParams) -> ModelParams:
    if params.device and "rpc" not in params.device.lower():
        return params
    auto = ModelParams("")
    return replace(
        params,
        device=auto.device,
        n_gpu_layers=0 if params.n_gpu_layers == 0 else auto.n_gpu_layers,
        split_mode=auto.split_mode,
        tensor_split=auto.tensor_split,
        main_gpu=auto.main_gpu,
    )


@dataclass(frozen=True, slots=True)
class PairState:
    """The state of the pair.

    Attributes:
        status: "failed": nothing is loaded; "dead": the engine is gone and a load revives it.
        pair: The pair that is loaded, being loaded, or failed to load.
        target: The loaded target.
        draft: The loaded draft model, or head.
        stage: Which model is being loaded.
        fraction: Loaded part of it, 0..1.
        has_begun: Whether the engine has begun to load; before that, a reply may still be running.
        notes: Sentences for the user about the loaded pair.
        sameness: Whether the loaded pair's texts can depend on the strategy.
        memory: Memory that the loaded pair uses on each device.
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
    memory: tuple[DeviceMemory, ...] = ()

    @property
    def drafter(self) -> str:
        """The kind of drafter that is loaded beside the target, or "" if there is none."""
        if self.draft is None or self.pair is None:
            return ""
        return drafter_of(self.pair.drafting)


class PairListener:
    """Shows the pair; this one shows nothing."""

    def pair_changed(self, state: PairState) -> None:
        """The state has changed."""

    def sameness_changed(self, state: PairState) -> None:
        """Only `PairState.sameness` has changed."""

    def load_failed(self, failure: LoadFailed, *, falls_back: bool) -> None:
        """A load failed; with `falls_back` the pair that worked last is being loaded again."""


def new_id() -> str:
    """Return an id that no other has."""
    return uuid.uuid4().hex


class PairLoader:
    """Loads pairs one at a time; a newer request replaces one that is still loading.

    Attributes:
        kernels: Kernels of the pairs that are loaded from now on.
        states: Storage of the prompt cache, or None if there is none.
        servers: RPC servers whose devices they may be put on, as HOST:PORT.
    """

    def __init__(self, client: EngineClient, *, cache_dir: str = "") -> None:
        self.kernels: KernelWish = "stock"
        self.states: StateStorage | None = None
        self.servers: tuple[str, ...] = ()
        self._client = client
        self._cache_dir = cache_dir
        self._listener = PairListener()
        self._follower: Callable[[PairEvent], None] = lambda _: None
        self._ticket: Ticket | None = None
        self._n_loads = 0
        self._is_loading = False
        self._good: Pair | None = None
        self._decided: dict[Pair, Pair] = {}
        self._held: Pair | None = None
        self._state = self._before_expected = PairState()
        client.watch(self._on_engine_event)

    @property
    def state(self) -> PairState:
        """The pair's state now."""
        return self._state

    @property
    def held(self) -> Pair | None:
        """The loaded pair with its automatic values resolved, or None loaded."""
        return self._held

    def set_listener(self, listener: PairListener | None) -> None:
        """Report changes to `listener` from now on."""
        self._listener = listener or PairListener()

    def follow(self, follower: Callable[[PairEvent], None]) -> None:
        """Call `follower` with every event about the models, after the state is up to date."""
        self._follower = follower

    def use_servers(self, servers: tuple[str, ...]) -> None:
        """Let pairs that are loaded from now on be put on the devices of these RPC servers."""
        self.servers = servers
        self._decided.clear()  # that was for other devices
        if self._good is not None:
            self._good = self._good.placed_anew

    def load(self, pair: Pair, decided: Pair | None = None) -> None:
        """Load this pair in place of the one that is loaded or being loaded.

        Args:
            pair: The pair, with automatic values unresolved.
            decided: The same with automatic values resolved; None means the values resolved before,
                or, the first time, those that the engine will resolve.
        """
        kept = [(p, d) for p, d in self._decided.items() if p in (self._good, pair)]
        self._decided = dict(kept)
        if decided is not None:
            self._decided[pair] = decided
        self._n_loads += 1  # from here on the answer to the load before counts no more
        number = self._n_loads
        if self._ticket is not None:
            self._ticket.cancel()
        self._is_loading = True
        self._set(PairState("loading", pair))
        hear = partial(self._on_load_event, number)
        ticket = self._client.request(self.command(pair), on_event=hear)
        if number == self._n_loads:  # otherwise it has failed already, and another one is loaded
            self._ticket = ticket

    def command(self, pair: Pair) -> LoadPair:
        """Return the command that loads a pair, with the loader's kernels, folders and servers."""
        models = self._decided.get(pair, pair)
        return LoadPair(
            models.target,
            models.drafting,
            cache_dir=self._cache_dir,
            lookup_cache=pair.lookup_cache,
            exact=pair.exact,
            kernels=self.kernels,
            states=self.states,
            servers=self.servers,
        )

    def expect(self, pair: Pair) -> None:
        """Announce that this pair is about to be loaded, so that a message waits for it."""
        if not self._is_loading and self._state.status != "dead":
            self._before_expected = self._state
            self._set(PairState("loading", pair))

    def reload(self) -> bool:
        """Reload the pair that worked last, else the requested one; return False without either.

        After the engine's death it is the pair that was loaded, or being loaded, when it died.
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
        if self._is_loading and self._ticket is not None:
            self._ticket.cancel()
        elif self._state.status == "loading":  # it was only expected
            self._set(self._before_expected)

    def _on_engine_event(self, event: EngineEvent) -> None:
        """Take what happens to the engine besides loads."""
        if isinstance(event, SamenessChanged):
            if self._state.status == "ready":
                self._state = replace(self._state, sameness=event.sameness)
                self._listener.sameness_changed(self._state)
        elif isinstance(event, EngineDied):
            self._held = None
            # A load that waits may still be answered by the next engine.
            pair = self._state.pair if self._is_loading else self._good or self._state.pair
            self._set(PairState("dead", pair, problem=event.reason))
            self._follower(event)
        elif isinstance(event, Unloaded):
            self._held = None
            if not self._is_loading:
                self._set(PairState("empty", self._state.pair))
            self._follower(event)

    def _on_load_event(self, number: int, event: Event) -> None:
        """Take an event of a load; those of an older one change nothing but what is in memory."""
        self._held = None  # the first thing that a load does is to free what was there
        if isinstance(event, EngineDied):
            self._is_loading = self._is_loading and number != self._n_loads
        elif isinstance(event, LoadProgressed | PairLoaded | LoadFailed):
            if number == self._n_loads:
                self._on_own_event(event)
            self._follower(event)

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
        self._is_loading = False
        wanted = self._state.pair
        if isinstance(event, PairLoaded):
            self._good = wanted
            self._held = self._decided.get(wanted, wanted) if wanted is not None else None
            self._set(
                PairState(
                    "ready", wanted, event.target, event.draft,
                    notes=event.notes, sameness=event.sameness, memory=event.memory,
                )
            )  # fmt: skip
            return
        # Without its servers the one before could not be loaded either.
        fallback = self._good if self._good != wanted and not event.lost else None
        self._good = fallback  # a pair that fails is no longer good
        was_cancelled = event.code == "cancelled"
        if not was_cancelled:
            self._listener.load_failed(event, falls_back=fallback is not None)
        if fallback is not None:
            self.load(fallback)
        else:
            self._set(PairState("failed", wanted, problem=event.message))

    def _set(self, state: PairState) -> None:
        self._state = state
        self._listener.pair_changed(state)
