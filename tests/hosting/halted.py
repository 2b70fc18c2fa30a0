"""Stops a process with SIGSTOP and says what its main thread was doing at that moment.

Linux reports both: /proc/PID/task/TID/syscall holds -1, the stack pointer and the program counter
for a thread that was stopped while it computed, and the number of the system call for one that was
in the kernel; /proc/PID/maps shows whose code the program counter is in.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path


def halt(pid: int) -> str:
    """Stop the process; returns the library whose code its main thread computes in.

    Returns:
        E.g. "libggml-cpu.so.0"; empty when the thread was in a system call.
    """
    os.kill(pid, signal.SIGSTOP)
    task = Path(f"/proc/{pid}/task/{pid}")
    deadline = time.monotonic() + 5
    while (task / "stat").read_text().rsplit(")", 1)[1].split()[0] != "T":
        assert time.monotonic() < deadline, "it does not stop"
    what = (task / "syscall").read_text().split()
    if what[0] != "-1":
        return ""
    counter = int(what[2], 16)
    for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
        first, last = (int(end, 16) for end in line.split()[0].split("-"))
        if first <= counter < last:
            return line.rsplit("/", 1)[-1] if "/" in line else ""
    return ""


def halt_in_decode(pid: int, tries: int = 200) -> bool:
    """Stop the process while its main thread computes in llama.cpp.

    Returns:
        False when that could not be; the process runs on then.
    """
    for _ in range(tries):
        library = halt(pid)
        if library.startswith(("libggml", "libllama")):
            return True
        go_on(pid)
        time.sleep(0.0005)
    return False


def go_on(pid: int) -> None:
    """Let a stopped process run again."""
    os.kill(pid, signal.SIGCONT)
