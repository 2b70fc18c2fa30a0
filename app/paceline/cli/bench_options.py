"""The options of `paceline bench`, and the plan made of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from paceline.cli import model_options
from paceline.cli.usage import Parser, UsageError, plain_text, whole_number
from paceline.errors import UserError
from paceline.messages import LoadPair

if TYPE_CHECKING:
    import argparse

    from paceline.bench.plan import Plan
    from paceline.paths import Paths

LOAD_ID = "load"
STDOUT = "-"
_REPEATS = 3
_RECOMMEND_REPEATS = 4
_MOST_REPEATS = 1000
_WITHOUT_DRAFT = ("off", "auto", "prompt-lookup", "suffix")
_WITH_DRAFT = ("off", "auto", "draft", "suffix", "suffix+draft")


@dataclass(frozen=True, slots=True)
class BenchRequest:
    """What to load, what to measure, and where the results go.

    Attributes:
        load: The pair.
        plan: The runs.
        recommends: Whether the best fixed setting is looked for.
        json: Where the report goes: a file, "-" or nowhere (empty).
        png: Where the chart goes; None: nowhere.
        notes: Sentences about options without an effect.
    """

    load: LoadPair
    plan: Plan
    recommends: bool
    json: str
    png: Path | None
    notes: tuple[str, ...] = ()


def add_options(parser: Parser) -> None:
    """Add every option of `paceline bench`."""
    group = parser.add_argument_group("benchmark")
    group.add_argument(
        "--strategies",
        metavar="S,S,…",
        type=plain_text,
        help="what is compared, e.g. draft:n_max=4,suffix,auto; off always takes part (default: "
        "auto, the draft model, lookups, and a chain of both)",
    )
    group.add_argument(
        "--workload",
        metavar="FILE.jsonl",
        type=Path,
        help='prompts, one object per line: {"name", "messages" or "prompt_tokens", "max_tokens", '
        '"temperature", "top_k", "top_p", "min_p", "seed", "raw", "ignore_eog"} (default: seven '
        "that come with the program)",
    )
    group.add_argument(
        "--repeat",
        metavar="N",
        type=whole_number(1, _MOST_REPEATS),
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


def read_request(args: argparse.Namespace, folders: Paths) -> BenchRequest:
    """Return what the options ask for; reads the workloads.

    Raises:
        UsageError: Options that do not go together.
        UserError: A file with the wrong content, or that cannot be read or written.
    """
    from paceline.bench.plan import make_plan
    from paceline.bench.workload import read_workloads, shipped_workloads

    pair = model_options.read_pair(args)
    n_repeats = args.repeat or (_RECOMMEND_REPEATS if args.recommend else _REPEATS)
    if args.recommend and n_repeats < 2:
        raise UsageError(
            "usage",
            "--recommend needs at least two repeats: it chooses on the odd ones and compares on "
            "the even ones.",
            "Leave --repeat out, or raise it.",
        )
    workloads = read_workloads(args.workload or shipped_workloads())
    strategies = _strategies(args, has_draft=pair.draft is not None)
    plan = make_plan(workloads, strategies, n_repeats, is_fresh=args.fresh)
    if not _drafts_with_model(plan, has_draft=pair.draft is not None) and args.draft is None:
        pair = replace(pair, draft=None)
    for option, path in (("--json", _json_path(args)), ("--png", args.png)):
        _check_place(option, path)
    return BenchRequest(
        LoadPair(
            LOAD_ID,
            pair.target,
            pair.draft,
            cache_dir=str(folders.cache_dir),
            kernels=pair.kernels,
        ),
        plan,
        args.recommend,
        args.json or "",
        args.png,
        pair.notes,
    )


def _strategies(args: argparse.Namespace, *, has_draft: bool) -> tuple[str, ...]:
    if args.strategies is not None:
        names = [name.strip() for name in args.strategies.split(",")]
        if not all(names):
            raise UsageError(
                "usage", "A strategy in --strategies is empty.", "Write off,draft, for example."
            )
        return tuple(names)
    if args.recommend:
        from paceline.bench.recommend import sweep

        return sweep(has_draft=has_draft)
    return _WITH_DRAFT if has_draft else _WITHOUT_DRAFT


def _drafts_with_model(plan: Plan, *, has_draft: bool) -> bool:
    """Whether a draft model is used.

    Raises:
        UsageError: A strategy needs one, and there is none.
    """
    from paceline.engine.drafters.strategy import parse_strategy

    uses = False
    for strategy in plan.strategies:
        parsed = parse_strategy(strategy)
        if parsed.needs_draft_model and not has_draft:
            raise UsageError(
                "no-draft-model",
                f"The strategy {strategy} needs a draft model.",
                "Give one by --draft FILE, or leave the strategy out.",
            )
        uses = uses or parsed.needs_draft_model or parsed.is_auto
    return uses


def _json_path(args: argparse.Namespace) -> Path | None:
    return Path(args.json) if args.json and args.json != STDOUT else None


def _check_place(option: str, path: Path | None) -> None:
    """Refuse what cannot be written before an hour is spent on it.

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
