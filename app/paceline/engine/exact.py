"""Exact mode: batch widths at which the target's logits do not depend on the width.

Speculation decodes several tokens at once, plain decoding one, and a backend may round differently
for different widths: then a near-tie can fall the other way. Measured on x86 CPUs with several
threads and flash attention: one token alone differs from every wider batch beyond 256 cells,
because the work for a single query is split among the threads; on GPUs the borders lie elsewhere.
So the widths are measured once per model and settings, and decoding stays within a range of them
that agrees: shorter batches are padded (`CachedContext.min_width`), drafts end at its upper end.

A prompt is computed in wider batches, whose numbers differ from those of decoding, so what a reply
left in the context is not what a prefill of the same text would give. Keeping a prefill to the
agreeing widths would cure that at a third to a fifth of its speed (measured, 1 thread: demo target
0.22, with 30 more layers 0.33), and where the range is short, at far less. Instead a prompt is cut
into pieces at fixed places, of which whole ones alone are reused: the last reply is prefilled once
more, and every cell comes from the batch that an empty context would compute it in. Pieces of 64
to 512 tokens are equally fast there (0.95 to 1.04 of 512).
"""

from __future__ import annotations

import statistics
import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paceline.engine.facts import Facts
from paceline.engine.prefix import CachedContext

_WIDTHS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 24, 32, 33, 48, 62, 63)
_CELLS = 330  # flash attention splits a single query from 256 cells on
_USEFUL = 4  # widths from the lowest to the highest, so that at least so much can be drafted
_CONSTANT = 8  # where no range agrees, every batch has this width
_N_TIMED = 3
PIECE = 128  # shorter ones leave less to compute anew behind a reply, longer ones suit GPUs


class Widths(NamedTuple):
    """A range of batch widths that give the same logits.

    Attributes:
        lowest: Shorter batches are padded to it.
        highest: Longer ones are not used for verifying.
        cost: A plain step's time at `lowest` over its time at width 1.
        exact: False where the backend does not even give the same logits twice.
    """

    lowest: int
    highest: int
    cost: float
    exact: bool

    def note(self) -> str:
        """Say what exact mode does here and what it costs."""
        if not self.exact:
            return (
                "Exact mode is not possible here: this device does not compute the same numbers "
                "twice, so replies may differ in near-ties."
            )
        promise = (
            "Exact mode: a reply is the same with any strategy and whatever was in the context "
            "before."
        )
        prefill = f"the last reply and up to {PIECE - 1} tokens more are prefilled again"
        if self.lowest == 1:
            return f"{promise} A step costs nothing more here; with each prompt {prefill}."
        return (
            f"{promise} Single tokens are decoded as {self.lowest}, drafts end at "
            f"{self.highest - 1} tokens, and a plain step takes {self.cost:.2f} × its usual time; "
            f"with each prompt {prefill}."
        )


def make_exact(context: CachedContext, facts: Facts) -> Widths:
    """Measure the widths, or take what was measured before, and set them on the context.

    Raises:
        CancelledError: The user stopped the load.
        EngineError: The model could not be run.
    """
    name = f"exact_widths|{context.model.facts_key}|{context.model.max_rows}"
    known = _parse(facts.get(name))
    widths = known or _measure(context)
    if known is None:
        facts.put(name, " ".join(map(str, (*widths[:3], int(widths.exact)))))
    context.min_width, context.max_width = widths.lowest, widths.highest
    context.prefill_piece = min(PIECE, context.model.n_batch) if widths.exact else 0
    return widths


def _parse(fact: object) -> Widths | None:
    try:
        lowest, highest, cost, exact = str(fact).split()
        return Widths(int(lowest), int(highest), float(cost), exact == "1")
    except ValueError:
        return None


def _measure(context: CachedContext) -> Widths:
    model = context.model
    n_most = min(model.max_rows, model.n_ctx // 2)
    widths = [w for w in _WIDTHS if w <= n_most]
    start = min(_CELLS, model.n_ctx - n_most)
    tokens = np.random.default_rng(0).integers(0, model.vocab.n_tokens, start + n_most).tolist()
    try:
        for done in range(0, start, model.n_batch):
            context.feed(tokens[done : min(done + model.n_batch, start)], 0)
        rows = {w: _rows(context, start, tokens[start : start + w]) for w in widths}
        if not _agree(rows[1], _rows(context, start, tokens[start : start + 1])):
            return Widths(1, n_most, 1.0, exact=False)
        lowest, highest = _range(rows, widths)
        cost = _seconds(context, start, tokens, lowest) / _seconds(context, start, tokens, 1)
        return Widths(lowest, highest, cost if lowest > 1 else 1.0, exact=True)
    finally:
        context.clear()


def _range(rows: dict[int, NDArray[np.float32]], widths: list[int]) -> tuple[int, int]:
    """Return the range with the lowest start that leaves room for drafts, as long as can be."""
    for i, lowest in enumerate(widths):
        highest = lowest
        for width in widths[i + 1 :]:
            if not all(_agree(rows[w], rows[width]) for w in widths[i:] if w < width):
                break
            highest = width
        if highest - lowest >= min(_USEFUL, widths[-1] - 1) and lowest <= _CONSTANT:
            return lowest, highest
    constant = min(_CONSTANT, widths[-1])
    return constant, constant


def _agree(some: NDArray[np.float32], more: NDArray[np.float32]) -> bool:
    n = min(len(some), len(more))
    return np.array_equal(some[:n], more[:n])


def _rows(context: CachedContext, start: int, tokens: list[int]) -> NDArray[np.float32]:
    """Return the logits of `tokens` behind `start` others, decoded at once."""
    context.rollback(start)
    return context.feed(tokens, len(tokens)).copy()


def _seconds(context: CachedContext, start: int, tokens: list[int], width: int) -> float:
    seconds = []
    for _ in range(_N_TIMED + 1):
        context.rollback(start)
        began = time.perf_counter()
        context.feed(tokens[start : start + width], width)
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds[1:])  # the first one rebuilds the graph
