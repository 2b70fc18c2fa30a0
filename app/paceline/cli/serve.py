"""`paceline serve`: other programs ask the engine over HTTP.

Ready is one line on stdout, with --json ``{"event": "listening", "url", "model"}``. SIGTERM ends
the server after the reply under way, a second one at once, both with exit code 0; Ctrl+C stops the
reply and ends with 130.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from paceline.cli import model_options
from paceline.cli.chat_run import json_line
from paceline.cli.loading import (
    decide_layers,
    engine_client,
    load_pair,
    notes_of,
    open_models,
    planner,
    with_local_files,
)
from paceline.cli.output import EXIT_CODE, Interrupts, Results, remark
from paceline.cli.parameter_options import add_parameters, given
from paceline.cli.reply_options import (
    add_exact,
    add_prompting,
    add_strategy,
    add_translation,
    read_file,
    read_lookup_cache,
    read_prompting,
    settle_strategy,
    translating,
)
from paceline.cli.usage import Parser, UsageError, whole_number
from paceline.engine.model.rpc_servers import is_loopback
from paceline.messages import SamplingParams
from paceline.parameters import Option, parameters_of
from paceline.params import ReplySettings
from paceline.paths import Paths
from paceline.settings import SERVER_PORT, SERVER_QUEUE, can_be_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paceline.messages import LoadPair
    from paceline.server.asking import Desk
    from paceline.server.endpoint import Endpoint
    from paceline.server.served import Defaults
    from paceline.server.served import ServedModels as Answering

KEY_VARIABLE = "PACELINE_API_KEY"
_MAX_KEY_BYTES = 4_096
_POLL_S = 0.2
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^\sA-Z/?#@*,]+")
_SAMPLING = tuple(parameters_of(SamplingParams).values())
_REPLY = tuple(
    replace(each, option=Option(help="tokens to generate at most (default: to the context's end)"))
    if each.name == "max_tokens"
    else each
    for each in parameters_of(ReplySettings).values()
    if each.name != "system_prompt"
)


def add(parser: Parser) -> None:
    """Describe the command line of `paceline serve`."""
    parser.description = (
        "Let other programs on this computer use the models, over HTTP, in the forms of OpenAI's, "
        "Anthropic's and llama.cpp's APIs. Each request drafts as the strategy says."
    )
    parser.epilog = "Example: paceline serve --target model.gguf --port 8642"
    _add_server(parser)
    reply = parser.add_argument_group("replies (where a request says nothing)")
    add_strategy(reply)
    add_exact(reply)
    add_parameters(reply, _REPLY)
    add_parameters(reply, _SAMPLING)
    add_prompting(reply)
    model_options.add_options(parser)
    add_translation(parser)


def _add_server(parser: Parser) -> None:
    group = parser.add_argument_group("server")
    group.add_argument(
        "--host",
        default="127.0.0.1",
        help="address to listen at; another one than this computer's own loopback needs a key, and "
        "is better reached by ssh or through a proxy with TLS, since HTTP is not encrypted "
        "(default: %(default)s)",
    )
    group.add_argument(
        "--port",
        type=whole_number(0, 65_535),
        default=SERVER_PORT,
        help="port to listen at; 0 takes a free one (default: %(default)s)",
    )
    key = group.add_mutually_exclusive_group()
    key.add_argument(
        "--api-key",
        metavar="KEY",
        help="what programs have to send as “Authorization: Bearer KEY” or “x-api-key: KEY”; every "
        "user of this computer can see it in the list of processes, so rather take the next option "
        f"or the variable {KEY_VARIABLE}",
    )
    key.add_argument("--api-key-file", metavar="FILE", type=Path, help="file with that key")
    group.add_argument(
        "--allow-origin",
        metavar="ORIGIN",
        action="append",
        default=[],
        help="let pages from this address ask, e.g. http://localhost:3000; all others are refused; "
        "can be given several times",
    )
    group.add_argument(
        "--queue",
        metavar="N",
        type=whole_number(0, 10_000),
        default=SERVER_QUEUE,
        help="requests that may wait; further ones are refused (default: %(default)s)",
    )
    group.add_argument(
        "--load-on-request",
        action="store_true",
        help="list all models of this computer, and load the one that a request names when the "
        "replies under way are complete; without it the loaded one answers under any name",
    )
    model_options.add_state_cache(group, model_options.USUAL_STATES)
    group.add_argument(
        "--ignore-changes",
        metavar="REGEX",
        action="append",
        default=[],
        help="give the model the first line of a program's system prompts that this expression "
        "finds, in the place of later ones, so that a line that changes with each request does "
        "not let all after it be read again; can be given several times",
    )
    group.add_argument("--json", action="store_true", help="say that it listens as a JSON object")


def run(args: argparse.Namespace) -> int:
    """Carry out the command; returns the exit code.

    Raises:
        UserError: The models cannot be loaded, or nothing can listen there.
    """
    with Interrupts() as interrupts, _terminations() as asked_to_end:
        paths = Paths.from_environment()
        who = {"key": read_key(args), "origins": read_origins(args), "queue": args.queue}
        ignored = read_ignored(args)
        load = _read_load(args, paths)
        defaults = _read_defaults(args, ignored)
        # Starlette and uvicorn take 0.1 s to import, which wrong usage does not need.
        from paceline.cli.installed_models import InstalledModels
        from paceline.server.endpoint import Endpoint
        from paceline.server.listener import Listener
        from paceline.server.on_request import OnRequest
        from paceline.server.one_pair import OnePair
        from paceline.server.served import Current

        listener = Listener(args.host, args.port)  # first of all: a port in use is reported at once
        given = with_local_files(load, paths, lambda: interrupts.hit, in_process=True)
        with (
            open_models(paths) as models,
            closing(engine_client(in_process=True)) as client,
        ):
            load, notes = decide_layers(given, client, planner(paths))
            current = Current()
            client.watch(current.on_engine_event)

            def checked(other: LoadPair) -> LoadPair:
                here = with_local_files(other, paths, lambda: interrupts.hit, in_process=True)
                return decide_layers(here, client, planner(paths))[0]

            def answering(desk: Desk) -> Answering:
                if not args.load_on_request:
                    return OnePair(desk, current, load)
                return OnRequest(
                    desk, InstalledModels(desk, current, models.library, given, checked)
                )

            endpoint = Endpoint(client, listener, answering, defaults, **who)
            loaded = load_pair(client, load, interrupts)
            for note in (*notes, *notes_of(loaded)):
                remark(note)
            endpoint.start()
            _tell(args, endpoint, load)
            return _serve(endpoint, interrupts, asked_to_end)


def _tell(args: argparse.Namespace, endpoint: Endpoint, load: LoadPair) -> None:
    from paceline.server.served import model_id

    model = model_id(load.target.path)
    results = Results()
    if args.json:
        results.write(json_line({"event": "listening", "url": endpoint.url, "model": model}))
    else:
        results.write(f"Listening at {endpoint.url} with {model}\n")
    results.check()


def _serve(endpoint: Endpoint, interrupts: Interrupts, asked_to_end: list[int]) -> int:
    """Wait until the server has been asked to end, and has ended."""
    n_told = 0
    while not endpoint.wait(_POLL_S):
        if interrupts.hit:
            endpoint.stop(at_once=True)
        elif len(asked_to_end) > n_told:
            n_told = len(asked_to_end)
            endpoint.stop(at_once=n_told > 1)
    return EXIT_CODE if interrupts.hit else 0


@contextmanager
def _terminations() -> Iterator[list[int]]:
    """Give a list that grows with each SIGTERM, which does nothing else within."""
    came: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: came.append(number))
    try:
        yield came
    finally:
        signal.signal(signal.SIGTERM, before)


# ------------------------------------------------------------------------------------------ reading


def read_key(args: argparse.Namespace) -> str:
    """Return the key, or empty if programs need none.

    Raises:
        UsageError: It cannot be a key, or other computers could ask without one.
        UserError: Its file cannot be read.
    """
    if args.api_key_file is not None:
        raw = read_file(args.api_key_file, _MAX_KEY_BYTES, "Give a file with the key alone.")
        where, key = str(args.api_key_file), raw.decode("utf-8", "replace").strip()
    elif args.api_key is not None:
        where, key = "--api-key", args.api_key.strip()
    else:
        where, key = f"The variable {KEY_VARIABLE}", os.environ.get(KEY_VARIABLE, "").strip()
    is_given = args.api_key is not None or args.api_key_file is not None
    if (is_given and not key) or not can_be_key(key):
        raise UsageError(
            "bad-key", f"{where} holds no key.", "A key has letters, digits and signs, no blanks."
        )
    if not key and not is_loopback(args.host):
        raise UsageError(
            "no-key",
            f"Other computers could ask at {args.host}, so a key is needed.",
            f"Give one by --api-key-file or the variable {KEY_VARIABLE}.",
        )
    return key


def read_origins(args: argparse.Namespace) -> tuple[str, ...]:
    """Return the origins of web pages that may send requests.

    Raises:
        UsageError: One is no origin as browsers send it.
    """
    wrong = next((each for each in args.allow_origin if not _ORIGIN.fullmatch(each)), None)
    if wrong is not None:
        raise UsageError(
            "bad-origin",
            f"“{wrong}” is no page's address as browsers tell it.",
            "Give scheme, host and port alone, in small letters, such as http://localhost:3000.",
        )
    return tuple(args.allow_origin)


def read_ignored(args: argparse.Namespace) -> tuple[str, ...]:
    """Return the expressions of lines whose changes are ignored.

    Raises:
        ValueOutOfRangeError: One is invalid.
    """
    from paceline.server.unchanged import check_expression

    for expression in args.ignore_changes:
        check_expression(expression)
    return tuple(args.ignore_changes)


def _read_load(args: argparse.Namespace, paths: Paths) -> LoadPair:
    load, notes = model_options.read_pair(args, paths)
    load, more = settle_strategy(args, load, paths, in_process=True)
    for note in (*notes, *more):
        remark(note)
    return structs.replace(
        load,
        lookup_cache=read_lookup_cache(args),
        exact=args.exact,
        drafting=translating(args, load.drafting),
        states=model_options.read_states(args, paths, is_on=True),
    )


def _read_defaults(args: argparse.Namespace, ignored: tuple[str, ...]) -> Defaults:
    from paceline.engine.draft.strategy import read_strategy
    from paceline.engine.sample.sampling import check_sampling
    from paceline.server.served import Defaults

    sampling = SamplingParams(**given(args, _SAMPLING))
    check_sampling(sampling)
    replies = given(args, _REPLY)
    return Defaults(
        ReplySettings(sampling=sampling, **replies),
        has_limit="max_tokens" in replies,
        strategy=read_strategy(args.strategy),
        prompting=read_prompting(args),
        ignored=ignored,
    )
