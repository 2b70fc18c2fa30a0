"""The Hub's answers, and references to its models, as plain values.

A reference is ``hf:OWNER/REPO:FILE`` or ``hf:OWNER/REPO@REVISION:FILE``; instead of the file it may
have a quantisation (``hf:OWNER/REPO:Q4_K_M``), or nothing (``hf:OWNER/REPO``): then the one for
this machine is meant. The address of a page or a file of the Hub, as a browser has it, is read as
the same. Nothing of the client library leaves this package. Addresses are untrusted input.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import parse_qs, unquote, urlsplit

from paceline.catalog.card import quantisation_in_name
from paceline.catalog.download.names import can_be_kept
from paceline.catalog.hub.errors import HubError
from paceline.sentence import Sentence

Sort = Literal["trending", "downloads", "likes", "recent"]
Gate = Literal["open", "auto", "manual"]


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """The filters of a search among the Hub's GGUF models.

    Attributes:
        text: Words of the repository's name; empty means everything.
        sort: The order of the results.
        license: E.g. ``apache-2.0``; empty means any.
        min_params: In weights; 0 means no limit.
        max_params: In weights; 0 means no limit.
        architecture: E.g. ``qwen2``, for drafts of a target; empty means any.
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
        downloads: Downloads in the last 30 days.
        likes: Number of likes.
        modified: Date of the last change, ISO 8601, or empty.
        gate: Kind of approval that its files need: "auto" is granted at once, "manual" by the
            owner.
        license: E.g. ``apache-2.0``, or empty.
        n_params: Weights of the model, or 0 if not known.
        architecture: The architecture, or empty.
        n_ctx_train: Context length in tokens of the training, or 0 if not known.
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
        sha256: Hash of its content; empty if the Hub has none.
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
        """Size of all parts together."""
        return sum(file.n_bytes for file in self.files)

    @property
    def can_be_kept(self) -> bool:
        """Return whether its files have names that may be used on this computer."""
        return all(can_be_kept(file.path) for file in self.files)


@dataclass(frozen=True, slots=True)
class HubRepository:
    """A repository's page.

    Attributes:
        model: Its entry as in a list of results.
        commit: The revision that was read, 40 hex digits.
        choices: Models to download, the smallest first.
        sidecars: Drafters beside them that are no models.
        newer: llama.cpp's message if it is too old for the models; empty if it is not, or was not
            asked.
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
    newer: str = ""


_PREFIX = "hf:"
_REPO = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}/[A-Za-z0-9][A-Za-z0-9._-]{0,95}")
_REVISION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,199}")
_HOSTS = ("huggingface.co", "www.huggingface.co", "hf.co")
_FILES, _FOLDERS = ("resolve", "blob", "raw"), ("tree",)
"""Path segments that follow the repository in an address, before a revision."""
_NOT_OWNERS = frozenset(
    {"api", "blog", "chat", "collections", "datasets", "docs", "learn", "models", "organizations",
     "papers", "posts", "search", "settings", "spaces", "tasks"}
)  # fmt: skip
_BAD_IN_PATH = re.compile(r'[\x00-\x1f\x7f\\:*?"<>|]')


@dataclass(frozen=True, slots=True)
class HubReference:
    """A model on the Hub.

    Attributes:
        repo: ``OWNER/NAME``.
        path: Path of the file within the repository, or a quantisation, or empty.
        revision: Branch, tag or commit.
    """

    repo: str
    path: str
    revision: str = "main"

    @property
    def names_file(self) -> bool:
        """Return whether it says which file, and no request is needed to know."""
        return self.path.lower().endswith(".gguf")

    def __str__(self) -> str:
        revision = "" if self.revision == "main" else f"@{self.revision}"
        return f"{_PREFIX}{self.repo}{revision}" + (f":{self.path}" if self.path else "")


def is_reference(text: str) -> bool:
    """Return whether a text is a Hub reference or an address, and not a file on this computer.

    `parse_reference` refuses addresses that lead elsewhere.
    """
    return text.startswith(_PREFIX) or _is_address(text)


def _is_address(text: str) -> bool:
    text = text.strip().lower()
    return text.startswith(("https://", "http://", *(f"{host}/" for host in _HOSTS)))


def parse_reference(text: str) -> HubReference:
    """Return what a text names.

    Raises:
        HubError: "bad-reference": it is not written as it must be.
    """
    if _is_address(text):
        return _in_address(text.strip())
    repo, _, path = text.removeprefix(_PREFIX).partition(":")
    repo, at, revision = repo.partition("@")
    if not text.startswith(_PREFIX) or not is_repo(repo):
        raise _bad(text, "it does not begin with hf:OWNER/REPO")
    if at and not _is_revision(revision):
        raise _bad(text, "what follows @ is no revision")
    if not _may_be_path(path):
        raise _bad(text, "what follows the second colon is no file of a repository")
    return HubReference(repo, path, revision or "main")


def _is_revision(text: str) -> bool:
    return bool(_REVISION.fullmatch(text)) and ".." not in text


def _may_be_path(text: str) -> bool:
    parts = text.split("/") if text else []
    return not (_BAD_IN_PATH.search(text) or any(part in ("", ".", "..") for part in parts))


def _in_address(text: str) -> HubReference:
    """Return what the address of a page or a file of the Hub names.

    Raises:
        HubError: "bad-reference": it leads elsewhere.
    """
    try:
        address = urlsplit(text if "://" in text else f"https://{text}")
        mirror = urlsplit(os.environ.get("HF_ENDPOINT", ""))
    except ValueError:
        raise _bad(text, "it is no address") from None
    if address.netloc.lower() not in (*_HOSTS, mirror.netloc.lower()):
        raise _bad(text, "the address is not one of the Hub")
    parts = [unquote(part) for part in address.path.split("/") if part]
    repo, _, path = "/".join(parts[:2]).partition(":")
    if not is_repo(repo) or parts[0].lower() in _NOT_OWNERS:
        raise _bad(text, "the address is not that of a model")
    kind, revision, place = "".join(parts[2:3]), "".join(parts[3:4]) or "main", parts[4:]
    if revision == "refs":  # refs/pr/1, with slashes of its own
        revision, place = "/".join(parts[3:6]), parts[6:]
    named = parse_qs(address.query).get("show_file_info", [""])[0]
    if kind in _FILES:
        path = "/".join(place)
    elif kind in _FOLDERS:
        path = named or (quantisation_in_name(place[-1]) if place else "")
    else:
        revision, path = "main", named or path
    if not _is_revision(revision) or not _may_be_path(path):
        raise _bad(text, "the address is not that of a model")
    return HubReference(repo, path, revision)


def is_repo(text: str) -> bool:
    """Return whether a text can be the name of a repository."""
    return bool(_REPO.fullmatch(text)) and ".." not in text and "--" not in text


def _bad(text: str, why: str) -> HubError:
    return HubError(
        "bad-reference",
        "“{text}” names no model on the Hub: {why}.",
        "Write hf:OWNER/REPO:FILE, for example hf:Qwen/Qwen3-0.6B-GGUF:Qwen3-0.6B-Q8_0.gguf.",
        text=text,
        why=Sentence(why),
    )
