"""`paceline doctor`: what a bug report needs, and what is known to be wrong with this machine.

With ``--last`` it shows the figures of the last reply that may be remembered, with advice. The
figures of a drafter are those that llama.cpp prints at the end of a run
(`common/speculative.cpp`): calls, drafts, accepted drafts, tokens, accepted tokens, and how long
begin, draft and accept took.

With ``--build-kernels`` it compiles Paceline's own CPU kernels for this machine; ``--json`` then
prints ``{"library", "built"}``: the library's path, and whether it was compiled now.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import platform
import shutil
import signal
import sys
from collections.abc import Sequence
from datetime import datetime
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil

from paceline import __version__, kernel_build, kernel_files, paths
from paceline.cli import known_problems
from paceline.cli.chat_run import stats_object
from paceline.cli.loading import ask_engine, open_models
from paceline.cli.model_options import add_kernels, read_kernels
from paceline.cli.output import Progress, as_json, print_result, remark
from paceline.cli.usage import Parser
from paceline.engine.facts import Facts
from paceline.engine.model import own_kernels
from paceline.engine.model.own_kernels import mark_path
from paceline.engine.model.threads import default_threads
from paceline.errors import UserError
from paceline.figures import percent
from paceline.kernel_build import NOT_BUILT
from paceline.messages import DeviceInfo, EngineDescribed, KernelWish
from paceline.params import ModelParams
from paceline.sizes import one_line, part_and_whole

_DISTRIBUTIONS = ("llama-cpp-python", "PySide6-Essentials", "numpy", "huggingface-hub")
_PLACES_SHOWN = 16


def add(parser: Parser) -> None:
    """Describe the command line of `paceline doctor`."""
    parser.description = (
        "Show versions, devices, threads, folders, how the models of this computer take drafts "
        "back, and known problems with remedies."
    )
    parser.add_argument("--json", action="store_true", help="one JSON object")
    add_kernels(parser)
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


def run(args: argparse.Namespace) -> int:
    """Print the report; always 0, because a report about problems is a success.

    Raises:
        UserError: It cannot be printed, there is no last reply to report about, or the kernels
            cannot be compiled, or not be used where they are insisted on.
    """
    if args.build_kernels:
        return build_kernels(args)
    if args.last:
        report, in_words = collect_last(paths.Paths.from_environment().data_dir), last_as_text
    else:
        wish = read_kernels(args)
        if wish == "own":
            _insist(paths.Paths.from_environment())
        report, in_words = collect(wish), as_text
    print_result(as_json(report) if args.json else in_words(report))
    return 0


# ------------------------------------------------------------------------------------- this machine


def collect(kernels: KernelWish = "auto") -> dict[str, Any]:
    """Return the report as plain data; touches no folder and loads no Qt."""
    versions = {name: _version(name) for name in _DISTRIBUTIONS}
    asked = ask_engine()
    engine, error = asked.answer, asked.library_error
    places = paths.Paths.from_environment()
    folders = _folders(places)
    models = _demo_pair()
    memory = psutil.virtual_memory()
    facts = known_problems.Facts(
        python=sys.version_info[:3],
        installed=versions,
        required_library=_required("llama-cpp-python"),
        library_error=error,
        process_error=asked.process_error,
        system_info=engine.system_info if engine else "",
        machine=platform.machine(),
        supports_gpu=bool(engine and engine.supports_gpu),
        has_nvidia=shutil.which("nvidia-smi") is not None,
        locked_folders=tuple(f["path"] for f in folders.values() if not f["writable"]),
        missing_models=tuple(m["path"] for m in models.values() if not m["present"]),
    )
    return {
        "versions": {"paceline": __version__, "python": platform.python_version(), **versions},
        "system": platform.platform(),
        "library": _library(engine, error),
        "kernels": _kernels(places, kernels),
        "engine_process": {
            "starts": not asked.process_error,
            "seconds": round(asked.seconds, 3),
            "error": asked.process_error,
        },
        "devices": [dataclasses.asdict(device) for device in engine.devices] if engine else [],
        "cores": {
            "physical": psutil.cpu_count(logical=False),
            "logical": psutil.cpu_count(),
            "default_threads": default_threads(),
        },
        "memory": {"total_bytes": memory.total, "available_bytes": memory.available},
        "folders": folders,
        "demo_pair": models,
        "models": _installed(places, engine.devices if engine else ()),
        "problems": [dataclasses.asdict(problem) for problem in known_problems.find(facts)],
    }


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _required(distribution: str) -> str:
    """Return the version that this program's own metadata pins."""
    try:
        requirements = metadata.requires("paceline") or []
    except metadata.PackageNotFoundError:
        return ""
    for requirement in requirements:
        name, _, version = requirement.partition("==")
        if name.strip() == distribution:
            return version.split(";")[0].strip()
    return ""


def _library(engine: EngineDescribed | None, error: str) -> dict[str, Any]:
    if engine is None:
        return {"error": error}
    return {
        "version": engine.library_version,
        "system_info": engine.system_info,
        "supports_gpu": engine.supports_gpu,
    }


def _insist(places: paths.Paths) -> None:
    """Check that own kernels can be used here, which may test them first.

    Raises:
        UserError: They cannot.
    """
    from paceline.engine.cancel import CancelFlag
    from paceline.engine.native import llama_backend

    cache_dir = str(places.cache_dir)
    llama_backend().choose_kernels("own", Facts(cache_dir), cache_dir, CancelFlag())


def _kernels(places: paths.Paths, wish: KernelWish) -> dict[str, Any]:
    """Return whose kernels compute on the CPU, and why; what is not known yet is empty."""
    cache_dir = str(places.cache_dir)
    report: dict[str, Any] = {
        "choice": "stock",
        "available": False,
        "library": None,
        "isa": "",
        "proved": [],
        "refused": {},
        "reason": "",
    }
    try:
        library = own_kernels.find_library(cache_dir)
    except UserError as error:
        return {**report, "reason": f"{error.message} {error.hint}".rstrip()}
    report |= {"available": True, "library": str(library)}
    key, facts = own_kernels.key_of(library), Facts(cache_dir)
    outcomes = own_kernels.known_outcomes(facts, key)
    report["isa"] = facts.get(own_kernels.isa_fact(key)) or ""
    report["proved"] = [name for name, why in outcomes.items() if why == own_kernels.EQUAL]
    report["refused"] = {name: w for name, w in outcomes.items() if w != own_kernels.EQUAL}
    if wish == "stock":
        return {**report, "reason": "They are chosen."}
    try:
        own_kernels.check_mark(cache_dir, key)
    except UserError as error:
        return {**report, "reason": f"{error.message} {error.hint}"}
    if not outcomes:
        report["reason"] = "They are tested before they are used for the first time."
    elif not report["proved"]:
        return {**report, "reason": "None of Paceline's has passed its test here."}
    return {**report, "choice": "own"}


def _folders(folders: paths.Paths) -> dict[str, dict[str, Any]]:
    return {
        field.name: {
            "path": str(folder := getattr(folders, field.name)),
            "exists": folder.is_dir(),
            "writable": _is_writable(folder),
        }
        for field in dataclasses.fields(folders)
    }


def _is_writable(folder: Path) -> bool:
    """Whether files can be made there, or the folder itself can; creates nothing."""
    nearest = next(place for place in (folder, *folder.parents) if place.exists())
    return nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)


def _demo_pair() -> dict[str, dict[str, Any]]:
    try:
        files = paths.demo_pair()
    except UserError:
        return {}
    return {
        role: {"path": str(file), "present": file.is_file()}
        for role, file in zip(("target", "draft"), files, strict=True)
    }


def _installed(places: paths.Paths, devices: Sequence[DeviceInfo]) -> list[dict[str, Any]]:
    """Return how each model of this computer would take drafts back, and why if it cannot."""
    if not devices:
        return []
    from paceline.catalog.judge.pairing import NOTHING_TO_DRAFT

    found = []
    with (
        TemporaryDirectory() as folder,  # what is remembered of models stays as it is
        open_models(dataclasses.replace(places, cache_dir=Path(folder))) as models,
        Progress() as progress,
    ):
        for entry in sorted(models.library.refresh(), key=lambda entry: entry.file.name):
            if entry.problem:
                continue
            path = str(entry.file.path)
            progress.show(f"Looking at {one_line(entry.file.name, 40)}")
            way, sentence = None, ""
            try:
                if not models.examine(path).nature.writes:
                    way, sentence = "none", NOTHING_TO_DRAFT
                elif back := models.plan(ModelParams(path), None, devices).going_back:
                    way, sentence = back.way, back.sentence
            except UserError as error:
                sentence = error.message
            found.append({"path": path, "way": way, "text": sentence or "Not known."})
    return found


def as_text(report: dict[str, Any]) -> str:
    """Return the report for people."""
    cores, memory = report["cores"], report["memory"]
    lines = [f"{name:<20} {version or 'missing'}" for name, version in report["versions"].items()]
    lines += [f"{'system':<20} {report['system']}", ""]
    lines += [f"library: {key} {value}" for key, value in report["library"].items()]
    lines += [_process_line(report["engine_process"]), _kernels_line(report["kernels"])]
    lines += [_device_line(device) for device in report["devices"]]
    lines += [
        "",
        f"cores: {cores['physical']} physical, {cores['logical']} logical, "
        f"{cores['default_threads']} threads by default",
        f"memory: {_of(memory['available_bytes'], memory['total_bytes'])} available",
        "",
    ]
    for name, folder in report["folders"].items():
        state = "writable" if folder["writable"] else "NOT writable"
        lines.append(f"{name}: {folder['path']} ({state})")
    for role, model in report["demo_pair"].items():
        lines.append(f"demo {role}: {model['path']}{'' if model['present'] else ' (MISSING)'}")
    if report["models"]:
        lines += ["", "Taking drafts back:"]
    for model in report["models"]:
        lines.append(f"  {one_line(Path(model['path']).name)}: {model['text']}")
    lines.append("")
    for problem in report["problems"]:
        lines += [f"problem: {problem['text']}", f"  remedy: {problem['remedy']}"]
    return "\n".join([*lines, *([] if report["problems"] else ["No known problems."]), ""])


def _process_line(process: dict[str, Any]) -> str:
    if process["starts"]:
        return f"engine process: answers after {process['seconds']:.2f} s"
    return f"engine process: does not answer ({process['error']})"


def _kernels_line(kernels: dict[str, Any]) -> str:
    reason = kernels["reason"]
    if kernels["choice"] == "stock":
        return f"CPU kernels: llama.cpp's. {reason}"
    proved, refused = kernels["proved"], kernels["refused"]
    tests = reason
    if proved:
        tests = f"{len(proved)} of {len(proved) + len(refused)} have passed their test here."
    left_out = ", ".join(f"{name} ({why})" for name, why in refused.items())
    return " ".join(
        (
            f"CPU kernels: Paceline's ({kernels['library']}). {tests}",
            *([f"Left out: {left_out}."] if left_out else []),
        )
    )


def _device_line(device: dict[str, Any]) -> str:
    return (
        f"device {device['name']}: {device['description']} ({device['kind']}, "
        f"{_of(device['free_bytes'], device['total_bytes'])} free)"
    )


def _of(n_free: int, n_total: int) -> str:
    return "{} of {}".format(*part_and_whole(n_free, n_total))


# ----------------------------------------------------------------------------------- the last reply


def collect_last(folder: Path) -> dict[str, Any]:
    """Return the report as plain data.

    Args:
        folder: Where `save_last_run` keeps its file.

    Raises:
        UserError: Nothing is kept there.
    """
    from paceline.chat.advice import advise  # imports all drafters, and NumPy
    from paceline.chat.last_run import load_last_run

    run = load_last_run(folder)
    if run is None:
        raise UserError(
            "no-last-run",
            "No figures of a reply are kept.",
            'Get some with `paceline chat --remember --prompt "…"`, or by a chat in the window.',
        )
    return {
        "when": datetime.fromtimestamp(run.when).astimezone().isoformat(timespec="seconds"),
        "strategy": run.strategy,
        "target": run.target,
        "draft": run.draft,
        "stats": stats_object(run.stats),
        "speedup": run.stats.speedup._asdict() if run.stats.speedup else None,
        "advice": [
            {"code": a.code, "text": a.text, "reason": a.reason, "strategy": a.strategy}
            for a in advise(run.stats, run.strategy)
        ],
    }


def last_as_text(report: dict[str, Any]) -> str:
    """Return the report for people."""
    lines = [
        f"last reply: {report['when']}",
        f"target: {report['target']}",
        f"draft model: {report['draft'] or 'none'}",
        f"strategy: {report['strategy']}",
        "",
        *_last_speed(report["stats"], report["speedup"]),
    ]
    for drafter, figures in report["stats"]["by_drafter"].items():
        lines += ["", *_last_drafter(drafter, figures)]
    lines.append("")
    for advice in report["advice"]:
        lines += [f"advice: {advice['text']}", f"  reason: {advice['reason']}"]
    return "\n".join(
        [*lines, *([] if report["advice"] else ["No advice: nothing stands out."]), ""]
    )


def _last_speed(stats: dict[str, Any], speedup: dict[str, float] | None) -> list[str]:
    against = "nothing drafted" if not stats["n_drafted"] else "no plain speed known"
    if speedup is not None:
        low, high = speedup["low"], speedup["high"]
        plain = stats["plain_tokens_per_s"]
        against = f"{speedup['ratio']:.2f} × ({low:.2f} to {high:.2f}) the plain {plain:.1f}"
    accepted, judged = stats["n_accepted"], stats["n_drafted"] - stats["n_discarded"]
    committed = stats["mean_committed_per_step"]
    return [
        f"speed: {stats['tokens_per_s']:.1f} tokens/s, {against}",
        f"tokens: {stats['n_generated']} in {stats['n_steps']} steps"
        + (f", {committed:.2f} per step" if committed is not None else ""),
        f"acceptance: {_share(accepted, judged)} ({accepted} of {judged} drafted tokens)",
    ]


def _last_drafter(name: str, d: dict[str, Any]) -> list[str]:
    rate = f"{_share(d['tokens_accepted'], d['tokens'])} accepted"
    lines = [
        f"{name}: {rate if d['tokens'] else 'nothing drafted'}",
        f"  calls: begin {d['n_begin']}, draft {d['n_draft']}, accept {d['n_accept']}",
        f"  drafts: {d['drafts']}, with accepted tokens {d['drafts_accepted']}",
        f"  tokens: {d['tokens']}, accepted {d['tokens_accepted']}",
        f"  time: begin {_ms(d['begin_s'])}, draft {_ms(d['draft_s'])}, "
        f"accept {_ms(d['accept_s'])}",
    ]
    places = d["accepted_per_position"]
    if places:
        rates = " ".join(_share(n, d["drafts"]) for n in places[:_PLACES_SHOWN])
        more = " …" if len(places) > _PLACES_SHOWN else ""
        lines.append(f"  accepted by place: {rates}{more}")
    return lines


def _share(part: int, whole: int) -> str:
    return f"{percent(part / whole)}%" if whole > 0 else "none"


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.1f} ms"


# -------------------------------------------------------------------------------------- own kernels


def build_kernels(args: argparse.Namespace) -> int:
    """Compile the kernels into the user's cache, unless the installation has them already.

    That they ended the engine, or failed their test, is forgotten: the command asks for another
    try.

    Raises:
        UserError: They cannot be compiled, or the result cannot be printed.
    """
    cache_dir = paths.Paths.from_environment().cache_dir
    library = kernel_files.find()
    is_built = library is None
    if library is None:
        library = _compile(paths.ensure(cache_dir / "kernels"))
    _forget_failures(cache_dir)
    words = "The kernels are built" if is_built else "The installation has the kernels already"
    found = {"library": str(library), "built": is_built}
    print_result((json.dumps(found) if args.json else f"{words}: {library}") + "\n")
    return 0


def _compile(into: Path) -> Path:
    # The exception lets the build delete its files when the program is ended.
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        return kernel_build.build(into, None, remark)
    finally:
        signal.signal(signal.SIGTERM, before)


def _forget_failures(cache_dir: Path) -> None:
    key = kernel_files.key()
    Facts(str(cache_dir)).forget(own_kernels.fact_name(key, ""))
    mark = mark_path(str(cache_dir), key)
    try:
        if mark is not None:
            mark.unlink(missing_ok=True)
    except OSError as error:
        raise UserError(
            NOT_BUILT,
            f"{mark}, which keeps the kernels from being used, cannot be removed "
            f"({error.strerror or error}).",
            "Remove it by hand.",
        ) from error
