"""`paceline doctor`: what a bug report needs, and what is known to be wrong with this machine.

With ``--last`` it looks at the last reply instead: see `last_report`.
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
from paceline.cli import engine_probe, known_problems, last_report
from paceline.cli.output import Results
from paceline.engine.threads import default_threads
from paceline.errors import UserError

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from paceline.messages import EngineDescribed

_DISTRIBUTIONS = ("llama-cpp-python", "PySide6-Essentials", "numpy", "huggingface-hub")
_GIB = 2**30


def run(args: argparse.Namespace) -> int:
    """Print the report; always 0, because a report about problems is a success.

    Raises:
        UserError: It cannot be printed, or there is no last reply to report about.
    """
    if args.last:
        report = last_report.collect(paths.Paths.from_environment().data_dir)
        in_words = last_report.as_text
    else:
        report, in_words = collect(), as_text
    text = json.dumps(report, indent=2, ensure_ascii=False) if args.json else in_words(report)
    results = Results()
    results.write(text + "\n")
    results.check()
    return 0


def collect() -> dict[str, Any]:
    """Return the report as plain data; touches no folder and loads no Qt."""
    versions = {name: _version(name) for name in _DISTRIBUTIONS}
    asked = engine_probe.ask_engine()
    engine, error = asked.answer, asked.library_error
    folders = _folders(paths.Paths.from_environment())
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
    lines += [_process_line(report["engine_process"])]
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


def _device_line(device: dict[str, Any]) -> str:
    return (
        f"device {device['name']}: {device['description']} ({device['kind']}, "
        f"{device['free_bytes'] / _GIB:.1f} of {device['total_bytes'] / _GIB:.1f} GiB free)"
    )
