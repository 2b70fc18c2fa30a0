"""`paceline pairs`: check whether two models go together, and list pairs that do.

``check --json`` prints ``{"ok", "reasons": [{"code", "text"}], "remedy": {"text", "target",
"draft"} | null, "memory": [{"device", "weights", "kv", "compute", "free"}]}``: both models
together, or the target and its MTP head, in bytes. That a pair does not fit is an answer, not a
failure; where it works by translation between two tokenizers, the first reason is
``by-translation``. Where a file is a drafter that cannot be used so (``target-is-sidecar``,
``draft-is-sidecar``, ``other-head``, ``no-head``), ``memory`` is empty.

``list --json`` prints an array; ``type`` is "draft" for a pair, "mtp" for a model with an MTP head,
"dflash" for one with a drafter that this version cannot use, "lookup" for models that need none.
``draft`` may be null.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paceline.catalog.judge.curated import NOT_CHECKED
from paceline.catalog.sidecar import check_head
from paceline.cli.loading import StoppedError, ask_engine, open_models
from paceline.cli.model_options import (
    add_hardware,
    add_heads,
    add_servers,
    check_name,
    read_head,
    read_params,
    read_servers,
)
from paceline.cli.output import Interrupts, as_json, in_columns, print_result, remark
from paceline.cli.usage import UsageError
from paceline.engine.draft.heads import drafts_with, head_title
from paceline.engine.model.rpc_servers import RpcServerError
from paceline.errors import CancelledError, UserError
from paceline.params import Drafting, DraftModel, TargetHead
from paceline.paths import Paths
from paceline.sizes import readable_size

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from paceline.catalog.judge.curated import CuratedPair
    from paceline.catalog.judge.pairing import PairVerdict
    from paceline.catalog.memory.values import DevicePlan, MemoryPlan
    from paceline.catalog.models import Models
    from paceline.cli.usage import Parser


_MARKS = {"bad": "✗", "note": "!", "good": "✓"}
_MODEL = "GGUF file, or hf:OWNER/REPO:FILE or its address, of which only the header is fetched"


def add(parser: Parser) -> None:
    """Describe the command lines of `paceline pairs`."""
    parser.description = "Say whether two models go together, and list pairs that were reported to."
    commands = parser.add_subparsers(dest="action", metavar="COMMAND", required=True)

    check = commands.add_parser(
        "check",
        help="say whether a draft model or an MTP head goes with a target, and what both take",
        description="Say whether a draft model, or without one an MTP head, can draft for a "
        "target, why, what to take instead, and how much memory both take. No weights are read or "
        "downloaded.",
        epilog="Example: paceline pairs check big.gguf hf:Qwen/Qwen3-0.6B-GGUF:Q8_0 --ctx 8192",
    )
    check.add_argument("target", metavar="TARGET", help=_MODEL)
    check.add_argument(
        "draft",
        metavar="DRAFT",
        nargs="?",
        help="the same for the draft model, or for a file with an MTP head (default: the head that "
        "--mtp says)",
    )
    add_heads(check)
    check.add_argument("--json", action="store_true", help="one JSON object")
    hardware = check.add_argument_group("how they would be loaded")
    add_hardware(hardware)
    add_servers(hardware)

    listing = commands.add_parser(
        "list",
        help="show pairs that were reported to work, with the reports",
        description="Show pairs of models that were reported to work, where that was, and which "
        "of them are on this computer; then models that need no draft model, models with an MTP "
        "head, and models with a DFlash network, which this version cannot use yet. The gains are "
        "what the reports say.",
    )
    listing.add_argument("--json", action="store_true", help="one JSON array")


def run(args: argparse.Namespace) -> int:
    """Carry out a `pairs` command; returns the exit code.

    Raises:
        UserError: A model cannot be read.
    """
    with Interrupts() as interrupts, open_models(Paths.from_environment()) as models:
        # A file that keeps its reader busy would keep Ctrl+C waiting.
        interrupts.when_hit(models.close)
        try:
            if args.action == "check":
                text = _check(args, models, lambda: interrupts.hit)
            else:
                text = _list(args, models)
        except (CancelledError, UserError):
            if interrupts.hit:
                raise StoppedError("cancelled", "Stopped before the answer was known.") from None
            raise
    print_result(text)
    return 0


# -------------------------------------------------------------------------------------------- check


def _check(args: argparse.Namespace, models: Models, is_stopped: Callable[[], bool]) -> str:
    for name, reference in (("TARGET", args.target), ("DRAFT", args.draft)):
        check_name(name, reference)
    servers = read_servers(args)
    target = read_params(args.target, args, "")
    drafting: Drafting = read_head(args)
    if args.draft is not None:
        drafting = DraftModel(read_params(args.draft, args, "_draft"))
    if drafting is None:
        raise UsageError("usage", "There is no drafter to check.", "Give DRAFT, or no --mtp off.")
    if isinstance(drafting, TargetHead) and drafting.file:
        check_head(models.card(drafting.file, is_stopped), Path(drafting.file).name, drafting.kind)
    verdict = models.judge(target.path, drafting.file, is_stopped)
    if isinstance(drafting, DraftModel) and verdict.is_about_head:
        kind = drafts_with(models.card(drafting.file, is_stopped).sidecar)
        drafting = TargetHead(kind, drafting.file)
    plan: MemoryPlan | None = None
    are_models = verdict.reasons[0].code not in ("target-is-sidecar", "draft-is-sidecar")
    are_models = are_models and (verdict.ok or not verdict.is_about_head)
    engine = ask_engine(servers).answer if are_models else None
    if engine is None and are_models:
        remark("The engine does not start, so memory is not known; `paceline doctor` says why.")
    elif engine is not None:
        if engine.lost:
            raise RpcServerError(engine.lost)
        plan = models.plan(target, drafting, engine.devices, is_stopped=is_stopped)
    if args.json:
        return as_json(_as_object(verdict, plan, target.path))
    return _as_text(verdict, plan, args.target)


def _as_object(verdict: PairVerdict, plan: MemoryPlan | None, target: str) -> dict[str, Any]:
    remedy = verdict.remedy
    return {
        "ok": verdict.ok,
        "reasons": [{"code": reason.code, "text": reason.text} for reason in verdict.reasons],
        "remedy": remedy
        and {
            "text": remedy.text,
            "target": remedy.target or target,
            "draft": remedy.draft or None,
        },
        "memory": [_memory(device) for device in plan.devices] if plan else [],
    }


def _memory(device: DevicePlan) -> dict[str, Any]:
    target, draft = device.target, device.draft
    kv, total = target.kv + draft.kv, target.total + draft.total
    weights = target.weights + draft.weights
    return {
        "device": device.device,
        "weights": weights,
        "kv": kv + device.states,
        "compute": total - weights - kv,
        "free": device.free,
    }


def _as_text(verdict: PairVerdict, plan: MemoryPlan | None, target: str) -> str:
    lines = [_summary(verdict)]
    lines += [f"  {_MARKS[reason.level]} {reason.text}" for reason in verdict.reasons]
    if verdict.gain:
        lines.append(verdict.gain)
    if verdict.remedy:
        lines += ["", f"Instead: {verdict.remedy.text}"]
        if verdict.remedy.draft:
            names = f"{_quoted(verdict.remedy.target or target)} {_quoted(verdict.remedy.draft)}"
            lines.append(f"  paceline pairs check {names}")
    if plan:
        how = "measured by a load without weights" if plan.is_measured else "estimated"
        what = "both models"
        if isinstance(plan.drafting, TargetHead):
            what = f"the model and its {head_title(plan.drafting.kind)}"
        lines += ["", f"Memory of {what} ({how}):", _table(plan).rstrip()]
        lines += [f"  {remedy.text}" for remedy in plan.remedies[:1]]
        lines += ["", plan.going_back.sentence] if plan.going_back else []
    return "\n".join(lines) + "\n"


def _summary(verdict: PairVerdict) -> str:
    if not verdict.ok:
        return "The pair does not fit."
    return "The pair fits." if verdict.translated is None else "The pair works by translation."


def _quoted(name: str) -> str:
    return f'"{name}"' if " " in name else name


def _table(plan: MemoryPlan) -> str:
    rows = [("device", "weights", "caches", "buffers", "free", "")]
    for device in plan.devices:
        memory = _memory(device)
        sizes = [readable_size(memory[name]) for name in ("weights", "kv", "compute", "free")]
        verdict = "" if device.fits else "does not fit"
        rows.append((device.title, sizes[0], sizes[1], sizes[2], sizes[3], verdict))
    return in_columns(rows, right=(1, 2, 3, 4))


# --------------------------------------------------------------------------------------------- list


def _list(args: argparse.Namespace, models: Models) -> str:
    here = [(pair, models.is_here(pair)) for pair in models.curated]
    if args.json:
        return as_json([_pair_object(*row) for row in here])
    return "\n\n".join(_pair_text(*row) for row in here) + "\n"


def _pair_object(pair: CuratedPair, here: tuple[bool, bool]) -> dict[str, Any]:
    evidence = pair.evidence
    return {
        "title": pair.title,
        "type": pair.kind,
        "target": {
            "repo": pair.target_repo or None,
            "file": pair.target_file,
            "is_here": here[0],
        },
        "draft": {
            "repo": pair.draft_repo,
            "file": pair.draft_file,
            "n_bytes": pair.draft_bytes,
            "is_here": here[1],
        }
        if pair.draft_repo
        else None,
        "machine": pair.machine,
        "least_memory": pair.least_memory,
        "gain": pair.gain and asdict(pair.gain),
        "evidence": evidence and {"url": evidence.url, "date": evidence.date},
        "vocabulary_checked": pair.vocabulary_checked,
    }


def _pair_text(pair: CuratedPair, here: tuple[bool, bool]) -> str:
    vocabulary = {None: NOT_CHECKED, True: "checked, fits", False: "checked, does not fit"}
    lines = [pair.title]
    for name, repo, file, size, is_here in (
        ("target", pair.target_repo, pair.target_file, None, here[0]),
        ("draft", pair.draft_repo, pair.draft_file, pair.draft_bytes, here[1]),
    ):
        if not repo or (name == "draft" and pair.drafter):
            continue
        parts = [f"hf:{repo}:{file}" if file else f"hf:{repo}"]
        parts += [readable_size(size)] if size else []
        parts += ["on this computer"] if is_here else []
        lines.append(f"  {name:<11} {', '.join(parts)}")
    if pair.drafter:
        lines.append(f"  {'drafter':<11} {pair.drafter}")
    else:
        lines.append(f"  {'vocabulary':<11} {vocabulary[pair.vocabulary_checked]}")
    lines.append(f"  {'for':<11} {pair.needs}")
    lines.append(f"  {'gain':<11} {pair.gain or NOT_CHECKED}")
    if pair.evidence:
        when = f", {pair.evidence.date}" if pair.evidence.date else ""
        lines.append(f"  {'reported':<11} {pair.evidence.url}{when}")
    return "\n".join(lines)
