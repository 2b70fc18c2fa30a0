"""The options of `paceline chat`: prompt, sampling, output; and the request made of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from paceline.cli import model_options, prompt_files
from paceline.cli.usage import NotBuiltYet, Parser, UsageError, number, plain_text, whole_number
from paceline.messages import ChatMessage, LoadPair, SamplingParams, StartTurn

if TYPE_CHECKING:
    import argparse

    from paceline.cli.model_options import Pair
    from paceline.paths import Paths

LOAD_ID = "load"
TURN_ID = "turn"
_DEFAULTS = SamplingParams()


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What to load, what to generate, and what to tell about options without an effect."""

    load: LoadPair
    turn: StartTurn
    notes: tuple[str, ...] = ()


def add_options(parser: Parser) -> None:
    """Add every option of `paceline chat`."""
    _add_prompt(parser)
    _add_sampling(parser)
    model_options.add_options(parser)
    output = parser.add_argument_group("output")
    output.add_argument(
        "--json",
        action="store_true",
        help="one JSON object per line: every decoding step, then the finished reply",
    )
    output.add_argument(
        "--host",
        choices=("inline", "process"),
        default="inline",
        help="where the engine runs (default and so far the only choice: inline)",
    )
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


def _add_sampling(parser: Parser) -> None:
    group = parser.add_argument_group("reply")
    group.add_argument(
        "--strategy",
        metavar="ID[:KEY=VALUE]…",
        help="how to speculate, e.g. draft:n_max=4; off decodes plainly "
        "(default: draft, or off without a draft model)",
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
    for option, convert, default, effect in (
        ("--temperature", number, _DEFAULTS.temperature, "0 always takes the likeliest token"),
        ("--top-k", whole_number(0), _DEFAULTS.top_k, "draw from the k likeliest tokens; 0: off"),
        ("--top-p", number, _DEFAULTS.top_p, "draw from the likeliest share of this size; 1: off"),
        ("--min-p", number, _DEFAULTS.min_p, "leave out what is rarer than this times the best"),
    ):
        group.add_argument(
            option,
            metavar="N" if option == "--top-k" else "X",
            type=convert,
            default=default,
            help=f"{effect} (default: %(default)s)",
        )
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
    cut_tail = "Use --top-k, --top-p or --min-p."
    ask = "Ask for the form in the prompt, and end the reply with --stop TEXT."
    for option, n_args, instead in (
        ("--exact", 0, "Use --threads 1 with --threads-batch 1, and look at batch_invariant."),
        ("--repeat-penalty", None, cut_tail),
        ("--presence-penalty", None, cut_tail),
        ("--frequency-penalty", None, cut_tail),
        ("--logit-bias", None, cut_tail),
        ("--grammar", None, ask),
        ("--json-schema", None, ask),
        ("--spec-replace", 2, "Use a draft model with the target's tokenizer."),
        ("--remember", 0, "Leave it out: nothing is stored."),
    ):
        parser.add_argument(option, action=NotBuiltYet, nargs=n_args, instead=instead)


def read_request(args: argparse.Namespace, folders: Paths) -> ChatRequest:
    """Return what the options ask for; reads the prompt's file.

    Raises:
        UsageError: Options that do not go together, or a prompt that is not one.
        ValueOutOfRangeError: A strategy or a sampling value that does not exist.
        UserError: A file that cannot be read.
    """
    if args.host == "process":
        raise UsageError(
            "not-built-yet",
            "--host process is not built yet.",
            "Use --host inline, which is the default.",
        )
    from paceline.engine.sampling import check_sampling  # loads NumPy, which --help can do without

    _check_prompt(args)
    pair = model_options.read_pair(args)
    strategy, pair = _settle_strategy(args, pair)
    sampling = SamplingParams(args.temperature, args.top_k, args.top_p, args.min_p)
    check_sampling(sampling)
    return ChatRequest(
        load=LoadPair(LOAD_ID, pair.target, pair.draft, cache_dir=str(folders.cache_dir)),
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
        ),
        notes=pair.notes,
    )


def _settle_strategy(args: argparse.Namespace, pair: Pair) -> tuple[str, Pair]:
    """Return the strategy, and the pair without a draft model that nobody asked for."""
    from paceline.engine.drafters.registry import parse_strategy

    strategy = pair.default_strategy if args.strategy is None else args.strategy
    drafts_with_model = parse_strategy(strategy).info.family == "model"
    if drafts_with_model and pair.draft is None:
        raise UsageError(
            "no-draft-model",
            f"The strategy {strategy} needs a draft model.",
            "Give one by --draft FILE, or use --strategy off.",
        )
    if not drafts_with_model and args.draft is None:
        pair = replace(pair, draft=None)
    return strategy, pair


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
