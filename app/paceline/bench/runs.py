"""What one run of a benchmark gave, and what comes of many: frozen values.

`summary` makes the one of the other. The report's JSON form is the contract of `paceline bench`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paceline.messages import KernelUse, WidthCost


@dataclass(frozen=True, slots=True)
class Run:
    """One reply; times in seconds.

    Attributes:
        workload: Its name.
        strategy: As it was written.
        repeat: From 1.
        tokens: The reply's ids.
        prefill_s: See `TurnStats`, as all that follow.
        decode_s: See there.
        n_prompt: See there.
        n_steps: See there.
        n_drafted: See there.
        n_accepted: See there.
        n_discarded: See there.
        batch_invariant: See there.
        plain_s: The `decode_s` that it would have had without drafts, by its own figures; None:
            not known.
    """

    workload: str
    strategy: str
    repeat: int
    tokens: tuple[int, ...]
    prefill_s: float
    decode_s: float
    n_prompt: int
    n_steps: int
    n_drafted: int
    n_accepted: int
    n_discarded: int
    batch_invariant: bool | None = None
    plain_s: float | None = None

    @property
    def total_s(self) -> float:
        """From the prompt's first token to the reply's last."""
        return self.prefill_s + self.decode_s

    @property
    def tokens_per_s(self) -> float:
        """Tokens of the reply by the time behind the prompt."""
        return len(self.tokens) / self.decode_s


@dataclass(frozen=True, slots=True)
class Failure:
    """A strategy that failed at a workload; it was not tried there again."""

    workload: str
    strategy: str
    code: str
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Ratio:
    """Median and quartiles of ratios; above 1 is faster than plain decoding."""

    median: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Bound:
    """How Auto's replies keep to what it promises: 1.02 times plain decoding and 4 plain steps.

    Attributes:
        n_within: Replies that took no longer.
        n_replies: Of how many.
        worst: The largest part of the promised time that one took; above 1 is too long.
    """

    n_within: int
    n_replies: int
    worst: float


@dataclass(frozen=True, slots=True)
class Result:
    """A strategy at a workload, over all repeats.

    Attributes:
        strategy: As it was written.
        tokens_per_s: Median.
        ratio_to_off: Plain decoding's whole time by the strategy's, paired within the repeats.
        decode_ratio_to_off: The same without the prompt's time.
        acceptance_rate: Accepted of all judged tokens, 0..1; None when nothing was drafted.
        mean_committed_per_step: Tokens per verify decode; None without a step.
        same_text: Whether the tokens are those of plain decoding in all repeats.
        n_runs: Repeats that were measured.
        n_different: In how many of them the tokens differ.
        total_s: Median of the whole time.
        prefill_s: Median of the prompt's time.
        n_tokens: Median length of the reply in tokens.
        bound: For Auto, where a reply had a step.
    """

    strategy: str
    tokens_per_s: float
    ratio_to_off: Ratio
    decode_ratio_to_off: Ratio
    acceptance_rate: float | None
    mean_committed_per_step: float | None
    same_text: bool
    n_runs: int
    n_different: int
    total_s: float
    prefill_s: float
    n_tokens: int
    bound: Bound | None = None


@dataclass(frozen=True, slots=True)
class WorkloadResult:
    """All strategies at one workload; plain decoding first."""

    name: str
    n_prompt: int
    results: tuple[Result, ...]

    def result_of(self, strategy: str) -> Result | None:
        """Return a strategy's result; None: it has none."""
        return next((r for r in self.results if r.strategy == strategy), None)


@dataclass(frozen=True, slots=True)
class Report:
    """A whole benchmark.

    Attributes:
        machine: What it ran on, as JSON data, without names of people or of the machine.
        target: The target model, as JSON data.
        draft: The draft model likewise; None: there was none.
        strategies: All that took part, plain decoding first.
        workloads: In the order of the file; those without a measured strategy are left out.
        geomean: Geometric mean of the ratios' medians over the workloads that all have run.
        decode_geomean: The same of the decode ratios.
        n_repeats: Repeats that were asked for.
        wall_s: How long it took.
        is_complete: Whether every run was made.
        failures: What went wrong.
        runs: Every run that counts.
        costs: What steps of each width cost, where Auto took part; else empty.
        notes: What else a reader of the figures should know, in sentences.
        kernels: Whose kernels computed the target on the CPU; see `ModelInfo`.
    """

    machine: dict[str, Any]
    target: dict[str, Any]
    draft: dict[str, Any] | None
    strategies: tuple[str, ...]
    workloads: tuple[WorkloadResult, ...]
    geomean: dict[str, float]
    decode_geomean: dict[str, float]
    n_repeats: int
    wall_s: float
    is_complete: bool
    failures: tuple[Failure, ...]
    runs: tuple[Run, ...]
    costs: tuple[WidthCost, ...] = ()
    notes: tuple[str, ...] = ()
    kernels: tuple[KernelUse, ...] = ()
