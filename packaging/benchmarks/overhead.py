"""How much CPU time a step costs outside llama.cpp: ``python packaging/benchmarks overhead``.

Everything that Paceline adds to the native decodes is Python on the engine's thread: drafting's
bookkeeping, sampling, comparing, detokenizing, events. The benchmark runs replies with the demo
pair (or `--target` and `--draft`) and takes, per step, the thread's CPU time minus the CPU time
within native calls. The limit is 150 µs per step plus 20 µs per greedy or 120 µs per sampled row,
rows of target and draft counted, on an 8k vocabulary.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass

from paceline.engine.auto.costs import MAX_WIDTH
from paceline.engine.cancel import CancelFlag
from paceline.engine.draft.strategy import read_strategy
from paceline.engine.facts import Facts
from paceline.engine.model.backend import Rows
from paceline.engine.native import llama_backend
from paceline.engine.pair import LoadedPair
from paceline.engine.turn import Turn
from paceline.messages import (
    ChatMessage,
    Event,
    ModelParams,
    SamplingParams,
    StartTurn,
    StepCommitted,
)
from paceline.paths import demo_pair

STEP_US = 150.0
GREEDY_ROW_US = 20.0
SAMPLED_ROW_US = 120.0
STRATEGIES = (
    "off",
    "auto",
    "draft:n_max=4:p_min=0",
    "draft:n_max=16:p_min=0",
    "draft",
    "prompt-lookup",
)
QUESTION = "What does os.path.join do? Show an example."


@dataclass(frozen=True, slots=True)
class Overhead:
    """Medians over the steps of several replies, microseconds of CPU time."""

    strategy: str
    temperature: float
    n_steps: int
    rows_per_step: float
    overhead_us: float
    limit_us: float
    share_of_limit: float


def open_pair(target: str, draft: str = "") -> LoadedPair:
    """Load models for one thread; no `draft`: the target alone."""
    backend, flag = llama_backend(), CancelFlag()
    models = [
        backend.load(
            ModelParams(path, n_threads=1),
            n_rows=n_rows,
            cancel=flag,
            progress=lambda _fraction: None,
        )
        for path, n_rows in ((target, MAX_WIDTH), (draft, 1))
        if path
    ]
    return LoadedPair(models[0], models[1] if draft else None, Facts(""))


def measure(
    pair: LoadedPair, strategy: str, temperature: float, *, n_tokens: int, n_replies: int
) -> Overhead:
    """Run replies and return the median overhead per step, and its limit."""
    row_us = SAMPLED_ROW_US if temperature else GREEDY_ROW_US
    measured = [
        (overhead_us, STEP_US + row_us * n_rows, n_rows)
        for seed in range(n_replies)
        for overhead_us, n_rows in steps(pair, strategy, temperature, seed, n_tokens)
    ]
    return Overhead(
        strategy,
        temperature,
        n_steps=len(measured),
        rows_per_step=statistics.fmean(n_rows for _, _, n_rows in measured),
        overhead_us=statistics.median(overhead for overhead, _, _ in measured),
        limit_us=statistics.median(limit for _, limit, _ in measured),
        share_of_limit=statistics.median(overhead / limit for overhead, limit, _ in measured),
    )


def steps(
    pair: LoadedPair, strategy: str, temperature: float, seed: int, n_tokens: int
) -> Iterator[tuple[float, int]]:
    """Yield (overhead in microseconds, rows) of every step but a reply's first two."""
    target, draft = pair.target.model, pair.draft.model if pair.draft else None
    target.clock = time.thread_time
    if draft is not None:
        draft.clock = time.thread_time
    marks: list[tuple[float, float, int]] = []
    rows = 0  # of the draft model: one per decode, the one that p_min stops included

    def on_event(event: Event) -> None:
        nonlocal rows
        if isinstance(event, StepCommitted):
            drafted = event.drafted
            n_verified = 1 + (sum(count.n_drafted for count in drafted) if drafted else 0)
            cpu, native = time.thread_time(), target.native_s + (draft.native_s if draft else 0.0)
            marks.append((cpu, native, n_verified + rows))
            rows = 0

    def counted(feed: Callable[..., Rows]) -> Callable[..., Rows]:
        def feed_and_count(tokens: Sequence[int], n_rows: int) -> Rows:
            nonlocal rows
            rows += n_rows
            return feed(tokens, n_rows)

        return feed_and_count

    command = StartTurn(
        "bench",
        messages=(ChatMessage("user", QUESTION),),
        strategy=read_strategy(strategy),
        sampling=SamplingParams(temperature=temperature),
        max_tokens=n_tokens,
        ignore_eog=True,
    )
    if pair.draft:
        pair.draft.feed = counted(pair.draft.feed)  # type: ignore[method-assign]
    try:
        turn = Turn(
            pair, command, seed, on_event, take_tune=lambda _turn_id: None, cancel=CancelFlag()
        )
        for _ in turn.run():
            pass
    finally:
        if pair.draft:
            del pair.draft.feed
    for (cpu_0, native_0, _), (cpu, native, n_rows) in itertools.pairwise(marks[1:]):
        yield ((cpu - cpu_0) - (native - native_0)) * 1e6, n_rows


def main(argv: list[str] | None = None) -> int:
    """Print a table, or JSON; exit 1 when a median is above its limit."""
    target, draft = demo_pair()
    parser = argparse.ArgumentParser(prog="python packaging/benchmarks overhead")
    parser.add_argument("--target", default=str(target))
    parser.add_argument("--draft", default=str(draft))
    parser.add_argument("--strategies", default=",".join(STRATEGIES))
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--replies", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args(argv)

    pair = open_pair(args.target, args.draft)
    try:
        results = [
            measure(pair, strategy, temperature, n_tokens=args.tokens, n_replies=args.replies)
            for strategy in args.strategies.split(",")
            for temperature in (0.0, 0.8)
        ]
    finally:
        pair.close()
    if args.json:
        print(json.dumps([asdict(result) for result in results], indent=1))
    else:
        print(
            f"{'strategy':26}{'T':>5}{'steps':>7}{'rows':>7}{'µs/step':>9}{'limit':>8}{'share':>7}"
        )
        for r in results:
            print(
                f"{r.strategy:26}{r.temperature:5g}{r.n_steps:7}{r.rows_per_step:7.1f}"
                f"{r.overhead_us:9.0f}{r.limit_us:8.0f}{r.share_of_limit:7.2f}"
            )
    return int(any(result.share_of_limit > 1 for result in results))


if __name__ == "__main__":
    raise SystemExit(main())
