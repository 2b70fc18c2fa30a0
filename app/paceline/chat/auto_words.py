"""Sentences about Auto: its decisions in a reply and in one step, and its measurements. No Qt.

The engine says of every step what was decided and why (`Decision`), and between steps what is known
(`ControlReported`); `decisions` judges many steps together (`Phase`). All of it is put into
sentences here: for the window, which translates them, and for the command line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from paceline.chat.decisions import Mix, Phase, PhaseKind, phase_of_whole
from paceline.figures import PLACE_OF, Decision, Reason, TurnStats, WidthCost
from paceline.messages import ControlReported, Outlook
from paceline.sentence import Sentence, joined, sentence

Titles = Callable[[str], str]
"""Return a drafter's title by its id."""
MAX_COSTS_SHOWN = 10
"""Upper bound of the rows of a table of costs."""

# ---------------------------------------------------------------------------------- phases in words


_PHASES: dict[PhaseKind, tuple[Sentence, ...]] = {
    "begins": (sentence("Auto begins without drafts, until it knows what they would cost."),),
    "measures": (sentence("Some steps without drafts, to see how fast the model is alone."),),
    "forced": (
        sentence("The grammar allows one continuation only: its tokens cost next to nothing."),
    ),
    "trial": (
        sentence("{names} is being tried, to see whether drafting pays here."),
        sentence("{names} are being tried, to see whether drafting pays here."),
    ),
    "drafts": (Sentence("{names}: {facts}."),),
    "early": (Sentence(""),),
    "pays": (
        sentence("{names} pays here: {facts}."),
        sentence("{names} pay here: {facts}."),
    ),
    "even": (
        sentence("{names} gives about as much as it costs here."),
        sentence("{names} give about as much as they cost here."),
    ),
    "loses": (sentence("{names} did not pay: {facts}."),),
    "nothing": (
        sentence("Nothing to copy from yet."),
        sentence("Little to copy from so far."),
    ),
    "expensive": (
        sentence(
            "Faster alone here: one guess brings {right:.2f} right ones; in that time the model "
            "writes {alone:.2f}."
        ),
        sentence(
            "Faster alone here: {n} guesses bring {right:.2f} right ones; in that time the "
            "model writes {alone:.2f}."
        ),
    ),
    "shut": (
        sentence("No drafts for now: with {names} it was {gain:.2f} times as fast as without."),
        sentence("No drafts for now: {names} did not pay of late."),
    ),
    "ledger": (
        sentence(
            "No drafts for now: one more wrong draft would cost more time than drafts have saved."
        ),
    ),
}
"""Templates of the phases. A pair of them is for singular and plural, or for no draft and few
drafts."""
_ENDED: dict[PhaseKind, tuple[Sentence, ...]] = {
    "begins": (sentence("Too short for Auto to learn what drafts cost."),),
    "measures": (sentence("Written without drafts, to see how fast the model is alone."),),
    "trial": (
        sentence("{names} was tried, to see whether drafting pays here."),
        sentence("{names} were tried, to see whether drafting pays here."),
    ),
    "nothing": (
        sentence("There was nothing to copy from."),
        sentence("There was little to copy from."),
    ),
    "shut": (
        sentence("Drafts paused: with {names} it was {gain:.2f} times as fast as without."),
        sentence("Drafts paused: {names} did not pay."),
    ),
    "ledger": (
        sentence("Drafts paused: another wrong one would have cost more than they had saved."),
    ),
}
"""Templates of phases of a reply that has ended, where they differ."""


def phase_words(phase: Phase, title: Titles, *, judges: bool = True) -> Sentence:
    """Return a sentence about what drafts do and why.

    Its figures are those that Auto decided by, so that they agree with the sentence.

    Args:
        phase: The phase.
        title: Names drafters.
        judges: Whether the sentence may say that drafts do not pay.
    """
    if not judges and phase.kind == "loses":
        phase = replace(phase, kind="drafts", step_time=None)
    elif not judges and phase.kind in ("expensive", "shut", "ledger"):
        return sentence("Auto is still learning what drafts gain here.")
    templates = {**_PHASES, **_ENDED} if phase.has_ended else _PHASES
    one, *_, many = templates[phase.kind] * 2
    if phase.kind == "expensive":
        return _expensive_words(phase, one, many)
    names, n_names = _names(phase.drafters, title)
    if phase.kind == "shut" and not names:
        return sentence(
            "Drafts paused: they did not pay."
            if phase.has_ended
            else "No drafts for now: they did not pay of late."
        )
    if phase.kind == "shut" and phase.gain is not None and n_names == 1:
        return Sentence(one, {"names": names, "gain": phase.gain})
    if phase.kind == "shut":
        return Sentence(many, {"names": names})
    if phase.kind == "nothing":
        return many if phase.n_drafts else one
    given: dict[str, str] = {"names": names, "facts": _facts(phase)}
    return Sentence(many if n_names > 1 else one, given)


def _expensive_words(phase: Phase, one: Sentence, many: Sentence) -> Sentence:
    if phase.price is not None:
        return Sentence(many if phase.price.n > 1 else one, phase.price._asdict())
    return sentence(
        "Faster alone here: drafts take more time than they save."
        if phase.has_ended
        else "No drafts for now: they would take more time than they save."
    )


def _facts(phase: Phase) -> Sentence:
    per_step = phase.per_step
    if phase.step_time is not None:
        return sentence(
            "{per_step:.2f} tokens per step, a step takes {time:.2f} times as long",
            per_step=per_step,
            time=phase.step_time,
        )
    if phase.rate is None:
        return sentence("{per_step:.1f} tokens per step", per_step=per_step)
    return sentence(
        "{per_step:.1f} tokens per step, {rate:percent} of the guesses were right",
        per_step=per_step,
        rate=phase.rate,
    )


def _names(drafters: Sequence[str], title: Titles) -> tuple[str, int]:
    """Return the titles of drafters as a list in words, and how many these are."""
    titles = list(dict.fromkeys(map(title, drafters)))
    if len(titles) < 2:
        return "".join(titles), len(titles)
    names = sentence("{names} and {last}", names=joined(titles[:-1], ", "), last=titles[-1])
    return names, len(titles)


# ------------------------------------------------------------------------------ decisions in words


def reason_words(reason: Reason) -> Sentence:
    """Return a reason in a few words."""
    return {
        "pays": sentence("drafting paid"),
        "nothing": sentence("nothing to draft"),
        "expensive": sentence("drafts cost too much"),
        "shut": sentence("drafting paused"),
        "trial": sentence("drafting tried"),
        "ledger": sentence("no more to lose"),
        "plain": sentence("speed alone measured"),
        "first": sentence("first steps"),
        "forced": sentence("forced by the grammar"),
    }[reason]


def decision_words(decision: Decision) -> Sentence:
    """Return the decision of one step in a few words."""
    reason = reason_words(decision.reason)
    if not decision.n_drafted or decision.reason == "forced":
        return sentence("Auto: {reason}", reason=reason)
    return sentence(
        "Auto: {reason}, {n:.1f} tokens expected ({gain:.2f}×)",
        reason=reason,
        n=decision.expected,
        gain=decision.gain,
    )


def drafted_words(mix: Mix) -> str:
    """Return the share of drafted steps; empty without decisions."""
    if not mix.n_steps:
        return ""
    return sentence("{share} of steps drafted", share=_share(mix.n_drafting, mix.n_steps))


def reasons_words(mix: Mix) -> str:
    """Return the shares of the reasons in one line; empty without decisions."""
    if not mix.n_steps:
        return ""
    shares = [
        joined([reason_words(why), _share(n, mix.n_steps)]) for why, n in mix.reasons.most_common()
    ]
    return sentence("Auto: {reason}", reason=joined(shares, ", "))


def decision_rows(
    mix: Mix, title: Titles, stats: TurnStats | None, *, judges: bool = True
) -> Iterator[tuple[str, str]]:
    """Yield label and text of a reply's decisions: in short, by drafter, and by reason with shares.

    Args:
        mix: All steps of the reply.
        title: Names drafters.
        stats: The reply's figures, or None if not known.
        judges: Whether the sentences may say that drafts do not pay.
    """
    if not mix.n_steps:
        return
    yield (
        sentence("In short"),
        phase_words(phase_of_whole(mix, stats=stats), title, judges=judges),
    )
    for name, work in mix.ranked:
        yield (
            title(name),
            sentence(
                "drafted first in {share} of the steps, {n:,} of {judged:,} guesses were right",
                share=_share(work.n_steps, mix.n_steps),
                n=work.n_accepted,
                judged=work.n_judged,
            ),
        )
    for reason, n in mix.reasons.most_common():
        name = Sentence("{reason:capital}", {"reason": reason_words(reason)})
        share = _share(n, mix.n_steps)
        words = sentence("1 step, {share}", share=share)
        yield name, words if n == 1 else sentence("{n:,} steps, {share}", n=n, share=share)


def _share(n: int, total: int) -> Sentence:
    """Return a share that never rounds something to nothing."""
    if 0 < n < 0.01 * total:
        return sentence("under {share:percent}", share=0.01)
    return Sentence("{share:percent}", {"share": n / total})


# -------------------------------------------------------------------------------- reports in words


class Accepted(NamedTuple):
    """The acceptance of some drafted tokens.

    Attributes:
        label: Their positions in the draft, or the upper bound of their confidence in per cent.
        share: Accepted of them, 0..1.
        weight: Number of judged tokens that the share rests on.
        words: The same as a sentence.
    """

    label: str
    share: float
    weight: float
    words: Sentence


def shown_costs(costs: Sequence[WidthCost]) -> list[WidthCost]:
    """Return the costs to show, at most `MAX_COSTS_SHOWN`, by increasing width."""
    costs = sorted(costs, key=lambda cost: cost.width)
    if len(costs) > MAX_COSTS_SHOWN:
        usual = (1, 2, 3, 4, 5, 6, 8, 9, 12, 16, 17)  # where kernels switch
        costs = [cost for cost in costs[:-1] if cost.width in usual][: MAX_COSTS_SHOWN - 1] + costs[
            -1:
        ]
    return costs if any(cost.seconds > 0 for cost in costs) else []


def cost_words(cost: WidthCost, plain_s: float) -> Sentence:
    """Return the cost of one width; `plain_s` is that of a plain step, 0 where it is not known."""
    n, seconds = cost.width, cost.seconds
    if n == 1:
        return sentence("1 token: {seconds:time}", seconds=seconds)
    if not plain_s:
        return sentence("{n} tokens: {seconds:time}", n=n, seconds=seconds)
    return sentence(
        "{n} tokens: {seconds:time}, {ratio:ratio} of a step without a draft",
        n=n,
        seconds=seconds,
        ratio=seconds / plain_s,
    )


def by_place(outlook: Outlook) -> Iterator[Accepted]:
    """Yield a drafter's acceptance by position in the draft, later positions in groups."""
    reach = float(outlook.n_judged)
    for group, share in enumerate(outlook.acceptance):
        first, n_places = PLACE_OF.index(group) + 1, PLACE_OF.count(group)
        last = first + n_places - 1
        label = f"{first}–{last}" if n_places > 1 else f"{first}"
        template = sentence("place {first}: {share:percent} right, if all before were")
        if last == len(PLACE_OF):
            label = f"{first}+"
            template = sentence(
                "place {first} and later: {share:percent} right, if all before were"
            )
        elif n_places > 1:
            template = sentence(
                "places {first} to {last}: {share:percent} right, if all before were"
            )
        words = Sentence(template, {"first": first, "last": last, "share": share})
        # How many tokens got as far is not known; at most as many as at the group's first place.
        yield Accepted(label, share, reach, words)
        reach *= share**n_places


def by_confidence(outlook: Outlook) -> Iterator[Accepted]:
    """Yield a drafter's acceptance by its confidence."""
    lower = 0.0
    for each in outlook.by_confidence:
        words = sentence(
            "{lower:.0f} to {upper:.0f} % sure: {share:percent} right",
            lower=100 * lower,
            upper=100 * each.upper,
            share=each.share,
        )
        yield Accepted(f"{100 * each.upper:.0f}", each.share, each.weight, words)
        lower = each.upper


def outlook_words(outlook: Outlook) -> Sentence:
    """Return a sentence about a drafter's results so far, and why it pauses if it does."""
    n, judged = outlook.n_accepted, outlook.n_judged
    parts = [sentence("{n:,} of {judged:,} guesses were right", n=n, judged=judged)]
    if outlook.seconds_per_token > 0:
        each_s = outlook.seconds_per_token
        parts.append(sentence("{seconds:time} per drafted token", seconds=each_s))
    saved_s = outlook.saved_s
    if abs(saved_s) < 0.0005:
        parts.append(sentence("no time saved or lost so far"))
    elif saved_s > 0:
        parts.append(sentence("saved {seconds:time}", seconds=saved_s))
    else:
        parts.append(sentence("lost {seconds:time}", seconds=-saved_s))
    words = joined(parts, " · ")
    if outlook.is_open:
        return words
    pause = sentence("It pauses because it did not pay of late; it is tried again.")
    if outlook.gain is not None and outlook.gain < 1:
        pause = sentence(
            "It pauses because its steps gave {gain:ratio} of the speed alone; it is tried again.",
            gain=outlook.gain,
        )
    return joined([words, pause], ". ")


def balance(report: ControlReported) -> Iterator[Sentence]:
    """Yield the time of plain decoding, the time that drafts have saved, and may still lose."""
    if report.plain_s > 0:
        yield sentence("Decoding one token takes {seconds:time} now.", seconds=report.plain_s)
    if abs(report.pace - 1) > 0.07 and report.pace > 0:
        yield sentence(
            "The machine is at {share:percent} of the speed that was measured first.",
            share=report.pace,
        )
    if any(outlook.n_judged for outlook in report.drafters):
        saved_s = sum(outlook.saved_s for outlook in report.drafters)
        yield sentence(
            "Drafting has saved {seconds:time} with these models so far."
            if saved_s >= 0
            else "Drafting has cost {seconds:time} with these models so far.",
            seconds=abs(saved_s),
        )
    if report.slack_s > 0:
        yield sentence(
            "Drafts may still lose {seconds:time} in this reply; then Auto pauses them.",
            seconds=report.slack_s,
        )
    else:
        yield sentence("Drafts may lose nothing more in this reply until they have won it back.")


def unused_words(drafters: Sequence[Outlook], title: Titles) -> str:
    """Return the names of the drafters that were not used so far, or empty if all were."""
    names = [title(outlook.drafter) for outlook in drafters if not is_used(outlook)]
    return sentence("Not used so far: {names}.", names=joined(names, ", ")) if names else ""


def is_used(outlook: Outlook) -> bool:
    """Return whether a drafter has results to show, or pauses."""
    return outlook.n_judged > 0 or not outlook.is_open


def promise_words(n_within: int, n_replies: int) -> Sentence:
    """Return how many replies of a benchmark took no longer than promised."""
    if n_within == n_replies:
        return sentence("Auto was never noticeably slower.")
    n_late = n_replies - n_within
    return sentence(
        "Auto was noticeably slower in {n:,} of {of:,} replies.", n=n_late, of=n_replies
    )
