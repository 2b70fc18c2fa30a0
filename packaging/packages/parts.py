#!/usr/bin/env python3
"""Says what came along in a frozen program, and under which licences.

    ENVIRONMENT/bin/python -I packaging/packages/parts.py PROGRAM --sdist FILE

Runs in the environment that was frozen, which has the extra "package", and writes the parts list
with the licences' texts into the program's folder, where the window reads them. The list is made of
what lies there: each module and each shared library must belong to a part, each part needs a
licence and its text, and none may be under the GPL without an exception. Otherwise the program's
exit code is 1, and all that is wrong is said.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import metadata
from pathlib import Path, PurePosixPath
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # which a safe path leaves out

from paceline import paths
from paceline.installation.components import (
    library_component,
    resource_components,
    stated_licence,
)
from packages import licences
from packages.parts_list import ShippedPart, write

_MAGIC = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"MZ")
_LLAMA, _LLAMA_TEXT = "llama.cpp and ggml", "vendor/llama.cpp/LICENSE"
_PYTHON, _PYINSTALLER = "CPython", "PyInstaller's bootloader"
# What PyInstaller adds to every program; its run-time hooks are under the Apache License.
_LOADERS = re.compile(r"_?pyi(mod|boot|_)|_pyi_")


class PartsError(Exception):
    """The package cannot be passed on as it is.

    Attributes:
        faults: A sentence for each reason.
    """

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = faults


@dataclass(frozen=True)
class Frozen:
    """A frozen program.

    Attributes:
        inside: The folder of its files.
        modules: The modules in its archive, such as ``"json.decoder"``.
    """

    inside: Path
    modules: Collection[str]

    @cached_property
    def libraries(self) -> list[PurePosixPath]:
        """Shared libraries, extension modules included, by their paths below `inside`."""
        return [
            PurePosixPath(path.relative_to(self.inside).as_posix())
            for path in sorted(self.inside.rglob("*"))
            if path.is_file() and not path.is_symlink() and _is_native(path)
        ]


@dataclass(frozen=True)
class Distributions:
    """The Python distributions of an environment, by what they have installed.

    Attributes:
        by_file: The name of the distribution for each of their files, by its path below the
            packages' folder.
        by_module: The name of the distribution for each of their modules.
    """

    by_file: Mapping[PurePosixPath, str]
    by_module: Mapping[str, str]

    @classmethod
    def installed(cls, distributions: Iterable[metadata.Distribution]) -> Distributions:
        """Read what these have recorded; what they put elsewhere, such as scripts, is left out."""
        by_file, by_module = {}, {}
        for distribution in distributions:
            name = distribution.name  # which reads the metadata each time
            for file in distribution.files or ():
                path = PurePosixPath(file.as_posix())
                if ".." in path.parts or path.parts[0].endswith(".dist-info"):
                    continue
                by_file[path] = name
                if path.suffix in (".py", ".so", ".pyd"):
                    module = ".".join((*path.parts[:-1], path.name.split(".")[0]))
                    by_module[module.removesuffix(".__init__")] = name
        return cls(by_file, by_module)


class SystemFile(NamedTuple):
    """Debian package that a library of the system belongs to.

    Attributes:
        package: The name of the Debian package.
        version: Its version.
        source_name: The name of the source package.
        source_version: Its version.
    """

    package: str
    version: str
    source_name: str
    source_version: str


def collect(
    frozen: Frozen, distributions: Distributions, system: Mapping[str, SystemFile], sdist: Path
) -> list[ShippedPart]:
    """Return all third-party parts of a frozen program.

    Args:
        frozen: The program.
        distributions: The distributions in its environment.
        system: Packages of the system's libraries, by file name; see `debian_files`.
        sdist: The sources of llama-cpp-python.

    Raises:
        PartsError: It cannot be passed on.
    """
    table, faults = licences.licence_table(), []
    there: set[str] = set()
    found: dict[tuple[licences.KnownLicence, str | None], tuple[str | None, SystemFile | None]] = {}
    for module in frozen.modules:
        owner = distributions.by_module.get(module)
        if owner:
            there.add(owner)
        elif not _is_pythons(module) and not _LOADERS.match(module):
            is_package = any(each.startswith(module + ".") for each in distributions.by_module)
            faults += [] if is_package else [f"The module {module} belongs to no part."]
    for path in frozen.libraries:
        owner = distributions.by_file.get(path)
        # Plug-ins have names of their own, and some are those of libraries.
        known = None if "plugins" in path.parts else table.library(path.name)
        if owner:
            there.add(owner)
        if known and known.name != _PYTHON:
            origin = None if owner else system.get(path.name)
            found.setdefault((known, origin and origin.source_name), (owner, origin))
        elif not (known or owner or _is_pythons(path.name.split(".")[0])):
            own = path.parts[:2] == ("paceline", "_kernels")
            faults += (
                [] if own else [f"{path} belongs to no part. Leave it out, or name it. {_TELL}"]
            )
    python = ShippedPart(_PYTHON, platform.python_version(), "Python-2.0.1", (_python_licence(),))
    parts = [python, _bootloader(), *map(_distribution, sorted(there))]
    several = Counter(known.name for known, _ in found)
    for (known, source), (owner, origin) in found.items():
        part = _library(known, owner, origin, sdist)
        # Libraries of one kind come from several sources, each with its own authors.
        is_one = several[known.name] == 1 or source is None
        parts.append(part if is_one else replace(part, name=f"{known.name} ({source})"))
    parts += [
        ShippedPart(each.name, "", each.licence, (each.text,))
        for each in resource_components(paths.resources())
    ]
    faults += [sentence for part in parts for sentence in _faults(part)]
    if faults:
        raise PartsError(faults)
    return parts


_TELL = "What it is, and under which licence, is said in packaging/licences/libraries.toml."


def debian_files(names: Sequence[str]) -> dict[str, SystemFile]:
    """Return to which Debian packages the libraries with these file names belong.

    Where the system does not have dpkg, and for libraries of none of its packages, nothing.
    """
    folder = f"lib/{platform.machine()}-linux-gnu"
    paths = [f"{root}/{folder}/{name}" for name in names for root in ("", "/usr")]
    told = _told("dpkg-query", "--search", *paths)
    owners: dict[str, str] = {}
    for line in told.splitlines():
        package, _, path = line.rpartition(": ")
        owners.setdefault(PurePosixPath(path).name, package.split(",")[0])
    if not owners:
        return {}
    form = "${Package}:${Architecture} ${Package} ${Version} ${source:Package} ${source:Version}\n"
    rows = _told("dpkg-query", "--show", "--showformat", form, *sorted(set(owners.values())))
    known = {}
    for row in rows.splitlines():
        full, *facts = row.split(" ")
        known[full] = known[facts[0]] = SystemFile(*facts)
    return {name: known[owner] for name, owner in owners.items() if owner in known}


def files_of(program: Path) -> Path:
    """Return the folder of a frozen program's files, which in an app of macOS is another one."""
    app = program.parents[1] / "Frameworks"
    return app if app.is_dir() else program.parent / "_internal"


def into_resources(folder: Path) -> None:
    """Move a folder to an app's resources, and leave a link: no texts may be signed among code."""
    app = folder.parents[1]
    place = app / "Resources" / folder.name
    shutil.rmtree(place, ignore_errors=True)
    shutil.move(folder, place)
    folder.symlink_to(Path("..", "Resources", folder.name))


def modules_of(program: Path) -> frozenset[str]:
    """Return the names of the modules in a frozen program's archive."""
    from PyInstaller.archive.readers import CArchiveReader  # noqa: PLC0415 - tests go without it

    archive = CArchiveReader(str(program))
    (name,) = (name for name in archive.toc if name.startswith("PYZ"))
    return frozenset(archive.open_embedded_archive(name).toc)


def _is_native(path: Path) -> bool:
    with path.open("rb") as file:
        begin = file.read(4)
    return begin.startswith(_MAGIC)


def _is_pythons(module: str) -> bool:
    top = module.split(".", maxsplit=1)[0]
    return top in sys.stdlib_module_names or top.startswith("_sysconfigdata")


def _told(*command: str) -> str:
    """Return a command's output, even if it fails; empty if the command does not exist."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return done.stdout


def _python_licence() -> str:
    places = (sysconfig.get_path("stdlib"), sys.base_prefix, f"/usr/share/doc/{_python_name()}")
    files = (Path(place, name) for place in places for name in ("LICENSE.txt", "copyright"))
    return next((file.read_text("utf-8") for file in files if file.is_file()), "")


def _python_name() -> str:
    return "python{}.{}".format(*sys.version_info)


def _bootloader() -> ShippedPart:
    component = library_component("pyinstaller")
    version = component.name.partition(" ")[2]
    licence = "GPL-2.0-or-later WITH Bootloader-exception AND Apache-2.0"
    return ShippedPart(_PYINSTALLER, version, licence, (component.text,))


def _distribution(name: str) -> ShippedPart:
    distribution = metadata.distribution(name)
    about = distribution.metadata
    known = licences.licence_table().distribution(name, stated_licence(about).strip())
    texts = (library_component(name).text, *_own_text(known))
    lists = [file for file in distribution.files or () if "sboms" in file.parts]
    inside = tuple(part for file in lists for part in _crates(Path(str(file.locate()))))
    purl = f"pkg:pypi/{re.sub('[-_.]+', '-', name).lower()}@{distribution.version}"
    return ShippedPart(name, distribution.version, known.licence, texts, purl, inside=inside)


def _crates(file: Path) -> Iterator[ShippedPart]:
    """Yield the parts of a wheel's native code, as the wheel declares them."""
    for part in json.loads(file.read_text("utf-8")).get("components", ()):
        words = [each.get("expression") or "" for each in part.get("licenses", ())]
        yield ShippedPart(part["name"], part.get("version", ""), " AND ".join(words), ())


def _library(
    known: licences.KnownLicence, owner: str | None, system: SystemFile | None, sdist: Path
) -> ShippedPart:
    part = ShippedPart(known.name, "", known.licence, tuple(_own_text(known)))
    if known.name == _LLAMA:
        version = f"of llama-cpp-python {metadata.version('llama-cpp-python')}"
        return replace(part, version=version, texts=(_from_sdist(sdist),))
    if owner:
        version = f"of {owner} {metadata.version(owner)}"
        return replace(part, version=version, texts=part.texts or (library_component(owner).text,))
    if system is None:
        return part
    file = Path("/usr/share/doc", system.package, "copyright")
    told = (file.read_text("utf-8", "replace"),) if file.is_file() else ()
    return replace(
        part,
        version=system.version,
        texts=part.texts or told,
        purl=f"pkg:deb/debian/{system.package}@{system.version}",
        source=f"https://sources.debian.org/src/{system.source_name}/{system.source_version}/",
    )


def _own_text(known: licences.KnownLicence) -> Iterator[str]:
    if known.text:
        yield (licences.FOLDER / known.text).read_text("utf-8")


def _from_sdist(sdist: Path) -> str:
    with tarfile.open(sdist) as archive:
        for member in archive:
            content = archive.extractfile(member) if member.name.endswith(_LLAMA_TEXT) else None
            if content:
                return content.read().decode()
    return ""


def _faults(part: ShippedPart) -> Iterator[str]:
    for each, of in ((part, ""), *((inner, f", a part of {part.name}") for inner in part.inside)):
        fault = licences.fault(each.licence)
        if fault:
            yield f"{each.name}{of}: {fault}. Leave it out, or correct its licence. {_TELL}"
        elif each is part and not _has_text(part):
            yield f"{part.name}: no text of its licence ({part.licence}) was found. {_TELL}"


def _has_text(part: ShippedPart) -> bool:
    return bool(
        any(part.texts)
        or licences.standard_texts(part.licence, has_own=False)
        or not licences.needs_text(part.licence)
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the list for the program on the command line, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=Path, metavar="PROGRAM", help="the frozen program")
    parser.add_argument("--sdist", type=Path, required=True, help="of llama-cpp-python")
    parser.add_argument("--inside", type=Path, help="the folder of its files, if it is another one")
    options = parser.parse_args(arguments)
    inside = options.inside or files_of(options.program)
    frozen = Frozen(inside, modules_of(options.program))
    try:
        parts = collect(
            frozen,
            Distributions.installed(metadata.distributions()),
            debian_files([path.name for path in frozen.libraries]),
            options.sdist,
        )
    except PartsError as error:
        print(error, file=sys.stderr)
        return 1
    file = write(parts, inside)
    if inside.name == "Frameworks":
        into_resources(file.parent)
    print(f"{len(parts)} parts with their licences: {file}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
