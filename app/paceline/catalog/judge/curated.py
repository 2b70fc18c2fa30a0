"""Pairs of models that are reported to work, shipped as a file with the reports' addresses.

An unchecked value is null there and shown as "not checked"; a gain is a claim of its source and not
a measurement of this program. Some entries are no pairs to load: models with a DFlash network,
which this version cannot use, and models that need no drafter but lookups.
`packaging/check_curated.py` checks every entry on the Hub.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date
from pathlib import Path
from typing import Any, Literal, TypeVar

from paceline.catalog.card import ModelCard
from paceline.catalog.sidecar import NOT_YET, Sidecar
from paceline.codec import CodecError, decode_part
from paceline.errors import UserError
from paceline.paths import resources
from paceline.sizes import readable_size

T = TypeVar("T")
Kind = Literal["draft", "mtp", "dflash", "lookup"]
Machine = Literal["any", "gpu", "processor"]

NOT_CHECKED = "not checked"
"""How an unknown value is shown."""
BYTES_PER_WEIGHT = 0.62
"""Of Q4_K_M, the usual choice: 4.9 bits (llama.cpp, tools/quantize) and some for the context."""
_REPO = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
_FILE = re.compile(r"[A-Za-z0-9][\w. -]*(/[A-Za-z0-9][\w. -]*)*\.gguf", re.ASCII)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where a pair was reported.

    Attributes:
        url: Address of the report.
        date: ISO 8601 day or month of the report; None: not known.
    """

    url: str
    date: str | None


@dataclass(frozen=True, slots=True)
class Gain:
    """What a report claims.

    Attributes:
        claim: The gain, with the machine it was seen on.
        texts: What was written, e.g. "code"; None: not said.
        temperature: None: not said.
    """

    claim: str
    texts: str | None
    temperature: float | None

    def __str__(self) -> str:
        texts = f"on {self.texts}" if self.texts else ""
        heat = "" if self.temperature is None else f"at temperature {self.temperature:g}"
        when = ", ".join(filter(None, (texts, heat)))
        return f"{self.claim}; {when}" if when else self.claim


@dataclass(frozen=True, slots=True)
class CuratedPair:
    """One entry; None stands for what is not known.

    Attributes:
        title: Its name for users, e.g. "Qwen2.5 Coder 7B".
        target_repo: ``OWNER/NAME`` on the Hub; empty: any model of that size.
        target_file: Path of a GGUF file in it.
        target_words: Words that a target's name or family has, all of them, in lower case.
        target_architecture: E.g. ``qwen2``.
        target_params: Weights of the target, from and to.
        draft_repo: ``OWNER/NAME`` on the Hub; empty: the target has its head inside, or needs no
            drafter.
        draft_file: Path of a GGUF file in it.
        draft_bytes: Its size.
        gain: What the source claims.
        evidence: The source.
        vocabulary_checked: The result of comparing the two headers.
        kind: "draft": a draft model; "mtp": an MTP head, in the target's file or in one of its own;
            "dflash": a DFlash network; "lookup": lookups alone.
        machine: What the entry is for.
        least_memory: Bytes that all of it takes with a context of 4,096 tokens.
    """

    title: str
    target_repo: str
    target_file: str | None
    target_words: tuple[str, ...]
    target_architecture: str | None
    target_params: tuple[int, int] | None
    draft_repo: str
    draft_file: str | None
    draft_bytes: int | None
    gain: Gain | None
    evidence: Evidence | None
    vocabulary_checked: bool | None
    kind: Kind = "draft"
    machine: Machine = "any"
    least_memory: int | None = None

    @property
    def drafter(self) -> str:
        """Who drafts in place of a draft model, as a phrase; empty: a draft model does."""
        if self.kind == "lookup":
            return "no second model: lookups draft from the chat itself"
        if self.kind == "draft":
            return ""
        where = self.draft_file or self.draft_repo or "inside the target's file"
        later = "" if self.is_usable else f"; {NOT_YET}"
        return f"{Sidecar(self.kind, '').title}, {where}{later}"

    @property
    def is_usable(self) -> bool:
        """Whether it names models to load."""
        return self.kind in ("draft", "mtp")

    @property
    def needs(self) -> str:
        """Which machine it is for, as a phrase."""
        machine = {"any": "any machine", "gpu": "a GPU", "processor": "a processor"}[self.machine]
        size = f", from {readable_size(self.least_memory)} of memory" if self.least_memory else ""
        return f"{machine}{size}"

    @property
    def draft_reference(self) -> str:
        """``hf:OWNER/NAME:FILE`` of a draft model or a head; empty when no file is known."""
        is_known = self.draft_file and self.is_usable
        return f"hf:{self.draft_repo}:{self.draft_file}" if is_known else ""

    @property
    def target_reference(self) -> str:
        """``hf:OWNER/NAME:FILE``; empty when no file is known."""
        return f"hf:{self.target_repo}:{self.target_file}" if self.target_file else ""

    def is_for(self, target: ModelCard) -> bool:
        """Whether a model is the target of this pair, by what its header says of itself.

        A file without a name in its header is the target of none; its vocabulary is judged anyway.
        """
        if self.target_architecture not in (None, target.architecture):
            return False
        low, high = self.target_params or (0, target.n_params)
        said = words_of(f"{target.family} {target.name}")
        return low <= target.n_params <= high and said >= set(self.target_words)


def words_of(name: str) -> frozenset[str]:
    """Return the words of a model's name in lower case, e.g. ``{"qwen2.5", "coder", "7b"}``."""
    return frozenset(word for word in re.split(r"[^a-z0-9.]+", name.lower()) if word)


@dataclass(frozen=True, slots=True)
class _Target:
    repo: str | None
    file: str | None
    words: tuple[str, ...]
    architecture: str | None
    params: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class _Draft:
    repo: str
    file: str | None
    n_bytes: int | None


@dataclass(frozen=True, slots=True)
class _Rest:
    title: str
    type: Kind
    machine: Machine
    least_memory: int | None
    vocabulary_checked: bool | None


def curated_pairs_path() -> Path:
    """Return the file that is shipped."""
    return resources() / "curated_pairs.json"


def load_curated(path: Path) -> tuple[CuratedPair, ...]:
    """Read a list of pairs.

    Raises:
        UserError: "bad-curated-pairs": it cannot be read, or an entry is not as it must be; says
            which one and why.
    """
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise _bad(path, f"it cannot be read ({error})") from None
    if not isinstance(data, dict) or set(data) != {"pairs"} or not isinstance(data["pairs"], list):
        raise _bad(path, "it is no object with a list “pairs” and nothing else")
    pairs = []
    for i, entry in enumerate(data["pairs"]):
        try:
            pairs.append(_pair(entry))
        except CodecError as error:
            raise _bad(path, f"pairs[{i}]: {error}") from None
    return tuple(pairs)


def _pair(entry: Any) -> CuratedPair:
    """Return one entry's pair.

    Raises:
        CodecError: It is not as it must be.
    """
    if not isinstance(entry, dict):
        raise CodecError("a pair is an object")
    names = ("target", "draft", "gain", "evidence")
    missing = {*names, *(field.name for field in fields(_Rest))} - {*entry}
    if missing:
        raise CodecError(f"“{min(missing)}” is missing")
    rest = _part(_Rest, "pair", {k: v for k, v in entry.items() if k not in names})
    target = _part(_Target, "target", entry["target"])
    draft = _optional(_Draft, "draft", entry)
    gain = _optional(Gain, "gain", entry)
    evidence = _optional(Evidence, "evidence", entry)
    _check_kind(rest, target, draft)
    _check(target, draft, evidence, gain)
    return CuratedPair(
        title=rest.title,
        target_repo=target.repo or "",
        target_file=target.file,
        target_words=target.words,
        target_architecture=target.architecture,
        target_params=(target.params[0], target.params[1]) if target.params else None,
        draft_repo=draft.repo if draft else "",
        draft_file=draft.file if draft else None,
        draft_bytes=draft.n_bytes if draft else None,
        gain=gain,
        evidence=evidence,
        vocabulary_checked=rest.vocabulary_checked,
        kind=rest.type,
        machine=rest.machine,
        least_memory=rest.least_memory,
    )


def _optional(cls: type[T], name: str, entry: Mapping[str, object]) -> T | None:
    return None if entry[name] is None else _part(cls, name, entry[name])


def _part(cls: type[T], name: str, data: object) -> T:
    """Return a part of an entry; errors call it by its name in the file."""
    try:
        return decode_part(cls, data)
    except CodecError as error:
        raise CodecError(str(error).replace(cls.__name__, name, 1)) from None


def _check_kind(rest: _Rest, target: _Target, draft: _Draft | None) -> None:
    if rest.type == "lookup":
        if target.repo or target.file or target.words or draft or target.params is None:
            raise CodecError("an entry of type “lookup” has target.params and names no model")
        return
    if target.repo is None:
        raise CodecError("target.repo is missing")
    if not target.words or any(words_of(word) != {word} for word in target.words):
        raise CodecError("target.words is no list of single words in lower case")
    if rest.type != "mtp" and draft is None:
        raise CodecError(f"an entry of type “{rest.type}” needs a draft")
    if rest.least_memory is None or rest.least_memory <= 0:
        raise CodecError("least_memory is no number of bytes")


def _check(
    target: _Target, draft: _Draft | None, evidence: Evidence | None, gain: Gain | None
) -> None:
    for name, part in (("target", target), ("draft", draft)):
        if part is None or part.repo is None:
            continue
        if not _REPO.fullmatch(part.repo):
            raise CodecError(f"{name}.repo {part.repo!r:.60} is no OWNER/NAME")
        if part.file is not None and not _FILE.fullmatch(part.file):
            raise CodecError(f"{name}.file {part.file!r:.60} is no path of a GGUF file")
    if target.params is not None and (
        len(target.params) != 2 or not 0 < target.params[0] <= target.params[1]
    ):
        raise CodecError("target.params is no smallest and largest number of weights")
    if draft and draft.n_bytes is not None and (draft.n_bytes <= 0 or draft.file is None):
        raise CodecError("draft.n_bytes is no size of a file that is named")
    if gain is not None and evidence is None:
        raise CodecError("a gain needs evidence")
    if evidence is not None:
        if not evidence.url.startswith("https://"):
            raise CodecError(f"evidence.url {evidence.url!r:.60} is no https address")
        if evidence.date is not None and not _is_date(evidence.date):
            raise CodecError(f"evidence.date {evidence.date!r:.60} is no ISO day or month")


def _is_date(text: str) -> bool:
    day = text if len(text) == 10 else f"{text}-01"
    try:
        return date.fromisoformat(day).isoformat() == day
    except ValueError:
        return False


def _bad(path: Path, why: str) -> UserError:
    return UserError(
        "bad-curated-pairs",
        f"The list of pairs “{path.name}” cannot be used: {why}.",
        "Install Paceline again, or correct the file.",
    )
