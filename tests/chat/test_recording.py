"""A recorded reply: what is written is read, the shipped one is whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from paceline.chat.recording import Recording, read_recording
from paceline.errors import UserError
from paceline.messages import ControlReported, StepCommitted, TurnFinished
from paceline.paths import resources
from record_example import write_recording

SHIPPED = resources() / "examples" / "starter.jsonl"


@pytest.fixture(scope="module")
def shipped() -> Recording:
    return read_recording(SHIPPED)


def test_the_shipped_example_shows_what_it_promises(shipped: Recording) -> None:
    texts, speeds = [], []
    for turn in (shipped.alone, shipped.drafted):
        last = turn[-1][1]
        assert isinstance(last, TurnFinished)
        steps = [event for _, event in turn if isinstance(event, StepCommitted)]
        assert "".join(step.text for step in steps) == last.text
        assert last.reason == "eog"
        times = [seconds for seconds, _ in turn]
        assert times == sorted(times)
        texts.append(last.tokens)
        speeds.append(last.stats.tokens_per_s or 0.0)
    assert texts[0] == texts[1], "the same text, token by token"
    assert speeds[1] >= 1.3 * speeds[0]
    kinds = [[type(event) for _, event in turn] for turn in (shipped.alone, shipped.drafted)]
    assert ControlReported not in kinds[0]
    assert ControlReported in kinds[1]
    assert "SmolLM2" in shipped.target.name
    assert shipped.target.path == Path(shipped.target.path).name  # no folder of any machine


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
        lambda text: text.replace('["drafted"', '["other"', 1),
        lambda text: "".join(x for x in text.splitlines(keepends=True) if '["alone"' not in x),
        lambda text: json.dumps([1, 2]),
    ],
)
def test_a_damaged_one_is_reported_in_words(tmp_path: Path, damage: object) -> None:
    assert callable(damage)
    file = tmp_path / "x.jsonl"
    file.write_text(damage(SHIPPED.read_text("utf-8")), "utf-8")
    with pytest.raises(UserError, match="recorded example cannot be read"):
        read_recording(file)
