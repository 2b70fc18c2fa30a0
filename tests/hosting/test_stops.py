"""Processes that are stopped for a while or for good, and what is left of them."""

import functools
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from hosting.halted import go_on, halt, halt_in_decode
from hosting.observed import Host, finished_text, is_gone, only_death, text_of
from hosting.sabotage import broken, impatient
from paceline.hosting import supervisor
from paceline.messages import Event, StepCommitted

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/syscall").exists(), reason="reads Linux's /proc"
)

Pair = tuple[Path, Path]
TESTS = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def _outputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, allow_warnings: Callable[[str], None]
) -> Iterator[None]:
    allow_warnings("engine")
    folder = tmp_path / "outputs"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    yield
    assert not list(folder.iterdir())


class Stopper:
    """Stops the engine's process in a decode at step 20, and lets it go on when told to."""

    def __init__(self, host: Host, go_on_after_s: float | None = None) -> None:
        self._host = host
        self._go_on_after_s = go_on_after_s
        self.stopped_at = 0.0
        host.hear = self._hear

    def _hear(self, event: Event) -> None:
        if isinstance(event, StepCommitted) and event.step >= 20 and not self.stopped_at:
            pid = self._host.service.pid
            assert halt_in_decode(pid)
            self.stopped_at = time.monotonic()
            if self._go_on_after_s is not None:
                threading.Timer(self._go_on_after_s, go_on, (pid,)).start()


def test_an_engine_that_is_stopped_for_good(
    demo_pair: Pair, monkeypatch: pytest.MonkeyPatch, is_long: bool
) -> None:
    limit_s = supervisor.SILENT_S if is_long else 1.0
    monkeypatch.setattr(supervisor, "SILENT_S", limit_s)
    with Host(demo_pair) as host:
        host.ready()
        whole = finished_text(host.reply())
        host.ready()
        pid = host.service.pid
        stopper = Stopper(host)
        events = host.reply()
        # It may have been silent for half a second already.
        assert limit_s - 0.5 <= host.told[-1][0] - stopper.stopped_at < 10
        death = only_death(events)
        assert f"has not answered for {limit_s:.0f} seconds" in death.reason
        assert whole.startswith(text_of(events))
        assert is_gone(pid, 0.1)
        host.ready()
        assert finished_text(host.reply()) == whole


def test_an_engine_that_is_stopped_for_less_than_the_limit(demo_pair: Pair) -> None:
    with Host(demo_pair) as host:
        host.ready()
        whole = finished_text(host.reply())
        host.ready()
        stopper = Stopper(host, go_on_after_s=2.0)
        assert finished_text(host.reply()) == whole
        assert time.monotonic() - stopper.stopped_at >= 2.0


def test_a_stopped_engine_does_not_keep_its_host_from_closing(demo_pair: Pair) -> None:
    host = Host(demo_pair)
    host.ready()
    pid = host.service.pid
    halt(pid)
    began = time.monotonic()
    assert host.client.close()
    assert time.monotonic() - began < 5
    assert is_gone(pid, 0.1)


# --------------------------------------------------------------------------- the host's process


class Program:
    """`stand_alone` in a process of its own; its engine is slow, so that there is time to act."""

    def __init__(self, pair: Pair, order: Path, silent_s: float) -> None:
        order.touch()
        env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent / "app")])}
        arguments = [*map(str, pair), str(silent_s), str(order)]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "hosting.stand_alone", *arguments],
            stdout=subprocess.PIPE, text=True, env=env,
        )  # fmt: skip

    def wait_for_engine(self) -> None:
        self.engine: int = self.next()["engine"]

    def next(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def wait_for_steps(self, n: int) -> None:
        while n:
            n -= self.next()["event"] == "StepCommitted"

    def rest(self) -> list[Any]:
        out, _ = self.process.communicate(timeout=60)
        return [json.loads(line) for line in out.splitlines()]

    def __enter__(self) -> "Program":
        self.wait_for_engine()
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()


def finished(lines: list[Any]) -> str:
    """The text of a program that came to its end, of which nothing is left."""
    assert not [line for line in lines if line.get("event") == "EngineDied"]
    assert lines[-1] == {"event": "closed"}
    (text,) = (line["text"] for line in lines if "text" in line)
    return str(text)


def test_a_program_that_nobody_disturbs(demo_pair: Pair, tmp_path: Path) -> None:
    with Program(demo_pair, tmp_path / "order", 1.0) as program:
        program.wait_for_steps(10)
        helpers = psutil.Process(program.process.pid).children(recursive=True)
        assert program.engine in {helper.pid for helper in helpers}
        text = finished(program.rest())
        for helper in helpers:
            assert is_gone(helper.pid, 2)
    with Host(demo_pair) as host:
        host.ready()
        assert finished_text(host.reply(max_tokens=80)) == text


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("who", ["both", "the host"])
def test_a_host_that_is_stopped_does_not_blame_the_engine(
    who: str, demo_pair: Pair, tmp_path: Path, is_long: bool
) -> None:
    """As by Ctrl+Z, or a debugger."""
    limit_s = supervisor.SILENT_S if is_long else 1.0
    with Program(demo_pair, tmp_path / "order", limit_s) as program:
        program.wait_for_steps(10)
        stopped = [program.process.pid] + [program.engine] * (who == "both")
        for pid in stopped:
            halt(pid)
        time.sleep(limit_s + 1)
        for pid in reversed(stopped):
            go_on(pid)
        text = finished(program.rest())
    with Host(demo_pair) as host:
        host.ready()
        assert finished_text(host.reply(max_tokens=80)) == text


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("is_stopped", [True, False], ids=["stopped", "running"])
def test_no_engine_outlives_its_host(is_stopped: bool, demo_pair: Pair, tmp_path: Path) -> None:
    with Program(demo_pair, tmp_path / "order", 60.0) as program:
        program.wait_for_steps(10)
        helpers = psutil.Process(program.process.pid).children(recursive=True)
        if is_stopped:
            halt(program.engine)
        else:
            time.sleep(0.1)
        assert not is_gone(program.engine, 0.1)
        program.process.kill()
        program.process.wait()
        assert is_gone(program.engine, 2)
        for helper in helpers:
            assert is_gone(helper.pid, 2)


def test_no_engine_outlives_a_host_that_is_killed_while_it_starts(
    demo_pair: Pair, tmp_path: Path, is_long: bool
) -> None:
    rng = random.Random(3)
    n_engines = 0
    for _ in range(40 if is_long else 3):
        program = Program(demo_pair, tmp_path / "order", 60.0)
        host = psutil.Process(program.process.pid)
        while not host.children():
            time.sleep(0.005)
        time.sleep(rng.random() * 0.4)
        halt(host.pid)  # so that nothing is born between the look and the kill
        helpers = host.children(recursive=True)
        n_engines += sum("paceline-engine" in helper.cmdline() for helper in helpers)
        program.process.kill()
        program.process.communicate()
        for helper in helpers:
            assert is_gone(helper.pid, 3)
    assert n_engines > 0


# ------------------------------------------------------------------------------- a long decode


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("is_stopped", [True, False], ids=["stopped", "running"])
def test_a_stop_makes_no_decode_longer(
    is_stopped: bool, demo_pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One takes half of its limit; the stop in the midst of it takes longer than the whole."""
    monkeypatch.setattr(supervisor, "SILENT_S", 60.0)
    order = tmp_path / "order"
    order.touch()
    main = functools.partial(impatient, 2.0, broken("crawl", order, 1.0, 1, at=7))
    with Host(demo_pair, main) as host:
        host.ready()
        stops = iter([is_stopped])

        def stop(event: Event) -> None:
            if isinstance(event, StepCommitted) and event.step == 5 and next(stops):
                pid = host.service.pid
                time.sleep(0.2)  # well within the slow decode
                halt(pid)
                time.sleep(3.0)
                go_on(pid)

        host.hear = stop
        finished_text(host.reply(max_tokens=40))
        assert not order.exists()
        assert next(stops, None) is None


def test_a_decode_that_never_ends(demo_pair: Pair, tmp_path: Path) -> None:
    order = tmp_path / "order"
    order.touch()
    main = functools.partial(impatient, 1.0, broken("crawl", order, 1000.0, 1, at=30))
    with Host(demo_pair, main) as host:
        host.ready()
        began = time.monotonic()
        assert "A computation of the engine hangs" in only_death(host.reply()).reason
        assert time.monotonic() - began < 20
        host.ready()
        finished_text(host.reply())
