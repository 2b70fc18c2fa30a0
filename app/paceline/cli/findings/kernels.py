"""Paceline's own CPU kernels for `paceline doctor`: the choice between them and llama.cpp's."""

from __future__ import annotations

from typing import Any

from paceline import paths
from paceline.engine.facts import Facts
from paceline.engine.model import own_kernels
from paceline.errors import UserError
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
    """Return which kernels compute on the CPU, and why; unknown values are empty."""
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
