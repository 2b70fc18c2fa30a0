"""Changes of stored chats, as values: queued, written, and rescued to a file if they cannot be.

Each of them gives a new state, not a difference, so that carrying out the same ones again, in
order, changes nothing. Therefore changes that may be written already can be carried out once more,
and a rescue file is harmless to import twice. Any thread.

A rescue file has the changes that could not be written when the program ended; the next start reads
it. It is beside the database if possible, otherwise in the system's folder for temporary files,
where only files of the same user count. One JSON object; the changes are carried out again in their
order.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import logging
import os
import stat
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, get_args

from paceline.codec import CodecError, decode, encode, made_of
from paceline.content import Content, beyond_text, is_empty, of_text, text_of
from paceline.conversation import (
    Attachment,
    Conversation,
    Folder,
    Head,
    Message,
    ViewPlace,
    clean,
    clean_message,
)
from paceline.files import first_free, write_whole
from paceline.messages import StepCommitted
from paceline.run_record import (
    RunRecord,
    record_from_json,
    record_to_json,
    steps_from_json,
    steps_to_json,
)


@dataclass(frozen=True, slots=True)
class SaveChat:
    """A conversation's head, and those of its messages that are new, changed or gone."""

    head: Head
    messages: tuple[Message, ...] = ()
    removed: tuple[str, ...] = ()

    @property
    def conversation_id(self) -> str:
        """The conversation's id, as in the other changes."""
        return self.head.conversation_id


@dataclass(frozen=True, slots=True)
class SaveFolder:
    """A folder with its name and instructions."""

    folder: Folder

    @property
    def conversation_id(self) -> str:
        """The folder's id; it is hidden, shown again and deleted as a conversation is."""
        return self.folder.folder_id


@dataclass(frozen=True, slots=True)
class BeginRun:
    """A reply began."""

    conversation_id: str
    record: RunRecord


@dataclass(frozen=True, slots=True)
class ExtendRun:
    """A reply gained a text in some steps; `number` is higher than those of its earlier pieces."""

    conversation_id: str
    message_id: str
    number: int
    text: str
    steps: tuple[StepCommitted, ...]


@dataclass(frozen=True, slots=True)
class EndRun:
    """A reply ended with this whole content."""

    conversation_id: str
    record: RunRecord
    content: Content


@dataclass(frozen=True, slots=True)
class Remove:
    """A conversation is hidden."""

    conversation_id: str


@dataclass(frozen=True, slots=True)
class Restore:
    """A hidden conversation is shown again."""

    conversation_id: str


@dataclass(frozen=True, slots=True)
class Purge:
    """A conversation is deleted for good."""

    conversation_id: str


@dataclass(frozen=True, slots=True)
class SaveUnsent:
    """Text that was written in a conversation, but not sent."""

    conversation_id: str
    text: str


@dataclass(frozen=True, slots=True)
class SaveUnsentFiles:
    """Files that were attached in a conversation, but not sent."""

    conversation_id: str
    files: tuple[Attachment, ...]


@dataclass(frozen=True, slots=True)
class SavePlace:
    """The place where a conversation was left."""

    conversation_id: str
    place: ViewPlace


Change = (
    SaveChat | SaveFolder | BeginRun | ExtendRun | EndRun | Remove | Restore | Purge | SaveUnsent
    | SaveUnsentFiles | SavePlace
)  # fmt: skip


def is_urgent(change: Change) -> bool:
    """Return whether it must be written at once and survive a power failure."""
    return not isinstance(change, (BeginRun, ExtendRun, SaveUnsent, SaveUnsentFiles, SavePlace))


def is_shown(change: Change) -> bool:
    """Return true for a message that was sent and a reply that ended, written when shown."""
    match change:
        case SaveChat(messages=(question, *rest)):  # an import has many
            is_sent = all(is_empty(message.content) for message in rest)  # but a reply that begins
            return is_sent and (bool(question.attachments) or not is_empty(question.content))
        case _:
            return isinstance(change, EndRun)


class Numbered(NamedTuple):
    """A change that waits, with its number in the order in which changes were added."""

    number: int
    change: Change


_SUPERSEDES: dict[type, tuple[type, ...]] = {
    EndRun: (BeginRun, ExtendRun, EndRun),
    Remove: (Remove, Restore),
    Restore: (Remove, Restore),
    SaveUnsent: (SaveUnsent,),
    SaveUnsentFiles: (SaveUnsentFiles,),
    SavePlace: (SavePlace,),
}
"""The kinds of earlier changes of the same reply or conversation that have no effect any more."""


def without_superseded(waiting: Sequence[Numbered]) -> list[Numbered]:
    """Leave out changes that later ones replace or delete.

    Carrying out the rest gives the same state, also where some of it was carried out before.
    """
    kept: list[Numbered] = []
    purged: set[str] = set()
    superseded: set[tuple[type, str]] = set()
    for number, change in reversed(waiting):
        key = subject(change)
        if change.conversation_id in purged or (type(change), key) in superseded:
            continue
        superseded.update((kind, key) for kind in _SUPERSEDES.get(type(change), ()))
        left = change
        if isinstance(change, Purge):
            purged.add(change.conversation_id)
        elif isinstance(change, SaveChat):
            messages = [m for m in change.messages if (Message, m.message_id) not in superseded]
            left = replace(change, messages=tuple(messages))
            kinds = (Message, BeginRun, ExtendRun, EndRun)
            superseded.update(itertools.product(kinds, change.removed))
        kept.append(Numbered(number, left))
    return kept[::-1]


def subject(change: Change) -> str:
    """Return the id of the reply that it changes, else of the conversation."""
    match change:
        case ExtendRun():
            return change.message_id
        case BeginRun() | EndRun():
            return change.record.message_id
        case _:
            return change.conversation_id


def saved(
    conversation: Conversation, changed: Sequence[str] = (), removed: Sequence[str] = ()
) -> SaveChat:
    """Return the change that stores these parts of a conversation."""
    wanted = set(changed)
    messages = conversation.messages
    if len(wanted) == 1:
        new = tuple(messages[key] for key in wanted if key in messages)
    else:  # in the order in which they were added
        new = tuple(m for key, m in messages.items() if key in wanted) if wanted else ()
    return SaveChat(_head(conversation), tuple(map(clean_message, new)), tuple(removed))


def _head(conversation: Conversation) -> Head:
    title, tags = clean(conversation.title), tuple(map(clean, conversation.tags))
    return made_of(Head, conversation, title=title, tags=tags)


FORMAT = 1
_KINDS: dict[str, type] = {cls.__name__: cls for cls in get_args(Change)}

_logger = logging.getLogger(__name__)


def rescue(database: Path, changes: Sequence[Change]) -> Path | None:
    """Write changes to a new file; return it, or None if no place takes it."""
    return _write(database, changes, "rescued")


def _write(database: Path, changes: Sequence[Change], kind: str) -> Path | None:
    data = {"format": FORMAT, "database": database.name, "changes": [*map(_encode, changes)]}
    text = json.dumps(data, ensure_ascii=False).encode(errors="replace")
    for folder, stem in _places(database, kind):
        with contextlib.suppress(OSError):
            path = first_free(folder, stem, ".json")
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


def read_rescued(path: Path) -> list[Change]:
    """The changes in a file.

    Raises:
        OSError: It cannot be read.
        CodecError: It is not such a file, or one of a later version.
    """
    try:
        data: Any = json.loads(path.read_bytes())
    except ValueError as error:
        raise CodecError(f"{path.name} is not JSON") from error
    match data:
        case {"format": format_, "changes": list(changes)} if format_ == FORMAT:
            return [*map(_decode, changes)]
    raise CodecError(f"{path.name} has another format")


def _places(database: Path, kind: str) -> list[tuple[Path, str]]:
    digest = hashlib.sha256(str(database.absolute()).encode(errors="replace")).hexdigest()[:16]
    places = [(database.parent, f"{database.name}.{kind}-")]
    with contextlib.suppress(FileNotFoundError):  # there may be no folder for temporary files
        places.append((Path(tempfile.gettempdir()), f"paceline-{kind}-{digest}-"))
    return places


def _is_ours(path: Path) -> bool:
    found = path.lstat()
    if not stat.S_ISREG(found.st_mode):
        return False
    return os.name != "posix" or (found.st_uid == os.getuid() and not found.st_mode & 0o077)


_OWN: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], Any]] = {
    "record": (record_to_json, record_from_json, encode(RunRecord(""))),
    "steps": (steps_to_json, steps_from_json, []),
}
"""The fields with a JSON form of their own: their writer, their reader, and an empty value."""


def _encode(change: Change) -> dict[str, Any]:
    data = {"kind": type(change).__name__, **encode(change)}
    for name in _OWN.keys() & data.keys():
        data[name] = _OWN[name][0](getattr(change, name))
    match change:
        case SaveChat(messages=messages):
            for name in ("private", "folder_id", "archived"):  # unknown to versions before
                if not data["head"][name]:
                    del data["head"][name]
            for message, written in zip(messages, data["messages"], strict=True):
                _write_content(written, message.content, "content")
        case EndRun(content=content):
            _write_content(data, content, "text")
    return data


def _write_content(data: dict[str, Any], content: Content, name: str) -> None:
    """Write a content as its text, which the version before reads, and its parts where needed."""
    del data["content"]
    data[name] = text_of(content)
    if parts := beyond_text(content):
        data["parts"] = encode(parts)


def _read_content(data: dict[str, Any], name: str) -> None:
    """Undo `_write_content`."""
    text = data.pop(name)
    data["content"] = data.pop("parts", None) or encode(of_text(text))


def _decode(data: Any) -> Change:
    try:
        kind = _KINDS[data.pop("kind")]
        for message in data.get("messages", ()):
            _read_content(message, "content")
        if kind is EndRun:
            _read_content(data, "text")
        own = {name: _OWN[name][1](data[name]) for name in _OWN.keys() & data.keys()}
        if own:
            data.setdefault("conversation_id", "")  # runs had none in the version before
        change: Change = decode(kind, data | {name: _OWN[name][2] for name in own})
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise CodecError(f"a change cannot be understood: {error}") from error
    return replace(change, **own)
