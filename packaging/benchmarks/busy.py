"""How Auto sees a machine that others begin to use: ``python packaging/benchmarks busy``.

After a reply with Auto on a quiet machine, other processes begin to compute and read memory without
end, and the next reply runs beside them. Shown are Auto's own reports: its estimate of a plain
step, token by token, and what its ledger books. True plain steps are timed right before that reply
and right after it. The limits, for the median of the repeats: within 64 tokens the estimate is
within 20 % of the true step, and the ledger has booked no more than speculation has really lost and
its promise.

The others run for some seconds before steps are timed beside them: a virtual machine that begins to
use a second core was seen to have another speed for two seconds.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, median

from benchmarks.hosts import BenchError, load, run_turn
from paceline.engine.auto.tuning import TUNING
from paceline.engine.draft.strategy import read_strategy
from paceline.hosting.inline import InlineClient
from paceline.messages import (
    ChatMessage,
    ControlReported,
    Event,
    LoadPair,
    ModelParams,
    StartTurn,
    StepCommitted,
    TurnFinished,
)
from paceline.paths import demo_pair

WITHIN_TOKENS = 64
MOST_OFF = 0.2
MOST_BOOKED = 4.0  # plain steps by which the ledger may be off: its own promise
N_QUIET = 100  # tokens before the others begin
SETTLE_S = 3.0
N_MORE = 16
N_PLAIN = 64
_HICCUP = 3.0  # times the median, beyond which a step was held up by something
QUESTION = "What does os.path.join do? Show an example."
_WORK = """
import sys
block = bytearray(64 << 20)
block[::4096] = bytes([1]) * len(block[::4096])
print("ready", flush=True)
sys.stdin.read(1)
while True:
    for i in range(0, len(block), 4096):
        block[i] = (block[i] + 1) & 255
"""


@dataclass(frozen=True, slots=True)
class Look:
    """One of Auto's reports.

    Attributes:
        n_tokens: Tokens of the reply beside the others.
        plain_s: Its estimate of a plain step, seconds.
        booked: Plain steps that its ledger booked as lost since its first report, net of what the
            promise grants per token.
        lost: Plain steps that were really lost since then, by the true time of one.
    """

    n_tokens: int
    plain_s: float
    booked: float
    lost: float


@dataclass(frozen=True, slots=True)
class Trace:
    """One reply; seconds of a true plain step without the others, and beside them."""

    quiet_s: float
    busy_s: float
    looks: tuple[Look, ...]

    @property
    def last(self) -> Look:
        """The look that has to be right: the last one, after at least `WITHIN_TOKENS` tokens."""
        return self.looks[-1]

    @property
    def estimate(self) -> float:
        """Auto's last estimate of a plain step over the true one."""
        return self.last.plain_s / self.busy_s

    @property
    def too_much(self) -> float:
        """Plain steps that were booked at the end and not lost."""
        return self.last.booked - self.last.lost


def is_right(traces: Sequence[Trace]) -> bool:
    """Whether the medians keep the limits."""
    estimate = median(found.estimate for found in traces)
    return abs(estimate - 1) <= MOST_OFF and median(t.too_much for t in traces) <= MOST_BOOKED


@contextlib.contextmanager
def others(n: int) -> Iterator[Callable[[], None]]:
    """Start `n` processes; they compute and read memory once the yielded function is called."""
    with contextlib.ExitStack() as stack:
        processes = []
        for _ in range(n):
            process = subprocess.Popen(
                [sys.executable, "-c", _WORK], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            stack.enter_context(process)
            stack.callback(process.kill)
            processes.append(process)
        for process in processes:
            if process.stdout is None or not process.stdout.readline():
                raise BenchError("A process that was to compute beside the reply has ended.")

        def go() -> None:
            for process in processes:
                assert process.stdin is not None
                process.stdin.write(b"!")
                process.stdin.flush()

        yield go


def trace(client: InlineClient, n_busy: int, seed: int) -> Trace:
    """Take one reply alone and one beside the others.

    Raises:
        BenchError: A reply did not come to its end.
    """
    seen: list[tuple[int, float, ControlReported]] = []
    n = 0
    took_s = 0.0

    def hear(event: Event) -> None:
        nonlocal n, took_s
        match event:
            case StepCommitted():
                n += len(event.tokens)
                took_s += event.total_s if event.step else 0.0
            case ControlReported() if event.plain_s:
                seen.append((n, took_s, event))
            case _:
                pass

    with others(n_busy) as go:
        quiet_s = _plain_s(client, seed)
        _reply(client, "auto", N_QUIET, seed, lambda _event: None)
        go()
        time.sleep(SETTLE_S)
        before_s = _plain_s(client, seed)
        _reply(client, "auto", WITHIN_TOKENS + N_MORE, seed, hear)
        busy_s = (before_s + _plain_s(client, seed)) / 2
    if not seen or seen[-1][0] < WITHIN_TOKENS:
        raise BenchError("Auto has not reported to the end of the reply.")
    return Trace(quiet_s, busy_s, tuple(_looks(seen, busy_s)))


def _looks(seen: Sequence[tuple[int, float, ControlReported]], busy_s: float) -> Iterator[Look]:
    """Compare what was reported with the truth, from the first report on."""
    start, since_s, first = seen[0]
    for n, took_s, event in seen:
        lost = (took_s - since_s) / busy_s - (n - start)
        booked = first.slack_s / first.plain_s - event.slack_s / event.plain_s
        yield Look(n, event.plain_s, booked + TUNING.promised_share * (n - start), lost)


def _plain_s(client: InlineClient, seed: int) -> float:
    """Return the mean seconds of a plain step's decode, each three times the median at most.

    The mean, since a reply takes the sum; a longer time is an interruption and no pace.
    """
    steps: list[float] = []

    def hear(event: Event) -> None:
        if isinstance(event, StepCommitted) and event.plain:
            steps.append(event.verify_s)

    _reply(client, "off", N_PLAIN, seed, hear)
    most = _HICCUP * median(steps)
    return fmean(min(seconds, most) for seconds in steps)


def _reply(
    client: InlineClient, strategy: str, n_tokens: int, seed: int, hear: Callable[[Event], None]
) -> TurnFinished:
    command = StartTurn(
        "busy",
        messages=(ChatMessage("user", QUESTION),),
        strategy=read_strategy(strategy),
        max_tokens=n_tokens,
        seed=seed,
        ignore_eog=True,
    )
    last = run_turn(client, command, hear)
    if not isinstance(last, TurnFinished):
        raise BenchError(str(last))
    return last


def report(traces: Sequence[Trace]) -> str:
    """Return the traces for people."""
    lines = []
    for found in traces:
        lines.append(
            f"a plain step takes {found.quiet_s * 1e3:.1f} ms, beside the others "
            f"{found.busy_s * 1e3:.1f} ms"
        )
        lines.append(f"{'tokens':>8}{'estimate ms':>13}{'of true':>9}{'booked':>9}{'lost':>9}")
        lines += [
            f"{look.n_tokens:8}{look.plain_s * 1e3:13.1f}"
            f"{look.plain_s / found.busy_s:9.2f}"
            f"{look.booked:9.1f}{look.lost:9.1f}"
            for look in found.looks
        ]
    estimates = sorted(found.estimate for found in traces)
    too_much = sorted(found.too_much for found in traces)
    verdict = "as wanted" if is_right(traces) else "NOT as wanted"
    lines.append(
        f"in the end: estimate {median(estimates):.2f} of a true plain step "
        f"({estimates[0]:.2f} to {estimates[-1]:.2f}), booked and not lost {median(too_much):.1f} "
        f"steps ({too_much[0]:.1f} to {too_much[-1]:.1f}): {verdict}"
    )
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> int:
    """Print the traces, or JSON; exit 1 when they miss a limit."""
    target, draft = demo_pair()
    parser = argparse.ArgumentParser(prog="python packaging/benchmarks busy")
    parser.add_argument("--target", default=str(target))
    parser.add_argument("--draft", default=str(draft))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--busy", type=int, default=2, help="processes beside it")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args(argv)
    client = InlineClient()
    try:
        load(
            client,
            LoadPair(
                "busy",
                ModelParams(args.target, n_threads=args.threads),
                ModelParams(args.draft, n_threads=args.threads),
            ),
        )
        _plain_s(client, 0)
        traces = [trace(client, args.busy, seed) for seed in range(args.repeat)]
    finally:
        client.close()
    if args.json:
        print(json.dumps([asdict(found) for found in traces], indent=1))
    else:
        print(report(traces))
    return int(not is_right(traces))


if __name__ == "__main__":
    raise SystemExit(main())
