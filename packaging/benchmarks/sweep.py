"""Comparison of Auto with the best fixed setting: ``python packaging/benchmarks sweep --pair q8``.

Replies to the fourteen kinds of question of ``kinds.jsonl`` (copies, tables, JSON, free text, chats
of several turns, prompts of 1,000 and 4,000 tokens) by plain decoding, by fixed settings and by
Auto, by turns, with real decodes on one thread, in seconds of its processor time. In each repeat
every kind of reply is made by every strategy, in one order and in the next repeat in the other, so
that Auto knows each kind from among all of them. A kind's ratio is the median over the repeats, of
plain decoding's seconds over the strategy's. A reply counts from its first token on, with all that
a draft model reads. Behind each setting stand its accepted and drafted tokens, and "other text"
where a reply was not that of plain decoding.

Limits: 0.98 of plain decoding and 0.97 of the best fixed setting in each kind, and more than each
of them over all kinds. The exit status is 1 where Auto misses one.

The pairs: SmolLM2 135M in Q8_0 and Q4_0 by itself, in Q8_0 with its own Q4_0 as the draft model,
the demo pair, and its draft model with the twin of 70 M and with a target of real width. They are
made or fetched as for the tests (`real_models.py`, `make_pairs.py`). The last three have no room
for the long prompts.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple

from paceline.bench.recommend import bootstrap
from paceline.bench.workload import Workload, read_workloads
from paceline.engine.api import Pair, generate, load_pair
from paceline.engine.measure.calibration import calibrated
from paceline.messages import ModelParams
from paceline.paths import demo_pair

PLAIN, AUTO = "off", "auto"
OF_PLAIN, OF_BEST = 0.98, 0.97
LOOKUPS = ("suffix", "ngram-simple")
PAIRS = {
    "q8": LOOKUPS,
    "q4": LOOKUPS,
    "q8q4": ("suffix", "draft:n_max=2", "suffix+draft:draft.n_max=4"),
    "demo": ("suffix", "draft:n_max=3", "suffix+draft:draft.n_max=3"),
    "70m": ("suffix", "draft:n_max=3", "draft:n_max=6", "suffix+draft:draft.n_max=6"),
    "wide": ("suffix", "draft:n_max=3", "draft:n_max=6", "suffix+draft:draft.n_max=6"),
}
"""The fixed settings of each pair: those that were best for some kind in sweeps over all."""
_N_CTX = 8192  # tokens, of SmolLM2; the others have as many as they were trained for


class Took(NamedTuple):
    """One reply.

    Attributes:
        seconds: CPU time of the thread, in seconds.
        note: Text printed after the strategy's figures.
    """

    seconds: float
    note: str


def compare(
    kinds: Sequence[str],
    strategies: Sequence[str],
    reply: Callable[[str, str], Took],
    repeat: int,
) -> int:
    """Measure, print a table, and judge Auto.

    Args:
        kinds: Kinds of replies.
        strategies: `PLAIN` and `AUTO` among them.
        reply: Function that makes a reply of a kind with a strategy.
        repeat: Number of times that each is made, after a warm-up.

    Returns:
        1 where Auto misses a limit; otherwise 0.
    """
    seconds: dict[tuple[str, str], list[float]] = defaultdict(list)
    notes: dict[tuple[str, str], str] = {}
    for turn in range(repeat + 1):
        for kind in kinds:
            for strategy in strategies if turn % 2 else strategies[::-1]:
                took, notes[kind, strategy] = reply(kind, strategy)
                if turn:
                    seconds[kind, strategy].append(took)
    fixed = [s for s in strategies if s not in {PLAIN, AUTO}]
    speeds: dict[tuple[str, str], float] = {}
    missed: list[str] = []
    for kind in kinds:
        for strategy in strategies:
            pairs = zip(seconds[kind, PLAIN], seconds[kind, strategy], strict=True)
            ratios = [plain / took for plain, took in pairs]
            speeds[kind, strategy] = median(ratios)
            found = bootstrap([ratios])
            print(
                f"{kind:14} {strategy:22} {found.median:5.2f} "
                f"({found.low:.2f} to {found.high:.2f})  {notes[kind, strategy]}",
                flush=True,
            )
        own = speeds[kind, AUTO]
        of_best = own / max(speeds[kind, strategy] for strategy in (PLAIN, *fixed))
        ratios_of_auto = f"{own:.2f} of plain decoding, {of_best:.2f} of the best fixed setting"
        print(f"{kind:14} Auto is {ratios_of_auto}")
        if own < OF_PLAIN or of_best < OF_BEST:
            missed.append(kind)
    means = {s: fmean(speeds[kind, s] for kind in kinds) for s in strategies}
    print("mean", ", ".join(f"{strategy} {mean:.2f}" for strategy, mean in means.items()))
    if means[AUTO] <= max(means[strategy] for strategy in fixed):
        missed.append("mean")
    print(f"a limit is missed: {', '.join(missed)}" if missed else "within the limits")
    return int(bool(missed))


def files(pair: str) -> tuple[Path, Path | None]:
    """Return a pair's target and draft model; made now if they are not there yet."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
    import make_pairs  # type: ignore[import-not-found]  # noqa: PLC0415 - it lies with the tests
    import real_models  # noqa: PLC0415

    demo_target, demo_draft = demo_pair()
    smollm2 = partial(real_models.path, "smollm2-135m")
    match pair:
        case "q8q4":
            return smollm2("q8_0"), smollm2("q4_0")
        case "demo":
            return demo_target, demo_draft
        case "70m":
            return make_pairs.path("twin-70m"), demo_draft
        case "wide":
            return make_pairs.path("wide-twin"), demo_draft
        case _:
            return smollm2(f"{pair}_0"), None


def reply(
    pair: Pair,
    workloads: dict[str, Workload],
    plain: dict[str, tuple[int, ...]],
    kind: str,
    strategy: str,
) -> Took:
    """Make one reply; plain decoding's tokens are kept in `plain`."""
    workload = workloads[kind]
    begin = partial(
        generate, pair, workload.prompt, strategy=strategy, sampling=workload.sampling,
        max_tokens=workload.max_tokens, seed=workload.seed, ignore_eog=workload.ignore_eog,
    )  # fmt: skip
    if pair.draft is not None:
        pair.loaded.empty()  # reading a prompt is a part of drafting
    else:  # the prompt is kept from the last reply, and its last token is decoded alone
        next(begin())
    writing = begin()
    next(writing)  # the prefill, and the token that it gives
    began = time.thread_time()
    done = writing.finish()
    seconds = time.thread_time() - began
    note = f"{done.stats.n_accepted}/{done.stats.n_drafted}"
    if strategy == PLAIN:
        plain[kind] = done.tokens
    elif plain.get(kind, done.tokens) != done.tokens:
        note += "  other text"
    return Took(seconds, note)


def main(arguments: list[str] | None = None) -> int:
    """Measure, print a table, and say whether the limits hold."""
    workloads = {w.name: w for w in read_workloads(Path(__file__).with_name("kinds.jsonl"))}
    parser = argparse.ArgumentParser(prog="python packaging/benchmarks sweep")
    parser.add_argument("--pair", choices=PAIRS, default="q8")
    parser.add_argument("--kernels", choices=("own", "stock", "auto"), default="auto")
    parser.add_argument("--kinds", nargs="+", choices=workloads, help="default: those that fit")
    parser.add_argument("--strategies", nargs="+", help="the fixed settings")
    parser.add_argument("--repeat", type=int, default=5)
    args = parser.parse_args(arguments)
    target, draft = files(args.pair)
    strategies = [PLAIN, *(args.strategies or PAIRS[args.pair]), AUTO]
    n_ctx = _N_CTX if args.pair.startswith("q") else 0
    models = [ModelParams(str(f), n_ctx=n_ctx, n_threads=1) for f in (target, draft) if f]
    with load_pair(*models, kernels=args.kernels) as pair:
        for model in pair.loaded.models:
            model.clock = time.thread_time
        calibrated(pair.loaded)
        make = partial(reply, pair, workloads, {})
        kinds = args.kinds or [k for k in workloads if n_ctx or not k.startswith("long")]
        return compare(kinds, strategies, make, args.repeat)
