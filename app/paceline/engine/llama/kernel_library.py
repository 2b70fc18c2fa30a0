"""The shared library of own kernels, and the test that it passes in a process of its own.

`app/kernels/paceline_kernels.h` describes the library. A kernel that is wrong for a processor may
crash or never come back. So each is run where that costs nothing: a child process compares it with
ggml's own, bit by bit, and says one line per kernel; the one that it died of, or hangs in, is the
first without a line. Then another child goes on after it.

The child is this program with `PROVE` as its first argument, which `__main__` passes to `run`.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from paceline.engine.cancel import CancelFlag
from paceline.engine.children import end_of, end_quietly_with_parent, start_own
from paceline.engine.llama.library import declared, libggml, start
from paceline.engine.model.own_kernels import BUILD, NoKernelsError
from paceline.errors import CancelledError, ReasonError
from paceline.sentence import sentence

INTERFACE = 1
"""What `paceline_kernels_interface` must answer."""
_ATTENTION = 1  # paceline_kernels_operation


class Kernel(NamedTuple):
    """One kernel: its name, and what it computes."""

    name: str
    kind: str
    is_attention: bool


class KernelLibrary:
    """The library, loaded into this process; everything in it is off at first.

    Args:
        path: From `kernel_files.find`.

    Raises:
        NoKernelsError: It cannot be loaded, or is made for another Paceline.
    """

    def __init__(self, path: Path) -> None:
        start()  # libggml is in the process by now, and its symbols are found there
        try:
            self._lib = lib = _declared(ctypes.CDLL(str(path)))
        except (OSError, AttributeError) as error:
            raise NoKernelsError(
                "their library cannot be loaded ({error})", BUILD, error=error
            ) from None
        found = lib.paceline_kernels_interface()
        if found != INTERFACE:
            raise NoKernelsError(
                "their library has the interface {found} instead of {interface}",
                BUILD,
                found=found,
                interface=INTERFACE,
            )
        self.isa: str = lib.paceline_kernels_isa().decode()
        self.kernels = tuple(self._kernel(i) for i in range(lib.paceline_kernels_count()))

    def _kernel(self, number: int) -> Kernel:
        lib = self._lib
        return Kernel(
            lib.paceline_kernels_name(number).decode(),
            type_name(lib.paceline_kernels_type(number)),
            lib.paceline_kernels_operation(number) == _ATTENTION,
        )

    def install(self) -> bool:
        """Put the kernels in front of ggml's; False: this build of ggml does not take them."""
        return bool(self._lib.paceline_kernels_install() == 0)

    def enable(self, mask: int) -> None:
        """Switch on the kernels whose bits are set, all others off; counts begin again."""
        self._lib.paceline_kernels_enable(mask)
        self.called()

    def called(self) -> int:
        """Return the kernels that have computed anything since this was last asked, as bits."""
        calls = self._lib.paceline_kernels_calls
        return sum(1 << i for i in range(len(self.kernels)) if calls(i) > 0)

    def self_test(self, number: int, fault: int = 0) -> int:
        """Compare a kernel with ggml; 1: equal, 0: different, -1: it could not be run."""
        result: int = self._lib.paceline_kernels_self_test(number, fault)
        return result

    def mark_crashes(self, path: Path | None) -> None:
        """Have this file written when a kernel crashes; None: no longer.

        The library's handlers go on to those that were there before, such as faulthandler's.
        """
        self._lib.paceline_kernels_mark_crashes(os.fsencode(path) if path else None)


def type_name(kind: int) -> str:
    """Return ggml's name of a type, e.g. "q4_K"."""
    function = libggml.ggml_type_name
    function.restype, function.argtypes = ctypes.c_char_p, (ctypes.c_int,)
    name: bytes | None = function(kind)
    return name.decode() if name else f"type-{kind}"


def _declared(lib: Any) -> Any:
    """Declare the functions of `paceline_kernels.h`."""
    number, text = ctypes.c_int, ctypes.c_char_p
    functions = (
        ("interface", number, ()),
        ("isa", text, ()),
        ("count", number, ()),
        ("name", text, (number,)),
        ("type", number, (number,)),
        ("operation", number, (number,)),
        ("install", number, ()),
        ("enable", None, (ctypes.c_uint64,)),
        ("calls", ctypes.c_long, (number,)),
        ("self_test", number, (number, number)),
        ("mark_crashes", None, (text,)),
    )
    return declared(lib, "paceline_kernels_", functions)


PROVE = "--prove-kernels"
LIMIT_S = 20.0
"""For all kernels; those that are not reached wait for the next load."""
KERNEL_S = 8.0
"""A kernel that takes longer hangs: usually one takes a fifth of a second."""

_READY, _REFUSED = "ready", "refused"
_OUTCOMES = {"1": "equal", "0": "different", "-1": sentence("not run")}
_POLL_S = 0.05


class CannotProveError(ReasonError):
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
            raise CannotProveError("its process {end}", end=end_of(child))
        for name in names:
            line = next(lines)
            if line is None:  # time is up for all, which is not this kernel's fault
                return
            if not line:
                yield name, end_of(child)
                return
            yield name, _OUTCOMES.get(line.removeprefix(f"{name} "), _OUTCOMES["-1"])


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
    try:
        child = start_own(PROVE, str(library), *names)
    except OSError as error:
        raise CannotProveError(
            "no process can be started for it: {error}", error=error.strerror or error
        ) from None
    with child:
        try:
            yield child
        finally:
            child.kill()


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
