"""The decisions of Auto in a reply, or in its newest steps: counted and judged. No Qt, no words.

Steps without a decision (another strategy was in charge, or the run is of an older version) are
left out everywhere, so that nothing is said about them. A phase of the newest steps stays calm: it
changes only where its meaning does, so the phase before has the benefit of the doubt, and a figure
has to move by more than it scatters.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import accumulate
from math import sqrt
from operator import mul
from typing import Literal, NamedTuple

from paceline.figures import LOSS_TO, PLACE_OF, Outlook, Reason, SpeedupVerdict, TurnStats
from paceline.messages import ControlReported, StepCommitted
from paceline.sizes import short_ratio

RECENT_STEPS = 32
"""Steps that are judged together: a single one says nothing."""


@dataclass(slots=True)
class Work:
    """The drafts of one drafter.

    Attributes:
        n_steps: Steps whose draft it began.
        n_drafted: Tokens that it gave for verification.
        n_accepted: Number of accepted ones among them.
        n_judged: Number of those among them that were judged, accepted or rejected.
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
        n_tokens: Tokens that they committed.
        n_drafting: Those of them in which something was verified.
        reasons: Steps by reason.
        plain: Steps by reason in which nothing was verified.
        drafters: Each drafter's work, by its id.
    """

    n_steps: int = 0
    n_tokens: int = 0
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
        self.n_tokens += len(step.tokens)
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
    def copied(self) -> float:
        """Accepted tokens of all, 0..1; each step has one of its own besides."""
        accepted = sum(work.n_accepted for work in self.drafters.values())
        return accepted / max(accepted + self.n_steps, 1)

    @property
    def acceptance(self) -> float | None:
        """Accepted of the judged tokens, 0..1, or None if none was judged."""
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
    "begins", "measures", "pays", "even", "loses", "drafts", "early", "forced", "trial", "nothing",
    "expensive", "shut", "ledger",
]  # fmt: skip
PlainReason = Literal["nothing", "expensive", "shut", "ledger"]
_NAMED: tuple[Literal["forced", "trial"], ...] = ("forced", "trial")
_DRAFTING: tuple[PhaseKind, ...] = ("pays", "even", "loses", "drafts", "early", *_NAMED)
_PLAIN_REASONS: tuple[PlainReason, ...] = ("nothing", "expensive", "shut", "ledger")
KIND_OF: dict[SpeedupVerdict, PhaseKind] = {"gain": "pays", "even": "even", "loss": "loses"}
_MIN_DRAFTING_SHARE, _MIN_STAY_DRAFTING_SHARE = 0.25, 0.12
"""Shares of drafting steps at which the phase becomes "drafting", and below which it ends. Where
drafts make the reply faster, any share is enough: the figure beside the sentence is due to them."""
_MIN_LEAD = 1.25
"""Factor by which another reason must be more frequent than the shown one to replace it."""
_MIN_TOKENS_CHANGE, _MIN_RATE_CHANGE, _MIN_RATIO_CHANGE = 0.3, 0.06, 0.1
"""Smallest changes of tokens per step, acceptance rate and cost that are shown, for figures of
`_RELIABLE_DRAFTS` drafts."""
_RELIABLE_DRAFTS = 16
_MIN_DRAFTS = 4
"""Drafts of the newest steps below which no figures are shown."""
_MIN_COPIED_SHARE = 0.1
"""Share of accepted draft tokens in a reply from which the sentence is about its drafts."""
_MIN_KEPT_SHARE = 0.2
"""Share of the drafts at which a drafter that is named already stays named."""
_MIN_MEASURING_SHARE, _MIN_STAY_MEASURING_SHARE = 0.8, 0.65
"""Shares of plain steps for measuring at which the phase becomes "measures", and below which it
ends."""


class Price(NamedTuple):
    """The draft whose cost is nearest to its gain.

    Attributes:
        n: Length of the draft in tokens.
        right: Number of them that are expected to be accepted.
        alone: Tokens of plain decoding in the time that drafting and verifying take.
    """

    n: int
    right: float
    alone: float


@dataclass(frozen=True, slots=True)
class Phase:
    """The state of drafting over some 32 steps, or in a whole reply.

    Attributes:
        kind: "begins": nothing is known yet; "measures": plain steps that only measure their speed;
            "pays", "even", "loses": drafts with a known effect; "drafts": drafts with an unknown
            effect; "early": too few drafts for figures; the others are reasons of `Decision`.
        drafters: Ids of the drafters that are meant.
        per_step: Tokens per step.
        step_time: Time of a step relative to a plain step, or None if not known. `per_step` divided
            by it is the reply's gain.
        rate: Share of drafted tokens that were accepted, 0..1, or None if none was judged.
        price: For "expensive": the figures that show it, or None if they do not.
        gain: For "shut": the drafter's speed relative to plain decoding, below 1, or None if not
            known.
        n_drafts: Drafts that the figures rest on.
        has_ended: Whether it is about a whole reply, which has ended.
    """

    kind: PhaseKind
    drafters: tuple[str, ...] = ()
    per_step: float = 1.0
    step_time: float | None = None
    rate: float | None = None
    price: Price | None = None
    gain: float | None = None
    n_drafts: int = 0
    has_ended: bool = False

    @property
    def ratio_text(self) -> str:
        """The reply's gain as it is shown, or empty if it is not shown."""
        if self.step_time is None or self.kind == "even":
            return ""
        return short_ratio(self.per_step / self.step_time)


def drafting(
    drafters: tuple[str, ...],
    per_step: float,
    rate: float | None,
    stats: TurnStats | None,
    *,
    n_drafts: int = 0,
) -> Phase:
    """Return the phase of steps with drafts, by the known effect on the reply.

    Args:
        drafters: Ids of the drafters.
        per_step: Tokens of these steps.
        rate: Share of their drafted tokens that were accepted, 0..1.
        stats: The reply's figures so far, or None if there are none yet.
        n_drafts: Drafts that these figures rest on.
    """
    verdict = stats.verdict if stats is not None else None
    if stats is None or verdict is None or stats.speedup is None:
        return Phase("drafts", drafters, per_step, rate=rate, n_drafts=n_drafts)
    per_step = stats.mean_committed_per_step or per_step
    step_time = per_step / stats.speedup.ratio
    return Phase(KIND_OF[verdict], drafters, per_step, step_time, rate, n_drafts=n_drafts)


def phase_of(
    mix: Mix,
    *,
    stats: TurnStats | None,
    report: ControlReported | None = None,
    before: Phase | None = None,
) -> Phase:
    """Return the phase of the newest steps.

    Args:
        mix: The newest steps.
        stats: Figures of the reply so far, or None if not known.
        report: The last report, or None if there was none yet.
        before: The phase that is shown; it is kept where the steps allow it.
    """
    if _is_unknown(mix):
        return _unknown_phase(mix)
    share = mix.n_drafting / mix.n_steps
    is_drafting = before is not None and before.kind in _DRAFTING
    helps = stats is not None and stats.verdict == "gain" and mix.n_drafting
    if share < (_MIN_STAY_DRAFTING_SHARE if is_drafting else _MIN_DRAFTING_SHARE) and not helps:
        return _plain_phase(mix, report, before)
    now = _drafting_phase(mix, stats, before)
    return (
        replace(now, kind="early") if now.kind == "drafts" and now.n_drafts < _MIN_DRAFTS else now
    )


def phase_of_whole(
    mix: Mix, *, stats: TurnStats | None, report: ControlReported | None = None
) -> Phase:
    """Return the phase of a reply that has ended, judged by the figures of the whole reply.

    Args:
        mix: All its steps.
        stats: Its figures, or None if not known.
        report: The last report, or None if not known.
    """
    is_felt = stats is not None and stats.verdict in ("gain", "loss")
    if _is_unknown(mix):
        phase = _unknown_phase(mix)
    elif mix.n_drafting and (
        is_felt
        or mix.copied >= _MIN_COPIED_SHARE
        or mix.n_drafting >= _MIN_DRAFTING_SHARE * mix.n_steps
    ):
        phase = _drafting_phase(mix, stats, None)
    else:
        phase = _plain_phase(mix, report, None)
    return replace(phase, has_ended=True)


def _is_unknown(mix: Mix) -> bool:
    return mix.n_steps <= mix.plain["plain"] + mix.plain["first"]


def _unknown_phase(mix: Mix) -> Phase:
    return Phase("measures" if mix.plain["plain"] else "begins")


def _drafting_phase(mix: Mix, stats: TurnStats | None, before: Phase | None) -> Phase:
    drafters = _leaders(mix, before)
    helps = stats is not None and stats.verdict == "gain"
    for kind in _NAMED:
        is_most = 2 * (mix.reasons[kind] - mix.plain[kind]) > mix.n_drafting
        if is_most and not (helps and kind == "trial"):  # beside a gain nothing is tried any more
            return Phase(kind, drafters, n_drafts=mix.n_drafting)
    per_step = mix.n_tokens / mix.n_steps
    return drafting(drafters, per_step, mix.acceptance, stats, n_drafts=mix.n_drafting)


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
    is_kept = least >= _MIN_KEPT_SHARE * mix.n_drafting and others <= 2 * least
    return before.drafters if is_kept else now


def _plain_phase(mix: Mix, report: ControlReported | None, before: Phase | None) -> Phase:
    shown = before.kind if before is not None else None
    share = _MIN_STAY_MEASURING_SHARE if shown == "measures" else _MIN_MEASURING_SHARE
    if mix.plain["plain"] >= share * mix.n_steps:
        return Phase("measures")
    counts = mix.plain
    kind = max(_PLAIN_REASONS, key=counts.__getitem__)
    if shown in _PLAIN_REASONS and counts[shown] and counts[kind] < _MIN_LEAD * counts[shown]:
        kind = shown
    if kind == "nothing":
        return Phase(kind, n_drafts=mix.n_drafting)
    if report is None:
        return Phase(kind)
    if kind == "expensive":
        return Phase(kind, price=price_of(report))
    if kind == "shut":
        shut = [outlook for outlook in report.drafters if not outlook.is_open]
        gains = [outlook.gain for outlook in shut if outlook.gain is not None]
        # A drafter does not pause because of a gain over plain decoding.
        gain = min(gains) if gains and min(gains) < LOSS_TO else None
        return Phase(kind, tuple(outlook.drafter for outlook in shut), gain=gain)
    return Phase(kind)


def price_of(report: ControlReported) -> Price | None:
    """Return the draft whose cost is nearest to its gain, by Auto's measurements.

    None if some draft would pay, or nothing is known: then these figures do not explain why there
    was no draft.
    """
    seconds = {cost.width: cost.seconds for cost in report.costs}
    plain_s = seconds.get(1)
    if not plain_s:
        return None
    prices = [
        Price(n, right, (seconds[n + 1] + n * outlook.seconds_per_token) / plain_s - 1)
        for outlook in report.drafters
        if outlook.n_judged
        for n, right in _right(outlook)
        if n + 1 in seconds
    ]
    best = max(prices, key=lambda price: price.right - price.alone, default=None)
    return best if best is not None and round(best.right, 2) < round(best.alone, 2) else None


def _right(outlook: Outlook) -> Iterator[tuple[int, float]]:
    """Yield lengths of drafts, each with its expected number of accepted tokens."""
    known = (outlook.acceptance[place] for place in PLACE_OF if place < len(outlook.acceptance))
    return enumerate(accumulate(accumulate(known, mul)), 1)


def is_news(before: Phase | None, now: Phase) -> bool:
    """Return whether the sentence about `now` differs in meaning from that about `before`."""
    if before is None or before.kind != now.kind or set(before.drafters) != set(now.drafters):
        return True
    # Shares of few drafts scatter by the root of their number; more drafts correct what few said.
    scatter = sqrt(max(_RELIABLE_DRAFTS / now.n_drafts, 1.0)) if now.n_drafts else 1.0
    pairs = (
        (before.per_step, now.per_step, _MIN_TOKENS_CHANGE + 0.15 * before.per_step),
        (before.step_time, now.step_time, _MIN_TOKENS_CHANGE),
        (before.rate, now.rate, _MIN_RATE_CHANGE),
        (before.gain, now.gain, _MIN_RATIO_CHANGE),
        (before.price and before.price.alone, now.price and now.price.alone, _MIN_RATIO_CHANGE),
    )
    return any(
        (old is None) != (new is None) or abs((old or 0.0) - (new or 0.0)) >= step * scatter
        for old, new, step in pairs
    )


def _contradict(before: Phase, now: Phase) -> bool:
    """Return whether the sentence of `before` would contradict the ratio shown beside it."""
    is_effect = now.kind in KIND_OF.values()
    return is_effect and (before.kind, before.ratio_text) != (now.kind, now.ratio_text)


class DecisionLog:
    """Takes every step of one reply, and knows the phase to show.

    Attributes:
        whole: All steps.
        phase: The phase that is shown, or None if nothing is known of any step.
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
        self, *, stats: TurnStats | None, report: ControlReported | None, has_ended: bool
    ) -> None:
        """Change the phase if the reply has ended, or if a second step confirms it."""
        if not self.whole.n_steps:
            return
        if has_ended:
            self.phase = phase_of_whole(self.whole, stats=stats, report=report)
            return
        recent = mix_of(self._recent)
        now = phase_of(recent, stats=stats, report=report, before=self.phase)
        # What is true for a moment alone is not worth a sentence, unless another one would
        # contradict the ratio beside it, or rests on too few drafts.
        self._n_news = self._n_news + 1 if is_news(self.phase, now) else 0
        is_early = self.phase is None or "early" in (self.phase.kind, now.kind)
        if self.phase is None or is_early or self._n_news > 1 or _contradict(self.phase, now):
            self.phase, self._n_news = now, 0
