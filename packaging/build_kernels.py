#!/usr/bin/env python3
"""Build Paceline's native code into a folder, unless it is there.

``python packaging/build_kernels.py rows --into DIR`` builds the library that draws tokens from rows
of logits, on any system; ``… kernels --into DIR [--sdist FILE] [--shelf DIR]`` the CPU kernels.
`bootstrap.py` calls it with the environment that it has made, and reads why there is no library in
the last line on stderr.
"""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from paceline.installation import kernel_build, kernel_files, rows_build, rows_files
from paceline.installation.library_build import BuildError
from paceline.installation.sealed_library import is_whole


def main() -> int:
    """Build what is missing, and print its path or, on stderr, why there is none."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("what", choices=("rows", "kernels"))
    parser.add_argument("--into", metavar="DIR", type=Path, required=True)
    parser.add_argument("--sdist", metavar="FILE", type=Path, help="llama-cpp-python's sources")
    parser.add_argument("--shelf", metavar="DIR", type=Path, help="keeps headers and kernels")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    files = rows_files if options.what == "rows" else kernel_files
    library = options.into / files.library_name(files.key())
    try:
        if is_whole(library):
            pass
        elif options.what == "rows":
            library = rows_build.build(options.into, _say)
        else:
            library = kernel_build.build(options.into, options.sdist, _say, options.shelf)
    except BuildError as error:
        _say(str(error))
        return 1
    sys.stdout.write(f"{library}\n")
    return 0


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
