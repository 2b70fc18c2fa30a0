"""A pair that is loaded for one command and freed behind it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from paceline.cli.auto_layers import decide_layers, planner
from paceline.cli.chat import TurnError
from paceline.cli.hub_models import StoppedError, with_local_files
from paceline.cli.output import Progress, remark
from paceline.hosting.deaths import DIED
from paceline.messages import EngineDied, LoadFailed, LoadProgressed, PairLoaded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paceline.cli.interrupts import Interrupts
    from paceline.hosting.client import EngineClient
    from paceline.messages import Event, LoadPair
    from paceline.paths import Paths


@contextmanager
def loaded_pair(
    load: LoadPair, paths: Paths, interrupts: Interrupts, *, in_process: bool
) -> Iterator[tuple[EngineClient, PairLoaded]]:
    """Load a pair, tell its notes, and give the client that has it.

    Args:
        load: Files, or references to the Hub, which are downloaded.
        paths: The program's folders.
        interrupts: Stops the load.
        in_process: Whether the engine gets a process of its own.

    Raises:
        UserError: It cannot be loaded, or Ctrl+C was pressed.
    """
    from paceline.hosting.inline import InlineClient
    from paceline.hosting.service import make_engine_service, make_process_service

    load = with_local_files(load, paths, lambda: interrupts.hit)
    client = InlineClient(make_process_service if in_process else make_engine_service)
    try:
        load, notes = decide_layers(load, client, planner(paths))
        loaded = _load(client, load, interrupts)
        sameness = loaded.sameness
        differs = sameness is not None and sameness.holds is False and not sameness.is_exact
        for note in (*notes, *loaded.notes, *((sameness.words,) if differs and sameness else ())):
            remark(note)
        yield client, loaded
    finally:
        client.close()


def _load(client: EngineClient, load: LoadPair, interrupts: Interrupts) -> PairLoaded:
    ends: list[Event] = []
    progress = Progress()

    def hear(event: Event) -> None:
        if interrupts.hit:  # it may have come when there was nothing to cancel yet
            client.cancel(load.request_id)
        if isinstance(event, LoadProgressed):
            progress.show(f"Loading the {event.stage} model: {event.fraction:.0%}")
        elif isinstance(event, PairLoaded | LoadFailed | EngineDied):
            ends.append(event)

    client.set_listener(hear)
    interrupts.when_hit(lambda: client.cancel(load.request_id))
    try:
        if not interrupts.hit:
            client.submit(load)
    finally:
        progress.clear()
    for event in ends:
        if isinstance(event, PairLoaded):
            return event
        if isinstance(event, LoadFailed):
            raise TurnError(event.code, event.message, event.hint)
        if isinstance(event, EngineDied):
            raise TurnError(DIED, event.reason, event.hint)
    raise StoppedError("cancelled", "Stopped before the model was loaded.")
