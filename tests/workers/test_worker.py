"""Contract of every kind of worker: a question that fails says why and harms no other one."""

from __future__ import annotations

import concurrent.futures
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest

import kernel_puppet
from hosting.observed import is_gone
from paceline.workers import start
from paceline.workers.frames import MAX_FRAME
from paceline.workers.process import ChildMain
from paceline.workers.worker import NoAnswerError, Trouble, Worker
from workers import faults
from workers.faults import DEATHS, HANGS, MEMORY, MEMORY_FAULTS, MORE_NONSENSE, NONSENSE, broken
from workers.kinds import ECHO, KINDS, Kind, prover

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX's signals")
LONG_S = 30.0
SHORT_S = 0.3
NAMES = (*KINDS, "prover")

pytestmark = posix
Hire = Callable[..., Worker[Any, Any]]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library that stands in for own kernels."""
    return kernel_puppet.compiled(tmp_path_factory.mktemp("library"))


@pytest.fixture(params=NAMES)
def kind(request: pytest.FixtureRequest) -> Kind:
    """Each kind of worker of the program, and a simple one for these tests."""
    if request.param == "prover":
        return prover(request.getfixturevalue("library"))
    return KINDS[request.param]()


@pytest.fixture
def hire() -> Iterator[Hire]:
    """Function that makes a worker, which is closed after the test."""
    with ExitStack() as stack:

        def make(kind: Kind, main: ChildMain | None = None, **limits: Any) -> Worker[Any, Any]:
            worker: Worker[Any, Any] = Worker(main or kind.main, kind.language, **limits)
            stack.callback(worker.close)
            return worker

        yield make


@pytest.fixture
def order(tmp_path: Path) -> Path:
    """Path of the file whose creation triggers the fault."""
    return tmp_path / "order"


def refused(worker: Worker[Any, Any], question: object, seconds: float = LONG_S) -> NoAnswerError:
    with pytest.raises(NoAnswerError) as refusal:
        worker.ask(question, seconds)
    return refusal.value


# ------------------------------------------------------------------------- faults at an answer


def costs_one_answer(
    hire: Hire, kind: Kind, fault: str, order: Path, *, seconds: float = LONG_S
) -> NoAnswerError:
    """Let a process fail at its first answer, and check that the next process answers."""
    worker = hire(kind, broken(kind.main, fault, order), memory=MEMORY)
    worker.start()  # so that `seconds` does not include the start
    order.touch()
    error = refused(worker, kind.question, seconds)
    assert worker.pid == 0
    assert kind.is_answered(worker.ask(kind.question, LONG_S))
    return error


@pytest.mark.grid(short=6)
@pytest.mark.parametrize("fault", DEATHS)
def test_a_death_costs_one_answer(hire: Hire, kind: Kind, fault: str, order: Path) -> None:
    error = costs_one_answer(hire, kind, fault, order)
    assert (error.trouble, error.words) == ("crashed", DEATHS[fault][1])
    assert str(error) == error.words
    assert error.end is not None


@pytest.mark.grid(short=3)
@pytest.mark.parametrize("fault", MEMORY_FAULTS)
def test_too_much_memory_costs_one_answer(hire: Hire, kind: Kind, fault: str, order: Path) -> None:
    assert costs_one_answer(hire, kind, fault, order).trouble == "out-of-memory"


@pytest.mark.grid(short=3)
@pytest.mark.parametrize("fault", HANGS)
def test_a_question_without_an_end_costs_one_answer(
    hire: Hire, kind: Kind, fault: str, order: Path
) -> None:
    error = costs_one_answer(hire, kind, fault, order, seconds=1.5)
    assert (error.trouble, error.words) == ("slow", "ran longer than 1.5 seconds")
    assert error.end is None


@pytest.mark.grid(short=6)
@pytest.mark.parametrize("fault", [*NONSENSE, *MORE_NONSENSE])
def test_a_malformed_answer_costs_one_answer(
    hire: Hire, kind: Kind, fault: str, order: Path
) -> None:
    if kind.takes_any_text and fault in MORE_NONSENSE:
        return
    error = costs_one_answer(hire, kind, fault, order)
    assert error.trouble == "nonsense"
    assert error.words.startswith("said nonsense: ")
    assert len(error.words) < 400


@pytest.mark.grid(short=3)
@pytest.mark.parametrize("fault", ["segfault", "lack memory", "twice"])
def test_a_question_is_asked_again_if_a_process_fails_that_answered_before(
    hire: Hire, kind: Kind, fault: str, order: Path
) -> None:
    worker = hire(kind, broken(kind.main, fault, order))
    worker.ask(kind.question, LONG_S)
    pid = worker.pid
    order.touch()
    assert kind.is_answered(worker.ask(kind.question, LONG_S))
    assert not order.exists(), "the fault was triggered"
    assert worker.pid != pid


def test_asks_again_false_asks_each_question_once(hire: Hire, order: Path) -> None:
    worker = hire(ECHO, broken(ECHO.main, "segfault", order), asks_again=False)
    worker.ask("one", LONG_S)
    order.touch()
    assert refused(worker, "two").trouble == "crashed"


def test_a_question_that_took_too_long_is_not_asked_again(hire: Hire, order: Path) -> None:
    worker = hire(ECHO, broken(ECHO.main, "hang", order))
    worker.ask("one", LONG_S)
    order.touch()
    assert refused(worker, "two", SHORT_S).trouble == "slow"


def test_deaths_leave_nothing_open(hire: Hire, order: Path) -> None:
    def strike(fault: str) -> None:
        worker = hire(ECHO, broken(ECHO.main, fault, order))
        order.touch()
        refused(worker, "hi", 1.0)
        worker.close()

    strike("exit")
    before = psutil.Process().num_fds(), len(psutil.Process().children())
    for fault in ("exit", "zeros", "hang"):
        strike(fault)
    assert (psutil.Process().num_fds(), len(psutil.Process().children())) == before


def test_a_question_that_is_too_large_costs_no_process(hire: Hire) -> None:
    worker = hire(ECHO)
    worker.ask("hi", LONG_S)
    pid = worker.pid
    assert refused(worker, "x" * (MAX_FRAME + 1)).trouble == "too-large"
    assert worker.ask("hi", LONG_S) == "hi"
    assert worker.pid == pid


# ----------------------------------------------------------------------------------- the start


@pytest.mark.parametrize(
    ("main", "trouble", "words"),
    [
        (faults.never_ready, "not-ready", "was not ready in time"),
        (
            faults.ends_at_once,
            "not-ready",
            "ended with exit code 1 (ImportError: libllama.so: cannot open shared object file)",
        ),
        ("workers.faults:is_not_there", "not-ready", "ended with exit code 1 (AttributeError: "),
        (faults.answers_unasked, "nonsense", "said nonsense: an answer before any question"),
    ],
    ids=["silent", "fails", "not there", "chatty"],
)
def test_a_process_that_does_not_get_ready_fails_the_question(
    hire: Hire, main: ChildMain, trouble: Trouble, words: str
) -> None:
    worker = hire(ECHO, main, start_s=SHORT_S if main is faults.never_ready else LONG_S)
    error = refused(worker, "hi")
    assert error.trouble == trouble
    assert error.words.startswith(words)
    assert worker.pid == 0


def test_a_process_that_cannot_be_started_fails_the_question(
    hire: Hire, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = hire(ECHO)
    with monkeypatch.context() as patch:
        patch.setattr(start.sys, "executable", "/nowhere/python")
        worker.start()
        error = refused(worker, "hi")
    assert (error.trouble, error.words) == ("not-started", "No such file or directory")
    assert worker.ask("hi", LONG_S) == "hi"


def test_a_question_uses_the_process_that_was_started_ahead(hire: Hire, tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    worker = hire(ECHO, partial(_counted, str(starts)))
    worker.start()
    worker.start()
    assert worker.ask("hi", LONG_S) == "hi"
    assert starts.read_text() == "x"


def _counted(starts: str, pipe: Any) -> None:
    with Path(starts).open("a") as file:
        file.write("x")
    assert callable(ECHO.main)
    ECHO.main(pipe)


# ------------------------------------------------------------------------------------- the end


def test_a_process_that_dies_between_two_questions_costs_no_answer(hire: Hire) -> None:
    worker = hire(ECHO)
    worker.ask("hi", LONG_S)
    process = psutil.Process(worker.pid)
    process.kill()
    while process.status() != psutil.STATUS_ZOMBIE:
        pass
    assert worker.ask("hi", LONG_S) == "hi"


def test_a_process_without_work_is_ended(hire: Hire) -> None:
    worker = hire(ECHO, idle_s=0.2)
    assert worker.ask("hi", LONG_S) == "hi"
    psutil.Process(worker.pid).wait(LONG_S)
    assert worker.ask("hi", LONG_S) == "hi"


def test_rest_ends_the_process_until_the_next_question(hire: Hire) -> None:
    worker = hire(ECHO)
    worker.rest()
    assert worker.ask("hi", LONG_S) == "hi"
    process = psutil.Process(worker.pid)
    worker.rest()
    process.wait(LONG_S)
    assert worker.ask("hi", LONG_S) == "hi"


def asked_in_threads(worker: Worker[Any, Any], n: int) -> tuple[list[threading.Thread], list[str]]:
    """Ask `n` questions at once; return the threads, and the list that their troubles go to."""
    troubles: list[str] = []

    def ask() -> None:
        troubles.append(refused(worker, "hi").trouble)

    threads = [threading.Thread(target=ask) for _ in range(n)]
    for thread in threads:
        thread.start()
    return threads, troubles


def test_closing_ends_the_running_question_and_the_waiting_ones(hire: Hire, order: Path) -> None:
    worker = hire(ECHO, broken(ECHO.main, "hang", order))
    order.touch()
    threads, troubles = asked_in_threads(worker, 3)
    while order.exists():  # until one of them hangs
        time.sleep(0.01)
    worker.close()
    for thread in threads:
        thread.join(5)
    assert troubles == ["stopped"] * 3
    assert refused(worker, "hi").trouble == "stopped"
    assert worker.pid == 0


def test_a_question_can_be_stopped(hire: Hire, order: Path) -> None:
    worker = hire(ECHO, broken(ECHO.main, "hang", order))
    order.touch()
    with pytest.raises(NoAnswerError) as refusal:
        worker.ask("hi", LONG_S, lambda: not order.exists())
    assert refusal.value.trouble == "stopped"
    assert worker.ask("hi", LONG_S) == "hi"


def test_threads_take_turns(hire: Hire) -> None:
    worker = hire(ECHO)

    def ask(n: int) -> list[str]:
        return [worker.ask(f"{n}-{i}", LONG_S) for i in range(20)]

    with ThreadPoolExecutor(8) as pool:
        for n, answers in enumerate(pool.map(ask, range(8))):
            assert answers == [f"{n}-{i}" for i in range(20)]


def test_an_interrupted_question_leaves_no_answer_to_the_next(
    hire: Hire, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_self: object) -> None:
        raise KeyboardInterrupt

    worker = hire(ECHO)
    with monkeypatch.context() as patch:
        patch.setattr(concurrent.futures.Future, "result", interrupted)
        with pytest.raises(KeyboardInterrupt):
            worker.ask("one", LONG_S)
    assert worker.ask("two", LONG_S) == "two"


@pytest.mark.parametrize("fault", [None, "hang", "hold"])
def test_nothing_is_left_of_a_program_that_is_killed(order: Path, fault: str | None) -> None:
    if fault:
        order.touch()
    program = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from paceline.workers.worker import Worker\n"
        "from workers.faults import broken\n"
        "from workers.kinds import ECHO\n"
        f"worker = Worker(broken(ECHO.main, {fault!r}, Path({str(order)!r})), ECHO.language)\n"
        "worker.start()\n"
        "while not worker.pid: time.sleep(0.01)\n"
        "print(worker.pid, flush=True)\n"
        "worker.ask('hi', 60)\n"
        "print('answered', flush=True)\n"
        "time.sleep(60)\n"
    )
    words = [sys.executable, "-c", program]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=env) as killed:
        assert killed.stdout is not None
        process = psutil.Process(int(killed.stdout.readline()))
        if fault is None:
            assert killed.stdout.readline()
        while order.exists():  # until it hangs
            time.sleep(0.01)
        killed.kill()
    process.wait(LONG_S)


def test_a_program_that_forgets_to_close_ends_anyway() -> None:
    program = (
        "from paceline.workers.worker import Worker\n"
        "from workers.kinds import ECHO\n"
        "worker = Worker(ECHO.main, ECHO.language)\n"
        "print(worker.ask('hi', 60), worker.pid)\n"
    )
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True, text=True, timeout=60, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert (result.returncode, result.stderr) == (0, "")
    answer, pid = result.stdout.split()
    assert answer == "hi"
    assert is_gone(int(pid), LONG_S)


def test_an_unused_worker_can_be_closed_twice() -> None:
    worker: Worker[Any, Any] = Worker(ECHO.main, ECHO.language)
    worker.close()
    worker.close()


# ------------------------------------------------------------------------- what a process is like


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_one_process_answers_all_questions_and_harms_no_other(
    hire: Hire, kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HUGGINGFACEHUB_API_TOKEN"):
        monkeypatch.setenv(name, "hf_secret")
    worker = hire(kind)
    assert worker.pid == 0, "nothing starts before the first question"
    assert kind.is_answered(worker.ask(kind.question, LONG_S))
    pid = worker.pid
    assert kind.is_answered(worker.ask(kind.question, LONG_S))
    assert worker.pid == pid != 0
    proc = Path("/proc") / str(worker.pid)
    assert (proc / "oom_score_adj").read_text().strip() == "800"
    (core,) = [x for x in (proc / "limits").read_text().splitlines() if "core file" in x]
    assert core.split()[4:6] == ["0", "0"]
    assert (proc / "fd/0").readlink() == Path("/dev/null")
    for number in (1, 2):
        mine = (proc / f"fd/{number}").readlink()
        assert mine != Path(f"/proc/self/fd/{number}").readlink()
        assert not mine.exists()
    status = dict(x.split(":\t", 1) for x in (proc / "status").read_text().splitlines())
    assert int(status["SigIgn"], 16) >> (signal.SIGINT - 1) & 1
    assert not int(status["SigBlk"], 16) >> (signal.SIGINT - 1) & 1
    assert b"hf_secret" not in (proc / "environ").read_bytes()
    assert kind.language.name.encode() in (proc / "cmdline").read_bytes()
