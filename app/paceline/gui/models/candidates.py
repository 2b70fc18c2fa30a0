"""A row of the picker: a model that is here, or one that could be downloaded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from paceline.catalog import words
from paceline.catalog.card import quantisation_in_name
from paceline.catalog.hub.references import is_reference, parse_reference
from paceline.catalog.sidecar import has_head_by_path, sidecar_in_path
from paceline.gui.models.lists.library import place_title
from paceline.gui.state.pair import file_name, model_name

if TYPE_CHECKING:
    from paceline.catalog.hub.values import HubChoice, HubModel, HubRepository
    from paceline.catalog.local.library import LibraryEntry
    from paceline.gui.models.lists.library import LibraryModel


def _tr(text: str) -> str:
    return QCoreApplication.translate("Candidates", text)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A model that may be picked.

    Attributes:
        reference: A path, or ``hf:OWNER/REPO:FILE``.
        title: Its name for people.
        subtitle: Where it is, or who made it.
        n_bytes: Of its file, or of all parts; 0: not known.
        is_here: Whether it can be loaded without a download.
        n_params: Weights; 0: not known.
        quantisation: E.g. ``Q4_K_M``; empty: not known.
        n_ctx_train: Tokens; 0: not known.
        problem: Why it cannot be picked, in one sentence; empty: it can.
        files: For a download: all files of a split model, within the repository.
        vocabulary: 16 hex digits of all token texts; empty: not known.
        architecture: E.g. ``qwen2``; empty: not known.
        repo: For a download: ``OWNER/NAME``.
        has_template: Whether it brings a chat template; true where that is not known.
        has_head: Whether it is known to have an MTP head inside.
        is_head: Whether it is an MTP head that can draft for its target, and no model.
    """

    reference: str
    title: str
    subtitle: str = ""
    n_bytes: int = 0
    is_here: bool = True
    n_params: int = 0
    quantisation: str = ""
    n_ctx_train: int = 0
    problem: str = ""
    files: tuple[str, ...] = ()
    vocabulary: str = ""
    architecture: str = ""
    repo: str = ""
    has_template: bool = True
    has_head: bool = False
    is_head: bool = False


def facts(*parts: str) -> str:
    """Join what is known to one line, e.g. ``7.6B · Q4_K_M · 32k context``."""
    return " · ".join(part for part in parts if part)


def spoken(*parts: str) -> str:
    """Join what a row says for a screen reader."""
    return ", ".join(part for part in parts if part)


def context_text(n_ctx: int) -> str:
    """Return a context as people write it: ``32k context``; empty for 0."""
    return f"{words.tokens(n_ctx)} context" if n_ctx else ""


def candidate_facts(candidate: Candidate) -> str:
    """Return what is known of a candidate as one line."""
    return facts(
        words.weights(candidate.n_params),
        candidate.quantisation,
        context_text(candidate.n_ctx_train),
        "" if candidate.has_template else _tr("no chat template"),
        head_text(candidate),
    )


def head_text(candidate: Candidate) -> str:
    """Return that a candidate is an MTP head or has one inside; empty: no, or not known."""
    if candidate.is_head:
        return _tr("MTP head")
    return _tr("MTP head inside") if candidate.has_head else ""


def of_reference(reference: str) -> Candidate:
    """Return the candidate for a path or an ``hf:`` reference of which nothing else is known.

    Raises:
        HubError: It begins with ``hf:`` and names no model.
    """
    if not is_reference(reference):
        return Candidate(reference, file_name(reference))
    remote = parse_reference(reference)
    return Candidate(
        reference,
        model_name(reference),
        subtitle=remote.repo,
        is_here=False,
        quantisation=quantisation_in_name(remote.path),
        files=(remote.path,),
        repo=remote.repo,
    )


def of_entry(entry: LibraryEntry) -> Candidate:
    """Return the candidate for a model of this computer."""
    card, file = entry.card, entry.file
    return Candidate(
        reference=str(file.path),
        title=file.name,
        subtitle=place_title(file.source),
        n_bytes=file.n_bytes,
        n_params=card.n_params if card else 0,
        quantisation=card.quantisation if card else "",
        n_ctx_train=card.n_ctx_train if card else 0,
        problem=entry.problem,
        vocabulary=card.vocabulary if card else "",
        architecture=card.architecture if card else "",
        has_template=card is None or card.has_template,
        has_head=card is not None and card.n_heads > 0,
        is_head=entry.sidecar is not None and entry.sidecar.is_usable,
    )


def of_path(reference: str, library: LibraryModel) -> Candidate:
    """Return the candidate for a path or ``hf:`` reference, with what the library knows of it.

    Raises:
        HubError: It begins with ``hf:`` and names no model.
    """
    entry = None if is_reference(reference) else library.entry_of(Path(reference))
    return of_entry(entry) if entry is not None else of_reference(reference)


def of_choice(repository: HubRepository, choice: HubChoice) -> Candidate:
    """Return the candidate for one file of a repository of the Hub."""
    model, sidecar = repository.model, sidecar_in_path(choice.path)
    missing = "" if choice.is_complete else _tr("Parts of this model are missing on the Hub.")
    return Candidate(
        reference=f"hf:{model.repo}:{choice.path}",
        title=file_name(choice.path),
        subtitle=model.repo,
        n_bytes=choice.n_bytes,
        is_here=False,
        n_params=model.n_params,
        quantisation="" if sidecar else choice.quantisation,
        n_ctx_train=model.n_ctx_train,
        problem=missing or (sidecar.sentence if sidecar else ""),
        files=tuple(file.path for file in choice.files),
        architecture=model.architecture,
        repo=model.repo,
        has_head=has_head_by_path(f"{model.repo}/{choice.path}"),
        is_head=not missing and sidecar is not None and sidecar.is_usable,
    )


def hub_facts(model: HubModel) -> str:
    """Return what a list of results says of a repository, as one line."""
    return facts(
        words.weights(model.n_params),
        model.architecture,
        context_text(model.n_ctx_train),
        model.license,
    )
