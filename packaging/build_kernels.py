#!/usr/bin/env python3
"""Build Paceline's CPU kernels into a folder, unless they are there.

``python packaging/build_kernels.py --into DIR [--sdist FILE] [--shelf DIR]``; `bootstrap.py` calls
it with the environment that it has made, and reads why there are none in the last line on stderr.
"""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from paceline.installation.kernel_build import KernelBuildError, build
from paceline.installation.kernel_files import is_whole, key, library_name


def main() -> int:
    """Build what is missing, and print its path or, on stderr, why there is none."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--into", metavar="DIR", type=Path, required=True)
    parser.add_argument("--sdist", metavar="FILE", type=Path, help="llama-cpp-python's sources")
    parser.add_argument("--shelf", metavar="DIR", type=Path, help="keeps headers and libraries")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    library = options.into / library_name(key())
    try:
        if not is_whole(library):
            library = build(options.into, options.sdist, _say, options.shelf)
    except KernelBuildError as error:
        _say(str(error))
        return 1
    sys.stdout.write(f"{library}\n")
    return 0


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
