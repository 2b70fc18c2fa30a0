"""Single allocations fail in the engine's process, in the middle of a reply."""

from __future__ import annotations

import random
import shutil
import struct
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from hosting.observed import Host, deaths_of, finished_text, text_of
from paceline.messages import EngineDied, Event, StepCommitted, TurnFailed, TurnFinished

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from trials import Trials

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not shutil.which("gcc"), reason="needs Linux and a C compiler"
)

# What is left to count down stands in a file, so that the test can say when it begins.
MALLOC = """
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
extern void *__libc_malloc(size_t);
static long *left;
__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("FAILS_AT");
    int file = path ? open(path, O_RDWR) : -1;
    if (file >= 0) {
        void *found = mmap(0, 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (found != MAP_FAILED) left = found;
    }
}
void *malloc(size_t n) {
    if (left && *left > 0 && __sync_sub_and_fetch(left, 1) == 0) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_malloc(n);
}
"""


@pytest.fixture
def countdown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file with the number; processes that start from now on look at it."""
    source, library, file = (tmp_path / name for name in ("malloc.c", "malloc.so", "left"))
    source.write_text(MALLOC)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
    file.write_bytes(bytes(8))
    monkeypatch.setenv("LD_PRELOAD", str(library))
    monkeypatch.setenv("FAILS_AT", str(file))
    return file


def write(countdown: Path, n: int) -> None:
    with countdown.open("r+b") as file:  # it is mapped, so it must not be cut
        file.write(struct.pack("q", n))


def test_an_allocation_that_fails_costs_no_more_than_the_process(
    demo_pair: tuple[Path, Path],
    countdown: Path,
    whole: str,
    trials: Trials,
    allow_warnings: Callable[[str], None],
) -> None:
    allow_warnings("engine|llama.cpp|Memory ran out|memory")
    drawn = random.Random(9)
    n_hit = n_deaths = 0
    with Host(demo_pair) as host:

        def strike(event: Event) -> None:
            if isinstance(event, StepCommitted) and event.step == 3:
                write(countdown, drawn.randint(1, 500))

        for _ in trials(2, 500):
            host.hear = lambda _event: None
            host.ready()
            host.hear = strike
            events = host.reply()
            n_hit += countdown.read_bytes() == bytes(8)
            write(countdown, 0)
            assert isinstance(events[-1], (TurnFinished, TurnFailed, EngineDied))
            assert whole.startswith(text_of(events))
            for death in deaths_of(events):
                n_deaths += 1
                assert death.reason
                assert death.hint
        host.hear = lambda _event: None
        host.ready()
        assert finished_text(host.reply()) == whole
    print(f"{n_hit} of {trials.n} allocations failed, {n_deaths} ended the process")
    assert n_hit >= trials.n // 2
