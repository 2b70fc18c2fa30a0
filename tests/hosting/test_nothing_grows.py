"""Loads and unloads by the hundred: memory, descriptors, threads and processes stay as many."""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest

from hosting.engines import HOSTS, Host
from hosting.rig import MakeRig
from paceline.messages import DescribeEngine, EngineDescribed, Unload, Unloaded

GROWTH = 0.05
N_WARM = 4


class Footprint(NamedTuple):
    """Resources of a process; `private` is memory that is not mapped from a file.

    A model's own pages count as another's too while any other process has the file mapped.
    """

    rss: int
    private: int
    fds: int
    threads: int
    children: int

    @classmethod
    def of(cls, process: psutil.Process) -> Footprint:
        return cls(
            process.memory_info().rss,
            private_bytes(process),
            process.num_fds() if hasattr(process, "num_fds") else process.num_handles(),
            process.num_threads(),
            len(process.children()),
        )


def private_bytes(process: psutil.Process) -> int:
    rollup = Path("/proc") / str(process.pid) / "smaps_rollup"
    if not rollup.exists():
        return int(process.memory_full_info().uss)
    (line,) = [x for x in rollup.read_text().splitlines() if x.startswith("Anonymous:")]
    return int(line.split()[1]) * 1024


def watch(process: psutil.Process, n: int, cycle: Callable[[], None]) -> list[Footprint]:
    """Run the cycle so often, after a few that do not count."""
    prints = []
    for number in range(N_WARM + n):
        cycle()
        gc.collect()
        if number >= N_WARM:
            prints.append(Footprint.of(process))
    return prints


def assert_flat(title: str, prints: list[Footprint]) -> None:
    """The last quarter is not above the first one; single values may be hiccups.

    It may be below: threads of the tests before this one, and their files, still end meanwhile.
    """
    quarter = max(len(prints) // 4, 2)
    first, last = prints[:quarter], prints[-quarter:]

    def grown(what: str) -> tuple[float, float]:
        before = statistics.median(getattr(p, what) for p in first)
        return before, statistics.median(getattr(p, what) for p in last)

    figures = {what: grown(what) for what in Footprint._fields}
    print(f"\n{title}, {len(prints)} times:", end="")
    for what, (before, after) in figures.items():
        unit = 2**20 if what in {"rss", "private"} else 1
        print(f" {what} {before / unit:.1f} → {after / unit:.1f}", end="")
    print()
    for what in ("rss", "private"):
        before, after = figures[what]
        assert after <= before * (1 + GROWTH), what
    for what, room in (("fds", 2), ("threads", 0), ("children", 0)):
        before, after = figures[what]
        assert after <= before + room, what
    assert max(p.fds for p in prints[1:]) <= prints[0].fds + 2
    assert len({p.children for p in prints}) == 1


@pytest.fixture
def n(is_long: bool) -> int:
    return 200 if is_long else 6


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("kind", ["thread", "process"])
def test_loading_and_unloading(demo_pair: tuple[Path, Path], n: int, kind: str) -> None:
    with Host(kind, demo_pair) as host:

        def cycle() -> None:
            host.must_load()
            host.reply(prompt="What is a list?", max_tokens=8, seed=1)
            assert isinstance(host.submit(Unload()), Unloaded)

        assert_flat(f"load and unload, {kind}", watch(psutil.Process(), n, cycle))


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("kind", HOSTS)
def test_loading_in_place_of_what_is_loaded(
    demo_pair: tuple[Path, Path], n: int, kind: str
) -> None:
    with Host(kind, demo_pair) as host:
        host.must_load()
        holder = psutil.Process(host.service.pid) if kind == "process" else psutil.Process()

        def cycle() -> None:
            host.must_load()
            host.reply(prompt="What is a list?", max_tokens=8, seed=1, strategy="suffix+draft")

        assert_flat(f"load behind load, {kind}", watch(holder, n, cycle))
        if kind == "process":
            assert host.service.pid == holder.pid


def test_starting_over_after_kills(
    n: int, rig: MakeRig, allow_warnings: Callable[[str], None]
) -> None:
    allow_warnings("ended from outside")
    r = rig()

    def cycle() -> None:
        assert [*map(type, r.submit(DescribeEngine()))] == [EngineDescribed]
        psutil.Process(r.service.pid).kill()
        while r.service.pid:
            r.service.look()

    assert_flat("killed", watch(psutil.Process(), max(n // 2, 4), cycle))
