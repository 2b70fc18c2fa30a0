"""The problems that keep chats from reaching the disk, with hints what to do. Any thread."""

from __future__ import annotations

import errno
import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from paceline.errors import UserError
from paceline.sentence import Argument, made, sentence

_BUSY, _LOCKED, _READONLY, _IOERR = 5, 6, 8, 10
_CORRUPT, _FULL, _CANTOPEN, _FORMAT, _NOTADB = 11, 13, 14, 24, 26
_SURROUNDINGS = {3, _BUSY, _LOCKED, 7, _READONLY, 9, _IOERR, _FULL, _CANTOPEN, 15, 22, 23}
KEPT = sentence("What is new is kept in memory and tried again every two seconds.")


class StorageError(UserError):
    """Chats cannot be read, or not be kept."""


@dataclass(frozen=True, slots=True)
class StorageProblem:
    """Reason why chats are not written now; nothing is lost while the program runs.

    Attributes:
        code: Stable, machine-readable name in kebab-case.
        message: One sentence: what happened.
        hint: The remedy.
        is_lasting: Whether trying again cannot help.
    """

    code: str
    message: str
    hint: str
    is_lasting: bool = False


@dataclass(frozen=True, slots=True)
class Opened:
    """The result of opening.

    Attributes:
        notes: Messages for the user, one or two sentences each.
        salvaged: Whether the file was damaged and its readable rows were moved to a new one.
        removed: Ids of the conversations that were removed, but not purged.
    """

    notes: tuple[str, ...] = ()
    salvaged: bool = False
    removed: tuple[str, ...] = ()


class NewerSchemaError(Exception):
    """The database was written by a later version of the program."""


class NoRoomError(OSError):
    """There is no room for the copy that is made before the database gets a new layout.

    Attributes:
        n_needed: Bytes that have to be free for it.
    """

    def __init__(self, n_needed: int) -> None:
        super().__init__(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.n_needed = n_needed


class MovedError(Exception):
    """The database's file is no longer the one that was opened."""


class DamageError(Exception):
    """The database can be read, but contradicts itself."""


BROKEN = (sqlite3.Error, UnicodeDecodeError, DamageError)
"""Errors that reading a database raises; Python cannot read SQLite's words about broken names."""


def is_busy(error: Exception) -> bool:
    """Return whether another program has the lock."""
    return _code(error) in (_BUSY, _LOCKED)


def is_damage(error: Exception) -> bool:
    """Return whether the file's content is broken."""
    known = isinstance(error, (UnicodeDecodeError, DamageError))
    return known or _code(error) in (_CORRUPT, _FORMAT, _NOTADB)


def is_about_content(error: Exception) -> bool:
    """Return whether a database cannot be opened because of its content."""
    known = isinstance(error, BROKEN)
    return is_damage(error) or (known and _code(error) not in _SURROUNDINGS)


def is_about_connection(error: Exception) -> bool:
    """Return whether another connection may work: this one is read-only, or its file is gone."""
    return _code(error) in (_READONLY, _IOERR, _CANTOPEN)


def is_about_the_value(error: Exception) -> bool:
    """Return whether the value to be written is at fault, so that trying again is useless."""
    if isinstance(error, (sqlite3.OperationalError, OSError, MovedError, NewerSchemaError)):
        return False
    return not is_damage(error)


def problem_of(error: Exception, path: Path) -> StorageProblem:
    """Return the problem for the chats at `path` after an error of SQLite or of the file system."""
    places: dict[str, Argument] = {
        "path": path, "folder": path.parent, "why": _text(error), "kept": KEPT
    }  # fmt: skip

    is_lasting = isinstance(error, (NewerSchemaError, MovedError))

    def problem(code: str, message: str, hint: str) -> StorageProblem:
        return StorageProblem(code, made(message, places), made(hint, places), is_lasting)

    code = _code(error)
    if isinstance(error, NewerSchemaError):
        return problem(
            "chats-newer",
            "The chats in {path} were written by a newer version of Paceline.",
            "They are left alone. New chats are kept in memory, and put aside for the newer version"
            " when Paceline is closed. Install it to see the old ones.",
        )
    if isinstance(error, MovedError):
        return problem(
            "chats-moved",
            "The file {path} was replaced by another one while Paceline was using it.",
            "{kept} Start Paceline again to use the new file.",
        )
    if isinstance(error, NoRoomError):
        places["needed"] = error.n_needed
        return problem(
            "no-room-for-copy",
            "Before this version of Paceline changes the file {path} with the chats, it copies it, "
            "and there is no room for the copy.",
            "Make {needed:size} free on that disk. Until then, the chats can be read. {kept}",
        )
    number = error.errno if isinstance(error, OSError) else None
    if code == _FULL or number in (errno.ENOSPC, errno.EDQUOT):
        return problem(
            "disk-full",
            "There is no space left for the chats in {folder}.",
            "Make room on that disk. {kept}",
        )
    if is_busy(error):
        return problem(
            "chats-locked",
            "Another program keeps the chats in {path} locked.",
            "Close it. {kept}",
        )
    is_shut = code == _CANTOPEN and path.parent.is_dir() and not os.access(path.parent, os.W_OK)
    is_refused = number in (errno.EROFS, errno.EACCES, errno.EPERM)
    if code == _READONLY or is_shut or (is_refused and os.access(path.parent, os.X_OK)):
        return problem(
            "chats-read-only",
            "The chats in {path} cannot be written to.",
            "Allow writing to the file and its folder. {kept}",
        )
    if is_damage(error):
        return problem(
            "chats-damaged",
            "The file {path} with the chats is damaged.",
            "A copy is put aside, and what can be read is taken over. {kept}",
        )
    return (
        problem(
            "chats-not-opened",
            "The chats in {path} cannot be opened ({why}).",
            "See whether the folder is there and you may read and write in it. {kept}",
        )
        if code == _CANTOPEN or isinstance(error, OSError)
        else problem(
            "chats-not-written",
            "The chats in {path} cannot be written ({why}).",
            "See whether the disk is in order. {kept}",
        )
    )


def _code(error: Exception) -> int | None:
    """SQLite's primary result code; 0 for errors that Python itself raises."""
    code = getattr(error, "sqlite_errorcode", None)
    return code & 0xFF if isinstance(code, int) else None


def _text(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
