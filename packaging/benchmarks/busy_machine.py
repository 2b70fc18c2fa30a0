"""Processes that keep the machine busy during a measurement."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Callable, Iterator

_WORK = """
import sys
block = bytearray(64 << 20)
block[::4096] = bytes([1]) * len(block[::4096])
print("ready", flush=True)
sys.stdin.read(1)
while True:
    for i in range(0, len(block), 4096):
        block[i] = (block[i] + 1) & 255
"""


@contextlib.contextmanager
def others(n: int) -> Iterator[Callable[[], None]]:
    """Start `n` processes; they compute and read memory once the yielded function is called.

    Raises:
        ChildProcessError: One of them has ended.
    """
    with contextlib.ExitStack() as stack:
        processes = []
        for _ in range(n):
            process = subprocess.Popen(
                [sys.executable, "-c", _WORK], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            stack.enter_context(process)
            stack.callback(process.kill)
            processes.append(process)
        for process in processes:
            if process.stdout is None or not process.stdout.readline():
                raise ChildProcessError("A process that was to compute beside the rest has ended.")

        def go() -> None:
            for process in processes:
                assert process.stdin is not None
                process.stdin.write(b"!")
                process.stdin.flush()

        yield go
