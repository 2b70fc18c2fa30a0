"""The arguments of `paceline hub` and its commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paceline.cli import hub_download
from paceline.cli.usage import whole_number

if TYPE_CHECKING:
    from paceline.cli.usage import Parser

SORTS = ("trending", "downloads", "likes", "recent")


def add_options(parser: Parser) -> None:
    """Add the commands below `hub`."""
    commands = parser.add_subparsers(dest="action", metavar="COMMAND", required=True)

    search = commands.add_parser(
        "search",
        help="find models in GGUF format",
        description="Find repositories on the Hub that have models in GGUF format.",
        epilog="Example: paceline hub search qwen3 --sort downloads --limit 10",
    )
    search.add_argument("query", metavar="QUERY", help="words of the name; empty: everything")
    search.add_argument("--sort", choices=SORTS, default="trending", help="what comes first")
    search.add_argument(
        "--limit", type=whole_number(1, 10_000), default=20, metavar="N", help="rows at most"
    )
    search.add_argument("--license", default="", metavar="L", help="such as apache-2.0")
    search.add_argument("--json", action="store_true", help="a JSON array of objects")

    files = commands.add_parser(
        "files",
        help="list the models of a repository",
        description="List the models of a repository by quantisation, the smallest first.",
        epilog="Example: paceline hub files Qwen/Qwen3-0.6B-GGUF",
    )
    files.add_argument("repo", metavar="REPO", help="OWNER/NAME")
    files.add_argument("--json", action="store_true", help="a JSON array of objects")

    download = commands.add_parser(
        "download",
        help="download a model, or go on with a download",
        description="Download a model, all parts of a split one; the same command goes on where "
        "an earlier one was stopped.",
        epilog="Example: paceline hub download Qwen/Qwen3-0.6B-GGUF Qwen3-0.6B-Q8_0.gguf",
    )
    hub_download.add_options(download)

    for command in (search, files):
        command.add_argument(
            "--endpoint", default="", metavar="URL", help="address of another Hub or a mirror"
        )
