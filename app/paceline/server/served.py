"""The loaded models as other programs see them, and the interface to load them."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from paceline.messages import (
    EngineDied,
    LoadFailed,
    ModelInfo,
    PairLoaded,
    Sameness,
    SamenessChanged,
    Unloaded,
)
from paceline.params import DEFAULT_STRATEGY, Prompting, ReplySettings, Strategy

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from paceline.hosting.broker import EngineEvent

SameText = Literal["any strategy", "any strategy and any cache", "none"]


@dataclass(frozen=True, slots=True)
class Served:
    """A loaded pair.

    Attributes:
        id: The target's name for programs: its file's, without folder and ending.
        target: The target.
        draft: The draft model or head, or None if there is none.
        sameness: Whether its texts can depend on the strategy.
        loaded_s: Time of the load, in seconds since the epoch.
    """

    id: str
    target: ModelInfo
    draft: ModelInfo | None
    sameness: Sameness | None
    loaded_s: int = field(default_factory=lambda: int(time.time()))

    @classmethod
    def of(cls, loaded: PairLoaded) -> Served:
        """Return the pair of a load's event."""
        return cls(model_id(loaded.target.path), loaded.target, loaded.draft, loaded.sameness)

    @property
    def same_text(self) -> SameText:
        """The promise about the settings that a reply's text does not depend on."""
        if self.sameness is None or not self.sameness.holds:
            return "none"
        return "any strategy and any cache" if self.sameness.any_context else "any strategy"


def model_id(path: str) -> str:
    """Return the name that programs call a model by."""
    return Path(path).stem


@dataclass(frozen=True, slots=True)
class Defaults:
    """Values for the fields that a request leaves out.

    Attributes:
        settings: Sampling settings.
        has_limit: Whether `settings.max_tokens` applies; otherwise the limit is the context's end.
        strategy: The drafting strategy.
        prompting: Settings for making a prompt from a conversation.
        remember: Whether drafts may come from the user's chats.
        ignored: Regular expressions for lines in system prompts whose changes are ignored.
    """

    settings: ReplySettings = field(default_factory=ReplySettings)
    has_limit: bool = False
    strategy: Strategy = DEFAULT_STRATEGY
    prompting: Prompting = field(default_factory=Prompting)
    remember: bool = False
    ignored: tuple[str, ...] = ()


class ServedModels(Protocol):
    """The models that programs may ask for. On the server's event loop."""

    @property
    def loaded(self) -> Served | None:
        """The pair that is loaded at present, or None."""

    def request(self) -> AbstractContextManager[None]:
        """Return the context of one request; the pair that it is given stays loaded within."""

    async def wanted(self, name: str) -> Served:
        """Return the pair that answers a request for this model, loaded.

        Args:
            name: The name in the request; empty for any.

        Raises:
            ApiError: There is no such model.
        """

    async def names(self) -> tuple[str, ...]:
        """Return the names of the models that can be requested."""


class Current:
    """The pair that is loaded, followed by the engine's events. Any thread may read it.

    Attributes:
        served: The pair, or None loaded.
    """

    def __init__(self, served: Served | None = None) -> None:
        self.served = served

    def on_engine_event(self, event: EngineEvent) -> None:
        """Handle an event of the engine."""
        match event:
            case PairLoaded():
                self.served = Served.of(event)
            case SamenessChanged(sameness) if self.served is not None:
                self.served = replace(self.served, sameness=sameness)
            case LoadFailed() | Unloaded() | EngineDied():
                self.served = None
