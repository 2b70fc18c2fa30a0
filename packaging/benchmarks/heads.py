"""Does Auto choose an MTP head's depth? ``python packaging/benchmarks heads [--target FILE]``.

Replies of plain decoding, of the head at depths 1 to 5 and of Auto, by turns, with one thread and
in seconds of its processor time, so that others on the machine do not count. The target is
``wide-mtp`` of ``tests/make_pairs.py`` unless another one is named, at the price of a head in a
model of 27 B: its text counts through the vocabulary, and from each of four places its head
foresees another share of it (`mtp_models.py`). What steps and drafted tokens take is printed first.

Limits: Auto at least 0.98 of plain decoding, and 0.97 of the best depth, from each place; above
every single depth over the whole. The exit status is 1 where one is missed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from pathlib import Path
from statistics import fmean, median

from paceline.bench.recommend import bootstrap
from paceline.engine.api import Pair, generate, load_pair
from paceline.engine.auto import Knowledge
from paceline.engine.measure.calibration import calibrated
from paceline.messages import Calibrate, ModelParams, SamplingParams

DEPTHS = range(1, 6)
PLAIN, AUTO = "off", "auto"
OF_PLAIN, OF_BEST = 0.98, 0.97


def _reply(pair: Pair, first: int, strategy: str, args: argparse.Namespace) -> tuple[float, str]:
    """Return the seconds of a reply, and how much of its drafts was accepted."""
    sampling = SamplingParams(args.temperature, top_k=40, top_p=1.0, min_p=0.0)
    options = {"max_tokens": args.tokens, "ignore_eog": True, "sampling": sampling, "seed": 1}
    began = time.thread_time()
    done = generate(pair, list(range(first - 4, first)), strategy=strategy, **options).finish()
    seconds = time.thread_time() - began
    stats = done.stats
    return seconds, f"{stats.n_accepted}/{stats.n_drafted}"


def main(arguments: list[str] | None = None) -> int:
    """Measure, print a table, and say whether the limits hold."""
    parser = argparse.ArgumentParser(prog="heads", description=__doc__)
    parser.add_argument("--target", help="a model with a head; default: made by the tests")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--temperature", type=float, default=0.0)
    parser.add_argument("--kernels", choices=("own", "stock", "auto"), default="auto")
    args = parser.parse_args(arguments)
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
    import make_pairs  # type: ignore[import-not-found]  # noqa: PLC0415 - it lies with the tests
    import mtp_models  # type: ignore[import-not-found]  # noqa: PLC0415

    target = ModelParams(str(args.target or make_pairs.path("wide-mtp")), n_ctx=1024, n_threads=1)
    strategies = [PLAIN, *(f"mtp:n_max={n}:p_min=0" for n in DEPTHS), AUTO]
    seconds: dict[tuple[str, str], list[float]] = defaultdict(list)
    accepted: dict[tuple[str, str], str] = {}
    with load_pair(target, kernels=args.kernels) as pair:
        if pair.draft is None:
            print("The model has no MTP head.")
            return 2
        for model in pair.loaded.models:
            model.clock = time.thread_time
        calibrated(pair.loaded, Calibrate("all"))
        print(_prices(pair.loaded.knowledge))
        for turn in range(args.repeat + 1):  # the first is for warmth
            for place, (first, _) in mtp_models.REGIONS.items():
                for strategy in strategies if turn % 2 else strategies[::-1]:
                    pair.loaded.empty()
                    took, share = _reply(pair, first, strategy, args)
                    if turn:
                        seconds[place, strategy].append(took)
                        accepted[place, strategy] = share
    return _judge(list(mtp_models.REGIONS), strategies, seconds, accepted)


def _prices(knowledge: Knowledge) -> str:
    costs, head, widest = knowledge.costs, knowledge.draft_costs["mtp"], max(DEPTHS) + 1
    plain = costs.plain or 1.0
    ratios = ", ".join(f"{ratio:.2f}" for ratio in costs.ratios()[2 : widest + 1])
    return (
        f"A plain step takes {1000 * plain:.1f} ms; one of 2 to {widest} tokens takes "
        f"{ratios} of that, a drafted token {head.token(plain) / plain:.2f}"
    )


def _judge(
    places: list[str],
    strategies: list[str],
    seconds: dict[tuple[str, str], list[float]],
    accepted: dict[tuple[str, str], str],
) -> int:
    speeds: dict[tuple[str, str], float] = {}
    is_missed = False
    for place in places:
        for strategy in strategies:
            pairs = zip(seconds[place, PLAIN], seconds[place, strategy], strict=True)
            ratios = [plain / took for plain, took in pairs]
            speeds[place, strategy] = median(ratios)
            found = bootstrap([ratios])
            print(
                f"{place:8} {strategy:22} {found.median:5.2f} "
                f"({found.low:.2f} to {found.high:.2f})  {accepted[place, strategy]}",
                flush=True,
            )
        best = max(speeds[place, strategy] for strategy in strategies[1:-1])
        own = speeds[place, AUTO]
        is_missed |= own < OF_PLAIN or own < OF_BEST * best
        print(f"{place:8} Auto is {own:.2f} of plain decoding, {own / best:.2f} of the best depth")
    means = {s: fmean(speeds[place, s] for place in places) for s in strategies}
    print("mean     " + ", ".join(f"{s} {mean:.2f}" for s, mean in means.items()))
    is_missed |= means[AUTO] <= max(means[s] for s in strategies[1:-1])
    print("a limit is missed" if is_missed else "within the limits")
    return int(is_missed)
