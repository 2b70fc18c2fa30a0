"""The runs of a benchmark and their order.

Within a repeat the strategies of one workload follow each other in random order: a machine that is
slow for a while then slows all of them alike, and ratios are those of runs close in time. Where
many are compared, plain decoding runs several times among them, since every ratio depends on it.
The same plan has the same order.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from paceline.bench.workload import Workload
from paceline.engine.draft.strategy import parse_strategy
from paceline.errors import UserError, ValueOutOfRangeError
from paceline.messages import Chat, Infill, RawText, Tokens

PLAIN = "off"
AUTO = "auto"
WARM_UP_TOKENS = 8
_CHARS_PER_TOKEN = 4
STRATEGIES_PER_PLAIN = 6
"""Number of strategies for each run of plain decoding, per workload and repeat."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One run: a workload by a strategy. `repeat` counts from 1; 0 warms up and does not count."""

    repeat: int
    workload: Workload
    strategy: str


@dataclass(frozen=True, slots=True)
class Plan:
    """The parts of a benchmark; `make_plan` checks them.

    Attributes:
        workloads: At least one; names are unique.
        strategies: As they were written; "off" is the first one.
        n_repeats: At least 1.
        is_fresh: Whether Auto begins every run without acceptance rates. Otherwise it knows them
            from the replies before, as in a user's chat; texts are forgotten either way.
    """

    workloads: tuple[Workload, ...]
    strategies: tuple[str, ...]
    n_repeats: int
    is_fresh: bool = False

    @property
    def n_runs(self) -> int:
        """The number of runs that are measured, without the warm-up."""
        return len(self.workloads) * len(self._group) * self.n_repeats

    @property
    def n_written(self) -> int:
        """Upper bound of the tokens that all runs write, the warm-up included."""
        longest = sum(workload.max_tokens for workload in self.workloads)
        n_warm = len(self.workloads) + len(self.strategies) - 1
        return longest * len(self._group) * self.n_repeats + n_warm * WARM_UP_TOKENS

    @property
    def n_read(self) -> int:
        """Estimated tokens of all prompts that are read."""
        each = sum(map(_size, self.workloads)) // _CHARS_PER_TOKEN
        return each * (len(self._group) * self.n_repeats + 1)

    @property
    def _group(self) -> tuple[str, ...]:
        """The strategies of one workload in a repeat, with plain decoding several times."""
        return (PLAIN,) * ((len(self.strategies) - 1) // STRATEGIES_PER_PLAIN) + self.strategies

    def warm_up(self) -> Iterator[Cell]:
        """Yield short runs: every prompt once, for the cost of its prefill, and every strategy.

        The first replies after a load are slower than later ones: files are read, graphs built.
        """
        for workload in self.workloads:
            yield Cell(0, workload, PLAIN)
        shortest = min(self.workloads, key=_size)
        for strategy in self.strategies:
            if strategy != PLAIN:
                yield Cell(0, shortest, strategy)

    def cells(self) -> Iterator[Cell]:
        """Yield the runs that count."""
        order = random.Random(1)
        for repeat in range(1, self.n_repeats + 1):
            for workload in order.sample(self.workloads, len(self.workloads)):
                for strategy in order.sample(self._group, len(self._group)):
                    yield Cell(repeat, workload, strategy)


def make_plan(
    workloads: Sequence[Workload],
    strategies: Sequence[str],
    n_repeats: int,
    *,
    is_fresh: bool = False,
) -> Plan:
    """Return a plan; plain decoding always takes part, as the reference of the others.

    Raises:
        ValueOutOfRangeError: A strategy does not exist or is given twice.
    """
    for strategy in strategies:
        parse_strategy(strategy)
        if strategies.count(strategy) > 1:
            raise ValueOutOfRangeError(
                "bad-strategy",
                "The strategy {strategy} is given twice.",
                "Give it once.",
                strategy=strategy,
            )
    others = [strategy for strategy in strategies if strategy != PLAIN]
    return Plan(tuple(workloads), (PLAIN, *others), n_repeats, is_fresh)


def is_controlled(strategy: str) -> bool:
    """Return whether Auto's controller decides about lengths; False for unknown strategies."""
    try:
        return parse_strategy(strategy).is_controlled
    except UserError:  # another version's, or a plug-in's of another machine
        return False


def _size(workload: Workload) -> int:
    match workload.prompt:
        case Chat() as chat:
            return sum(len(message.text) for message in chat.messages)
        case RawText() as raw:
            return len(raw.text)
        case Tokens() as tokens:
            return len(tokens.ids)
        case Infill() as infill:
            files = sum(len(file.text) for file in infill.files)
            return len(infill.before) + len(infill.after) + files
