"""References to models on the Hub: ``hf:OWNER/REPO:FILE``.

Also ``hf:OWNER/REPO@REVISION:FILE``; instead of the file it may have a quantisation
(``hf:OWNER/REPO:Q4_K_M``), or nothing (``hf:OWNER/REPO``): then the one for this machine is meant.
Pure functions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from paceline.catalog.hub.errors import HubError
from paceline.catalog.hub.listing import recommended
from paceline.catalog.hub.values import HubChoice, HubRepository

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


def choice_for(reference: HubReference, repository: HubRepository, n_free: int) -> HubChoice:
    """Return the model of a repository that a reference means.

    Args:
        reference: With a file, any part of a split one; with a quantisation; or with neither.
        repository: Its page.
        n_free: Bytes of memory for a model, where the reference leaves the choice.

    Raises:
        HubError: "not-found": there is none.
    """
    wanted = reference.path
    choices = repository.choices
    if reference.names_file:
        found = [c for c in choices if any(file.path == wanted for file in c.files)]
    elif wanted:
        found = [c for c in choices if c.quantisation.upper() == wanted.upper()]
    else:
        one = recommended(choices, n_free) or next((c for c in choices if c.is_complete), None)
        found = [one] if one else []
    if not found:
        what = f"no model “{wanted}”" if wanted else "no model in GGUF format"
        raise HubError(
            "not-found",
            f"The repository {reference.repo} has {what}.",
            f"`paceline hub files {reference.repo}` lists what it has.",
        )
    return found[0]


def _bad(text: str, why: str) -> HubError:
    return HubError(
        "bad-reference",
        f"“{text}” names no model on the Hub: {why}.",
        "Write hf:OWNER/REPO:FILE, for example hf:Qwen/Qwen3-0.6B-GGUF:Qwen3-0.6B-Q8_0.gguf.",
    )
