"""`paceline models`: the models on this computer, from any program.

``list --json`` prints one array; every object has ``path`` (of a split model the first part),
``name``, ``architecture``, ``n_params``, ``quantisation``, ``n_ctx_train``, ``size`` (bytes of all
parts), ``vocabulary``, ``license``, ``source``, ``problem``, ``sidecar`` and ``mtp_head``; what is
not known is null. A drafter that is no model of its own has ``{"kind", "model"}`` as its sidecar:
``mtp``, ``assistant``, ``eagle`` or ``dflash``, and what it drafts for; models have null.
``mtp_head`` says whether a model has its MTP head inside.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from paceline import sizes
from paceline.catalog.local.library import LibraryEntry
from paceline.catalog.sidecar import HEAD_INSIDE
from paceline.cli.loading import open_models
from paceline.cli.output import (
    EXIT_CODE,
    Interrupts,
    ProgressLine,
    as_json,
    in_columns,
    print_result,
    remark,
)
from paceline.cli.usage import Parser
from paceline.errors import UserError
from paceline.paths import Paths
from paceline.sizes import readable_size

_TITLES = ("name", "parameters", "quantisation", "context", "size", "place", "path")
_RIGHT = tuple(map(_TITLES.index, ("parameters", "context", "size")))
_MAX_PATH_CHARS = 4096
"""Upper bound of a path on Linux, so that nothing is cut; only line breaks are taken out."""


def add(parser: Parser) -> None:
    """Describe the command lines of `paceline models`."""
    parser.description = "Find the models on this computer, whatever program has downloaded them."
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = actions.add_parser(
        "list",
        help="list the models on this computer",
        description="List the models in Paceline's own folder, the cache of Hugging Face, the "
        "folders of LM Studio and Ollama, and the folders that you have added.",
        epilog="Example: paceline models list --folder ~/models",
    )
    listing.add_argument("--json", action="store_true", help="one JSON array")
    listing.add_argument(
        "--folder",
        metavar="DIR",
        type=Path,
        action="append",
        default=[],
        help="look into this folder, too; may be repeated",
    )


def run(args: argparse.Namespace) -> int:
    """Carry out a `models` command; returns the exit code.

    Raises:
        UserError: A folder is not there.
    """
    with Interrupts() as interrupts:
        for folder in args.folder:
            if not folder.is_dir():
                raise UserError(
                    "folder-not-found", f"There is no folder “{folder}”.", "Check the path."
                )
        entries = _find(args.folder, interrupts)
        if interrupts.hit:
            return EXIT_CODE
        entries.sort(key=_order)
        print_result(as_json([*map(_record, entries)]) if args.json else _as_table(entries))
        if not entries:
            remark("No models were found. Name a folder that has some by --folder DIR.")
        return 0


def _find(folders: list[Path], interrupts: Interrupts) -> list[LibraryEntry]:
    n_looked = 0

    def show(entry: LibraryEntry) -> None:
        nonlocal n_looked
        n_looked += bool(entry.card or entry.problem)
        progress.show(f"{n_looked} models looked at, {sizes.one_line(entry.file.name, 40)}")

    own = [folder.absolute() for folder in folders]
    with open_models(Paths.from_environment(), own) as models, ProgressLine() as progress:
        # A file that keeps its reader busy would keep Ctrl+C waiting.
        interrupts.when_hit(models.close)
        return list(models.library.refresh(show, lambda: interrupts.hit))


def _order(entry: LibraryEntry) -> tuple[str, str]:
    return entry.file.name.casefold(), str(entry.file.path)


def _record(entry: LibraryEntry) -> dict[str, Any]:
    file, card = entry.file, entry.card
    return {
        "path": str(file.path),
        "name": file.name,
        "architecture": (card and card.architecture) or None,
        "n_params": (card and card.n_params) or None,
        "quantisation": (card and card.quantisation) or None,
        "n_ctx_train": (card and card.n_ctx_train) or None,
        "size": file.n_bytes,
        "vocabulary": (card and card.vocabulary) or None,
        "license": (card and card.license) or None,
        "source": file.source,
        "problem": entry.problem or None,
        "sidecar": entry.sidecar and asdict(entry.sidecar),
        "mtp_head": entry.card and entry.card.n_heads > 0,
    }


def _as_table(entries: list[LibraryEntry]) -> str:
    if not entries:
        return ""
    title, *rows = in_columns([_TITLES, *map(_row, entries)], _RIGHT).splitlines()
    lines = [title]
    for row, entry in zip(rows, entries, strict=True):
        lines.append(row)
        head = f"{HEAD_INSIDE}." if entry.card and entry.card.n_heads else ""
        lines += [
            f"    {sizes.one_line(text, _MAX_PATH_CHARS)}" for text in (entry.problem, head) if text
        ]
    return "\n".join(lines) + "\n"


def _row(entry: LibraryEntry) -> tuple[str, ...]:
    file, card = entry.file, entry.card
    return (
        sizes.one_line(file.name, _MAX_PATH_CHARS),
        sizes.weights(card.n_params) if card else "",
        card.quantisation if card else "",
        sizes.tokens(card.n_ctx_train) if card else "",
        readable_size(file.n_bytes),
        file.source,
        sizes.one_line(str(file.path), _MAX_PATH_CHARS),
    )
