"""The speed at which a prompt is read: ``python packaging/benchmarks reading --target MODEL…``.

The same prompt is read into an empty context by llama.cpp's kernels ("stock") and by Paceline's
own, in one process, in turns whose order alternates. With one thread, times are the thread's CPU
time; with more, elapsed time. Shown are medians of tokens per second, and of own / stock in speed,
with 95 % intervals.

``--pieces`` are the tokens per decode of own kernels; stock ones take 512.
"""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from benchmarks.wide_decodes import OWN, STOCK, Sides, WideDecodes, own_library
from paceline.bench.recommend import Interval, bootstrap
from paceline.engine.model.model_params import KV_TYPES
from paceline.engine.native import llama_backend
from paceline.errors import UserError
from paceline.params import ModelParams
from paceline.paths import Paths, demo_pair

LENGTHS = (500, 2000, 4000)
WHOLE = 512
"""Tokens of the widest decode."""


@dataclass(frozen=True, slots=True)
class PromptReading:
    """Prompts of one length, in one way.

    Attributes:
        file: The model file's name.
        n_threads: Threads.
        n_tokens: Tokens of the prompt.
        piece: Tokens per decode of own kernels.
        stock: Tokens per second by stock kernels, the median.
        own: The same with own kernels.
        gain: Own / stock, the median of the turns.
        kernels: Own kernels that have computed.
    """

    file: str
    n_threads: int
    n_tokens: int
    piece: int
    stock: float
    own: float
    gain: Interval
    kernels: tuple[str, ...]

    def __str__(self) -> str:
        """Return a line for people."""
        return (
            f"{self.file:30}{self.n_threads:3}{self.n_tokens:7}{self.piece:6}"
            f"{self.stock:9.0f}{self.own:9.0f}   {self.gain}"
        )


def measure(
    decodes: WideDecodes, n_threads: int, n_tokens: int, pieces: tuple[int, ...], repeat: int
) -> list[PromptReading]:
    """Read a prompt of so many tokens in every way, in turns."""
    ways = [(STOCK, WHOLE), *((OWN, piece) for piece in pieces)]
    seconds: dict[tuple[str, int], list[float]] = {way: [] for way in ways}
    kernels: set[str] = set()
    decodes.set_threads(n_threads)
    for turn in range(repeat):
        tokens = decodes.tokens(n_tokens, seed=turn)
        for side, piece in ways if turn % 2 == 0 else reversed(ways):
            seconds[side, piece].append(decodes.seconds_of_prompt(side, tokens, piece))
            if side == OWN:
                kernels.update(decodes.sides.at_work())
    stock = seconds[STOCK, WHOLE]
    return [
        PromptReading(
            Path(decodes.model.info.path).name, n_threads, n_tokens, piece,
            n_tokens / median(stock), n_tokens / median(own),
            bootstrap([[s / o for s, o in zip(stock, own, strict=True)]]),
            tuple(sorted(kernels)),
        )
        for piece in pieces
        for own in [seconds[OWN, piece]]
    ]  # fmt: skip


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python packaging/benchmarks reading")
    parser.add_argument("--target", nargs="+", default=[str(demo_pair()[0])], metavar="MODEL")
    parser.add_argument("--threads", type=_numbers, default=(1,), help="e.g. 1,2")
    parser.add_argument("--lengths", type=_numbers, default=LENGTHS, help="tokens of prompts")
    parser.add_argument("--pieces", type=_numbers, default=(WHOLE,), help="e.g. 512,63")
    parser.add_argument("--repeat", type=int, default=7, help="turns")
    parser.add_argument("--cache-type", default="f16", choices=sorted(KV_TYPES))
    parser.add_argument("--plain-weights", action="store_true", help="do not repack them")
    parser.add_argument("--library", type=Path, help="own kernels; default: the engine's")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything there")
    return parser


def main(argv: list[str] | None = None) -> int:
    """Print a line per length; exit 2 when something cannot be used."""
    args = _parser().parse_args(argv)
    found: list[PromptReading] = []
    try:
        backend = llama_backend()
        sides = Sides(own_library(args.library, Paths.from_environment().cache_dir))
        print(f"{'':30}{'th':>3}{'tokens':>7}{'piece':>6}{'stock':>9}{'own':>9}   own / stock")
        for path in args.target:
            params = ModelParams(
                path,
                n_ctx=-(-max(args.lengths) // 256) * 256,
                n_threads=1,
                n_gpu_layers=0,
                kv_type_k=args.cache_type,
                kv_type_v=args.cache_type,
                extra_bufts=not args.plain_weights,
            )
            with closing(WideDecodes(backend, params, sides)) as decodes:
                for n_threads in args.threads:
                    for length in args.lengths:
                        lines = measure(decodes, n_threads, length, args.pieces, args.repeat)
                        print(*lines, sep="\n", flush=True)
                        found += lines
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    if args.json:
        args.json.write_text(json.dumps([asdict(each) for each in found], indent=1), "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
