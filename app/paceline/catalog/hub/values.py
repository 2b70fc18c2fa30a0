"""The Hub's answers as plain values; nothing of its client library leaves this package.

Addresses are untrusted input.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

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


def origin(url: str) -> tuple[str, str, int]:
    """Return scheme, host and port of an address, which together are what a token is sent to.

    Text that is no address has an empty scheme and host, which are never trusted.
    """
    try:
        parts = urlsplit(url)
        scheme, port = parts.scheme.lower(), parts.port
    except ValueError:
        return "", "", 0
    return scheme, (parts.hostname or "").lower(), port or {"http": 80, "https": 443}.get(scheme, 0)


def host_of(url: str) -> str:
    """Return host and port for an error text, without a password that the address may have."""
    try:
        return urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:
        return url
