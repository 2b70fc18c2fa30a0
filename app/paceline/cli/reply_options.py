"""Options that `paceline chat` and `paceline serve` share: for drafts, and for making prompts.

A file that cannot be read is a failure (exit code 1), one with the wrong content is wrong usage
(exit code 2).
"""

from __future__ import annotations

import argparse
from pathlib import Path

from paceline.cli import model_options
from paceline.cli.loading import head_finder
from paceline.cli.usage import Parser, UsageError, plain_text
from paceline.errors import UserError
from paceline.files import open_ordinary
from paceline.messages import Drafting, DraftModel, LoadPair, Prompting, Translating
from paceline.paths import Paths

LOOKUP_CACHE_USER = "ngram-cache"
"""The drafter that reads the file of --lookup-cache."""
EARLIER_USER = "earlier"
"""The drafter that copies an earlier reply."""
TEMPLATES = ("chatml", "gemma", "llama3", "phi", "mistral", "plain", "continue")
THINKING = ("off", "on", "low", "medium", "high", "max")
"""Used in the help only, which loads no template; a test compares it with the templates'
switches."""
MAX_GRAMMAR_BYTES = 256_000
"""Upper bound of a grammar's file; grammars that people write are smaller."""


def add_prompting(group: argparse._ArgumentGroup) -> None:
    """Add the options that say how a conversation becomes a prompt."""
    group.add_argument(
        "--template",
        metavar="NAME|FILE",
        type=plain_text,
        help="chat template in place of the model's own: a file in Jinja, or "
        f"{', '.join(TEMPLATES)} (plain writes “User:” and “Assistant:”, continue only what was "
        "said)",
    )
    group.add_argument(
        "--think",
        choices=THINKING,
        default="",
        help="how much the model reasons before it answers, where its template has a switch for "
        "that; a choice that it does not have is refused with those that it has",
    )


class _KnownStrategies:
    """The ids of the drafters, resolved when the help is shown, since that imports all drafters."""

    def __str__(self) -> str:
        from paceline.engine.draft.registry import built_in

        return ", ".join(info.id for info in built_in())


def add_strategy(group: argparse._ArgumentGroup) -> None:
    """Add the options for the drafting strategy."""
    strategy = group.add_argument(
        "--strategy",
        metavar="ID[+ID…][:KEY=VALUE]…",
        default="auto",
        help="how to speculate: %(known)s, plugin.NAME, or several of them, e.g. draft:n_max=4 or "
        "suffix+draft:draft.n_max=4; off decodes plainly, auto does in each step what pays; a "
        "length can be auto as well, e.g. draft:n_max=auto (default: %(default)s)",
    )
    vars(strategy)["known"] = _KnownStrategies()
    group.add_argument(
        "--lookup-cache",
        metavar="FILE",
        type=Path,
        help=f"llama.cpp's lookup-cache file for the strategies {LOOKUP_CACHE_USER} and auto",
    )


def add_exact(group: argparse._ArgumentGroup) -> None:
    """Add the option of exact mode."""
    group.add_argument(
        "--exact",
        action="store_true",
        help="the same reply with any strategy and whatever was in the context before, also where "
        "this costs time, which it says (with own kernels it costs nothing)",
    )


def add_translation(parser: Parser) -> None:
    """Add the options for a draft model with another vocabulary."""
    group = parser.add_argument_group("draft model with another tokenizer")
    group.add_argument(
        "--spec-replace",
        metavar=("A", "B"),
        nargs=2,
        type=plain_text,
        action="append",
        default=[],
        help="where the target writes A, let the draft model read B, and take its token B for A; "
        "can be given several times",
    )
    group.add_argument(
        "--spec-bridge",
        action="store_true",
        help="where the target has no token for what the draft model writes, draft the beginning "
        "of that text",
    )


# ------------------------------------------------------------------------------------------ reading


def translating(args: argparse.Namespace, drafting: Drafting) -> Drafting:
    """Return a draft model with the options for another vocabulary."""
    if not isinstance(drafting, DraftModel):
        return drafting
    replacing = tuple((ours, theirs) for ours, theirs in args.spec_replace)
    return DraftModel(drafting.params, Translating(replacing, args.spec_bridge))


def read_prompting(args: argparse.Namespace) -> Prompting:
    """Return how conversations become prompts.

    Raises:
        UsageError: The template's file has the wrong content.
        UserError: It cannot be read.
    """
    template: str | None = args.template
    if template is None:
        return Prompting(think=args.think)
    from paceline.engine.prompt.formats import FORMATS

    sources = {known.name: known.source for known in FORMATS}
    source = sources.get(template) or read_form("--template", Path(template))
    return Prompting(source, args.think)


def settle_strategy(
    args: argparse.Namespace,
    load: LoadPair,
    paths: Paths,
    *,
    in_process: bool,
    earlier: Path | None = None,
) -> tuple[LoadPair, tuple[str, ...]]:
    """Check the strategy; return the load without a drafter that is not needed, and notes.

    Args:
        args: The options.
        load: From `model_options.read_pair`.
        paths: The program's folders.
        in_process: Whether headers are read in a process of its own, as the engine runs in one.
        earlier: The file of an earlier reply, or None if there is none.

    Raises:
        UsageError: The strategy needs a drafter that is not there.
        ValueOutOfRangeError: There is no such strategy.
    """
    from paceline.engine.draft.strategy import parse_strategy

    has_head = head_finder(load, paths, in_process=in_process)
    load = model_options.settle(load, args, [args.strategy], has_head)
    parsed = parse_strategy(args.strategy)
    members = parsed.members(has_grammar=False, has_earlier=True, has_cache=True)
    users = [info.id for info, _ in members]
    given = (("--lookup-cache", args.lookup_cache, LOOKUP_CACHE_USER),
             ("--earlier", earlier, EARLIER_USER))  # fmt: skip
    notes = (
        f"{option} has no effect without the strategy {user}."
        for option, value, user in given
        if value and user not in users
    )
    return load, tuple(notes)


def read_lookup_cache(args: argparse.Namespace) -> str:
    """Return the path of the lookup cache, or empty if none is given.

    Raises:
        UserError: There is no such file.
    """
    path: Path | None = args.lookup_cache
    if path is None:
        return ""
    if not path.is_file():
        raise UserError(
            "file-not-found",
            f"There is no file {path}.",
            "Give --lookup-cache a file that `paceline cache build` or llama-lookup-create wrote.",
        )
    return str(path.absolute())


def read_file(path: Path, most: int, hint: str) -> bytes:
    """Return a file's content.

    Raises:
        UsageError: It is larger than `most` bytes.
        UserError: It cannot be read.
    """
    try:
        with open_ordinary(path) as file:
            raw = file.read(most + 1)
    except OSError as error:
        raise UserError(
            "file-unreadable", f"{path} cannot be read ({error.strerror}).", hint
        ) from error
    if len(raw) > most:
        raise UsageError("usage", f"{path} is larger than {most // 1000} kB.", hint)
    return raw


def read_form(option: str, path: Path) -> str:
    """Return the text of a file that an option names.

    Raises:
        UsageError: It is empty, too large or no text.
        UserError: It cannot be read.
    """
    raw = read_file(path, MAX_GRAMMAR_BYTES, f"Give {option} a short text file.")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(
            "usage",
            f"{path} is not UTF-8 text (byte {error.start + 1} is wrong).",
            "Save it as UTF-8.",
        ) from None
    if not text.strip():
        raise UsageError("usage", f"{path} is empty.", f"Leave {option} out, or write it.")
    return text
