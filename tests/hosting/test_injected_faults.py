"""The engine's process dies in the middle of a reply; nothing else does, and the next one works."""

from __future__ import annotations

import functools
import os
import random
import resource
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

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
from hosting.sabotage import broken
from paceline.engine.refusals import no_model
from paceline.messages import (
    EngineDied,
    Event,
    LoadFailed,
    StartTurn,
    StepCommitted,
    Tokens,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    Unloaded,
)

if TYPE_CHECKING:
    from conftest import Trials

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/syscall").exists(), reason="reads Linux's /proc"
)

Pair = tuple[Path, Path]


@pytest.fixture(autouse=True)
def outputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, allow_warnings: Callable[[str], None]
) -> Iterator[Path]:
    """The folder of the processes' output files, which must be empty in the end."""
    allow_warnings("engine|llama.cpp|model file|Memory ran out|computation")
    folder = tmp_path / "outputs"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert not list(folder.iterdir())
    assert not engine_processes()


class Killer:
    """Kills the engine's process from another thread, a random while behind a random step."""

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


def test_kill_at_random_tokens(
    demo_pair: Pair, outputs: Path, trials: Trials, is_long: bool
) -> None:
    rng = random.Random(4)
    whole: dict[int, tuple[str, str]] = {}
    with Host(demo_pair) as host:
        n_seeds = 3 if is_long else 2
        for seed in range(n_seeds):  # undisturbed: one reply behind another, on a fresh pair
            host.ready()
            first = finished_text(host.reply(seed=seed, max_tokens=60))
            whole[seed] = first, finished_text(host.reply(OTHER_QUESTION, seed=seed))
        lengths, before = [], (0, 0)
        for i in trials(4, 200):
            seed = i % n_seeds
            host.ready()
            assert finished_text(host.reply(seed=seed, max_tokens=60)) == whole[seed][0]
            killer = Killer(host, rng, in_decode=i % 4 != 3)
            host.hear = killer.hear
            pid, n_before = host.service.pid, len(host.told)
            events = host.reply(OTHER_QUESTION, seed=seed)
            killer.join()
            assert not killer.has_missed, "it was never caught in a decode"
            death = only_death(events)
            assert "ended from outside" in death.reason
            assert isinstance(events[0], TurnStarted)
            assert whole[seed][1].startswith(text_of(events))
            told_at = host.told[-1][0]
            assert 0 <= told_at - killer.killed_at < 1
            assert host.told[n_before:][0][0] < killer.killed_at
            assert is_gone(pid, 0.1)
            assert not engine_processes()
            assert not list(outputs.iterdir())
            lengths.append(len(text_of(events)))
            if i < 2:
                before = open_things()
        assert open_things() == before
        assert len(set(lengths)) > trials.n // 4  # at many different tokens
        host.ready()
        assert finished_text(host.reply(seed=0, max_tokens=60)) == whole[0][0]


def test_whoever_is_only_halted_finishes_the_same_reply(demo_pair: Pair, is_long: bool) -> None:
    """The killer without its kill: it stops the process in mid-decode and lets it go on."""
    with Host(demo_pair) as host:
        host.ready()
        first = finished_text(host.reply(seed=1))
        undisturbed = finished_text(host.reply(OTHER_QUESTION, seed=1))
        for _ in range(20 if is_long else 2):
            host.ready()
            assert finished_text(host.reply(seed=1)) == first
            n_halts = 0

            def halt_now(event: Event) -> None:
                nonlocal n_halts
                if isinstance(event, StepCommitted) and event.step in {5, 20, 40}:
                    n_halts += halt_in_decode(host.service.pid)
                    go_on(host.service.pid)

            host.hear = halt_now
            assert finished_text(host.reply(OTHER_QUESTION, seed=1)) == undisturbed
            assert n_halts == 3


def test_a_kill_between_two_replies_is_noticed_by_looking(demo_pair: Pair) -> None:
    with Host(demo_pair) as host:
        host.ready()
        whole = finished_text(host.reply())
        pid = host.service.pid
        for _ in range(200):
            if halt(pid) == "":  # it waits for a command, in the kernel
                break
            go_on(pid)
            time.sleep(0.01)
        else:
            pytest.fail("it does not come to rest")
        host.service.look()
        assert not deaths_of([event for _, event in host.told])
        os.kill(pid, signal.SIGKILL)
        assert is_gone(pid, 2)
        deadline = time.monotonic() + 1  # its other threads may take a moment longer
        while host.service.pid and time.monotonic() < deadline:
            host.service.look()
        assert "ended from outside" in only_death([host.told[-1][1]]).reason
        (failed,) = host.reply()
        assert isinstance(failed, TurnFailed)
        assert failed.code == "no-model"
        host.ready()
        assert finished_text(host.reply()) == whole


def test_a_kill_just_when_a_reply_is_asked_for(demo_pair: Pair, trials: Trials) -> None:
    """A little before or after: it is told once, and the question never stays without an answer."""
    rng = random.Random(9)
    answers = set()
    with Host(demo_pair) as host:
        for _ in trials(2, 60):
            host.ready()
            n_before = len(host.told)
            kill = threading.Timer(
                rng.random() * 0.004, os.kill, (host.service.pid, signal.SIGKILL)
            )
            kill.start()
            time.sleep(rng.random() * 0.004)
            answers.add(type(host.reply()[-1]))
            kill.join()
            death = only_death(deaths_of([event for _, event in host.told[n_before:]]))
            assert "ended from outside" in death.reason
        host.ready()
        assert answers <= {EngineDied, TurnFailed}
        assert finished_text(host.reply())


# ---------------------------------------------------------------------------- faults from within

NATIVE = [
    ("oversized batch", (), "llama-context.cpp:", "GGML_ASSERT(n_tokens_all <= cparams.n_batch)"),
    ("row without logits", (), "llama-sampler.cpp:", "GGML_ASSERT(logits != nullptr)"),
    ("read null", (), "crashed", "SIGSEGV"),
    ("bad pointer", (), "crashed", "SIGSEGV"),
    ("signal", (signal.SIGFPE,), "crashed", "SIGFPE"),
    ("signal", (signal.SIGILL,), "instruction that this CPU does not know", "SIGILL"),
    ("signal", (signal.SIGTERM,), "from outside", "SIGTERM"),
    ("signal", (signal.SIGABRT,), "crashed", "SIGABRT"),
    ("exit", (3,), "ended with exit code 3", ""),
    ("exit at once", (0,), "ended with exit code 0", ""),
    ("exit at once", (3,), "ended with exit code 3", ""),
    ("raise", ("of the engine's own",), "RuntimeError: of the engine's own", "The engine ended"),
]


@pytest.mark.grid(short=4)
@pytest.mark.parametrize(
    ("fault", "args", "part", "other_part"), NATIVE, ids=[f"{f[0]} {f[1]}" for f in NATIVE]
)
def test_a_fault_is_told_as_what_it_is(
    fault: str, args: tuple[object, ...], part: str, other_part: str,
    demo_pair: Pair, tmp_path: Path, trials: Trials,
) -> None:  # fmt: skip
    order = tmp_path / "order"
    n = 2 if fault in {"oversized batch", "row without logits"} else 1
    with Host(demo_pair, broken(fault, order, *args)) as host:
        host.ready()
        whole = finished_text(host.reply())  # nothing is ordered yet
        host.ready()
        for _ in trials(n, 50):
            order.touch()
            events = host.reply()
            assert not order.exists()
            death = only_death(events)
            assert part in death.reason
            assert other_part in death.reason
            assert "/" not in death.reason
            assert "Memory" not in death.reason
            assert death.hint
            assert whole.startswith(text_of(events))
            assert text_of(events)
            host.ready()
        assert finished_text(host.reply()) == whole


def test_a_model_file_that_is_cut_while_it_is_used(
    demo_pair: Pair, tmp_path: Path, trials: Trials
) -> None:
    copies = tuple(Path(shutil.copy(path, tmp_path)) for path in demo_pair)
    order = tmp_path / "order"
    with Host((copies[0], copies[1]), broken("cut file", order, str(copies[0]))) as host:
        host.ready()
        whole = finished_text(host.reply())
        host.ready()
        for _ in trials(1, 50):
            order.touch()
            death = only_death(host.reply())
            assert not order.exists()
            assert "SIGBUS" in death.reason
            assert "file" in death.reason
            assert "disk" in death.hint
            assert isinstance(host.load()[-1], LoadFailed)
            shutil.copy(demo_pair[0], copies[0])
            host.ready()
        assert finished_text(host.reply()) == whole


@pytest.mark.parametrize("how", ["deleted", "replaced"])
def test_a_model_file_that_goes_away_while_it_is_used(
    how: str, demo_pair: Pair, tmp_path: Path, trials: Trials
) -> None:
    """The mapping keeps what it was made of: the reply goes on, and so does the next one."""
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
            whole = finished_text(host.reply())
            host.ready()
            host.hear = strike
            assert finished_text(host.reply()) == whole
            host.hear = lambda _event: None
            assert not target.exists() or target.read_bytes() == b"GGUF and something else"
            assert finished_text(host.reply(OTHER_QUESTION))
            assert isinstance(host.load()[-1], LoadFailed)


def test_a_model_file_that_is_overwritten_while_it_is_used(
    demo_pair: Pair, tmp_path: Path, trials: Trials
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
        host.ready()
        whole = finished_text(host.reply())
        for _ in trials(2, 50):
            host.ready()
            host.hear = strike
            assert isinstance(host.reply()[-1], (TurnFinished, TurnFailed))
            host.hear = lambda _event: None
            freed, refused = host.reply()[-2:]
            assert isinstance(freed, Unloaded)
            assert isinstance(refused, TurnFailed)
            assert refused.code == "model-overwritten"
            assert host.reply()[-1] == no_model()
            for whole_file, written in zip(demo_pair, (target, draft), strict=True):
                shutil.copy(whole_file, written)
            host.ready()
            assert finished_text(host.reply()) == whole


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("room", [1 << 16, None], ids=["none", "enough"])
def test_memory_that_runs_out_in_a_prefill(demo_pair: Pair, room: int | None) -> None:
    """The limit is set from outside, to just above what the process has."""
    with Host(demo_pair) as host:
        host.ready()
        pid = host.service.pid
        if room is not None:
            limit = psutil.Process(pid).memory_info().vms + room
            resource.prlimit(pid, resource.RLIMIT_AS, (limit, limit))
        tokens = tuple(100 + i % 400 for i in range(1500))
        turn = functools.partial(StartTurn, prompt=Tokens(tokens), seed=1, max_tokens=20)
        events = host.submit(turn())
        if room is None:
            assert finished_text(events)
            return
        death = only_death(events)
        assert "Memory ran out" in death.reason
        assert "context" in death.hint
        host.ready()
        assert finished_text(host.submit(turn()))
