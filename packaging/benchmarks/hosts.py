"""What a separate process costs and saves the engine: ``python packaging/benchmarks hosts``.

The same replies run in this thread and in the process host, in turns and in random order; both have
their models loaded and idle while the other one works. Ratios are the process by the thread (above
1: the process is faster), median over the pairs with a 95 % interval: "wall" by what the caller
waits from `StartTurn` to `TurnFinished`, "decode" by the engine's own `decode_s`. The tokens must
be the same. The limit is a ratio of 0.95.

With ``--busy MS`` another thread of this process computes in Python for so many milliseconds of
every 16, as a window does that paints: it takes the interpreter's lock from an engine in this
process, and not from one in its own.

With ``--cancel N`` replies are cancelled at random moments, in turns in prefill and decode, and the
time from the call to the last event is printed; the limit is 300 ms for 95 of 100 on the process
host. Prompts are random tokens, so that no two replies share a prefix and every prefill is long.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median

from paceline.bench.recommend import Interval, bootstrap, percentile
from paceline.engine.draft.strategy import read_strategy
from paceline.gui.engine_thread import make_process_service
from paceline.hosting.inline import InlineClient, make_engine_service
from paceline.messages import (
    ChatMessage,
    Event,
    LoadPair,
    ModelParams,
    PairLoaded,
    StartTurn,
    StepCommitted,
    TurnFailed,
    TurnFinished,
    TurnStarted,
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
STAGES: dict[str, type] = {"prefill": TurnStarted, "decode": StepCommitted}
N_PROMPT = 1000
N_TOKENS = 400
_FIRST_TOKEN, _LAST_TOKEN = 300, 4000
"""Ordinary tokens of any vocabulary; what they say is of no importance."""
_MOST_TRIES = 10


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
        thread_wall: Tokens per second of the thread host, by the caller's clock.
        process_wall: The same of the process host.
        thread_decode: Tokens per second of the thread host, by the engine's `decode_s`.
        process_decode: The same of the process host.
        wall: Ratio of process to thread by the caller's clock.
        decode: The same by `decode_s`.
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
        """Whether even the upper end of an interval is below the limit."""
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


def run_turn(
    client: InlineClient, command: StartTurn, hear: Callable[[Event], None] = lambda _event: None
) -> Event | None:
    """Run a reply on a client of this thread, let `hear` see its events, return the last one."""
    last: Event | None = None

    def listen(event: Event) -> None:
        nonlocal last
        last = event
        hear(event)

    client.set_listener(listen)
    client.submit(command)
    return last


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
            strategy=read_strategy(strategy),
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
        clock: bootstrap(
            [
                [
                    p / t
                    for p, t in zip(speeds["process", clock], speeds["thread", clock], strict=True)
                ]
            ]
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


# ------------------------------------------------------------------------------------- cancels


@dataclass(frozen=True, slots=True)
class Cancels:
    """What one host needed for its cancels in one stage; seconds."""

    stage: str
    host: str
    n: int
    p50_s: float
    p95_s: float
    max_s: float


def measure_cancels(
    clients: Mapping[str, InlineClient], strategy: str, n_cancels: int
) -> list[Cancels]:
    """Cancel `n_cancels` replies per stage and host, all in turns.

    Raises:
        RuntimeError: Replies fail, or end before they can be cancelled.
    """
    moments = random.Random(1)
    lengths = {host: _stage_lengths(client, strategy) for host, client in clients.items()}
    found: dict[tuple[str, str], list[float]] = {}
    for _ in range(n_cancels):
        for stage, begins_with in STAGES.items():
            for host, client in clients.items():
                delay_s = moments.random() * lengths[host][stage]
                found.setdefault((stage, host), []).append(
                    _cancel_until_it_hits(client, strategy, moments, begins_with, delay_s)
                )
    return [
        Cancels(stage, host, len(s), percentile(s, 0.5), percentile(s, 0.95), max(s))
        for (stage, host), s in found.items()
    ]


def _command(strategy: str, moments: random.Random) -> StartTurn:
    tokens = tuple(moments.randint(_FIRST_TOKEN, _LAST_TOKEN) for _ in range(N_PROMPT))
    return StartTurn(
        "cancel",
        prompt_tokens=tokens,
        strategy=read_strategy(strategy),
        max_tokens=N_TOKENS,
        seed=1,
        ignore_eog=True,
    )


def _stage_lengths(client: InlineClient, strategy: str) -> dict[str, float]:
    """Return how long the stages take without a cancel."""
    finished = run_turn(client, _command(strategy, random.Random(0)))
    if not isinstance(finished, TurnFinished):
        raise RuntimeError(str(finished))
    return {"prefill": finished.stats.prefill_s, "decode": finished.stats.decode_s}


def _cancel_until_it_hits(
    client: InlineClient,
    strategy: str,
    moments: random.Random,
    begins_with: type,
    delay_s: float,
) -> float:
    """Cancel a reply so many seconds into a stage; earlier when it was over by then."""
    for _ in range(_MOST_TRIES):
        command = _command(strategy, moments)
        canceller = _Canceller(client, command.turn_id, begins_with, delay_s)
        last = run_turn(client, command, canceller.hear)
        ended = time.perf_counter()
        cancelled_at = canceller.finish()
        if _was_cancelled(last):
            return ended - cancelled_at
        delay_s /= 2
    raise RuntimeError(f"replies end before they can be cancelled: {last}")


class _Canceller:
    """Cancels a reply once, so many seconds after its first event of a kind."""

    def __init__(
        self, client: InlineClient, turn_id: str, begins_with: type, delay_s: float
    ) -> None:
        self._client = client
        self._turn_id = turn_id
        self._begins_with = begins_with
        self._delay_s = delay_s
        self._has_begun = threading.Event()
        self._cancelled_at = 0.0
        self._thread = threading.Thread(target=self._cancel, name="canceller", daemon=True)
        self._thread.start()

    def hear(self, event: Event) -> None:
        """Note an event of the reply."""
        if isinstance(event, self._begins_with):
            self._has_begun.set()

    def finish(self) -> float:
        """Wait until it is done and return when it cancelled."""
        self._has_begun.set()
        self._thread.join()
        return self._cancelled_at

    def _cancel(self) -> None:
        self._has_begun.wait()
        time.sleep(self._delay_s)
        self._cancelled_at = time.perf_counter()
        self._client.cancel(self._turn_id)


def _was_cancelled(last: Event | None) -> bool:
    match last:
        case TurnFinished():
            return last.reason == "cancelled"
        case TurnFailed():
            return last.code == "cancelled"
        case _:
            return False


# -------------------------------------------------------------------------------------- report


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
    """Print a table, or JSON; exit 1 when texts differ or the process misses a limit."""
    target, draft = demo_pair()
    parser = argparse.ArgumentParser(prog="python packaging/benchmarks hosts")
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
