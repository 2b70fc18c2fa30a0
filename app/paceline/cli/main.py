"""The table of commands, and the one place where errors become exit codes."""

from __future__ import annotations

import importlib
import os
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paceline import __version__
from paceline.cli.usage import Parser
from paceline.errors import UserError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from paceline.bench.runs import Report

    DrawChart = Callable[[Report, Path], int]

COMMANDS = {
    "chat": "generate one reply and print it",
    "serve": "let other programs use the models, over HTTP",
    "rpc-server": "lend this computer's devices to another one",
    "bench": "measure what speculative decoding gains with these models on this machine",
    "calibrate": "measure what steps of several tokens cost with these models on this machine",
    "doctor": "show versions, devices, folders and known problems",
    "cache": "make, merge and look at lookup caches; delete what drafters have learned",
    "models": "list the models on this computer",
    "pairs": "say whether two models go together, and list pairs that do",
    "hub": "search the Hugging Face Hub, and download models",
}
"""Commands, and the purpose of each.

A command's module in this package has its name, with _ for -, and two functions: ``add(parser)``
describes the command line, ``run(args)`` carries it out and returns the exit code. It is imported
when the command is given, since some take long to import.
"""
_EPILOG = """\
Without arguments the window opens, and with the names of files it opens these: models,
exported chats, texts. Every file the program writes is under the
folder that PACELINE_HOME names, if it is set.

exit codes: 0 done, 1 failed, 2 wrong usage or value, 130 interrupted
"""


def build_parser() -> Parser:
    """Return the parser for everything that comes after `paceline`."""
    parser = Parser(
        prog="paceline",
        description="Chat with local language models, made fast by speculative decoding.",
        epilog=_EPILOG,
    )
    parser.add_argument("--version", action="version", version=f"paceline {__version__}")
    parser.add_argument(
        "--smoke-test",
        metavar="OUT.png",
        type=Path,
        help="open the window, let the demo pair reply, save a picture and leave",
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, effect in COMMANDS.items():
        commands.add_parser(name, help=effect, fill=_add_of(name))
    return parser


def _add_of(name: str) -> Callable[[Parser], None]:
    return lambda parser: _module(name).add(parser)


def _module(name: str) -> Any:
    return importlib.import_module(f"paceline.cli.{name.replace('-', '_')}")


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the parsed command line.

    Raises:
        UsageError: It cannot be parsed, or names a feature that does not exist yet.
        SystemExit: Help or version were printed.
    """
    parser = build_parser()
    args = parser.parse_args(arguments)
    if args.command and args.smoke_test:
        parser.error("--smoke-test stands alone")
    return args


def run(
    arguments: Sequence[str],
    open_window: Callable[[Sequence[Path]], int],
    smoke_test: Callable[[Path], int],
    draw_chart: DrawChart,
) -> int:
    """Carry out a command line; returns the exit code.

    Args:
        arguments: All but the program's name.
        open_window: Opens the window with files; returns the exit code, as the other two do.
        smoke_test: Runs the smoke test and saves its picture at this path.
        draw_chart: Draws a benchmark's report. These three are given by the caller, because the
            command line imports no Qt.
    """
    from paceline.cli import output

    output.use_utf8()
    try:
        if files := _files(arguments):
            return open_window(files)
        args = parse(arguments)
        if args.smoke_test:
            return smoke_test(args.smoke_test)
        if args.command is None:
            return open_window(())
        return _run_command(args, draw_chart)
    except (UserError, ImportError) as problem:
        error = problem if isinstance(problem, UserError) else _lacking(problem)
        from paceline.hosting.exit_reasons import AGAIN
        from paceline.sentence import Sentence

        # There is no next message here, which a window would start the engine with.
        error.hint = Sentence(error.hint.replace(AGAIN, "Run the command again."))
        if _wants_json(arguments):
            _print_failure(error, is_event=arguments[0] == "chat")
        output.remark(str(error))
        return error.exit_code
    except BrokenPipeError:
        output.discard_stdout()
        return 0


def _lacking(error: ImportError) -> UserError:
    """Return the error for a missing library, with the remedy.

    Raises:
        ImportError: It is one of Paceline's own modules, which no installation lacks.
    """
    if (error.name or "").partition(".")[0] == "paceline":
        raise error
    from paceline.installation import remedies

    return UserError(
        "part-missing",
        "A part of Paceline is missing or damaged: {why:bare}.",
        remedies.program_again(),
        why=str(error),
    )


def _files(arguments: Sequence[str]) -> list[Path]:
    """Return the files that are given instead of a command; empty if there is a command."""
    files = [Path(argument) for argument in arguments]
    are_files = not set(arguments) & {*COMMANDS} and all(map(os.path.isfile, arguments))
    return files if are_files else []


def _run_command(args: argparse.Namespace, draw_chart: DrawChart) -> int:
    from paceline import logs
    from paceline.paths import Paths

    logs.set_up(Paths.from_environment().log_dir)
    try:
        command = _module(args.command)
        options = (draw_chart,) if args.command == "bench" else ()
        code: int = command.run(args, *options)
        return code
    finally:
        logs.tear_down()


def _wants_json(arguments: Sequence[str]) -> bool:
    """Return whether the results on stdout are JSON; also of what cannot be parsed."""
    if arguments[:1] == ["bench"]:  # its option names a file
        return "--json=-" in arguments or ("--json", "-") in pairwise(arguments)
    return "--json" in arguments


def _print_failure(error: UserError, *, is_event: bool) -> None:
    from paceline.cli import output
    from paceline.cli.chat_run import failed_object, json_line

    failed = failed_object(error.code, error.message, error.hint)
    if not is_event:
        failed = {"error": {key: failed[key] for key in ("code", "message", "hint")}}
    output.Results().write(json_line(failed))
