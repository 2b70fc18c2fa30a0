"""A recorded example: one question answered alone and with drafts, every event with its time.

No Qt. ``resources/examples/`` has one, which `packaging/record_example.py` makes; the welcome page
plays it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paceline.codec import decode, encode
from paceline.engine.draft.strategy import short_text, strategy_named
from paceline.errors import UserError
from paceline.messages import ModelInfo, TurnEvent

RecordedTurn = tuple[tuple[float, TurnEvent], ...]
"""Seconds since the turn was handed to the engine, and the event at that time."""


@dataclass(frozen=True, slots=True)
class Recording:
    """Two replies to one question, with the same text.

    Attributes:
        question: The text of the question.
        target: The model that answered.
        machine: The processor, in words.
        date: The day when it was made, as ``2026-11-23``.
        alone: The turn without drafts.
        drafted: The turn under Auto.
    """

    question: str
    target: ModelInfo
    machine: str
    date: str
    alone: RecordedTurn
    drafted: RecordedTurn


def read_recording(path: Path) -> Recording:
    """Read what `write_recording` wrote.

    Raises:
        UserError: It is missing or damaged.
    """
    try:
        head, *lines = (json.loads(line) for line in path.read_text("utf-8").splitlines())
        turns: dict[str, list[tuple[float, TurnEvent]]] = {"alone": [], "drafted": []}
        for column, seconds, data in lines:
            turns[column].append((float(seconds), _event(data)))
        target = decode(ModelInfo, head.pop("target"))
        alone, drafted = tuple(turns["alone"]), tuple(turns["drafted"])
        if not (alone and drafted):
            raise ValueError("a column is missing")
        return Recording(target=target, alone=alone, drafted=drafted, **head)
    except (OSError, ValueError, TypeError, AttributeError, KeyError) as error:
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
    lines: list[Any] = [
        {
            "question": recording.question,
            "target": encode(recording.target),
            "machine": recording.machine,
            "date": recording.date,
        }
    ]
    for column in ("alone", "drafted"):
        turn: RecordedTurn = getattr(recording, column)
        lines += ([column, round(seconds, 4), _data(event)] for seconds, event in turn)
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    path.write_text(text, "utf-8")


def _data(event: TurnEvent) -> dict[str, Any]:
    strategy = getattr(event, "strategy", None)
    data: dict[str, Any] = encode(event)
    return data | ({"strategy": short_text(strategy)} if strategy is not None else {})


def _event(data: dict[str, Any]) -> TurnEvent:
    if "strategy" in data:
        data = data | {"strategy": encode(strategy_named(data["strategy"]))}
    event: TurnEvent = decode(TurnEvent, data)
    return event
