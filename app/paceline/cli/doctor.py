"""`paceline doctor`: what a bug report needs, and what is known to be wrong with this machine.

With ``--last`` it looks at the last reply instead: see `last_report`. With ``--build-kernels`` it
compiles Paceline's own CPU kernels: see `kernel_command`.
"""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import shutil
import sys
from importlib import metadata
from typing import TYPE_CHECKING, Any

import psutil

from paceline import __version__, paths
from paceline.cli import engine_probe, kernel_options, known_problems, last_report
from paceline.cli.output import Results
from paceline.engine import own_kernels
from paceline.engine.facts import Facts
from paceline.engine.threads import default_threads
from paceline.errors import UserError

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from paceline.messages import EngineDescribed, KernelWish

_DISTRIBUTIONS = ("llama-cpp-python", "PySide6-Essentials", "numpy", "huggingface-hub")
_GIB = 2**30


def run(args: argparse.Namespace) -> int:
    """Print the report; always 0, because a report about problems is a success.

    Raises:
        UserError: It cannot be printed, there is no last reply to report about, or the kernels
            cannot be compiled, or not be used where they are insisted on.
    """
    if args.build_kernels:
        from paceline.cli import kernel_command

        return kernel_command.run(args)
    if args.last:
        report = last_report.collect(paths.Paths.from_environment().data_dir)
        in_words = last_report.as_text
    else:
        wish = kernel_options.read_kernels(args)
        if wish == "own":
            _insist(paths.Paths.from_environment())
        report, in_words = collect(wish), as_text
    text = json.dumps(report, indent=2, ensure_ascii=False) if args.json else in_words(report)
    results = Results()
    results.write(text + "\n")
    results.check()
    return 0


def collect(kernels: KernelWish = "auto") -> dict[str, Any]:
    """Return the report as plain data; touches no folder and loads no Qt."""
    versions = {name: _version(name) for name in _DISTRIBUTIONS}
    asked = engine_probe.ask_engine()
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
    """See that own kernels can be used here, which may test them first.

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
        f"memory: {memory['available_bytes'] / _GIB:.1f} of {memory['total_bytes'] / _GIB:.1f} "
        "GiB available",
        "",
    ]
    for name, folder in report["folders"].items():
        state = "writable" if folder["writable"] else "NOT writable"
        lines.append(f"{name}: {folder['path']} ({state})")
    for role, model in report["demo_pair"].items():
        lines.append(f"demo {role}: {model['path']}{'' if model['present'] else ' (MISSING)'}")
    lines.append("")
    for problem in report["problems"]:
        lines += [f"problem: {problem['text']}", f"  remedy: {problem['remedy']}"]
    return "\n".join([*lines, *([] if report["problems"] else ["No known problems."])])


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
    return f"CPU kernels: Paceline's ({kernels['library']}). {tests}" + (
        f" Left out: {left_out}." if left_out else ""
    )


def _device_line(device: dict[str, Any]) -> str:
    return (
        f"device {device['name']}: {device['description']} ({device['kind']}, "
        f"{device['free_bytes'] / _GIB:.1f} of {device['total_bytes'] / _GIB:.1f} GiB free)"
    )
