"""Drawing in native code: `app/kernels/rows`, called by ctypes.

The library is our own, has no state and needs nothing of llama.cpp. Its results equal those of
`plain_rows.py`.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import math
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paceline.engine.model.backend import Row, Rows
from paceline.engine.model.token_mask import TokenMask
from paceline.engine.sample.drawing import (
    COLD,
    MAX_LIKELY,
    Likely,
    RowSettings,
    grammar_stuck,
    invalid_numbers,
    nothing_left,
)
from paceline.engine.sample.edits import PENALTY_WINDOW
from paceline.errors import EngineError
from paceline.installation import rows_files

INTERFACE = 1
"""Required return value of `paceline_rows_interface`."""
MAX_ROWS = 512
"""Maximum number of rows per call; no decode gives more."""
_MAX_INT32 = 2**31 - 1
_EMPTY, _STUCK = 2, 3

_POINTER, _I32, _I64, _F64 = ctypes.c_void_p, ctypes.c_int32, ctypes.c_int64, ctypes.c_double


class _Request(ctypes.Structure):
    """`struct paceline_rows_request` of `rows.h`."""

    _fields_ = (
        ("temperature", _F64),
        ("top_p", _F64),
        ("log_min_p", _F64),
        ("repeat", _F64),
        ("presence", _F64),
        ("frequency", _F64),
        ("seed", ctypes.c_uint64),
        ("biased", _POINTER),
        ("biases", _POINTER),
        ("forbidden", _POINTER),
        ("scratch", _POINTER),
        ("top_k", _I32),
        ("n_biased", _I32),
        ("n_forbidden", _I32),
        ("n_best", _I32),
        ("allowed", ctypes.c_char_p),
        ("n_allowed", _I64),
        ("n_recent", _I32),
        ("has_confidence", _I32),
        ("recent", _I32 * PENALTY_WINDOW),
        ("draft", _I32 * MAX_ROWS),
        ("tokens", _I32 * MAX_ROWS),
        ("confidence", _F64),
        ("log_sum", _F64 * MAX_ROWS),
        ("logit", ctypes.c_float * MAX_ROWS),
        ("best", _I32 * (MAX_ROWS * MAX_LIKELY)),
        ("best_logit", ctypes.c_float * (MAX_ROWS * MAX_LIKELY)),
        ("n_drawn", _I32),
    )


class RowLibrary:
    """The loaded native library.

    Attributes:
        draw: Its function for drawing.

    Args:
        path: Path of its file.

    Raises:
        OSError: It cannot be loaded, or was made for another version of Paceline.
    """

    def __init__(self, path: Path) -> None:
        self._lib = lib = ctypes.CDLL(str(path))
        try:
            size = lib.paceline_rows_request_size
            self.draw: Any = lib.paceline_rows_draw
            self._scratch, self._isa = lib.paceline_rows_scratch, lib.paceline_rows_isa
            is_ours = lib.paceline_rows_interface() == INTERFACE
        except AttributeError as error:
            raise OSError(str(error)) from None
        size.restype, self._scratch.restype, self._isa.restype = _I64, _I64, ctypes.c_char_p
        if not is_ours or size() != ctypes.sizeof(_Request):
            raise OSError("it is made for another Paceline")
        self._scratch.argtypes = _I64, _I32
        self.draw.argtypes = _POINTER, _POINTER, _I64, _I64, _I32

    @property
    def isa(self) -> str:
        """The instruction set that it uses: "avx512", "avx2" or "generic"."""
        name: bytes = self._isa()
        return name.decode()

    def use(self, isa: str) -> bool:
        """Use another instruction set, for tests; return False if processor or library lack it."""
        return bool(self._lib.paceline_rows_use(isa.encode()) == 0)

    def scratch(self, n_vocab: int, n_biased: int) -> NDArray[np.uint64]:
        """Return scratch memory for rows of this length."""
        return np.empty(-(-self._scratch(n_vocab, n_biased) // 8), np.uint64)


class NativeRows:
    """Implements `RowDrawer` with the native library."""

    def __init__(self, library: RowLibrary, settings: RowSettings) -> None:
        self._draw, self._library, self._settings = library.draw, library, settings
        params, biases = settings.params, settings.biases
        self._is_plain = not settings.penalties.is_active and settings.n_likely < 0
        self._request = request = _Request(
            temperature=params.temperature if params.temperature >= COLD else 0.0,
            top_p=params.top_p,
            log_min_p=math.log(params.min_p) if params.min_p > 0 else -math.inf,
            repeat=params.repeat_penalty,
            presence=params.presence_penalty,
            frequency=params.frequency_penalty,
            seed=settings.seed & (2**64 - 1),
            biased=biases.tokens.ctypes.data,
            biases=biases.added.ctypes.data,
            forbidden=biases.forbidden.ctypes.data,
            top_k=min(params.top_k, _MAX_INT32),
            n_biased=len(biases.tokens),
            n_forbidden=len(biases.forbidden),
            n_best=settings.n_likely,
        )
        self._address = ctypes.addressof(request)
        self._tokens, self._draft, self._recent = (
            memoryview(field).cast("B").cast("i")
            for field in (request.tokens, request.draft, request.recent)
        )
        self._rows: Rows | Row | None = None
        self._n_vocab = self._where = 0
        self.failure: EngineError | None = None
        self.confidence = 0.0
        self.likely: list[Likely] = []

    def draw(
        self,
        rows: Rows | Row,
        draft: Sequence[int],
        position: int,
        allowed: TokenMask | None = None,
        *,
        has_confidence: bool = False,
    ) -> list[int]:
        """Draw rows in order; see `RowDrawer`."""
        if rows is not self._rows:  # a model returns the same view again and again
            self._take(rows)
        if draft:
            self._draft[: len(draft)] = array("i", draft)
        if not self._is_plain or allowed is not None or has_confidence:
            return self._with_more(len(draft) + 1, position, allowed, has_confidence=has_confidence)
        failed = self._draw(self._address, self._where, self._n_vocab, position, len(draft) + 1)
        if failed or draft:
            self.failure = self._failure_of(failed)
            return self._tokens[: self._request.n_drawn].tolist()
        self.failure = None
        return [self._tokens[0]]

    def _with_more(
        self,
        n_rows: int,
        position: int,
        allowed: TokenMask | None,
        *,
        has_confidence: bool,
    ) -> list[int]:
        """Draw with penalties or a grammar, or with further results than tokens."""
        request, recent = self._request, self._settings.penalties.recent
        if self._settings.penalties.is_active:
            request.n_recent = len(recent)
            self._recent[: len(recent)] = array("i", recent)
        if allowed is not None:
            request.allowed, request.n_allowed = allowed
        request.has_confidence = has_confidence
        failed = self._draw(self._address, self._where, self._n_vocab, position, n_rows)
        self.failure = self._failure_of(failed)
        request.allowed = None
        if has_confidence:
            request.has_confidence = 0
            self.confidence = request.confidence
        n = request.n_drawn
        if self._settings.n_likely >= 0:
            self.likely += map(self._likely, range(n))
        return self._tokens[:n].tolist()

    def _take(self, rows: Rows | Row) -> None:
        """Switch to other rows, possibly of another length."""
        self._rows = rows
        self._where = _address(rows)
        n_vocab = rows.shape[-1]
        if n_vocab != self._n_vocab:
            self._n_vocab = n_vocab
            self._scratch = self._library.scratch(n_vocab, self._request.n_biased)
            self._request.scratch = self._scratch.ctypes.data

    def _likely(self, i: int) -> Likely:
        request, n = self._request, self._settings.n_likely
        total = request.log_sum[i]
        tokens = request.best[i * n : (i + 1) * n]
        logits = request.best_logit[i * n : (i + 1) * n]
        pairs = zip(tokens, logits, strict=True)
        best = [(token, logit - total) for token, logit in pairs if logit > -math.inf]
        return Likely(request.logit[i] - total, best)

    def _failure_of(self, failed: int) -> EngineError | None:
        if not failed:
            return None
        if failed == _EMPTY:
            return nothing_left(self._settings.biases, self._n_vocab)
        return grammar_stuck() if failed == _STUCK else invalid_numbers()


def _address(values: NDArray[Any]) -> int:
    """Return the address of a writable array of one value or more.

    Its attribute `ctypes` has it, too, but takes 30 us after a decode, four times as long.
    """
    return ctypes.addressof(ctypes.c_char.from_buffer(values.data))


@functools.cache
def library(cache_dir: str = "") -> RowLibrary | None:
    """Return the library, which is searched and loaded once per process, or None.

    Args:
        cache_dir: The user's cache folder, where it may have been built; empty for the installed
            one only.
    """
    path = rows_files.find(Path(cache_dir) if cache_dir else None)
    with contextlib.suppress(OSError):
        return RowLibrary(path) if path else None
    return None
