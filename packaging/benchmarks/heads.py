"""Does Auto choose an MTP head's depth? ``python packaging/benchmarks heads [--target FILE]``.

Replies of plain decoding, of the head at depths 1 to 5 and of Auto, by turns, with one thread. The
target is ``wide-mtp`` of ``tests/make_pairs.py`` unless another one is named, at the price of a
head in a model of 27 B: its text counts through the vocabulary, and from each of four places its
head foresees another share of it (`mtp_models.py`). What steps and drafted tokens take is printed
first; limits and exit status are those of `by_turns.py`.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from benchmarks.by_turns import AUTO, PLAIN, Took, compare
from paceline.engine.api import generate, load_pair
from paceline.engine.auto import Knowledge
from paceline.engine.measure.calibration import calibrated
from paceline.messages import Calibrate, ModelParams, SamplingParams

DEPTHS = range(1, 6)


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
    sampling = SamplingParams(args.temperature, top_k=40, top_p=1.0, min_p=0.0)
    strategies = [PLAIN, *(f"mtp:n_max={n}:p_min=0" for n in DEPTHS), AUTO]
    with load_pair(target, kernels=args.kernels) as pair:
        if pair.draft is None:
            print("The model has no MTP head.")
            return 2
        for model in pair.loaded.models:
            model.clock = time.thread_time
        calibrated(pair.loaded, Calibrate("all"))
        print(_prices(pair.loaded.knowledge))

        def reply(place: str, strategy: str) -> Took:
            first, _ = mtp_models.REGIONS[place]
            options = {"max_tokens": args.tokens, "ignore_eog": True, "sampling": sampling}
            pair.loaded.empty()
            began = time.thread_time()
            prompt = list(range(first - 4, first))
            stats = generate(pair, prompt, strategy=strategy, seed=1, **options).finish().stats
            return Took(time.thread_time() - began, f"{stats.n_accepted}/{stats.n_drafted}")

        return compare(
            list(mtp_models.REGIONS), strategies, reply, repeat=args.repeat, best_of="best depth"
        )


def _prices(knowledge: Knowledge) -> str:
    costs, head, widest = knowledge.costs, knowledge.draft_costs["mtp"], max(DEPTHS) + 1
    plain = costs.plain or 1.0
    ratios = ", ".join(f"{ratio:.2f}" for ratio in costs.ratios()[2 : widest + 1])
    return (
        f"A plain step takes {1000 * plain:.1f} ms; one of 2 to {widest} tokens takes "
        f"{ratios} of that, a drafted token {head.token(plain) / plain:.2f}"
    )
