"""The fixtures of conftest.py catch what they are for."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent


def outcome(folder: Path, body: str) -> str:
    """Run a test with this body under a copy of conftest.py; returns pytest's output."""
    shutil.copy(TESTS / "conftest.py", folder / "conftest.py")
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    (folder / "test_example.py").write_text(f"def test_it(allow_warnings, tmp_path):\n{lines}\n")
    config = TESTS.parent / "pyproject.toml"
    done = subprocess.run(
        [
            sys.executable, "-m", "pytest", "-c", str(config), f"--rootdir={folder}", "-q",
            "-p", "no:cacheprovider", str(folder),
        ],
        env={**os.environ, "PYTHONPATH": str(TESTS.parent / "app")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )  # fmt: skip
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (
            "import threading, time\n"
            "threading.Thread(target=time.sleep, args=(5,), name='leaked').start()",
            "threads are still running: ['leaked']",
        ),
        (
            "import multiprocessing, time\n"
            "process = multiprocessing.get_context('spawn').Process(\n"
            "    target=time.sleep, args=(60,))\n"
            "process.start()",
            "processes were still running: [",
        ),
        (
            "import logging\nlogging.getLogger('paceline.x').warning('odd')",
            "unexpected warnings in the log",
        ),
        (
            "import socket\ntry:\n    socket.create_connection(('192.0.2.1', 80), 1)\n"
            "except OSError:\n    pass",
            "NetworkUsedError",
        ),
        ("import warnings\nwarnings.warn('old', DeprecationWarning)", "DeprecationWarning: old"),
    ],
)
def test_a_bad_test_fails(tmp_path: Path, body: str, complaint: str) -> None:
    text = outcome(tmp_path, body)
    assert complaint in text, text


def test_a_good_test_passes(tmp_path: Path) -> None:
    body = """\
import logging, os, socket, threading
allow_warnings("expected")
logging.getLogger("paceline.x").warning("expected")
logging.getLogger("paceline.x").info("fine")
thread = threading.Thread(target=print)
thread.start()
thread.join()
server = socket.create_server(("127.0.0.1", 0))
socket.create_connection(server.getsockname()).close()
server.close()
assert os.environ["PACELINE_HOME"].startswith(str(tmp_path))
assert os.environ["QT_QPA_PLATFORM"] == "offscreen"
"""
    text = outcome(tmp_path, body)
    assert "1 passed" in text, text
