"""The fixtures of conftest.py catch what they are for."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

TESTS = Path(__file__).resolve().parent

BAD = {
    "thread": (
        "import threading, time\n"
        "threading.Thread(target=time.sleep, args=(3,), name='leaked').start()",
        "threads are still running: ['leaked']",
    ),
    "process": (
        "import operator, paceline\n"
        "from paceline.workers.process import ChildProcess, Language\n"
        "listen = operator.methodcaller('recv', 1)\n"
        "paceline.left = ChildProcess(listen, Language('x', bytes, bytes))",
        "processes were still running: [",
    ),
    "log": (
        "import logging\nlogging.getLogger('paceline.x').warning('odd')",
        "unexpected warnings in the log",
    ),
    "network": (
        "import socket\ntry:\n    socket.create_connection(('192.0.2.1', 80), 1)\n"
        "except OSError:\n    pass",
        "NetworkUsedError",
    ),
    "warning": ("import warnings\nwarnings.warn('old', DeprecationWarning)", "DeprecationWarning"),
}
GOOD = """\
import logging, os, socket, threading
from pathlib import Path
allow_warnings("expected")
logging.getLogger("paceline.x").warning("expected")
logging.getLogger("paceline.x").info("fine")
thread = threading.Thread(target=print)
thread.start()
thread.join()
server = socket.create_server(("127.0.0.1", 0))
socket.create_connection(server.getsockname()).close()
server.close()
assert Path(os.environ["PACELINE_HOME"]).parent == tmp_path.parent
assert os.environ["QT_QPA_PLATFORM"] == "offscreen"
"""


@pytest.fixture(scope="module")
def complaints(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the complaint about each test in a run under the real conftest.py, "" if it passed.

    A good test stands before and after the bad ones: no complaint is about another test.
    """
    folder = tmp_path_factory.mktemp("net")
    for file in ("conftest.py", "shared_reader.py"):
        shutil.copy(TESTS / file, folder)
    text = ""
    for name, body in {
        "good": GOOD,
        **{k: v[0] for k, v in BAD.items()},
        "still_good": GOOD,
    }.items():
        lines = "\n".join(f"    {line}" for line in body.splitlines())
        text += f"def test_{name}(allow_warnings, tmp_path):\n{lines}\n\n"
    (folder / "test_example.py").write_text(text)
    report = folder / "report.xml"
    done = subprocess.run(
        [
            sys.executable, "-m", "pytest", "-c", str(TESTS.parent / "pyproject.toml"),
            f"--rootdir={folder}", "-q", "-p", "no:cacheprovider", f"--junitxml={report}",
            str(folder),
        ],
        env={**os.environ, "PYTHONPATH": str(TESTS.parent / "app")},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    found: dict[str, str] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        faults = (*case.iter("failure"), *case.iter("error"))
        told = "".join(f"{fault.get('message')}\n{fault.text}" for fault in faults)
        name = case.get("name", "").removeprefix("test_")
        found[name] = found.get(name, "") + told
    return found


@pytest.mark.parametrize("name", BAD)
def test_a_bad_test_fails(complaints: dict[str, str], name: str) -> None:
    assert BAD[name][1] in complaints[name], complaints[name]


@pytest.mark.parametrize("name", ["good", "still_good"])
def test_a_good_test_passes(complaints: dict[str, str], name: str) -> None:
    assert complaints[name] == ""
