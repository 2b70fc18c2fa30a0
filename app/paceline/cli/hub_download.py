"""`paceline hub download`: fetch a model from the Hub, or go on where an earlier try has ended.

It keeps the same journals as the window, so that either goes on with what the other has begun.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from paceline.catalog import words
from paceline.cli.interrupts import EXIT_CODE, Interrupts
from paceline.cli.output import Progress, Results, remark
from paceline.cli.usage import UsageError
from paceline.errors import CancelledError, UserError
from paceline.paths import Paths

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from paceline.catalog.download.values import DownloadRequest, DownloadState
    from paceline.catalog.hub.client import Hub

_LINE_EVERY_S = 10.0
"""How often a log, which has no line to overwrite, gets a new one."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument("repo", metavar="REPO", help="the repository, OWNER/NAME")
    parser.add_argument(
        "file",
        metavar="FILE",
        help="a file of it, or a quantisation such as Q4_K_M; of a split model all parts come",
    )
    parser.add_argument(
        "--dest", metavar="DIR", type=Path, help="where to put it (default: Paceline's own folder)"
    )
    parser.add_argument("--revision", metavar="REV", default="main", help="branch, tag or commit")
    parser.add_argument(
        "--endpoint", metavar="URL", default="", help="the Hub's address (default: HF_ENDPOINT)"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object")


def run(args: argparse.Namespace) -> int:
    """Carry out the command; returns the exit code.

    Raises:
        UserError: The file cannot be had; what has arrived is kept.
    """
    # The client brings an HTTP library along, which no other command has to wait for.
    from paceline.catalog.download.values import DownloadRequest
    from paceline.catalog.fetching import download_folder
    from paceline.catalog.hub.client import Hub, is_offline
    from paceline.cli.hub import checked_repo

    checked_repo(args.repo)
    paths = Paths.from_environment()
    with Interrupts() as interrupts:
        hub = Hub(endpoint=args.endpoint, offline=is_offline(os.environ))
        try:
            files = _files(hub, args, lambda: interrupts.hit)
        except UserError as error:
            if error.code == "stopped":
                return EXIT_CODE
            raise
        models = paths.data_dir / "models"
        folder = args.dest or download_folder(models, args.repo, files[0])
        request = DownloadRequest(args.repo, files, args.revision, str(folder))
        state = _fetch(hub, request, paths.data_dir / "downloads", lambda: interrupts.hit)
    if state.status != "done":
        remark(_kept(state))
        return EXIT_CODE
    results = Results()
    said = {"path": state.path, "n_bytes": state.n_total, "sha256": state.sha256}
    results.write((json.dumps(said) if args.json else state.path) + "\n")
    results.check()
    return 0


def _files(hub: Hub, args: argparse.Namespace, is_stopped: Callable[[], bool]) -> tuple[str, ...]:
    """Return the paths of all files that a file's name, or a quantisation, stands for.

    Raises:
        UserError: The Hub does not say, parts are missing, or several models are meant.
    """
    from paceline.catalog.hub.references import HubReference, choice_for

    repo, file = args.repo, args.file
    if not file.strip():  # as an unset variable of a script leaves it
        raise UsageError(
            "no-file", "No file was named.", f"`paceline hub files {repo}` lists what it has."
        )
    choices = (page := hub.repository(repo, args.revision, is_stopped)).choices
    is_listed = any(file == part.path for choice in choices for part in choice.files)
    if "." in file and not is_listed:
        return (file,)  # a projector, a licence, or nothing; the Hub will say
    choice = choice_for(HubReference(repo, file, args.revision), page, 0)
    same = [c.path for c in choices if c.quantisation == choice.quantisation]
    if not is_listed and len(same) > 1:
        raise UsageError(
            "several-files",
            f"{repo} has {len(same)} models in {choice.quantisation}.",
            f"Name one file: {', '.join(same)}.",
        )
    if not choice.is_complete:
        raise UserError(
            "parts-missing",
            f"{repo} does not have all parts of {choice.path}.",
            "Choose another file.",
        )
    return tuple(part.path for part in choice.files)


def _fetch(
    hub: Hub, request: DownloadRequest, state_dir: Path, is_stopped: Callable[[], bool]
) -> DownloadState:
    """Download until it is done or stopped; returns how it stands then.

    Raises:
        UserError: It failed.
    """
    from paceline.catalog.download.downloads import Downloads
    from paceline.catalog.fetching import fetch

    downloads = Downloads(hub, state_dir)
    reporter = Reporter()
    try:
        with contextlib.suppress(CancelledError):
            fetch(downloads, request, reporter.show, is_stopped)
    finally:
        downloads.close()
        reporter.close()
    return next(state for state in downloads.states() if state.id == reporter.shown)


class Reporter:
    """Progress on stderr: a line that is overwritten, or a few lines in a log.

    Attributes:
        shown: Id of the download that was shown last; empty before that.
    """

    def __init__(self) -> None:
        self.shown = ""
        self._line = Progress()
        self._status = ""
        self._next_s = 0.0

    def show(self, state: DownloadState) -> None:
        """Tell how it stands."""
        self.shown = state.id
        text = _progress(state)
        if self._line.is_shown:
            self._line.show(text)
            return
        is_new = state.status != self._status and state.status in ("running", "verifying")
        if is_new or time.monotonic() >= self._next_s:
            self._status = state.status
            self._next_s = time.monotonic() + _LINE_EVERY_S
            remark(text)

    def close(self) -> None:
        """Leave nothing half written."""
        self._line.clear()


def _progress(state: DownloadState) -> str:
    name = state.request.files[0].rsplit("/", 1)[-1]
    if not state.n_total:
        return f"{name}: {state.status}"
    n_done, n_total = words.done_and_total(state.n_done, state.n_total)
    text = f"{name}: {state.status}, {n_done} of {n_total}"
    if state.bytes_per_s:
        text += f", {words.file_size(state.bytes_per_s)}/s"
    if state.seconds_left is not None:
        text += f", {words.duration(state.seconds_left)} left"
    return text


def _kept(state: DownloadState) -> str:
    if not state.n_done:
        return "Stopped; nothing has arrived yet."
    return (
        f"Stopped; {words.file_size(state.n_done)} are kept in {state.request.folder}. "
        "The same command goes on from there."
    )
