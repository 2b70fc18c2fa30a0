"""A recorded reply: what is written is read, the shipped one is whole, the session plays it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from paceline.chat.recording import Recording, read_recording
from paceline.errors import UserError
from paceline.messages import FiguresReported, StepCommitted, TurnFinished
from paceline.paths import resources
from record_example import write_recording

SHIPPED = resources() / "examples" / "starter.jsonl"


@pytest.fixture(scope="module")
def shipped() -> Recording:
    return read_recording(SHIPPED)


def test_the_shipped_example_shows_what_it_promises(shipped: Recording) -> None:
    last = shipped.events[-1][1]
    assert isinstance(last, TurnFinished)
    steps = [event for _, event in shipped.events if isinstance(event, StepCommitted)]
    assert "".join(step.text for step in steps) == last.text
    assert last.reason == "eog"
    assert last.stats.speedup is not None
    assert last.stats.speedup.verdict == "gain"
    assert any(isinstance(event, FiguresReported) for _, event in shipped.events)
    assert "SmolLM2" in shipped.target.name
    assert shipped.target.path == Path(shipped.target.path).name  # no folder of any machine
    times = [seconds for seconds, _ in shipped.events]
    assert times == sorted(times)


def test_what_is_written_is_read(shipped: Recording, tmp_path: Path) -> None:
    write_recording(tmp_path / "again.jsonl", shipped)
    assert read_recording(tmp_path / "again.jsonl") == shipped


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "",
        lambda text: text[:2000],
        lambda text: text.replace("StepCommitted", "Shutdown", 1),
        lambda text: text.replace('"question"', '"answer"', 1),
        lambda text: json.dumps([1, 2]),
    ],
)
def test_a_damaged_one_is_told_in_words(tmp_path: Path, damage: object) -> None:
    assert callable(damage)
    file = tmp_path / "x.jsonl"
    file.write_text(damage(SHIPPED.read_text("utf-8")), "utf-8")
    with pytest.raises(UserError, match="recorded example cannot be read"):
        read_recording(file)
