"""The figures of a reply, counted while it grows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from paceline.codec import made_of
from paceline.engine.auto.ledger import Ledger
from paceline.engine.auto.plain_time import PlainTime
from paceline.engine.auto.tuning import TUNING
from paceline.figures import DrafterStats, KernelUse, Reread, Sameness, TurnStats, Warmth

_BUSY_SHARE = 0.1
"""Share of its time for which the engine's thread must wait on a machine that counts as busy."""


class Activity(NamedTuple):
    """A native decode that is running.

    Attributes:
        n_tokens: Number of tokens in its batch.
        since: `time.monotonic()` at its start.
        slowest_s: Maximum seconds per token of earlier decodes of this model; 0 if those are no
            evidence: for its first one, and for a device's first one of each width.
    """

    n_tokens: int
    since: float
    slowest_s: float


@dataclass(slots=True)
class DrafterMeter:
    """The counts of one drafter; see `DrafterStats` for their meaning."""

    n_begin: int = 0
    n_draft: int = 0
    n_accept: int = 0
    begin_s: float = 0.0
    draft_s: float = 0.0
    accept_s: float = 0.0
    drafts: int = 0
    drafts_accepted: int = 0
    tokens: int = 0
    tokens_accepted: int = 0
    per_position: list[int] = field(default_factory=list)

    def count_draft(self, n_drafted: int, n_accepted: int, first: int = 0) -> None:
        """Count one verified proposal, whose first token was at index `first` of the draft."""
        self.drafts += 1
        self.drafts_accepted += n_accepted > 0
        self.tokens += n_drafted
        self.tokens_accepted += n_accepted
        missing = first + n_drafted - len(self.per_position)
        if missing > 0:
            self.per_position += [0] * missing
        for i in range(first, first + n_accepted):
            self.per_position[i] += 1

    def freeze(self, drafter: str) -> DrafterStats:
        """Return the counts as a message."""
        places = tuple(self.per_position)
        return made_of(DrafterStats, self, drafter=drafter, accepted_per_position=places)


class TurnMeter:
    """The counts of one reply.

    Args:
        plain: Estimator of the time of plain decoding, which gets its steps.

    Attributes:
        held_s: Seconds of decoding in which other programs had the thread's processor.
        prefill_held_s: Seconds of the prefill in which other programs had the thread's processor.
        ledger: Auto's account of the reply, which outlives a switch to another strategy and back,
            or None before Auto's first step.
    """

    def __init__(self, plain: PlainTime | None = None) -> None:
        self.n_prompt = 0
        self.n_reused = 0
        self.warm: Warmth = "context"
        self.reread: Reread | None = None
        self.n_generated = 0
        self.n_steps = 0
        self.n_discarded = 0
        self.prefill_s = self.prefill_held_s = 0.0
        self.decode_s = self.held_s = 0.0
        self.native_s = 0.0
        self.plain = plain or PlainTime()
        self.ledger: Ledger | None = None
        self.drafters: dict[str, DrafterMeter] = {}

    def drafter(self, name: str) -> DrafterMeter:
        """Return the counts of a drafter; they are created at first use."""
        meter = self.drafters.get(name)
        if meter is None:
            meter = self.drafters[name] = DrafterMeter()
        return meter

    def freeze(
        self, sameness: Sameness | None = None, kernels: tuple[KernelUse, ...] = ()
    ) -> TurnStats:
        """Return the figures as a message.

        Args:
            sameness: What is known of the target's rows, or None.
            kernels: The kernels that computed them.
        """
        meters: Sequence[DrafterMeter] = tuple(self.drafters.values())
        n_drafted = sum(m.tokens for m in meters)
        n_accepted = sum(m.tokens_accepted for m in meters)
        n_judged = n_drafted - self.n_discarded
        plain = self.plain.estimate() if self.n_generated else None
        return made_of(
            TurnStats,
            self,
            batch_invariant=sameness.holds if sameness else None,
            total_s=self.prefill_s + self.decode_s,
            tokens_per_s=self.n_generated / max(self.decode_s, 1e-9),
            plain_tokens_per_s=self.n_generated / plain.seconds if plain else None,
            plain_low=self.n_generated / plain.most if plain else None,
            plain_high=self.n_generated / plain.least if plain else None,
            machine_busy=self.held_s > _BUSY_SHARE * self.decode_s
            or self.plain.noise > TUNING.busy_noise,
            n_drafted=n_drafted,
            n_accepted=n_accepted,
            acceptance_rate=n_accepted / n_judged if n_judged > 0 else None,
            mean_committed_per_step=(
                (self.n_generated - 1) / self.n_steps if self.n_steps else None
            ),
            overhead_s=max(self.decode_s - self.native_s, 0.0),
            by_drafter=tuple(m.freeze(name) for name, m in self.drafters.items()),
            kernels=kernels,
            n_rows_compared=sameness.n_rows if sameness else 0,
            logit_difference=sameness.difference if sameness else None,
            basis=sameness.basis if sameness else "",
            any_context=sameness.any_context if sameness else False,
        )
