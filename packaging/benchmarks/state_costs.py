"""The price of stored states: ``python packaging/benchmarks state_costs GGUF…``.

For each model and type of cache: the bytes of 1,000 tokens (of models whose states are stored as
wholes, of one state after so many), and the seconds to copy them out and in, on one thread. For the
first type of cache also: the share that keeping a long prompt at once, with its files, adds to
reading it; and the steps per second after it, by those of the same reply whose states are not kept.
Both sides take turns, on texts that are read for the first time.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from paceline.bench.recommend import Interval, bootstrap
from paceline.cli.output import in_columns
from paceline.engine.cancel import CancelFlag
from paceline.engine.model.context import CachedContext
from paceline.engine.native import llama_backend
from paceline.engine.opening import PairOpening
from paceline.engine.pair import LoadedPair
from paceline.messages import LoadPair, ModelParams, StateOwner, StateStorage

OWNER = StateOwner("a chat")
N_TOKENS = 1024
"""Tokens whose copies are measured; figures are per 1,000 tokens."""
CACHE_TYPES = ("f16", "q8_0", "q4_0")


@dataclass(frozen=True, slots=True)
class Copies:
    """The cost of stored states, of 1,000 tokens.

    Attributes:
        model: The name of its file.
        cache_type: Type of keys and values.
        n_block: Tokens per copy, or 0 if a copy is the whole context.
        n_bytes: Size of the copies in bytes.
        out_s: Seconds to copy them out of a context.
        in_s: Seconds to copy them into one.
    """

    model: str
    cache_type: str
    n_block: int
    n_bytes: float
    out_s: float
    in_s: float


@dataclass(frozen=True, slots=True)
class Keeping:
    """The cost of keeping a long prompt at once.

    Attributes:
        n_prompt: Its tokens.
        added: Seconds of keeping it, relative to those of reading it.
        steps: Steps per second afterwards, relative to those where nothing is kept.
    """

    n_prompt: int
    added: Interval
    steps: Interval


def opened(params: ModelParams, folder: Path) -> LoadedPair:
    """Load a model whose states are kept in a folder; the caller closes it."""
    opening = PairOpening(llama_backend, lambda _: None, CancelFlag())
    storage = StateStorage(folder=str(folder))
    return opening.open(LoadPair(params, None, kernels="auto", states=storage))


def copies(pair: LoadedPair, cache_type: str) -> Copies:
    """Measure copies out of a context and into it."""
    target, model = pair.target, pair.target.model
    text = target.any_tokens(N_TOKENS)
    target.prefill(text, model.n_batch)
    size = model.n_block or N_TOKENS
    began = time.perf_counter()
    pieces = [model.copy_cells(first, size) for first in range(0, N_TOKENS, size)]
    middle = time.perf_counter()
    target.clear()
    for first, data in zip(range(0, N_TOKENS, size), pieces, strict=True):
        assert data is not None
        assert target.put(text[first : first + size], data)
    ended = time.perf_counter()
    n_bytes = sum(len(data or b"") for data in pieces)
    of_1000 = 1000 / N_TOKENS if model.n_block else 1.0
    name = Path(model.info.path).stem
    return Copies(
        name,
        cache_type,
        model.n_block,
        n_bytes * of_1000,
        (middle - began) * of_1000,
        (ended - middle) * of_1000,
    )


def keeping(pair: LoadedPair, n_prompt: int, n_steps: int, n_turns: int) -> Keeping:
    """Read texts, keep every second one, and go on for some steps."""
    target, states = pair.target, pair.states
    assert states is not None
    added: list[float] = []
    rates: dict[bool, list[float]] = {True: [], False: []}
    for turn in range(2 * n_turns):
        is_kept = turn % 4 in (1, 2)
        text = [turn + 300, *target.any_tokens(n_prompt - 1)]
        states.begin(text, OWNER if is_kept else None, with_draft=False)
        began = time.perf_counter()
        rows = target.prefill(text, target.model.n_batch)
        read = time.perf_counter()
        states.after_reading(n_prompt)
        kept = time.perf_counter()
        if is_kept:
            added.append((kept - read) / (read - began))
        token = int(rows[0].argmax())
        rates[is_kept].append(steps_per_s(target, token, n_steps))
    ratio = bootstrap(
        [rates[True], rates[False]],
        lambda groups: sorted(groups[0])[n_turns // 2] / sorted(groups[1])[n_turns // 2],
    )
    return Keeping(n_prompt, bootstrap([added]), ratio)


def steps_per_s(target: CachedContext, token: int, n_steps: int) -> float:
    """Decode the likeliest token so many times."""
    began = time.perf_counter()
    for _ in range(n_steps):
        token = int(target.feed([token], 1)[0].argmax())
    return n_steps / (time.perf_counter() - began)


def main(argv: Sequence[str] | None = None) -> int:
    """Print both tables, or JSON."""
    parser = argparse.ArgumentParser(prog="python packaging/benchmarks state_costs")
    parser.add_argument("targets", nargs="+", metavar="GGUF")
    parser.add_argument("--tokens", type=int, default=1500, help="of a prompt that is kept")
    parser.add_argument("--steps", type=int, default=64)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args(argv)
    of_copies: list[Copies] = []
    of_keeping: dict[str, Keeping] = {}
    for path in args.targets:
        for cache_type in CACHE_TYPES:
            flash = "auto" if cache_type == CACHE_TYPES[0] else "on"
            params = ModelParams(
                path, n_ctx=2048, n_threads=1, n_threads_batch=1, flash_attn=flash,
                kv_type_k=cache_type, kv_type_v=cache_type,
            )  # fmt: skip
            with tempfile.TemporaryDirectory() as folder:
                pair = opened(params, Path(folder))
                try:
                    of_copies.append(copies(pair, cache_type))
                    if cache_type == CACHE_TYPES[0]:
                        name = of_copies[-1].model
                        of_keeping[name] = keeping(pair, args.tokens, args.steps, args.turns)
                finally:
                    pair.close()
    if args.json:
        found = {
            "copies": [asdict(each) for each in of_copies],
            "keeping": {name: asdict(each) for name, each in of_keeping.items()},
        }
        print(json.dumps(found, indent=1))
        return 0
    rows = [["1,000 tokens", "cache", "block", "MB", "s out", "s in"]]
    rows += [
        [
            each.model,
            each.cache_type,
            str(each.n_block or "whole"),
            f"{each.n_bytes / 1e6:.2f}",
            f"{each.out_s:.4f}",
            f"{each.in_s:.4f}",
        ]
        for each in of_copies
    ]
    print(in_columns(rows).rstrip())
    rows = [["kept at once", "tokens", "added, of reading", "steps per second, by none"]]
    rows += [
        [name, str(each.n_prompt), str(each.added), str(each.steps)]
        for name, each in of_keeping.items()
    ]
    print(in_columns(rows).rstrip())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
