"""`paceline hub`: search the Hub and list what a repository has; `hub_download` fetches it."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import psutil

from paceline.catalog import words
from paceline.catalog.hub.client import Hub, is_offline
from paceline.catalog.hub.errors import HubError
from paceline.catalog.hub.references import is_repo
from paceline.catalog.hub.repository import recommended
from paceline.catalog.hub.values import SearchQuery
from paceline.cli.interrupts import EXIT_CODE, Interrupts
from paceline.cli.output import Results, remark
from paceline.cli.table import in_columns
from paceline.cli.usage import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from paceline.catalog.hub.values import HubChoice, HubModel, HubRepository


def run(args: argparse.Namespace) -> int:
    """Carry out a `hub` command; returns the exit code.

    Raises:
        UserError: It cannot be done.
    """
    if args.action == "download":
        from paceline.cli import hub_download

        return hub_download.run(args)
    with Interrupts() as interrupts:
        hub = Hub(endpoint=args.endpoint, offline=is_offline(os.environ))
        is_searching = args.action == "search"
        try:
            text = (_search if is_searching else _files)(hub, args, lambda: interrupts.hit)
        except HubError as error:
            if error.code == "stopped":
                return EXIT_CODE
            raise
        results = Results()
        results.write(text)
        results.check()
        return 0


def _search(hub: Hub, args: argparse.Namespace, is_stopped: Callable[[], bool]) -> str:
    query = SearchQuery(args.query, args.sort, args.license, limit=args.limit)
    models = list(hub.search(query, is_stopped))
    if not models:
        remark("Nothing was found. Try fewer words, or without a licence.")
    return _as_json([as_object(m) for m in models]) if args.json else models_as_text(models)


def _files(hub: Hub, args: argparse.Namespace, is_stopped: Callable[[], bool]) -> str:
    page = hub.repository(checked_repo(args.repo), is_stopped=is_stopped)
    best = recommended(page.choices, psutil.virtual_memory().available)
    rows = [choice_as_object(page, choice, best) for choice in page.choices]
    if not rows:
        remark(f"{page.model.repo} has no models in GGUF format.")
    if not page.has_access:
        remark(f"{page.model.repo} is only for those who asked for it. Ask on {page.url}.")
    return _as_json(rows) if args.json else choices_as_text(rows)


def checked_repo(text: str) -> str:
    """Return the name of a repository.

    Raises:
        UsageError: It cannot be one.
    """
    if not is_repo(text):
        raise UsageError(
            "bad-repo", f"“{text}” is no repository.", "Write OWNER/NAME as on its page."
        )
    return text


def as_object(model: HubModel) -> dict[str, Any]:
    """Return a search's row for JSON; what is not known is null."""
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
    page: HubRepository, choice: HubChoice, best: HubChoice | None
) -> dict[str, Any]:
    """Return a model of a repository for JSON."""
    return {
        "reference": f"hf:{page.model.repo}:{choice.path}",
        "quantisation": choice.quantisation or None,
        "size": choice.n_bytes,
        "complete": choice.is_complete,
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
                words.weights(model.n_params),
                words.tokens(model.n_ctx_train),
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
        ]
        rows.append(
            (
                choice["quantisation"] or "?",
                words.file_size(choice["size"]),
                f"{files[0]['path']}{parts}",
                ", ".join(filter(None, remarks)),
            )
        )
    return in_columns(rows, right=(1,))


def _as_json(rows: Sequence[dict[str, Any]]) -> str:
    return json.dumps(rows, indent=2, ensure_ascii=False) + "\n"
