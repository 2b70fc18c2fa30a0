r"""Names of files and folders that may be made on this computer from what a repository says.

A repository's names are foreign input: ``../../.bashrc``, ``C:\x``, ``nul.gguf`` or a name that
ends like our own partial files must not reach the disk (CVE-2024-37032 and CVE-2026-7020 were bugs
of that kind in other programs). So every part of a path must be made of letters and digits of any
language, blanks, and signs that no system and no shell reads as more; and the result must lie
directly in the chosen folder. Pure.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from paceline.errors import UserError

PARTIAL = ".part"
"""Ends the name of a file that is not complete."""
_MAX_NAME_BYTES = 200
"""Upper bound of a name in bytes; most file systems allow 255, and `PARTIAL` has to fit as well."""
_SIGNS = " ._+=()[]{}-,;!@#%&'~^$"
_FIRST_SIGNS = "_(["
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$)(\..*)?", re.IGNORECASE)
"""Devices on Windows, with any extension; refused on every system, since disks are moved."""


def file_name(path: str) -> str:
    """Return the name under which a repository's file is kept: the last part of its path.

    Raises:
        UserError: ``unsafe-name``: some part of the path cannot be a file's name.
    """
    parts = path.split("/")
    for part in parts:
        _check(part, path)
    if parts[-1].lower().endswith(PARTIAL):
        raise _unsafe(path)
    return parts[-1]


def can_be_kept(path: str) -> bool:
    """Return whether `file_name` accepts a path."""
    try:
        file_name(path)
    except UserError:
        return False
    return True


def file_names(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the names for files that go into one folder.

    Raises:
        UserError: ``unsafe-name``, also where two of them would have the same name.
    """
    names = tuple(file_name(path) for path in paths)
    if not names:
        raise UserError("unsafe-name", "No file was named for the download.", "Choose a file.")
    # Windows and macOS ignore case, macOS also how an accent is put on a letter.
    if len(set(map(_folded, names))) != len(names):
        raise UserError(
            "unsafe-name",
            "Two files of this download would both be called {name}.",
            "Download them into two folders.",
            name=_repeated(names),
        )
    return names


def repository_folder(models: Path, repo: str) -> Path:
    """Return where the files of a repository go below the program's own models folder.

    Raises:
        UserError: ``unsafe-name``: it is not ``OWNER/NAME``, or has characters with no place there.
    """
    parts = PurePosixPath(repo).parts
    if len(parts) != 2 or repo.count("/") != 1:
        raise UserError(
            "unsafe-name",
            "{repo:.80} is not a repository.",
            "Repositories are OWNER/NAME.",
            repo=repr(repo),
        )
    for part in parts:
        _check(part, repo)
    return models.joinpath(*parts)


def absolute_folder(text: str) -> Path:
    """Return the folder that a text names, also by ``~``.

    Raises:
        UserError: ``bad-folder``: no folder can be called that.
    """
    try:
        if "\0" in text:
            raise ValueError("a NUL")
        return Path(text).expanduser().absolute()
    except (RuntimeError, ValueError) as error:
        raise UserError(
            "bad-folder",
            "{text:.80} names no folder on this computer.",
            "Give another folder.",
            text=repr(text),
        ) from error


def inside(folder: Path, name: str) -> Path:
    """Return the path of a file directly in a folder.

    The functions above already exclude everything else; this is a second check. Links are not
    followed: the file that a rename puts there takes the place of a link.

    Raises:
        UserError: ``unsafe-name``: it would lie elsewhere.
    """
    path = folder / name
    if Path(os.path.normpath(path)).parent != Path(os.path.normpath(folder)):
        raise _unsafe(name)
    return path


def _check(part: str, path: str) -> None:
    is_harmless = (
        part != ""
        and all(char in _SIGNS or _is_letter(char) for char in part)
        and (part[0] in _FIRST_SIGNS or part[0].isalnum())
        and not _RESERVED.fullmatch(part)
        and not part.endswith((".", " "))
        and len(part.encode()) <= _MAX_NAME_BYTES
    )
    if not is_harmless:
        raise _unsafe(path)


def _is_letter(char: str) -> bool:
    """Return whether this is a letter or digit of any language, or a mark on one."""
    return char.isalnum() or unicodedata.category(char).startswith("M")


def _unsafe(path: str) -> UserError:
    return UserError(
        "unsafe-name",
        "The file name {path:.80} is not used on this computer.",
        "Download it by other means under a name of your own, if you trust the repository.",
        path=repr(path),
    )


def _repeated(names: tuple[str, ...]) -> str:
    folded = list(map(_folded, names))
    return next(name for name in names if folded.count(_folded(name)) > 1)


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
