"""`paceline calibrate`: measure what decodes of each width cost with a pair on this machine.

``--json`` prints ``{"target", "draft", "threads": {…}, "draft_threads", "widths": [{"tokens",
"seconds", "ratio", "seconds_per_token", "break_even", "n_samples"}], "draft_token_s",
"kernels": {…}, "conclusion"}``; ``ratio`` is to a plain step, and ``break_even`` is the share of
drafted tokens, 0..1, that must be accepted for the step to be no slower than plain decoding; null:
none is enough. ``kernels`` is as in the figures of `paceline chat`.
"""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

from paceline.cli import model_options
from paceline.cli.calibration_table import Row, conclusion, rows_of
from paceline.cli.chat import TurnError
from paceline.cli.interrupts import Interrupts
from paceline.cli.model_load import loaded_pair
from paceline.cli.output import Progress, Results, remark
from paceline.cli.table import in_columns
from paceline.engine.threads import default_threads
from paceline.errors import UserError
from paceline.figures import by_kind
from paceline.hosting.deaths import DIED
from paceline.messages import Calibrate, Calibrated, EngineDied, LoadPair
from paceline.paths import Paths

if TYPE_CHECKING:
    import argparse

    from paceline.cli.usage import Parser
    from paceline.hosting.client import EngineClient
    from paceline.messages import Event, ModelInfo, PairLoaded

_LOAD_ID, _ID = "load", "calibrate"


def add_options(parser: Parser) -> None:
    """Add every option of `paceline calibrate`."""
    model_options.add_options(parser)
    output = parser.add_argument_group("output")
    output.add_argument("--json", action="store_true", help="one JSON object")
    model_options.add_host(output)


def run(args: argparse.Namespace) -> int:
    """Carry out the command; returns the exit code.

    Raises:
        UserError: It cannot be measured; says why.
    """
    with Interrupts() as interrupts:
        paths = Paths.from_environment()
        pair = model_options.read_pair(args)
        for note in pair.notes:
            remark(note)
        load = LoadPair(
            _LOAD_ID,
            pair.target,
            pair.draft,
            cache_dir=str(paths.cache_dir),
            kernels=pair.kernels,
        )
        in_process = args.host == "process"
        with loaded_pair(load, paths, interrupts, in_process=in_process) as (client, loaded):
            answer = measure(client, interrupts)
    report = as_object(args, loaded, answer)
    results = Results()
    results.write(
        json.dumps(report, indent=2, ensure_ascii=False) + "\n" if args.json else as_text(report)
    )
    results.check()
    return 0


def measure(client: EngineClient, interrupts: Interrupts) -> Calibrated:
    """Let a client that has a pair measure it.

    Raises:
        UserError: It could not be, or Ctrl+C was pressed.
    """
    answers: list[Event] = []

    progress = Progress()
    client.set_listener(answers.append)
    interrupts.when_hit(lambda: client.cancel(_ID))
    progress.show("Measuring what steps cost")
    try:
        if not interrupts.hit:
            client.submit(Calibrate(_ID))
    finally:
        progress.clear()
    if interrupts.hit:
        raise TurnError("cancelled", "Stopped before everything was measured.")
    for event in answers:
        if isinstance(event, EngineDied):
            raise TurnError(DIED, event.reason, event.hint)
        if isinstance(event, Calibrated):
            if event.problem:
                raise UserError("not-calibrated", event.problem)
            return event
    raise UserError("not-calibrated", "The engine did not tell what steps cost.")


def as_object(args: argparse.Namespace, loaded: PairLoaded, answer: Calibrated) -> dict[str, Any]:
    """Return the report as plain data."""
    draft_token_s = next((cost.seconds for cost in answer.draft_costs if cost.width == 1), None)
    rows = rows_of(answer.costs, draft_token_s or 0.0)
    return {
        "target": loaded.target.name,
        "draft": loaded.draft.name if loaded.draft else None,
        "threads": _threads(loaded.target, args.threads),
        "draft_threads": _threads(loaded.draft, args.threads_draft) if loaded.draft else None,
        "widths": [dataclasses.asdict(row) for row in rows],
        "draft_token_s": draft_token_s,
        "kernels": by_kind(loaded.target.kernels),
        "conclusion": conclusion(rows, draft_token_s or 0.0),
    }


def _threads(info: ModelInfo, given: int | None) -> dict[str, Any]:
    if given is not None:
        why = "as given"
    elif info.n_threads == default_threads():
        why = "physical cores - 1"
    else:
        why = f"measured: faster than {default_threads()}"
    return {"single": info.n_threads, "batch": info.n_threads_batch, "why": why}


def as_text(report: dict[str, Any]) -> str:
    """Return the report for people."""
    lines = []
    for role, threads in (("target", "threads"), ("draft", "draft_threads")):
        if report[role] is not None:
            chosen = report[threads]
            lines.append(
                f"{role:<7} {report[role]}, threads: {chosen['single']} for single tokens "
                f"({chosen['why']}), {chosen['batch']} for batches"
            )
    rows: list[tuple[str, ...]] = [
        ("tokens", "ms per step", "of a plain step", "ms per token", "pays from")
    ]
    rows += [_cells(Row(**row)) for row in report["widths"]]
    table = in_columns(rows, right=range(5))
    if report["draft_token_s"] is not None:
        plain_s = report["widths"][0]["seconds"]
        seconds = report["draft_token_s"]
        share = seconds / plain_s
        table += f"\nThe draft model takes {seconds * 1e3:.3g} ms per token, {share:.2f} of a step."
        table += "\n"
    return "\n".join([*lines, "", table]) + f"\n{report['conclusion']}\n"


def _cells(row: Row) -> tuple[str, ...]:
    return (
        str(row.tokens),
        f"{row.seconds * 1e3:.2f}",
        f"{row.ratio:.2f}",
        f"{row.seconds_per_token * 1e3:.2f}",
        "" if row.tokens == 1 else "never" if row.break_even is None else f"{row.break_even:.0%}",
    )
