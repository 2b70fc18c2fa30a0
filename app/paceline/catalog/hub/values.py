"""What the Hub says, as plain values; nothing of its client library leaves this package."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Sort = Literal["trending", "downloads", "likes", "recent"]
Gate = Literal["open", "auto", "manual"]


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """What to look for among the Hub's GGUF models.

    Attributes:
        text: Words of the repository's name; empty: everything.
        sort: What comes first.
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
        modified: ISO 8601, or empty.
        gate: Whether its files must be asked for: "auto" grants at once, "manual" by its owner.
        license: E.g. ``apache-2.0``, or empty.
        n_params: Weights of the model; 0: not said.
        architecture: Or empty.
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
        quantisation: E.g. ``Q4_K_M``; empty where the name does not tell.
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
        url: The page for people, where a gated model is asked for.
        license_url: Or empty.
        has_access: Whether its files may be downloaded with the token at hand.
    """

    model: HubModel
    commit: str
    choices: tuple[HubChoice, ...]
    url: str
    license_url: str = ""
    has_access: bool = True
