"""What `widths` shows: intervals per width, a table per model, threads and context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from paceline.bench.intervals import Interval, bootstrap, median_interval
from paceline.bench.limits import Machine
from paceline.bench.wide_decodes import OWN, STOCK

MOST = 1.02
_SUMMARY = (1, 2, 3, 4, 6, 8, 12, 16, 32, 63, 512)
Samples = Mapping[tuple[str, int], Sequence[float]]
"""Seconds by side and width, in the order of the rounds."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One width; in units of the median stock decode of one token.

    Attributes:
        width: Tokens.
        stock: By stock kernels.
        own: By own kernels; None: there are none.
        own_by_stock: Median of the pairs' ratios.
        limit: What the machine needs at least.
        n_pairs: Samples.
    """

    width: int
    stock: Interval
    own: Interval | None
    own_by_stock: Interval | None
    limit: float
    n_pairs: int


@dataclass(frozen=True, slots=True)
class Table:
    """One model with so many threads after so many tokens.

    Attributes:
        file: The model file's name.
        n_threads: Threads.
        n_cells: Tokens in the context.
        plain_s: Seconds of a stock decode of one token, the median.
        kernels: Own kernels that have computed.
        cells: By width.
    """

    file: str
    n_threads: int
    n_cells: int
    plain_s: float
    kernels: tuple[str, ...]
    cells: tuple[Cell, ...]

    @property
    def too_slow(self) -> list[int]:
        """Widths at which own kernels may be slower than wanted."""
        return [c.width for c in self.cells if c.own_by_stock and c.own_by_stock.high > MOST]


def cell(width: int, samples: Samples, plain: Sequence[float], least_s: float) -> Cell:
    """Return what was measured of one width.

    Args:
        width: Tokens.
        samples: What was measured.
        plain: Seconds of stock decodes of one token.
        least_s: The limit.
    """
    stock, own = samples[STOCK, width], samples.get((OWN, width))

    def in_plain(seconds: Sequence[float]) -> Interval:
        return bootstrap([seconds, plain], lambda groups: median(groups[0]) / median(groups[1]))

    return Cell(
        width,
        in_plain(stock),
        in_plain(own) if own else None,
        median_interval([o / s for o, s in zip(own, stock, strict=True)]) if own else None,
        least_s / median(plain),
        len(stock),
    )


def report(table: Table, limits: Machine) -> str:
    """Return a table for people."""
    lines = [
        f"{table.file}, {table.n_threads} thread{'s' * (table.n_threads > 1)}, {table.n_cells} "
        f"cells: a plain decode takes {table.plain_s * 1e3:.2f} ms",
        f"own kernels at work: {', '.join(table.kernels) or 'none'}; reads "
        f"{limits.bandwidth / 1e9:.1f} GB/s, multiplies {limits.byte_peak / 1e9:.0f} G bytes/s or "
        f"{limits.float_peak / 1e9:.0f} G floats/s",
        f"{'n':>4}{'stock':>28}{'own':>28}{'own / stock':>28}{'limit':>8}",
    ]
    for each in table.cells:
        mark = " *" if each.width in table.too_slow else ""
        lines.append(
            f"{each.width:4}{each.stock!s:>28}{each.own or '–'!s:>28}"
            f"{each.own_by_stock or '–'!s:>28}{each.limit:8.2f}{mark}"
        )
    if table.too_slow:
        lines.append(f"* own / stock may be above {MOST}")
    return "\n".join(lines)


def summary(tables: Sequence[Table]) -> str:
    """Return the medians of all tables, stock and own."""
    shown = [w for w in _SUMMARY if any(w == c.width for table in tables for c in table.cells)]
    lines = [f"{'stock → own':34}{'th':>3}{'cells':>6}" + "".join(f"{w:>17}" for w in shown)]
    for table in tables:
        by_width = {each.width: each for each in table.cells}
        texts = []
        for width in shown:
            found = by_width.get(width)
            own = f" → {found.own.median:.2f}" if found and found.own else ""
            texts.append(f"{f'{found.stock.median:.2f}{own}' if found else '':>17}")
        lines.append(f"{table.file:34}{table.n_threads:3}{table.n_cells:6}{''.join(texts)}")
    return "\n".join(lines)
