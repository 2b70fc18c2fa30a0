"""Pairs of models that are reported to work, shipped as a file with the reports' addresses.

An entry has the fields of `CuratedPair`. An unchecked value is null there and shown as "not
checked"; sizes that follow from the number of weights and the bits of each are named in `about`,
until a check on the Hub puts the files' own there; a gain is a claim of its source and not a
measurement of this program. Some entries are no pairs to load: models with a DFlash network, which
this version cannot use, and models that need no drafter but lookups.
`packaging/check_curated.py` checks every entry, by itself and on the Hub; a test does the former.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from paceline.catalog.sidecar import NOT_YET, Sidecar
from paceline.codec import decode, misfit
from paceline.engine.draft.heads import drafts_with, head_kind
from paceline.errors import UserError
from paceline.params import DRAFT
from paceline.paths import resources
from paceline.sentence import Sentence, joined, sentence

LOOKUP = "lookup"
Machine = Literal["any", "gpu", "processor"]

NOT_CHECKED = sentence("not checked")
"""Shown in place of an unknown value."""
BYTES_PER_WEIGHT = 0.62
"""Size of Q4_K_M, the usual choice: 4.9 bits (llama.cpp, tools/quantize), some for the context."""


@dataclass(frozen=True, slots=True)
class ReportSource:
    """Source of a report about a pair.

    Attributes:
        url: Address of the report.
        date: ISO 8601 day or month of the report, or None if not known.
    """

    url: str
    date: str | None


@dataclass(frozen=True, slots=True)
class Gain:
    """Claim of a report.

    Attributes:
        claim: The gain, with the machine it was seen on.
        texts: Kind of the generated text, e.g. "code", or None if not known.
        temperature: Sampling temperature, or None if not known.
    """

    claim: str
    texts: str | None
    temperature: float | None

    def __str__(self) -> str:
        when = []
        if self.texts:
            when.append(sentence("on {texts}", texts=Sentence(self.texts)))
        if self.temperature is not None:
            when.append(sentence("at temperature {n:g}", n=self.temperature))
        claim = Sentence(self.claim)
        return joined([claim, joined(when, ", ")], "; ")


class DownloadSize(NamedTuple):
    """Size of a pair's download.

    Attributes:
        n_bytes: Size of all files.
        is_exact: Whether it is the files' own size; if not, it is computed from weights and bits.
    """

    n_bytes: int
    is_exact: bool


@dataclass(frozen=True, slots=True)
class CuratedPair:
    """One entry; None stands for what is not known.

    Attributes:
        title: Its name for users, e.g. "Qwen2.5 Coder 7B".
        target_repo: ``OWNER/NAME`` on the Hub; empty means any model of that size.
        target_file: Path of a GGUF file in it.
        target_bytes: Its size, or that of a Q4_K_M where none is named.
        target_words: Words that must all be in a target's name or family, in lower case.
        target_architecture: E.g. ``qwen2``.
        target_params: Weights of the target, from and to.
        draft_repo: ``OWNER/NAME`` on the Hub, or empty if the target has its head inside, or needs
            no drafter.
        draft_file: Path of a GGUF file in it.
        draft_bytes: Its size.
        about: Names of the size fields that are computed and not the files' own.
        active: Share of the target's bytes that one token reads, for a mixture of experts or large
            embeddings; None means all.
        acceptance: Share of the first drafted tokens that were accepted, as the source says.
        gain: The source's claim.
        evidence: The source.
        vocabulary_checked: The result of comparing the two headers.
        kind: "draft": a draft model; the id of a kind of head (`engine.draft.heads`), in the
            target's file or in one of its own; "lookup": lookups alone.
        machine: Kind of machine that the entry is for.
        least_memory: Bytes that all of it takes with a context of 4,096 tokens.
    """

    title: str
    target_repo: str
    target_file: str | None
    target_bytes: int | None
    target_words: tuple[str, ...]
    target_architecture: str | None
    target_params: tuple[int, int] | None
    draft_repo: str
    draft_file: str | None
    draft_bytes: int | None
    about: tuple[str, ...]
    active: float | None
    acceptance: float | None
    gain: Gain | None
    evidence: ReportSource | None
    vocabulary_checked: bool | None
    kind: str = DRAFT
    machine: Machine = "any"
    least_memory: int | None = None

    @property
    def drafter(self) -> str:
        """The drafter in place of a draft model, as a phrase; empty if a draft model drafts."""
        if self.kind == LOOKUP:
            return sentence("no second model: lookups draft from the chat itself")
        if self.kind == DRAFT:
            return ""
        where = self.draft_file or self.draft_repo or sentence("inside the model's file")
        drafter = joined([Sidecar(self.kind, "").title, where], ", ")
        return drafter if self.is_usable else joined([drafter, NOT_YET], "; ")

    @property
    def is_usable(self) -> bool:
        """Return whether it names models to load."""
        return self.kind == DRAFT or self.is_headed

    @property
    def is_headed(self) -> bool:
        """Return whether its drafter is a head that this version can use."""
        return bool(drafts_with(self.kind))

    @property
    def is_ahead(self) -> bool:
        """Return whether this version does not support its kind of drafter."""
        return not self.is_usable and self.kind != LOOKUP

    @property
    def needs(self) -> str:
        """The machine that it is for, as a phrase."""
        machine = {
            "any": sentence("any machine"),
            "gpu": sentence("a GPU"),
            "processor": sentence("a processor"),
        }[self.machine]
        if not self.least_memory:
            return machine
        return sentence("{machine}, from {n:size} of memory", machine=machine, n=self.least_memory)

    @property
    def is_complete(self) -> bool:
        """Return whether all its files are named, and this version can use them."""
        drafts = self.draft_file is not None or not self.draft_repo
        return self.is_usable and self.target_file is not None and drafts

    @property
    def download(self) -> DownloadSize | None:
        """Bytes to download, or None if not known. A head of unknown size counts nothing."""
        if not self.target_bytes:
            return None
        is_whole = self.draft_bytes is not None or not self.draft_repo
        return DownloadSize(
            self.target_bytes + (self.draft_bytes or 0), is_whole and not self.about
        )

    @property
    def draft_reference(self) -> str:
        """``hf:OWNER/NAME:FILE`` of a draft model or a head; empty when no file is known."""
        is_known = self.draft_file and self.is_usable
        return f"hf:{self.draft_repo}:{self.draft_file}" if is_known else ""

    @property
    def target_reference(self) -> str:
        """``hf:OWNER/NAME:FILE``; empty when no file is known."""
        return f"hf:{self.target_repo}:{self.target_file}" if self.target_file else ""

    def is_for(self, name: str, architecture: str, n_params: int) -> bool:
        """Return whether a model is the target of this pair, as far as that is known.

        What is not known excludes no pair, but one that is for a size alone; a pair that is
        proposed has its vocabularies compared anyway.

        Args:
            name: All its names: in the header, of the file and of the repository.
            architecture: Its architecture, or empty if not known.
            n_params: Its weights, or 0 if not known.
        """
        if architecture and self.target_architecture not in (None, architecture):
            return False
        low, high = self.target_params or (0, n_params)
        is_of_size = low <= n_params <= high if n_params else bool(self.target_words)
        return is_of_size and words_of(name) >= set(self.target_words)


def words_of(name: str) -> frozenset[str]:
    """Return the words of a model's name in lower case, e.g. ``{"qwen2.5", "coder", "7b"}``."""
    return frozenset(word for word in re.split(r"[^a-z0-9.]+", name.lower()) if word)


def curated_pairs_path() -> Path:
    """Return the file that is shipped."""
    return resources() / "curated_pairs.json"


@dataclass(frozen=True, slots=True)
class _List:
    pairs: tuple[CuratedPair, ...]


def load_curated(path: Path) -> tuple[CuratedPair, ...]:
    """Read a list of pairs.

    Raises:
        UserError: "bad-curated-pairs": it cannot be read, or a field of an entry is of another
            type; the text names it.
    """
    try:
        pairs = decode(_List, json.loads(path.read_bytes())).pairs
        for at, pair in enumerate(pairs):
            if pair.kind not in (DRAFT, LOOKUP) and head_kind(pair.kind) is None:
                raise misfit(pair.kind, sentence("a kind of drafter"), f".pairs[{at}].kind")
        return pairs
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(
            "bad-curated-pairs",
            "The list of pairs “{name}” cannot be used: {error}.",
            "Install Paceline again, or correct the file.",
            name=path.name,
            error=error,
        ) from None
