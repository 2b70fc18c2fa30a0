"""Candidates that the picker offers, and the present picks: plain values and pure functions.

A candidate is a local model or one that could be downloaded. The picks are a target, with or
without a draft model, and the action of the main button for them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from paceline import sizes
from paceline.catalog.card import quantisation_in_name
from paceline.catalog.hub.values import (
    HubChoice,
    HubModel,
    HubRepository,
    is_reference,
    parse_reference,
)
from paceline.catalog.judge.first_choice import MIN_SPEEDUP
from paceline.catalog.judge.speed import Speeds, TokenWork, work_of, work_of_head, work_of_size
from paceline.catalog.local.library import LibraryEntry
from paceline.catalog.sidecar import has_head_by_path, sidecar_in_path
from paceline.engine.draft.heads import drafts_with, head_title
from paceline.engine.model.model_file import title_with_type
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import local, local_size, local_weights, translator
from paceline.gui.state.pair import model_name
from paceline.messages import Reading

_tr = translator("Candidates")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A model that may be picked.

    Attributes:
        reference: A path, or ``hf:OWNER/REPO:FILE``.
        title: Its name for people.
        n_bytes: Size of its file, or of all parts; 0 if unknown.
        is_here: Whether it can be loaded without a download.
        n_params: Number of weights; 0 if unknown.
        quantisation: E.g. ``Q4_K_M``; empty if unknown.
        n_ctx_train: Context of its training, in tokens; 0 if unknown.
        problem: Why it cannot be picked, in one sentence; empty if it can.
        vocabulary: Hash of all token texts, 16 hex digits; empty if unknown.
        architecture: E.g. ``qwen2``; empty if unknown.
        repo: ``OWNER/NAME`` of a model on the Hub.
        has_template: Whether it brings a chat template; true if unknown.
        has_head: Whether it is known to have an MTP head inside.
        head: Kind of a head that can draft for its target; empty for a model, or a head that
            cannot.
        work: Work for writing one token; None if unknown.
    """

    reference: str
    title: str
    n_bytes: int = 0
    is_here: bool = True
    n_params: int = 0
    quantisation: str = ""
    n_ctx_train: int = 0
    problem: str = ""
    vocabulary: str = ""
    architecture: str = ""
    repo: str = ""
    has_template: bool = True
    has_head: bool = False
    head: str = ""
    work: TokenWork | None = None

    @property
    def is_head(self) -> bool:
        """Return whether it is a head that can draft for its target, rather than a model."""
        return bool(self.head)


def facts(*parts: str) -> str:
    """Join facts to one line, e.g. ``7.6B · Q4_K_M · 32k context``."""
    return " · ".join(part for part in parts if part)


def spoken(*parts: str) -> str:
    """Join the words of a row for a screen reader."""
    return ", ".join(part for part in parts if part)


def context_text(n_ctx: int) -> str:
    """Return a context as people write it: ``32k context``; empty for 0."""
    return _tr("{} context").format(sizes.tokens(n_ctx)) if n_ctx else ""


def candidate_facts(candidate: Candidate) -> str:
    """Return the known facts about a candidate as one line."""
    return facts(
        local_weights(candidate.n_params),
        candidate.quantisation,
        context_text(candidate.n_ctx_train),
        "" if candidate.has_template else _tr("no chat template"),
        head_text(candidate),
    )


def head_text(candidate: Candidate) -> str:
    """Return words about a head or a model with a head inside, or empty for other candidates."""
    if candidate.is_head:
        return said(head_title(candidate.head))
    return _tr("MTP head inside") if candidate.has_head else ""


def of_reference(reference: str) -> Candidate:
    """Return the candidate for a path or an ``hf:`` reference without further knowledge.

    Raises:
        HubError: The reference begins with ``hf:`` and names no model.
    """
    if not is_reference(reference):
        return Candidate(reference, model_name(reference))
    remote = parse_reference(reference)
    return Candidate(
        reference,
        model_name(reference),
        is_here=False,
        quantisation=quantisation_in_name(remote.path),
        repo=remote.repo,
    )


def of_entry(entry: LibraryEntry) -> Candidate:
    """Return the candidate for a local model."""
    card, file = entry.card, entry.file
    return Candidate(
        reference=str(file.path),
        title=model_name(file.name, title_with_type(card.name, card.quantisation) if card else ""),
        n_bytes=file.n_bytes,
        n_params=card.n_params if card else 0,
        quantisation=card.quantisation if card else "",
        n_ctx_train=card.n_ctx_train if card else 0,
        problem=entry.problem,
        vocabulary=card.vocabulary if card else "",
        architecture=card.architecture if card else "",
        has_template=card is None or card.has_template,
        has_head=card is not None and card.n_heads > 0,
        head=drafts_with(entry.sidecar.kind) if entry.sidecar else "",
        work=_work_here(entry),
    )


def _work_here(entry: LibraryEntry) -> TokenWork | None:
    if entry.card is None or not entry.card.n_bytes:
        return None
    return work_of_head(entry.card.n_bytes) if entry.sidecar else work_of(entry.card)


def of_choice(repository: HubRepository, choice: HubChoice) -> Candidate:
    """Return the candidate for one file of a repository of the Hub."""
    model, sidecar = repository.model, sidecar_in_path(choice.path)
    missing = "" if choice.is_complete else _tr("Parts of this model are missing on the Hub.")
    if not choice.can_be_kept:
        missing = _tr("It cannot be downloaded: such a file name is not used on this computer.")
    elif repository.newer and not sidecar:
        missing = _tr("It is newer than this llama.cpp ({}).").format(repository.newer)
    return Candidate(
        reference=f"hf:{model.repo}:{choice.path}",
        title=model_name(choice.path),
        n_bytes=choice.n_bytes,
        is_here=False,
        n_params=model.n_params,
        quantisation="" if sidecar else choice.quantisation,
        n_ctx_train=model.n_ctx_train,
        problem=missing or (sidecar.sentence if sidecar else ""),
        architecture=model.architecture,
        repo=model.repo,
        has_head=has_head_by_path(f"{model.repo}/{choice.path}"),
        head=drafts_with(sidecar.kind) if sidecar and not missing else "",
        work=work_on_hub(model, choice.n_bytes),
    )


def work_on_hub(model: HubModel, n_bytes: int) -> TokenWork | None:
    """Return the work per token for a file of the Hub; None if unknown, as for mixture models."""
    is_known = n_bytes > 0 and "moe" not in model.architecture
    return work_of_size(n_bytes) if is_known else None


def hub_facts(model: HubModel) -> str:
    """Return the facts about a repository in a list of results, as one line."""
    return facts(
        local_weights(model.n_params),
        model.architecture,
        context_text(model.n_ctx_train),
        model.license,
    )


Step = Literal[1, 2]
Todo = Literal["load", "download", "files", "wait"]


@dataclass(frozen=True, slots=True)
class MachineFacts:
    """Facts about this computer.

    Attributes:
        n_free: Bytes of memory that a model may take; 0 if unknown.
        has_gpu: Whether there is a GPU.
        reading: Speed at which the processor reads weights; None if unknown, or with a GPU.
    """

    n_free: int = 0
    has_gpu: bool = False
    reading: Reading | None = None


def speed_text(speeds: Speeds | None, *, is_drafted: bool = False) -> str:
    """Return the expected speed of replies as a phrase, or empty if it is unknown.

    Args:
        speeds: The expected speeds.
        is_drafted: Whether only the speed with drafts is wanted.
    """
    if speeds is None:
        return ""
    alone = f"{local(speeds.alone.rounded):g}"
    if speeds.drafted is None:
        return _tr("about {} tokens/s").format(alone)
    drafted = f"{local(speeds.drafted.rounded):g}"
    if is_drafted:
        return _tr("about {} tokens/s").format(drafted)
    words = _tr("about {} tokens/s, {} with drafts")
    return (words if speeds.gain >= MIN_SPEEDUP else _tr("about {} tokens/s")).format(
        alone, drafted
    )


@dataclass(frozen=True, slots=True)
class Picks:
    """A pair that is being picked.

    Attributes:
        step: The present step: 1 for the target, 2 for the draft model.
        target: The target, or None before a choice.
        draft: A draft model, or a head in a file of its own, or None.
        uses_head: Whether the target's own head drafts where there is no draft model.
        row: Key of an open row that is no model to load, or empty.
        leads_to: The repository with the files of that row, or empty.
    """

    step: Step = 1
    target: Candidate | None = None
    draft: Candidate | None = None
    uses_head: bool = True
    row: str = ""
    leads_to: str = ""

    @property
    def drafts_itself(self) -> bool:
        """Return whether the target's own head drafts."""
        has_head = self.target is not None and self.target.has_head
        return self.draft is None and self.uses_head and has_head

    @property
    def does_without(self) -> bool:
        """Return whether only lookups draft."""
        return self.draft is None and not self.drafts_itself

    @property
    def picked(self) -> Candidate | None:
        """The pick of the present step, if any."""
        return self.target if self.step == 1 else self.draft

    @property
    def missing(self) -> tuple[Candidate, ...]:
        """Picked candidates that would have to be downloaded."""
        both = (self.target, self.draft)
        return tuple(c for c in both if c is not None and not c.is_here)

    def with_target(self, target: Candidate) -> Picks:
        """Return the picks with another target, without a draft model that hardly suits it."""
        if self.draft is not None and not may_draft(target, self.draft):
            return Picks(self.step, target)
        uses_head = self.uses_head or target != self.target
        return replace(self, target=target, uses_head=uses_head, row="")

    def with_draft(self, draft: Candidate | None, *, uses_head: bool = False) -> Picks:
        """Return the picks with another draft model, with the target's own head, or with none."""
        return replace(self, draft=draft, uses_head=uses_head, row="")


def may_draft(target: Candidate | None, draft: Candidate) -> bool:
    """Return whether a draft model is worth offering, at first sight; `catalog.pairing` judges.

    False only if the vocabularies differ, or if the draft model is known not to be smaller.
    """
    return not why_hardly(target, draft)


def why_hardly(target: Candidate | None, draft: Candidate) -> str:
    """Return in two words why a model hardly suits as a draft model, or empty if it may."""
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
    """Words and action of the main button.

    Attributes:
        todo: The action; "wait" if the button is disabled.
        text: The button's text.
        reason: Why it is disabled, or a warning, in one sentence.
        is_downloading: Whether the pair's files are being downloaded.
    """

    todo: Todo
    text: str
    reason: str = ""
    is_downloading: bool = False


def main_button(
    picks: Picks,
    *,
    obstacle: str = "",
    warning: str = "",
    is_looking: bool = False,
    is_downloading: bool = False,
) -> MainButton:
    """Return the main button for the open row or, without one, for the picks.

    Args:
        picks: The present picks.
        obstacle: Why the pair cannot be loaded; empty if it can or that is not known yet.
        warning: A warning that does not prevent loading.
        is_looking: Whether the models are still being inspected.
        is_downloading: Whether files of the pair are being downloaded.
    """
    if picks.row:
        if picks.leads_to:
            return MainButton("files", _tr("Show its files"))
        return MainButton("wait", _tr("Load model"), _tr("This row names no model to load."))
    text = _tr("Load model") if picks.draft is None else _tr("Load pair")
    if picks.missing:
        n_bytes = [candidate.n_bytes for candidate in picks.missing]
        size = local_size(sum(n_bytes)) if all(n_bytes) else ""
        text = _tr("Download and load")
        if size:
            text = _tr("Download and load ({})").format(size)
    if picks.target is None:
        return MainButton("wait", _tr("Load model"), _tr("Pick a model first."))
    if is_downloading:
        reason = _tr("Loads as soon as the files are here.")
        return MainButton("wait", _tr("Downloading…"), reason, is_downloading=True)
    if obstacle:
        return MainButton("wait", text, obstacle)
    if is_looking:
        return MainButton("wait", text, _tr("Still being looked into."))
    return MainButton("download" if picks.missing else "load", text, warning)
