"""SHA-256 of every package, in a file that `sha256sum --check` reads. Standard library only."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

NAME = "SHA256SUMS"


def write(packages: Iterable[Path], out: Path) -> Path:
    """Write the checksums of packages into the file `NAME` in a folder; returns its path.

    Packages that are named there already and lie in the folder keep their lines, so formats may
    be made one by one; those that are gone lose theirs.
    """
    sums = out / NAME
    lines = sums.read_text(encoding="utf-8").splitlines() if sums.exists() else []
    known = {name: line for line in lines if (out / (name := line.partition("  ")[2])).is_file()}
    for package in packages:
        with package.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        known[package.name] = f"{digest}  {package.name}"
    sums.write_text(
        "".join(f"{known[name]}\n" for name in sorted(known)), encoding="utf-8", newline="\n"
    )
    return sums
