"""The desk where programs ask: the tokens of a prompt, and what is asked while it closes."""

from __future__ import annotations

import asyncio
import threading
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

import pytest

from fake_model import EOG, FakeBackend, FakeModel, scripted
from paceline.hosting.threaded import ThreadedClient, make_engine_service
from paceline.messages import (
    Encode,
    EngineDied,
    Infill,
    LoadPair,
    ModelParams,
    RawText,
    TurnFailed,
)
from paceline.server.asking import Desk
from paceline.server.errors import ApiError
from turns import turn_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from paceline.hosting.broker import Broker
    from paceline.messages import Command, Event


@pytest.fixture
def client() -> Iterator[ThreadedClient]:
    models = {"target": FakeModel(scripted("x", 0))}
    make = partial(make_engine_service, backend=lambda: FakeBackend(models))
    with closing(ThreadedClient(make)) as client:
        client.request(LoadPair(ModelParams("target"), None)).wait()
        yield client


def test_the_tokens_of_a_prompt_come(client: ThreadedClient) -> None:
    encoded = asyncio.run(Desk(client, 1).encode(RawText("hi<end>", special=True), "a test"))
    assert encoded.tokens == (*b"hi", EOG)
    assert encoded.pieces == (b"h", b"i", b"<end>")


def test_a_prompt_that_cannot_be_made_is_an_error_in_words(client: ThreadedClient) -> None:
    with pytest.raises(ApiError, match="no tokens that mark one") as caught:
        asyncio.run(Desk(client, 1).encode(Infill("a", "b"), "a test"))
    assert (caught.value.status, caught.value.code) == (400, "no_infill")


class Busy:
    """A service that writes a reply for a given time; prompts make it die."""

    def __init__(self, go_on: threading.Event, emit: Callable[[Event], None], _: Broker) -> None:
        self._go_on = go_on
        self._emit = emit

    def handle(self, command: Command) -> None:
        if isinstance(command, Encode):
            self._emit(EngineDied("It is gone."))
        else:
            self._go_on.wait(60)
            self._emit(TurnFailed("cancelled", "Stopped.", ""))


@pytest.fixture
def go_on() -> threading.Event:
    return threading.Event()


@pytest.fixture
def busy(go_on: threading.Event) -> Iterator[ThreadedClient]:
    with closing(ThreadedClient(partial(Busy, go_on))) as client:
        client.request(turn_of(prompt="a"))
        yield client
        go_on.set()


def test_who_waits_while_the_desk_closes_is_answered(busy: ThreadedClient) -> None:
    desk = Desk(busy, 1)

    async def ask() -> None:
        question = asyncio.create_task(desk.encode(RawText("a"), "a test"))
        while not desk.n_waiting:
            await asyncio.sleep(0)
        desk.close()
        await question

    with pytest.raises(ApiError) as caught:
        asyncio.run(asyncio.wait_for(ask(), 30))
    assert (caught.value.status, caught.value.code) == (503, "cancelled")


def test_a_death_is_reported(busy: ThreadedClient, go_on: threading.Event) -> None:
    go_on.set()
    with pytest.raises(ApiError, match="It is gone") as caught:
        asyncio.run(Desk(busy, 1).encode(RawText("a"), "a test"))
    assert (caught.value.status, caught.value.code) == (500, "engine_died")
