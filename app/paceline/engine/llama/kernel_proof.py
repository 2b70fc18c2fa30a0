"""The test that Paceline's own kernels pass before they are used, in a process of its own.

A kernel that is wrong for a processor may crash or never come back. So each is run where that costs
nothing: a child process compares it with ggml's own, bit by bit, and says one line per kernel; the
one that it died of, or hangs in, is the first without a line. Then another child goes on after it.

The child is this program with `PROVE` as its first argument, which `__main__` passes to `run`: the
engine may itself be a child of `multiprocessing`, which allows such a process no children.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from paceline.engine.cancel import CancelFlag
from paceline.engine.child_end import end_quietly_with_parent
from paceline.engine.llama.kernel_library import KernelLibrary
from paceline.errors import CancelledError

PROVE = "--prove-kernels"
LIMIT_S = 20.0
"""For all kernels; those that are not reached wait for the next load."""
KERNEL_S = 8.0
"""A kernel that takes longer hangs: as a rule one takes a fifth of a second."""

_READY, _REFUSED = "ready", "refused"
_OUTCOMES = {"1": "equal", "0": "different", "-1": "not run"}
_POLL_S = 0.05


class CannotProveError(Exception):
    """No kernel could be tested; the text says why, as part of a sentence."""


def prove(
    library: Path,
    names: Sequence[str],
    cancel: CancelFlag,
    *,
    limit_s: float = LIMIT_S,
    kernel_s: float = KERNEL_S,
) -> Iterator[tuple[str, str]]:
    """Test kernels, and yield name and outcome of each as soon as it is known.

    Args:
        library: The library of kernels.
        names: Kernels that are not known yet.
        cancel: Ends the test when it is set.
        limit_s: Seconds for all.
        kernel_s: Seconds for each.

    Raises:
        CannotProveError: There is no process, or it does not come as far as the first kernel.
        CancelledError: The flag was set.
    """
    deadline = time.monotonic() + limit_s
    waiting = list(names)
    while waiting and time.monotonic() < deadline:
        for name, outcome in _one_child(library, tuple(waiting), cancel, deadline, kernel_s):
            waiting.remove(name)
            yield name, outcome


def _one_child(
    library: Path, names: Sequence[str], cancel: CancelFlag, deadline: float, kernel_s: float
) -> Iterator[tuple[str, str]]:
    """Yield outcomes until the child is through, dead or hanging; its death is the last one's."""
    with _child(library, names) as child:
        lines = _lines(child, cancel, deadline, kernel_s)
        first = next(lines)
        if first == _REFUSED:
            raise CannotProveError("this build of llama.cpp does not take them")
        if first != _READY:
            raise CannotProveError(f"its process {_end(child)}")
        for name in names:
            line = next(lines)
            if line is None:  # time is up for all, which is not this kernel's fault
                return
            if not line:
                yield name, _end(child)
                return
            yield name, _OUTCOMES.get(line.removeprefix(f"{name} "), "not run")


def _lines(
    child: subprocess.Popen[bytes], cancel: CancelFlag, deadline: float, kernel_s: float
) -> Iterator[str | None]:
    """Yield lines as they come; an empty one: the child has ended or hangs; None: time is up."""
    assert child.stdout is not None
    number = child.stdout.fileno()
    rest, limit = b"", deadline  # loading the library may take its time
    with selectors.DefaultSelector() as selector:
        selector.register(number, selectors.EVENT_READ)
        while True:
            *whole, rest = rest.split(b"\n")
            for line in whole:
                yield line.decode("utf-8", "replace")
                limit = min(time.monotonic() + kernel_s, deadline)
            if cancel.is_set():
                raise CancelledError
            if time.monotonic() > limit:
                yield None if limit == deadline else ""
            if selector.select(_POLL_S):
                data = os.read(number, 4096)
                if not data:
                    yield ""
                rest += data


@contextlib.contextmanager
def _child(library: Path, names: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    program = [sys.executable]
    if not getattr(sys, "frozen", False):
        program += ["-P", "-m", "paceline"]
    try:
        child = subprocess.Popen(
            [*program, PROVE, str(library), *names],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl+C is for this process to act on
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
    except OSError as error:
        raise CannotProveError(
            f"no process can be started for it: {error.strerror or error}"
        ) from None
    with child:
        try:
            yield child
        finally:
            child.kill()


def _end(child: subprocess.Popen[bytes]) -> str:
    """Say how a child ended that says nothing more."""
    try:
        code = child.wait(1.0)
    except subprocess.TimeoutExpired:
        return "hung"
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"crashed, {signal.Signals(-code).name}"
    except ValueError:
        return f"crashed, signal {-code}"


# --------------------------------------------------------------------------------- in the child


def run(arguments: Sequence[str]) -> int:
    """Be the child: test the kernels that are named; returns its exit code.

    Args:
        arguments: The library's path, and names.
    """
    end_quietly_with_parent()
    if sys.platform != "win32":
        signal.alarm(int(2 * LIMIT_S))  # its default ends the process, in native code as well
    path, *names = arguments
    library = KernelLibrary(Path(path))
    if not library.install():
        _say(_REFUSED)
        return 1
    numbers = {kernel.name: i for i, kernel in enumerate(library.kernels)}
    _say(_READY)
    for name in names:
        _say(f"{name} {library.self_test(numbers[name])}")
    return 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
