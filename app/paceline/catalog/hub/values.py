"""The Hub's answers, and references to its models, as plain values.

A reference is ``hf:OWNER/REPO:FILE`` or ``hf:OWNER/REPO@REVISION:FILE``; instead of the file it may
have a quantisation (``hf:OWNER/REPO:Q4_K_M``), or nothing (``hf:OWNER/REPO``): then the one for
this machine is meant. Nothing of the client library leaves this package. Addresses are untrusted
input.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from paceline.catalog.hub.errors import HubError

Sort = Literal["trending", "downloads", "likes", "recent"]
Gate = Literal["open", "auto", "manual"]


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """The filters of a search among the Hub's GGUF models.

    Attributes:
        text: Words of the repository's name; empty: everything.
        sort: The order of the results.
        license: E.g. ``apache-2.0``; empty: any.
        min_params: In weights; 0: no limit.
        max_params: In weights; 0: no limit.
        architecture: E.g. ``qwen2``, for drafts of a target; empty: any.
        limit: Repositories at most.
    """

    text: str = ""
    sort: Sort = "trending"
    license: str = ""
    min_params: int = 0
    max_params: int = 0
    architecture: str = ""
    limit: int = 50


@dataclass(frozen=True, slots=True)
class HubModel:
    """One repository in a list of results.

    Attributes:
        repo: ``OWNER/NAME``.
        downloads: Of the last 30 days.
        likes: All of them.
        modified: Date of the last change, ISO 8601, or empty.
        gate: Whether its files must be asked for: "auto" grants at once, "manual" by its owner.
        license: E.g. ``apache-2.0``, or empty.
        n_params: Weights of the model; 0: not said.
        architecture: The architecture, or empty.
        n_ctx_train: Tokens; 0: not said.
        base_model: The repository it was quantised from, or empty.
    """

    repo: str
    downloads: int
    likes: int
    modified: str
    gate: Gate
    license: str
    n_params: int
    architecture: str
    n_ctx_train: int
    base_model: str


@dataclass(frozen=True, slots=True)
class HubFile:
    """One file as the Hub has it.

    Attributes:
        path: Within the repository, with ``/``.
        n_bytes: Its size.
        sha256: Of its content; empty where the Hub keeps none.
    """

    path: str
    n_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class HubChoice:
    """One model that a repository offers: a file, or the parts of a split one, in order.

    Attributes:
        quantisation: E.g. ``Q4_K_M``; empty where the name does not say.
        files: The first one is loaded.
        is_complete: Whether all parts are there.
    """

    quantisation: str
    files: tuple[HubFile, ...]
    is_complete: bool = True

    @property
    def path(self) -> str:
        """Path of the file to load."""
        return self.files[0].path

    @property
    def n_bytes(self) -> int:
        """Of all parts."""
        return sum(file.n_bytes for file in self.files)


@dataclass(frozen=True, slots=True)
class HubRepository:
    """A repository's page.

    Attributes:
        model: As in a list of results.
        commit: The revision that was looked at, 40 hex digits.
        choices: Models to download, the smallest first.
        sidecars: Drafters beside them that are no models.
        url: The web page, where access to a gated model is requested.
        license_url: Address of the license, or empty.
        has_access: Whether its files may be downloaded with the token at hand.
    """

    model: HubModel
    commit: str
    choices: tuple[HubChoice, ...]
    url: str
    license_url: str = ""
    has_access: bool = True
    sidecars: tuple[HubChoice, ...] = ()


_PREFIX = "hf:"
_REPO = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}/[A-Za-z0-9][A-Za-z0-9._-]{0,95}")
_REVISION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,199}")
_BAD_IN_PATH = re.compile(r'[\x00-\x1f\x7f\\:*?"<>|]')


@dataclass(frozen=True, slots=True)
class HubReference:
    """A model on the Hub.

    Attributes:
        repo: ``OWNER/NAME``.
        path: Of the file, within the repository; or a quantisation; or empty.
        revision: Branch, tag or commit.
    """

    repo: str
    path: str
    revision: str = "main"

    @property
    def names_file(self) -> bool:
        """Whether it says which file, and no request is needed to know."""
        return self.path.lower().endswith(".gguf")

    def __str__(self) -> str:
        revision = "" if self.revision == "main" else f"@{self.revision}"
        return f"{_PREFIX}{self.repo}{revision}" + (f":{self.path}" if self.path else "")


def is_reference(text: str) -> bool:
    """Whether a text names a model on the Hub and not a file on this computer."""
    return text.startswith(_PREFIX)


def parse_reference(text: str) -> HubReference:
    """Return what a text names.

    Raises:
        HubError: "bad-reference": it is not written as it must be.
    """
    repo, _, path = text.removeprefix(_PREFIX).partition(":")
    repo, at, revision = repo.partition("@")
    if not is_reference(text) or not is_repo(repo):
        raise _bad(text, "it does not begin with hf:OWNER/REPO")
    if at and (not _REVISION.fullmatch(revision) or ".." in revision):
        raise _bad(text, "what follows @ is no revision")
    if _BAD_IN_PATH.search(path) or (path and any(p in ("", ".", "..") for p in path.split("/"))):
        raise _bad(text, "what follows the second colon is no file of a repository")
    return HubReference(repo, path, revision or "main")


def is_repo(text: str) -> bool:
    """Whether a text can be the name of a repository."""
    return bool(_REPO.fullmatch(text)) and ".." not in text and "--" not in text


def _bad(text: str, why: str) -> HubError:
    return HubError(
        "bad-reference",
        f"“{text}” names no model on the Hub: {why}.",
        "Write hf:OWNER/REPO:FILE, for example hf:Qwen/Qwen3-0.6B-GGUF:Qwen3-0.6B-Q8_0.gguf.",
    )
