"""The decisions of Auto in a reply, or in its newest steps: counted and judged. No Qt, no words.

Steps without a decision (another strategy was in charge, or the run is of an older version) are
left out everywhere, so that nothing is said about them. A phase of the newest steps stays calm: it
changes only where its meaning does, so the phase before has the benefit of the doubt, and a figure
has to move by more than it scatters.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import sqrt
from typing import Literal

from paceline.figures import Reason, Speedup, SpeedupVerdict
from paceline.messages import ControlReported, StepCommitted

RECENT_STEPS = 32
"""Steps that are judged together: a single one says nothing."""


@dataclass(slots=True)
class Work:
    """The drafts of one drafter.

    Attributes:
        n_steps: Steps whose draft it began.
        n_drafted: Tokens that it gave for verification.
        n_accepted: How many of them were accepted.
        n_judged: How many of them were judged at all.
    """

    n_steps: int = 0
    n_drafted: int = 0
    n_accepted: int = 0
    n_judged: int = 0


@dataclass(slots=True)
class Mix:
    """Decisions in numbers.

    Attributes:
        n_steps: Steps with a decision.
        n_drafting: Those of them in which something was verified.
        reasons: Steps by reason.
        plain: Steps by reason in which nothing was verified.
        drafters: Each drafter's work, by its id.
    """

    n_steps: int = 0
    n_drafting: int = 0
    reasons: Counter[Reason] = field(default_factory=Counter)
    plain: Counter[Reason] = field(default_factory=Counter)
    drafters: dict[str, Work] = field(default_factory=dict)

    def add(self, step: StepCommitted) -> None:
        """Count one step."""
        decision = step.decision
        if decision is None:
            return
        self.n_steps += 1
        self.reasons[decision.reason] += 1
        if not decision.n_drafted:
            self.plain[decision.reason] += 1
            return
        self.n_drafting += 1
        self.drafters.setdefault(decision.drafter, Work()).n_steps += 1
        for count in step.drafted:
            if count.n_drafted:
                work = self.drafters.setdefault(count.drafter, Work())
                work.n_drafted += count.n_drafted
                work.n_accepted += count.n_accepted
                work.n_judged += count.n_drafted - count.n_discarded

    @property
    def ranked(self) -> list[tuple[str, Work]]:
        """Drafters with their work, the one that began most drafts first."""
        return sorted(self.drafters.items(), key=lambda item: -item[1].n_steps)

    @property
    def acceptance(self) -> float | None:
        """Accepted of the judged tokens, 0..1; None: none was judged."""
        judged = sum(work.n_judged for work in self.drafters.values())
        accepted = sum(work.n_accepted for work in self.drafters.values())
        return accepted / judged if judged else None


def mix_of(steps: Iterable[StepCommitted]) -> Mix:
    """Count these steps."""
    mix = Mix()
    for step in steps:
        mix.add(step)
    return mix


# ------------------------------------------------------------------------------------------- phases


PhaseKind = Literal[
    "begins", "measures", "pays", "even", "loses", "drafts", "forced", "trial", "nothing",
    "expensive", "shut", "ledger",
]  # fmt: skip
PlainReason = Literal["nothing", "expensive", "shut", "ledger"]
_NAMED: tuple[Literal["forced", "trial"], ...] = ("forced", "trial")
_DRAFTING: tuple[PhaseKind, ...] = ("pays", "even", "loses", "drafts", *_NAMED)
_PLAIN_REASONS: tuple[PlainReason, ...] = ("nothing", "expensive", "shut", "ledger")
KIND_OF: dict[SpeedupVerdict, PhaseKind] = {"gain": "pays", "even": "even", "loss": "loses"}
_FROM, _STAY = 0.25, 0.12
"""Shares of drafting steps from which drafting is what goes on, and below which it no longer is.
Where the reply is faster by drafts, any is enough: the figure beside the sentence is theirs."""
_LEAD = 1.25
"""Factor by which another reason must be more frequent than the one that was named."""
_TOKENS, _RATE, _RATIO, _SHARE = 0.6, 0.06, 0.1, 0.15
"""Differences of figures that are news, where they rest on `_MANY` drafts."""
_MANY = 16
_KEPT = 0.2
"""Share of the drafts with which a drafter that was named is named again."""
_MEASURING, _STILL_MEASURING = 0.8, 0.65
"""Shares of plain steps from which measuring is what goes on, and below which it no longer is."""


@dataclass(frozen=True, slots=True)
class Phase:
    """The state of drafting over some 32 steps.

    Attributes:
        kind: "begins": nothing is known yet; "measures": plain steps only to see how fast they are;
            "pays", "even", "loses": drafts, by their effect; "drafts": that is not known; the
            others are reasons of `Decision`.
        drafters: Ids of the drafters that are meant.
        n_tokens: Tokens per draft.
        rate: Share of drafted tokens that were accepted, 0..1.
        ratio: Of "expensive": time of a step with one drafted token over a plain one's; of "shut":
            the drafter's speed over plain decoding's. The reply's own ratio is beside the sentence.
        plain_share: Share of the steps that were plain ones, 0..1.
        n_drafts: Drafts that the figures rest on.
    """

    kind: PhaseKind
    drafters: tuple[str, ...] = ()
    n_tokens: float = 0.0
    rate: float | None = None
    ratio: float | None = None
    plain_share: float = 0.0
    n_drafts: int = 0


def phase_of(
    mix: Mix,
    *,
    speedup: Speedup | None,
    report: ControlReported | None = None,
    before: Phase | None = None,
) -> Phase:
    """Return the phase of these steps.

    Args:
        mix: The newest steps; or all of them, of a reply that has ended.
        speedup: Of the reply so far; None: not known.
        report: The last report; None: there was none yet.
        before: The phase that is shown; it is kept where the steps allow it.
    """
    if mix.n_steps <= mix.plain["plain"] + mix.plain["first"]:
        return Phase("measures" if mix.plain["plain"] else "begins")
    share = mix.n_drafting / mix.n_steps
    is_drafting = before is not None and before.kind in _DRAFTING
    helps = speedup is not None and speedup.verdict == "gain" and mix.n_drafting
    if share < (_STAY if is_drafting else _FROM) and not helps:
        return _plain_phase(mix, report, before)
    return Phase(
        _drafting_kind(mix, speedup),
        _leaders(mix, before),
        sum(work.n_drafted for work in mix.drafters.values()) / mix.n_drafting,
        mix.acceptance,
        plain_share=1 - share,
        n_drafts=mix.n_drafting,
    )


def _drafting_kind(mix: Mix, speedup: Speedup | None) -> PhaseKind:
    for kind in _NAMED:
        if 2 * (mix.reasons[kind] - mix.plain[kind]) > mix.n_drafting:
            return kind
    return "drafts" if speedup is None else KIND_OF[speedup.verdict]


def _leaders(mix: Mix, before: Phase | None) -> tuple[str, ...]:
    """Return the drafters to name: one, or two where the second has a third of the drafts.

    Those named before stay while others are not clearly ahead.
    """
    now = tuple(name for name, work in mix.ranked[:2] if work.n_steps * 3 >= mix.n_drafting)
    if before is None or before.kind not in _DRAFTING or not before.drafters:
        return now
    counts = {name: work.n_steps for name, work in mix.drafters.items()}
    least = min(counts.get(name, 0) for name in before.drafters)
    others = max((n for name, n in counts.items() if name not in before.drafters), default=0)
    is_kept = least >= _KEPT * mix.n_drafting and others <= 2 * least
    return before.drafters if is_kept else now


def _plain_phase(mix: Mix, report: ControlReported | None, before: Phase | None) -> Phase:
    shown = before.kind if before is not None else None
    share = _STILL_MEASURING if shown == "measures" else _MEASURING
    if mix.plain["plain"] >= share * mix.n_steps:
        return Phase("measures")
    counts = mix.plain
    kind = max(_PLAIN_REASONS, key=counts.__getitem__)
    if shown in _PLAIN_REASONS and counts[shown] and counts[kind] < _LEAD * counts[shown]:
        kind = shown
    if report is None:
        return Phase(kind)
    if kind == "expensive":
        # The drafter that proposes most and knows how often its first token is accepted.
        known = [outlook for outlook in report.drafters if outlook.acceptance and outlook.n_judged]
        best = max(known, key=lambda outlook: outlook.n_judged, default=None)
        seconds = {cost.width: cost.seconds for cost in report.costs}
        one, two = seconds.get(1), seconds.get(2)
        if best is None or not one or not two:
            return Phase(kind)  # which is said without figures
        return Phase(kind, (best.drafter,), rate=best.acceptance[0], ratio=two / one)
    if kind == "shut":
        shut = [outlook for outlook in report.drafters if not outlook.is_open]
        gains = [outlook.gain for outlook in shut if outlook.gain is not None]
        # A gain above plain decoding is none that made it pause.
        ratio = min(gains) if gains and min(gains) < 1 else None
        return Phase(kind, tuple(outlook.drafter for outlook in shut), ratio=ratio)
    return Phase(kind)


def is_news(before: Phase | None, now: Phase) -> bool:
    """Whether the sentence about `now` differs in meaning from that about `before`."""
    if before is None or before.kind != now.kind or set(before.drafters) != set(now.drafters):
        return True
    # Shares of few drafts scatter by the root of their number.
    n_drafts = min(before.n_drafts, now.n_drafts)
    scatter = sqrt(max(_MANY / n_drafts, 1.0)) if n_drafts else 1.0
    pairs = (
        (before.n_tokens, now.n_tokens, _TOKENS + 0.15 * before.n_tokens),
        (before.rate, now.rate, _RATE),
        (before.ratio, now.ratio, _RATIO),
        (before.plain_share, now.plain_share, _SHARE),
    )
    return any(
        (old is None) != (new is None) or abs((old or 0.0) - (new or 0.0)) >= step * scatter
        for old, new, step in pairs
    )


class DecisionLog:
    """Takes every step of one reply, and knows the phase to show.

    Attributes:
        whole: All steps.
        phase: The phase that is shown; None: nothing is known of any step.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Begin another reply."""
        self.whole = Mix()
        self.phase: Phase | None = None
        self._recent: deque[StepCommitted] = deque(maxlen=RECENT_STEPS)
        self._n_news = 0

    def push(self, step: StepCommitted) -> None:
        """Add one step."""
        if step.decision is not None:
            self.whole.add(step)
            self._recent.append(step)

    def judge(
        self, *, speedup: Speedup | None, report: ControlReported | None, has_ended: bool
    ) -> None:
        """Take over another phase: of a reply that has ended, or where it is news twice."""
        if not self.whole.n_steps:
            return
        if has_ended:
            self.phase = phase_of(self.whole, speedup=speedup, report=report)
            return
        recent = mix_of(self._recent)
        now = phase_of(recent, speedup=speedup, report=report, before=self.phase)
        # What is true for a moment alone is not worth a sentence.
        self._n_news = self._n_news + 1 if is_news(self.phase, now) else 0
        if self.phase is None or self._n_news > 1:
            self.phase, self._n_news = now, 0
