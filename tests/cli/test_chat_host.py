"""`paceline chat --host process`: the same as inline, and nothing is left of it in any case."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import psutil
import pytest

import make_pairs
from cli.program import (
    COMMAND,
    TIMEOUT_S,
    Result,
    assert_one_clear_line,
    paceline,
    paceline_process,
    read_start,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ENDLESS = ("--prompt", "Hi", "--ignore-eog", "--max-tokens", "1900", "--seed", "1")
SOON_S = 10.0
"""Ten times what a person is promised for Ctrl+C: the machine may be busy."""

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals work differently there")


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of temporary files, empty again after every test."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    for name in ("TMPDIR", "TEMP", "TMP"):
        monkeypatch.setenv(name, str(folder))
    yield folder
    assert [path.name for path in folder.iterdir()] == []


def chat(host: str, *arguments: str | Path) -> Result:
    """The output of a host; the one without a process is the reference, and runs in this one."""
    run = paceline_process if host == "process" else paceline
    return run("chat", "--host", host, "--threads", "1", *arguments)


class Running:
    """`paceline chat --host process` under way, in a process group of its own."""

    def __init__(self, *arguments: str, sees_progress: bool = False) -> None:
        self._terminal, stderr = os.openpty() if sees_progress else (-1, subprocess.PIPE)
        self.process = subprocess.Popen(
            [*COMMAND, "chat", "--host", "process", *arguments],
            stdout=subprocess.PIPE,
            stderr=stderr,
            encoding="utf-8",
            start_new_session=True,
        )
        if sees_progress:
            os.close(stderr)
        self.family: list[psutil.Process] = []

    def read(self, n: int) -> str:
        return read_start(self.process, n)

    def line(self) -> str:
        return read_start(self.process)

    def wait_for_progress(self, text: str) -> None:
        seen = ""
        while text not in seen:
            seen += os.read(self._terminal, 1 << 12).decode(errors="replace")

    def engine(self) -> psutil.Process:
        """The engine's process; notes everything that must be gone at the end."""
        self.family = psutil.Process(self.process.pid).children(recursive=True)
        (engine,) = (p for p in self.family if "paceline-engine" in p.cmdline())
        return engine

    def press_ctrl_c(self) -> float:
        """Send the signal to the whole group, as a terminal does."""
        with suppress(psutil.Error, ValueError):  # there may be no engine yet
            self.engine()
        os.killpg(self.process.pid, signal.SIGINT)
        return time.monotonic()

    def finish(self) -> Result:
        out, err = self.process.communicate(timeout=TIMEOUT_S)
        return Result(self.process.returncode, out, err or "")

    def assert_nothing_is_left(self) -> None:
        _, alive = psutil.wait_procs(self.family, timeout=SOON_S)
        assert alive == []

    def close(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()
        if self._terminal >= 0:
            os.close(self._terminal)


@contextmanager
def running(*arguments: str, sees_progress: bool = False) -> Iterator[Running]:
    run = Running(*arguments, sees_progress=sees_progress)
    try:
        yield run
    finally:
        run.close()


def without_times(line: dict[str, Any]) -> dict[str, Any]:
    """A JSON line without what differs between two runs on one machine."""
    if line["event"] == "step":
        return {key: value for key, value in line.items() if not key.endswith("_s")}
    kept = ("n_prompt", "n_generated", "n_steps", "n_drafted", "n_accepted", "n_discarded")
    stats = {key: line["stats"][key] for key in kept}
    return {**line, "stats": stats}


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("strategy", ["draft:n_max=4:p_min=0", "off"])
def test_every_token_and_its_source_are_those_of_inline(strategy: str) -> None:
    arguments = ("--json", "--prompt", "What is a list?", "--seed", "5", "--max-tokens", "60")
    inline, process = (
        chat(host, *arguments, "--strategy", strategy) for host in ("inline", "process")
    )
    assert process.code == 0
    assert process.err == ""
    assert list(map(without_times, process.objects)) == list(map(without_times, inline.objects))
    assert len(process.finished["tokens"]) > 10


def assert_lines(text: str, n: int) -> None:
    assert len(text.splitlines()) == n, text


# ------------------------------------------------------------------------------------- Ctrl+C


@posix
@pytest.mark.parametrize("stage", ["Loading the target", "Reading "])
def test_ctrl_c_before_the_reply(stage: str, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens.json"
    tokens.write_text(json.dumps([1 + i % 4000 for i in range(2000)]))
    slow = str(make_pairs.path("twin-70m"))  # it reads for longer than the line waits to be shown
    arguments = (
        "--prompt-tokens", str(tokens), "--threads", "1", "--max-tokens", "2",
        "--target", slow,
    )  # fmt: skip
    with running(*arguments, sees_progress=True) as run:
        run.wait_for_progress(stage)
        pressed = run.press_ctrl_c()
        result = run.finish()
        assert time.monotonic() - pressed < SOON_S
        run.assert_nothing_is_left()
    assert result.code == 130
    assert result.out.strip() == "", "the reply had not begun"


@posix
def test_ctrl_c_while_the_engine_starts() -> None:
    with running(*ENDLESS) as run:
        deadline = time.monotonic() + SOON_S
        while time.monotonic() < deadline:
            with suppress(psutil.Error, ValueError):  # there is none yet
                run.engine()
                break
        run.press_ctrl_c()
        result = run.finish()
        run.assert_nothing_is_left()
    assert result.code == 130
    assert result.out == ""
    # The process that reads the file's header may be there before the engine's.
    told = {"paceline: Stopped.\n", "paceline: Stopped before the reply began.\n"}
    assert result.err in told, "no process tells anything itself"


@posix
def test_ctrl_c_in_the_reply_keeps_it() -> None:
    with running(*ENDLESS) as run:
        start = run.read(20)
        pressed = run.press_ctrl_c()
        result = run.finish()
        assert time.monotonic() - pressed < SOON_S
        run.assert_nothing_is_left()
    assert result.code == 130
    inline = chat("inline", *ENDLESS[:-4], "--max-tokens", "30", "--seed", "1")
    assert (start + result.out).startswith(inline.out[:20])
    assert result.out.endswith("\n")
    assert_lines(result.err, 1)
    assert result.err.rstrip().endswith("ended by cancelled")


@posix
def test_a_second_ctrl_c_leaves_nothing_either() -> None:
    with running(*ENDLESS) as run:
        run.read(1)
        for _ in range(5):
            run.press_ctrl_c()
        result = run.finish()
        run.assert_nothing_is_left()
    assert result.code == 130


@posix
@pytest.mark.grid(short=1)
@pytest.mark.parametrize("mode", [[], ["--json"]])
def test_a_reader_that_has_seen_enough(mode: list[str]) -> None:
    with running(*ENDLESS, *mode) as run:
        run.read(1)
        run.engine()
        assert run.process.stdout is not None
        assert run.process.stderr is not None
        run.process.stdout.close()
        assert run.process.stderr.read() == ""
        assert run.process.wait(SOON_S) == 0
        run.assert_nothing_is_left()


# -------------------------------------------------------------------------------------- deaths


@posix
def test_a_killed_engine_costs_the_rest_of_the_reply() -> None:
    with running(*ENDLESS) as run:
        start = run.read(40)
        run.engine().kill()
        result = run.finish()
        run.assert_nothing_is_left()
    assert result.code == 1
    inline = chat("inline", *ENDLESS[:-4], "--max-tokens", "60", "--seed", "1")
    assert (start + result.out).startswith(inline.out[:40])
    assert_one_clear_line(result, "ended from outside", "Run the command again.")


@posix
def test_a_killed_program_takes_its_engine_along() -> None:
    with running(*ENDLESS) as run:
        run.read(20)
        run.engine()
        run.process.kill()
        run.process.wait(SOON_S)
        run.assert_nothing_is_left()
