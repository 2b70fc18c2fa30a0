"""`paceline chat`: its options, the request made of them, and the command.

Ranges of values are checked by the engine; here only whether a value can be read. A file that
cannot be read is a failure (exit code 1), one with the wrong content is wrong usage (exit code 2).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from msgspec import structs

from paceline.chat.prompt import (
    PromptDataError,
    read_conversation,
    read_earlier,
    read_token_ids,
)
from paceline.cli import model_options
from paceline.cli.chat_run import STATES_OWNER, ChatRun, RequestedChat
from paceline.cli.loading import engine_client, planner, with_local_files
from paceline.cli.output import Interrupts
from paceline.cli.parameter_options import add_parameters, given
from paceline.cli.reply_options import (
    EARLIER_USER,
    add_exact,
    add_prompting,
    add_strategy,
    add_translation,
    read_file,
    read_form,
    read_lookup_cache,
    read_prompting,
    settle_strategy,
    translating,
)
from paceline.cli.usage import Parser, UsageError, plain_text
from paceline.messages import (
    Chat,
    ChatMessage,
    Prompt,
    RawText,
    SamplingParams,
    StartTurn,
    StateOwner,
    Tokens,
)
from paceline.parameters import parameters_of
from paceline.params import ReplySettings
from paceline.paths import Paths

MAX_PROMPT_BYTES = 64_000_000
"""Upper bound of a prompt's file; more than any context holds."""
_SAMPLING = tuple(parameters_of(SamplingParams).values())
_REPLY = tuple(parameters_of(ReplySettings).values())
_T = TypeVar("_T")


def run(args: argparse.Namespace) -> int:
    """Carry out the command; returns the exit code.

    Raises:
        UserError: It cannot be done; says why.
    """
    with Interrupts() as interrupts:
        paths = Paths.from_environment()
        request = read_request(args, paths)
        in_process = model_options.runs_in_process(args)
        load = with_local_files(request.load, paths, lambda: interrupts.hit, in_process=in_process)
        request = replace(request, load=load)
        client = engine_client(in_process=in_process)
        run = ChatRun(client, request, interrupts, as_json=args.json, plan=planner(paths))
        return run.run()


# ------------------------------------------------------------------------------------------ options


def add(parser: Parser) -> None:
    """Describe the command line of `paceline chat`."""
    parser.description = "Generate one reply and print it as it grows."
    parser.epilog = 'Example: paceline chat --prompt "What is a list?" --strategy draft:n_max=4'
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
    add_translation(parser)


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
    add_prompting(prompt)


def _add_reply(parser: Parser) -> None:
    group = parser.add_argument_group("reply")
    add_strategy(group)
    group.add_argument(
        "--earlier",
        metavar="FILE.json",
        type=Path,
        help=f"the reply that is replaced, as a draft for the strategies {EARLIER_USER} and auto: "
        '{"tokens": [1, 2, …]}, {"text": "…"}, or the last line of --json; with its seed, the new '
        "reply keeps what need not change",
    )
    add_exact(group)
    group.add_argument(
        "--remember",
        action="store_true",
        help="keep this chat's text, so that the lookup suffix, which auto uses, finds drafts in "
        "it in later chats with --remember, and its figures for `paceline doctor --last` (default: "
        "nothing is stored)",
    )
    model_options.add_state_cache(
        group, f"with --remember {model_options.USUAL_STATES}, otherwise off"
    )
    add_parameters(group, _REPLY)
    _add_sampling(group)
    group.add_argument(
        "--ignore-eog", action="store_true", help="never let the model end its reply itself"
    )


def _add_sampling(group: argparse._ArgumentGroup) -> None:
    """Add the options of the distribution that tokens are drawn from."""
    add_parameters(group, _SAMPLING)
    group.add_argument(
        "--grammar",
        metavar="FILE",
        type=Path,
        help="grammar in llama.cpp's notation (GBNF) that the reply must follow",
    )
    group.add_argument(
        "--json-schema", metavar="FILE", type=Path, help="JSON schema that the reply must follow"
    )


# ------------------------------------------------------------------------------------------ request


def read_request(args: argparse.Namespace, folders: Paths) -> RequestedChat:
    """Return the request that the options make; reads the prompt's file.

    Raises:
        UsageError: Options that do not go together, or a file with the wrong content.
        ValueOutOfRangeError: A strategy or a sampling value that does not exist.
        UserError: A file that cannot be read.
    """
    from paceline.engine.draft.strategy import read_strategy

    _check_prompt(args)
    _check_state_cache(args)
    load, notes = model_options.read_pair(args, folders)
    load, more = settle_strategy(
        args,
        load,
        folders,
        in_process=model_options.runs_in_process(args),
        earlier=args.earlier,
    )
    sampling = _read_sampling(args)
    earlier = _read_json(args.earlier, "an earlier reply", read_earlier)
    return RequestedChat(
        load=structs.replace(
            load,
            lookup_cache=read_lookup_cache(args),
            exact=args.exact,
            drafting=translating(args, load.drafting),
            states=model_options.read_states(args, folders, is_on=args.remember),
        ),
        turn=StartTurn(
            prompt=_read_prompt(args),
            sampling=sampling,
            strategy=read_strategy(args.strategy),
            **given(args, _REPLY),
            ignore_eog=args.ignore_eog,
            remember=args.remember,
            earlier=() if earlier is None else (earlier,),
            owner=StateOwner(STATES_OWNER),
        ),
        strategy=args.strategy,
        notes=(*notes, *more),
        kept_dir=folders.data_dir if args.remember else None,
    )


def _check_state_cache(args: argparse.Namespace) -> None:
    if isinstance(args.state_cache, int) and not args.remember:
        raise UsageError(
            "usage",
            "--state-cache is given without --remember, but nothing is stored without it.",
            "Give both, or leave --state-cache out.",
        )


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
    if not (args.raw or args.prompt_tokens):
        return
    other = "--raw" if args.raw else "--prompt-tokens"
    if args.system is not None:
        raise UsageError(
            "usage",
            f"--system and {other} are given, but only a chat template has a system message.",
            f"Leave one of them out, or write the text for {other} in full.",
        )
    if args.template or args.think:
        option = "--template" if args.template else "--think"
        raise UsageError(
            "usage",
            f"{option} and {other} are given, but {other} uses no chat template.",
            "Leave one of them out.",
        )


def _read_prompt(args: argparse.Namespace) -> Prompt:
    ids = _read_json(args.prompt_tokens, "a list of token ids", read_token_ids)
    if ids is not None:
        return Tokens(ids)
    if args.raw:
        return RawText(args.prompt)
    messages = _read_json(args.messages, "a list of messages", read_conversation)
    if messages is None:
        messages = (ChatMessage.of_text("user", args.prompt),)
    return Chat(_with_system(args, messages), read_prompting(args))


def _with_system(
    args: argparse.Namespace, messages: tuple[ChatMessage, ...]
) -> tuple[ChatMessage, ...]:
    if args.system is None:
        return messages
    if any(message.role == "system" for message in messages):
        raise UsageError(
            "usage",
            f"--system is given, and {args.messages} has a system message too.",
            "Leave one of them out.",
        )
    return (ChatMessage.of_text("system", args.system), *messages)


def _read_sampling(args: argparse.Namespace) -> SamplingParams:
    """Return the sampling parameters; reads the grammar's file.

    Raises:
        UsageError: Options that do not go together, or a file with the wrong content.
        ValueOutOfRangeError: A value outside its range.
        UserError: A file that cannot be read.
    """
    # It loads NumPy, which --help and wrong usage do not need.
    from paceline.engine.sample.sampling import check_sampling

    if args.grammar and args.json_schema:
        raise UsageError("usage", "--grammar and --json-schema are given.", "Give one of them.")
    form = "--grammar" if args.grammar else "--json-schema" if args.json_schema else ""
    if form and args.ignore_eog:
        raise UsageError(
            "usage",
            f"{form} and --ignore-eog are given, but a reply that follows a form ends with it.",
            "Leave one of them out.",
        )
    params = SamplingParams(
        **given(args, _SAMPLING),
        grammar=read_form("--grammar", args.grammar) if args.grammar else "",
        json_schema=read_form("--json-schema", args.json_schema) if args.json_schema else "",
    )
    check_sampling(params)
    return params


# -------------------------------------------------------------------------------------------- files


def _read_json(path: Path | None, what: str, check: Callable[[object, str], _T]) -> _T | None:
    """Return the checked content of a JSON file, or None if no file is given.

    Raises:
        UsageError: It has the wrong content.
        UserError: It cannot be read.
    """
    if path is None:
        return None
    raw = read_file(path, MAX_PROMPT_BYTES, f"Give a JSON file with {what}.")
    try:
        data = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise UsageError("usage", f"{path} is not JSON ({error}).") from error
    try:
        return check(data, f"in {path}")
    except PromptDataError as error:
        raise UsageError("usage", error.message, error.hint) from None
