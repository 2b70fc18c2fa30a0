"""The form of this installation (package, wheel or checkout), and the day of its build.

A package is a program that PyInstaller froze, with all that it needs. The day of the build is in
a small file beside the modules of `paceline`, written by the build. Standard library only, since
the build writes that file by the same definition before anything is installed. Any thread.
"""

from __future__ import annotations

import json
import sys
from datetime import date
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from paceline.sentence import Sentence, sentence

Kind = Literal["package", "wheel", "checkout"]
"""The form that was installed: a frozen program, a wheel, or the sources themselves."""

BUILD_FILE = "_build.json"
"""File below the folder of `paceline` with a `BuildRecord`."""

PARTS = Path("parts", "paceline.cdx.json")
"""The parts list of a package, below the folder of its modules; licences lie beside it."""

_PACKAGE = Path(__file__).resolve().parents[1]


class BuildRecord(NamedTuple):
    """One build of the program.

    Attributes:
        day: The day on which it was made, in UTC.
        version: The version that was built.
        commit: The hash of the commit that was built, or empty if not known.
    """

    day: date
    version: str
    commit: str = ""


def is_packaged() -> bool:
    """Return whether this is a program that PyInstaller froze."""
    return bool(getattr(sys, "frozen", False))


def kind() -> Kind:
    """Return how the program was installed; a wheel carries its resources inside the package."""
    if is_packaged():
        return "package"
    return "wheel" if (_PACKAGE / "_resources").is_dir() else "checkout"


def installed_as() -> Sentence:
    """Return how the program was installed in words, with the day of its build if that is known."""
    words = {
        "package": sentence("package"),
        "wheel": sentence("wheel"),
        "checkout": sentence("checkout"),
    }
    day, name = built_at(), words[kind()]
    return sentence("{kind}, built {day}", kind=name, day=day.isoformat()) if day else name


def built_at() -> date | None:
    """Return the day, in UTC, on which this program was built; None where that is not known."""
    build = this_build()
    return build.day if build else None


@cache
def this_build() -> BuildRecord | None:
    """Return the record of this program's build, or None; read once."""
    return read_build(_PACKAGE)


def read_build(package: Path) -> BuildRecord | None:
    """Return the record in this folder of `paceline`, or None if it cannot be read.

    Never raises: a file that is missing or damaged takes nothing from the program.
    """
    try:
        said = json.loads((package / BUILD_FILE).read_text("utf-8"))
        version, commit = said["version"], said.get("commit", "")
        if not (isinstance(version, str) and isinstance(commit, str)):
            return None
        return BuildRecord(date.fromisoformat(said["day"]), version, commit)
    except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return None


def write_build(package: Path, build: BuildRecord) -> None:
    """Write the file that `read_build` reads into a folder of `paceline`.

    Raises:
        OSError: It cannot be written.
    """
    said = {**build._asdict(), "day": build.day.isoformat()}
    (package / BUILD_FILE).write_text(json.dumps(said, indent=1) + "\n", "utf-8")


def parts_file() -> Path | None:
    """Return the parts list that came along, in CycloneDX's form; None outside of a package."""
    folder = getattr(sys, "_MEIPASS", "")
    file = Path(folder) / PARTS if is_packaged() and folder else None
    return file if file and file.is_file() else None
