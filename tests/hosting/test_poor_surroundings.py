"""Programs that start the engine's process where something ordinary is missing."""

from __future__ import annotations

import errno
import gc
import selectors
import socket
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from hosting.children import obedient, scripted
from paceline.hosting.wire import engine_language
from paceline.workers.process import ChildProcess

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX's descriptors and folders")

ASK = """
    import os, sys
    {first}
    from paceline.hosting.threaded import ThreadedClient, service_factory
    from paceline.messages import DescribeEngine

    if __name__ == "__main__":
        client = ThreadedClient(service_factory("process"))
        answer = client.request(DescribeEngine()).wait()
        client.close()
        with open(sys.argv[1], "w") as file:
            file.write(" ".join([type(answer).__name__, getattr(answer, "reason", "")]))
"""


@pytest.fixture
def ask(tmp_path: Path) -> Callable[..., str]:
    """Runs a program that asks the engine what it is; gives the answer's type."""

    def run(first: str = "", **options: object) -> str:
        answer = tmp_path / "answer"
        subprocess.run(
            [sys.executable, "-c", textwrap.dedent(ASK.format(first=first)), str(answer)],
            timeout=60, check=True, **options,
        )  # type: ignore[call-overload]  # fmt: skip
        return answer.read_text()

    return run


@pytest.mark.parametrize(
    "closed",
    [
        *[pytest.param(each, marks=pytest.mark.long) for each in ((), (0,), (0, 1), (1, 2))],
        (0, 1, 2),
    ],
    ids=str,
)
def test_a_program_without_streams_or_folders(
    ask: Callable[..., str], tmp_path: Path, closed: tuple[int, ...]
) -> None:
    """The current folder is gone, and there is none for temporary files."""
    folder = tmp_path / "soon gone"
    folder.mkdir()
    first = f"[os.close(number) for number in {closed}]; os.rmdir(os.getcwd())"
    first += "; import tempfile; tempfile.tempdir = '/nowhere'"
    assert ask(first, cwd=folder).split() == ["EngineDescribed"]


def refuse(*_: object, **__: object) -> None:
    raise OSError(errno.EMFILE, "Too many open files")


@pytest.mark.parametrize(
    ("where", "name"),
    [
        (socket, "socketpair"),
        (selectors, "DefaultSelector"),
        (subprocess, "_fork_exec"),
    ],
    ids=lambda part: getattr(part, "__name__", part),
)
def test_a_start_that_fails_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, where: object, name: str
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    me = psutil.Process()
    before = me.num_fds(), len(me.children())
    with monkeypatch.context() as patch:
        patch.setattr(where, name, refuse)
        with pytest.raises(OSError, match="Too many open files"):
            ChildProcess(scripted(obedient), engine_language())
    gc.collect()
    assert (me.num_fds(), len(me.children())) == before
    assert list(tmp_path.glob("*.txt")) == []


def test_what_is_printed_goes_into_a_file_without_a_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """So nothing is left of it when both processes are killed."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    child = ChildProcess(scripted(obedient), engine_language())
    assert not list(tmp_path.iterdir())
    child.kill()
