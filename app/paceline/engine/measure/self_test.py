"""A model that was just loaded has to decode before it is relied on.

Where a build of llama.cpp cannot run a model (an instruction set that crashes, a kernel that gives
NaN), it shows here, at load, and not in a reply: a crash of the engine's process then means "load
it again another way". The widths are those that take different kernels: single tokens, pairs,
and batches wide enough for matrix instructions.

Whether the context's tail can be removed is tried out on the way, as `common_context_can_seq_rm`
of llama.cpp (common/common.cpp) does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paceline.engine.model.backend import LanguageModel, Rows
from paceline.engine.sameness.evidence import Pair
from paceline.engine.sameness.look import difference
from paceline.errors import DecodeMemoryError, ModelError

WIDTHS = (1, 2, 8)


class Tested(NamedTuple):
    """What a self-test has found.

    Attributes:
        can_rollback: Whether the context's tail can be removed; True where nothing could be
            drafted anyway.
        apart: Pairs of widths whose rows for the same tokens differed, with the largest difference
            of one logit. That there is none tells little, see `sameness/promise.py`.
    """

    can_rollback: bool
    apart: dict[Pair, float]


def self_test(model: LanguageModel) -> Tested:
    """Decode 1, 2 and 8 tokens, as far as they fit, and take one back.

    Leaves an empty context and `native_s` at 0. Takes the time of eleven tokens.

    Raises:
        ModelError: "invalid-numbers": a logit is NaN, or none is finite.
        CancelledError: The user stopped the load.
        EngineError: The library failed.
    """
    can_rollback = True
    narrowest: dict[int, tuple[int, Rows]] = {}  # by place: its width and row
    apart: dict[Pair, float] = {}
    try:
        for width in WIDTHS:
            if width > min(model.n_ctx, model.n_batch):
                break
            # The same token again and again: which one does not matter, and 0 is in every one.
            rows = model.decode([0] * width, min(width, model.max_rows))
            if not np.isfinite(rows.max(axis=1)).all():
                raise ModelError(
                    "invalid-numbers",
                    "The model gives invalid numbers instead of logits.",
                    "The file may be damaged, or made for something else than writing text.",
                )
            for place, row in enumerate(rows, width - len(rows)):
                narrow, first = narrowest.setdefault(place, (width, row.copy()))
                if found := difference(row, first):
                    apart[narrow, width] = max(found, apart.get((narrow, width), 0.0))
            if width == 2:
                can_rollback = model.rollback(1)
            model.clear()  # each width on its own: a context of 8 tokens has room for all
    finally:
        model.clear()
        model.native_s = 0.0
    return Tested(can_rollback, apart)


def check_going_back(model: LanguageModel) -> None:
    """See that a recurrent memory decodes with what `keep_states` chose, and comes back by that.

    States are dropped where they take too much memory or do not come back, and copies where another
    state comes back. Leaves an empty context and `native_s` at 0.

    Raises:
        ModelError: See `self_test`.
        CancelledError: The user stopped the load.
        EngineError: The library failed.
    """
    try:
        self_test(model)  # with states, it computes by other operators
    except DecodeMemoryError:
        model.remake(model.n_ctx, model.n_batch)
        self_test(model)
    if model.max_rollback and not model.needs_copies and not _comes_back(model, by_copy=False):
        model.keep_states(0)
    if not _comes_back(model, by_copy=True):
        model.give_up_copies()


def _comes_back(model: LanguageModel, *, by_copy: bool) -> bool:
    """Whether a row after what was taken back is what it was; also where there is no copy."""
    if min(model.n_ctx, model.n_batch) < max(WIDTHS):
        return True  # too short for any draft
    try:
        expected = [model.decode([0], 1)[0].copy() for _ in range(3)][-1]
        model.clear()
        model.decode([0], 1)
        if by_copy:
            model.decode([0], 1)
            model.save("draft")
            model.decode([1, 1, 1], 1)
            n_held = model.restore(2)
            if n_held < 0:
                return True
        else:
            model.decode([0, 1, 1], 1)
            n_held = 2 if model.rollback(2) else 0
        return n_held == 2 and bool(np.allclose(model.decode([0], 1)[0], expected, atol=1e-2))
    finally:
        model.clear()
        model.native_s = 0.0
