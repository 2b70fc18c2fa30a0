"""What n tokens in one decode cost: ``python -m paceline.bench.widths --target MODEL…``.

Speculation lives on this: seconds of a decode of n tokens over those of a plain one. Paceline's own
kernels and llama.cpp's ("stock") are measured in one process, in turns. Each pair of decodes has
the same tokens in the same place, one right after the other, and before them comes a decode of that
width which is not timed: so both find the graph built. The order of the two alternates, and so does
that of the widths. With one thread it is the thread's CPU time, else the time that passes.

Shown are medians with 95 % intervals, in units of the median stock decode of one token: stock, own,
own / stock by pairs, and the limit of the machine (`limits`). Wanted: own / stock is at most 1.02
in every cell, by the upper end of its interval. Widths above 63 are pieces of a prefill, which are
measured in every fourth round.

``--check`` times nothing and compares bits (`width_bits`). Models for it are made by the checkout's
``tests/make_pairs.py`` and ``tests/real_models.py``.
"""

from __future__ import annotations

import argparse
import functools
import json
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

from paceline.bench import machine, width_bits
from paceline.bench.limits import Machine, Work, measure_machine
from paceline.bench.wide_decodes import MAX_ROWS, OWN, STOCK, Sides, WideDecodes, own_library
from paceline.bench.width_tables import Samples, Table, cell, report, summary
from paceline.engine.gguf import GgufHeader
from paceline.engine.model_params import KV_TYPES
from paceline.engine.native import llama_backend
from paceline.errors import ModelError, UserError
from paceline.params import ModelParams
from paceline.paths import Paths, demo_pair

WIDTHS = (*range(1, 17), 32, MAX_ROWS, 512)
CELLS = (64,)
_EVERY = 4


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


class Run:
    """One call of the benchmark: what it was asked for, and what it has found.

    Attributes:
        tables: Of all models that were timed.
        isa: The instructions of own kernels; empty: there are none.
    """

    def __init__(self, args: argparse.Namespace) -> None:
        """Find the kernels.

        Raises:
            UserError: Those that were asked for are not there, or cannot be used.
        """
        self._args = args
        self._load_before = machine.load_average()
        self._backend = llama_backend()
        self._engine = self._backend.describe()
        self.tables: list[Table] = []
        self._limits = functools.cache(self._measured)
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
        """Own kernels' instructions, or why there are none."""
        return self.isa or self._sides.why_stock

    def _measured(self, n_threads: int) -> Machine:
        return measure_machine(n_threads, self._engine.system_info, self._args.peak * 1e9)

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
            "model": machine.describe_model(info),
            "machine": machine.describe(self._engine, info, self._load_before),
            "isa": self.isa,
        }

    def check(self, path: str) -> dict[str, Any]:
        """Compare a model's bits, print what was found and return it as JSON data."""
        wanted = self._args.cells or width_bits.CELLS
        longest = _header(path).of_architecture("context_length") // 256 * 256 - MAX_ROWS
        cells = [n for n in wanted if n <= longest]
        too_many = ", ".join(str(n) for n in wanted if n > longest)
        print(Path(path).name + (f" (a context of {too_many} is too long)" if too_many else ""))
        with closing(self._loaded(path, max(cells, default=0) + MAX_ROWS)) as decodes:
            result = self._described(decodes)
            found = list(width_bits.compare(decodes, self._args.threads, cells, self._args.widths))
        print(width_bits.report(found), end="\n\n", flush=True)
        result["is_wanted"] = width_bits.is_right(found)
        result["bits"] = [asdict(bits) for bits in found]
        return result

    def time(self, path: str) -> dict[str, Any]:
        """Time a model, print its tables and return them as JSON data."""
        args = self._args
        cells, widths = args.cells or CELLS, sorted({1, *args.widths})
        work = _work(path, KV_TYPES[args.cache_type][1])
        tables: list[Table] = []
        with closing(self._loaded(path, max(cells) + max(widths))) as decodes:
            result = self._described(decodes)
            for n_threads in args.threads:
                decodes.set_threads(n_threads)
                limits = self._limits(n_threads)
                for n_cells in cells:
                    decodes.fill(n_cells)
                    samples, kernels = measure(decodes, widths, args.repeat)
                    plain = samples[STOCK, 1]
                    found = []
                    for width in widths:
                        n_rows = width if width <= MAX_ROWS else 1
                        least_s = work.least_s(limits, width, n_rows, n_cells)
                        found.append(cell(width, samples, plain, least_s))
                    tables.append(
                        Table(
                            Path(path).name, n_threads, n_cells, median(plain), kernels,
                            tuple(found),
                        )
                    )  # fmt: skip
                    print(report(tables[-1], limits), end="\n\n", flush=True)
        self.tables += tables
        result["is_wanted"] = not any(table.too_slow for table in tables)
        result["tables"] = [asdict(table) for table in tables]
        return result


def _header(path: str) -> GgufHeader:
    from paceline.engine.llama import read_header  # noqa: PLC0415  loads the native library

    return read_header(Path(path))


def _work(path: str, cell_bytes: float) -> Work:
    from paceline.engine.llama.repacking import multiplied  # noqa: PLC0415

    header = _header(path)
    return Work(header, multiplied(header.tensors), cell_bytes)


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
    parser = argparse.ArgumentParser(prog="python -m paceline.bench.widths")
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
    parser.add_argument(
        "--peak",
        type=float,
        default=0.0,
        metavar="G",
        help="10⁹ products of bytes per second and thread; default: measured",
    )
    parser.add_argument("--check", action="store_true", help="compare bits, time nothing")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything there")
    return parser


def main(argv: list[str] | None = None) -> int:
    """Print tables; exit 1 when a figure is not as wanted, 2 when something cannot be used."""
    args = _parser().parse_args(argv)
    try:
        run = Run(args)
        print(f"own kernels: {run.kernels}", end="\n\n", flush=True)
        results = [run.check(path) if args.check else run.time(path) for path in args.target]
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
