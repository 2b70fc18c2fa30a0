"""Sampling for `paceline doctor`: in native code or in Python, and why."""

from __future__ import annotations

from typing import Any

from paceline import paths
from paceline.engine.sample.native_rows import RowLibrary
from paceline.installation import library_build, package, remedies, rows_files


def collect(places: paths.Paths) -> dict[str, Any]:
    """Return which code samples tokens from rows of logits, with the reason if it is Python."""
    report: dict[str, Any] = {"choice": "python", "library": None, "isa": "", "reason": ""}
    path = rows_files.find(places.cache_dir)
    if path is None:
        return {**report, "reason": f"{_absence(places)} {remedies.kernels_built()}"}
    report["library"] = str(path)
    try:
        return {**report, "choice": "native", "isa": RowLibrary(path).isa}
    except OSError as error:
        why = f"Its library cannot be loaded ({error})."
        return {**report, "reason": f"{why} {remedies.kernels_built()}"}


def _absence(places: paths.Paths) -> str:
    if rows_files.is_damaged(places.cache_dir):
        return "Its library is damaged."
    if package.is_packaged():
        return "Its library is missing."
    if not library_build.has_compiler():
        return "Its library is not built, and there is no C++ compiler."
    return "Its library is not built."


def as_line(sampling: dict[str, Any]) -> str:
    """Return the report for people."""
    if sampling["choice"] == "python":
        return f"sampling: in Python, which is slower. {sampling['reason']}"
    return f"sampling: in native code, {sampling['isa']} ({sampling['library']})"
