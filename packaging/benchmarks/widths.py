"""The time of a decode of n tokens: ``python packaging/benchmarks widths --target MODEL…``.

The gain of speculation depends on this: seconds of a decode of n tokens over those of a plain one.
Paceline's own kernels and llama.cpp's ("stock") are measured in one process, in turns. Each pair of
decodes has the same tokens in the same place, one right after the other, and before them comes a
decode of that width which is not timed: so both use a graph that is built already. The order of the
two alternates, and so does that of the widths. With one thread, times are the thread's CPU time;
with more, elapsed time.

Shown are medians with 95 % intervals, in units of the median stock decode of one token: stock, own,
and own / stock by pairs. The limit: own / stock is at most 1.02 in every cell, by the upper end of
its interval. Widths above 63 are pieces of a prefill, which are measured in every fourth round.

``--check`` times nothing. It compares the logits of a decode of n tokens with those of n plain
ones, bit for bit; right is what the same kernels compute for one row with one thread. 63 tokens go
through the context in batches of each width, so that every width is seen in many places. How far
own plain rows are from stock's is told as the largest difference of two logits. Models for it are
made by ``tests/make_pairs.py`` and ``tests/real_models.py``.

``--again N`` times nothing either. The same batch is decoded N times at each width, and each row
compared with the first one, bit for bit; the context is filled anew now and then. With
``--busy M`` that many processes compute beside it, so that threads are held up anywhere. No row may
differ, by whatever kernels: what timing decides must not be a number.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.busy_machine import others
from benchmarks.wide_decodes import MAX_ROWS, OWN, STOCK, Sides, WideDecodes, own_library
from paceline.bench.recommend import Interval, bootstrap
from paceline.bench.runs import describe_machine, load_average
from paceline.chat.reply import model_record
from paceline.engine.model.backend import Rows
from paceline.engine.model.model_file import GgufHeader
from paceline.engine.model.model_params import KV_TYPES
from paceline.engine.native import llama_backend
from paceline.errors import ModelError, UserError
from paceline.params import ModelParams
from paceline.paths import Paths, demo_pair

WIDTHS = (*range(1, 17), 32, MAX_ROWS, 512)
TIMED_CELLS = (64,)
CHECKED_CELLS = (64, 250, 300, 600, 1000, 2000, 4000)
"""Tokens in the context, for times and for bits."""
MOST = 1.02
_EVERY = 4
_EVERY_FILLING = 250
_SUMMARY = (1, 2, 3, 4, 6, 8, 12, 16, 32, 63, 512)
Samples = Mapping[tuple[str, int], Sequence[float]]
"""Seconds by side and width, in the order of the rounds."""


# --------------------------------------------------------------------------------------- times


def measure(
    decodes: WideDecodes, widths: Sequence[int], repeat: int
) -> tuple[Samples, tuple[str, ...]]:
    """Time the widths on all sides.

    Args:
        decodes: The model, with its context filled.
        widths: Tokens per decode.
        repeat: Rounds.

    Returns:
        Seconds by side and width; own kernels that have computed.
    """
    samples: dict[tuple[str, int], list[float]] = {}
    kernels: set[str] = set()
    for turn in range(repeat):
        for width in widths if turn // 2 % 2 == 0 else tuple(reversed(widths)):
            if width > MAX_ROWS and turn % _EVERY:
                continue
            names = decodes.sides.names
            # Prefills come in every fourth turn alone, and their order alternates as well.
            n_th = turn // _EVERY if width > MAX_ROWS else turn
            order = names if n_th % 2 == 0 else tuple(reversed(names))
            tokens = decodes.tokens(width, seed=turn)
            decodes.seconds(order[0], tokens)
            for side in order:
                samples.setdefault((side, width), []).append(decodes.seconds(side, tokens))
                if side == OWN:
                    kernels.update(decodes.sides.at_work())
    return samples, tuple(sorted(kernels))


@dataclass(frozen=True, slots=True)
class Cell:
    """One width; in units of the median stock decode of one token.

    Attributes:
        width: Tokens.
        stock: Time with stock kernels.
        own: The same with own kernels, or None if there are none.
        own_by_stock: Median of the pairs' ratios.
        n_pairs: Samples.
    """

    width: int
    stock: Interval
    own: Interval | None
    own_by_stock: Interval | None
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
        cells: The results by width.
    """

    file: str
    n_threads: int
    n_cells: int
    plain_s: float
    kernels: tuple[str, ...]
    cells: tuple[Cell, ...]

    @property
    def too_slow(self) -> list[int]:
        """Widths at which own kernels may be above the limit."""
        return [c.width for c in self.cells if c.own_by_stock and c.own_by_stock.high > MOST]


def cell(width: int, samples: Samples, plain: Sequence[float]) -> Cell:
    """Return the results of one width.

    Args:
        width: Tokens.
        samples: The measurements.
        plain: Seconds of stock decodes of one token.
    """
    stock, own = samples[STOCK, width], samples.get((OWN, width))

    def in_plain(seconds: Sequence[float]) -> Interval:
        return bootstrap([seconds, plain], lambda groups: median(groups[0]) / median(groups[1]))

    return Cell(
        width,
        in_plain(stock),
        in_plain(own) if own else None,
        bootstrap([[o / s for o, s in zip(own, stock, strict=True)]]) if own else None,
        len(stock),
    )


def report(table: Table) -> str:
    """Return a table for people."""
    lines = [
        f"{table.file}, {table.n_threads} thread{'s' * (table.n_threads > 1)}, {table.n_cells} "
        f"cells: a plain decode takes {table.plain_s * 1e3:.2f} ms",
        f"own kernels at work: {', '.join(table.kernels) or 'none'}",
        f"{'n':>4}{'stock':>28}{'own':>28}{'own / stock':>28}",
    ]
    for each in table.cells:
        mark = " *" if each.width in table.too_slow else ""
        lines.append(
            f"{each.width:4}{each.stock!s:>28}{each.own or '–'!s:>28}"
            f"{each.own_by_stock or '–'!s:>28}{mark}"
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


# --------------------------------------------------------------------------------------- bits


@dataclass(frozen=True, slots=True)
class Bits:
    """Results of one width in one context.

    Attributes:
        side: Name of the kernels that compute.
        n_threads: Threads.
        n_cells: Tokens in the context before the first batch.
        width: Tokens per batch.
        n_rows: Rows that were compared.
        n_different: Number of rows that differ in at least one bit.
        largest: The largest difference of two logits.
        kernels: Own kernels that have computed.
        from_stock: Largest difference of a logit from stock kernels, of single rows, or None if
            they were not compared.
    """

    side: str
    n_threads: int
    n_cells: int
    width: int
    n_rows: int
    n_different: int
    largest: float
    kernels: tuple[str, ...]
    from_stock: float | None = None


def compare_bits(
    decodes: WideDecodes, threads: Sequence[int], cells: Sequence[int], widths: Sequence[int]
) -> Iterator[Bits]:
    """Compare all widths on all sides with rows alone on that side.

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
        right: dict[str, Rows] = {}
        for side in decodes.sides.names:
            decodes.cut()
            alone = [decodes.decode(side, [token]).copy() for token in tokens]
            right[side] = np.concatenate(alone)
        for n_threads in threads:
            decodes.set_threads(n_threads)
            for side in decodes.sides.names:
                from_stock = float(np.abs(right[side] - right[STOCK]).max())
                for width in widths:
                    if width <= MAX_ROWS:
                        different, largest, kernels = _differences(
                            decodes, side, width, tokens, right[side]
                        )
                        yield Bits(
                            side, n_threads, n_cells, width,
                            len(different), sum(different), largest, kernels, from_stock,
                        )  # fmt: skip


def _differences(
    decodes: WideDecodes, side: str, width: int, tokens: Sequence[int], right: Rows
) -> tuple[list[bool], float, tuple[str, ...]]:
    """Decode as many batches of this width as there are tokens for.

    Args:
        decodes: The model.
        side: Name of the kernels that compute.
        width: Tokens per batch.
        tokens: The tokens that follow in the context.
        right: Their correct logits, float32 [len(tokens), n_vocab].

    Returns:
        True for each row that differs; the largest difference; own kernels that have computed.
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


def compare_again(
    decodes: WideDecodes,
    threads: Sequence[int],
    cells: Sequence[int],
    widths: Sequence[int],
    n_times: int,
) -> Iterator[Bits]:
    """Decode each batch many times, and compare with the first time, on all sides.

    Args:
        decodes: The model.
        threads: Numbers of threads.
        cells: Lengths of the context.
        widths: Those above `MAX_ROWS` are left out.
        n_times: Decodes of each batch.
    """
    widths = [width for width in widths if width <= MAX_ROWS]
    for n_cells in cells:
        tokens = decodes.tokens(MAX_ROWS, seed=n_cells + 1)
        for n_threads in threads:
            decodes.set_threads(n_threads)
            for side in decodes.sides.names:
                first: dict[int, Rows] = {}
                found = dict.fromkeys(widths, (0, 0.0))
                kernels: set[str] = set()
                for i in range(n_times):
                    if i % _EVERY_FILLING == 0:
                        decodes.fill(n_cells)
                    for width in widths:
                        rows = decodes.decode(side, tokens[:width])
                        kernels.update(decodes.sides.at_work())
                        right = first.setdefault(width, rows.copy())
                        differ = (rows.view(np.uint32) != right.view(np.uint32)).any(axis=1)
                        if differ.any():
                            n, largest = found[width]
                            largest = max(largest, float(np.abs(rows - right).max()))
                            found[width] = n + int(differ.sum()), largest
                        decodes.cut()
                for width, (n, largest) in found.items():
                    yield Bits(
                        side, n_threads, n_cells, width,
                        n_times * width, n, largest, tuple(sorted(kernels)),
                    )  # fmt: skip


def bits_report(found: Sequence[Bits]) -> str:
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
    apart = [b.from_stock for b in found if b.side == OWN and b.from_stock is not None]
    if apart:
        lines.append(f"largest difference of own rows from stock's: {max(apart):.2g}")
    kernels = sorted({name for bits in found for name in bits.kernels})
    lines.append(f"own kernels at work: {', '.join(kernels) or 'none'}")
    return "\n".join(lines)


def are_equal(found: Sequence[Bits], sides: Sequence[str] = (OWN,)) -> bool:
    """Return whether these kernels give equal bits everywhere."""
    return not any(bits.n_different for bits in found if bits.side in sides)


# ----------------------------------------------------------------------------------------- run


class Run:
    """One call of the benchmark: its options and its results.

    Attributes:
        tables: Tables of all models that were timed.
        isa: Instruction set of own kernels, or empty if there are none.
    """

    def __init__(self, args: argparse.Namespace) -> None:
        """Find the kernels.

        Raises:
            UserError: Those that were asked for are not there, or cannot be used.
        """
        self._args = args
        self._load_before = load_average()
        self._backend = llama_backend()
        self._engine = self._backend.describe()
        self.tables: list[Table] = []
        only = tuple(args.only.split(",")) if args.only else ()
        try:
            library = own_library(args.library, Paths.from_environment().cache_dir)
        except ModelError as error:
            if args.library or only:
                raise
            self.isa, self._sides = "", Sides(None, why_stock=error.message)
            return
        if unknown := set(only) - {kernel.name for kernel in library.kernels}:
            raise UserError("no-such-kernel", f"There is no kernel {', '.join(sorted(unknown))}.")
        self.isa, self._sides = library.isa, Sides(library, only)

    @property
    def kernels(self) -> str:
        """Return the instruction set of own kernels, or the reason why there are none."""
        return self.isa or self._sides.why_stock

    def _loaded(self, path: str, n_tokens: int) -> WideDecodes:
        """Load a model with a context of so many tokens at least."""
        args = self._args
        params = ModelParams(
            path,
            n_ctx=-(-n_tokens // 256) * 256,
            n_threads=1,
            n_gpu_layers=0,
            kv_type_k=args.cache_type,
            kv_type_v=args.cache_type,
            extra_bufts=not args.plain_weights,
        )
        return WideDecodes(self._backend, params, self._sides)

    def _described(self, decodes: WideDecodes) -> dict[str, Any]:
        info = decodes.model.info
        return {
            "model": asdict(model_record(info)),
            "machine": asdict(describe_machine(self._engine, info, self._load_before)),
            "isa": self.isa,
        }

    def check(self, path: str) -> dict[str, Any]:
        """Compare a model's bits, print what was found and return it as JSON data."""
        wanted = self._args.cells or CHECKED_CELLS
        longest = _header(path).of_architecture("context_length") // 256 * 256 - MAX_ROWS
        cells = [n for n in wanted if n <= longest]
        too_many = ", ".join(str(n) for n in wanted if n > longest)
        print(Path(path).name + (f" (a context of {too_many} is too long)" if too_many else ""))
        with closing(self._loaded(path, max(cells, default=0) + MAX_ROWS)) as decodes:
            result = self._described(decodes)
            args = self._args
            sides: Sequence[str] = decodes.sides.names if args.again else (OWN,)
            if args.again:
                with others(args.busy) as go:
                    go()
                    found = list(
                        compare_again(decodes, args.threads, cells, args.widths, args.again)
                    )
            else:
                found = list(compare_bits(decodes, args.threads, cells, args.widths))
        print(bits_report(found), end="\n\n", flush=True)
        result["is_wanted"] = are_equal(found, sides)
        result["bits"] = [asdict(bits) for bits in found]
        return result

    def time(self, path: str) -> dict[str, Any]:
        """Time a model, print its tables and return them as JSON data."""
        args = self._args
        cells, widths = args.cells or TIMED_CELLS, sorted({1, *args.widths})
        tables: list[Table] = []
        with closing(self._loaded(path, max(cells) + max(widths))) as decodes:
            result = self._described(decodes)
            for n_threads in args.threads:
                decodes.set_threads(n_threads)
                for n_cells in cells:
                    decodes.fill(n_cells)
                    samples, kernels = measure(decodes, widths, args.repeat)
                    plain = samples[STOCK, 1]
                    found = tuple(cell(width, samples, plain) for width in widths)
                    name = Path(path).name
                    tables.append(Table(name, n_threads, n_cells, median(plain), kernels, found))
                    print(report(tables[-1]), end="\n\n", flush=True)
        self.tables += tables
        result["is_wanted"] = not any(table.too_slow for table in tables)
        result["tables"] = [asdict(table) for table in tables]
        return result


def _header(path: str) -> GgufHeader:
    from paceline.engine.llama import read_header  # noqa: PLC0415  loads the native library

    return read_header(Path(path))


def _numbers(text: str) -> tuple[int, ...]:
    """Parse e.g. ``1,2,4-8``."""
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    if not found or min(found) < 1:
        raise ValueError(text)
    return tuple(found)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python packaging/benchmarks widths")
    parser.add_argument("--target", nargs="+", default=[str(demo_pair()[0])], metavar="MODEL")
    parser.add_argument("--threads", type=_numbers, default=(1,), help="e.g. 1,2")
    parser.add_argument(
        "--cells", type=_numbers, help="tokens in the context; default 64, or several for --check"
    )
    parser.add_argument("--widths", type=_numbers, default=WIDTHS, help="e.g. 1-16,32,63,512")
    parser.add_argument("--repeat", type=int, default=12, help="rounds")
    parser.add_argument("--cache-type", default="f16", choices=sorted(KV_TYPES))
    parser.add_argument("--plain-weights", action="store_true", help="do not repack them")
    parser.add_argument("--library", type=Path, help="own kernels; default: the engine's")
    parser.add_argument("--only", default="", help="own kernels to use, by name; default: all")
    parser.add_argument("--check", action="store_true", help="compare bits, time nothing")
    parser.add_argument("--again", type=int, default=0, metavar="N", help="decode the same N times")
    parser.add_argument("--busy", type=int, default=0, help="processes beside --again")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything there")
    return parser


def main(argv: list[str] | None = None) -> int:
    """Print tables; exit 1 when a figure misses its limit, 2 when something cannot be used."""
    args = _parser().parse_args(argv)
    try:
        run = Run(args)
        print(f"own kernels: {run.kernels}", end="\n\n", flush=True)
        is_check = args.check or args.again
        results = [run.check(path) if is_check else run.time(path) for path in args.target]
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    if len(run.tables) > 1:
        print(summary(run.tables))
    if args.json:
        args.json.write_text(json.dumps(results, indent=1), "utf-8")
    return int(not all(result["is_wanted"] for result in results))


if __name__ == "__main__":
    raise SystemExit(main())
