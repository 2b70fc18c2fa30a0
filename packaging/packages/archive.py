"""The archive of the program's folder: one top folder, and reproducible bytes.

Standard library only.
"""

from __future__ import annotations

import gzip
import os
import tarfile
from pathlib import Path


def make(folder: Path, version: str, out: Path) -> Path:
    """Pack the folder of a program for Linux.

    Args:
        folder: The finished folder to pack.
        version: Paceline's.
        out: The folder for packages; it is there.

    Returns:
        The archive, ``paceline-VERSION-linux-x86_64.tar.gz``.
    """
    top = f"paceline-{version}-linux-x86_64"
    archive = out / f"{top}.tar.gz"
    moment = made_at(folder)

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = "root"
        entry.mtime = moment
        entry.mode = mode(entry.isdir() or entry.issym() or bool(entry.mode & 0o100))
        return entry

    # gzip's header has a file name and a time; both are fixed so that builds give equal bytes.
    with (
        archive.open("wb") as file,
        gzip.GzipFile(
            filename="", mode="wb", compresslevel=6, fileobj=file, mtime=moment
        ) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as tar,
    ):
        tar.add(folder, top, filter=plain)  # in the order of names, not of the file system
    return archive


def made_at(folder: Path) -> int:
    """Return the modification time of all files in a package, in seconds since 1970.

    It is SOURCE_DATE_EPOCH (reproducible-builds.org) where that is set, else when the folder's
    start script was written.
    """
    return int(os.environ.get("SOURCE_DATE_EPOCH") or (folder / "paceline").stat().st_mtime)


def mode(is_open: bool) -> int:
    """Return the permissions of a file in a package; `is_open` for programs and folders."""
    return 0o755 if is_open else 0o644
