"""What a process of its own costs the engine and what it saves: ``python -m paceline.bench.hosts``.

The same replies run in this thread and in the process host, in turns and in random order; both have
their models loaded and idle while the other one works. Ratios are the process by the thread (above
1: the process is faster), median over the pairs with a 95 % interval: "wall" by what the caller
waits from `StartTurn` to `TurnFinished`, "decode" by the engine's own `decode_s`. The tokens must
be the same. Wanted is a ratio of 0.95.

With ``--busy MS`` another thread of this process computes in Python for so many milliseconds of
every 16, as a window does that paints: it takes the interpreter's lock from an engine in this
process, and not from one in its own. With ``--cancel N`` replies are stopped at random moments, in
turns in prefill and decode, and the time until the last event is told; wanted are 300 ms for 95 of
100 on the process host.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from statistics import median

from paceline.bench.cancelling import Cancels, measure_cancels
from paceline.bench.intervals import Interval, median_interval
from paceline.hosting.inline import InlineClient
from paceline.hosting.service import make_engine_service, make_process_service
from paceline.messages import (
    ChatMessage,
    Event,
    LoadPair,
    ModelParams,
    PairLoaded,
    StartTurn,
    TurnFinished,
)
from paceline.paths import demo_pair

LEAST_RATIO = 0.95
MOST_CANCEL_S = 0.3
FRAME_S = 0.016
QUESTIONS = (
    "What does os.path.join do? Show an example.",
    "How do I read a file line by line?",
    "What is the difference between a list and a tuple?",
)
HOSTS = {"thread": make_engine_service, "process": make_process_service}


class BenchError(Exception):
    """A model cannot be loaded, or a reply did not come to its end."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply at one host; seconds."""

    tokens: tuple[int, ...]
    wall_s: float
    decode_s: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """All pairs of one strategy; tokens per second are medians.

    Attributes:
        strategy: Its name.
        busy_ms: Milliseconds of every 16 in which this process was busy with other things.
        n_pairs: How often both hosts ran the same reply.
        n_different: Pairs whose tokens differ.
        thread_wall: Tokens per second by the caller's clock; likewise the other three.
        process_wall: See `thread_wall`.
        thread_decode: See `thread_wall`.
        process_decode: See `thread_wall`.
        wall: Ratio of process to thread.
        decode: See `wall`.
    """

    strategy: str
    busy_ms: float
    n_pairs: int
    n_different: int
    thread_wall: float
    process_wall: float
    thread_decode: float
    process_decode: float
    wall: Interval
    decode: Interval

    @property
    def is_slower(self) -> bool:
        """Whether the process is slower than wanted, for sure."""
        return max(self.wall.high, self.decode.high) < LEAST_RATIO


def load(client: InlineClient, pair: LoadPair) -> None:
    """Load the models.

    Raises:
        BenchError: They cannot be loaded.
    """
    events: list[Event] = []
    client.set_listener(events.append)
    client.submit(pair)
    if not isinstance(events[-1], PairLoaded):
        raise BenchError(str(events[-1]))


def run_reply(client: InlineClient, command: StartTurn) -> Reply:
    """Run one reply to its end.

    Raises:
        BenchError: It failed.
    """
    ends: list[tuple[float, Event]] = []

    def hear(event: Event) -> None:
        ends[:] = [(time.perf_counter(), event)]

    client.set_listener(hear)
    began = time.perf_counter()
    client.submit(command)
    ended, event = ends[-1]
    if not isinstance(event, TurnFinished):
        raise BenchError(str(event))
    return Reply(event.tokens, ended - began, event.stats.decode_s)


def compare(
    clients: dict[str, InlineClient],
    strategy: str,
    *,
    n_pairs: int,
    n_tokens: int,
    busy_ms: float = 0.0,
) -> Comparison:
    """Run the same replies at both hosts.

    Raises:
        BenchError: One of them failed.
    """
    order = random.Random(1)
    pairs: list[dict[str, Reply]] = []
    for i in range(-1, n_pairs):  # the first pair warms both sides up and does not count
        command = StartTurn(
            f"bench {i}",
            messages=(ChatMessage("user", QUESTIONS[i % len(QUESTIONS)]),),
            strategy=strategy,
            max_tokens=n_tokens,
            seed=i + 1,
            ignore_eog=True,
        )
        with busy_python(busy_ms):
            hosts = order.sample(list(HOSTS), len(HOSTS))
            pairs.append({host: run_reply(clients[host], command) for host in hosts})
    del pairs[0]
    return summarise(strategy, busy_ms, pairs)


def summarise(strategy: str, busy_ms: float, pairs: Sequence[dict[str, Reply]]) -> Comparison:
    """Return what the pairs say."""
    speeds = {
        (host, clock): [len(p[host].tokens) / getattr(p[host], f"{clock}_s") for p in pairs]
        for host in HOSTS
        for clock in ("wall", "decode")
    }
    ratios = {
        clock: median_interval(
            [p / t for p, t in zip(speeds["process", clock], speeds["thread", clock], strict=True)]
        )
        for clock in ("wall", "decode")
    }
    return Comparison(
        strategy,
        busy_ms,
        n_pairs=len(pairs),
        n_different=sum(pair["thread"].tokens != pair["process"].tokens for pair in pairs),
        thread_wall=median(speeds["thread", "wall"]),
        process_wall=median(speeds["process", "wall"]),
        thread_decode=median(speeds["thread", "decode"]),
        process_decode=median(speeds["process", "decode"]),
        **ratios,
    )


@contextlib.contextmanager
def busy_python(busy_ms: float) -> Iterator[None]:
    """Keep this process's interpreter busy for so many milliseconds of every 16."""
    if not busy_ms:
        yield
        return
    is_over = threading.Event()

    def work() -> None:
        while not is_over.is_set():
            began = time.perf_counter()
            while time.perf_counter() - began < busy_ms / 1e3:
                sum(range(100))
            is_over.wait(max(began + FRAME_S - time.perf_counter(), 0.0))

    thread = threading.Thread(target=work, name="busy", daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


@contextlib.contextmanager
def loaded_clients(pair: LoadPair) -> Iterator[dict[str, InlineClient]]:
    """Give a client with these models for every host.

    Raises:
        BenchError: They cannot be loaded.
    """
    with contextlib.ExitStack() as stack:
        clients: dict[str, InlineClient] = {}
        for host, make_service in HOSTS.items():
            clients[host] = InlineClient(make_service)
            stack.callback(clients[host].close)
            load(clients[host], pair)
        yield clients


def report(comparisons: Sequence[Comparison], cancels: Sequence[Cancels]) -> str:
    """Return the results for people."""
    lines = [
        f"{'strategy':26}{'busy ms':>8}{'pairs':>6}{'thread t/s':>11}{'process t/s':>12}  "
        f"{'wall':22}{'decode':22}other text"
    ]
    lines += [
        f"{c.strategy:26}{c.busy_ms:8g}{c.n_pairs:6}{c.thread_wall:11.1f}{c.process_wall:12.1f}  "
        f"{c.wall!s:22}{c.decode!s:22}{c.n_different}"
        for c in comparisons
    ]
    if cancels:
        lines += ["", f"{'cancel':10}{'host':9}{'n':>5}{'p50 ms':>9}{'p95 ms':>9}{'max ms':>9}"]
    lines += [
        f"{c.stage:10}{c.host:9}{c.n:5}{c.p50_s * 1e3:9.1f}{c.p95_s * 1e3:9.1f}{c.max_s * 1e3:9.1f}"
        for c in cancels
    ]
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> int:
    """Print a table, or JSON; exit 1 when texts differ or the process misses what is wanted."""
    target, draft = demo_pair()
    parser = argparse.ArgumentParser(prog="python -m paceline.bench.hosts")
    parser.add_argument("--target", default=str(target))
    parser.add_argument("--draft", default=str(draft))
    parser.add_argument("--strategy", nargs="+", default=["off", "draft"], metavar="ID")
    parser.add_argument("--pairs", type=int, default=15, help="pairs of replies per strategy")
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--busy", type=float, default=0.0, metavar="MS", help="of every 16 ms")
    parser.add_argument("--cancel", type=int, default=0, metavar="N", help="cancels per stage")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args(argv)

    pair = LoadPair(
        "bench",
        ModelParams(args.target, n_threads=args.threads),
        ModelParams(args.draft, n_threads=args.threads),
    )
    with loaded_clients(pair) as clients:
        comparisons = [
            compare(clients, strategy, n_pairs=args.pairs, n_tokens=args.tokens, busy_ms=args.busy)
            for strategy in args.strategy
            if args.pairs
        ]
        cancels = []
        if args.cancel:
            with busy_python(args.busy):
                cancels = measure_cancels(clients, args.strategy[-1], args.cancel)
    if args.json:
        results = {
            "comparisons": [asdict(c) for c in comparisons],
            "cancels": [asdict(c) for c in cancels],
        }
        print(json.dumps(results, indent=1))
    else:
        print(report(comparisons, cancels))
    is_slow = any(c.host == "process" and c.p95_s > MOST_CANCEL_S for c in cancels)
    return int(is_slow or any(c.is_slower or c.n_different for c in comparisons))


if __name__ == "__main__":
    raise SystemExit(main())
