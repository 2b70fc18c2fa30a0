"""The process of one side of `rivals`: loads a model once, and decodes on request.

It is ready with the number of tokens in the model's vocabulary, and its orders are

    ["threads", N]      compute with so many
    ["fill", N]         begin a context of so many tokens
    ["decode", TOKENS]  seconds of a decode of these tokens after the context, the second in a row
    ["read", TOKENS]    seconds of reading these tokens into an empty context, 512 per decode

With one thread, seconds are the thread's CPU time; with more, elapsed time. ik_llama.cpp's process
runs in an environment without Paceline, so nothing of it is imported before a side needs it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.sides.serving import serve

WHOLE = 512
"""Tokens of the widest decode."""


class Decodes(NamedTuple):
    """Orders that a loaded model carries out; `IkDecodes` describes them."""

    n_vocab: int
    set_threads: Callable[[int], None]
    fill: Callable[[int], None]
    seconds: Callable[[Sequence[int]], float]
    seconds_of_prompt: Callable[[Sequence[int]], float]


def carry_out(decodes: Decodes, order: list[Any]) -> float:
    """Carry out an order; returns its answer, 0.0 where it is not a time.

    A decode comes twice, and the second one is timed: llama.cpp builds a graph in the first one.
    """
    match order:
        case ["threads", n]:
            decodes.set_threads(n)
        case ["fill", n]:
            decodes.fill(n)
        case ["decode", tokens]:
            decodes.seconds(tokens)
            return decodes.seconds(tokens)
        case ["read", tokens]:
            return decodes.seconds_of_prompt(tokens)
        case other:
            raise ValueError(other)
    return 0.0


def load_ik(args: argparse.Namespace) -> Decodes:
    """Load a model by ik_llama.cpp."""
    from benchmarks.sides.ik_decodes import IkDecodes  # noqa: PLC0415

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


def main(arguments: Sequence[str] | None = None) -> None:
    """Answer until stdin is closed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("side", choices=LOADERS)
    parser.add_argument("model")
    parser.add_argument("--ctx", type=int, required=True)
    parser.add_argument("--library", type=Path)
    args = parser.parse_args(arguments)
    decodes = LOADERS[args.side](args)
    serve(decodes.n_vocab, partial(carry_out, decodes))


if __name__ == "__main__":
    main()
