"""The tree of commands, and the one place where errors become exit codes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from paceline import __version__
from paceline.cli.usage import Parser
from paceline.errors import UserError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from paceline.bench.runs import Report

_EPILOG = """\
Without arguments the window opens. Every file the program writes is under the
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
    _add_chat(commands)
    _add_bench(commands)
    _add_calibrate(commands)
    _add_doctor(commands)
    _add_cache(commands)
    _add_models(commands)
    _add_pairs(commands)
    _add_hub(commands)
    return parser


def _add_chat(commands: argparse._SubParsersAction[Parser]) -> None:
    from paceline.cli import chat_options

    parser = commands.add_parser(
        "chat",
        help="generate one reply and print it",
        description="Generate one reply and print it as it grows.",
        epilog='Example: paceline chat --prompt "What is a list?" --strategy draft:n_max=4',
    )
    chat_options.add_options(parser)


def _add_bench(commands: argparse._SubParsersAction[Parser]) -> None:
    from paceline.cli import bench_options

    parser = commands.add_parser(
        "bench",
        help="measure what speculative decoding gains with these models on this machine",
        description="Generate the same replies with several strategies, in turns and in random "
        "order, and print how fast each of them is.",
        epilog="Example: paceline bench --strategies draft:n_max=4,suffix,auto --repeat 5",
    )
    bench_options.add_options(parser)


def _add_calibrate(commands: argparse._SubParsersAction[Parser]) -> None:
    from paceline.cli import calibrate

    parser = commands.add_parser(
        "calibrate",
        help="measure what steps of several tokens cost with these models on this machine",
        description="Measure what decoding several tokens at once costs, compared with one, and "
        "print from which acceptance on drafts pay. What is found is kept for the strategy auto.",
    )
    calibrate.add_options(parser)


def _add_doctor(commands: argparse._SubParsersAction[Parser]) -> None:
    from paceline.cli import kernel_options

    parser = commands.add_parser(
        "doctor",
        help="show versions, devices, folders and known problems",
        description="Show versions, devices, threads, folders and known problems with remedies.",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object")
    kernel_options.add_kernels(parser)
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument(
        "--last",
        action="store_true",
        help="show what became of the drafts in the last reply that may be remembered, and what to "
        "try next",
    )
    instead.add_argument(
        "--build-kernels",
        action="store_true",
        help="compile Paceline's own CPU kernels for this llama.cpp, which takes a C++ compiler, "
        "the network and about a minute",
    )


def _add_cache(commands: argparse._SubParsersAction[Parser]) -> None:
    from paceline.cli import cache_options

    parser = commands.add_parser(
        "cache",
        help="make, merge and look at lookup caches; delete what drafters have learned",
        description="Make, merge and look at the lookup caches of the strategy ngram-cache, and "
        "delete what drafters have learned from chats.",
    )
    cache_options.add_options(parser)


def _add_models(commands: argparse._SubParsersAction[Parser]) -> None:
    from paceline.cli import models_options

    parser = commands.add_parser(
        "models",
        help="list the models on this computer",
        description="Find the models on this computer, whatever program has downloaded them.",
    )
    models_options.add_options(parser)


def _add_hub(commands: argparse._SubParsersAction[Parser]) -> None:
    from paceline.cli import hub_options

    parser = commands.add_parser(
        "hub",
        help="search the Hugging Face Hub, and download models",
        description="Search the Hugging Face Hub for models in GGUF format, and download them.",
    )
    hub_options.add_options(parser)


def _add_pairs(commands: argparse._SubParsersAction[Parser]) -> None:
    from paceline.cli import pairs_options

    parser = commands.add_parser(
        "pairs",
        help="say whether two models go together, and list pairs that do",
        description="Say whether two models go together, and list pairs that were reported to.",
    )
    pairs_options.add_options(parser)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the parsed command line.

    Raises:
        UsageError: It cannot be understood, or names what is not built yet.
        SystemExit: Help or version were printed.
    """
    parser = build_parser()
    args = parser.parse_args(arguments)
    if args.command and args.smoke_test:
        parser.error("--smoke-test stands alone")
    return args


def no_chart(report: Report, path: Path) -> NoReturn:
    """Refuse to draw, where nobody has handed in what draws.

    Raises:
        UserError: Always.
    """
    del report
    raise UserError(
        "no-chart",
        f"The chart {path} cannot be drawn: this program has no window.",
        "Write the report by --json instead.",
    )


def run(
    arguments: Sequence[str],
    open_window: Callable[[], int],
    smoke_test: Callable[[Path], int],
    draw_chart: Callable[[Report, Path], int] = no_chart,
) -> int:
    """Carry out a command line; returns the exit code.

    The window and what draws charts are handed in, because the command line knows no Qt.
    """
    from paceline.cli import output

    output.use_utf8()
    try:
        args = parse(arguments)
        if args.smoke_test:
            return smoke_test(args.smoke_test)
        if args.command is None:
            return open_window()
        return _run_command(args, draw_chart)
    except UserError as error:
        if arguments[:1] == ["chat"] and "--json" in arguments:
            _print_failure(error)
        output.remark(str(error))
        return error.exit_code
    except BrokenPipeError:
        output.discard_stdout()
        return 0


def _run_command(args: argparse.Namespace, draw_chart: Callable[[Report, Path], int]) -> int:
    from paceline import logs
    from paceline.paths import Paths

    logs.set_up(Paths.from_environment().log_dir)
    try:
        if args.command == "bench":
            from paceline.cli import bench

            return bench.run(args, draw_chart)
        if args.command == "doctor":
            from paceline.cli import doctor

            return doctor.run(args)
        if args.command == "calibrate":
            from paceline.cli import calibrate

            return calibrate.run(args)
        if args.command == "cache":
            from paceline.cli import cache

            return cache.run(args)
        if args.command == "models":
            from paceline.cli import models

            return models.run(args)
        if args.command == "pairs":
            from paceline.cli import pairs

            return pairs.run(args)
        if args.command == "hub":
            from paceline.cli import hub

            return hub.run(args)
        from paceline.cli import chat

        return chat.run(args)
    finally:
        logs.tear_down()


def _print_failure(error: UserError) -> None:
    from paceline.cli import jsonl, output

    line = jsonl.line(jsonl.failed(error.code, error.message, error.hint))
    output.Results().write(line)
