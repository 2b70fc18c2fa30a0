"""What Auto decides, measures and advises, in words: the one place for all of them.

It has four readers: the panel's sentence about the newest steps (`sentence`), what is said of one
step (`step_decision`), the decisions of a whole reply (`decision_rows`, `decision_part`), and the
section “Why” with the advice that follows from it (`why`, `advice_on`). Pure functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QCoreApplication

from paceline.chat.advice import Advice, Clause, Finding
from paceline.chat.decisions import Mix, Verdict, judge
from paceline.engine.auto.acceptance import PLACE_OF
from paceline.figures import Decision, Outlook, Reason, Speedup, WidthCost
from paceline.gui.kit.translation import local, local_size, translator
from paceline.gui.state.figures import duration_text, percent_text, ratio_text
from paceline.gui.state.sources import Kind, Sources
from paceline.messages import ControlReported

ADVICE = "Advice"
"""Context of the clauses of reasons; `packaging/translations.py` collects them."""
Row = tuple[str, str]
"""What something is called, and its value"""
_PLAIN_FROM = 0.25
"""Share of plain steps between drafts that is worth a word."""
MOST_ROWS = 10
_USUAL_WIDTHS = (1, 2, 3, 4, 5, 6, 8, 9, 12, 16, 17)
"""Of a longer table: where kernels change their ways."""
FULL_WEIGHT = 8.0
"""Tokens from which on a rate is believed as much as it can be; fewer are drawn paler."""
_NOTHING_S = 0.0005
"""Seconds that are not worth a word."""
_STEADY = 0.07
"""A pace that is nearer to 1 is not worth a word."""

_tr = translator("AutoWords")


def sentence(verdict: Verdict, sources: Sources) -> str:
    """What Auto does and why, in one sentence."""
    if verdict.kind in ("pays", "even", "loses", "drafts"):
        return _drafting(verdict, sources)
    if verdict.kind == "expensive":
        return _expensive(verdict, sources)
    if verdict.kind == "shut":
        return _shut(verdict, sources)
    words = {
        "begins": _tr("Auto begins without drafts, until it knows what they would cost."),
        "measures": _tr("Some steps without drafts, to see how fast the model is alone."),
        "forced": _tr("The grammar allows one continuation only: its tokens cost next to nothing."),
        "trial": _tr("{} is being tried, to see whether drafting pays here.")
        if len(verdict.drafters) < 2
        else _tr("{} are being tried, to see whether drafting pays here."),
        "nothing": _tr("No drafts here: there is nothing to guess the next words from."),
        "ledger": _tr(
            "No drafts for now: one more wrong draft would cost more time than drafts have saved."
        ),
    }
    return words[verdict.kind].format(_names(verdict.drafters, sources))


def _drafting(verdict: Verdict, sources: Sources) -> str:
    names = _names(verdict.drafters, sources)
    is_one = len(verdict.drafters) < 2
    if verdict.kind == "drafts":
        head = "{}:"
    elif verdict.kind == "pays":
        head = _tr("{} pays here:") if is_one else _tr("{} pay here:")
    elif verdict.kind == "even":
        head = (
            _tr("{} gives about as much as it costs here:")
            if is_one
            else _tr("{} give about as much as they cost here:")
        )
    elif is_one:
        head = _tr("{} gave less than it cost:")
    else:
        head = _tr("{} gave less than they cost:")
    n = _few(verdict.n_tokens)
    parts = [_tr("1 token per draft") if n == "1" else _tr("{} tokens per draft").format(n)]
    if verdict.rate is not None:
        parts.append(_tr("{} accepted").format(percent_text(verdict.rate)))
    words = f"{head.format(names)} {', '.join(parts)}"
    if verdict.plain_share >= _PLAIN_FROM:
        rough = round(verdict.plain_share * 20) / 20
        share = percent_text(rough if rough < 1 else verdict.plain_share)
        return _tr("{}; about {} of the steps have no draft.").format(words, share)
    return f"{words}."


def _expensive(verdict: Verdict, sources: Sources) -> str:
    if verdict.ratio is None or verdict.rate is None:
        return _tr(
            "The model is faster alone here: checking drafts would cost more than they give."
        )
    return _tr(
        "The model is faster alone here: checking one more token makes a step {:.1f} times as "
        "long, and {} of what {} drafts first is accepted."
    ).format(local(verdict.ratio), percent_text(verdict.rate), _names(verdict.drafters, sources))


def _shut(verdict: Verdict, sources: Sources) -> str:
    names = _names(verdict.drafters, sources)
    if not names:
        return _tr("No drafts for now: they did not pay of late.")
    if verdict.ratio is not None and len(verdict.drafters) == 1:
        words = _tr("No drafts for now: with {} it was {:.2f} times as fast as without.")
        return words.format(names, local(verdict.ratio))
    return _tr("No drafts for now: {} did not pay of late.").format(names)


def _names(drafters: Sequence[str], sources: Sources) -> str:
    titles = [sources.title(name) for name in drafters]
    if len(titles) < 2:
        return "".join(titles)
    return _tr("{} and {}").format(", ".join(titles[:-1]), titles[-1])


def _few(n: float) -> str:
    """Tokens per draft, whole unless a half counts."""
    is_whole = n >= 5 or abs(n - round(n)) < 0.25
    return f"{local(n):.{0 if is_whole else 1}f}"


def reason_title(reason: Reason) -> str:
    """A reason in a few words, for tables."""
    return {
        "pays": _tr("drafting paid"),
        "nothing": _tr("nothing to draft"),
        "expensive": _tr("drafts cost too much"),
        "shut": _tr("drafting paused"),
        "trial": _tr("drafting tried"),
        "ledger": _tr("no more to lose"),
        "plain": _tr("speed without drafts measured"),
        "first": _tr("first steps"),
        "forced": _tr("forced by the grammar"),
    }[reason]


def step_decision(decision: Decision) -> str:
    """What was decided for one step, in a few words."""
    words = _tr("Auto: {}").format(reason_title(decision.reason))
    if not decision.n_drafted:
        return words
    expected = _tr("{:.1f} tokens expected").format(local(decision.expected))
    if decision.reason == "forced":
        return words
    return f"{words}, {expected} ({local(decision.gain):.1f}×)"


# ------------------------------------------------------------------------------------ a whole reply


def decision_rows(mix: Mix, sources: Sources, speedup: Speedup | None) -> tuple[Row, ...]:
    """What a reply's decisions were: in short, by drafter, and by reason with their shares.

    Args:
        mix: All steps of the reply.
        sources: What drafters are called.
        speedup: The reply's; None: not known.
    """
    if not mix.n_steps:
        return ()
    rows = [(_tr("In short"), sentence(judge(mix, speedup=speedup), sources))]
    by_steps = sorted(mix.drafters.items(), key=lambda item: -item[1].n_steps)
    for name, work in by_steps:
        parts = [_tr("drafted first in {} of the steps").format(_share(work.n_steps, mix.n_steps))]
        parts.append(
            _tr("{:,} of {:,} tokens accepted").format(local(work.n_accepted), local(work.n_judged))
        )
        rows.append((sources.title(name), ", ".join(parts)))
    reasons = sorted(mix.reasons.items(), key=lambda item: -item[1])
    rows += [
        (
            _capital(reason_title(reason)),
            _tr("{:,} steps, {}").format(local(n), _share(n, mix.n_steps)),
        )
        for reason, n in reasons
    ]
    return tuple(rows)


def decision_details(mix: Mix) -> str:
    """The shares of the reasons in one line; empty without decisions."""
    if not mix.n_steps:
        return ""
    reasons = sorted(mix.reasons.items(), key=lambda item: -item[1])
    shares = (f"{reason_title(reason)} {_share(n, mix.n_steps)}" for reason, n in reasons)
    return _tr("Auto: {}").format(", ".join(shares))


def decision_part(mix: Mix) -> str:
    """The part of the line below a reply; empty without decisions."""
    if not mix.n_steps:
        return ""
    return _tr("{} of steps drafted").format(_share(mix.n_drafting, mix.n_steps))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _share(n: int, total: int) -> str:
    """A share that never rounds something to nothing."""
    share = n / total
    words = percent_text(max(share, 0.01)) if n else percent_text(0.0)
    return _tr("under {}").format(words) if 0 < share < 0.01 else words


# ---------------------------------------------------------------------------------------------- why


@dataclass(frozen=True, slots=True)
class CostRow:
    """What a step of one width costs; `share` is its part of the most expensive one shown, 0..1."""

    width: int
    time: str
    ratio: str
    share: float
    words: str


@dataclass(frozen=True, slots=True)
class RateBar:
    """A share of accepted tokens, 0..1, and how well founded it is, 0..1."""

    label: str
    share: float
    belief: float
    words: str


@dataclass(frozen=True, slots=True)
class DrafterView:
    """One drafter.

    Attributes:
        drafter_id: Its id.
        title: What it is called.
        kind: Its colour.
        is_open: Whether it is asked at present.
        state: The same in a word.
        facts: What it did so far, and why it pauses.
        places: Acceptance by place in the draft, later places in groups.
        classes: Acceptance by confidence.
    """

    drafter_id: str
    title: str
    kind: Kind
    is_open: bool
    state: str
    facts: str
    places: tuple[RateBar, ...]
    classes: tuple[RateBar, ...]


@dataclass(frozen=True, slots=True)
class WhyView:
    """The whole section."""

    costs: tuple[CostRow, ...]
    drafters: tuple[DrafterView, ...]
    unused: str
    balance: tuple[str, ...]


def why(report: ControlReported, sources: Sources) -> WhyView:
    """Return what is shown of a report."""
    used = [o for o in report.drafters if o.n_judged or not o.is_open]
    idle = [sources.title(o.drafter) for o in report.drafters if o not in used]
    used.sort(key=lambda outlook: -outlook.n_judged)
    unused = _tr("Not used so far: {}.").format(", ".join(idle)) if idle else ""
    return WhyView(
        cost_rows(report.costs),
        tuple(_drafter_view(outlook, sources) for outlook in used),
        unused,
        tuple(_balance(report)),
    )


def cost_rows(costs: Sequence[WidthCost]) -> tuple[CostRow, ...]:
    """Return the costs that are shown, from the smallest width on; none where nothing is known."""
    costs = sorted(costs, key=lambda cost: cost.width)
    if len(costs) > MOST_ROWS:
        usual = [cost for cost in costs[:-1] if cost.width in _USUAL_WIDTHS]
        costs = usual[: MOST_ROWS - 1] + costs[-1:]
    one = next((cost.seconds for cost in costs if cost.width == 1), 0.0)
    most = max((cost.seconds for cost in costs), default=0.0)
    return tuple(_cost_row(cost, one, most) for cost in costs) if most > 0 else ()


def _cost_row(cost: WidthCost, one: float, most: float) -> CostRow:
    time = duration_text(cost.seconds)
    ratio = ratio_text(cost.seconds / one) if one else ""
    facts = _tr("1 token: {}") if cost.width == 1 else _tr("{n} tokens: {}")
    words = facts.format(time, n=cost.width)
    if ratio and cost.width > 1:
        words = _tr("{}, {} of a step without a draft").format(words, ratio)
    return CostRow(cost.width, time, ratio, cost.seconds / most, words)


def _drafter_view(outlook: Outlook, sources: Sources) -> DrafterView:
    places = _place_bars(outlook)
    classes, lower = [], 0.0
    for rate in outlook.by_confidence:
        words = _tr("{:.0f} to {:.0f} % sure: {} accepted").format(
            100 * lower, 100 * rate.upper, percent_text(rate.share)
        )
        classes.append(
            RateBar(
                f"{100 * rate.upper:.0f}", rate.share, min(rate.weight / FULL_WEIGHT, 1.0), words
            )
        )
        lower = rate.upper
    return DrafterView(
        outlook.drafter,
        sources.title(outlook.drafter),
        sources.kind(outlook.drafter),
        outlook.is_open,
        _tr("in use") if outlook.is_open else _tr("paused"),
        _facts(outlook),
        places,
        tuple(classes),
    )


def _place_bars(outlook: Outlook) -> tuple[RateBar, ...]:
    bars, reach = [], float(outlook.n_judged)
    for group, share in enumerate(outlook.acceptance):
        first, n_places = PLACE_OF.index(group) + 1, PLACE_OF.count(group)
        last = first + n_places - 1
        if last == len(PLACE_OF):
            label = f"{first}+"
            words = _tr("place {first} and later: {} accepted, if all before were")
        elif n_places > 1:
            label = f"{first}–{last}"
            words = _tr("places {first} to {last}: {} accepted, if all before were")
        else:
            label = str(first)
            words = _tr("place {first}: {} accepted, if all before were")
        words = words.format(percent_text(share), first=first, last=last)
        # How many tokens got as far is not known; at most as many as at the group's first place.
        bars.append(RateBar(label, share, min(reach / FULL_WEIGHT, 1.0), words))
        reach *= share**n_places
    return tuple(bars)


def _facts(outlook: Outlook) -> str:
    parts = [
        _tr("{:,} of {:,} tokens accepted").format(
            local(outlook.n_accepted), local(outlook.n_judged)
        )
    ]
    if outlook.seconds_per_token > 0:
        per_token = duration_text(outlook.seconds_per_token)
        parts.append(_tr("{} per drafted token").format(per_token))
    parts.append(_saved(outlook.saved_s))
    words = " · ".join(parts)
    if outlook.is_open:
        return words
    if outlook.gain is not None and outlook.gain < 1:
        pause = _tr(
            "It pauses because its steps gave {} of the speed without drafts; it is tried again."
        )
        return f"{words}. {pause.format(ratio_text(outlook.gain))}"
    return f"{words}. " + _tr("It pauses because it did not pay of late; it is tried again.")


def _saved(seconds: float) -> str:
    if abs(seconds) < _NOTHING_S:
        return _tr("no time saved or lost so far")
    words = _tr("saved {}") if seconds >= 0 else _tr("lost {}")
    return words.format(duration_text(abs(seconds)))


def _balance(report: ControlReported) -> list[str]:
    rows = []
    if report.plain_s > 0:
        rows.append(_tr("Decoding one token takes {} now.").format(duration_text(report.plain_s)))
    if abs(report.pace - 1) > _STEADY and report.pace > 0:
        rows.append(
            _tr("The machine is at {} of the speed that was measured first.").format(
                percent_text(report.pace)
            )
        )
    saved = sum(outlook.saved_s for outlook in report.drafters)
    if any(outlook.n_judged for outlook in report.drafters):
        words = (
            _tr("Drafting has saved {} with these models so far.")
            if saved >= 0
            else _tr("Drafting has cost {} with these models so far.")
        )
        rows.append(words.format(duration_text(abs(saved))))
    words = (
        _tr("Drafts may still lose {} before this reply is later than promised.")
        if report.slack_s > 0
        else _tr("Drafts may lose nothing more in this reply until they have won it back.")
    )
    return [*rows, words.format(duration_text(report.slack_s))]


# ------------------------------------------------------------------------------------------- advice


@dataclass(frozen=True, slots=True)
class PairAdvice(Advice):
    """Advice about the loaded pair: once dismissed, it is not given again for this pair.

    Attributes:
        frees: What the button says that unloads the draft model; empty: there is no button.
    """

    frees: str = ""


def advice_to_try(advice: Advice, strategy: str, sources: Sources) -> Advice:
    """Put advice that names a strategy into words; `strategy` is that one as its menu says it."""
    what = {
        "expensive-draft": _tr("it needs no second model; a smaller draft model may do, too"),
        "expensive-verify": _tr("checking several tokens takes about as long here as writing them"),
        "higher-p-min": _tr("drafts end where their drafter is unsure"),
        "shorter-drafts": _tr("shorter drafts"),
        "longer-match": _tr("longer matches are surer"),
        "longer-drafts": _tr("longer drafts"),
        "lower-p-min": _tr("drafts go on for longer"),
        "shorter-match": _tr("shorter matches are found more often"),
        "another-drafter": _tr("this drafter is right too rarely here, or finds nothing"),
    }[advice.code]
    reason = "".join(_clause(clause, sources) for clause in advice.clauses)
    return replace(advice, text=_tr("Try {}: {}.").format(strategy, what), reason=f"{reason}.")


def _clause(clause: Clause, sources: Sources) -> str:
    words = QCoreApplication.translate(ADVICE, clause.words)
    return words.format(
        *(sources.title(f) if isinstance(f, str) else local(f) for f in clause.figures)
    )


def advice_on(finding: Finding, sources: Sources) -> PairAdvice:
    """Put a finding into words."""
    frees = _tr("Free its memory") if finding.draft_bytes else ""
    more = _tr("{} more would be free.").format(local_size(finding.draft_bytes))
    if finding.code == "draft-does-not-pay":
        title = sources.title(finding.drafter)
        text = _tr("{} has not paid on this machine so far; Auto works without it, too.")
        reason = f"{_gave(finding)} {more}"
        return PairAdvice(finding.code, text.format(title), reason, frees=frees)
    if finding.code == "cannot-pay-cached":
        text = _tr(
            "This model is so small that it stays in the processor's cache: checking several "
            "tokens at once costs as much as writing them one by one."
        )
    else:
        text = _tr(
            "Drafts cannot pay with this model on this machine: checking several tokens at once "
            "costs as much as writing them one by one."
        )
    reason = _tr("Two tokens take {} the time of one, four take {}. Auto drafts nothing then.")
    reason = reason.format(ratio_text(finding.two), ratio_text(finding.four))
    if not finding.draft_bytes:
        return PairAdvice(finding.code, text, reason)
    spare = _tr("Without the draft model {} more would be free.")
    reason = f"{reason} {spare.format(local_size(finding.draft_bytes))}"
    return PairAdvice(finding.code, text, reason, frees=frees)


def _gave(finding: Finding) -> str:
    """What it gave over all its tokens."""
    words = (
        _tr("Over {:,} judged tokens it saved {}.")
        if finding.saved_s > 0
        else _tr("Over {:,} judged tokens it lost {}.")
    )
    words = words.format(local(finding.n_judged), duration_text(abs(finding.saved_s)))
    if finding.gain is None:
        return words
    gain = _tr("Its steps gave {} of the speed without drafts.").format(ratio_text(finding.gain))
    return f"{words} {gain}"
