"""Advice on what to try next, from the figures of one reply. No Qt, any thread.

The rules are the usual ones for llama.cpp's speculative decoding: drafts that are mostly accepted
may be longer; drafts that are mostly rejected should be shorter, more confident, or another
drafter's; where speed does not follow the acceptance rate, the draft costs too much or verifying is
not cheaper than decoding; a lookup that finds nothing needs a shorter key. Each drafter of a chain
is judged by its own figures. Small samples give no advice, because a setting that is changed for
noise is changed back for noise.

An advised strategy keeps all settings but those that the advice changes.

Beside the replies, what Auto measures says two things about the loaded pair (`pair_advice`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from paceline.chat.auto_words import Titles
from paceline.engine.auto.costs import MAX_WIDTH
from paceline.engine.draft.base import DrafterInfo, Settings
from paceline.engine.draft.heads import head_kind
from paceline.engine.draft.registry import find
from paceline.engine.draft.strategy import CompleteStrategy, brief, needs_of, strategy_text
from paceline.errors import UserError
from paceline.messages import ControlReported, DrafterStats, ModelInfo, Outlook, TurnStats
from paceline.params import Strategy
from paceline.sentence import Sentence, joined, sentence

MAX_ADVICE = 3
"""Upper bound of the pieces of advice at a time."""
MIN_TOKENS = 40
"""Drafted tokens below which a drafter's acceptance rate is not judged."""
MIN_STEPS = 20
"""Steps of a reply below which no advice is given."""
HIGH, LOW = 0.6, 0.4
"""Acceptance rates above which drafts may be longer, and below which they should be shorter."""
_MIN_FINDS_PER_CALL = 1 / 50
"""Finds per call below which a lookup is as good as idle."""
_EXPENSIVE_SHARE = 0.25
"""A draft model's share of the time from which advice is given."""
_LENGTHS = ("n_max", "m", "n_pred", "max")
_MATCHES = ("n", "n_match")
_SURER = (0.5, 0.75, 0.9)
_BOLDER = (0.75, 0.5, 0.25)
_MIN_MATCH = {"n": 2, "n_match": 16}
"""Shortest keys, in tokens, that are advised: hashes of fewer tokens collide by chance."""
AdviceCode = Literal[
    "expensive-draft", "expensive-verify", "higher-p-min", "shorter-drafts", "longer-match",
    "longer-drafts", "lower-p-min", "shorter-match", "another-drafter",
    "draft-does-not-pay", "cannot-pay", "cannot-pay-cached",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Advice:
    """One thing to try.

    Attributes:
        code: Stable name of the rule that gave the advice.
        text: The thing to try.
        reason: The figures that it rests on.
        strategy: The strategy that the text names, or None if it is about the loaded pair.
        frees_bytes: Memory of the draft model that can be unloaded, or 0 if there is none.
    """

    code: AdviceCode
    text: Sentence
    reason: Sentence
    strategy: Strategy | None = None
    frees_bytes: int = 0


class _Case(NamedTuple):
    """One drafter of the strategy and its figures."""

    strategy: Strategy
    info: DrafterInfo
    settings: Settings
    stats: DrafterStats
    title: Titles

    @property
    def rate(self) -> float:
        return self.stats.tokens_accepted / max(self.stats.tokens, 1)

    @property
    def drafted(self) -> float:
        """Tokens per draft."""
        return self.stats.tokens / max(self.stats.drafts, 1)

    @property
    def accepted(self) -> float:
        """Accepted tokens per draft."""
        return self.stats.tokens_accepted / max(self.stats.drafts, 1)

    @property
    def length_name(self) -> str:
        return next((name for name in _LENGTHS if name in self.settings), "")

    @property
    def longest(self) -> int:
        """The longest draft in tokens; 0 when no setting says."""
        return min(int(self.settings.get(self.length_name, 0)), MAX_WIDTH - 1)

    def high(self, name: str) -> float:
        """The upper end of a setting's range, or 0 if there is no such setting."""
        return next((p.high for p in self.info.parameters if p.name == name), 0)

    def figures(self) -> Sentence:
        """The share of drafted tokens that was accepted, as a sentence."""
        rate, n = self.rate, self.stats.tokens
        if len(self.strategy.drafters) > 1:
            return sentence(
                "{rate:percent} of {n} drafted tokens of {name} were right",
                rate=rate,
                n=n,
                name=self.title(self.info.id),
            )
        return sentence("{rate:percent} of {n} drafted tokens were right", rate=rate, n=n)

    def without(self, code: AdviceCode, reason: Sentence) -> _Try:
        """Advise the chain without this drafter; another lookup if nothing is left."""
        left = tuple(each for each in self.strategy.drafters if each[0] != self.info.id)
        other = Strategy.of("prompt-lookup" if self.info.id == "suffix" else "suffix")
        return _Try(code, Strategy(left) if left else other, reason)

    def change(self, code: AdviceCode, *reason: Sentence, **settings: float) -> _Try:
        """Advise other settings of this drafter; each is put into its range."""
        shortest = self.settings.get("n_min", 0)
        if settings.get("n_max", shortest) < shortest:
            settings["n_min"] = settings["n_max"]  # no draft can be longer than the longest one
        for each in self.info.parameters:
            if each.name in settings:
                settings[each.name] = min(max(settings[each.name], each.low), each.high)
        drafters = (
            (name, tuple((dict(given) | settings).items()) if name == self.info.id else given)
            for name, given in self.strategy.drafters
        )
        return _Try(code, Strategy(tuple(drafters)), joined(reason, ", "))


_CHANGES: dict[AdviceCode, Sentence] = {
    "expensive-draft": sentence("it needs no second model; a smaller draft model may do, too"),
    "expensive-verify": sentence(
        "checking several tokens takes about as long here as writing them"
    ),
    "higher-p-min": sentence("drafts end where their drafter is unsure"),
    "shorter-drafts": sentence("shorter drafts"),
    "longer-match": sentence("longer matches are surer"),
    "longer-drafts": sentence("longer drafts"),
    "lower-p-min": sentence("drafts go on for longer"),
    "shorter-match": sentence("shorter matches are found more often"),
    "another-drafter": sentence("this drafter is right too rarely here, or finds nothing"),
}
"""Templates that describe the change from the current strategy to the advised one."""


class _Try(NamedTuple):
    """A strategy to try, and why."""

    code: AdviceCode
    strategy: Strategy
    reason: Sentence


def advise(
    stats: TurnStats,
    strategy: Strategy,
    *,
    named: Callable[[Strategy], str] = strategy_text,
    title: Titles = str,
) -> tuple[Advice, ...]:
    """Return what to try next, at most `MAX_ADVICE`, the most useful first; often nothing.

    Args:
        stats: The figures of one reply.
        strategy: The strategy in force at the reply's end, with all its settings.
        named: Returns a strategy in words.
        title: Returns a drafter's title by its id.
    """
    try:
        whole = CompleteStrategy(
            tuple((find(name), dict(settings)) for name, settings in strategy.drafters)
        )
    except UserError:  # of another version, or a plug-in that has gone
        return ()
    given = brief(strategy)
    if stats.n_steps < MIN_STEPS or whole.is_controlled:  # a controller sees more than this
        return ()
    did = {entry.drafter: entry for entry in stats.by_drafter}
    cases = [
        _Case(given, info, settings, did[info.id], title)
        for info, settings in whole.drafters
        if info.id in did
    ]
    cases.sort(key=lambda case: -case.stats.tokens)
    judged = [case for case in cases if case.stats.tokens >= MIN_TOKENS]
    slow = list(_no_speed_up(stats, cases))
    found = [*slow]
    found += [each for case in judged if case.rate < LOW for each in _mostly_rejected(case)]
    found += [each for case in cases if case.info.family == "lookup" for each in _no_finds(case)]
    if not slow:
        found += [each for case in judged if case.rate > HIGH for each in _mostly_accepted(case)]
    return tuple(
        Advice(
            code,
            sentence("Try {strategy}: {what}.", strategy=named(to_try), what=_CHANGES[code]),
            Sentence("{reason}.", {"reason": reason}),
            to_try,
        )
        for code, to_try, reason in found[:MAX_ADVICE]
    )


def _no_speed_up(stats: TurnStats, cases: list[_Case]) -> Iterator[_Try]:
    rate = stats.acceptance_rate
    if stats.verdict != "loss" or rate is None or rate < LOW or stats.n_drafted < MIN_TOKENS:
        return
    model = next((case for case in cases if case.info.family == "model"), None)
    share = model.stats.draft_s / max(stats.decode_s, 1e-9) if model else 0.0
    reason = sentence(
        "{speed:.1f} tokens/s against {low:.1f} to {high:.1f} alone, although {rate:percent} of "
        "{n} drafted tokens were right",
        speed=stats.tokens_per_s,
        low=stats.plain_low or 0.0,
        high=stats.plain_high or 0.0,
        rate=rate,
        n=stats.n_drafted,
    )
    if model and share >= _EXPENSIVE_SHARE:
        kind = head_kind(needs_of([model.info]))
        took = sentence("the draft model took {share:percent} of the time", share=share)
        if kind is not None:
            took = sentence(
                "the {head} took {share:percent} of the time", head=kind.title, share=share
            )
        yield model.without("expensive-draft", joined([reason, took], "; "))
    else:
        yield _Try("expensive-verify", Strategy.of("off"), reason)


def _mostly_rejected(case: _Case) -> Iterator[_Try]:
    reason, settings = case.figures(), case.settings
    surer = next((p for p in _SURER if p > settings.get("p_min", 1.0) + 0.04), None)
    shorter = max(math.ceil(1.5 * case.accepted), 1)
    match = next((name for name in _MATCHES if name in settings), "")
    if surer is not None:
        yield case.change("higher-p-min", reason, p_min=surer)
    if shorter <= 0.75 * min(case.drafted, case.longest) and case.accepted >= 0.5:
        length = sentence(
            "{accepted:.1f} of {drafted:.1f} per draft",
            accepted=case.accepted,
            drafted=case.drafted,
        )
        yield case.change("shorter-drafts", reason, length, **{case.length_name: shorter})
    elif match:
        longer = math.ceil(1.5 * settings[match])
        if longer <= case.high(match):
            yield case.change("longer-match", reason, **{match: longer})
    if case.rate < LOW / 2 or (surer is None and shorter == 1):
        yield case.without("another-drafter", reason)


def _mostly_accepted(case: _Case) -> Iterator[_Try]:
    longest = case.longest
    longer = min(math.ceil(1.5 * longest), MAX_WIDTH - 1)
    length = sentence(
        "{accepted:.1f} of at most {longest} per draft", accepted=case.accepted, longest=longest
    )
    figures = case.figures(), length
    may_be_longer = 0 < longest < longer <= case.high(case.length_name)
    if may_be_longer and case.accepted >= HIGH * longest:
        yield case.change("longer-drafts", *figures, **{case.length_name: longer})
        return
    bolder = next((p for p in _BOLDER if p < case.settings.get("p_min", 0.0) - 0.04), None)
    if bolder is not None and case.rate >= 0.8 and case.drafted < longest / 2:
        yield case.change("lower-p-min", *figures, p_min=bolder)


def _no_finds(case: _Case) -> Iterator[_Try]:
    stats, settings = case.stats, case.settings
    if stats.n_draft < MIN_STEPS or stats.drafts >= _MIN_FINDS_PER_CALL * stats.n_draft:
        return
    name, n = case.title(case.info.id), stats.n_draft
    reason = sentence("{name} found nothing in {n} steps", name=name, n=n)
    if stats.drafts:
        found = stats.drafts
        reason = sentence(
            "{name} found something in {found} of {n} steps", name=name, found=found, n=n
        )
    changes: dict[str, float] = {}
    if settings.get("min_hits", 1) > 1:
        changes["min_hits"] = 1
    for match, shortest in _MIN_MATCH.items():
        if settings.get(match, 0) > shortest:
            changes[match] = max(int(settings[match]) // 2, shortest)
    if settings.get("n_min", 0) > 1:
        changes["n_min"] = max(int(settings["n_min"]) // 3, 1)
    if changes:
        yield case.change("shorter-match", reason, **changes)
    else:
        yield case.without("another-drafter", reason)


# ---------------------------------------------------------------------------- about the loaded pair

MIN_JUDGED = 2000
"""Judged tokens below which it is too early to say that a draft model does not pay."""
MIN_GAIN = 1.03
MAX_COST_OF_TWO, MAX_COST_OF_FOUR = 1.85, 3.4
"""Cost of a step with two, and with four tokens, relative to one token; beyond both, drafts cannot
pay."""
_MAX_EVEN_RATIO = 1.6
"""Cost of a step with four tokens relative to two. Below it, the jump from one token to two makes
wide steps expensive, and not the processor's cache."""
CACHE_BYTES = 256 << 20
"""Size of a model above which it does not fit into any processor's cache."""


def pair_advice(
    report: ControlReported,
    *,
    models: Collection[str],
    target: ModelInfo,
    draft: ModelInfo | None,
    title: Titles = str,
) -> Advice | None:
    """Return advice about the loaded pair from Auto's measurements, or None; it is rare.

    Args:
        report: The last report of a reply.
        models: Ids of the drafters that are models.
        target: The loaded target.
        draft: The loaded draft model, or None if there is none.
        title: Returns a drafter's title by its id.
    """
    frees = draft.size_bytes if draft is not None else 0
    seconds = {cost.width: cost.seconds for cost in report.costs}
    one, two, four = (seconds.get(width, 0.0) for width in (1, 2, 4))
    if one and two >= MAX_COST_OF_TWO * one and four >= MAX_COST_OF_FOUR * one:
        is_small = target.size_bytes <= CACHE_BYTES and target.n_gpu_layers == 0
        return _cannot_pay(
            two / one, four / one, frees, is_cached=is_small and four >= _MAX_EVEN_RATIO * two
        )
    for outlook in report.drafters if draft is not None else ():
        if outlook.drafter not in models or outlook.n_judged < MIN_JUDGED:
            continue
        if outlook.saved_s <= 0 or (outlook.gain is not None and outlook.gain < MIN_GAIN):
            return _does_not_pay(outlook, frees, title)
    return None


def _does_not_pay(outlook: Outlook, frees: int, title: Titles) -> Advice:
    text = sentence(
        "{name} has not paid on this machine so far; Auto works without it, too.",
        name=title(outlook.drafter),
    )
    reason = sentence("{size:size} more would be free.", size=frees)
    return Advice("draft-does-not-pay", text, reason, frees_bytes=frees)


def _cannot_pay(two: float, four: float, frees: int, *, is_cached: bool) -> Advice:
    reason = sentence(
        "Two tokens take {two:ratio} the time of one, four take {four:ratio}. Auto drafts nothing "
        "then.",
        two=two,
        four=four,
    )
    if frees:
        spare = sentence("Without the draft model {size:size} more would be free.", size=frees)
        reason = joined([reason, spare])
    return Advice(
        "cannot-pay-cached" if is_cached else "cannot-pay",
        sentence(
            "This model is already fast; guessing helps larger ones."
            if is_cached
            else "Guessing gains nothing with this model here: checking several tokens at once "
            "takes as long as writing them one by one."
        ),
        reason,
        frees_bytes=frees,
    )
