"""What is picked so far: a target, then a draft model or none; and what the main button would do.

Plain values and pure functions, so that every case can be tested without a window.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QCoreApplication

from paceline.catalog.words import size_text

if TYPE_CHECKING:
    from paceline.gui.models.candidates import Candidate

Step = Literal[1, 2]
Todo = Literal["next", "load", "download", "wait"]


def _tr(text: str) -> str:
    return QCoreApplication.translate("Picks", text)


@dataclass(frozen=True, slots=True)
class Picks:
    """A pair in the making.

    Attributes:
        step: Which of the two is being chosen.
        target: None: not chosen yet.
        draft: A draft model, or an MTP head in a file of its own; None: none, or not chosen yet.
        is_decided: Whether the draft model, or to do without one, was chosen. A target's own head
            decides, too.
        uses_head: Whether the target's own MTP head drafts where no draft model does.
    """

    step: Step = 1
    target: Candidate | None = None
    draft: Candidate | None = None
    is_decided: bool = False
    uses_head: bool = True

    @property
    def drafts_itself(self) -> bool:
        """Whether the target's own MTP head is what drafts."""
        has_head = self.target is not None and self.target.has_head
        return self.draft is None and self.uses_head and has_head

    @property
    def is_complete(self) -> bool:
        """Whether there is something to load."""
        return self.target is not None and self.is_decided

    @property
    def missing(self) -> tuple[Candidate, ...]:
        """What would have to be downloaded."""
        both = (self.target, self.draft)
        return tuple(c for c in both if c is not None and not c.is_here)

    def with_target(self, target: Candidate) -> Picks:
        """Return the picks with another target; a draft model that will hardly do goes."""
        is_decided = self.is_decided and not self.drafts_itself
        if self.draft is not None and not may_draft(target, self.draft):
            return Picks(self.step, target, is_decided=target.has_head)
        return replace(self, target=target, is_decided=is_decided or target.has_head)

    def with_draft(self, draft: Candidate | None, *, uses_head: bool = False) -> Picks:
        """Return the picks with another draft model, with the target's own head, or with none."""
        return replace(self, draft=draft, is_decided=True, uses_head=uses_head)


def may_draft(target: Candidate | None, draft: Candidate) -> bool:
    """Whether a draft model is worth offering, by a glance; the judgement is `catalog.pairing`'s.

    False only where the vocabularies differ, or the draft model is known not to be smaller.
    """
    return not why_hardly(target, draft)


def why_hardly(target: Candidate | None, draft: Candidate) -> str:
    """Return in two words why a model will hardly do as a draft model; empty: it may."""
    if target is None:
        return ""
    if target.vocabulary and draft.vocabulary and target.vocabulary != draft.vocabulary:
        return _tr("other vocabulary")
    if draft.is_head:
        kinds = target.architecture, draft.architecture.removesuffix("-assistant")
        return _tr("other model") if all(kinds) and kinds[0] != kinds[1] else ""
    if 0 < target.n_params <= draft.n_params:
        return _tr("not smaller")
    return ""


@dataclass(frozen=True, slots=True)
class MainButton:
    """What the main button says and does.

    Attributes:
        todo: "wait": it is switched off.
        text: On the button.
        reason: Why it is switched off, or what speaks against it, in one sentence.
        is_downloading: Whether the pair's files are on their way.
    """

    todo: Todo
    text: str
    reason: str = ""
    is_downloading: bool = False


def main_button(
    picks: Picks, *, obstacle: str = "", warning: str = "", is_downloading: bool = False
) -> MainButton:
    """Return what the main button says and does.

    Args:
        picks: What is picked.
        obstacle: Why the pair cannot be loaded; empty: it can, or it is not known yet.
        warning: What speaks against it without forbidding it.
        is_downloading: Whether files of the pair are on their way.
    """
    is_pair = picks.draft is not None or not picks.is_decided
    text = _tr("Load pair") if is_pair else _tr("Load model")
    if picks.missing:
        n_bytes = [candidate.n_bytes for candidate in picks.missing]
        size = size_text(sum(n_bytes)) if all(n_bytes) else ""
        text = _tr("Download and load")
        if size:
            text = _tr("Download and load ({})").format(size)
    if picks.target is None:
        return MainButton("wait", _tr("Next: draft model"), _tr("Pick a target first."))
    if is_downloading:
        reason = _tr("Loads as soon as the files are here.")
        return MainButton("wait", _tr("Downloading…"), reason, is_downloading=True)
    if not picks.is_decided:
        if picks.step == 1:
            return MainButton("next", _tr("Next: draft model"))
        return MainButton("wait", text, _tr("Pick a draft model, or none."))
    if obstacle:
        return MainButton("wait", text, obstacle)
    return MainButton("download" if picks.missing else "load", text, warning)
