"""Programs whose engine is stopped, and those that are stopped or killed themselves."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from hosting.halted import go_on, halt
from hosting.observed import Host, is_gone
from paceline.hosting import supervisor

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/syscall").exists(), reason="reads Linux's /proc"
)

Pair = tuple[Path, Path]
TESTS = Path(__file__).parents[1]


def test_a_stopped_engine_does_not_keep_its_host_from_closing(demo_pair: Pair) -> None:
    host = Host(demo_pair)
    host.ready()
    pid = host.service.pid
    halt(pid)
    assert host.client.close()
    assert is_gone(pid, 1)


# --------------------------------------------------------------------------- the host's process


class Program:
    """`stand_alone` in a process of its own; its engine is slow, so that there is time to act."""

    def __init__(self, pair: Pair, order: Path, silent_s: float) -> None:
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

    def __enter__(self) -> Program:
        self.wait_for_engine()
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()


def finished(lines: list[Any]) -> str:
    """Return the text of a program that came to its end."""
    assert not [line for line in lines if line.get("event") == "EngineDied"]
    assert lines[-1] == {"event": "closed"}
    (text,) = (line["text"] for line in lines if "text" in line)
    return str(text)


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("who", ["both", "the host"])
def test_a_host_that_is_stopped_does_not_blame_the_engine(
    who: str, demo_pair: Pair, tmp_path: Path, whole: str, is_long: bool
) -> None:
    """Stop the host as Ctrl+Z or a debugger does."""
    limit_s = supervisor.SILENT_S if is_long else 1.0
    with Program(demo_pair, tmp_path / "order", limit_s) as program:
        program.wait_for_steps(10)
        stopped = [program.process.pid] + [program.engine] * (who == "both")
        for pid in stopped:
            halt(pid)
        time.sleep(limit_s + 1)
        for pid in reversed(stopped):
            go_on(pid)
        assert whole.startswith(finished(program.rest()))


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
    for _ in range(40 if is_long else 2):
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
