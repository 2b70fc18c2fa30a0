"""The arguments of `paceline cache` and its commands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paceline.cli.usage import Parser

_MODEL = "GGUF file whose vocabulary counts"


def add_options(parser: Parser) -> None:
    """Add the commands below `cache`."""
    commands = parser.add_subparsers(dest="action", metavar="COMMAND", required=True)

    build = commands.add_parser(
        "build",
        help="count what follows pairs of tokens in text files",
        description="Count what follows pairs of tokens in text files, for the strategy "
        "ngram-cache.",
        epilog="Example: paceline cache build notes/*.txt --model model.gguf --out notes.bin",
    )
    build.add_argument("corpus", metavar="CORPUS", nargs="+", type=Path, help="text file (UTF-8)")
    build.add_argument("--model", metavar="FILE", required=True, help=_MODEL)
    build.add_argument("--out", metavar="FILE", required=True, type=Path, help="file to write")

    merge = commands.add_parser(
        "merge",
        help="add up several lookup caches",
        description="Add up the counts of several lookup caches of one vocabulary.",
    )
    merge.add_argument("files", metavar="FILE", nargs="+", type=Path, help="lookup cache")
    merge.add_argument("--out", metavar="FILE", required=True, type=Path, help="file to write")

    stats = commands.add_parser(
        "stats",
        help="show what a lookup cache holds, and how well it foretells a text",
        description="Show what a lookup cache holds. With text files and a model's vocabulary, "
        "foretell the texts with it, without running the model.",
    )
    stats.add_argument("file", metavar="FILE", type=Path, help="lookup cache")
    stats.add_argument("texts", metavar="TEXT", nargs="*", type=Path, help="text file (UTF-8)")
    stats.add_argument("--model", metavar="FILE", help=_MODEL)
    stats.add_argument("--json", action="store_true", help="one JSON object")

    clear = commands.add_parser(
        "clear",
        help="delete what drafters have learned from chats",
        description="Delete what the drafters have learned from chats, of all models.",
    )
    clear.add_argument("--json", action="store_true", help="one JSON object")
