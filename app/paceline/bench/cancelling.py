"""How long a cancel takes, from the call to the last event; part of `bench.hosts`.

A helper thread waits for the stage that is to be hit (the prefill begins with `TurnStarted`, the
decode with the first step), sleeps for a random part of it and cancels. Prompts are random tokens,
so that no two replies share a prefix and every prefill is a long one.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from paceline.bench.intervals import percentile
from paceline.hosting.inline import InlineClient
from paceline.messages import Event, StartTurn, StepCommitted, TurnFailed, TurnFinished, TurnStarted

STAGES: dict[str, type] = {"prefill": TurnStarted, "decode": StepCommitted}
N_PROMPT = 1000
N_TOKENS = 400
_FIRST_TOKEN, _LAST_TOKEN = 300, 4000
"""Ordinary tokens of any vocabulary; what they say is of no importance."""
_MOST_TRIES = 10


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
        strategy=strategy,
        max_tokens=N_TOKENS,
        seed=1,
        ignore_eog=True,
    )


def _stage_lengths(client: InlineClient, strategy: str) -> dict[str, float]:
    """Return how long the stages take when nobody cancels."""
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
