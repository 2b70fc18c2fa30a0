"""The engine's process beside the window's; `tests/workers` says what is true of each child."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from hosting.engines import Host
from paceline.messages import TurnFinished

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@pytest.fixture(scope="module")
def host(demo_pair: tuple[Path, Path]) -> Iterator[Host]:
    with Host("process", demo_pair) as host:
        host.must_load()
        yield host


@pytest.fixture
def proc(host: Host) -> Path:
    return Path("/proc") / str(host.service.pid)


def test_ctrl_c_is_for_the_window(host: Host) -> None:
    os.kill(host.service.pid, signal.SIGINT)
    assert isinstance(host.turn(prompt="hello", max_tokens=4, strategy="off"), TurnFinished)


def test_qt_is_not_in_it(proc: Path) -> None:
    maps = (proc / "maps").read_text()
    assert "libllama" in maps  # so this is the right process
    for name in ("PySide6", "libQt6", "shiboken"):
        assert name not in maps


def test_it_holds_nothing_of_the_window_open(proc: Path, host: Host) -> None:
    kinds = sorted(str(fd.readlink()).split(":")[0] for fd in (proc / "fd").iterdir())
    sockets = [kind for kind in kinds if kind == "socket"]
    children = psutil.Process(host.service.pid).children()
    assert len(sockets) == 1 + len(children)  # its end of the pipe, and one for each of its own


def test_what_is_printed_there_is_not_seen(host: Host, capfd: pytest.CaptureFixture[str]) -> None:
    host.must_load()
    out, err = capfd.readouterr()
    assert (out, err) == ("", "")


def test_the_windows_process_never_loads_the_native_library() -> None:
    """A fresh one, since other tests here run the engine in this process."""
    script = """
        import sys
        from pathlib import Path
        from paceline.hosting.threaded import ThreadedClient, service_factory
        from paceline.messages import *
        from paceline.paths import demo_pair

        def main():
            client = ThreadedClient(service_factory("process"))
            client.request(DescribeEngine())
            target, draft = (ModelParams(str(p), n_threads=1) for p in demo_pair())
            client.request(LoadPair(target, DraftModel(draft)))
            answer = client.request(StartTurn(RawText("hello"), max_tokens=8)).wait()
            assert isinstance(answer, TurnFinished), answer
            maps = Path("/proc/self/maps").read_text()
            client.request(Unload()).wait()
            assert client.close()
            for name in ("libllama", "libggml", "Qt6"):
                assert name not in maps, name
            assert "llama_cpp" not in sys.modules
            print("fine")

        if __name__ == "__main__":
            main()
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("fine\n", "")
