"""Whether the logits of a decode of n tokens are those of n plain ones, bit for bit.

What counts as right is what stock kernels compute for one row with one thread. 63 tokens go through
the context in batches of each width, so that every width is seen in many places.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from paceline.bench.wide_decodes import MAX_ROWS, OWN, STOCK, WideDecodes
from paceline.engine.backend import Rows

CELLS = (64, 250, 300, 600, 1000, 2000, 4000)


@dataclass(frozen=True, slots=True)
class Bits:
    """What came of one width in one context.

    Attributes:
        side: Whose kernels.
        n_threads: Threads.
        n_cells: Tokens in the context before the first batch.
        width: Tokens per batch.
        n_rows: Rows that were compared.
        n_different: Those with any bit that is another one.
        largest: The largest difference of two logits.
        kernels: Own kernels that have computed.
    """

    side: str
    n_threads: int
    n_cells: int
    width: int
    n_rows: int
    n_different: int
    largest: float
    kernels: tuple[str, ...]


def compare(
    decodes: WideDecodes, threads: Sequence[int], cells: Sequence[int], widths: Sequence[int]
) -> Iterator[Bits]:
    """Compare all widths on all sides.

    Args:
        decodes: The model.
        threads: Numbers of threads.
        cells: Lengths of the context.
        widths: Those above `MAX_ROWS` are left out.
    """
    for n_cells in cells:
        decodes.set_threads(1)
        decodes.fill(n_cells)
        tokens = decodes.tokens(MAX_ROWS, seed=n_cells + 1)
        right = np.concatenate([decodes.decode(STOCK, [token]).copy() for token in tokens])
        for n_threads in threads:
            decodes.set_threads(n_threads)
            for side in decodes.sides.names:
                for width in widths:
                    if width <= MAX_ROWS:
                        different, largest, kernels = _differences(
                            decodes, side, width, tokens, right
                        )
                        yield Bits(
                            side, n_threads, n_cells, width,
                            len(different), sum(different), largest, kernels,
                        )  # fmt: skip


def _differences(
    decodes: WideDecodes, side: str, width: int, tokens: Sequence[int], right: Rows
) -> tuple[list[bool], float, tuple[str, ...]]:
    """Decode as many batches of this width as there are tokens for.

    Args:
        decodes: The model.
        side: Whose kernels.
        width: Tokens per batch.
        tokens: What follows in the context.
        right: Their logits, float32 [len(tokens), n_vocab].

    Returns:
        For each row whether it differs, the largest difference, own kernels that have computed.
    """
    decodes.cut()
    different: list[bool] = []
    largest = 0.0
    kernels: set[str] = set()
    for start in range(0, len(tokens) - width + 1, width):
        rows = decodes.decode(side, tokens[start : start + width])
        kernels.update(decodes.sides.at_work())
        wanted = right[start : start + width]
        differ = (rows.view(np.uint32) != wanted.view(np.uint32)).any(axis=1)
        different += differ.tolist()
        if differ.any():
            largest = max(largest, float(np.abs(rows - wanted).max()))
    return different, largest, tuple(sorted(kernels))


def report(found: Sequence[Bits]) -> str:
    """Return a line per side, number of threads and context."""
    groups: dict[tuple[str, int, int], list[Bits]] = {}
    for bits in found:
        groups.setdefault((bits.side, bits.n_threads, bits.n_cells), []).append(bits)
    lines = [
        f"{'kernels':8}{'threads':>8}{'cells':>7}{'rows':>7}{'differ':>8}{'largest':>10}  widths"
    ]
    for (side, n_threads, n_cells), group in groups.items():
        n_rows = sum(bits.n_rows for bits in group)
        n_different = sum(bits.n_different for bits in group)
        largest = max(bits.largest for bits in group)
        widths = ", ".join(str(bits.width) for bits in group if bits.n_different)
        lines.append(
            f"{side:8}{n_threads:8}{n_cells:7}{n_rows:7}{n_different:8}{largest:10.2g}  {widths}"
        )
    kernels = sorted({name for bits in found for name in bits.kernels})
    lines.append(f"own kernels at work: {', '.join(kernels) or 'none'}")
    return "\n".join(lines)


def is_right(found: Sequence[Bits]) -> bool:
    """Whether own kernels have not changed a bit."""
    return not any(bits.n_different for bits in found if bits.side == OWN)
