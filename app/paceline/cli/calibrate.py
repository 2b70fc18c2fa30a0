"""`paceline calibrate`: measure what decodes of each width cost with a pair on this machine.

``--json`` prints ``{"target", "draft", "threads": {…}, "draft_threads", "widths": [{"tokens",
"seconds", "ratio", "seconds_per_token", "break_even", "n_samples"}], "draft_token_s",
"kernels": {…}, "conclusion", "same_text"}``; ``ratio`` is to a plain step, and ``break_even`` is
the share of drafted tokens, 0..1, that must be accepted for the step to be no slower than plain
decoding; null: none is enough. ``kernels`` is as in the figures of `paceline chat`, and
``same_text`` says in words whether the text of a turn can depend on the strategy.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from paceline.cli import model_options
from paceline.cli.loading import TurnError, carried_out, loaded_pair
from paceline.cli.output import Interrupts, ProgressLine, as_json, in_columns, print_result, remark
from paceline.cli.usage import Parser
from paceline.engine.model.threads import default_threads
from paceline.errors import UserError
from paceline.figures import Sameness, by_kind
from paceline.hosting.client import EngineClient
from paceline.messages import (
    Calibrate,
    Calibrated,
    ModelInfo,
    PairLoaded,
    SamenessChanged,
    WidthCost,
)
from paceline.paths import Paths

_CONCLUSION_TOKENS = 4
"""Width in tokens that the conclusion is about: drafts of three tokens."""


def add(parser: Parser) -> None:
    """Describe the command line of `paceline calibrate`."""
    parser.description = (
        "Measure what decoding several tokens at once costs, compared with one, and print from "
        "which acceptance on drafts pay, and whether the text depends on drafts. What is found is "
        "kept."
    )
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
        load, notes = model_options.read_pair(args, paths)
        for note in notes:
            remark(note)
        in_process = model_options.runs_in_process(args)
        with loaded_pair(load, paths, interrupts, in_process=in_process) as (client, loaded):
            answer, sameness = measure(client, interrupts)
    report = as_object(args, loaded, answer, sameness or loaded.sameness)
    print_result(as_json(report) if args.json else as_text(report))
    return 0


def measure(client: EngineClient, interrupts: Interrupts) -> tuple[Calibrated, Sameness | None]:
    """Let a client with a loaded pair measure it.

    Returns:
        The measured costs, and new evidence about sameness, if any.

    Raises:
        UserError: It could not be measured, or Ctrl+C was pressed.
    """
    sameness: Sameness | None = None
    with ProgressLine() as progress:
        progress.show("Measuring what steps cost")
        ticket = client.request(Calibrate())
        for event in carried_out(ticket, interrupts):
            if isinstance(event, SamenessChanged):
                sameness = event.sameness
    if interrupts.hit:
        raise TurnError("cancelled", "Stopped before everything was measured.")
    answer = ticket.answer
    assert isinstance(answer, Calibrated)
    if answer.problem:
        raise UserError("not-calibrated", answer.problem)
    return answer, sameness


def as_object(
    args: argparse.Namespace, loaded: PairLoaded, answer: Calibrated, sameness: Sameness | None
) -> dict[str, Any]:
    """Return the report as plain data."""
    draft_token_s = one_token_s(answer.draft_costs)
    rows = rows_of(answer.costs, draft_token_s or 0.0)
    return {
        "target": loaded.target.name,
        "draft": loaded.draft.name if loaded.draft else None,
        "threads": _threads(loaded.target, args.n_threads),
        "draft_threads": _threads(loaded.draft, args.n_threads_draft) if loaded.draft else None,
        "widths": [dataclasses.asdict(row) for row in rows],
        "draft_token_s": draft_token_s,
        "kernels": by_kind(loaded.target.kernels),
        "conclusion": conclusion(rows, draft_token_s or 0.0),
        "same_text": sameness.words if sameness else None,
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
    rows = [TableRow(**row) for row in report["widths"]]
    table = costs_table(rows, report["draft_token_s"])
    ends = [report["conclusion"], *filter(None, [report["same_text"]])]
    return "\n".join([*lines, "", table, *ends, ""])


def costs_table(rows: Sequence[TableRow], draft_token_s: float | None) -> str:
    """Return a table of the costs of steps by width, and below the time of drafting a token."""
    titles = ["tokens", "ms per step", "of a plain step", "ms per token", "pays from"]
    cells = [_cells(row) for row in rows]
    if draft_token_s:  # the draft model's time is in the last column, a lookup's would be none
        titles[-1:] = ["draft model pays from", "lookup pays from"]
        for row, texts in zip(rows, cells, strict=True):
            texts.append(_share(row.tokens, break_even(row.tokens, row.ratio)))
    table = in_columns([titles, *cells], right=range(len(titles)))
    if draft_token_s is None:
        return table
    share = draft_token_s / rows[0].seconds
    return (
        f"{table}\nDrafting takes {draft_token_s * 1e3:.3g} ms per token, {share:.2f} of a step.\n"
    )


def _cells(row: TableRow) -> list[str]:
    return [
        str(row.tokens),
        f"{row.seconds * 1e3:.2f}",
        f"{row.ratio:.2f}",
        f"{row.seconds_per_token * 1e3:.2f}",
        _share(row.tokens, row.break_even),
    ]


def _share(n_tokens: int, share: float | None) -> str:
    if n_tokens == 1:
        return ""
    return "never" if share is None else f"{share:.0%}"


# ---------------------------------------------------------------------------------- what costs mean


@dataclass(frozen=True, slots=True)
class TableRow:
    """One measured width; `break_even` is None where no acceptance is enough."""

    tokens: int
    seconds: float
    ratio: float
    seconds_per_token: float
    break_even: float | None
    n_samples: int


def one_token_s(costs: Sequence[WidthCost]) -> float | None:
    """Return the seconds of a decode of one token, or None if not known."""
    return next((cost.seconds for cost in costs if cost.width == 1), None)


def rows_of(costs: Sequence[WidthCost], draft_token_s: float) -> list[TableRow]:
    """Return a row for each width, narrowest first; empty without a plain step's cost.

    Args:
        costs: The measured costs.
        draft_token_s: Seconds that drafting one token takes.
    """
    measured = sorted(costs, key=lambda cost: cost.width)
    if not measured or measured[0].width != 1:
        return []
    plain_s = measured[0].seconds
    return [
        TableRow(
            cost.width,
            cost.seconds,
            cost.seconds / plain_s,
            cost.seconds / cost.width,
            break_even(cost.width, (cost.seconds + (cost.width - 1) * draft_token_s) / plain_s),
            cost.n_samples,
        )
        for cost in measured
    ]


def break_even(width: int, ratio: float) -> float | None:
    """Return the share of drafted tokens that must be accepted so that a step pays.

    With a share a of drafted tokens accepted one after the other, a step of n tokens commits
    (1 - a^n) / (1 - a) of them (Leviathan et al., arXiv 2211.17192), and takes T(n) and the time
    of drafting n - 1. It pays where that is more than plain decoding commits in the same time.

    Args:
        width: Tokens of the step.
        ratio: Its time, drafting included, over that of a plain step.
    """
    if ratio >= width > 1:
        return None
    low, high = 0.0, 1.0
    for _ in range(40):
        share = (low + high) / 2
        if sum(share**i for i in range(width)) < ratio:
            low = share
        else:
            high = share
    return high if ratio > 1 else 0.0


def conclusion(rows: Sequence[TableRow], draft_token_s: float) -> str:
    """Return the conclusion from the costs in one sentence."""
    drafted = [row for row in rows if row.tokens > 1]
    if not drafted:
        return "No step of several tokens could be measured, so nothing can be said about drafts."
    free = {row.tokens: break_even(row.tokens, row.ratio) for row in drafted}
    if all(share is None for share in free.values()):
        return (
            "A step of several tokens takes as long here as its tokens one by one, so speculation "
            "cannot pay with this pair."
        )
    row = max(
        (r for r in drafted if r.tokens <= _CONCLUSION_TOKENS),
        key=lambda r: r.tokens,
        default=drafted[0],
    )
    n = row.tokens - 1
    what = "drafts of 1 token pay" if n == 1 else f"drafts of {n} tokens pay"
    if free[row.tokens] is None:
        return f"Here drafts pay only in other lengths than {n}, as the table shows."
    if draft_token_s and row.break_even is not None:
        lookup = free[row.tokens] or 0.0
        return (
            f"Here {what} where more than {row.break_even:.0%} of the tokens are accepted; from a "
            f"lookup, which costs nothing to ask, where more than {lookup:.0%} are."
        )
    text = f"Here {what} where more than {free[row.tokens]:.0%} are accepted"
    if draft_token_s:
        return f"{text} if a lookup gives them; drafting by a model takes too long here."
    return f"{text}, if a lookup gives them, which costs nothing to ask."
