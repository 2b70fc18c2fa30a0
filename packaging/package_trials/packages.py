"""The packages that `packaging/build.py` has made, found in their folder, and one unpacked."""

from __future__ import annotations

import re
import shutil
import tarfile
from pathlib import Path
from typing import NamedTuple

from package_trials.report import CannotTryError

_TAR = re.compile(r"paceline-(\d[\w.]*)-linux-x86_64\.tar\.gz")
_DEB = re.compile(r"paceline_(\d[\w.]*)_amd64\.deb")


class Unpacked(NamedTuple):
    """A program in a folder.

    Attributes:
        program: The command that starts it.
        libraries: The folder of llama.cpp's.
        kernels: The library of own kernels.
    """

    program: Path
    libraries: Path
    kernels: Path

    @property
    def inner(self) -> Path:
        """Return PyInstaller's program, which the start script of a package calls."""
        return self.program.parent / "lib" / "paceline"

    @property
    def internal(self) -> Path:
        """Return PyInstaller's folder of libraries and modules."""
        return self.program.parent / "lib" / "_internal"


class Packages:
    """The packages of one folder.

    Attributes:
        versions: The versions that lie there as archives, the newest last.
    """

    def __init__(self, folder: Path) -> None:
        """Look what is there.

        Raises:
            CannotTryError: There is no archive.
        """
        self._folder = folder
        found = (_TAR.fullmatch(path.name) for path in folder.glob("*.tar.gz"))
        self.versions = sorted((each[1] for each in found if each), key=_numbers)
        if not self.versions:
            raise CannotTryError(
                f"{folder} has no paceline-…-linux-x86_64.tar.gz: make it by packaging/build.py."
            )

    def archive(self, version: str = "") -> Path:
        """Return the archive of a version, or of the newest one by default."""
        return self._folder / f"paceline-{version or self.versions[-1]}-linux-x86_64.tar.gz"

    @property
    def deb(self) -> Path:
        """Return the newest package for Debian.

        Raises:
            CannotTryError: There is none.
        """
        found = [path for path in self._folder.glob("*.deb") if _DEB.fullmatch(path.name)]
        if not found:
            raise CannotTryError(f"{self._folder} has no paceline_…_amd64.deb.")
        return max(found, key=lambda path: _numbers(path.name.split("_")[1]))

    def unpacked(self, into: Path, version: str = "") -> Unpacked:
        """Unpack an archive into a folder, and let everybody read it."""
        archive = self.archive(version)
        into.chmod(0o755)
        with tarfile.open(archive) as tar:
            tar.extractall(into, filter="tar")
        return found_in(into / archive.name.removesuffix(".tar.gz"))


def found_in(top: Path) -> Unpacked:
    """Return the program that lies in a package's top folder.

    Raises:
        CannotTryError: It is not whole.
    """
    internal = top / "lib" / "_internal"
    kernels = sorted((internal / "paceline" / "_kernels").glob("libpaceline_kernels-*.so"))
    libraries = internal / "llama_cpp" / "lib"
    if not kernels or not libraries.is_dir():
        raise CannotTryError(f"{top} has no own kernels or no llama.cpp.")
    return Unpacked(top / "paceline", libraries, kernels[0])


def moved(unpacked: Unpacked, to: Path) -> Unpacked:
    """Move a package's folder to another place."""
    shutil.move(unpacked.program.parent, to)
    return found_in(to)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))
