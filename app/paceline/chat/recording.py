"""A recorded reply: the engine's events with their times, to be played back. No Qt.

``resources/examples/`` has one, which `packaging/record_example.py` makes; the window plays it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paceline.codec import decode, encode
from paceline.engine.draft.strategy import short_text, strategy_named
from paceline.errors import UserError
from paceline.messages import ModelInfo, Strategy, TurnEvent


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
    strategy: Strategy
    target: ModelInfo
    machine: str
    date: str
    events: tuple[tuple[float, TurnEvent], ...]


def read_recording(path: Path) -> Recording:
    """Read what `write_recording` wrote.

    Raises:
        UserError: It is missing or damaged.
    """
    try:
        head, *lines = (json.loads(line) for line in path.read_text("utf-8").splitlines())
        target = decode(ModelInfo, head.pop("target"))
        strategy = strategy_named(head.pop("strategy"))
        events = tuple((float(seconds), _event(data)) for seconds, data in lines)
        return Recording(target=target, strategy=strategy, events=events, **head)
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise UserError(
            "no-example",
            "The recorded example cannot be read ({error}).",
            "Install Paceline again.",
            error=error,
        ) from error


def write_recording(path: Path, recording: Recording) -> None:
    """Write a recording, one event a line; strategies are texts, for people to read.

    Raises:
        OSError: It cannot be written.
    """
    head = {
        "question": recording.question,
        "strategy": short_text(recording.strategy),
        "target": encode(recording.target),
        "machine": recording.machine,
        "date": recording.date,
    }
    lines = [head, *([round(seconds, 4), _data(event)] for seconds, event in recording.events)]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    path.write_text(text, "utf-8")


def _data(event: TurnEvent) -> dict[str, Any]:
    strategy = getattr(event, "strategy", None)
    data: dict[str, Any] = encode(event)
    return data | ({"strategy": short_text(strategy)} if strategy is not None else {})


def _event(data: dict[str, Any]) -> TurnEvent:
    data = {key: value for key, value in data.items() if key != "turn_id"}  # of earlier versions
    if "strategy" in data:
        data = data | {"strategy": encode(strategy_named(data["strategy"]))}
    event: TurnEvent = decode(TurnEvent, data)
    return event
