"""The arguments of `paceline pairs` and its commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paceline.cli.model_options import add_hardware

if TYPE_CHECKING:
    from paceline.cli.usage import Parser

_MODEL = "GGUF file, or hf:OWNER/REPO:FILE, of which only the header is fetched"


def add_options(parser: Parser) -> None:
    """Add the commands below `pairs`."""
    commands = parser.add_subparsers(dest="action", metavar="COMMAND", required=True)

    check = commands.add_parser(
        "check",
        help="say whether a draft model goes with a target, and what both take",
        description="Say whether a draft model can draft for a target, why, what to take instead, "
        "and how much memory both take. No weights are read or downloaded.",
        epilog="Example: paceline pairs check big.gguf hf:Qwen/Qwen3-0.6B-GGUF:Q8_0 --ctx 8192",
    )
    check.add_argument("target", metavar="TARGET", help=_MODEL)
    check.add_argument("draft", metavar="DRAFT", help="the same for the draft model")
    check.add_argument("--json", action="store_true", help="one JSON object")
    add_hardware(check.add_argument_group("how they would be loaded"))

    listing = commands.add_parser(
        "list",
        help="show pairs that were reported to work, with the reports",
        description="Show pairs of models that were reported to work, where that was, and which "
        "of them are on this computer. The gains are what the reports say.",
    )
    listing.add_argument("--json", action="store_true", help="one JSON array")
