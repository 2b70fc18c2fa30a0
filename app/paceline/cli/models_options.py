"""The options of `paceline models`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paceline.cli.usage import Parser


def add_options(parser: Parser) -> None:
    """Add the actions and their options."""
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
