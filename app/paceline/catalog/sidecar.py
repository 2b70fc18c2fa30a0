"""Sidecars: drafters in files of their own that are no language models.

An MTP head, an assistant of Gemma 4, an EAGLE or a DFlash network drafts from what its target has
computed, and is nothing without it. It lies beside the quantisations of its target, often the
smallest file there, so a list of models must know it. The header decides where it was read, the
name where it was not. The kinds are those of `engine.draft.heads`. Pure functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from paceline.catalog.card import ModelCard, without_quantisation
from paceline.engine.draft.heads import GEMMA_4, HEAD_KINDS, drafts_with, head_title, part_named
from paceline.engine.model.model_file import GgufHeader, model_name
from paceline.errors import ModelError
from paceline.params import MTP
from paceline.sentence import Sentence, sentence

NOT_YET = sentence("this version cannot use it yet")
HEAD_INSIDE = sentence("MTP head inside")
"""Name of a model that brings its own head."""
SIDECAR = "sidecar"
"""The code of the error that a file is one."""
_BLOCK = re.compile(r"blk\.(\d+)\.")
_GEMMA_4 = re.compile(GEMMA_4, re.IGNORECASE)
_INSIDE = re.compile(part_named(MTP), re.IGNORECASE)
_WORDS = re.compile(
    part_named(f"(?:{'|'.join(kind.word for kind in HEAD_KINDS)}|draft(?:er)?|speculator|heads?)"),
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sidecar:
    """A drafter that is no model of its own.

    Attributes:
        kind: Kind of drafter, an id of `engine.draft.heads`.
        model: The model that it drafts for, if names say so; else empty.
    """

    kind: str
    model: str

    @property
    def title(self) -> str:
        """Its kind in words, e.g. ``MTP head``."""
        return head_title(self.kind)

    @property
    def is_usable(self) -> bool:
        """Return whether it can draft for its target."""
        return bool(drafts_with(self.kind))

    @property
    def sentence(self) -> Sentence:
        """Return the kind of sidecar and its use, as a sentence."""
        return sentence(
            "Drafter of {model} ({title}); {use}.",
            model=self.model or sentence("another model"),
            title=self.title,
            use=sentence("choose it as that model's drafter") if self.is_usable else NOT_YET,
        )


def heads_in_header(header: GgufHeader, tensors: Iterable[str]) -> tuple[str, int]:
    """Return the kind of sidecar of a file, or empty, and the number of MTP heads inside a model.

    A model's heads are its last blocks; quantisers may leave them out. A file of heads has no other
    blocks (`mtp_only` in llama.cpp's src/models).

    Args:
        header: Header of the file, or of a split model's first part.
        tensors: Names of all tensors.
    """
    architecture = header.text("general.architecture")
    kind = next((kind.id for kind in HEAD_KINDS if architecture in kind.architectures), "")
    n_heads = header.n_heads
    first = header.of_architecture("block_count") - n_heads
    blocks = {int(found[1]) for name in tensors if (found := _BLOCK.match(name))}
    if kind or n_heads <= 0 or first < 0 or not blocks or max(blocks) < first:
        return kind, 0
    return (MTP, 0) if min(blocks) >= first else ("", n_heads)


def sidecar_in_path(path: str) -> Sidecar | None:
    """Return the kind of sidecar that a file is by its name and its folder's, or None.

    Args:
        path: Within its repository, with ``/``; or the name alone.
    """
    kind = next((kind.id for kind in HEAD_KINDS if kind.is_named(path)), "")
    return Sidecar(kind, _model(PurePosixPath(path).name)) if kind else None


def has_head_by_path(path: str) -> bool:
    """Return whether a model's name says that it has its MTP head inside.

    Args:
        path: Path with its repository's name in front, which may say it for all files.
    """
    is_gemma = _GEMMA_4.search(path)  # which has none inside
    return not is_gemma and not sidecar_in_path(path) and _INSIDE.search(path) is not None


def sidecar_of(card: ModelCard, file_name: str) -> Sidecar | None:
    """Return the kind of sidecar of a file by its header, or None if it is a model.

    Args:
        card: The file's card.
        file_name: Names its target if the header does not.
    """
    if not card.sidecar:
        return None
    named = sidecar_in_path(file_name)
    return Sidecar(card.sidecar, named.model if named else _model(card.name))


def refusal(sidecar: Sidecar, file_name: str) -> ModelError:
    """Return the error that a file which should be a model is a sidecar."""
    return ModelError(
        SIDECAR,
        "“{file_name}” is no model of its own. {words}",
        "Load it together with its model: in the list of draft models, or by --{option} FILE."
        if sidecar.is_usable
        else "Choose a model, or lookups, which need none.",
        file_name=file_name,
        words=sidecar.sentence,
        option=drafts_with(sidecar.kind),
    )


def check_head(card: ModelCard, file_name: str, kind: str) -> None:
    """Refuse a file that is no head of this kind.

    Raises:
        ModelError: It is a model, or another drafter.
    """
    sidecar = sidecar_of(card, file_name)
    if sidecar and not sidecar.is_usable:
        raise refusal(sidecar, file_name)
    if not sidecar or drafts_with(sidecar.kind) != kind:
        raise ModelError(
            "wrong-head",
            "“{file_name}” is no {head} in a file of its own.",
            "Choose the file with the head that was made for this model, or none.",
            file_name=file_name,
            head=head_title(kind),
        )


def _model(name: str) -> str:
    """Return a sidecar's name without the part that marks it as one."""
    name = without_quantisation(model_name(name))
    return _WORDS.sub("", name).strip("-_. ")
