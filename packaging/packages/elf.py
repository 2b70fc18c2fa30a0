"""Facts of Linux' programs and libraries, from the output of objdump (binutils).

Standard library only.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import NamedTuple


class ElfFacts(NamedTuple):
    """Facts of a file that matter to the system that loads it.

    Attributes:
        needed: The names of the libraries that it is linked with.
        search: The folders that are searched for them before the system's.
        glibc: The newest glibc version whose functions it uses, such as (2, 34); empty if none.
        is_aligned: True if the segments are aligned as loaders require.
    """

    needed: tuple[str, ...]
    search: tuple[str, ...]
    glibc: tuple[int, ...]
    is_aligned: bool


def files(folder: Path) -> list[Path]:
    """Return the programs and libraries below a folder without links, sorted by path."""
    plain = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())
    return [path for path in plain if _begins(path)]


def facts(path: Path) -> ElfFacts:
    """Return the facts of a file, read with objdump.

    Raises:
        OSError: objdump is not installed.
        subprocess.CalledProcessError: objdump cannot read the file.
    """
    told = subprocess.run(
        ["objdump", "-p", str(path)], capture_output=True, text=True, errors="replace", check=True
    ).stdout
    search = re.findall(r"^\s+R(?:UN)?PATH\s+(\S+)$", told, re.MULTILINE)
    versions = re.findall(r"\bGLIBC_(\d+(?:\.\d+)+)\b", told.partition("Version References")[2])
    numbers = [tuple(map(int, version.split("."))) for version in versions]
    parts = re.findall(
        r"^\s+LOAD off\s+(0x\w+) vaddr (0x\w+) paddr \w+ align 2\*\*(\d+)$", told, re.MULTILINE
    )
    return ElfFacts(
        tuple(re.findall(r"^\s+NEEDED\s+(\S+)$", told, re.MULTILINE)),
        tuple(folder for entry in search for folder in entry.split(":")),
        max(numbers, default=()),
        all((int(at, 16) - int(to, 16)) % 2 ** int(power) == 0 for at, to, power in parts),
    )


def _begins(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"
