"""`paceline doctor --build-kernels`: compile Paceline's own CPU kernels for this machine.

``--json`` prints ``{"library", "built"}``: the library's path, and whether it was compiled now.
"""

from __future__ import annotations

import json
import signal
import sys
from typing import TYPE_CHECKING

from paceline import kernel_build, kernel_files, paths
from paceline.cli.output import Results, remark
from paceline.engine import own_kernels
from paceline.engine.facts import Facts
from paceline.engine.kernel_marks import mark_path
from paceline.errors import UserError
from paceline.kernel_compiler import KernelBuildError

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

CODE = "kernels-not-built"


def run(args: argparse.Namespace) -> int:
    """Compile the kernels into the user's cache, unless the installation has them already.

    That they ended the engine, or failed their test, is forgotten: who asks for them wants another
    try.

    Raises:
        UserError: They cannot be compiled, or the result cannot be printed.
    """
    cache_dir = paths.Paths.from_environment().cache_dir
    library = kernel_files.find()
    is_built = library is None
    if library is None:
        library = _build(paths.ensure(cache_dir / "kernels"))
    _forget_failures(cache_dir)
    words = "The kernels are built" if is_built else "The installation has the kernels already"
    found = {"library": str(library), "built": is_built}
    results = Results()
    results.write((json.dumps(found) if args.json else f"{words}: {library}") + "\n")
    results.check()
    return 0


def _build(into: Path) -> Path:
    # A build that is ended takes its files along.
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        return kernel_build.build(into, None, remark)
    except KernelBuildError as error:
        raise UserError(CODE, error.message, error.hint) from error
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
            CODE,
            f"{mark}, which keeps the kernels from being used, cannot be removed "
            f"({error.strerror or error}).",
            "Remove it by hand.",
        ) from error
