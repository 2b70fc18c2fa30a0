"""`paceline bench`: measure strategies with a pair, print a matrix, write a report."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from paceline.chat.pair import Pair
from paceline.cli import model_options
from paceline.cli.loading import head_finder, loaded_pair
from paceline.cli.output import EXIT_CODE, Interrupts, ProgressLine, Results, remark
from paceline.cli.usage import Parser, UsageError, plain_text, whole_number
from paceline.errors import UserError
from paceline.files import write_whole
from paceline.messages import LoadPair, TuneRejected
from paceline.params import DraftModel, drafter_of
from paceline.paths import Paths
from paceline.sizes import duration

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from paceline.bench.plan import Plan
    from paceline.bench.recommend import Recommendation
    from paceline.bench.runner import BenchRun
    from paceline.bench.runs import Report
    from paceline.hosting.client import EngineClient
    from paceline.messages import Event

    DrawChart = Callable[[Report, Path], int]


STDOUT = "-"
_REPEATS = 3
_RECOMMEND_REPEATS = 4
_MAX_REPEATS = 1000
_LOOKUPS = ("off", "auto", "prompt-lookup", "suffix")
_WITH_MODEL = ("off", "auto", "{0}", "suffix", "suffix+{0}")


def run(args: argparse.Namespace, draw_chart: DrawChart) -> int:
    """Carry out the command; returns the exit code.

    Raises:
        UserError: It cannot be done; the text says why.
    """
    from paceline.bench.runner import BenchRun  # loads NumPy, which --help does not need

    with Interrupts() as interrupts:
        paths = Paths.from_environment()
        load, plan, notes = read_request(args, paths)
        for note in notes:
            remark(note)
        in_process = model_options.runs_in_process(args)
        with loaded_pair(load, paths, interrupts, in_process=in_process) as (client, pair):
            settings = Pair(load.target, load.drafting)
            measuring = BenchRun(
                plan, pair.target, pair.draft, settings=settings, servers=load.servers
            )
            Driver(client, measuring, interrupts).run()
            report = measuring.result()
        is_drawn = _publish(args, report, draw_chart)
        if interrupts.hit:
            return EXIT_CODE
        return is_drawn or _check(report)


# ------------------------------------------------------------------------------------------ options


def add(parser: Parser) -> None:
    """Describe the command line of `paceline bench`."""
    parser.description = (
        "Generate the same replies with several strategies, in turns and in random order, and "
        "print how fast each of them is."
    )
    parser.epilog = "Example: paceline bench --strategies draft:n_max=4,suffix,auto --repeat 5"
    group = parser.add_argument_group("benchmark")
    group.add_argument(
        "--strategies",
        metavar="S,S,…",
        type=plain_text,
        help="what is compared, e.g. draft:n_max=4,suffix,auto; off always takes part (default: "
        "auto, the draft model or the MTP head, lookups, and a chain of both)",
    )
    group.add_argument(
        "--workload",
        metavar="FILE.jsonl",
        type=Path,
        help='prompts, one object per line: {"name", "messages" or "prompt_tokens", "max_tokens", '
        '"temperature", "top_k", "top_p", "min_p", "seed", "raw", "ignore_eog", '
        '"earlier"} (default: seven that come with the program)',
    )
    group.add_argument(
        "--repeat",
        metavar="N",
        type=whole_number(1, _MAX_REPEATS),
        help=f"how often everything is measured (default: {_REPEATS}, with --recommend "
        f"{_RECOMMEND_REPEATS})",
    )
    group.add_argument(
        "--recommend",
        action="store_true",
        help="try draft lengths, lookups and chains, choose the best on the odd repeats, compare "
        "it with auto on the even ones",
    )
    group.add_argument(
        "--fresh",
        action="store_true",
        help="let Auto begin every reply without knowing how often drafts are accepted; else it "
        "knows that from the replies before, as in daily use (texts are forgotten in any case)",
    )
    output = parser.add_argument_group("output")
    output.add_argument(
        "--json",
        metavar="OUT",
        type=plain_text,
        help="write the report to this file; - writes it to stdout instead of the table",
    )
    output.add_argument("--png", metavar="OUT.png", type=Path, help="draw the report as a picture")
    model_options.add_options(parser)
    model_options.add_host(output)


def read_request(
    args: argparse.Namespace, folders: Paths
) -> tuple[LoadPair, Plan, tuple[str, ...]]:
    """Return the load, the plan, and sentences about options without an effect.

    Raises:
        UsageError: Options that do not go together.
        UserError: A file with the wrong content, or that cannot be read or written.
    """
    from paceline.bench.plan import make_plan
    from paceline.bench.workload import read_workloads, shipped_workloads

    load, notes = model_options.read_pair(args, folders)
    n_repeats = args.repeat or (_RECOMMEND_REPEATS if args.recommend else _REPEATS)
    if args.recommend and n_repeats < 2:
        raise UsageError(
            "usage",
            "--recommend needs at least two repeats: it chooses on the odd ones and compares on "
            "the even ones.",
            "Leave --repeat out, or raise it.",
        )
    workloads = read_workloads(args.workload or shipped_workloads())
    has_head = head_finder(load, folders, in_process=model_options.runs_in_process(args))
    strategies = _strategies(args, load, has_head)
    plan = make_plan(workloads, strategies, n_repeats, is_fresh=args.fresh)
    load = model_options.settle(load, args, plan.strategies, has_head)
    for option, path in (("--json", _json_path(args)), ("--png", args.png)):
        _check_place(option, path)
    return load, plan, notes


def _strategies(
    args: argparse.Namespace, load: LoadPair, has_head: Callable[[], bool]
) -> tuple[str, ...]:
    if args.strategies is not None:
        names = [name.strip() for name in args.strategies.split(",")]
        if not all(names):
            raise UsageError(
                "usage", "A strategy in --strategies is empty.", "Write off,draft, for example."
            )
        return tuple(names)
    is_there = isinstance(load.drafting, DraftModel) or has_head()
    model = drafter_of(load.drafting) if is_there else ""
    if args.recommend:
        from paceline.bench.recommend import sweep

        return sweep(model)
    return tuple(name.format(model) for name in (_WITH_MODEL if model else _LOOKUPS))


def _json_path(args: argparse.Namespace) -> Path | None:
    return Path(args.json) if args.json and args.json != STDOUT else None


def _check_place(option: str, path: Path | None) -> None:
    """Check that a file can be written, before an hour is spent on its content.

    Raises:
        UserError: The folder is not there, or the place is a folder itself.
    """
    if path is None:
        return
    if path.is_dir() or not path.absolute().parent.is_dir():
        what = "is a folder" if path.is_dir() else "is in no folder that exists"
        raise UserError(
            "file-not-writable",
            f"{path} {what}.",
            f"Give {option} the name of a file in a folder that exists.",
        )


# ---------------------------------------------------------------------------------------- measuring


class Driver:
    """Lets a client carry out a benchmark, and shows the progress on stderr."""

    def __init__(self, client: EngineClient, run: BenchRun, interrupts: Interrupts) -> None:
        self._client = client
        self._run = run
        self._interrupts = interrupts
        self._progress = ProgressLine()
        self._repeat = 0

    def run(self) -> None:
        """Measure until all is done, or until Ctrl+C."""
        with self._progress:
            while not self._interrupts.hit and (command := self._run.next_command()) is not None:
                self._show()
                ticket = self._client.request(command)
                self._interrupts.when_hit(ticket.cancel)
                for event in ticket:
                    self._on_event(event)

    def _on_event(self, event: Event) -> None:
        if isinstance(event, TuneRejected):
            from paceline.engine.draft.strategy import as_written, short_text  # loads NumPy

            self._progress.clear()
            cell = self._run.progress.cell
            strategy = (
                as_written(event.strategy, cell.strategy) if cell else short_text(event.strategy)
            )
            remark(f"{strategy}: {event.message} {event.hint}")  # a drafter failed
        self._run.on_event(event)

    def _show(self) -> None:
        progress = self._run.progress
        cell = progress.cell
        if cell is None or cell.repeat == 0:
            self._progress.show("Warming up")
            return
        left = duration(progress.left_s) if progress.left_s is not None else "a while"
        if cell.repeat != self._repeat:  # a line for logs, too, which the bar is not for
            self._progress.clear()
            if self._repeat == 0:
                remark(f"{progress.n_total} replies will be generated, which takes about {left}.")
            elif not self._progress.is_shown:
                n_all = self._run.n_repeats
                remark(f"{self._repeat} of {n_all} repeats are done, about {left} left.")
            self._repeat = cell.repeat
        self._progress.show(
            f"{progress.n_done} of {progress.n_total}, about {left} left: {cell.workload.name} by "
            f"{cell.strategy}"
        )


# ------------------------------------------------------------------------------------------ results


def _publish(args: argparse.Namespace, report: Report, draw_chart: DrawChart) -> int:
    """Write table, file and picture; the table comes first, since the others can fail."""
    from paceline.bench.recommend import recommend
    from paceline.cli import bench_text

    found = recommend(report) if args.recommend else None
    results = Results()
    if args.json != STDOUT:
        results.write(bench_text.report_text(report, found))
    elif report.workloads:
        results.write(_as_json(report, found))
    if args.json and args.json != STDOUT:
        _write(Path(args.json), _as_json(report, found), "--json")
    results.check()
    return draw_chart(report, args.png) if args.png and report.workloads else 0


def _write(path: Path, text: str, option: str) -> None:
    try:
        write_whole(path, text.encode())
    except OSError as error:
        raise UserError(
            "file-not-writable",
            f"{path} cannot be written ({error.strerror}).",
            f"Give {option} another place.",
        ) from error


def _as_json(report: Report, found: Recommendation | None) -> str:
    from paceline.bench.report import to_json

    data = to_json(report)
    if found is not None:
        data["recommendation"] = asdict(found)
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def _check(report: Report) -> int:
    """Raise the first failure of the benchmark, with the number of the others.

    Raises:
        UserError: Something did.
    """
    if not report.failures:
        return 0
    first = report.failures[0]
    where = f"{first.workload} by {first.strategy}: " if first.workload else ""
    others = len(report.failures) - 1
    more = f" ({others} more failed.)" if others else ""
    raise UserError(first.code, f"{where}{first.message}{more}", first.hint)
