"""The losses of a model on texts by either kernels: ``python packaging/benchmarks losses``.

The loss of a token is the negative logarithm of its probability after what is before it, in nats.
Paceline's kernels round in another way than llama.cpp's ("stock"), so that each loss differs by a
little; but the mean over a text may not grow. The texts are those that Paceline ships: the guide in
two languages, and the questions of its benchmarks. Stock kernels read one token at a time, as they
do in plain decoding, since some of them round otherwise in wide decodes; own ones read 63.

Shown are the mean losses, own - stock with its 95 % interval over the pieces of text, and the share
of rows whose likeliest token is the same; last own - stock over all models. In each product
activations are rounded to whole numbers, so another order of adding changes some of them, and the
loss of a token by a tenth of a nat: some thousand tokens of one model leave an interval of some
thousandths. The limit: over all models own is not worse than stock by more than 0.001 nats, by the
lower end of the interval; for less than that there may be too few tokens.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean

from benchmarks.wide_decodes import MAX_ROWS, OWN, STOCK, Sides, WideDecodes, own_library
from paceline.bench.recommend import Interval, bootstrap
from paceline.engine.native import llama_backend
from paceline.engine.sample.plain_rows import likely_of
from paceline.errors import UserError
from paceline.params import ModelParams
from paceline.paths import Paths, demo_pair, resources

MOST = 0.001
TEXTS = (
    resources() / "guide" / "guide.md",
    resources() / "guide" / "guide.de.md",
    resources() / "benchmarks" / "standard.jsonl",
    resources() / "benchmarks" / "held_out.jsonl",
    Path(__file__).with_name("kinds.jsonl"),
)
WIDTHS = {STOCK: 1, OWN: MAX_ROWS}
"""Tokens per decode."""
_N_CTX = 2048


@dataclass(frozen=True, slots=True)
class Foretold:
    """All tokens of all texts by one side.

    Attributes:
        losses: Loss of each token, in nats.
        likeliest: The likeliest token at each token's place.
    """

    losses: list[float] = field(default_factory=list)
    likeliest: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Loss:
    """One model.

    Attributes:
        file: The model file's name.
        n_tokens: Tokens whose loss was taken.
        stock: Mean loss by stock kernels, in nats.
        own: The same with own kernels.
        pieces: Own - stock of each piece of text.
        alike: Share of rows whose likeliest token is the same.
        kernels: Own kernels that have computed.
    """

    file: str
    n_tokens: int
    stock: float
    own: float
    pieces: tuple[float, ...]
    alike: float
    kernels: tuple[str, ...]

    def __str__(self) -> str:
        """Return a line for people."""
        return (
            f"{self.file:30}{self.n_tokens:8}{self.stock:9.4f}{self.own:9.4f}"
            f"   {signed(own_minus_stock([self]))}{self.alike:9.4f}"
        )


def own_minus_stock(losses: Sequence[Loss]) -> Interval:
    """Return the mean over models, resampled by pieces of text."""
    return bootstrap(
        [each.pieces for each in losses], lambda groups: fmean(fmean(group) for group in groups)
    )


def signed(interval: Interval) -> str:
    """Return an interval of differences for people."""
    return f"{interval.median:+.5f} [{interval.low:+.5f}, {interval.high:+.5f}]"


def measure(decodes: WideDecodes, texts: Sequence[str], n_most: int) -> Loss:
    """Read texts by both kernels.

    Args:
        decodes: The model.
        texts: Each begins in an empty context.
        n_most: Maximum number of tokens read of each.
    """
    found = {side: Foretold() for side in WIDTHS}
    kernels: set[str] = set()
    for text in texts:
        tokens = decodes.model.vocab.tokenize(text, special=False)[:n_most]
        for start in range(0, len(tokens), _N_CTX):
            for side, foretold in found.items():
                foretell(decodes, side, tokens[start : start + _N_CTX], foretold)
                if side == OWN:
                    kernels.update(decodes.sides.at_work())
    stock, own = found[STOCK], found[OWN]
    differences = [o - s for o, s in zip(own.losses, stock.losses, strict=True)]
    pieces = [differences[i : i + MAX_ROWS] for i in range(0, len(differences), MAX_ROWS)]
    return Loss(
        Path(decodes.model.info.path).name,
        len(differences),
        fmean(stock.losses),
        fmean(own.losses),
        tuple(fmean(each) for each in pieces),
        fmean(o == s for o, s in zip(own.likeliest, stock.likeliest, strict=True)),
        tuple(sorted(kernels)),
    )


def foretell(decodes: WideDecodes, side: str, tokens: Sequence[int], foretold: Foretold) -> None:
    """Read tokens into an empty context, and record the losses of all but the first."""
    decodes.model.clear()
    for start in range(0, len(tokens) - 1, WIDTHS[side]):
        piece = tokens[start : min(start + WIDTHS[side], len(tokens) - 1)]
        rows = decodes.decode(side, piece)
        foretold.likeliest.extend(rows.argmax(axis=1).tolist())
        following = tokens[start + 1 : start + 1 + len(piece)]
        pairs = zip(rows, following, strict=True)
        foretold.losses.extend(-likely_of(row, token, 0).drawn for row, token in pairs)


def read_text(path: Path) -> str:
    """Return a file's text; of a workload, its messages one after the other."""
    text = path.read_text("utf-8")
    if path.suffix != ".jsonl":
        return text
    return "\n\n".join(messages(text))


def messages(lines: str) -> Iterator[str]:
    """Yield the messages of a workload."""
    for line in lines.splitlines():
        yield from (each["content"] for each in json.loads(line).get("messages", ()))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python packaging/benchmarks losses")
    parser.add_argument("--target", nargs="+", default=[str(demo_pair()[0])], metavar="MODEL")
    parser.add_argument("--texts", nargs="+", type=Path, default=TEXTS, metavar="FILE")
    parser.add_argument("--tokens", type=int, default=4096, help="of each text at most")
    parser.add_argument("--library", type=Path, help="own kernels; default: the engine's")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything there")
    return parser


def main(argv: list[str] | None = None) -> int:
    """Print a line per model; exit 1 if own kernels are worse, 2 when something cannot be used."""
    args = _parser().parse_args(argv)
    found: list[Loss] = []
    try:
        backend = llama_backend()
        sides = Sides(own_library(args.library, Paths.from_environment().cache_dir))
        texts = [read_text(path) for path in args.texts]
        print(f"{'':30}{'tokens':>8}{'stock':>9}{'own':>9}   own - stock{'':22}{'alike':>9}")
        for path in args.target:
            params = ModelParams(path, n_ctx=_N_CTX, n_threads=1, n_gpu_layers=0)
            with closing(WideDecodes(backend, params, sides)) as decodes:
                found.append(measure(decodes, texts, args.tokens))
                print(found[-1], flush=True)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    over_all = own_minus_stock(found)
    print(f"{'over all':56}   {signed(over_all)}")
    kernels = sorted({name for each in found for name in each.kernels})
    print(f"own kernels at work: {', '.join(kernels) or 'none'}")
    if args.json:
        args.json.write_text(json.dumps([asdict(each) for each in found], indent=1), "utf-8")
    return int(over_all.low > MOST)


if __name__ == "__main__":
    raise SystemExit(main())
