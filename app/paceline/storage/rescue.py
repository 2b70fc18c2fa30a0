"""Changes that could not be written when the program ended, in a file that the next start reads.

Beside the database if possible, otherwise in the system's folder for temporary files, where only
files of the same user count. One JSON object; the changes are carried out again in their order,
which does no harm if some of them were written.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import stat
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

from paceline.codec import CodecError, decode_part, encode_part
from paceline.files import write_whole
from paceline.run_record import record_from_json, record_to_json, steps_from_json, steps_to_json
from paceline.storage.changes import BeginRun, Change, EndRun, ExtendRun

FORMAT = 1
_KINDS: dict[str, type] = {cls.__name__: cls for cls in get_args(Change)}
_MOST = 1000

_logger = logging.getLogger(__name__)


def rescue(database: Path, changes: Sequence[Change]) -> Path | None:
    """Write changes to a new file; return it, or None if no place takes it."""
    return _write(database, changes, "rescued")


def _write(database: Path, changes: Sequence[Change], kind: str) -> Path | None:
    data = {"format": FORMAT, "database": database.name, "changes": [*map(_encode, changes)]}
    text = json.dumps(data, ensure_ascii=False).encode(errors="replace")
    for folder, stem in _places(database, kind):
        with contextlib.suppress(OSError):
            path = _free(folder, stem)
            write_whole(path, text)
            return path
    return None


def set_aside(database: Path, changes: Sequence[Change]) -> None:
    """Write changes that cannot be stored to a file that is not read again."""
    path = _write(database, changes, "refused")
    _logger.error("%d changes cannot be stored; they are in %s", len(changes), path)


def rescued(database: Path) -> list[Path]:
    """The files that were written for a database, the oldest first."""
    found = []
    for folder, stem in _places(database, "rescued"):
        with contextlib.suppress(OSError):
            found += [path for path in folder.glob(f"{stem}*.json") if _is_ours(path)]
    return sorted(found, key=lambda path: (path.stat().st_mtime_ns, path.name))


def read(path: Path) -> list[Change]:
    """The changes in a file.

    Raises:
        OSError: It cannot be read.
        CodecError: It is not such a file, or one of a later version.
    """
    try:
        data: Any = json.loads(path.read_bytes())
    except ValueError as error:
        raise CodecError(f"{path.name} is not JSON") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise CodecError(f"{path.name} has another format")
    changes = data.get("changes")
    if not isinstance(changes, list):
        raise CodecError(f"{path.name} has no changes")
    return [_decode(change) for change in changes]


def _places(database: Path, kind: str) -> list[tuple[Path, str]]:
    digest = hashlib.sha256(str(database.absolute()).encode(errors="replace")).hexdigest()[:16]
    return [
        (database.parent, f"{database.name}.{kind}-"),
        (Path(tempfile.gettempdir()), f"paceline-{kind}-{digest}-"),
    ]


def _free(folder: Path, stem: str) -> Path:
    names = (folder / f"{stem}{number}.json" for number in range(1, _MOST))
    return next(path for path in names if not path.exists())


def _is_ours(path: Path) -> bool:
    found = path.lstat()
    if not stat.S_ISREG(found.st_mode):
        return False
    return os.name != "posix" or (found.st_uid == os.getuid() and not found.st_mode & 0o077)


def _encode(change: Change) -> dict[str, Any]:
    data: dict[str, Any]
    match change:
        case BeginRun(key, record):
            data = {"conversation_id": key, "record": record_to_json(record)}
        case ExtendRun(key, number, text, steps):
            data = {
                "message_id": key,
                "number": number,
                "text": text,
                "steps": steps_to_json(steps),
            }
        case EndRun(record, text):
            data = {"record": record_to_json(record), "text": text}
        case _:
            data = encode_part(change)
    return {"kind": type(change).__name__, **data}


def _decode(data: Any) -> Change:
    try:
        kind = data.pop("kind")
        if kind == "BeginRun":
            return BeginRun(_text(data["conversation_id"]), record_from_json(data["record"]))
        if kind == "ExtendRun":
            return ExtendRun(
                _text(data["message_id"]), int(data["number"]), _text(data["text"]),
                steps_from_json(data["steps"]),
            )  # fmt: skip
        if kind == "EndRun":
            return EndRun(record_from_json(data["record"]), _text(data["text"]))
        change: Change = decode_part(_KINDS[kind], data)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise CodecError(f"a change cannot be understood: {error}") from error
    return change


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise CodecError(f"{value!r:.60} is not a text")
    return value
