"""The options of `paceline chat`: prompt, reply, output; and the request made of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from paceline.cli import model_options, prompt_files, sampling_options
from paceline.cli.usage import NotBuiltYet, Parser, UsageError, plain_text, whole_number
from paceline.errors import UserError
from paceline.messages import ChatMessage, LoadPair, StartTurn

if TYPE_CHECKING:
    import argparse

    from paceline.cli.model_options import Pair
    from paceline.paths import Paths

LOAD_ID = "load"
TURN_ID = "turn"
LOOKUP_CACHE_USER = "ngram-cache"
"""The drafter that reads the file of --lookup-cache."""
STRATEGY_IDS = (
    "off",
    "auto",
    "draft",
    "prompt-lookup",
    "ngram-simple",
    "ngram-map-k",
    "ngram-map-k4v",
    "ngram-mod",
    "ngram-cache",
    "suffix",
)
"""For the help alone, which loads no drafter; a test compares them with the registry."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What to load, what to generate, and what to tell about options without an effect.

    `last_run_dir` is where the reply's figures are kept; None keeps nothing.
    """

    load: LoadPair
    turn: StartTurn
    notes: tuple[str, ...] = ()
    last_run_dir: Path | None = None


def add_options(parser: Parser) -> None:
    """Add every option of `paceline chat`."""
    _add_prompt(parser)
    _add_reply(parser)
    model_options.add_options(parser)
    output = parser.add_argument_group("output")
    output.add_argument(
        "--json",
        action="store_true",
        help="one JSON object per line: every decoding step, then the finished reply",
    )
    model_options.add_host(output)
    _add_later(parser)


def _add_prompt(parser: Parser) -> None:
    prompt = parser.add_argument_group("prompt (one of the first three)")
    prompt.add_argument("--prompt", metavar="TEXT", type=plain_text, help="what you say")
    prompt.add_argument(
        "--messages",
        metavar="FILE.json",
        type=Path,
        help='a conversation: [{"role": "user", "content": "…"}, …], the last from the user',
    )
    prompt.add_argument(
        "--prompt-tokens",
        metavar="FILE.json",
        type=Path,
        help="token ids, taken as they are: [1, 2, …]",
    )
    prompt.add_argument(
        "--raw", action="store_true", help="continue the text of --prompt, without a chat template"
    )
    prompt.add_argument(
        "--system", metavar="TEXT", type=plain_text, help="system message (default: none)"
    )


def _add_reply(parser: Parser) -> None:
    group = parser.add_argument_group("reply")
    group.add_argument(
        "--strategy",
        metavar="ID[+ID…][:KEY=VALUE]…",
        default="auto",
        help=f"how to speculate: {', '.join(STRATEGY_IDS)}, plugin.NAME, or several of them, "
        "e.g. draft:n_max=4 or suffix+draft:draft.n_max=4; off decodes plainly, auto does in each "
        "step what pays; a length can be auto as well, e.g. draft:n_max=auto "
        "(default: %(default)s)",
    )
    group.add_argument(
        "--lookup-cache",
        metavar="FILE",
        type=Path,
        help=f"llama.cpp's lookup-cache file for the strategy {LOOKUP_CACHE_USER}",
    )
    group.add_argument(
        "--exact",
        action="store_true",
        help="the same reply with any strategy and whatever was in the context before, also where "
        "this costs time; it says what it costs",
    )
    group.add_argument(
        "--remember",
        action="store_true",
        help="let lookups learn from this chat for later ones, and keep its figures for `paceline "
        "doctor --last` (default: nothing is stored)",
    )
    group.add_argument(
        "--max-tokens",
        metavar="N",
        type=whole_number(1),
        default=1024,
        help="tokens to generate at most (default: %(default)s)",
    )
    group.add_argument(
        "--seed",
        metavar="N",
        type=whole_number(0, 2**63 - 1),
        help="same seed, same reply (default: drawn and reported)",
    )
    sampling_options.add_options(group)
    group.add_argument(
        "--stop",
        metavar="TEXT",
        type=plain_text,
        action="append",
        default=[],
        help="end the reply before this text; can be given several times",
    )
    group.add_argument(
        "--ignore-eog", action="store_true", help="never let the model end its reply itself"
    )


def _add_later(parser: Parser) -> None:
    parser.add_argument(
        "--spec-replace",
        action=NotBuiltYet,
        nargs=2,
        instead="Use a draft model with the target's tokenizer.",
    )


def read_request(args: argparse.Namespace, folders: Paths) -> ChatRequest:
    """Return what the options ask for; reads the prompt's file.

    Raises:
        UsageError: Options that do not go together, or a file with the wrong content.
        ValueOutOfRangeError: A strategy or a sampling value that does not exist.
        UserError: A file that cannot be read.
    """
    _check_prompt(args)
    pair = model_options.read_pair(args)
    strategy, pair = _settle_strategy(args, pair)
    sampling = sampling_options.read_sampling(args)
    return ChatRequest(
        load=LoadPair(
            LOAD_ID,
            pair.target,
            pair.draft,
            cache_dir=str(folders.cache_dir),
            memory_dir=str(folders.data_dir / "drafts") if args.remember else "",
            lookup_cache=_lookup_cache(args),
            exact=args.exact,
            kernels=pair.kernels,
        ),
        turn=StartTurn(
            turn_id=TURN_ID,
            messages=_messages(args),
            prompt=args.prompt if args.raw else None,
            prompt_tokens=(
                prompt_files.read_tokens(args.prompt_tokens) if args.prompt_tokens else None
            ),
            sampling=sampling,
            strategy=strategy,
            max_tokens=args.max_tokens,
            seed=args.seed,
            stop=tuple(args.stop),
            ignore_eog=args.ignore_eog,
            remember=args.remember,
        ),
        notes=pair.notes,
        last_run_dir=folders.data_dir if args.remember else None,
    )


def _settle_strategy(args: argparse.Namespace, pair: Pair) -> tuple[str, Pair]:
    """Return the strategy, and the pair without a draft model that nobody asked for."""
    from paceline.engine.drafters.strategy import parse_strategy

    strategy = args.strategy
    parsed = parse_strategy(strategy)
    if parsed.needs_draft_model and pair.draft is None:
        raise UsageError(
            "no-draft-model",
            f"The strategy {strategy} needs a draft model.",
            "Give one by --draft FILE, or use --strategy off.",
        )
    if not parsed.uses_draft_model and args.draft is None:
        pair = replace(pair, draft=None)
    users = [info.id for info, _ in parsed.members(has_grammar=False)]
    if args.lookup_cache and LOOKUP_CACHE_USER not in users:
        note = f"--lookup-cache has no effect without the strategy {LOOKUP_CACHE_USER}."
        pair = replace(pair, notes=(*pair.notes, note))
    return strategy, pair


def _lookup_cache(args: argparse.Namespace) -> str:
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


def _check_prompt(args: argparse.Namespace) -> None:
    sources = {
        "--prompt": args.prompt,
        "--messages": args.messages,
        "--prompt-tokens": args.prompt_tokens,
    }
    given = [option for option, value in sources.items() if value is not None]
    if len(given) != 1:
        what = f"{' and '.join(given)} are given." if given else "There is no prompt."
        raise UsageError("usage", what, f"Give one of {', '.join(sources)}.")
    if args.raw and args.messages:
        raise UsageError(
            "usage", "--raw and --messages are given.", "Use --raw with --prompt, or leave it out."
        )
    if args.system is not None and (args.raw or args.prompt_tokens):
        other = "--raw" if args.raw else "--prompt-tokens"
        raise UsageError(
            "usage",
            f"--system and {other} are given, but only a chat template has a system message.",
            f"Leave one of them out, or write the text for {other} in full.",
        )


def _messages(args: argparse.Namespace) -> tuple[ChatMessage, ...]:
    if args.messages:
        messages = prompt_files.read_messages(args.messages)
    elif args.prompt is not None and not args.raw:
        messages = (ChatMessage("user", args.prompt),)
    else:
        return ()
    if args.system is None:
        return messages
    if any(message.role == "system" for message in messages):
        raise UsageError(
            "usage",
            f"--system is given, and {args.messages} has a system message too.",
            "Leave one of them out.",
        )
    return (ChatMessage("system", args.system), *messages)
