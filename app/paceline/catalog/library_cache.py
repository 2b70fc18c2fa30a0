"""What is known of the model files on this computer, in one JSON file.

Reading a header takes up to 0.3 s and a library may have hundreds of files, so cards are kept by
path, size of all parts and time of change. The file may be deleted at any time; one that is broken,
or of another version, is ignored and written anew.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from paceline.catalog.card import ModelCard
from paceline.catalog.model_files import ModelFile
from paceline.codec import CodecError, decode_part, encode_part
from paceline.files import write_whole

VERSION = 1
"""Changes when a card says something else about the same file."""

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of one file; `card` or `problem`, not both."""

    file: ModelFile
    card: ModelCard | None
    problem: str = ""

    def is_about(self, file: ModelFile) -> bool:
        """Whether it still holds for a file that was found."""
        was = self.file
        return (was.path, was.parts, was.n_bytes, was.mtime_ns) == (
            file.path, file.parts, file.n_bytes, file.mtime_ns,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _FileRecord:
    """A `ModelFile` as JSON can hold it."""

    path: str
    parts: tuple[str, ...]
    n_parts: int
    n_bytes: int
    mtime_ns: int
    name: str
    source: str


def read_cache(cache_file: Path) -> dict[Path, Known]:
    """Return what the file remembers, by path; what cannot be understood is left out."""
    try:
        data: Any = json.loads(cache_file.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        _logger.info("the library's cache is not used: %s", error)
        return {}
    if not isinstance(data, dict) or data.get("version") != _version():
        return {}
    records = data.get("files")
    if not isinstance(records, list):
        return {}
    found = (_known(record) for record in records)
    return {known.file.path: known for known in found if known is not None}


def write_cache(cache_file: Path, entries: Collection[Known]) -> None:
    """Replace the file; one that cannot be written costs only time at the next start."""
    records = [_record(known) for known in entries]
    text = json.dumps({"version": _version(), "files": records}, separators=(",", ":"))
    try:
        write_whole(cache_file, text.encode())
    except OSError as error:
        _logger.info("the library's cache is not written: %s", error)


def _version() -> list[Any]:
    """Return what must be the same for a file to be used: a card without a field is a guess."""
    return [VERSION, *(field.name for field in fields(ModelCard))]


def _record(known: Known) -> Mapping[str, Any]:
    file = known.file
    record = _FileRecord(
        **{
            **{name: getattr(file, name) for name in _FileRecord.__slots__},
            "path": str(file.path),
            "parts": tuple(map(str, file.parts)),
        }
    )
    return {
        "file": asdict(record),
        "card": None if known.card is None else encode_part(known.card),
        "problem": known.problem,
    }


def _known(record: Any) -> Known | None:
    """Return what a record says; None when it says nothing that can be used."""
    try:
        file = decode_part(_FileRecord, record["file"])
        card = None if record["card"] is None else decode_part(ModelCard, record["card"])
        problem = record["problem"]
    except (CodecError, KeyError, TypeError):
        return None
    if not isinstance(problem, str) or not file.parts or (card is None) != bool(problem):
        return None
    return Known(
        ModelFile(
            path=Path(file.path),
            parts=tuple(map(Path, file.parts)),
            n_parts=file.n_parts,
            n_bytes=file.n_bytes,
            mtime_ns=file.mtime_ns,
            name=file.name,
            source=file.source,
        ),
        card,
        problem,
    )
