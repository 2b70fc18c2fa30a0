"""Paceline's own CPU kernels for `paceline doctor`: whether they are used here, and building them.

`--build-kernels` compiles them for this machine; `--json` then prints ``{"library", "built"}``: the
library's path, and whether it was compiled now.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from pathlib import Path
from typing import Any

from paceline import paths
from paceline.cli.output import print_result, remark
from paceline.engine.facts import Facts
from paceline.engine.model import own_kernels
from paceline.engine.model.own_kernels import mark_path
from paceline.errors import UserError
from paceline.installation import kernel_build, kernel_files, package
from paceline.installation.kernel_build import NOT_BUILT
from paceline.messages import KernelWish


def insist(places: paths.Paths) -> None:
    """Check that own kernels can be used here, which may test them first.

    Raises:
        UserError: They cannot.
    """
    from paceline.engine.cancel import CancelFlag
    from paceline.engine.native import llama_backend

    cache_dir = str(places.cache_dir)
    llama_backend().choose_kernels("own", Facts(cache_dir), cache_dir, CancelFlag())


def collect(places: paths.Paths, wish: KernelWish) -> dict[str, Any]:
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
    report["proved"] = [name for name, why in outcomes.items() if why == own_kernels.PROVED]
    report["refused"] = {name: w for name, w in outcomes.items() if w != own_kernels.PROVED}
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


def as_line(kernels: dict[str, Any]) -> str:
    """Return the report for people."""
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


def build(args: argparse.Namespace) -> int:
    """Compile the kernels into the user's cache, unless the installation has them already.

    That they ended the engine, or failed their test, is forgotten: the command asks for another
    try. A package compiles nothing.

    Raises:
        UserError: They cannot be compiled, or the result cannot be printed.
    """
    cache_dir = paths.Paths.from_environment().cache_dir
    library = kernel_files.find()
    is_built = library is None
    if library is None:
        library = _compile(paths.ensure(cache_dir / "kernels"))
    elif package.is_packaged():
        remark("A package builds no kernels; its own are tested again at the next start.")
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
