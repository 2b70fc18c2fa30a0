"""The engine's process dies or hangs in a reply; nothing else does, and the next reply is whole.

Most tests share one host. A fault ends its process, so the next test that needs one starts it.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from hosting import garbage
from hosting.halted import go_on, halt, halt_in_decode
from hosting.observed import (
    OTHER_QUESTION,
    Host,
    deaths_of,
    engine_processes,
    finished_text,
    is_gone,
    only_death,
    open_things,
    text_of,
)
from hosting.sabotage import Fault, broken, order
from paceline.engine.refusals import no_model
from paceline.hosting import supervisor
from paceline.hosting.wire import encode_message
from paceline.messages import (
    EngineDied,
    Event,
    LoadFailed,
    StartTurn,
    StepCommitted,
    Tokens,
    TokenTrace,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    Unload,
    Unloaded,
)
from paceline.workers.frames import frame

if TYPE_CHECKING:
    from trials import Trials

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/syscall").exists(), reason="reads Linux's /proc"
)

Pair = tuple[Path, Path]
long = pytest.mark.long


@pytest.fixture(scope="module")
def shared(demo_pair: Pair) -> Iterator[Host]:
    """A host whose process has answered; nothing is ordered yet."""
    with Host(demo_pair) as host:
        host.ready()
        yield host


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that orders a fault."""
    return tmp_path_factory.mktemp("orders") / "order"


@pytest.fixture(scope="module")
def breakable(demo_pair: Pair, orders: Path) -> Iterator[Host]:
    """A host in whose process faults can be ordered."""
    with Host(demo_pair, broken(orders)) as host:
        host.ready()
        yield host


@pytest.fixture(autouse=True)
def _rest(request: pytest.FixtureRequest, allow_warnings: Callable[[str], None]) -> Iterator[None]:
    """End the processes that a test has started in a host that others use, too."""
    allow_warnings("engine|llama.cpp|model file|Memory ran out|computation")
    names = {"shared", "breakable"} & set(request.fixturenames)
    hosts = [request.getfixturevalue(name) for name in names]
    before = [host.service.pid for host in hosts]
    yield
    for host, pid in zip(hosts, before, strict=True):
        host.hear = lambda _event: None
        if host.service.pid != pid:
            host.submit(Unload())


# ------------------------------------------------------------------------------ from without


class Killer:
    """Kills the engine's process from another thread, a random while after a random step."""

    def __init__(self, host: Host, rng: random.Random, *, in_decode: bool) -> None:
        self._host = host
        self._step = rng.randrange(60)
        self._delay_s = rng.random() * 0.004
        self._in_decode = in_decode
        self._now = threading.Event()
        self.killed_at = 0.0
        self.has_missed = False
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def hear(self, event: Event) -> None:
        if isinstance(event, StepCommitted) and event.step >= self._step:
            self._now.set()

    def _run(self) -> None:
        self._now.wait(30)
        time.sleep(self._delay_s)
        pid = self._host.service.pid
        if self._in_decode:
            self.has_missed = not halt_in_decode(pid)
        self.killed_at = time.monotonic()
        os.kill(pid, signal.SIGKILL)

    def join(self) -> None:
        self._now.set()
        self._thread.join()


def test_kill_at_random_tokens(shared: Host, whole: str, trials: Trials, is_long: bool) -> None:
    rng = random.Random(4)
    seconds: dict[int, str] = {}
    n_seeds = 3 if is_long else 1
    for seed in range(1, 1 + n_seeds):  # undisturbed: one reply after another, on a fresh pair
        shared.ready()
        finished_text(shared.reply(seed=seed))
        seconds[seed] = finished_text(shared.reply(OTHER_QUESTION, seed=seed))
    lengths, before = [], (0, 0)
    for i in trials(2, 200):
        seed = 1 + i % n_seeds
        shared.ready()
        first = finished_text(shared.reply(seed=seed))
        assert seed > 1 or first == whole
        killer = Killer(shared, rng, in_decode=i % 4 != 1)
        shared.hear = killer.hear
        pid, n_before = shared.service.pid, len(shared.told)
        events = shared.reply(OTHER_QUESTION, seed=seed)
        killer.join()
        shared.hear = lambda _event: None
        assert not killer.has_missed, "it was never caught in a decode"
        death = only_death(events)
        assert "ended from outside" in death.reason
        assert isinstance(events[0], TurnStarted)
        assert seconds[seed].startswith(text_of(events))
        assert shared.told[n_before][0] < killer.killed_at <= shared.told[-1][0]
        assert is_gone(pid, 1)
        assert not engine_processes()
        lengths.append(len(text_of(events)))
        before = before if i else open_things()
    assert open_things() == before
    assert len(set(lengths)) > trials.n // 4, "at many different tokens"
    shared.ready()
    assert finished_text(shared.reply()) == whole


def test_a_kill_just_when_a_reply_is_asked_for(shared: Host, trials: Trials) -> None:
    """Fail a little before or after: it is reported once, and each question gets an answer."""
    rng = random.Random(9)
    for _ in trials(1, 60):
        shared.ready()
        n_before = len(shared.told)
        pid = shared.service.pid
        kill = threading.Timer(rng.random() * 0.004, os.kill, (pid, signal.SIGKILL))
        kill.start()
        time.sleep(rng.random() * 0.004)
        assert isinstance(shared.reply()[-1], (EngineDied, TurnFailed))
        kill.join()
        death = only_death(deaths_of([event for _, event in shared.told[n_before:]]))
        assert "ended from outside" in death.reason


# -------------------------------------------------------------------------------- from within

_STEP = encode_message(
    StepCommitted(9, (TokenTrace(1, "target", -1, None, 3),), "abc", (), *[0] * 4)
)
_HALF = frame(_STEP)[: len(_STEP) // 2]
_HARM = garbage.HARMFUL_IN_A_TURN
Death = tuple[Fault, tuple[str, ...]]
"""A fault, and parts of the reason that is given for the death."""
CRASHES: dict[str, Death] = {
    "an assertion in a decode": (
        Fault("oversized batch"),
        ("llama-context.cpp:", "GGML_ASSERT(n_tokens_all <= cparams.n_batch)"),
    ),
    "a wild pointer": (Fault("bad pointer"), ("crashed", "SIGSEGV")),
    "an error of its own": (
        Fault("raise", ("of the engine's own",)),
        ("RuntimeError: of the engine's own", "The engine ended"),
    ),
    "half a frame and the end": (Fault("exit at once", (0,), data=_HALF), ("exit code 0",)),
    "an assertion in the sampler": (
        Fault("row without logits"),
        ("llama-sampler.cpp:", "GGML_ASSERT(logits != nullptr)"),
    ),
    "a null pointer": (Fault("read null"), ("crashed", "SIGSEGV")),
    "SIGFPE": (Fault("signal", (signal.SIGFPE,)), ("crashed", "SIGFPE")),
    "SIGILL": (
        Fault("signal", (signal.SIGILL,)),
        ("instruction that this CPU does not know", "SIGILL"),
    ),
    "SIGTERM": (Fault("signal", (signal.SIGTERM,)), ("from outside", "SIGTERM")),
    "SIGABRT": (Fault("signal", (signal.SIGABRT,)), ("crashed", "SIGABRT")),
    "exit": (Fault("exit", (3,)), ("ended with exit code 3",)),
    "exit at once": (Fault("exit at once", (3,)), ("ended with exit code 3",)),
}
HANGS: dict[str, Death] = {
    "half a frame and silence": (
        Fault("signal", (signal.SIGSTOP,), data=_HALF),
        ("has not answered for 1 seconds",),
    ),
    "a decode without end": (
        Fault("crawl", (1000.0, 1, 1.0)),
        ("A computation of the engine hangs",),
    ),
    "native code with Python's lock": (Fault("hold"), ("has not answered for 1 seconds",)),
}
USUAL_GARBAGE = "deep nesting", "done twice"


def cases(names: Iterable[str], n_usual: int) -> pytest.MarkDecorator:
    """Parametrise by names, of which the usual run takes the first `n_usual`."""
    return pytest.mark.parametrize(
        "name",
        [pytest.param(name, marks=long if i >= n_usual else ()) for i, name in enumerate(names)],
    )


@pytest.fixture
def dies(
    breakable: Host, orders: Path, whole: str, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Fault], str]:
    """Ask for a reply in which a fault strikes; returns the reason that is given for the death."""
    monkeypatch.setattr(supervisor, "SILENT_S", 1.0)

    def strike(fault: Fault) -> str:
        breakable.ready()
        pid = breakable.service.pid
        order(orders, fault)
        events = breakable.reply()
        assert not orders.exists(), "it struck"
        death = only_death(events)
        (before_s, _), (death_s, _) = breakable.told[-2:]
        assert death_s - before_s < 10, "ten times the limit"
        assert "/" not in death.reason
        assert "Memory" not in death.reason
        assert len(death.reason) < 500
        assert death.hint
        assert whole.startswith(text_of(events))
        assert text_of(events)
        assert breakable.service.pid == 0
        assert is_gone(pid, 1)
        return death.reason

    return strike


@cases(CRASHES, 4)
def test_a_crash_is_reported_with_its_cause(
    dies: Callable[[Fault], str], name: str, trials: Trials
) -> None:
    fault, words = CRASHES[name]
    for _ in trials(1, 50):
        reason = dies(fault)
        assert all(part in reason for part in words), reason


@cases(HANGS, 2)
def test_a_hang_is_found_and_reported(
    dies: Callable[[Fault], str], name: str, trials: Trials
) -> None:
    fault, words = HANGS[name]
    for _ in trials(1, 20):
        reason = dies(fault)
        assert all(part in reason for part in words), reason


@cases(sorted(_HARM, key=lambda name: name not in USUAL_GARBAGE), len(USUAL_GARBAGE))
def test_garbage_in_place_of_an_answer_costs_the_process(
    dies: Callable[[Fault], str], name: str, trials: Trials
) -> None:
    rng = random.Random(8)
    for _ in trials(1, 8):
        reason = dies(Fault("hang", data=_HARM[name](rng)))
        assert "The engine" in reason
        assert name != "deep nesting" or "no message" in reason


def test_what_is_only_slow_costs_no_reply(
    breakable: Host, orders: Path, whole: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One process that is slowed down in several ways gives the same reply each time."""

    def reply(fault: Fault) -> None:
        breakable.ready()
        order(orders, fault)
        assert finished_text(breakable.reply()) == whole
        assert not orders.exists(), fault.name

    breakable.ready()
    pid = breakable.service.pid

    n_halts = 0

    def halt_now(event: Event) -> None:
        nonlocal n_halts
        if isinstance(event, StepCommitted) and event.step in {5, 20, 40}:
            n_halts += halt_in_decode(pid)
            go_on(pid)

    breakable.hear = halt_now
    breakable.ready()
    assert finished_text(breakable.reply()) == whole
    assert n_halts == 3

    # A decode stays far below its limit; a stop in the midst of it takes longer than the whole.
    monkeypatch.setattr(supervisor, "SILENT_S", 60.0)

    def stop(event: Event) -> None:
        if isinstance(event, StepCommitted) and event.step == 5:
            time.sleep(0.1)  # well within the slow decode
            halt(pid)
            time.sleep(4.5)
            go_on(pid)

    breakable.hear = stop
    reply(Fault("crawl", (0.5, 1, 4.0), at=7))
    breakable.hear = lambda _event: None
    reply(Fault("trickle", at=5))
    assert breakable.service.pid == pid


# ------------------------------------------------------------------------- files and memory


def test_a_model_file_that_is_cut_while_it_is_used(
    demo_pair: Pair, tmp_path: Path, whole: str, trials: Trials
) -> None:
    target, draft = (Path(shutil.copy(path, tmp_path)) for path in demo_pair)
    orders = tmp_path / "order"
    with Host((target, draft), broken(orders)) as host:
        for _ in trials(1, 50):
            host.ready()
            order(orders, Fault("cut file", (str(target),)))
            events = host.reply()
            death = only_death(events)
            assert whole.startswith(text_of(events))
            assert not orders.exists()
            assert "SIGBUS" in death.reason
            assert "file" in death.reason
            assert "disk" in death.hint
            assert isinstance(host.load()[-1], LoadFailed)
            shutil.copy(demo_pair[0], target)


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("how", ["replaced", "deleted"])
def test_a_model_file_that_goes_away_while_it_is_used(
    how: str, demo_pair: Pair, tmp_path: Path, whole: str, trials: Trials
) -> None:
    """The mapping keeps the old file: the reply continues, and the next one works."""
    target, draft = (Path(shutil.copy(path, tmp_path)) for path in demo_pair)
    other = tmp_path / "other"

    def strike(event: Event) -> None:
        if isinstance(event, StepCommitted) and event.step == 5:
            target.unlink() if how == "deleted" else other.replace(target)

    with Host((target, draft)) as host:
        for _ in trials(1, 50):
            shutil.copy(demo_pair[0], target)
            other.write_bytes(b"GGUF and something else")
            host.ready()
            host.hear = strike
            assert finished_text(host.reply()) == whole
            host.hear = lambda _event: None
            assert not target.exists() or target.read_bytes() == b"GGUF and something else"
            assert finished_text(host.reply(OTHER_QUESTION))
            assert isinstance(host.load()[-1], LoadFailed)


def test_a_model_file_that_is_overwritten_while_it_is_used(
    demo_pair: Pair, tmp_path: Path, whole: str, trials: Trials
) -> None:
    """The mapping has the new bytes at once, so the next reply is refused until a load."""
    target, draft = (Path(shutil.copy(path, tmp_path)) for path in demo_pair)
    drawn = random.Random(15)

    def strike(event: Event) -> None:
        if isinstance(event, StepCommitted) and event.step == 5:
            written = target if drawn.random() < 0.5 else draft
            with written.open("r+b") as file:
                file.seek(drawn.randrange(written.stat().st_size - 4096))
                file.write(drawn.randbytes(4096))

    with Host((target, draft)) as host:
        for _ in trials(1, 50):
            host.ready()
            host.hear = strike
            assert isinstance(host.reply()[-1], (TurnFinished, TurnFailed))
            host.hear = lambda _event: None
            freed, refused = host.reply()[-2:]
            assert isinstance(freed, Unloaded)
            assert isinstance(refused, TurnFailed)
            assert refused.code == "model-overwritten"
            assert host.reply()[-1] == no_model()
            for original, written in zip(demo_pair, (target, draft), strict=True):
                shutil.copy(original, written)
            host.ready()
            assert finished_text(host.reply()) == whole


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("room", [1 << 16, None], ids=["none", "enough"])
def test_memory_that_runs_out_in_a_prefill(demo_pair: Pair, room: int | None) -> None:
    """The limit is set from outside, to just above what the process has after its first load."""
    with Host(demo_pair) as host:
        host.ready()
        pid = host.service.pid
        if room is not None:
            limit = psutil.Process(pid).memory_info().vms + room
            resource.prlimit(pid, resource.RLIMIT_AS, (limit, limit))
        tokens = tuple(100 + i % 400 for i in range(1500))
        events = host.submit(StartTurn(Tokens(tokens), seed=1, max_tokens=20))
        if room is None:
            assert finished_text(events)
            return
        death = only_death(events)
        assert "Memory ran out" in death.reason
        assert "context" in death.hint
