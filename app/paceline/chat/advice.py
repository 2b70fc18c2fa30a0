"""What a user could try next, told from the figures of one reply.

The rules are the usual ones for llama.cpp's speculative decoding: drafts that are mostly accepted
may be longer; drafts that are mostly rejected should be shorter, more confident, or another
drafter's; where speed does not follow the acceptance rate, the draft costs too much or verifying is
not cheaper than decoding; a lookup that finds nothing needs a shorter key. Each drafter of a chain
is judged by its own figures. Small samples give no advice, because a setting that is changed for
noise is changed back for noise.

A strategy's text is changed and not written anew, so that users find their own settings again.

Beside the replies, what Auto measures says two things about the loaded pair (`findings`),
and a small table names a strategy to start with for a kind of work (`recommend`; sources:
`docs/speculative.md` of llama.cpp, and how each lookup works).

Pure functions, any thread.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from paceline.engine.auto.costs import MAX_WIDTH
from paceline.engine.draft.base import DrafterInfo, Parameter, Settings
from paceline.engine.draft.strategy import (
    Needs,
    drafters_named,
    key_of,
    needs_of,
    parse_strategy,
    settings_named,
    text_of,
)
from paceline.errors import UserError
from paceline.figures import percent
from paceline.messages import ControlReported, DrafterStats, ModelInfo, TurnStats, WidthCost


def with_settings(strategy: str, info: DrafterInfo, changes: Mapping[str, float]) -> str:
    """Return the strategy with other settings of one of its drafters.

    Args:
        strategy: A text that can be parsed.
        info: The drafter.
        changes: Values by the parameter's name; each is brought into its range.
    """
    names = drafters_named(strategy)
    prefix = f"{info.id}." if len(names) > 1 else ""
    parameters = {parameter.name: parameter for parameter in info.parameters}
    kept = [a for a in settings_named(strategy) if not _is_about(a, info.id, changes)]
    new = [f"{prefix}{name}={_text(parameters[name], value)}" for name, value in changes.items()]
    changed = text_of(names, (*kept, *new))
    if can_be_used(changed) or "n_max" not in changes or "n_min" not in parameters:
        return changed
    # The user's own shortest draft is longer than the longest one now.
    return with_settings(strategy, info, {**changes, "n_min": changes["n_max"]})


def without(strategy: str, info: DrafterInfo) -> str:
    """Return a chain without one of its drafters; empty if nothing would be left."""
    left = [name for name in drafters_named(strategy) if name != info.id]
    if not left:
        return ""
    own = {parameter.name: 0.0 for parameter in info.parameters}
    return text_of(left, (a for a in settings_named(strategy) if not _is_about(a, info.id, own)))


def first_known(names: Sequence[str], *, besides: str = "") -> str:
    """Return the first of these drafters that exists, except one; "off" if there is none."""
    return next((name for name in names if name != besides and can_be_used(name)), "off")


def _is_about(assignment: str, drafter: str, names: Mapping[str, float]) -> bool:
    """Whether it sets one of these parameters; a key without an owner means the only drafter."""
    owner, name = key_of(assignment)
    return name in names and owner in ("", drafter)


def _text(parameter: Parameter, value: float) -> str:
    value = min(max(value, parameter.low), parameter.high)
    return str(int(value)) if parameter.kind == "int" else f"{value:g}"


MOST = 3
"""The most pieces of advice at a time."""
MIN_TOKENS = 40
"""Fewer drafted tokens say nothing about a drafter's acceptance."""
MIN_STEPS = 20
"""Fewer steps say nothing at all."""
HIGH, LOW = 0.6, 0.4
_RARE = 1 / 50  # finds per call below which a lookup is as good as idle
_EXPENSIVE = 0.25  # a draft model's share of the time from which advice is given
_LENGTHS = ("n_max", "m", "n_pred", "max")
_MATCHES = ("n", "n_match")
_LOOKUPS = ("suffix", "prompt-lookup", "ngram-simple")
_SURER = (0.5, 0.75, 0.9)
_BOLDER = (0.75, 0.5, 0.25)
_SHORTEST_MATCH = {"n": 2, "n_match": 16}  # shorter hashes hit by chance


_ACCEPTED = "{:.0f} % of {} drafted tokens were accepted"
_ACCEPTED_OF = "{:.0f} % of {} drafted tokens of {} were accepted"
_PER_DRAFT = ", {:.1f} of {:.1f} per draft"
_AT_MOST = ", {:.1f} of at most {} per draft"
_NO_GAIN = (
    "{:.1f} tokens/s against {:.1f} to {:.1f} plain, although {:.0f} % of {} drafted tokens were "
    "accepted"
)
_DRAFT_TOOK = "; the draft model took {:.0f} % of the time"
_HEAD_TOOK = "; the MTP head took {:.0f} % of the time"
_FOUND = "{} found something in {} of {} steps"
_FOUND_NOTHING = "{} found nothing in {} steps"
CLAUSES = (
    _ACCEPTED, _ACCEPTED_OF, _PER_DRAFT, _AT_MOST, _NO_GAIN, _DRAFT_TOOK, _HEAD_TOOK, _FOUND,
    _FOUND_NOTHING,
)  # fmt: skip
"""What reasons are made of; the window translates them."""


class Clause(NamedTuple):
    """A part of a reason: one of `CLAUSES`, and its figures; a text is a drafter's id."""

    words: str
    figures: tuple[float | str, ...]


@dataclass(frozen=True, slots=True)
class Advice:
    """One thing to try.

    Attributes:
        code: Stable name of the rule.
        text: What to try, in a sentence that names the setting.
        reason: The figures that it rests on, in a sentence.
        strategy: The strategy that the text names, ready to be used; empty when it names none.
        clauses: What the reason is made of.
    """

    code: str
    text: str
    reason: str
    strategy: str = ""
    clauses: tuple[Clause, ...] = ()


class _Case(NamedTuple):
    """One drafter of the strategy and its figures."""

    strategy: str
    info: DrafterInfo
    settings: Settings
    stats: DrafterStats
    others: tuple[str, ...]

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

    def figures(self) -> Clause:
        """How much was accepted."""
        figures = percent(self.rate), self.stats.tokens
        if self.others:
            return Clause(_ACCEPTED_OF, (*figures, self.info.id))
        return Clause(_ACCEPTED, figures)

    def change(self, code: str, what: str, *reason: Clause, **settings: float) -> Advice:
        """Advise other settings of this drafter."""
        return _advice(code, with_settings(self.strategy, self.info, settings), what, *reason)


def advise(stats: TurnStats, strategy: str) -> tuple[Advice, ...]:
    """Return what to try next, at most `MOST`, the most useful first; often nothing.

    Args:
        stats: The figures of one reply.
        strategy: The strategy that it ended with; drafters that it no longer has are ignored.
    """
    try:
        parsed = parse_strategy(strategy)
    except UserError:  # of another version, or a plug-in that has gone
        return ()
    if stats.n_steps < MIN_STEPS or parsed.is_controlled:  # a controller sees more than this
        return ()
    ids = tuple(info.id for info in parsed.infos)
    did = {entry.drafter: entry for entry in stats.by_drafter}
    cases = [
        _Case(strategy, info, settings, did[info.id], tuple(i for i in ids if i != info.id))
        for info, settings in parsed.drafters
        if info.id in did
    ]
    cases.sort(key=lambda case: -case.stats.tokens)
    judged = [case for case in cases if case.stats.tokens >= MIN_TOKENS]
    slow = list(_no_speed_up(stats, cases))
    advice = [*slow]
    advice += [a for case in judged if case.rate < LOW for a in _mostly_rejected(case)]
    advice += [a for case in cases if case.info.family == "lookup" for a in _finds_nothing(case)]
    if not slow:
        advice += [a for case in judged if case.rate > HIGH for a in _mostly_accepted(case)]
    return tuple(advice[:MOST])


def _no_speed_up(stats: TurnStats, cases: list[_Case]) -> Iterator[Advice]:
    speedup, rate = stats.speedup, stats.acceptance_rate
    if speedup is None or rate is None or rate < LOW or stats.n_drafted < MIN_TOKENS:
        return
    if speedup.verdict != "loss":
        return
    model = next((case for case in cases if case.info.family == "model"), None)
    share = model.stats.draft_s / max(stats.decode_s, 1e-9) if model else 0.0
    low, high = stats.plain_low or 0.0, stats.plain_high or 0.0
    reason = Clause(_NO_GAIN, (stats.tokens_per_s, low, high, percent(rate), stats.n_drafted))
    if model and share >= _EXPENSIVE:
        lookup = without(model.strategy, model.info) or first_known(_LOOKUPS)
        yield _advice(
            "expensive-draft",
            lookup,
            "it needs no second model; or take a smaller draft model",
            reason,
            Clause(
                _HEAD_TOOK if needs_of([model.info]) == "mtp" else _DRAFT_TOOK, (percent(share),)
            ),
        )
    else:
        yield _advice(
            "expensive-verify",
            "off",
            "verifying several tokens takes about as long here as decoding them one by one",
            reason,
        )


def _who(info: DrafterInfo) -> str:
    """Return what a drafter is called within a sentence."""
    return {"": "the lookup", "draft": "the draft model", "mtp": "the MTP head"}[needs_of([info])]


def _mostly_rejected(case: _Case) -> Iterator[Advice]:
    reason = case.figures()
    settings = case.settings
    surer = next((p for p in _SURER if p > settings.get("p_min", 1.0) + 0.04), None)
    shorter = max(math.ceil(1.5 * case.accepted), 1)
    match = next((name for name in _MATCHES if name in settings), "")
    if surer is not None:
        what = f"drafts end where {_who(case.info)} is unsure"
        yield case.change("higher-p-min", what, reason, p_min=surer)
    if shorter <= 0.75 * min(case.drafted, case.longest) and case.accepted >= 0.5:
        length = Clause(_PER_DRAFT, (case.accepted, case.drafted))
        yield case.change(
            "shorter-drafts", "shorter drafts", reason, length, **{case.length_name: shorter}
        )
    elif match:
        longer = math.ceil(1.5 * settings[match])
        if longer <= _parameter_high(case, match):
            what = "longer matches are surer"
            yield case.change("longer-match", what, reason, **{match: longer})
    if case.rate < LOW / 2 or (surer is None and shorter == 1):
        yield from _another(case, reason)


def _mostly_accepted(case: _Case) -> Iterator[Advice]:
    longest = case.longest
    longer = min(math.ceil(1.5 * longest), MAX_WIDTH - 1)
    figures = case.figures(), Clause(_AT_MOST, (case.accepted, longest))
    may_be_longer = 0 < longest < longer <= _parameter_high(case, case.length_name)
    if may_be_longer and case.accepted >= HIGH * longest:
        yield case.change("longer-drafts", "longer drafts", *figures, **{case.length_name: longer})
        return
    bolder = next((p for p in _BOLDER if p < case.settings.get("p_min", 0.0) - 0.04), None)
    if bolder is not None and case.rate >= 0.8 and case.drafted < longest / 2:
        yield case.change("lower-p-min", "drafts go on for longer", *figures, p_min=bolder)


def _finds_nothing(case: _Case) -> Iterator[Advice]:
    stats, settings = case.stats, case.settings
    if stats.n_draft < MIN_STEPS or stats.drafts >= _RARE * stats.n_draft:
        return
    reason = Clause(_FOUND_NOTHING, (case.info.id, stats.n_draft))
    if stats.drafts:
        reason = Clause(_FOUND, (case.info.id, stats.drafts, stats.n_draft))
    changes: dict[str, float] = {}
    if settings.get("min_hits", 1) > 1:
        changes["min_hits"] = 1
    for name, shortest in _SHORTEST_MATCH.items():
        if name in settings and settings[name] > shortest:
            changes[name] = max(int(settings[name]) // 2, shortest)
    if case.info.family == "lookup" and settings.get("n_min", 0) > 1:
        changes["n_min"] = max(int(settings["n_min"]) // 3, 1)
    if changes:
        yield case.change(
            "shorter-match", "shorter matches are found more often", reason, **changes
        )
    else:
        yield from _another(case, reason)


def _another(case: _Case, reason: Clause) -> Iterator[Advice]:
    """Advise another drafter in this one's place, or a chain without it."""
    if case.others:
        strategy = without(case.strategy, case.info)
        yield _advice("another-drafter", strategy, f"leave {case.info.id} out", reason)
        return
    lookup = first_known(_LOOKUPS, besides=case.info.id)
    what = "or another draft model" if case.info.family == "model" else "or a draft model"
    yield _advice("another-drafter", lookup, what, reason)


def _advice(code: str, strategy: str, what: str, *reason: Clause) -> Advice:
    words = "".join(clause.words.format(*clause.figures) for clause in reason)
    return Advice(code, f"Try {strategy}: {what}.", f"{words}.", strategy, reason)


def _parameter_high(case: _Case, name: str) -> float:
    return next((p.high for p in case.info.parameters if p.name == name), 0)


FindingCode = Literal["draft-does-not-pay", "cannot-pay", "cannot-pay-cached"]
MIN_JUDGED = 2000
"""Judged tokens below which a draft model may still turn out to pay."""
MIN_GAIN = 1.03
TWO, FOUR = 1.85, 3.4
"""Times of steps with two and four tokens over one's, from which drafts cannot pay."""
_EVEN = 1.6
"""Time of four tokens over two: if less, a jump at two and not the cache makes steps expensive."""
CACHE_BYTES = 256 << 20
"""Models above this do not stay in any processor's cache."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding.

    Attributes:
        code: The kind of finding; "cannot-pay-cached" is the one with a known reason.
        drafter: The draft model's id; empty: it is not about one.
        n_judged: How many of its tokens were judged.
        saved_s: Seconds that it saved, negative: lost.
        gain: Its steps' speed over plain decoding's, where known.
        two: Time of a step with two tokens over one's.
        four: The same with four.
        draft_bytes: Memory of the draft model's weights, which can be freed; 0: none is loaded.
    """

    code: FindingCode
    drafter: str = ""
    n_judged: int = 0
    saved_s: float = 0.0
    gain: float | None = None
    two: float = 0.0
    four: float = 0.0
    draft_bytes: int = 0


def findings(
    report: ControlReported,
    *,
    models: Collection[str],
    target: ModelInfo,
    draft: ModelInfo | None,
) -> tuple[Finding, ...]:
    """Return at most one finding; mostly none.

    Args:
        report: What Auto knew at the end of a reply.
        models: Ids of the drafters that are models.
        target: The loaded target.
        draft: The loaded draft model; None: there is none.
    """
    draft_bytes = draft.size_bytes if draft is not None else 0
    ratios = _ratios(report.costs)
    if ratios is not None and ratios[0] >= TWO and ratios[1] >= FOUR:
        two, four = ratios
        is_small = target.size_bytes <= CACHE_BYTES and target.n_gpu_layers == 0
        is_cached = is_small and four >= _EVEN * two
        code: FindingCode = "cannot-pay-cached" if is_cached else "cannot-pay"
        return (Finding(code, two=two, four=four, draft_bytes=draft_bytes),)
    for outlook in report.drafters:
        if draft is None or outlook.drafter not in models or outlook.n_judged < MIN_JUDGED:
            continue
        if outlook.saved_s <= 0 or (outlook.gain is not None and outlook.gain < MIN_GAIN):
            return (
                Finding(
                    "draft-does-not-pay",
                    outlook.drafter,
                    outlook.n_judged,
                    outlook.saved_s,
                    outlook.gain,
                    draft_bytes=draft_bytes,
                ),
            )
    return ()


def _ratios(costs: Sequence[WidthCost]) -> tuple[float, float] | None:
    """Times of steps with two and four tokens over one's; None: not all of them are measured."""
    seconds = {cost.width: cost.seconds for cost in costs}
    one, two, four = seconds.get(1), seconds.get(2), seconds.get(4)
    return (two / one, four / one) if one and two and four else None


UseCase = Literal["general", "editing", "structured", "long", "reasoning", "memory"]
USE_CASES: tuple[UseCase, ...] = (
    "general", "editing", "structured", "long", "reasoning", "memory",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The strategy to start with for one kind of work.

    Attributes:
        use_case: The kind of work.
        strategy: A text that `parse_strategy` takes.
        draft_is_spare: Whether a loaded draft model, or head, would only take memory.
    """

    use_case: UseCase
    strategy: str
    draft_is_spare: bool = False


# With a draft model first, in whose place a head may stand, then without one; the first that there
# is here counts.
_TABLE: dict[UseCase, tuple[tuple[str, ...], tuple[str, ...]]] = {
    # Nothing is known about the text: Auto measures; otherwise only a model can draft.
    "general": (("auto", "draft"), ("auto", "suffix", "prompt-lookup")),
    # Most of the reply stands in the prompt already: copies of any length, the model between them.
    "editing": (("suffix+draft", "prompt-lookup+draft"), ("suffix", "ngram-simple")),
    # The same keys are repeated with other values after them.
    "structured": (
        (
            "ngram-map-k4v+draft:ngram-map-k4v.n=8:ngram-map-k4v.m=8:ngram-map-k4v.min_hits=2",
            "draft",
        ),
        ("ngram-map-k4v:n=8:m=8:min_hits=2", "prompt-lookup"),
    ),
    # A pool of constant size over the whole chat.
    "long": (("ngram-mod+draft", "suffix+draft"), ("ngram-mod", "suffix")),
    # What was thought is said once more in the answer, in long pieces.
    "reasoning": (
        ("ngram-mod+draft:ngram-mod.n_min=16", "suffix+draft"),
        ("ngram-mod:n_min=16", "suffix"),
    ),
    # No second model and an index of the prompt alone.
    "memory": (("prompt-lookup",), ("prompt-lookup",)),
}


def recommend(
    use_case: UseCase, *, model: Needs, is_known: Callable[[str], bool] | None = None
) -> Recommendation:
    """Return the strategy to start with.

    Args:
        use_case: The kind of work.
        model: What is loaded to draft: a draft model, an MTP head, or nothing.
        is_known: Whether a strategy can be used here; by default, whether it can be parsed.
    """
    with_draft, without = _TABLE[use_case]
    with_model = [text.replace("draft", model) for text in with_draft] if model else ()
    texts = (*with_model, *without)
    return Recommendation(
        use_case,
        next(filter(is_known or can_be_used, texts), "off"),
        draft_is_spare=bool(model) and use_case == "memory",
    )


def can_be_used(strategy: str) -> bool:
    """Whether all drafters and settings of a text exist."""
    try:
        parse_strategy(strategy)
    except UserError:
        return False
    return True
