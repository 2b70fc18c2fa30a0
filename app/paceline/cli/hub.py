"""`paceline hub`: search the Hub, list a repository's models, download a model.

A download keeps the same journals as the window's, so that either continues what the other began.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psutil

from paceline import sizes
from paceline.catalog.download.record import Download, DownloadRequest
from paceline.catalog.hub.client import Hub, is_offline
from paceline.catalog.hub.errors import HubError
from paceline.catalog.hub.listing import recommended
from paceline.catalog.hub.values import (
    HubChoice,
    HubModel,
    HubReference,
    HubRepository,
    SearchQuery,
    is_reference,
    is_repo,
    parse_reference,
)
from paceline.catalog.sidecar import HEAD_INSIDE, Sidecar, has_head_by_path, sidecar_in_path
from paceline.cli.output import (
    EXIT_CODE,
    Interrupts,
    ProgressLine,
    as_json,
    in_columns,
    print_result,
    remark,
)
from paceline.cli.usage import Parser, UsageError, whole_number
from paceline.errors import CancelledError, UserError
from paceline.paths import Paths
from paceline.settings import SETTINGS_FILE, Settings, peek_settings
from paceline.sizes import part_and_whole, readable_size

SORTS = ("trending", "downloads", "likes", "recent")
_LINE_EVERY_S = 10.0
"""Seconds between lines in a log, which has no line to overwrite."""


def add(parser: Parser) -> None:
    """Describe the command lines of `paceline hub`."""
    parser.description = "Search the Hugging Face Hub for models in GGUF format, and download them."
    commands = parser.add_subparsers(dest="action", metavar="COMMAND", required=True)

    search = commands.add_parser(
        "search",
        help="find models in GGUF format",
        description="Find repositories on the Hub that have models in GGUF format.",
        epilog="Example: paceline hub search qwen3 --sort downloads --limit 10",
    )
    search.add_argument(
        "query", metavar="QUERY", help="words of the name, or an address; empty: everything"
    )
    search.add_argument("--sort", choices=SORTS, default="trending", help="what comes first")
    search.add_argument(
        "--limit", type=whole_number(1, 10_000), default=20, metavar="N", help="rows at most"
    )
    search.add_argument("--license", default="", metavar="L", help="such as apache-2.0")
    search.add_argument("--json", action="store_true", help="a JSON array of objects")

    files = commands.add_parser(
        "files",
        help="list the models of a repository",
        description="List the models of a repository by quantisation, the smallest first, and "
        "the drafters beside them that are no models.",
        epilog="Example: paceline hub files Qwen/Qwen3-0.6B-GGUF",
    )
    files.add_argument("repo", metavar="REPO", help="OWNER/NAME, or the address of its page")
    files.add_argument("--json", action="store_true", help="a JSON array of objects")

    download = commands.add_parser(
        "download",
        help="download a model, or go on with a download",
        description="Download a model, all parts of a split one; the same command goes on where "
        "an earlier one was stopped.",
        epilog="Example: paceline hub download Qwen/Qwen3-0.6B-GGUF Qwen3-0.6B-Q8_0.gguf",
    )
    _add_download(download)

    for command in (search, files, download):
        command.add_argument(
            "--endpoint",
            default="",
            metavar="URL",
            help="address of another Hub or a mirror (default: HF_ENDPOINT)",
        )


def _add_download(parser: argparse.ArgumentParser) -> None:
    """Describe the command line of `paceline hub download`."""
    parser.add_argument(
        "repo",
        metavar="REPO",
        help="the repository, OWNER/NAME; or the address of a file, or hf:OWNER/NAME:FILE",
    )
    parser.add_argument(
        "file",
        metavar="FILE",
        nargs="?",
        default="",
        help="a file of it, or a quantisation such as Q4_K_M; of a split model all parts come",
    )
    parser.add_argument(
        "--dest",
        metavar="DIR",
        type=Path,
        help="where to put it (default: the folder in the settings)",
    )
    parser.add_argument(
        "--revision", metavar="REV", help="branch, tag or commit (default: the address's, or main)"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object")


def run(args: argparse.Namespace) -> int:
    """Carry out a `hub` command; returns the exit code.

    Raises:
        UserError: It cannot be done.
    """
    actions = {"search": _search, "files": _files, "download": _download}
    with Interrupts() as interrupts:
        proxy = _settings().hub_proxy
        hub = Hub(endpoint=args.endpoint, offline=is_offline(os.environ), proxy=proxy)
        try:
            text = actions[args.action](hub, args, lambda: interrupts.hit)
        except HubError as error:
            if error.code != "stopped":
                raise
            text = None
    if text is None:
        return EXIT_CODE
    print_result(text)
    return 0


# ------------------------------------------------------------------------------------ search, files


def _search(hub: Hub, args: argparse.Namespace, is_stopped: Callable[[], bool]) -> str | None:
    if is_reference(args.query):
        named = parse_reference(args.query)
        models = [hub.repository(named.repo, named.revision, is_stopped).model]
    else:
        query = SearchQuery(args.query, args.sort, args.license, limit=args.limit)
        models = list(hub.search(query, is_stopped))
    if not models:
        remark("Nothing was found. Try fewer words, or without a licence.")
    return as_json([as_object(m) for m in models]) if args.json else models_as_text(models)


def _files(hub: Hub, args: argparse.Namespace, is_stopped: Callable[[], bool]) -> str | None:
    from paceline.catalog.fetching import repository_page
    from paceline.catalog.inspect.inspector import Inspector

    named = named_repo(args.repo)
    with closing(Inspector()) as inspector:
        page = repository_page(hub, inspector, named.repo, named.revision, is_stopped)
    free = psutil.virtual_memory().available
    best = None if page.newer else recommended(page.choices, free)
    rows = [
        choice_as_object(page, each, best, named.revision)
        for each in (*page.choices, *page.sidecars)
    ]
    if not rows:
        remark(f"{page.model.repo} has no models in GGUF format.")
    if page.newer and page.choices:
        remark(f"{page.model.repo} is newer than this llama.cpp: {page.newer}.")
    if not page.has_access:
        remark(f"{page.model.repo} is only for those who asked for it. Ask on {page.url}.")
    return as_json(rows) if args.json else choices_as_text(rows)


def named_repo(text: str) -> HubReference:
    """Return the repository, and perhaps revision and file, that a text names.

    Raises:
        UsageError: It names no repository.
    """
    if is_reference(text):
        try:
            return parse_reference(text)
        except HubError as error:
            raise UsageError(error.code, error.message, error.hint) from None
    if not is_repo(text):
        raise UsageError(
            "bad-repo", f"“{text}” is no repository.", "Write OWNER/NAME as on its page."
        )
    return HubReference(text, "")


def as_object(model: HubModel) -> dict[str, Any]:
    """Return a search's row for JSON; unknown values are null."""
    return {
        "repo": model.repo,
        "downloads": model.downloads,
        "likes": model.likes,
        "modified": model.modified or None,
        "gated": model.gate != "open",
        "license": model.license or None,
        "n_params": model.n_params or None,
        "architecture": model.architecture or None,
        "n_ctx_train": model.n_ctx_train or None,
        "base_model": model.base_model or None,
    }


def choice_as_object(
    page: HubRepository, choice: HubChoice, best: HubChoice | None, revision: str = "main"
) -> dict[str, Any]:
    """Return a model of a repository for JSON, or a sidecar, which is no quantisation of it."""
    sidecar = sidecar_in_path(choice.path)
    return {
        "reference": str(HubReference(page.model.repo, choice.path, revision)),
        "quantisation": (not sidecar and choice.quantisation) or None,
        "sidecar": sidecar and asdict(sidecar),
        "mtp_head": has_head_by_path(f"{page.model.repo}/{choice.path}") or None,
        "size": choice.n_bytes,
        "complete": choice.is_complete,
        "newer": (not sidecar and page.newer) or None,
        "bad_name": not choice.can_be_kept,
        "recommended": choice == best,
        "files": [
            {"path": file.path, "size": file.n_bytes, "sha256": file.sha256 or None}
            for file in choice.files
        ],
    }


def models_as_text(models: Sequence[HubModel]) -> str:
    """Return the rows of a search as a table."""
    if not models:
        return ""
    rows = [("repository", "parameters", "context", "downloads", "likes", "licence")]
    for model in models:
        gated = " (gated)" if model.gate != "open" else ""
        rows.append(
            (
                f"{model.repo}{gated}",
                sizes.weights(model.n_params),
                sizes.tokens(model.n_ctx_train),
                str(model.downloads),
                str(model.likes),
                model.license,
            )
        )
    return in_columns(rows, right=(1, 2, 3, 4))


def choices_as_text(choices: Sequence[dict[str, Any]]) -> str:
    """Return the models of a repository as a table."""
    if not choices:
        return ""
    rows = [("quantisation", "size", "file", "")]
    for choice in choices:
        files = choice["files"]
        parts = f" and {len(files) - 1} more" if len(files) > 1 else ""
        remarks = [
            "recommended here" if choice["recommended"] else "",
            "" if choice["complete"] else "parts are missing",
            "newer than this llama.cpp" if choice["newer"] else "",
            "cannot be downloaded: its name is not used here" if choice["bad_name"] else "",
            Sidecar(**choice["sidecar"]).sentence if choice["sidecar"] else "",
            HEAD_INSIDE if choice["mtp_head"] else "",
        ]
        rows.append(
            (
                choice["quantisation"] or ("" if choice["sidecar"] else "?"),
                readable_size(choice["size"]),
                f"{files[0]['path']}{parts}",
                ", ".join(filter(None, remarks)),
            )
        )
    return in_columns(rows, right=(1,))


# ----------------------------------------------------------------------------------------- download


def _download(hub: Hub, args: argparse.Namespace, is_stopped: Callable[[], bool]) -> str | None:
    """Download, and return the text to print, or None if it was stopped; the partial file is kept.

    Raises:
        UserError: The file cannot be had; what has arrived is kept.
    """
    from paceline.catalog.download.downloads import Downloads
    from paceline.catalog.fetching import download_folder, fetch

    paths = Paths.from_environment()
    named = named_repo(args.repo)
    wanted = HubReference(
        named.repo, args.file or named.path, args.revision or named.revision or "main"
    )
    files = _files_to_fetch(hub, wanted, is_stopped)
    for sidecar in filter(None, map(sidecar_in_path, files[:1])):
        remark(sidecar.sentence)
    ours = Path(_settings().download_folder or paths.models_dir)
    folder = args.dest or download_folder(ours, wanted.repo, files[0])
    request = DownloadRequest(wanted.repo, files, wanted.revision, str(folder))
    downloads = Downloads(hub, paths.data_dir / "downloads")
    with closing(Reporter()) as reporter, closing(downloads), suppress(CancelledError):
        fetch(downloads, request, reporter.show, is_stopped)
    download = next(each for each in downloads.states() if each.id == reporter.shown)
    if download.status != "done":
        remark(_kept(download))
        return None
    said = {"path": download.path, "n_bytes": download.n_total, "sha256": download.files[0].sha256}
    return (json.dumps(said) if args.json else download.path) + "\n"


def _settings() -> Settings:
    """Return the window's settings, which name the proxy and the folder of downloads."""
    return peek_settings(Paths.from_environment().config_dir / SETTINGS_FILE)


def _files_to_fetch(
    hub: Hub, wanted: HubReference, is_stopped: Callable[[], bool]
) -> tuple[str, ...]:
    """Return the paths of all files that a file's name, or a quantisation, stands for.

    Raises:
        UserError: The Hub does not say, parts are missing, or several models are meant.
    """
    from paceline.catalog.hub.listing import choice_for

    repo, file = wanted.repo, wanted.path
    if not file.strip():  # as an unset variable of a script leaves it
        raise UsageError(
            "no-file", "No file was named.", f"`paceline hub files {repo}` lists what it has."
        )
    choices = (page := hub.repository(repo, wanted.revision, is_stopped)).choices
    is_listed = any(file == part.path for choice in choices for part in choice.files)
    if "." in file and not is_listed:
        return (file,)  # a projector, a licence, or nothing; the Hub will say
    choice = choice_for(wanted, page, 0)
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


class Reporter:
    """ProgressLine on stderr: a line that is overwritten, or a few lines in a log.

    Attributes:
        shown: Id of the download that was shown last; empty before that.
    """

    def __init__(self) -> None:
        self.shown = ""
        self._line = ProgressLine()
        self._status = ""
        self._next_s = 0.0

    def show(self, download: Download) -> None:
        """Show the state of a download, at once or as the log's next line."""
        self.shown = download.id
        text = _progress(download)
        if self._line.is_shown:
            self._line.show(text)
            return
        is_new = download.status != self._status and download.status in ("running", "verifying")
        if is_new or time.monotonic() >= self._next_s:
            self._status = download.status
            self._next_s = time.monotonic() + _LINE_EVERY_S
            remark(text)

    def close(self) -> None:
        """Clear the line."""
        self._line.clear()


def _progress(download: Download) -> str:
    name = download.request.files[0].rsplit("/", 1)[-1]
    if not download.n_total:
        return f"{name}: {download.status}"
    n_done, n_total = part_and_whole(download.n_done, download.n_total)
    text = f"{name}: {download.status}, {n_done} of {n_total}"
    if download.bytes_per_s:
        text += f", {readable_size(download.bytes_per_s)}/s"
    if download.seconds_left is not None:
        text += f", {sizes.duration(download.seconds_left)} left"
    return text


def _kept(download: Download) -> str:
    if not download.n_done:
        return "Stopped; nothing has arrived yet."
    return (
        f"Stopped; {readable_size(download.n_done)} are kept in {download.request.folder}. "
        "The same command goes on from there."
    )
