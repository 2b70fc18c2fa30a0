"""Files by references: on this computer, downloaded, or their headers alone.

A model on the Hub is judged by its header before it is downloaded. A header with a vocabulary of
260k tokens is 16 MiB long, its length is not stored, and everything after it is weights. So the
beginning is fetched in pieces that grow until ggml's parser succeeds: up to 4, 8, 16 and 20 MiB;
with the request for the file's address that makes five requests. What was found is kept by the
file's ETag, as a sparse file of the true size: llama.cpp refuses to read one that is too short. Of
the other parts of a split model one small range each is enough.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

import psutil

from paceline import starter
from paceline.catalog.download import names
from paceline.catalog.download.downloads import Downloads
from paceline.catalog.download.record import Download, DownloadRequest
from paceline.catalog.hub import errors
from paceline.catalog.hub.client import Hub, never
from paceline.catalog.hub.listing import choice_for
from paceline.catalog.hub.stream import Body, Location
from paceline.catalog.hub.values import HubChoice, HubReference, HubRepository
from paceline.catalog.inspect.inspector import Inspector
from paceline.catalog.local.model_files import Place, model_at
from paceline.engine.model.model_file import PART, part_names
from paceline.errors import CancelledError, ModelError, UserError
from paceline.files import private_folder, write_whole

_POLL_S = 0.1
PIECES = (4 << 20, 8 << 20, 16 << 20, 20 << 20)
"""Ends of the pieces in which the beginning is fetched, in order."""
_PART_PIECES = (1 << 16, 4 << 20)
"""Sizes of requests for parts after the first, which have only a list of tensors."""
_MAX_PARTS = 100
_MAX_CACHED_HEADERS = 64
"""Upper bound of the headers in the cache, of 5 to 16 MiB each."""
_BRANCH_TRUSTED_S = 3600.0
"""Seconds for which a branch counts as unchanged; then the Hub is asked again."""


def download_folder(models_folder: Path, repo: str, path: str) -> Path:
    """Return where a file of a repository belongs: ``OWNER/NAME`` and its folders in there.

    Files of the same name in different folders of a repository stay apart.

    Raises:
        UserError: "unsafe-name": a name has no place on a disk.
    """
    names.file_name(path)  # every part of it is checked there
    folder = names.repository_folder(models_folder, repo)
    return folder.joinpath(*PurePosixPath(path).parent.parts)


def file_here(reference: HubReference, places: Iterable[Place]) -> Path | None:
    """Return the file that a reference stands for if all of it is on this computer.

    Looks where this program downloads to or did so, and into caches of the Hub's own library; of
    these only the revision that is asked for counts. A reference without a file stands for none.

    Raises:
        UserError: "unsafe-name": a name has no place on a disk.
    """
    if not reference.names_file:
        return None
    name, places = names.file_name(reference.path), tuple(places)
    candidates = [
        download_folder(place.folder, reference.repo, reference.path) / name
        for place in places
        if place.source == "paceline"
    ]
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
        HubError: The repository cannot be read, or has no such file.
        UserError: "unsafe-name": a name has no place on a disk.
    """
    choice = _choice(hub, reference, is_stopped)
    return DownloadRequest(
        repo=reference.repo,
        files=tuple(file.path for file in choice.files),
        revision=reference.revision,
        folder=str(download_folder(models_folder, reference.repo, choice.path)),
        endpoint=hub.endpoint,
    )


def starter_request(hub: Hub, models_folder: Path) -> DownloadRequest:
    """Return what has to be downloaded for the first model; the Hub is not asked for that."""
    return DownloadRequest(
        repo=starter.REPO,
        files=(starter.FILE,),
        revision=starter.REVISION,
        folder=str(download_folder(models_folder, starter.REPO, starter.FILE)),
        endpoint=hub.endpoint,
        sha256=starter.SHA256,
    )


def fetch(
    downloads: Downloads,
    request: DownloadRequest,
    on_change: Callable[[Download], None],
    is_stopped: Callable[[], bool],
) -> Download:
    """Download, or continue a download that was begun before; blocks until it is done.

    Args:
        downloads: Does the work on threads of its own.
        request: The request.
        on_change: Called on this thread with the download whenever it has changed.
        is_stopped: Polled ten times a second; true pauses the download.

    Returns:
        The download, which is done.

    Raises:
        UserError: It failed; the message and hint are the download's.
        CancelledError: It was stopped; what is here stays for the next time.
    """
    id_ = downloads.add(request)
    last: Download | None = None
    while True:
        now = next((download for download in downloads.states() if download.id == id_), None)
        if now is None or now.status == "cancelled":
            raise CancelledError
        if now != last:
            on_change(now)
            last = now
        if now.status == "done":
            return now
        if now.problem:
            raise UserError("download-failed", now.problem, now.hint)
        if is_stopped():
            downloads.pause(id_)
            raise CancelledError
        time.sleep(_POLL_S)


def remote_header(
    hub: Hub,
    inspector: Inspector,
    reference: HubReference,
    cache_dir: Path,
    is_stopped: Callable[[], bool] = never,
) -> Path:
    """Return a file that has the header of a model on the Hub, and nothing after it.

    Args:
        hub: The Hub that has the model.
        inspector: Says whether a header is complete.
        reference: The model; of a split one the first part.
        cache_dir: Folder for headers.
        is_stopped: Ends the call.

    Returns:
        The file, or the first of several, which lie beside it.

    Raises:
        HubError: The file cannot be had.
        ModelError: It is no model, or its header is longer than any that is known.
        UserError: There is no room for it.
    """
    note = cache_dir / "names" / f"{_hash(f'{hub.endpoint} {reference}')}.txt"
    if (kept := _kept(note, cache_dir, is_offline=hub.offline)) is not None:
        return kept
    named = named_file(hub, reference, is_stopped)
    part = PART.search(named.path)
    is_split = part is not None and 1 <= int(part[2]) <= _MAX_PARTS
    paths = part_names(named.path) if is_split else [named.path]
    file_names = names.file_names(paths)
    first = hub.locate(named.repo, paths[0], named.revision, is_stopped)
    folder = cache_dir / _hash(first.etag)
    if not (folder / file_names[0]).is_file():
        commit = first.commit or named.revision
        with _new_folder(folder) as new:
            there: list[Path] = []
            for path, name in zip(paths, file_names, strict=True):
                location = hub.unseen(named.repo, path, commit) if there else first
                there.append(new / name)
                _fetch_header(hub, inspector, location, there, is_stopped)
        _make_room(cache_dir)
    _write_note(note, f"{folder.name}/{file_names[0]}")
    return folder / file_names[0]


def named_file(
    hub: Hub, reference: HubReference, is_stopped: Callable[[], bool] = never
) -> HubReference:
    """Return a reference that names a file, the first one of a split model.

    Where it names none, the Hub is asked for its files, and this computer's memory decides.

    Raises:
        HubError: There is no such repository, or nothing in it that fits the reference.
    """
    if reference.names_file:
        return reference
    return replace(reference, path=_choice(hub, reference, is_stopped).path)


def repository_page(
    hub: Hub,
    inspector: Inspector | None,
    repo: str,
    revision: str = "main",
    is_stopped: Callable[[], bool] = never,
) -> HubRepository:
    """Return a repository's page, with a note if its models are newer than this llama.cpp.

    Args:
        hub: The Hub that has it.
        inspector: Asks llama.cpp, or None if it is not asked.
        repo: ``OWNER/NAME``.
        revision: Branch, tag or commit.
        is_stopped: Ends the call.

    Raises:
        HubError: As `Hub.repository`.
    """
    page = hub.repository(repo, revision, is_stopped)
    if inspector is None or not page.model.architecture:
        return page
    return replace(page, newer=inspector.what_is_unknown(page.model.architecture))


def _choice(hub: Hub, reference: HubReference, is_stopped: Callable[[], bool]) -> HubChoice:
    page = hub.repository(reference.repo, reference.revision, is_stopped)
    return choice_for(reference, page, psutil.virtual_memory().available)


def _fetch_header(
    hub: Hub,
    inspector: Inspector,
    location: Location,
    there: Sequence[Path],
    is_stopped: Callable[[], bool],
) -> None:
    """Fetch a file's beginning until it holds the header, then give the file its true size.

    Args:
        hub: The Hub that has it.
        inspector: Says whether the header is complete.
        location: Its address there.
        there: The parts before it, which have been fetched, and the file itself.
        is_stopped: Ends the call.

    Raises:
        ModelError: There is no complete header in the longest piece.
    """
    path, pieces = there[-1], PIECES if len(there) == 1 else _PART_PIECES
    n_there, size = 0, location.n_bytes
    for end in pieces:
        with hub.open(location, n_there, end, is_stopped) as body:
            size = size or body.n_bytes
            n_there = _save(body, path)
        if not size or n_there < min(end, size):
            raise errors.bad_answer(hub.endpoint, "less came than was asked for")
        try:
            inspector.card(there[0], there)
        except ModelError as error:
            if error.code != "not-a-gguf" or n_there >= size or end == pieces[-1]:
                raise
        else:
            break
    with path.open("ab") as file:
        file.truncate(size)
    _check_sparse(path, n_there)


def _save(body: Body, path: Path) -> int:
    """Append bytes to a file; returns its length then.

    Raises:
        ModelError: The file does not begin as a model does.
    """
    with path.open("ab") as file:
        file.truncate(body.start)  # a server without ranges begins at 0
        file.seek(body.start)
        for chunk in body:
            if file.tell() == 0 and not chunk.startswith(b"GGUF"[: len(chunk)]):
                raise _not_a_model(path.name)
            file.write(chunk)
        return file.tell()


def _kept(note: Path, cache_dir: Path, *, is_offline: bool) -> Path | None:
    """Return the header that a reference stood for recently."""
    try:
        age = time.time() - note.stat().st_mtime
        folder, _, name = note.read_text("utf-8").partition("/")
    except (OSError, UnicodeDecodeError):
        return None
    path = cache_dir / PurePosixPath(folder).name / PurePosixPath(name).name
    if not path.is_file() or not (is_offline or 0 <= age < _BRANCH_TRUSTED_S):
        return None
    with contextlib.suppress(OSError):
        os.utime(path.parent)  # used lately: not the first to be deleted
    return path


def _write_note(note: Path, text: str) -> None:
    with contextlib.suppress(OSError):  # then the Hub is asked again the next time
        write_whole(note, text.encode())


@contextlib.contextmanager
def _new_folder(folder: Path) -> Iterator[Path]:
    """Make a folder that takes its name when the block is left, and is deleted if it raises.

    Raises:
        UserError: It cannot be written.
    """
    try:
        private_folder(folder.parent)
        new = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".new-"))
    except OSError as error:
        raise _no_room(error) from error
    try:
        yield new
        if not folder.exists():  # another program may have been faster
            new.replace(folder)
    except OSError as error:
        raise _no_room(error) from error
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _make_room(cache_dir: Path) -> None:
    """Delete the headers that were not used for the longest time, and leftovers of a crash."""
    with contextlib.suppress(OSError):
        folders = [p for p in cache_dir.iterdir() if p.is_dir() and p.name != "names"]
        by_age = sorted(folders, key=lambda p: p.stat().st_mtime, reverse=True)
        for old in by_age[_MAX_CACHED_HEADERS:]:
            shutil.rmtree(old, ignore_errors=True)


def _check_sparse(path: Path, n_there: int) -> None:
    """Give up where the file system stores the zeros, as exFAT does.

    Raises:
        OSError: It does.
    """
    blocks = getattr(path.stat(), "st_blocks", 0)  # none on Windows
    if blocks * 512 > n_there + (256 << 20):
        raise OSError("the disk knows no sparse files")


def _not_a_model(name: str) -> ModelError:
    return ModelError(
        "not-a-gguf",
        "“{name}” is no model in GGUF format.",
        "Choose a model in GGUF format; other formats must be converted first.",
        name=name,
    )


def _no_room(error: OSError) -> UserError:
    return UserError(
        "header-not-kept",
        "The header of the model cannot be kept ({why}).",
        "Make room on the disk, or set PACELINE_HOME to another one.",
        why=error.strerror or error,
    )


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
