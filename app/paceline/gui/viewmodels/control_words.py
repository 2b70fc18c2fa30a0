"""What Auto decides, in words: a sentence for the panel, a few words for a step. Pure functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from paceline.gui.viewmodels.figures import percent_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.figures import Decision, Reason
    from paceline.gui.viewmodels.sources import Sources
    from paceline.gui.viewmodels.verdict import Verdict

_PLAIN_FROM = 0.25
"""Share of plain steps between drafts that is worth a word."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("ControlWords", text)


def sentence(verdict: Verdict, sources: Sources) -> str:
    """What Auto does and why, in one sentence."""
    if verdict.kind in ("pays", "even", "loses", "drafts"):
        return _drafting(verdict, sources)
    if verdict.kind == "dear":
        return _dear(verdict, sources)
    if verdict.kind == "shut":
        return _shut(verdict, sources)
    words = {
        "begins": _tr("Auto begins with plain steps, until it knows what a draft would cost."),
        "measures": _tr("Plain steps for now, to see how fast plain decoding is."),
        "forced": _tr("The grammar allows one continuation only: its tokens cost next to nothing."),
        "trial": _tr("{} is being tried, to see whether drafting pays here.")
        if len(verdict.drafters) < 2
        else _tr("{} are being tried, to see whether drafting pays here."),
        "nothing": _tr("Plain decoding here: nobody has a draft to offer."),
        "ledger": _tr("Plain decoding for now: another wrong draft would cost more than was won."),
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
    parts = [_tr("{} tokens per draft").format(_few(verdict.n_tokens))]
    if verdict.rate is not None:
        parts.append(_tr("{} accepted").format(percent_text(verdict.rate)))
    words = f"{head.format(names)} {', '.join(parts)}"
    if verdict.plain_share >= _PLAIN_FROM:
        share = percent_text(round(verdict.plain_share * 20) / 20)
        return _tr("{}; about {} of the steps stay plain.").format(words, share)
    return f"{words}."


def _dear(verdict: Verdict, sources: Sources) -> str:
    if verdict.ratio is None or verdict.rate is None:
        return _tr(
            "Plain decoding is faster here: verifying drafts would cost more than they give."
        )
    return _tr(
        "Plain decoding is faster here: verifying one more token makes a step {:.1f} times as "
        "long, and {} of what {} drafts first is accepted."
    ).format(verdict.ratio, percent_text(verdict.rate), _names(verdict.drafters, sources))


def _shut(verdict: Verdict, sources: Sources) -> str:
    names = _names(verdict.drafters, sources)
    if not names:
        return _tr("Plain decoding for now: drafting did not pay of late and pauses.")
    if len(verdict.drafters) > 1:
        return _tr("Plain decoding for now: {} did not pay of late and pause.").format(names)
    if verdict.ratio is not None:
        words = _tr("Plain decoding for now: {} gave {:.2f}× plain and pauses.")
        return words.format(names, verdict.ratio)
    return _tr("Plain decoding for now: {} did not pay of late and pauses.").format(names)


def _names(drafters: Sequence[str], sources: Sources) -> str:
    titles = [sources.title(name) for name in drafters]
    if len(titles) < 2:
        return "".join(titles)
    return _tr("{} and {}").format(", ".join(titles[:-1]), titles[-1])


def _few(n: float) -> str:
    """Tokens per draft, whole unless a half counts."""
    return f"{n:.0f}" if n >= 5 or abs(n - round(n)) < 0.25 else f"{n:.1f}"


def reason_title(reason: Reason) -> str:
    """A reason in a few words, for tables."""
    return {
        "pays": _tr("drafting paid"),
        "nothing": _tr("nothing to draft"),
        "dear": _tr("drafts too dear"),
        "shut": _tr("drafting paused"),
        "trial": _tr("drafting tried"),
        "ledger": _tr("no more to lose"),
        "plain": _tr("plain speed measured"),
        "first": _tr("first steps"),
        "forced": _tr("forced by the grammar"),
    }[reason]


def reason_meaning(reason: Reason) -> str:
    """A reason in a sentence."""
    return {
        "pays": _tr("The draft was expected to give more than its time."),
        "nothing": _tr("Nobody had a proposal."),
        "dear": _tr("There were proposals, but verifying them costs more than they give."),
        "shut": _tr("Drafting did not pay of late, so it paused."),
        "trial": _tr("Drafting was tried, to see whether it pays."),
        "ledger": _tr("A loss could not be covered by what drafting had won."),
        "plain": _tr("A plain step, to see how fast plain decoding is."),
        "first": _tr("One of the first steps behind a load: nothing was known yet."),
        "forced": _tr("The grammar allowed nothing else."),
    }[reason]


def step_decision(decision: Decision) -> str:
    """What was decided for one step, behind its other facts."""
    words = _tr("Auto: {}").format(reason_title(decision.reason))
    if not decision.n_drafted:
        return words
    expected = _tr("{:.1f} tokens expected").format(decision.expected)
    if decision.reason == "forced":
        return words
    return f"{words}, {expected} ({decision.gain:.1f}×)"
