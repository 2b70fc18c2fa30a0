"""The package for Debian and Ubuntu.

The program lies in `/usr/lib/paceline`, with `/usr/bin/paceline` as a link to it, and what the
desktop reads in `/usr/share`; caches of menus and types are brought up to date by dpkg's triggers.
Standard library, dpkg-deb and dpkg-shlibdeps only.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
import tempfile
from pathlib import Path

from bootstrap import BootstrapError
from paceline.installation.package import PARTS
from packages import elf
from packages.archive import made_at, mode
from packages.debian_texts import changelog, copyright_file, debian_version, maintainer
from packages.share import LINUX, ROOT
from packages.tools import run_tool

HOME = Path("usr/lib/paceline")
# Drivers are looked for, and are in no library's list of needs; the library for Vulkan is passed
# over where there is no loader. xdg-utils is on every desktop; to recommend it would bring 86
# packages more to a bare system.
RECOMMENDS = "libvulkan1, mesa-vulkan-drivers"
SUGGESTS = "xdg-utils"
OPTIONAL = ("libggml-vulkan.so",)
HINTS = {
    "cannot find library": "Install the packages of these libraries, so that the .deb can ask for "
    "them."
}
CONTROL = """\
Package: paceline
Version: {version}
Architecture: amd64
Maintainer: {maintainer}
Installed-Size: {kilobytes}
Depends: {depends}
Recommends: {recommends}
Suggests: {suggests}
Section: utils
Priority: optional
Description: chat with local language models, made fast by speculative decoding
 Paceline runs language models on this computer. A small model, or a look into
 what was written before, guesses the next words; the large model checks them
 together, and the text stays its own. A plot shows what was guessed, what was
 kept and what it gained.
 .
 Models are files in the GGUF format, from this computer or from the Hugging
 Face Hub. Other programs can use them over HTTP.
"""


def check() -> None:
    """Raise `BootstrapError` where dpkg's programs are missing."""
    for program in ("dpkg-deb", "dpkg-shlibdeps"):
        if shutil.which(program) is None:
            raise BootstrapError(f"The .deb is made by {program}: install the package dpkg-dev.")


def make(folder: Path, version: str, out: Path) -> Path:
    """Make the package of a program's folder for Linux.

    Args:
        folder: The finished folder, with `lib` and `share`.
        version: Paceline's.
        out: The folder for packages; it is there.

    Returns:
        The package, ``paceline_VERSION_amd64.deb``.

    Raises:
        BootstrapError: dpkg's programs are missing or fail. A library that the program needs and
            does not bring must be on this machine, so that the name of its package is known.
    """
    check()
    package = out / f"paceline_{version}_amd64.deb"
    moment = made_at(folder)
    with tempfile.TemporaryDirectory(dir=out, prefix=".deb-") as scratch:
        root = Path(scratch, "root")
        (root / "DEBIAN").mkdir(parents=True)
        _lay(folder, root, version, moment)
        depends = _depends(root, Path(scratch))
        control = CONTROL.format(
            version=debian_version(version),
            maintainer=maintainer(),
            kilobytes=_kilobytes(root),
            depends=depends,
            recommends=RECOMMENDS,
            suggests=SUGGESTS,
        )
        (root / "DEBIAN" / "control").write_text(control, "utf-8")
        (root / "DEBIAN" / "md5sums").write_text(_md5sums(root), "utf-8")
        shutil.copyfile(LINUX / "prerm", root / "DEBIAN" / "prerm")
        (root / "DEBIAN" / "prerm").chmod(0o755)
        _even_out(root, moment)
        # lintian and the tools of older systems do not support zstd.
        command = ["dpkg-deb", "--root-owner-group", "-Zxz", "--build", str(root), str(package)]
        run_tool(command, environ={**os.environ, "SOURCE_DATE_EPOCH": str(moment)})
    return package


def _lay(folder: Path, root: Path, version: str, moment: int) -> None:
    """Put all files of the package at their places below the root."""
    shutil.copytree(folder / "lib", root / HOME, symlinks=True)
    shutil.copytree(
        folder / "share", root / "usr/share", ignore=shutil.ignore_patterns("menu-entry")
    )
    (root / "usr/bin").mkdir()
    (root / "usr/bin/paceline").symlink_to("../lib/paceline/paceline")
    doc, overrides = root / "usr/share/doc/paceline", root / "usr/share/lintian/overrides"
    doc.mkdir(parents=True)
    overrides.mkdir(parents=True)
    parts = root / HOME / "_internal" / PARTS
    listed = parts.read_text("utf-8") if parts.exists() else ""
    licence = (ROOT / "LICENSE").read_text("utf-8")
    place = f"/{parts.parent.relative_to(root)}"
    (doc / "copyright").write_text(copyright_file(licence, listed, place), "utf-8")
    changes = (ROOT / "packaging" / "CHANGELOG.md").read_text("utf-8")
    text = changelog(changes, version, moment)
    (doc / "changelog.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    shutil.copyfile(LINUX / "lintian-overrides", overrides / "paceline")


def _depends(root: Path, scratch: Path) -> str:
    """Return the packages, with their versions, that the libraries of others in the folder are of.

    dpkg knows which package has a library, and from which version on it has the symbols that are
    asked for: so glibc's version comes with the others.
    """
    asking = [path for path in elf.files(root) if path.name not in OPTIONAL]
    own = {path.parent.relative_to(root) for path in root.rglob("*.so*")}
    (scratch / "debian").mkdir()
    stub = "Source: paceline\n\nPackage: paceline\nArchitecture: amd64\n"
    (scratch / "debian" / "control").write_text(stub, "utf-8")
    # Libraries in the folder belong to no package: what is missing there is no error. One that is
    # neither in the folder nor on this machine is.
    command = ["dpkg-shlibdeps", "-O", "--ignore-missing-info", "--warnings=0", f"-S{root}"]
    command += [f"-l/{place}" for place in sorted(own)]  # searched below the root first
    command += [f"-e{path}" for path in asking]
    found = run_tool(command, folder=scratch, hints=HINTS)
    return found.partition("shlibs:Depends=")[2].strip()


def _even_out(root: Path, moment: int) -> None:
    """Set fixed permissions and times on all files; libraries need not be executable."""
    for path in (root, *root.rglob("*")):
        if not path.is_symlink():
            is_program = bool(path.stat().st_mode & 0o100) and ".so" not in path.name
            path.chmod(mode(path.is_dir() or is_program))
        os.utime(path, (moment, moment), follow_symlinks=False)


def _kilobytes(root: Path) -> int:
    """Return the size as Debian counts it: each file rounded up, one for everything else."""
    entries = list(root.rglob("*"))
    sizes = [path.stat().st_size for path in entries if path.is_file() and not path.is_symlink()]
    return sum(-(-size // 1024) for size in sizes) + len(entries) - len(sizes)


def _md5sums(root: Path) -> str:
    lines = []
    for path in sorted(root.glob("usr/**/*")):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "md5").hexdigest()
            lines.append(f"{digest}  {path.relative_to(root)}\n")
    return "".join(lines)
