"""The kinds of heads: small networks that draft from the target's hidden states.

`HEAD_KINDS` is the only table of them. A kind without a drafter is recognised, so that its file is
not mistaken for a model, but it cannot be used yet. A kind with a drafter becomes a strategy, a
command-line option and a row of the model picker from its entry alone. Importing this module loads
nothing of size.
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
"""Pattern of the models that have no heads inside."""


@dataclass(frozen=True, slots=True)
class HeadKind:
    """A kind of head, or one of several file formats of a kind.

    Attributes:
        id: Value of `ModelCard.sidecar` for its files.
        title: Two words for users.
        word: Pattern of its word in file names.
        architectures: Architectures in its files' headers; empty if they have the target's.
        named: Patterns that must all match a file's path; empty for `word` alone.
        targets: Architecture of its targets; empty if that of its own header.
        has_cache: Whether it has a KV cache of its own, and does not read the target's.
        drafts_as: Id of the kind whose drafter uses it; empty if it cannot draft yet.
        info: Loads and describes the drafter whose id is this kind's, or None if another row does.
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
        """Return whether a path looks like a file of this kind."""
        patterns = self.named or (part_named(self.word),)
        return all(re.search(pattern, path, re.IGNORECASE) for pattern in patterns)


def part_named(word: str) -> str:
    """Return the pattern of a word as a separate part of a file's name."""
    return _PART.format(word)


def _mtp() -> DrafterInfo:
    from paceline.engine.draft.mtp import INFO  # noqa: PLC0415  loads NumPy

    return INFO


HEAD_KINDS = (
    HeadKind(
        "assistant", sentence("MTP assistant"), "assistant",
        # The names in src/llama-arch.cpp, in earlier files, and in a fork.
        architectures=("gemma4-assistant", "gemma4_assistant", "gemma4_mtp"),
        # The word alone may describe what a model was trained as: a home assistant.
        named=(GEMMA_4, part_named(r"(?:mtp|(?:it|qat)-assistant)")),
        targets="gemma4", has_cache=False, drafts_as=MTP,
    ),
    HeadKind(
        MTP, sentence("MTP head"), "mtp",
        # llama.cpp's name for a separate head, and unsloth's for the folder of heads. Elsewhere in
        # a
        # name the word usually means that a whole model has its head inside.
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
"""All kinds; a path belongs to the first kind that matches it."""

_BY_ID = {kind.id: kind for kind in HEAD_KINDS}


def head_kind(kind_id: str) -> HeadKind | None:
    """Return the kind with this id, or None."""
    return _BY_ID.get(kind_id)


def head_title(kind_id: str) -> str:
    """Return the title of a kind, or the id of an unknown one."""
    kind = head_kind(kind_id)
    return kind.title if kind is not None else kind_id


def usable_heads() -> tuple[HeadKind, ...]:
    """Return the kinds that have a drafter."""
    return tuple(kind for kind in HEAD_KINDS if kind.info is not None)


def drafts_with(sidecar: str) -> str:
    """Return the id of the drafter that drafts with a file; empty if none does.

    Args:
        sidecar: Kind of the file, as in `ModelCard.sidecar`.
    """
    kind = head_kind(sidecar)
    return kind.drafts_as if kind is not None else ""
