"""Pairs of models that are reported to work, shipped as a file with the reports' addresses.

An unchecked value is null there and shown as "not checked"; a gain is a claim of its source and not
a measurement of this program. `packaging/check_curated.py` checks every entry on the Hub.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Literal, TypeVar

from paceline.catalog.card import ModelCard
from paceline.codec import CodecError, decode_part
from paceline.errors import UserError
from paceline.paths import resources

T = TypeVar("T")

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
class CuratedPair:
    """One pair; None stands for what is not known.

    Attributes:
        title: Its name for users, e.g. "Qwen2.5 Coder 7B".
        target_repo: ``OWNER/NAME`` on the Hub.
        target_file: Path of a GGUF file in it.
        target_words: Words that a target's name or family has, all of them, in lower case.
        target_architecture: E.g. ``qwen2``.
        target_params: Weights of the target, from and to.
        draft_repo: ``OWNER/NAME`` on the Hub.
        draft_file: Path of a GGUF file in it.
        draft_bytes: Its size.
        gain: What the source claims, with the machine it was seen on.
        evidence: The source.
        vocabulary_checked: The result of comparing the two headers.
        kind: How the draft model drafts.
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
    gain: str | None
    evidence: Evidence | None
    vocabulary_checked: bool | None
    kind: Literal["draft"] = "draft"

    @property
    def draft_reference(self) -> str:
        """``hf:OWNER/NAME:FILE``; empty when no file is known."""
        return f"hf:{self.draft_repo}:{self.draft_file}" if self.draft_file else ""

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
    repo: str
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
    type: Literal["draft"]
    gain: str | None
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
    missing = {"title", "type", "target", "draft", "gain", "evidence", "vocabulary_checked"} - {
        *entry
    }
    if missing:
        raise CodecError(f"“{min(missing)}” is missing")
    parts = {name: entry[name] for name in ("target", "draft", "evidence")}
    rest = _part(_Rest, "pair", {k: v for k, v in entry.items() if k not in parts})
    target = _part(_Target, "target", parts["target"])
    draft = _part(_Draft, "draft", parts["draft"])
    evidence = None
    if parts["evidence"] is not None:
        evidence = _part(Evidence, "evidence", parts["evidence"])
    _check(target, draft, evidence, rest.gain)
    return CuratedPair(
        title=rest.title,
        target_repo=target.repo,
        target_file=target.file,
        target_words=target.words,
        target_architecture=target.architecture,
        target_params=(target.params[0], target.params[1]) if target.params else None,
        draft_repo=draft.repo,
        draft_file=draft.file,
        draft_bytes=draft.n_bytes,
        gain=rest.gain,
        evidence=evidence,
        vocabulary_checked=rest.vocabulary_checked,
        kind=rest.type,
    )


def _part(cls: type[T], name: str, data: object) -> T:
    """Return a part of an entry; errors call it by its name in the file."""
    try:
        return decode_part(cls, data)
    except CodecError as error:
        raise CodecError(str(error).replace(cls.__name__, name, 1)) from None


def _check(target: _Target, draft: _Draft, evidence: Evidence | None, gain: str | None) -> None:
    for name, part in (("target", target), ("draft", draft)):
        if not _REPO.fullmatch(part.repo):
            raise CodecError(f"{name}.repo {part.repo!r:.60} is no OWNER/NAME")
        if part.file is not None and not _FILE.fullmatch(part.file):
            raise CodecError(f"{name}.file {part.file!r:.60} is no path of a GGUF file")
    if not target.words or any(words_of(word) != {word} for word in target.words):
        raise CodecError("target.words is no list of single words in lower case")
    if target.params is not None and (
        len(target.params) != 2 or not 0 < target.params[0] <= target.params[1]
    ):
        raise CodecError("target.params is no smallest and largest number of weights")
    if draft.n_bytes is not None and (draft.n_bytes <= 0 or draft.file is None):
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
