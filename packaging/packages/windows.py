"""The zip of the program's folder for Windows: one top folder. Standard library only."""

from __future__ import annotations

import shutil
import time
import zipfile
from pathlib import Path

README = Path(__file__).resolve().parents[1] / "windows" / "README.txt"


def make(folder: Path, version: str, out: Path) -> Path:
    """Pack the folder of a program for Windows.

    Args:
        folder: The finished folder, with `paceline.exe`.
        version: Paceline's.
        out: The folder for packages; it is there.

    Returns:
        The archive, ``paceline-VERSION-windows-x86_64.zip``.
    """
    top = f"paceline-{version}-windows-x86_64"
    archive = out / f"{top}.zip"
    made_at = time.gmtime((folder / "paceline.exe").stat().st_mtime)[:6]
    lay(folder)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as packed:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                entry = zipfile.ZipInfo(f"{top}/{path.relative_to(folder).as_posix()}", made_at)
                entry.compress_type = zipfile.ZIP_DEFLATED
                packed.writestr(entry, path.read_bytes())
    return archive


def lay(folder: Path) -> None:
    """Put `README.txt` into the folder of a program."""
    shutil.copyfile(README, folder / README.name)
