"""An inline engine on scripted models, for tests of what it says to commands."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from fake_model import FakeBackend, FakeModel, scripted
from inline_client import InlineClient
from paceline.hosting.threaded import make_engine_service
from paceline.messages import (
    ChatMessage,
    Event,
    LoadPair,
    ModelParams,
    StepCommitted,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from paceline.params import DraftModel
from turns import turn_of

ASK = (ChatMessage.of_text("user", "hi"),)
PROMPT_LENGTH = len("user: hi\0\n")  # the end token counts as one


class Bench:
    """An inline engine on given models, and all its events.

    Attributes:
        models: The models, by their paths.
        events: Events of the engine, in order.
        on_event: Called with each event after it was added to `events`.
    """

    def __init__(self, **models: FakeModel) -> None:
        self.models = models
        self.client = InlineClient(
            partial(make_engine_service, backend=lambda: FakeBackend(models))
        )
        self.events: list[Event] = []
        self.on_event: Callable[[Event], None] = lambda _event: None
        self.client.on_event = self._hear

    def _hear(self, event: Event) -> None:
        self.events.append(event)
        self.on_event(event)

    @property
    def steps(self) -> list[StepCommitted]:
        """The steps among the events."""
        return [event for event in self.events if isinstance(event, StepCommitted)]

    @property
    def started(self) -> TurnStarted:
        """The beginning of the only turn among the events."""
        (started,) = [event for event in self.events if isinstance(event, TurnStarted)]
        return started

    def load(self, target: str = "target", draft: str | None = None) -> Event:
        drafting = DraftModel(ModelParams(draft)) if draft else None
        self.client.request(LoadPair(ModelParams(target), drafting))
        return self.events[-1]

    def ask(self, **options: object) -> Event:
        options = {"messages": ASK, "strategy": "off", "seed": 1, "max_tokens": 40} | options
        self.client.request(turn_of(**options))  # type: ignore[arg-type]
        return self.events[-1]

    def finish(self, **options: object) -> TurnFinished:
        """Ask for a reply that must finish."""
        last = self.ask(**options)
        assert isinstance(last, TurnFinished), last
        return last

    def fail(self, **options: object) -> TurnFailed:
        """Ask for a reply that must fail."""
        last = self.ask(**options)
        assert isinstance(last, TurnFailed), last
        return last


def writer(reply: str = "Hello!") -> FakeModel:
    return FakeModel(scripted(reply, PROMPT_LENGTH))
