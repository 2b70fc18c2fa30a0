"""The program's entry point: the window without arguments, else the command line.

Nothing heavy is imported before it is known to be needed: commands load no Qt, and ``--version``
and ``--help`` load no native library either.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; returns its exit code."""
    for name in ("stdout", "stderr"):  # None in a program without a console
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
    from paceline.cli.main import run

    given = list(sys.argv[1:] if arguments is None else arguments)
    return run(given, _open_window, _smoke_test)


def _open_window() -> int:
    from paceline.gui.app import run

    return run(sys.argv[:1])


def _smoke_test(out: Path) -> int:
    from paceline.gui.smoke import run_smoke_test

    return run_smoke_test(out)


if __name__ == "__main__":
    sys.exit(main())
