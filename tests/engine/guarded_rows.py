"""A process that draws random rows whose memory is watched.

    python -m engine.guarded_rows LIBRARY N

All arrays that the library reads and writes end where a page begins that cannot be read, in every
second reply; in the others they lie in memory of their own, which a sanitizer watches. The tokens
of N rows are compared with those that NumPy draws, with each set of instructions that is here.
Prints their names, and ends by itself where a token differs.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.random_rows import asks, differences, settings_of
from paceline.engine.sample.native_rows import NativeRows, RowLibrary
from paceline.engine.sample.plain_rows import PlainRows

_LIBC = ctypes.CDLL(None, use_errno=True)
ISAS = "generic", "avx2", "avx512"


def guarded(array: NDArray[Any]) -> NDArray[Any]:
    """Return a copy that ends where a page begins that cannot be read."""
    size = -(-array.nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = mmap.mmap(-1, size + mmap.PAGESIZE)
    view = np.frombuffer(memory, np.uint8)
    place = ctypes.c_void_p(view.ctypes.data + size)
    if _LIBC.mprotect(place, ctypes.c_size_t(mmap.PAGESIZE), 0):
        raise OSError(ctypes.get_errno(), "mprotect")
    copy = view[size - array.nbytes : size].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


class GuardedLibrary(RowLibrary):
    """The library, whose own memory is watched, too."""

    copied = staticmethod(np.copy)

    def scratch(self, n_vocab: int, n_biased: int) -> NDArray[np.uint64]:
        """Return memory for rows of this length."""
        return self.copied(super().scratch(n_vocab, n_biased))


def main(path: str, wanted: str) -> None:
    """Compare the tokens of so many rows."""
    library = GuardedLibrary(Path(path))
    isas = [isa for isa in ISAS if library.use(isa)]
    np.seterr(all="ignore")
    n = seed = 0
    while n < int(wanted):
        rng = np.random.default_rng([9, seed])
        library.copied = copied = guarded if seed % 2 else np.copy
        n_vocab = int(rng.integers(1, 2000))
        settings = settings_of(rng, n_vocab)
        biases = settings.biases
        for name in ("tokens", "added", "forbidden"):
            setattr(biases, name, copied(getattr(biases, name)))
        plain, native = PlainRows(settings), NativeRows(library, settings)
        for ask in asks(rng, settings, n_vocab, native):
            expected = ask.put_to(plain)
            for isa in isas:
                library.use(isa)
                if said := differences(expected, ask.put_to(native, copied)):
                    raise SystemExit(f"{isa}, reply {seed}: {said}")
            n += expected.n_rows
        seed += 1
    print(*isas)


if __name__ == "__main__":
    main(*sys.argv[1:])
