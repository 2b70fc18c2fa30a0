"""The kinds of heads: drafters that read what their target has computed, and are no models.

The one table of them. A kind without a drafter is recognised, so that its file is not taken for a
model, and cannot be used yet. A kind that has one is a strategy, an option of the command line and
a row of the picker by that alone. Loads nothing of size.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paceline.params import MTP
from paceline.sentence import sentence

if TYPE_CHECKING:
    from paceline.engine.draft.base import DrafterInfo

_PART = r"(?:^|[-_. /]){}(?=$|[-_. ])"
GEMMA_4 = r"gemma[-_]?4(?![b0-9])"
"""Whose models have no heads inside."""


@dataclass(frozen=True, slots=True)
class HeadKind:
    """A kind of head, or one of several forms that its files have.

    Attributes:
        id: What `ModelCard.sidecar` says of its files.
        title: Two words for people.
        word: A pattern of the word for it in the names of files.
        architectures: What headers of its files have as architecture; empty: its target's.
        named: Patterns that the path of its file has, all of them; empty: `word` alone.
        targets: The architecture of its targets; empty: that of its own header.
        has_cache: Whether it keeps keys and values of its own, and does not read the target's.
        drafts_as: The kind whose drafter drafts with it; empty: none does yet.
        info: Loads and describes that drafter, whose id is this kind's; None: another form has it.
    """

    id: str
    title: str
    word: str
    architectures: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    targets: str = ""
    has_cache: bool = True
    drafts_as: str = ""
    info: Callable[[], DrafterInfo] | None = None

    def is_named(self, path: str) -> bool:
        """Return whether a path says that its file is of this kind."""
        patterns = self.named or (part_named(self.word),)
        return all(re.search(pattern, path, re.IGNORECASE) for pattern in patterns)


def part_named(word: str) -> str:
    """Return the pattern of a word that is a part of a file's name."""
    return _PART.format(word)


def _mtp() -> DrafterInfo:
    from paceline.engine.draft.mtp import INFO  # noqa: PLC0415  loads NumPy

    return INFO


HEAD_KINDS = (
    HeadKind(
        "assistant", sentence("MTP assistant"), "assistant",
        # The name in src/llama-arch.cpp, that of earlier files, and that of a fork.
        architectures=("gemma4-assistant", "gemma4_assistant", "gemma4_mtp"),
        # The word alone may be what a model was trained to be: a home assistant.
        named=(GEMMA_4, part_named(r"(?:mtp|(?:it|qat)-assistant)")),
        targets="gemma4", has_cache=False, drafts_as=MTP,
    ),
    HeadKind(
        MTP, sentence("MTP head"), "mtp",
        # How llama.cpp names a head alone, and unsloth the folder of heads. The word elsewhere in
        # a name says as a rule that a whole model has its head inside.
        named=(r"(?:^|/)mtp(?:-|/)",),
        drafts_as=MTP, info=_mtp,
    ),
    HeadKind(
        "eagle", "EAGLE", r"eagle-?3",  # Eagle alone is a family of models
        architectures=("eagle3",),
    ),
    HeadKind(
        "dflash", "DFlash", r"(?:dflash|dspark)",
        architectures=("dflash",),  # of DSpark's files, too
    ),
)  # fmt: skip
"""A path is of the first kind that it names."""

_BY_ID = {kind.id: kind for kind in HEAD_KINDS}


def head_kind(kind_id: str) -> HeadKind | None:
    """Return the kind of this id; None: there is none."""
    return _BY_ID.get(kind_id)


def head_title(kind_id: str) -> str:
    """Return what a kind is called; one that is not known by its id."""
    kind = head_kind(kind_id)
    return kind.title if kind is not None else kind_id


def usable_heads() -> tuple[HeadKind, ...]:
    """Return the kinds that have a drafter."""
    return tuple(kind for kind in HEAD_KINDS if kind.info is not None)


def drafts_with(sidecar: str) -> str:
    """Return the id of the drafter that drafts with a file; empty: none does.

    Args:
        sidecar: What the file is, as `ModelCard.sidecar`.
    """
    kind = head_kind(sidecar)
    return kind.drafts_as if kind is not None else ""
