"""The window asks once how fast the machine reads, after loads and replies, before nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gui.fake_client import FakeClient
from paceline.chat.pair import Pair, PairState
from paceline.gui.state.machine_reading import MachineReading
from paceline.hosting.broker import Priority
from paceline.messages import EngineDied, MeasureReading, ModelParams, Reading, ReadingMeasured

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

READING = Reading(1, 1e9, 2e9, 3e9)
READY = PairState(pair=Pair(ModelParams("/m/a.gguf")), status="ready")


@pytest.fixture
def client() -> FakeClient:
    return FakeClient()


@pytest.fixture
def asker(qtbot: QtBot, client: FakeClient) -> Iterator[MachineReading]:
    del qtbot
    made = MachineReading(client, "/facts")
    yield made
    made.deleteLater()


def test_it_is_asked_for_after_a_load_and_as_the_least_urgent(
    asker: MachineReading, client: FakeClient
) -> None:
    known: list[Reading] = []
    asker.known.connect(known.append)
    asker.on_pair(PairState(status="loading"))
    assert client.all(MeasureReading) == []
    asker.on_pair(READY)
    asker.ask()
    assert client.all(MeasureReading) == [MeasureReading("/facts")]
    assert client.tickets[-1].priority is Priority.IDLE
    client.emit(ReadingMeasured(READING))
    asker.ask()
    assert asker.value == READING
    assert known == [READING]
    assert len(client.all(MeasureReading)) == 1


@pytest.mark.parametrize("answer", [ReadingMeasured(), EngineDied("It crashed.", "")])
def test_without_an_answer_it_is_asked_again_but_not_for_ever(
    asker: MachineReading, client: FakeClient, answer: ReadingMeasured | EngineDied
) -> None:
    for _ in range(20):
        asker.ask()
        if client.tickets[-1].state != "over":
            client.emit(answer, client.tickets[-1])
    assert asker.value is None
    assert 1 < len(client.all(MeasureReading)) < 20
