"""`paceline doctor`: facts for a bug report, and known problems of this machine."""

from __future__ import annotations

import argparse
import dataclasses
import os
import platform
import shutil
import sys
from collections.abc import Sequence
from contextlib import closing
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil

from paceline import __version__, paths
from paceline.cli.findings import children, kernels, known_problems, last_reply, native_code, rows
from paceline.cli.loading import ask_engine, open_models
from paceline.cli.model_options import add_kernels, add_servers, read_kernels, read_servers
from paceline.cli.output import ProgressLine, as_json, print_result
from paceline.cli.usage import Parser
from paceline.codec import encode
from paceline.engine.model.rpc_servers import ask_servers
from paceline.engine.model.threads import default_threads
from paceline.errors import UserError
from paceline.figures import DeviceKind, ServerProblem
from paceline.files import used_bytes
from paceline.installation import gpu_starts, package, remedies
from paceline.messages import DeviceInfo, EngineDescribed, KernelWish
from paceline.params import ModelParams
from paceline.sizes import one_line, part_and_whole, readable_size

_KINDS: dict[DeviceKind, str] = {
    "cpu": "cpu",
    "gpu": "GPU",
    "igpu": "integrated GPU",
    "accel": "accelerator",
    "rpc": "RPC server",
}
_DISTRIBUTIONS = ("llama-cpp-python", "PySide6-Essentials", "numpy", "huggingface-hub")


def add(parser: Parser) -> None:
    """Describe the command line of `paceline doctor`."""
    parser.description = (
        "Show versions, devices, threads, folders, how the models of this computer take drafts "
        "back, and known problems with remedies."
    )
    parser.add_argument("--json", action="store_true", help="one JSON object")
    add_kernels(parser)
    add_servers(parser)
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
        help=argparse.SUPPRESS  # a package has them, and builds none
        if package.is_packaged()
        else "compile Paceline's own code for sampling, and its CPU kernels for this llama.cpp, "
        "which takes a C++ compiler, the network and about a minute",
    )


def run(args: argparse.Namespace) -> int:
    """Print the report; always 0, because a report about problems is a success.

    Raises:
        UserError: It cannot be printed, there is no last reply to report about, or the kernels
            cannot be compiled, or not be used where they are insisted on.
    """
    if args.build_kernels:
        return native_code.build(args)
    if args.last:
        report = last_reply.collect(paths.Paths.from_environment().data_dir)
        in_words = last_reply.as_text
    else:
        wish = read_kernels(args)
        if wish == "own":
            kernels.insist(paths.Paths.from_environment())
        report, in_words = collect(wish, read_servers(args)), as_text
    print_result(as_json(report) if args.json else in_words(report))
    return 0


def collect(wish: KernelWish = "auto", servers: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the report as plain data; touches no folder and loads no Qt.

    Args:
        wish: The requested kernels.
        servers: RPC servers that are asked for their devices, as HOST:PORT.
    """
    places = paths.Paths.from_environment()
    no_gpus = gpu_starts.n_lost() >= gpu_starts.MAX_FAILED_STARTS
    with closing(children.TrialOfChildren(places.cache_dir)) as trial:
        asked = ask_engine(servers)
        installed = _installed(places, asked.answer.devices if asked.answer else ())
        tried = trial.answers(asked)
    versions = {name: _version(name) for name in _DISTRIBUTIONS}
    engine, error = asked.answer, asked.library_error
    lost = _lost(engine, servers)
    has_gpu = any(d.takes_layers and not d.server for d in engine.devices) if engine else False
    folders = _folders(places)
    models = _demo_pair()
    memory = psutil.virtual_memory()
    facts = known_problems.ReportFacts(
        python=sys.version_info[:3],
        installed=versions,
        required_library=remedies.pinned(remedies.LIBRARY),
        library_error=error,
        process_error=asked.process_error,
        system_info=engine.system_info if engine else "",
        machine=platform.machine(),
        supports_gpu=has_gpu,
        has_nvidia=shutil.which("nvidia-smi") is not None,
        locked_folders=tuple(f["path"] for f in folders.values() if not f["writable"]),
        missing_models=tuple(m["path"] for m in models.values() if not m["present"]),
        lost_servers=lost,
        silent={child.name: child.error for child in tried[1:] if not child.starts},
        lost_starts=gpu_starts.n_lost(),
        no_gpus=no_gpus,
    )
    return {
        "versions": {"paceline": __version__, "python": platform.python_version(), **versions},
        "installation": package.installed_as(),
        "system": platform.platform(),
        "library": _library(engine, error, has_gpu=has_gpu),
        "kernels": kernels.collect(places, wish),
        "sampling": rows.collect(places),
        "engine_process": {
            "starts": not asked.process_error,
            "seconds": round(asked.seconds, 3),
            "error": asked.process_error,
        },
        "children": [child._asdict() | {"seconds": round(child.seconds, 3)} for child in tried],
        "devices": [encode(device) for device in engine.devices] if engine else [],
        "servers": _servers(servers, lost),
        "cores": {
            "physical": psutil.cpu_count(logical=False),
            "logical": psutil.cpu_count(),
            "default_threads": default_threads(),
        },
        "memory": {"total_bytes": memory.total, "available_bytes": memory.available},
        "folders": folders,
        "states": {"path": str(places.states_dir), "bytes": used_bytes(places.states_dir)},
        "demo_pair": models,
        "models": installed,
        "problems": [dataclasses.asdict(problem) for problem in known_problems.find(facts)],
    }


def _lost(engine: EngineDescribed | None, servers: tuple[str, ...]) -> tuple[ServerProblem, ...]:
    if engine is not None:
        return engine.lost
    answers = ask_servers(servers)
    return tuple(answer.problem for answer in answers if answer.problem is not None)


def _servers(servers: tuple[str, ...], lost: Sequence[ServerProblem]) -> list[dict[str, Any]]:
    problems = {problem.server: problem.message for problem in lost}
    return [{"server": server, "problem": problems.get(server)} for server in servers]


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _library(engine: EngineDescribed | None, error: str, *, has_gpu: bool) -> dict[str, Any]:
    if engine is None:
        return {"error": error}
    return {
        "version": engine.library_version,
        "system_info": engine.system_info,
        "cpu_variant": engine.cpu_variant,
        "supports_gpu": has_gpu,
    }


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
    """Return whether files can be made there, or the folder itself can; creates nothing."""
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
    """Return how each model on this computer would take drafts back, or why it cannot."""
    if not devices:
        return []
    from paceline.catalog.judge.pairing import NOTHING_TO_DRAFT

    found = []
    with (
        TemporaryDirectory() as folder,  # what is remembered of models stays as it is
        open_models(dataclasses.replace(places, cache_dir=Path(folder))) as models,
        ProgressLine() as progress,
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
    lines.append(f"installation: {report['installation']}")
    lines += [f"library: {key} {value}" for key, value in report["library"].items()]
    lines += [_process_line(report["engine_process"]), children.as_line(report["children"])]
    lines += [kernels.as_line(report["kernels"]), rows.as_line(report["sampling"])]
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
    states = report["states"]
    lines.append(f"states of prompts: {states['path']} ({readable_size(states['bytes'])})")
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


def _device_line(device: dict[str, Any]) -> str:
    sharing = f", shares the memory of {device['shares']}" if device["shares"] else ""
    return (
        f"device {device['name']}: {device['description']} ({_KINDS[device['kind']]}, "
        f"{_of(device['free_bytes'], device['total_bytes'])} free{sharing})"
    )


def _of(n_free: int, n_total: int) -> str:
    return "{} of {}".format(*part_and_whole(n_free, n_total))
