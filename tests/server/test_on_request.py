"""Models that are loaded on request: one at a time, each for all who wait, none waits forever."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    precondition,
    rule,
)

from paceline.server.asking import Desk
from paceline.server.errors import ApiError, not_loaded
from paceline.server.on_request import OnRequest, named
from paceline.server.served import Served

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from paceline.hosting.client import EngineClient

MODELS = {"one": "/models/one.gguf", "two": "/models/two.gguf", "three": "/models/three.gguf"}
LONGEST = 5


def served(path: str) -> Served:
    target = cast("Any", SimpleNamespace(path=path))
    return Served(next(name for name, each in MODELS.items() if each == path), target, None, None)


@dataclass
class Shelf:
    """Loads any model, at the moment that the test chooses."""

    loaded: Served | None = None
    loads: list[str] = field(default_factory=list)
    gate: asyncio.Future[str] | None = None
    is_loading: bool = False

    def find(self) -> tuple[str, ...]:
        return tuple(MODELS.values())

    async def load(self, path: str) -> None:
        assert not self.is_loading, "two loads at once"
        self.is_loading = True
        self.loads.append(path)
        self.loaded = None
        self.gate = asyncio.get_running_loop().create_future()
        try:
            problem = await self.gate
        finally:
            self.is_loading = False
        if problem:
            raise not_loaded(problem)
        self.loaded = served(path)


class Idle:
    """An engine that has nothing to do."""

    running = object()


@dataclass(eq=False)
class Asked:
    """One request: which model it wants, and when it is over."""

    name: str
    task: asyncio.Task[Served]
    over: asyncio.Event


class OnRequestMachine(RuleBasedStateMachine):
    """Requests that come, end and give up in any order, and loads that end well or badly."""

    asked = Bundle("asked")

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.loop.set_default_executor(ThreadPoolExecutor(1))  # one look-up after the other
        self.shelf = Shelf()
        self.desk = Desk(cast("EngineClient", Idle()), LONGEST)
        self.models = OnRequest(self.desk, self.shelf)
        self.held: dict[object, str] = {}
        self.requests: list[Asked] = []

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        self.loop.run_until_complete(work)

    async def settle(self) -> None:
        for _ in range(12):
            await asyncio.sleep(0)

    def teardown(self) -> None:
        async def end() -> None:
            for each in self.requests:
                each.over.set()
            for _ in range(len(MODELS) + 1):
                await self.settle()
                if self.shelf.gate is not None and not self.shelf.gate.done():
                    self.shelf.gate.set_result("")
            await self.settle()
            assert all(each.task.done() for each in self.requests), "a request waits forever"

        self.run(end())
        with closing(self.loop):
            self.loop.run_until_complete(self.loop.shutdown_default_executor())

    @rule(target=asked, name=st.sampled_from([*MODELS, *MODELS, ""]))
    def ask(self, name: str) -> Asked:
        over, key = asyncio.Event(), object()

        async def request() -> Served:
            with self.models.request():
                found = await self.models.wanted(name)
                assert found is not None
                self.held[key] = found.target.path
                assert self.shelf.loaded is not None
                assert found.target.path == self.shelf.loaded.target.path
                again = await self.models.wanted(name)
                assert again.target.path == found.target.path
                try:
                    await over.wait()
                    assert self.shelf.loaded is not None, "its model was taken away"
                    assert found.target.path == self.shelf.loaded.target.path
                finally:
                    del self.held[key]
            return found

        async def begin() -> Asked:
            made = Asked(name, asyncio.ensure_future(request()), over)
            self.requests.append(made)
            return made

        asked = self.loop.run_until_complete(begin())
        self.run(self._look_up())
        return asked

    async def _look_up(self) -> None:
        """Wait until names are looked up, which the loop's only worker does before `int`."""
        await self.settle()
        await asyncio.to_thread(int)
        await self.settle()

    @rule(asked=consumes(asked))
    def end(self, asked: Asked) -> None:
        asked.over.set()
        self.run(self.settle())

    @rule(asked=consumes(asked))
    def give_up(self, asked: Asked) -> None:
        asked.task.cancel()
        self.run(self.settle())

    @precondition(lambda self: self.shelf.gate is not None and not self.shelf.gate.done())
    @rule(problem=st.sampled_from(["", "", "", "It is broken."]))
    def end_load(self, problem: str) -> None:
        assert self.shelf.gate is not None
        self.shelf.gate.set_result(problem)
        self.run(self.settle())

    @invariant()
    def all_hold_the_loaded_model(self) -> None:
        loaded = self.shelf.loaded.target.path if self.shelf.loaded is not None else ""
        assert set(self.held.values()) <= {loaded}
        assert not (self.held and self.shelf.is_loading)

    @invariant()
    def somebody_is_served_or_a_load_is_under_way(self) -> None:
        waiting = [each for each in self.requests if not each.task.done()]
        assert not waiting or self.held or self.shelf.is_loading

    @invariant()
    def who_failed_is_told_why(self) -> None:
        for each in self.requests:
            if each.task.done() and not each.task.cancelled():
                error = each.task.exception()
                assert error is None or isinstance(error, ApiError), error
                assert error is None or error.code in ("no_model", "queue_full")


TestOnRequest = OnRequestMachine.TestCase
TestOnRequest.settings = hypothesis_settings(deadline=None, stateful_step_count=30)


def test_a_burst_for_two_models_costs_one_load_for_each() -> None:
    shelf = Shelf()
    models = OnRequest(Desk(cast("EngineClient", Idle()), 100), shelf)
    order: list[str] = []

    async def request(name: str) -> None:
        with models.request():
            order.append((await models.wanted(name)).id)
            await asyncio.sleep(0)

    async def burst() -> None:
        names = ["one", "two"] * 12
        asked = [asyncio.ensure_future(request(name)) for name in names]
        # Each looks for its file in a thread: no load may end before the last one waits.
        while models.n_waiting < len(names) and not any(each.done() for each in asked):
            await asyncio.sleep(0.001)
        while not all(each.done() for each in asked):
            await asyncio.sleep(0.001)
            if shelf.gate is not None and not shelf.gate.done() and shelf.is_loading:
                shelf.gate.set_result("")
        assert all(each.exception() is None for each in asked)

    asyncio.run(burst())
    assert sorted(order) == ["one"] * 12 + ["two"] * 12
    assert len(shelf.loads) == 2
    assert order == sorted(order, key=order.index), "each model's requests follow one another"


def test_who_comes_later_waits_behind_those_for_another_model() -> None:
    shelf = Shelf(loaded=served(MODELS["one"]))
    models = OnRequest(Desk(cast("EngineClient", Idle()), 9), shelf)
    order: list[str] = []

    async def request(name: str) -> None:
        with models.request():
            order.append((await models.wanted(name)).id)

    async def requests() -> None:
        with models.request():
            await models.wanted("one")
            asked = [asyncio.ensure_future(request("two"))]
            while not models.n_waiting:
                await asyncio.to_thread(int)
            asked.append(asyncio.ensure_future(request("one")))
            while models.n_waiting < 2:
                await asyncio.to_thread(int)
            assert order == [], "the model is not taken away from who has it"
        while not all(each.done() for each in asked):
            await asyncio.sleep(0)
            if shelf.gate is not None and not shelf.gate.done():
                shelf.gate.set_result("")

    asyncio.run(requests())
    assert order == ["two", "one"]


def test_requests_that_wait_for_a_model_count_in_the_queue() -> None:
    shelf = Shelf(loaded=served(MODELS["one"]))
    models = OnRequest(Desk(cast("EngineClient", Idle()), 2), shelf)

    async def request(name: str) -> None:
        with models.request():
            await models.wanted(name)

    async def requests() -> list[BaseException | None]:
        with models.request():
            await models.wanted("one")
            asked = [asyncio.ensure_future(request("two")) for _ in range(3)]
            done, waiting = await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
            assert len(waiting) == 2
            for each in waiting:
                each.cancel()
            await asyncio.wait(waiting)
            assert models.n_waiting == 0
        return [each.exception() for each in done]

    (error,) = asyncio.run(requests())
    assert isinstance(error, ApiError)
    assert (error.status, error.headers) == (429, {"retry-after": "5"})
    assert shelf.loads == [], "no request waits any more"


def test_a_model_that_there_is_not_is_a_404_with_those_that_there_are() -> None:
    models = OnRequest(Desk(cast("EngineClient", Idle()), 9), Shelf())

    async def request() -> None:
        with models.request():
            await models.wanted("four")

    with pytest.raises(ApiError) as error:
        asyncio.run(request())
    assert error.value.status == 404
    assert "one, three, two" in error.value.message


def test_a_load_that_fails_by_a_fault_of_ours_is_answered(
    allow_warnings: Callable[[str], None],
) -> None:
    class Broken(Shelf):
        async def load(self, path: str) -> None:
            raise OSError(path)

    allow_warnings("a load failed: OSError")
    models = OnRequest(Desk(cast("EngineClient", Idle()), 9), Broken())

    async def request() -> None:
        with models.request():
            await asyncio.wait_for(models.wanted("one"), 10)

    for _ in range(2):
        with pytest.raises(ApiError) as error:
            asyncio.run(request())
        assert (error.value.status, error.value.code) == (500, "bug")
        assert "/models" not in error.value.message


def test_a_server_that_ends_loads_nothing_more() -> None:
    shelf = Shelf(loaded=served(MODELS["one"]))
    desk = Desk(cast("EngineClient", Idle()), 9)
    models = OnRequest(desk, shelf)

    async def requests() -> BaseException | None:
        with models.request():
            await models.wanted("one")

            async def other() -> None:
                with models.request():
                    await models.wanted("two")

            waiting = asyncio.ensure_future(other())
            while not (models.n_waiting or waiting.done()):
                await asyncio.to_thread(int)
            desk.close()
        await asyncio.wait([waiting])
        return waiting.exception()

    error = asyncio.run(requests())
    assert isinstance(error, ApiError)
    assert error.code == "server_ending"
    assert shelf.loads == []


def test_files_of_one_name_are_distinguished() -> None:
    paths = ("/b/model.gguf", "/a/model.gguf", "/a/other.gguf")
    assert named(paths) == {
        "model": "/a/model.gguf", "model (2)": "/b/model.gguf", "other": "/a/other.gguf"
    }  # fmt: skip
