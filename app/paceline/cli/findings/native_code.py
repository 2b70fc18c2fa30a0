"""The builds of native code that `paceline doctor --build-kernels` asks for.

The library for sampling is built on any system, the CPU kernels where there can be any. With
`--json` it prints ``{"library", "built", "rows": {"library", "built"}}``: the path of the kernels
(null: there are none for this computer), whether they were compiled now, and the same of the
library for sampling.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from paceline import paths
from paceline.cli.output import print_result, remark
from paceline.engine.facts import Facts
from paceline.engine.model import own_kernels
from paceline.errors import UserError
from paceline.installation import kernel_build, kernel_files, package, rows_build, rows_files
from paceline.installation.library_build import NOT_BUILT, BuildError


def build(args: argparse.Namespace) -> int:
    """Compile into the user's cache what the installation lacks.

    Notes that kernels ended the engine, or failed their test, are deleted, since the command asks
    for another try. A package compiles nothing.

    Raises:
        UserError: Something cannot be compiled, or the result cannot be printed.
    """
    cache_dir = paths.Paths.from_environment().cache_dir
    rows: dict[str, Any] = {"library": None, "built": False}
    kernels, failure = dict(rows), None
    with _told_to_end():
        try:
            rows = _bring(rows_files.find(), cache_dir, rows_build.build)
        except BuildError as error:
            failure = error  # the kernels need not fail by the same
        if kernel_files.is_possible():
            kernels = _bring(kernel_files.find(), cache_dir, _build_kernels)
            _forget_failures(cache_dir)
        else:
            remark(kernel_files.NOT_HERE)
    if failure:
        raise failure
    lines = [_line("The library for sampling is", "has the library for sampling", rows)]
    if kernels["library"]:
        lines.append(_line("The kernels are", "has the kernels", kernels))
    print_result(json.dumps({**kernels, "rows": rows}) + "\n" if args.json else "".join(lines))
    return 0


def _bring(
    found: Path | None, cache_dir: Path, make: Callable[[Path, Callable[[str], None]], Path]
) -> dict[str, Any]:
    """Return where a library is and whether it was made now, after making one that was missing."""
    made = found is None
    library = found or make(paths.ensure(cache_dir / "kernels"), remark)
    return {"library": str(library), "built": made}


def _build_kernels(into: Path, say: Callable[[str], None]) -> Path:
    return kernel_build.build(into, None, say)


def _line(is_built: str, has_it: str, found: dict[str, Any]) -> str:
    words = f"{is_built} built" if found["built"] else f"The installation {has_it} already"
    return f"{words}: {found['library']}\n"


@contextmanager
def _told_to_end() -> Iterator[None]:
    """Raise an exception at a SIGTERM within the block, so that it deletes its files."""
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _forget_failures(cache_dir: Path) -> None:
    if package.is_packaged():
        remark("A package builds no kernels; its own are tested again at the next start.")
    key = kernel_files.key()
    Facts(str(cache_dir)).forget(own_kernels.fact_name(key, ""))
    mark = own_kernels.mark_path(str(cache_dir), key)
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
