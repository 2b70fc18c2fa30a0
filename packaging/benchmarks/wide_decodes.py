"""Decodes of any width in one place of a context, by stock or own kernels, for `widths`.

Kernels are switched within the process, between two decodes. Everything here is called on one
thread.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from paceline.engine.auto.costs import MAX_WIDTH
from paceline.engine.cancel import CancelFlag
from paceline.engine.model.backend import Backend, LanguageModel, Rows
from paceline.engine.model.own_kernels import NoKernelsError, find_library
from paceline.params import ModelParams

if TYPE_CHECKING:
    from paceline.engine.llama.kernel_library import KernelLibrary

STOCK, OWN = "stock", "own"
MAX_ROWS = MAX_WIDTH
"""Tokens of the widest verify."""
_FIRST_TOKEN = 300
"""Tokens below are control tokens in many vocabularies."""


class Sides:
    """The kernels to choose from.

    Attributes:
        names: Names of the kernels, stock first.
        why_stock: Reason why there is no other choice; empty if there is one.
    """

    def __init__(
        self, library: KernelLibrary | None, only: Sequence[str] = (), why_stock: str = ""
    ) -> None:
        """Switch own kernels off.

        Args:
            library: Own kernels, or None if there are none.
            only: Names of the kernels to use; empty for all.
            why_stock: Reason why there are none.
        """
        self._library = library
        self._mask = 0
        if library is not None:
            self._mask = sum(
                1 << i for i, k in enumerate(library.kernels) if not only or k.name in only
            )
            library.enable(0)
        self.names = (STOCK, OWN) if self._mask else (STOCK,)
        self.why_stock = why_stock

    def use(self, side: str) -> None:
        """Compute the next decodes with these kernels."""
        if self._library is not None:
            self._library.enable(self._mask if side == OWN else 0)

    def at_work(self) -> tuple[str, ...]:
        """Return the names of own kernels that have computed since `use`."""
        if self._library is None:
            return ()
        called = self._library.called()
        return tuple(k.name for i, k in enumerate(self._library.kernels) if called >> i & 1)


def own_library(path: Path | None, cache_dir: Path) -> KernelLibrary:
    """Load and install the library of own kernels, whether or not they are proved.

    Args:
        path: The file, or None for the one that the engine would load.
        cache_dir: The user's.

    Raises:
        ModelError: There is none, or it cannot be used here; says why.
    """
    # Loads the native library, so not before OpenMP's settings are made: see `engine.native`.
    from paceline.engine.llama.kernel_library import KernelLibrary  # noqa: PLC0415

    library = KernelLibrary(path or find_library(str(cache_dir)))
    if not library.install():
        raise NoKernelsError("this processor or this build of llama.cpp does not take them")
    return library


class WideDecodes:
    """A model, and decodes that follow a context of so many tokens.

    Attributes:
        model: The loaded model.
        sides: The kernels to choose from.
        n_cells: Tokens in the context.
    """

    def __init__(self, backend: Backend, params: ModelParams, sides: Sides) -> None:
        """Load the model.

        Raises:
            UserError: It cannot be loaded.
        """
        self.sides = sides
        self.n_cells = 0
        self.model: LanguageModel = backend.load(
            params, n_rows=MAX_ROWS, cancel=CancelFlag(), progress=lambda _fraction: None
        )

    def set_threads(self, n_threads: int) -> None:
        """Set the number of threads; with one thread, its CPU time is measured."""
        self.model.set_threads(n_threads, n_threads)
        self.model.clock = time.thread_time if n_threads == 1 else time.perf_counter

    def fill(self, n_cells: int) -> None:
        """Begin a context of so many tokens, the same ones every time, by stock kernels."""
        self.model.clear()
        self.sides.use(STOCK)
        tokens = self.tokens(n_cells, seed=n_cells)
        for start in range(0, n_cells, self.model.n_batch):
            self.model.decode(tokens[start : start + self.model.n_batch], 0)
        self.n_cells = n_cells

    def tokens(self, n: int, seed: int) -> list[int]:
        """Return random tokens."""
        drawn = random.Random(seed)
        return [drawn.randrange(_FIRST_TOKEN, self.model.vocab.n_tokens) for _ in range(n)]

    def decode(self, side: str, tokens: Sequence[int]) -> Rows:
        """Append tokens to the context and return the logits of all of them."""
        self.sides.use(side)
        return self.model.decode(tokens, len(tokens))

    def seconds(self, side: str, tokens: Sequence[int]) -> float:
        """Time a decode of tokens after the context, which is then as before.

        Of more than `MAX_ROWS` tokens the last one's logits are computed, else those of all.
        """
        self.sides.use(side)
        before = self.model.native_s
        self.model.decode(tokens, len(tokens) if len(tokens) <= MAX_ROWS else 1)
        taken = self.model.native_s - before
        self.cut()
        return taken

    def seconds_of_prompt(self, side: str, tokens: Sequence[int], piece: int) -> float:
        """Time reading tokens into an empty context, so many per decode; leaves it empty."""
        self.model.clear()
        self.sides.use(side)
        before = self.model.native_s
        for start in range(0, len(tokens), piece):
            part = tokens[start : start + piece]
            self.model.decode(part, int(start + piece >= len(tokens)))
        taken = self.model.native_s - before
        self.model.clear()
        return taken

    def cut(self) -> None:
        """Shorten the context to what `fill` has left."""
        self.model.rollback(self.n_cells)

    def close(self) -> None:
        """Free the model, and compute by stock kernels again."""
        self.sides.use(STOCK)
        self.model.close()
