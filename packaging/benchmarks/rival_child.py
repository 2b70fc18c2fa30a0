"""The process of one side of `rivals`: loads a model once, and decodes when it is told to.

It is told by a line of JSON on stdin, an order and its arguments, and answers with a line of JSON
on stdout; the first line that it writes is the number of tokens in the model's vocabulary.

    ["threads", N]      compute with so many
    ["fill", N]         begin a context of so many tokens
    ["decode", TOKENS]  seconds of a decode of these tokens after the context, the second in a row
    ["read", TOKENS]    seconds of reading these tokens into an empty context, 512 per decode

With one thread, seconds are the thread's CPU time; with more, elapsed time. ik_llama.cpp's process
runs in an environment without Paceline, so nothing of it is imported before a side needs it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

WHOLE = 512
"""Tokens of the widest decode."""


class Decodes(NamedTuple):
    """Orders that a loaded model carries out; `IkDecodes` describes them."""

    n_vocab: int
    set_threads: Callable[[int], None]
    fill: Callable[[int], None]
    seconds: Callable[[Sequence[int]], float]
    seconds_of_prompt: Callable[[Sequence[int]], float]


def answers(decodes: Decodes, orders: Iterable[str]) -> Iterator[float]:
    """Carry out orders, and yield the answer of each; 0.0 where it is not a time.

    A decode comes twice, and the second one is timed: llama.cpp builds a graph in the first one.
    """
    for order in orders:
        match json.loads(order):
            case ["threads", n]:
                decodes.set_threads(n)
                yield 0.0
            case ["fill", n]:
                decodes.fill(n)
                yield 0.0
            case ["decode", tokens]:
                decodes.seconds(tokens)
                yield decodes.seconds(tokens)
            case ["read", tokens]:
                yield decodes.seconds_of_prompt(tokens)
            case other:
                raise ValueError(other)


def load_ik(args: argparse.Namespace) -> Decodes:
    """Load a model by ik_llama.cpp."""
    from benchmarks.ik_decodes import IkDecodes  # noqa: PLC0415

    loaded = IkDecodes(args.model, args.ctx, repack=args.side == "ik-repacked")
    return Decodes(
        loaded.n_vocab, loaded.set_threads, loaded.fill, loaded.seconds, loaded.seconds_of_prompt
    )


def load_paceline(args: argparse.Namespace) -> Decodes:
    """Load a model by Paceline, to be computed by its kernels or llama.cpp's."""
    from benchmarks.wide_decodes import STOCK, Sides, WideDecodes, own_library  # noqa: PLC0415
    from paceline.engine.native import llama_backend  # noqa: PLC0415
    from paceline.params import ModelParams  # noqa: PLC0415
    from paceline.paths import Paths  # noqa: PLC0415

    backend = llama_backend()
    cache_dir = Paths.from_environment().cache_dir
    sides = Sides(None if args.side == STOCK else own_library(args.library, cache_dir))
    params = ModelParams(args.model, n_ctx=args.ctx, n_threads=1, n_gpu_layers=0)
    loaded = WideDecodes(backend, params, sides)
    return Decodes(
        loaded.model.vocab.n_tokens,
        loaded.set_threads,
        loaded.fill,
        partial(loaded.seconds, args.side),
        partial(loaded.seconds_of_prompt, args.side, piece=WHOLE),
    )


LOADERS: dict[str, Callable[[argparse.Namespace], Decodes]] = {
    "own": load_paceline,
    "stock": load_paceline,
    "ik": load_ik,
    "ik-repacked": load_ik,
}


def serve(arguments: Sequence[str] | None = None) -> None:
    """Answer until stdin is closed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("side", choices=LOADERS)
    parser.add_argument("model")
    parser.add_argument("--ctx", type=int, required=True)
    parser.add_argument("--library", type=Path)
    args = parser.parse_args(arguments)
    decodes = LOADERS[args.side](args)
    answer(decodes.n_vocab)
    for each in answers(decodes, sys.stdin):
        answer(each)


def answer(value: float) -> None:
    """Write a line."""
    print(json.dumps(value), flush=True)


if __name__ == "__main__":
    serve()
