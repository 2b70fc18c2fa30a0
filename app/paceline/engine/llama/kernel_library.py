"""The shared library of own kernels, as `app/kernels/paceline_kernels.h` describes it."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any, NamedTuple

from llama_cpp._ggml import libggml

from paceline.engine.llama.library import start
from paceline.engine.own_kernels import BUILD, NoKernelsError

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
            raise NoKernelsError(f"their library cannot be loaded ({error})", BUILD) from None
        found = lib.paceline_kernels_interface()
        if found != INTERFACE:
            raise NoKernelsError(
                f"their library has the interface {found} instead of {INTERFACE}", BUILD
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
        """Switch on the kernels whose bits are set, all others off; counts begin anew."""
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
    for name, result, arguments in (
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
    ):
        function = getattr(lib, f"paceline_kernels_{name}")
        function.restype, function.argtypes = result, arguments
    return lib
