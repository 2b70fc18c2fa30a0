"""From a reference to a file that can be loaded: one that is on this computer, or downloaded."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath

import psutil

from paceline.catalog.download import names
from paceline.catalog.download.downloads import Downloads
from paceline.catalog.download.journal import DownloadRequest, DownloadState
from paceline.catalog.hub.client import Hub
from paceline.catalog.hub.references import HubReference, choice_for
from paceline.catalog.local.model_files import model_at
from paceline.catalog.local.places import Place
from paceline.errors import CancelledError, ModelError, UserError

_POLL_S = 0.1


def download_folder(models_folder: Path, repo: str, path: str) -> Path:
    """Return where a file of a repository belongs: ``OWNER/NAME`` and its folders in there.

    Files of the same name in different folders of a repository stay apart.

    Raises:
        UserError: "unsafe-name": a name has no place on a disk.
    """
    names.file_name(path)  # every part of it is checked there
    folder = names.repository_folder(models_folder, repo)
    return folder.joinpath(*PurePosixPath(path).parent.parts)


def file_here(reference: HubReference, models_folder: Path, places: Iterable[Place]) -> Path | None:
    """Return the file that a reference stands for if all of it is on this computer.

    Looks where this program downloads to, and into caches of the Hub's own library; of these only
    the revision that is asked for counts. A reference that names no file stands for none.

    Raises:
        UserError: "unsafe-name": a name has no place on a disk.
    """
    if not reference.names_file:
        return None
    name = names.file_name(reference.path)
    candidates = [download_folder(models_folder, reference.repo, reference.path) / name]
    candidates += [
        snapshot / reference.path
        for place in places
        if place.source == "hugging-face"
        for snapshot in _snapshots(place.folder, reference)
    ]
    for path in candidates:
        try:
            if model_at(path).is_complete:
                return path.absolute()
        except ModelError:
            continue
    return None


def _snapshots(cache: Path, reference: HubReference) -> list[Path]:
    """Return the folder of a revision in a cache of huggingface_hub."""
    repository = cache / f"models--{reference.repo.replace('/', '--')}"
    try:
        commit = (repository / "refs" / reference.revision).read_text("utf-8").strip()
    except (OSError, ValueError):
        commit = reference.revision
    return [repository / "snapshots" / commit]


def request_for(
    hub: Hub, reference: HubReference, models_folder: Path, is_stopped: Callable[[], bool]
) -> DownloadRequest:
    """Return what has to be downloaded for a reference: its file, or all parts of a split model.

    Raises:
        HubError: The repository cannot be looked at, or has no such file.
        UserError: "unsafe-name": a name has no place on a disk.
    """
    page = hub.repository(reference.repo, reference.revision, is_stopped)
    choice = choice_for(reference, page, psutil.virtual_memory().available)
    return DownloadRequest(
        repo=reference.repo,
        files=tuple(file.path for file in choice.files),
        revision=reference.revision,
        folder=str(download_folder(models_folder, reference.repo, choice.path)),
        endpoint=hub.endpoint,
    )


def fetch(
    downloads: Downloads,
    request: DownloadRequest,
    on_state: Callable[[DownloadState], None],
    is_stopped: Callable[[], bool],
) -> str:
    """Download, or continue a download that was begun before; blocks until it is done.

    Args:
        downloads: Does the work on threads of its own.
        request: What to fetch.
        on_state: Called on this thread whenever the state has changed.
        is_stopped: Polled ten times a second; true pauses the download.

    Returns:
        The file to load.

    Raises:
        UserError: It failed; the message and hint are the download's.
        CancelledError: It was stopped; what is here stays for the next time.
    """
    id_ = downloads.add(request)
    last: DownloadState | None = None
    while True:
        state = next((s for s in downloads.states() if s.id == id_), None)
        if state is None or state.status == "cancelled":
            raise CancelledError
        if state != last:
            on_state(state)
            last = state
        if state.status == "done":
            return state.path
        if state.status == "failed" or (state.status == "paused" and state.problem):
            raise UserError("download-failed", state.problem, state.hint)
        if is_stopped():
            downloads.pause(id_)
            raise CancelledError
        time.sleep(_POLL_S)
