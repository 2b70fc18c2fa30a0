"""The number of threads where the user sets none: all physical cores but one, or fewer.

Decoding one token reads all weights once, which fewer threads may do as fast: where memory is the
limit, where some cores are slow ones, or where a model is so small that its threads spend more time
waiting for each other than computing. So smaller counts are tried beside the default, once per
machine and model, in turns and only while the machine is quiet. Another count must win clearly:
single tokens at least 5 % faster, and a verify decode after them, which uses the threads for
batches, no slower. (With OpenMP a change of the count between two decodes costs time, too.)

The count for batches stays the default: a prefill can use every core.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import psutil

from paceline.engine.facts import Facts
from paceline.engine.model.backend import LanguageModel
from paceline.params import ModelParams
from paceline.sentence import sentence

BUDGET_S = 1.5
"""Seconds that measuring may take in one load, for both models together."""
_TARGET_SHARE = 0.75  # of the budget; the draft model gets the rest
_VERIFY_WIDTH = 4  # tokens of the decode that must not become slower
_MIN_GAIN = 1.05
_MAX_VERIFY_SLOWDOWN = 1.02
_MIN_ROUNDS = 3
_MAX_ROUNDS = 12
_HOPELESS_RATIO = 1.25  # a count slower than the default by this in two rounds is dropped
MAX_FOREIGN_CORES = 0.5
"""Maximum number of cores that others may use during a measurement."""

Clock = Callable[[], float]


class ThreadChoice(NamedTuple):
    """The chosen thread count of one model.

    Attributes:
        n_threads: Threads for decodes of one token.
        n_default: The default count.
        gain: Speed relative to `n_default`.
    """

    n_threads: int
    n_default: int
    gain: float


class ThreadTrial(NamedTuple):
    """Seconds of one trial of a thread count: a single token, and a verify decode after it."""

    plain_s: float
    verify_s: float


def candidates(most: int) -> tuple[int, ...]:
    """Return the counts to try: the default `most` first, then the most promising ones."""
    counts = [most, *(max(round(most * part), 1) for part in (1 / 2, 3 / 4, 1 / 4))]
    return tuple(dict.fromkeys(counts))


class ThreadChooser:
    """Chooses thread counts for the models of one load.

    Args:
        facts: Facts that store choices.
        clock: Monotonic seconds.
        foreign_cores: Returns how many cores other programs have used since the last call.
    """

    def __init__(
        self,
        facts: Facts,
        *,
        clock: Clock = time.perf_counter,
        foreign_cores: Callable[[], float] | None = None,
    ) -> None:
        self._facts = facts
        self._clock = clock
        self._foreign_cores = foreign_cores or ForeignLoad(clock)
        self._left_s = BUDGET_S

    def choose(
        self, model: LanguageModel, params: ModelParams, target: LanguageModel | None = None
    ) -> ThreadChoice | None:
        """Set the model's thread count if the user has not, and store the choice.

        Args:
            model: A model with an empty context; it is empty afterwards, too.
            params: The user's parameters for it.
            target: For a draft model, the target, whose verify decodes follow its own.

        Returns:
            The choice, or None where the default stays.

        Raises:
            CancelledError: The user stopped the load.
            EngineError: The model could not be run.
        """
        n_default, n_batch = model.info.n_threads, model.info.n_threads_batch
        if params.n_threads or n_default == 1 or _is_on_gpu(model):
            return None
        name = f"threads|{model.facts_key}"
        choice = _parse(self._facts.get(name), n_default)
        if choice is None:
            choice = self._measure(
                model, target or model, self._left_s * (1 if target else _TARGET_SHARE)
            )
            if choice is None:  # no reliable measurement
                return None
            self._facts.put(name, f"{choice.n_threads} {choice.gain:.3f}")
        if choice.n_threads == n_default:
            return None
        model.set_threads(choice.n_threads, n_batch)
        return choice

    def _measure(
        self, model: LanguageModel, verifier: LanguageModel, budget_s: float
    ) -> ThreadChoice | None:
        # The self-test's decodes were wider than these.
        if 2 * model.last_decode[1] + verifier.last_decode[1] > budget_s:
            return None
        began = self._clock()
        n_default, n_batch = model.info.n_threads, model.info.n_threads_batch
        self._foreign_cores()
        try:
            rounds = _rounds(
                candidates(n_default),
                lambda count: self._try(model, verifier, count, n_batch),
                self._clock,
                budget_s,
            )
        finally:
            model.set_threads(n_default, n_batch)
            self._left_s = max(self._left_s - (self._clock() - began), 0.0)
        if self._foreign_cores() > MAX_FOREIGN_CORES:
            return None
        return best_of(rounds, n_default)

    def _try(
        self, model: LanguageModel, verifier: LanguageModel, count: int, n_batch: int
    ) -> ThreadTrial:
        """Time a single token and a verify decode, as in a step with a draft."""
        n_verify = min(_VERIFY_WIDTH, verifier.max_rows, verifier.n_ctx - 2)
        try:
            model.set_threads(count, n_batch)
            model.decode([0], 1)  # builds the graph and wakes the threads
            began = self._clock()
            model.decode([0], 1)
            between = self._clock()
            verifier.decode([0] * n_verify, n_verify)
            return ThreadTrial(between - began, self._clock() - between)
        finally:
            model.clear()
            verifier.clear()


def _rounds(
    counts: Sequence[int], attempt: Callable[[int], ThreadTrial], clock: Clock, budget_s: float
) -> dict[int, list[ThreadTrial]]:
    """Try the counts in turns as often as the budget allows; all lists have the same length.

    The first count is the default; hopelessly slow ones are left out of the result.
    """
    began = clock()
    default = counts[0]
    attempt(default)  # warm-up
    seconds = {count: (clock() - began) * default / count for count in counts}
    while len(counts) > 2 and _MIN_ROUNDS * sum(seconds[c] for c in counts) > budget_s:
        counts = counts[:-1]
    found: dict[int, list[ThreadTrial]] = {count: [] for count in counts}
    for number in range(_MAX_ROUNDS):
        if clock() - began + sum(seconds[count] for count in counts) > budget_s:
            break
        for count in counts if number % 2 == 0 else reversed(counts):
            before = clock()
            found[count].append(attempt(count))
            seconds[count] = clock() - before
        if number > 0:  # a single round may be disturbed
            limit_s = _HOPELESS_RATIO * min(trial.plain_s for trial in found[default])
            best_s = {c: min(trial.plain_s for trial in found[c]) for c in counts}
            counts = [c for c in counts if c == default or best_s[c] < limit_s]
            found = {count: found[count] for count in counts}
        if len(counts) == 1:
            break
    return found


def best_of(rounds: dict[int, list[ThreadTrial]], n_default: int) -> ThreadChoice | None:
    """Return the count that is clearly the fastest, or the default; None with too few rounds."""
    default = rounds[n_default]
    if len(rounds) > 1 and len(default) < _MIN_ROUNDS:
        return None
    best = ThreadChoice(n_default, n_default, 1.0)
    for count, trials in rounds.items():
        by_turns = list(zip(default, trials, strict=True))
        ratios = [before.plain_s / now.plain_s for before, now in by_turns]
        gain = statistics.median(ratios)
        is_clear = sum(ratio > 1 for ratio in ratios) >= 0.75 * len(ratios)
        verify = statistics.median(now.verify_s / before.verify_s for before, now in by_turns)
        if gain >= max(_MIN_GAIN, best.gain) and is_clear and verify <= _MAX_VERIFY_SLOWDOWN:
            best = ThreadChoice(count, n_default, gain)
    return best


def note(name: str, choice: ThreadChoice) -> str:
    """Return a note about the thread count that was chosen for a model."""
    threads = sentence("{n} threads", n=choice.n_threads)
    if choice.n_threads == 1:
        threads = sentence("1 thread")
    return sentence(
        "“{name}” decodes single tokens with {threads}, which is {gain:.0%} "
        "faster here than with {n_default}.",
        name=name,
        threads=threads,
        gain=choice.gain - 1,
        n_default=choice.n_default,
    )


def _is_on_gpu(model: LanguageModel) -> bool:
    return model.info.n_gpu_layers > model.info.n_layers


def _parse(fact: object, n_default: int) -> ThreadChoice | None:
    try:
        count, gain = str(fact).split()
        choice = ThreadChoice(int(count), n_default, float(gain))
    except ValueError:
        return None
    is_sound = 1 <= choice.n_threads <= n_default and 1 <= choice.gain < math.inf
    return choice if is_sound else None


class ForeignLoad:
    """Measures how many cores other programs keep busy.

    Args:
        clock: Monotonic seconds.
    """

    def __init__(self, clock: Clock = time.perf_counter) -> None:
        self._clock = clock
        self._process = psutil.Process()
        self._seen = self._times()

    def __call__(self) -> float:
        """Return the cores used by others since the last call, or since this object was created."""
        before, now = self._seen, self._times()
        self._seen = now
        passed = max(now[0] - before[0], 1e-3)
        return max((now[1] - before[1]) - (now[2] - before[2]), 0.0) / passed

    def _times(self) -> tuple[float, float, float]:
        """Return the time, and the CPU seconds of all programs and of this one."""
        everyone = psutil.cpu_times()
        # A guest's time is included in the user's; not every system has all of these.
        left_out = ("idle", "iowait", "guest", "guest_nice")
        idle = sum(getattr(everyone, name, 0.0) for name in left_out)
        own = self._process.cpu_times()
        return self._clock(), sum(everyone) - idle, own.user + own.system
