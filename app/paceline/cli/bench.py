"""`paceline bench`: load a pair, measure it with several strategies, print what is fastest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from paceline.bench.recommend import recommend
from paceline.bench.report import to_json
from paceline.bench.runner import BenchRun
from paceline.catalog.words import duration
from paceline.cli import bench_text
from paceline.cli.bench_options import STDOUT, read_request
from paceline.cli.interrupts import EXIT_CODE, Interrupts
from paceline.cli.model_load import loaded_pair
from paceline.cli.output import Progress, Results, remark
from paceline.errors import UserError
from paceline.files import write_whole
from paceline.messages import TuneRejected
from paceline.paths import Paths

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from paceline.bench.recommend import Recommendation
    from paceline.bench.runs import Report
    from paceline.cli.bench_options import BenchRequest
    from paceline.hosting.client import EngineClient
    from paceline.messages import Event

    DrawChart = Callable[[Report, Path], int]


def run(args: argparse.Namespace, draw_chart: DrawChart) -> int:
    """Carry out the command; returns the exit code.

    Raises:
        UserError: It cannot be done; says why.
    """
    with Interrupts() as interrupts:
        paths = Paths.from_environment()
        request = read_request(args, paths)
        for note in request.notes:
            remark(note)
        in_process = args.host == "process"
        with loaded_pair(request.load, paths, interrupts, in_process=in_process) as (client, pair):
            measuring = BenchRun(request.plan, pair.target, pair.draft)
            Driver(client, measuring, interrupts).run()
            report = measuring.result()
        is_drawn = _publish(request, report, draw_chart)
        if interrupts.hit:
            return EXIT_CODE
        return is_drawn or _check(report)


class Driver:
    """Lets a client carry out a benchmark, and tells on stderr how far it is."""

    def __init__(self, client: EngineClient, run: BenchRun, interrupts: Interrupts) -> None:
        self._client = client
        self._run = run
        self._interrupts = interrupts
        self._progress = Progress()
        self._repeat = 0

    def run(self) -> None:
        """Measure until all is done, or until Ctrl+C."""
        self._client.set_listener(self._on_event)
        self._interrupts.when_hit(self._stop)
        try:
            while not self._interrupts.hit and (command := self._run.next_command()) is not None:
                self._show()
                self._client.submit(command)
        finally:
            self._progress.clear()

    def _on_event(self, event: Event) -> None:
        if self._interrupts.hit:  # it may have come when there was nothing to cancel yet
            self._stop()
        if isinstance(event, TuneRejected):
            self._progress.clear()
            remark(f"{event.strategy}: {event.message} {event.hint}")  # a drafter failed
        self._run.on_event(event)

    def _stop(self) -> None:
        self._run.stop()
        self._client.cancel(self._run.request_id)

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


def _publish(request: BenchRequest, report: Report, draw_chart: DrawChart) -> int:
    """Write table, file and picture; what was measured goes out whatever becomes of the others."""
    found = recommend(report) if request.recommends else None
    results = Results()
    if request.json != STDOUT:
        results.write(bench_text.report_text(report, found))
    elif report.workloads:
        results.write(_as_json(report, found))
    if request.json and request.json != STDOUT:
        path = Path(request.json)
        try:
            write_whole(path, _as_json(report, found).encode())
        except OSError as error:
            raise UserError(
                "file-not-writable",
                f"{path} cannot be written ({error.strerror}).",
                "Give --json another place.",
            ) from error
    results.check()
    return draw_chart(report, request.png) if request.png and report.workloads else 0


def _as_json(report: Report, found: Recommendation | None) -> str:
    data = to_json(report)
    if found is not None:
        data["recommendation"] = found.to_json()
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def _check(report: Report) -> int:
    """Tell what failed.

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
