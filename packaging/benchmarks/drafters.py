"""What a lookup costs per proposal and per token: ``python packaging/benchmarks drafters``.

A lookup must cost nothing beside a decode, and no more in a long chat than in a short one. The
benchmark feeds each drafter the first 1k, 16k and 128k tokens of a text (Python's own library, or
`--text FILE…`), then goes on token by token as a reply does. Limits: 20 µs per proposal (40 µs with
texts of earlier chats), 5 µs per token fed (2 µs of an earlier chat, tokenized already), 16 MiB for
``ngram-mod``, 256 bytes per token for ``suffix``. CPU time of this thread; medians.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sysconfig
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from paceline.engine.draft.base import Drafter, Workbench
from paceline.engine.draft.lookups.earlier_texts import EarlierTexts
from paceline.engine.draft.strategy import parse_strategy
from paceline.engine.model.backend import Vocabulary
from paceline.engine.model.context import common_prefix
from paceline.engine.native import llama_backend
from paceline.engine.sample.sampling import Sampler
from paceline.messages import SamplingParams
from paceline.paths import demo_pair

SIZES = (1_000, 16_000, 128_000)
PROPOSE_US, PROPOSE_EARLIER_US, FEED_US, FEED_EARLIER_US = 20.0, 40.0, 5.0, 2.0
SUFFIX_BYTES, POOL_BYTES = 256, 16 * 2**20
STRATEGIES = (
    "prompt-lookup", "ngram-simple", "ngram-simple:n=3:m=16", "ngram-map-k", "ngram-map-k:n=3:m=16",
    "ngram-map-k4v", "ngram-map-k4v:n=3:m=16", "ngram-mod", "ngram-mod:n_match=4:n_min=1",
    "ngram-cache", "suffix",
)  # fmt: skip
_STEPS = 400
_PER_STEP = 3
_N_MAX = 16


@dataclass(frozen=True, slots=True)
class Cost:
    """Medians over the steps after a history of `n_history` tokens.

    Attributes:
        drafter: Its id, with the settings that were used.
        n_history: Tokens in its index.
        n_earlier: Tokens of earlier chats that are looked up, too.
        propose_us: Microseconds per proposal of up to 16 tokens, found or not.
        propose_high_us: Nine of ten proposals take less.
        found: Share of the proposals that found something.
        feed_us: Microseconds per token fed.
        feed_earlier_us: Microseconds per token of an earlier chat.
        bytes_per_token: Memory of the index per token of the history.
        share_of_limit: The largest share of any limit.
    """

    drafter: str
    n_history: int
    n_earlier: int
    propose_us: float
    propose_high_us: float
    found: float
    feed_us: float
    feed_earlier_us: float
    bytes_per_token: float
    share_of_limit: float


def measure(strategy: str, text: Sequence[int], n: int, bench: Workbench) -> Cost:
    """Feed `n` tokens of the text, then go on step by step.

    Args:
        strategy: One lookup, with settings.
        text: Token ids, more than `n` by 1,200.
        n: Tokens of the history.
        bench: What the drafter may use.
    """
    ((info, settings),) = parse_strategy(strategy).drafters
    began = time.thread_time()
    while bench.earlier is not None and bench.earlier.slice():
        pass
    n_earlier = bench.earlier.n_tokens if bench.earlier is not None else 0
    earlier_us = (time.thread_time() - began) / n_earlier * 1e6 if n_earlier else 0.0
    n_bytes = _memory(lambda: info.make(bench, settings), list(text[:n]))
    drafter, history = info.make(bench, settings), list(text[:n])
    feed_s = _feed(drafter, history)
    proposals, found, observed = [], 0, []
    for _ in range(_STEPS):
        began = time.thread_time()
        draft = drafter.propose(_N_MAX)
        proposals.append(time.thread_time() - began)
        found += bool(draft.tokens)
        start = len(history)
        history.extend(text[start : start + _PER_STEP])
        n_accepted = common_prefix(list(draft.tokens), text[start : start + _N_MAX])
        began = time.thread_time()
        drafter.observe(n_accepted if draft.tokens else None)
        observed.append(time.thread_time() - began)
    drafter.close()
    propose_us = statistics.median(proposals) * 1e6
    feed_us = max(feed_s / n, statistics.median(observed) / _PER_STEP) * 1e6
    limits = [
        propose_us / (PROPOSE_EARLIER_US if n_earlier else PROPOSE_US),
        feed_us / FEED_US,
    ]
    if info.id == "suffix" and n >= SIZES[1]:  # below, the fixed part outweighs the tokens
        limits.append(earlier_us / FEED_EARLIER_US)
        limits.append(n_bytes / (SUFFIX_BYTES * n))
    if info.id == "ngram-mod":
        limits.append(n_bytes / (POOL_BYTES + 2**16))
    return Cost(
        strategy, n, n_earlier, propose_us,
        statistics.quantiles(proposals, n=10)[-1] * 1e6,
        found / _STEPS, feed_us, earlier_us, n_bytes / n, max(limits),
    )  # fmt: skip


def _feed(drafter: Drafter, history: list[int]) -> float:
    """Let it index the whole history, slice by slice; return the CPU seconds it took."""
    began = time.thread_time()
    drafter.begin(history, len(history))
    for _ in range(len(history) // 32):  # more slices than it can need
        drafter.observe(None)
    return time.thread_time() - began


def _memory(make: Callable[[], Drafter], history: list[int]) -> int:
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        drafter = make()
        _feed(drafter, history)
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


def read_text(vocab: Vocabulary, files: Sequence[Path], n: int) -> list[int]:
    """Return the first `n` tokens of the files.

    Raises:
        ValueError: They hold less.
    """
    tokens: list[int] = []
    for file in files:
        tokens += vocab.tokenize(file.read_text("utf-8", "replace"), special=False)
        if len(tokens) >= n:
            return tokens[:n]
    raise ValueError(f"the text has {len(tokens)} tokens, {n} are needed")


def _library() -> list[Path]:
    return sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))


def _benches(vocab: Vocabulary, earlier: Sequence[int]) -> Iterator[Workbench]:
    """Yield a workbench without, and if there are any one with these tokens of an earlier chat."""
    bench = Workbench(
        vocab=vocab, sampler=Sampler(SamplingParams(), 1), draft=None, eog=vocab.eog, chunk=512
    )
    yield bench
    if earlier:
        pieces = {str(at): list(earlier[at : at + 1000]) for at in range(0, len(earlier), 1000)}
        texts = EarlierTexts(pieces.__getitem__)
        texts.put("earlier", list(pieces))
        yield replace(bench, earlier=texts)


def main(argv: list[str] | None = None) -> int:
    """Print a table, or JSON; exit 1 when a figure is above its limit."""
    parser = argparse.ArgumentParser(prog="python packaging/benchmarks drafters")
    parser.add_argument("--strategies", default=",".join(STRATEGIES))
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--text", type=Path, nargs="+", help="text files, UTF-8")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args(argv)
    sizes = [int(size) for size in args.sizes.split(",")]

    vocab = llama_backend().load_vocabulary(str(demo_pair()[0]))
    try:
        text = read_text(vocab, args.text or _library(), max(sizes) + _STEPS * _PER_STEP)
        costs = []
        for strategy in args.strategies.split(","):
            for n in sizes:
                earlier = text[-n:] if strategy.startswith("suffix") else ()
                for bench in _benches(vocab, earlier):
                    costs.append(measure(strategy, text, n, bench))
                    if not args.json:
                        _print(costs[-1], is_first=len(costs) == 1)
    finally:
        vocab.close()
    if args.json:
        print(json.dumps([asdict(cost) for cost in costs], indent=1))
    return int(any(cost.share_of_limit > 1 for cost in costs))


def _print(c: Cost, *, is_first: bool) -> None:
    if is_first:
        print(
            f"{'drafter':28}{'history':>9}{'earlier':>9}{'propose µs':>12}{'p90':>8}{'found':>7}"
            f"{'feed µs':>9}{'earlier':>9}{'B/token':>10}{'share':>7}"
        )
    print(
        f"{c.drafter:28}{c.n_history:9}{c.n_earlier:9}{c.propose_us:12.1f}"
        f"{c.propose_high_us:8.1f}{c.found:7.2f}{c.feed_us:9.2f}{c.feed_earlier_us:9.2f}"
        f"{c.bytes_per_token:10.1f}{c.share_of_limit:7.2f}",
        flush=True,
    )


if __name__ == "__main__":
    raise SystemExit(main())
