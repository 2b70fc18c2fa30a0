"""Stored states in files, with real models in an engine's process: warm again, or cold."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from array import array
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import make_pairs
from inline_client import InlineClient
from paceline.hosting.broker import Broker
from paceline.hosting.client import Service
from paceline.hosting.exit_reasons import RestartPolicy
from paceline.hosting.process import ProcessService
from paceline.messages import (
    DraftModel,
    DropStates,
    Event,
    LoadPair,
    ModelParams,
    PairLoaded,
    StartTurn,
    StateOwner,
    StateStorage,
    Strategy,
    Tokens,
    TurnFinished,
    TurnStarted,
)

Trials = Callable[[int, int], Iterator[int]]
CHANCE = random.Random(1)
TEXT, OTHER = (tuple(CHANCE.choices(range(300, 3000), k=1200)) for _ in range(2))
KINDS = ("tiny-target", "tiny-swa", "tiny-mamba", "tiny-lfm2")


def model(name: str = "tiny-target", **params: object) -> ModelParams:
    return ModelParams(
        str(make_pairs.path(name)), n_ctx=2048, n_threads=1, n_threads_batch=1,
        **params,  # type: ignore[arg-type]
    )  # fmt: skip


def make_service(emit: Callable[[Event], None], broker: Broker) -> Service:
    """Make an engine in a process that may be ended as often as a test likes, without a pause."""
    policy = RestartPolicy(most=10**9)
    return ProcessService(emit, broker, restarts=policy, sleep=lambda _seconds: None)


class Engine:
    """An engine in a process of its own, whose states are in a folder."""

    def __init__(self, load: LoadPair, folder: Path, memory_bytes: int = 1 << 30) -> None:
        self.events: list[Event] = []
        self.client = InlineClient(make_service, self.events.append)
        storage = StateStorage(memory_bytes, str(folder), 1 << 30)
        self._load = LoadPair(load.target, load.drafting, states=storage)
        self.load()

    def load(self, tries: int = 1) -> None:
        """Load; one that was handed to a process that is dying is handed to the next one."""
        for _ in range(tries):
            self.client.request(self._load)
        assert isinstance(self.events[-1], PairLoaded), self.events[-1]

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.client.close()

    def ask(
        self, tokens: tuple[int, ...], owner: str = "a", n: int = 4, strategy: str = "off"
    ) -> tuple[TurnStarted, TurnFinished]:
        """Ask, and return how the reply began and ended."""
        self.events.clear()
        self.client.request(self.turn(tokens, owner, n, strategy))
        started = next(event for event in self.events if isinstance(event, TurnStarted))
        assert isinstance(self.events[-1], TurnFinished), self.events[-1]
        return started, self.events[-1]

    @staticmethod
    def turn(
        tokens: tuple[int, ...], owner: str = "a", n: int = 4, strategy: str = "off"
    ) -> StartTurn:
        return StartTurn(
            Tokens(tokens), strategy=Strategy.of(strategy), max_tokens=n, seed=1,
            ignore_eog=True, owner=StateOwner(owner),
        )  # fmt: skip

    def kill(self) -> None:
        assert isinstance(self.client.service, ProcessService)
        os.kill(self.client.service.pid, signal.SIGKILL)


def files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file())


def has(folder: Path, tokens: tuple[int, ...]) -> bool:
    """Search all bytes of a folder for tokens, in any width."""
    forms = [array(code, tokens).tobytes() for code in "hiq"]
    return any(form in file.read_bytes() for file in files(folder) for form in forms)


@pytest.mark.grid(short=2)
@pytest.mark.parametrize("name", KINDS)
def test_a_restart_finds_what_was_read(name: str, tmp_path: Path) -> None:
    load = LoadPair(model(name), None)
    with Engine(load, tmp_path) as engine:
        cold, _ = engine.ask(TEXT[:-9])
        _, live = engine.ask(TEXT)
        engine.ask(OTHER, "b")
    with Engine(load, tmp_path) as later:
        warm, reply = later.ask(TEXT)
        assert (cold.n_reused, warm.warm) == (0, "disk")
        assert warm.n_reused >= len(TEXT) - 50  # a whole state is of a place before the end
        assert reply.tokens == live.tokens


def test_a_restart_finds_what_the_draft_model_has_read(
    demo_pair: tuple[Path, Path], tmp_path: Path
) -> None:
    target, draft = (replace(model(), path=str(path)) for path in demo_pair)
    load = LoadPair(target, DraftModel(draft))
    with Engine(load, tmp_path) as engine:
        _, live = engine.ask(TEXT, strategy="draft", n=20)
    assert len(list(tmp_path.iterdir())) == 2
    with Engine(load, tmp_path) as later:
        warm, reply = later.ask(TEXT, strategy="draft", n=20)
        assert (warm.warm, warm.n_reused) == ("disk", len(TEXT) - 1)
        assert reply.tokens == live.tokens


def test_states_of_other_settings_or_models_are_not_used(tmp_path: Path) -> None:
    copy, folder = tmp_path / "model.gguf", tmp_path / "states"
    copy.write_bytes(Path(model().path).read_bytes())
    own = replace(model(flash_attn="on"), path=str(copy))

    def n_reused(params: ModelParams) -> int:
        with Engine(LoadPair(params, None), folder) as engine:
            return engine.ask(TEXT)[0].n_reused

    assert n_reused(own) == 0
    for other in (
        model(kv_type_k="q8_0", kv_type_v="q8_0", flash_attn="on"),
        model(n_gpu_layers=0, flash_attn="off"),
        replace(model(), n_ctx=1792),
        model("tiny-bos"),
    ):
        assert n_reused(other) == 0, other
    assert n_reused(own) == len(TEXT) - 1
    with copy.open("r+b") as file:  # a model of the same size that begins alike
        file.seek(-1, 2)
        file.write(b"\1")
    assert n_reused(own) == 0


def test_a_damaged_file_is_read_again_and_reported_once(
    tmp_path: Path,
    trials: Trials,
    allow_warnings: Callable[[str], None],
    caplog: pytest.LogCaptureFixture,
) -> None:
    allow_warnings("a stored state is damaged")
    with Engine(LoadPair(model(), None), tmp_path) as engine:
        _, whole = engine.ask(TEXT)
        of_text = files(tmp_path)
        n_block = max(file.stat().st_size for file in of_text)
    with Engine(LoadPair(model(), None), tmp_path, n_block + 1) as engine:  # files alone
        for _ in trials(12, 1000):
            engine.ask(OTHER, "b")  # in memory and context, too
            file = CHANCE.choice([file for file in of_text if file.exists()])
            data = bytearray(file.read_bytes())
            place = CHANCE.randrange(len(data))
            if CHANCE.random() < 0.5:
                data[place] ^= 1 << CHANCE.randrange(8)
            else:
                del data[place:]
            file.write_bytes(data)
            caplog.clear()
            started, reply = engine.ask(TEXT)
            assert started.n_reused < len(TEXT) - 1
            assert reply.tokens == whole.tokens
            assert len(caplog.records) == 1
            engine.ask(OTHER, "b")
            assert engine.ask(TEXT)[0].n_reused >= len(TEXT) - 250, "it was written anew"


def test_a_kill_while_states_are_written_costs_warmth_alone(
    tmp_path: Path, trials: Trials, allow_warnings: Callable[[str], None]
) -> None:
    """Kill at random moments; a file that is not whole would be reported as damaged and fail."""
    allow_warnings("from outside")
    with Engine(LoadPair(model(), None), tmp_path) as engine:
        began = time.monotonic()
        _, expected = engine.ask(TEXT)
        seconds = time.monotonic() - began
        for i in trials(3, 100):
            text = (300 + i, *TEXT[1:])
            killer = threading.Timer(CHANCE.uniform(0, 1.2 * seconds), engine.kill)
            killer.start()
            engine.client.request(engine.turn(text))
            killer.join()
            engine.load(2)
            engine.ask(text)
            engine.ask((1, 2, 3), "b")
            assert engine.ask(text)[0].n_reused == len(text) - 1
        assert engine.ask(TEXT)[1].tokens == expected.tokens


def test_a_deleted_chat_leaves_nothing(tmp_path: Path) -> None:
    common, ends = TEXT[:512], (TEXT[512:], OTHER[512:])
    with Engine(LoadPair(model(), None), tmp_path) as engine:
        for owner, end in zip("ab", ends, strict=True):
            engine.ask((*common, *end), owner)
        engine.client.request(DropStates(("a",), str(tmp_path)))
        assert engine.ask((*common, *ends[0], 1), "c")[0].n_reused == 512
        engine.client.request(DropStates(("c",), str(tmp_path)))
    assert has(tmp_path, common[:16])
    assert has(tmp_path, ends[1][:16])
    assert not any(has(tmp_path, ends[0][n : n + 16]) for n in range(0, 600, 16))
    with Engine(LoadPair(model(), None), tmp_path) as later:
        assert later.ask((*common, *ends[1]), "b")[0].n_reused == 1199
        later.client.request(DropStates((), str(tmp_path)))
        assert not files(tmp_path)
        assert later.ask((*common, *ends[1]), "b")[0].n_reused == 0


def test_the_end_waits_for_what_is_to_be_written_and_no_longer(tmp_path: Path) -> None:
    with Engine(LoadPair(model(), None), tmp_path) as engine:
        engine.ask(TEXT[:900])  # too short to be written at once
        assert not files(tmp_path)
        assert engine.client.close()
        assert len(files(tmp_path)) == 4
