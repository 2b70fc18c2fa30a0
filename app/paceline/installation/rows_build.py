"""Builds the library of rows for this system, by one command; see `rows_files`.

Standard library only, so that the bootstrap can have it done while it installs the program
(``packaging/build_kernels.py``). Any thread.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from paceline.installation import package, remedies, rows_files
from paceline.installation.library_build import (
    ANOTHER,
    BuildError,
    Say,
    find_compiler,
    put,
    run_tool,
    work_for,
)
from paceline.installation.sealed_library import sealed


def build(into: Path, say: Say) -> Path:
    """Compile the library into a folder, where it takes the place of those with other keys.

    Args:
        into: The folder; it is made if it is missing.
        say: Called with the compiler's messages.

    Returns:
        The library.

    Raises:
        BuildError: It cannot be compiled, or not be put there.
    """
    if package.is_packaged():
        raise BuildError("This package builds no kernels.", remedies.program_again())
    sources, has = rows_files.sources_folder(), rows_files.key()
    if not (sources and has):
        raise BuildError("The sources for sampling cannot be found.", remedies.program_again())
    target = into / rows_files.library_name(has)
    with work_for(into), tempfile.TemporaryDirectory(prefix="paceline-") as scratch:
        made = Path(scratch, target.name)
        words = [*find_compiler(), *rows_files.flags(), "-o", str(made)]
        words.append(str(sources / rows_files.SOURCE))
        run_tool("The library for sampling cannot be compiled", words, ANOTHER, say)
        if rows_files.key() != has:
            raise BuildError("The sources for sampling changed during the build.", "Start again.")
        put(sealed(made.read_bytes()), target)
    return target
