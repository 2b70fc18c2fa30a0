"""What is to be downloaded and how that stands; plain values that are kept in a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["waiting", "running", "paused", "verifying", "done", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class DownloadRequest:
    """A model to fetch: one file, or all parts of a split one.

    Attributes:
        repo: ``OWNER/NAME``.
        files: Paths within the repository, the one to load first.
        revision: Branch, tag or commit.
        folder: Where the files go, flat: the last part of each path becomes the name.
        endpoint: The Hub's address; empty: the usual one.
    """

    repo: str
    files: tuple[str, ...]
    revision: str
    folder: str
    endpoint: str = ""


@dataclass(frozen=True, slots=True)
class DownloadState:
    """How a download stands.

    Attributes:
        id: Names it for as long as it is known, across restarts.
        request: What was asked for.
        status: "failed" can be resumed like "paused"; a full disk pauses.
        n_done: Bytes that are here.
        n_total: Bytes of all files; 0: not known yet.
        bytes_per_s: Over the last seconds; 0 when nothing moves.
        seconds_left: None: not known.
        problem: Why it failed, or had to pause, in one sentence; empty otherwise.
        hint: What to do about it.
        path: The file to load; empty until it is done.
        sha256: Of that file; empty until it is done.
    """

    id: str
    request: DownloadRequest
    status: Status
    n_done: int = 0
    n_total: int = 0
    bytes_per_s: float = 0.0
    seconds_left: float | None = None
    problem: str = ""
    hint: str = ""
    path: str = ""
    sha256: str = ""
