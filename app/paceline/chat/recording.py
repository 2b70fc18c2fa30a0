"""A recorded reply: the engine's events with their times, to be played back. No Qt.

``resources/examples/`` has one, which `packaging/record_example.py` makes; the window plays it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

from paceline.codec import by_name, decode, decode_part
from paceline.errors import UserError
from paceline.messages import ModelInfo, TurnEvent

_EVENTS: dict[str, type[TurnEvent]] = by_name(TurnEvent)


@dataclass(frozen=True, slots=True)
class Recording:
    """One recorded reply.

    Attributes:
        question: What was asked.
        strategy: The strategy that drafted for it.
        target: The target.
        machine: The processor, in words.
        date: When it was made, as ``2026-11-23``.
        events: Seconds since the turn was handed to the engine, and the event at that time.
    """

    question: str
    strategy: str
    target: ModelInfo
    machine: str
    date: str
    events: tuple[tuple[float, TurnEvent], ...]

    def of_turn(self, turn_id: str) -> tuple[tuple[float, TurnEvent], ...]:
        """Return the events with this turn's id."""
        return tuple((seconds, replace(event, turn_id=turn_id)) for seconds, event in self.events)


def read_recording(path: Path) -> Recording:
    """Read what `packaging/record_example.py` wrote.

    Raises:
        UserError: It is missing or damaged.
    """
    try:
        head, *lines = (json.loads(line) for line in path.read_text("utf-8").splitlines())
        target = decode_part(ModelInfo, head.pop("target"))
        events = tuple((float(seconds), decode(data, _EVENTS)) for seconds, data in lines)
        return Recording(target=target, events=events, **head)
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise UserError(
            "no-example",
            "The recorded example cannot be read ({error}).",
            "Install Paceline again.",
            error=error,
        ) from error
