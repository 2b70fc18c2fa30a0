"""What the engine's process is like, and what the window's process is spared."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from hosting.engines import Host
from paceline.messages import TurnFinished

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
SECRETS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HUGGINGFACEHUB_API_TOKEN")


@pytest.fixture(scope="module")
def host(demo_pair: tuple[Path, Path]) -> Iterator[Host]:
    with pytest.MonkeyPatch.context() as patch:
        for name in SECRETS:
            patch.setenv(name, "hf_secret")
        with Host("process", demo_pair) as host:
            host.must_load()
            yield host


@pytest.fixture
def proc(host: Host) -> Path:
    return Path("/proc") / str(host.service.pid)


def test_memory_that_runs_out_costs_this_process_first(proc: Path) -> None:
    assert (proc / "oom_score_adj").read_text().strip() == "800"


def test_there_are_no_core_dumps_of_a_models_size(proc: Path) -> None:
    (line,) = [x for x in (proc / "limits").read_text().splitlines() if "core file" in x]
    assert line.split()[4:6] == ["0", "0"]


@pytest.mark.parametrize("number", [0, 1, 2])
def test_the_standard_streams_are_its_own(proc: Path, number: int) -> None:
    mine = (proc / "fd" / str(number)).readlink()
    if number == 0:
        assert mine == Path("/dev/null")
    else:
        assert mine != Path(f"/proc/self/fd/{number}").readlink()
        assert str(mine).startswith(tempfile.gettempdir())
        assert not mine.exists()  # nothing is left of it, whoever is killed


def test_ctrl_c_is_for_the_window(proc: Path, host: Host) -> None:
    status = dict(x.split(":\t", 1) for x in (proc / "status").read_text().splitlines())
    assert int(status["SigIgn"], 16) >> (signal.SIGINT - 1) & 1
    assert not int(status["SigBlk"], 16) >> (signal.SIGINT - 1) & 1
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


def test_secrets_are_not_in_its_environment(proc: Path) -> None:
    names = {line.partition(b"=")[0] for line in (proc / "environ").read_bytes().split(b"\0")}
    assert b"PATH" in names
    assert not {name.encode() for name in SECRETS} & names


def test_what_is_printed_there_is_seen_by_nobody(
    host: Host, capfd: pytest.CaptureFixture[str]
) -> None:
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


def test_it_ends_with_its_parent(demo_pair: tuple[Path, Path]) -> None:
    script = """
        import sys, time
        import psutil
        from paceline.hosting.threaded import ThreadedClient, service_factory
        from paceline.messages import DescribeEngine

        if __name__ == "__main__":
            client = ThreadedClient(service_factory("process"))
            client.request(DescribeEngine()).wait()
            (engine,) = psutil.Process().children()
            print(engine.pid, flush=True)
            time.sleep(600)
    """
    parent = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True
    )
    watch = threading.Timer(60, parent.kill)
    watch.start()
    with parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
    watch.cancel()
    began = time.monotonic()
    while child.is_running() and child.status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() - began < 5
        time.sleep(0.01)
