"""The shared library of own kernels, and its test in a separate process.

`app/kernels/paceline_kernels.h` describes the library. A kernel that does not suit a processor may
crash or hang. So each is tested in a child process that may be lost, and after a crash or a hang
another child continues with the next kernel.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from paceline.engine.cancel import CancelFlag
from paceline.engine.llama.library import declared, libggml, start
from paceline.engine.llama.loadable_backends import publish_cpu_variant
from paceline.engine.model.own_kernels import REFUSED, NoKernelsError, prover_language
from paceline.errors import CancelledError, ReasonError
from paceline.installation import remedies
from paceline.sentence import sentence
from paceline.workers.child import ChildPipe, serve
from paceline.workers.worker import NoAnswerError, Worker

INTERFACE = 1
"""Required return value of `paceline_kernels_interface`."""
_ATTENTION = 1  # paceline_kernels_operation


class Kernel(NamedTuple):
    """A kernel: its name, and the operation it computes."""

    name: str
    kind: str
    is_attention: bool


class KernelLibrary:
    """The library, loaded into this process; all its kernels are off at first.

    Args:
        path: Result of `kernel_files.find`.

    Raises:
        NoKernelsError: It cannot be loaded, or was made for another version of Paceline.
    """

    def __init__(self, path: Path) -> None:
        start()  # libggml must be in the process: the library uses its symbols
        publish_cpu_variant(libggml)
        try:
            self._lib = lib = _declared(ctypes.CDLL(str(path)))
        except (OSError, AttributeError) as error:
            raise NoKernelsError(
                "their library cannot be loaded ({error})", remedies.kernels_built(), error=error
            ) from None
        found = lib.paceline_kernels_interface()
        if found != INTERFACE:
            raise NoKernelsError(
                "their library has the interface {found} instead of {interface}",
                remedies.kernels_built(),
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
        """Put the kernels before ggml's; return False if this build of ggml does not allow it."""
        return bool(self._lib.paceline_kernels_install() == 0)

    def enable(self, mask: int) -> None:
        """Activate the kernels whose bits are set, and no others; resets the record of calls."""
        self._lib.paceline_kernels_enable(mask)
        self.called()

    def called(self) -> int:
        """Return the kernels that have computed anything since the last call, as bits."""
        calls = self._lib.paceline_kernels_calls
        return sum(1 << i for i in range(len(self.kernels)) if calls(i) > 0)

    def use(self, isa: str) -> bool:
        """Use another instruction set, for measurements; return False if it is not available."""
        is_here: bool = self._lib.paceline_kernels_use(isa.encode()) == 0
        if is_here:
            self.isa = isa
        return is_here

    def self_test(self, number: int, fault: int = 0) -> int:
        """Let a kernel check its results; return 1 if right, 0 if wrong, -1 if it did not run."""
        result: int = self._lib.paceline_kernels_self_test(number, fault)
        return result

    def mark_crashes(self, path: Path | None) -> None:
        """Set the file that is written when a kernel crashes, or None for none.

        The library's signal handlers call the previous ones, such as faulthandler's.
        """
        self._lib.paceline_kernels_mark_crashes(os.fsencode(path) if path else None)


def type_name(kind: int) -> str:
    """Return ggml's name of a type, for example "q4_K"."""
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
        ("use", number, (text,)),
        ("self_test", number, (number, number)),
        ("mark_crashes", None, (text,)),
    )
    return declared(lib, "paceline_kernels_", functions)


MAX_ALL_S = 20.0
"""Maximum seconds for testing all kernels; the rest is tested at the next load."""
MAX_KERNEL_S = 8.0
"""Seconds after which a kernel counts as hanging: usually one takes a fifth of a second."""


class CannotProveError(ReasonError):
    """Testing kernels is impossible; the text is the reason, as part of a sentence."""


def prove(
    library: Path,
    names: Sequence[str],
    cancel: CancelFlag,
    *,
    limit_s: float = MAX_ALL_S,
    kernel_s: float = MAX_KERNEL_S,
) -> Iterator[tuple[str, str]]:
    """Test kernels, and yield the name and outcome of each as soon as it is known.

    Args:
        library: The library of kernels.
        names: Kernels without a known outcome.
        cancel: Flag that ends the test.
        limit_s: Maximum seconds for all kernels.
        kernel_s: Maximum seconds for each kernel.

    Raises:
        CannotProveError: The process cannot be started, or ends before the first kernel.
        CancelledError: The flag was set.
    """
    deadline = time.monotonic() + limit_s
    main = partial(run_prover, str(library))
    # A kernel that has ended a process is not tried again.
    worker = Worker(main, prover_language(), start_s=limit_s, asks_again=False)
    with contextlib.closing(worker):
        for name in names:
            seconds = min(kernel_s, deadline - time.monotonic())
            if seconds <= 0:
                return
            try:
                outcome = worker.ask(name, seconds, cancel.is_set)
            except NoAnswerError as error:
                if error.trouble == "slow" and seconds < kernel_s:
                    return  # the time for all is over, which is not this kernel's fault
                outcome = _death(error)
            if outcome == REFUSED:
                raise CannotProveError("this build of llama.cpp does not take them")
            yield name, outcome


def _death(error: NoAnswerError) -> str:
    """Return the outcome of a kernel that ended its process; raise if it was not reached."""
    match error.trouble:
        case "stopped":
            raise CancelledError from None
        case "not-started":
            raise CannotProveError(
                "no process can be started for it: {error}", error=error.words
            ) from None
        case "not-ready":
            raise CannotProveError("its process {end}", end=error.words) from None
        case "slow":
            return sentence("hung")
        case _:
            return error.words


# --------------------------------------------------------------------------------- in the child


def run_prover(path: str, pipe: socket.socket) -> None:
    """Run the child process: test the named kernels; never returns.

    Args:
        path: Path of the library.
        pipe: Socket from which names are read, and to which outcomes are written.
    """
    library = KernelLibrary(Path(path))
    is_taken = library.install()
    numbers = {kernel.name: i for i, kernel in enumerate(library.kernels)}

    def test(name: str) -> str:
        return str(library.self_test(numbers[name])) if is_taken else REFUSED

    serve(ChildPipe(pipe), test, bytes.decode, str.encode)
