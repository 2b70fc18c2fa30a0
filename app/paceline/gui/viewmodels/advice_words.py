"""What Auto found out about the pair, in words, with what can be done about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from paceline.chat.advice import Advice
from paceline.engine.proposals import readable_size
from paceline.gui.viewmodels.figures import duration_text, ratio_text

if TYPE_CHECKING:
    from paceline.chat.control_advice import Finding
    from paceline.gui.viewmodels.sources import Sources


@dataclass(frozen=True, slots=True)
class PairAdvice(Advice):
    """Advice about the loaded pair: once dismissed, it is not given again for this pair.

    Attributes:
        frees: What the button says that unloads the draft model; empty: there is no button.
    """

    frees: str = ""


def advice_on(finding: Finding, sources: Sources) -> PairAdvice:
    """Put a finding into words."""
    frees = _tr("Free its memory") if finding.draft_bytes else ""
    more = _tr("{} more would be free.").format(readable_size(finding.draft_bytes))
    if finding.code == "draft-does-not-pay":
        title = sources.title(finding.drafter)
        text = _tr("{} has not paid on this machine so far; Auto works without it, too.")
        reason = f"{_balance(finding)} {more}"
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
    reason = _tr("Two tokens take {} the time of one, four take {}. Auto decodes plainly then.")
    reason = reason.format(ratio_text(finding.two), ratio_text(finding.four))
    if not finding.draft_bytes:
        return PairAdvice(finding.code, text, reason)
    spare = _tr("Without the draft model {} more would be free.")
    reason = f"{reason} {spare.format(readable_size(finding.draft_bytes))}"
    return PairAdvice(finding.code, text, reason, frees=frees)


def _balance(finding: Finding) -> str:
    """What it gave over all its tokens."""
    words = (
        _tr("Over {:,} judged tokens it saved {}.")
        if finding.saved_s > 0
        else _tr("Over {:,} judged tokens it lost {}.")
    )
    words = words.format(finding.n_judged, duration_text(abs(finding.saved_s)))
    if finding.gain is None:
        return words
    gain = _tr("Its steps gave {} of plain decoding's speed.").format(ratio_text(finding.gain))
    return f"{words} {gain}"


def _tr(text: str) -> str:
    return QCoreApplication.translate("AdviceWords", text)
