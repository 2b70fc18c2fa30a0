"""``python packaging/benchmarks NAME …``: run one of the benchmarks of this folder."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def names() -> list[str]:
    """Return the modules of this folder that are programs."""
    return sorted(p.stem for p in FOLDER.glob("[!_]*.py") if "\ndef main(" in p.read_text("utf-8"))


def main(arguments: list[str]) -> int:
    """Run the benchmark that the first argument names with the other ones; returns its status."""
    name = arguments[0] if arguments else ""
    if name not in names():
        print(f"usage: python packaging/benchmarks NAME …\nNAME: {', '.join(names())}")
        return 0 if name in {"-h", "--help"} else 2
    sys.path[0] = str(FOLDER.parent)  # it was this folder, which is a package
    status: int = importlib.import_module(f"benchmarks.{name}").main(arguments[1:])
    return status


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
