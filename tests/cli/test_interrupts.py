"""Ctrl+C and readers that go away."""

from __future__ import annotations

import json
import signal
import sys
import time

import pytest

from cli.program import TIMEOUT_S, read_start, running

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals work differently there")

ENDLESS = ("chat", "--prompt", "Hi", "--ignore-eog", "--max-tokens", "1900", "--seed", "1")


def test_the_first_ctrl_c_ends_the_reply_and_keeps_it() -> None:
    with running(*ENDLESS, "--json") as process:
        lines = [read_start(process) for _ in range(5)]
        pressed = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=TIMEOUT_S)
        assert time.monotonic() - pressed < 20
    assert process.returncode == 130
    assert err == ""
    *steps, last = [json.loads(line) for line in [*lines, *out.splitlines()]]
    assert last["event"] == "finished"
    assert last["reason"] == "cancelled"
    tokens = [token for step in steps for token in step["tokens"]]
    assert last["tokens"] == tokens
    assert 0 < len(tokens) < 1900


@pytest.mark.grid(short=4)
@pytest.mark.parametrize("delay_s", [0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4])
def test_ctrl_c_at_any_moment(delay_s: float) -> None:
    # While the interpreter itself is starting, the signal would meet Python's own handler.
    wait_for_start = (
        "import sys\nimport paceline.cli.main as cli\nfrom paceline.__main__ import main\n"
        "run = cli.run\n"
        "def tell(*given):\n    print('started', flush=True)\n    return run(*given)\n"
        "cli.run = tell\nsys.exit(main(sys.argv[1:]))"
    )
    command = (sys.executable, "-c", wait_for_start)
    with running(*ENDLESS, "--json", command=command) as process:
        assert read_start(process) == "started\n"
        time.sleep(delay_s)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 130
    assert "Traceback" not in err


def test_a_second_ctrl_c_ends_the_program_at_once() -> None:
    with running(*ENDLESS, environ={"PYTHONUNBUFFERED": "1"}) as process:
        assert process.stdout is not None
        process.stdout.read(1)
        for _ in range(5):
            process.send_signal(signal.SIGINT)
        process.communicate(timeout=5)
    assert process.returncode == 130


def test_one_that_comes_while_python_takes_itself_down_changes_nothing() -> None:
    code = (
        "import os, signal, sys, time\n"
        "from paceline.cli.output import Interrupts\n"
        "def press():\n    os.kill(os.getpid(), signal.SIGINT)\n"
        "class Late:\n    press = staticmethod(press)\n"
        "    def __del__(self):\n        self.press()\n        print('late', flush=True)\n"
        "with Interrupts() as interrupts:\n    press()\n"
        "    while not interrupts.hit:\n        time.sleep(0.01)\n"
        "late = Late()\nsys.exit(130)"
    )
    with running(command=(sys.executable, "-c", code)) as process:
        out, err = process.communicate(timeout=TIMEOUT_S)
    assert (process.returncode, out, err) == (130, "late\n", "")


@pytest.mark.parametrize("mode", [[], ["--json"]])
def test_a_reader_that_has_seen_enough(mode: list[str]) -> None:
    with running(*ENDLESS, *mode) as process:
        assert process.stdout is not None
        process.stdout.read(1)
        process.stdout.close()
        assert process.stderr is not None
        err = process.stderr.read()
        began = time.monotonic()
        process.wait(TIMEOUT_S)
        assert time.monotonic() - began < 20
    assert process.returncode == 0
    assert "Traceback" not in err
    assert "BrokenPipe" not in err


def test_help_for_a_reader_that_has_gone() -> None:
    with running("chat", "--help") as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()
