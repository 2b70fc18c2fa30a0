"""What the engine's own time per step is made of: ``python packaging/benchmarks own_time FILE…``.

What Paceline adds to the native decodes is Python on the engine's thread: the thread's CPU time
minus the CPU time within llama.cpp, per step of a target without a draft model. By part: sampling
a row, the target's decode, what Auto takes to ask its lookups and decide, and to learn, the clocks
and the text. The whole is measured in every second reply, without the clocks of the parts, which
add some 50 µs per step.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from unittest import mock

from paceline.engine.api import Pair, generate, load_pair
from paceline.engine.decode.text import TextAssembler
from paceline.engine.draft.auto_chain import AutoChain
from paceline.engine.draft.step_clock import StepClock
from paceline.engine.model.backend import LanguageModel
from paceline.engine.model.context import CachedContext
from paceline.engine.sample.sampling import Sampler
from paceline.messages import ChatMessage, ModelParams, SamplingParams

PARTS: tuple[tuple[str, type, str], ...] = (
    ("sample", Sampler, "sample"),
    ("decode", CachedContext, "feed"),
    ("propose", AutoChain, "propose"),
    ("learn", AutoChain, "timed"),
    ("clock", StepClock, "lap"),
    ("text", TextAssembler, "push"),
)
"""A part's name, and the method that it is."""
QUESTION = "What does os.path.join do? Show an example."


@dataclass(frozen=True, slots=True)
class OwnTime:
    """CPU time per step outside llama.cpp, in microseconds.

    Attributes:
        target: The name of its file.
        n_vocab: Its tokens.
        n_steps: Steps that were measured as a whole.
        median_us: The whole, over these steps.
        mean_us: The same; more than that where few steps take long.
        parts_us: The mean by part, and "rest".
    """

    target: str
    n_vocab: int
    n_steps: int
    median_us: float
    mean_us: float
    parts_us: dict[str, float]


def measure(
    pair: Pair, strategy: str, temperature: float, *, n_tokens: int, n_replies: int
) -> OwnTime:
    """Run so many replies twice, and measure them as a whole and by part."""
    model = pair.loaded.target.model
    model.clock = time.thread_time
    reply = functools.partial(steps_us, pair, strategy, temperature, n_tokens)
    whole: list[float] = []
    by_part: list[float] = []
    parts: dict[str, float] = {}
    for seed in range(n_replies):
        whole += reply(seed)
        with timed_parts(model, parts):
            by_part += reply(seed)
    means = {name: 1e6 * seconds / len(by_part) for name, seconds in parts.items()}
    means["rest"] = statistics.fmean(by_part) - sum(means.values())
    return OwnTime(
        Path(model.info.path).stem,
        model.vocab.n_tokens,
        len(whole),
        statistics.median(whole),
        statistics.fmean(whole),
        means,
    )


def steps_us(
    pair: Pair, strategy: str, temperature: float, n_tokens: int, seed: int
) -> list[float]:
    """Return the microseconds of CPU time outside llama.cpp of a reply's steps but the first."""
    model = pair.loaded.target.model
    marks = [
        time.thread_time() - model.native_s
        for _ in generate(
            pair,
            [ChatMessage.of_text("user", QUESTION)],
            strategy=strategy,
            sampling=SamplingParams(temperature=temperature),
            max_tokens=n_tokens,
            seed=seed,
            ignore_eog=True,
        )
    ]
    return [1e6 * (now - before) for before, now in itertools.pairwise(marks[1:])]


@contextmanager
def timed_parts(model: LanguageModel, parts: dict[str, float]) -> Iterator[None]:
    """Add to `parts` the seconds of CPU time that each takes, without those in llama.cpp."""

    def timed(name: str, method: Callable[..., object]) -> Callable[..., object]:
        @functools.wraps(method)
        def call(*args: object, **kwargs: object) -> object:
            native_s, began = model.native_s, time.thread_time()
            try:
                return method(*args, **kwargs)
            finally:
                parts[name] += time.thread_time() - began - (model.native_s - native_s)

        return call

    with ExitStack() as stack:
        for name, owner, method in PARTS:
            parts.setdefault(name, 0.0)
            stack.enter_context(
                mock.patch.object(owner, method, timed(name, getattr(owner, method)))
            )
        yield


def main(argv: Sequence[str] | None = None) -> int:
    """Print a table, or JSON."""
    parser = argparse.ArgumentParser(prog="python packaging/benchmarks own_time")
    parser.add_argument("targets", nargs="+", metavar="FILE")
    parser.add_argument("--strategy", default="auto")
    parser.add_argument("--temperature", type=float, default=0.7)
    parser.add_argument("--tokens", type=int, default=150)
    parser.add_argument("--replies", type=int, default=4)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args(argv)
    results = []
    for target in args.targets:
        with load_pair(ModelParams(target, n_threads=1)) as pair:
            results.append(
                measure(
                    pair,
                    args.strategy,
                    args.temperature,
                    n_tokens=args.tokens,
                    n_replies=args.replies,
                )
            )
    if args.json:
        print(json.dumps([asdict(result) for result in results], indent=1))
        return 0
    names = [*(name for name, _, _ in PARTS), "rest"]
    print(f"{'µs/step':28}{'tokens':>8}{'median':>8}{'mean':>8}", *(f"{n:>8}" for n in names))
    for r in results:
        parts = (f"{r.parts_us[name]:8.0f}" for name in names)
        print(f"{r.target[:27]:28}{r.n_vocab:8}{r.median_us:8.0f}{r.mean_us:8.0f}", *parts)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
