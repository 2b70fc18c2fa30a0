"""A conversation as JSON, complete: the whole tree, its files, and how every reply was made.

It is an object with five fields: `format`, `version`, `conversation` (title, flags and settings),
`messages` (in the order in which they were added, so each after its parent) and `runs`
(`run_record`). One difference to that: JSON has no infinity, so a bias that forbids a token is the
text "-Infinity". Settings may be missing, and may have fields that a later version added. Since
version 2 a record has what a reply kept of an earlier one.

A file from elsewhere is read field by field, and an error says which field is wrong: it may be
damaged or malicious, with numbers out of any range, megabytes of text where a name belongs, half
an emoji, which databases refuse. What passes the checks here can be stored and shown.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sized
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any, TypeVar

from paceline.chat.presets import check_settings, read_forbidden, write_forbidden
from paceline.codec import CodecError, UnknownFieldError, decode_known, encode, made_of
from paceline.content import Content, StoredRole, beyond_text, of_text, text_of
from paceline.conversation import Attachment, Conversation, Folder, Message, clean
from paceline.errors import UserError, ValueOutOfRangeError
from paceline.figures import TokenTrace
from paceline.messages import StepCommitted
from paceline.params import ReplySettings
from paceline.run_record import RunRecord, in_english, record_from_json, record_to_json
from paceline.sentence import Argument, Sentence, made, sentence

MAX_NAME_CHARS = 1_000
MAX_TEXT_CHARS = 20_000_000
LAST_SECOND = 32_503_680_000
"""The end of the year 2999: later dates are not shown on every system."""
HINT = sentence("Export it again from where it is whole.")

_T = TypeVar("_T")


def broken(place: str, why: str, /, **arguments: Argument) -> UserError:
    """Return the error about one place of the file; see `UserError`."""
    return UserError(
        "broken-chat",
        "The chat is damaged: {place} {why}.",
        HINT,
        place=place,
        why=made(why, arguments),
    )


def _newer(why: Sentence) -> UserError:
    return UserError(
        "newer-chat",
        "The chat was exported by a newer Paceline ({why}).",
        "Install the newest version and import it there.",
        why=why,
    )


def scrubbed(value: Any) -> Any:
    """Return the JSON data with every text in it `clean`."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, (list, tuple)):
        nested = (str, list, tuple, dict)
        return [scrubbed(item) if isinstance(item, nested) else item for item in value]
    if isinstance(value, dict):
        return {clean(key): scrubbed(item) for key, item in value.items()}
    return value


FORMAT = "paceline-chat"
VERSION = 2

MAX_MESSAGES = 200_000
MAX_TAGS = 100
MAX_FILES = MAX_PARTS = 1_000
_PART = re.compile(r"\.parts\[\d+\]\.\w+$")
_MAX_BYTES = 1e15
_MAX_FIGURE = 1e15
_MAX_COUNT = 1_000_000
_MAX_DRAFT = 4_096  # the largest position that is accepted


@dataclass(frozen=True, slots=True)
class _FolderObject:
    """The file's object about the folder that the conversation was in."""

    name: str
    instructions: str = ""


@dataclass(frozen=True, slots=True)
class _Head:
    """The file's object about the conversation; its fields are those of `Conversation`."""

    id: str
    title: str = ""
    created_s: float = 0.0
    changed_s: float = 0.0
    pinned: bool = False
    tags: tuple[str, ...] = ()
    private: bool = False
    leaf_id: str | None = None
    settings: ReplySettings | None = None
    archived: bool = False
    folder: _FolderObject | None = None


@dataclass(frozen=True, slots=True)
class _AttachmentObject:
    """The file's object about an attachment; its fields are those of `Attachment`."""

    name: str
    text: str
    n_bytes: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _MessageObject:
    """The file's object about a message; its fields are those of `Message`.

    A content is its text and, where that is not all of it, its parts.
    """

    id: str
    parent_id: str | None = None
    role: StoredRole
    content: str
    created_s: float = 0.0
    attachments: tuple[_AttachmentObject, ...] = ()
    parts: Content = ()


def to_json(
    conversation: Conversation,
    records: Mapping[str, RunRecord],
    app_version: str = "",
    folder: Folder | None = None,
) -> dict[str, Any]:
    """Return a conversation and the records of its replies as JSON data; nothing is left out.

    Args:
        conversation: All of it.
        records: Records of its replies, by message id.
        app_version: The program's.
        folder: The one that it is in.
    """
    messages, settings = conversation.messages, conversation.settings
    place = made_of(_FolderObject, folder) if folder is not None else None
    head = encode(made_of(_Head, conversation, id=conversation.conversation_id, folder=place))
    if settings is not None:
        head["settings"] = _without_infinity(head["settings"])
    return {
        "format": FORMAT,
        "version": VERSION,
        "app_version": app_version,
        "conversation": head,
        "messages": [_message_object(message) for message in messages.values()],
        "runs": [
            _without_infinity(record_to_json(in_english(records[name])))
            for name in messages
            if name in records
        ],
    }


def _message_object(message: Message) -> dict[str, Any]:
    parts = beyond_text(message.content)
    data: dict[str, Any] = encode(
        made_of(_MessageObject, message, id=message.message_id, content=message.text, parts=parts)
    )
    if not parts:
        del data["parts"]
    return data


def dumped(data: Mapping[str, Any]) -> Iterator[str]:
    """Write such data in pieces, one message or run per line.

    The encoder blocks all other threads until it is done, so it is given a little at a time.
    """
    before = "{\n"
    for key, value in data.items():
        yield f"{before}{_dump(key)}: "
        before = ",\n"
        if isinstance(value, list):
            yield "["
            for number, item in enumerate(value):
                yield ("\n " if number == 0 else ",\n ") + _dump(item)
            yield "\n]" if value else "]"
        else:
            yield _dump(value)
    yield "\n}\n"


def from_json(data: object) -> tuple[Conversation, dict[str, RunRecord]]:
    """Return the conversation and the records that `to_json` gave this data for.

    Raises:
        UserError: It is not such data, or of a newer version; the text names the field.
    """
    data = scrubbed(data)
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise broken("format", "is not “{name}”", name=FORMAT)
    version = data.get("version")
    if type(version) is not int or version < 1:
        raise broken("version", "is not a number from 1 on")
    if version > VERSION:
        raise _newer(sentence("format {n}, known: {known}", n=version, known=VERSION))
    messages: dict[str, Message] = {}
    for number, item in enumerate(_items(data, "messages")):
        message = _message(item, f"messages[{number}]", messages)
        messages[message.message_id] = message
    conversation = _conversation(data.get("conversation"), messages)
    records: dict[str, RunRecord] = {}
    for number, item in enumerate(_items(data, "runs")):
        record = _run(item, f"runs[{number}]", messages)
        if record.message_id in records:
            raise broken(f"runs[{number}].message_id", "has a run already")
        records[record.message_id] = record
    return conversation, records


def folder_in(data: dict[str, Any]) -> Folder | None:
    """Return the folder, without an id, of data that `from_json` takes, or None."""
    found = scrubbed(data["conversation"].get("folder"))
    if found is None:
        return None
    folder = _decoded(_FolderObject, found, "conversation.folder")
    return Folder("", folder.name, folder.instructions)


# --------------------------------------------------------------------------------------- parts


def _items(data: dict[str, Any], key: str) -> list[Any]:
    """Return a list of the file; empty if it is missing."""
    value = data.get(key, [])
    if not isinstance(value, list):
        raise broken(key, "is not a list")
    _check_size(key, value, MAX_MESSAGES)
    return value


def _decoded(kind: type[_T], data: object, place: str) -> _T:
    try:
        return decode_known(kind, data)
    except CodecError as error:
        at = place + error.place
        if _PART.search(at) and (at.endswith(".type") or isinstance(error, UnknownFieldError)):
            raise _newer(sentence("{place} is not known", place=at)) from None
        raise broken(at, error.reason) from None


def _check_size(place: str, value: Sized, most: int) -> None:
    if len(value) > most:
        raise broken(
            place,
            "has more than {n:,} characters"
            if isinstance(value, str)
            else "has more than {n:,} entries",
            n=most,
        )


def _check_time(place: str, seconds: float) -> None:
    if not 0 <= seconds <= LAST_SECOND:
        raise broken(place, "is no time")


def _message(data: object, place: str, before: Mapping[str, Message]) -> Message:
    message = _decoded(_MessageObject, data, place)
    name, parent = message.id, message.parent_id
    if not name or name in before:
        raise broken(f"{place}.id", "stands for another message already" if name else "is empty")
    if parent is not None and parent not in before:
        raise broken(
            f"{place}.parent_id", "names no message before it ({name:.60})", name=repr(parent)
        )
    _check_size(f"{place}.id", name, MAX_NAME_CHARS)
    _check_size(f"{place}.content", message.content, MAX_TEXT_CHARS)
    _check_size(f"{place}.parts", message.parts, MAX_PARTS)
    _check_size(f"{place}.parts", text_of(message.parts), MAX_TEXT_CHARS)
    _check_time(f"{place}.created_s", message.created_s)
    _check_size(f"{place}.attachments", message.attachments, MAX_FILES)
    for number, file in enumerate(message.attachments):
        at = f"{place}.attachments[{number}]"
        _check_size(f"{at}.name", file.name, MAX_NAME_CHARS)
        _check_size(f"{at}.text", file.text, MAX_TEXT_CHARS)
        if not 0 <= file.n_bytes <= _MAX_BYTES:
            raise broken(f"{at}.n_bytes", "is no size")
    files = (made_of(Attachment, each, n_bytes=int(each.n_bytes)) for each in message.attachments)
    content = message.parts or of_text(message.content)
    return made_of(Message, message, message_id=name, content=content, attachments=tuple(files))


def _conversation(data: object, messages: dict[str, Message]) -> Conversation:
    if isinstance(data, dict):
        read_forbidden(data.get("settings"))
    head = _decoded(_Head, data, "conversation")
    if head.leaf_id is None and messages:
        raise broken("conversation.leaf_id", "is missing")
    if head.leaf_id is not None and head.leaf_id not in messages:
        raise broken(
            "conversation.leaf_id", "names no message ({name:.60})", name=repr(head.leaf_id)
        )
    _check_size("conversation.tags", head.tags, MAX_TAGS)
    _check_size("conversation.id", head.id, MAX_NAME_CHARS)
    _check_size("conversation.title", head.title, MAX_NAME_CHARS)
    for number, tag in enumerate(head.tags):
        _check_size(f"conversation.tags[{number}]", tag, MAX_NAME_CHARS)
    if head.folder is not None:
        _check_size("conversation.folder.name", head.folder.name, MAX_NAME_CHARS)
        _check_size("conversation.folder.instructions", head.folder.instructions, MAX_TEXT_CHARS)
    _check_time("conversation.created_s", head.created_s)
    _check_time("conversation.changed_s", head.changed_s)
    if head.settings is not None:
        try:
            check_settings(head.settings)
        except ValueOutOfRangeError as error:
            raise UserError(
                "broken-chat",
                "The chat is damaged: its settings cannot be used. {why}",
                HINT,
                why=error.message,
            ) from None
    tree = MappingProxyType(messages)
    return made_of(Conversation, head, conversation_id=head.id, messages=tree)


# ---------------------------------------------------------------------------------------- runs


def _without_infinity(data: dict[str, Any]) -> dict[str, Any]:
    write_forbidden(data)
    finite: dict[str, Any] = _finite(data)
    return finite


def _finite(value: Any) -> Any:
    """Return the data with 0 for every number that JSON cannot write."""
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(part) for part in value] if value and _is_mixed(value[0]) else value
    return 0.0 if isinstance(value, float) and not math.isfinite(value) else value


def _is_mixed(first: object) -> bool:
    """Return whether a list holds more than text and integers, which are always valid."""
    return isinstance(first, (dict, list, tuple))


def _run(data: object, place: str, messages: Mapping[str, Message]) -> RunRecord:
    try:
        record = record_from_json(read_forbidden(data))
    except UnknownFieldError as error:
        raise _newer(sentence("{place} is not known", place=place + error.place)) from None
    except CodecError as error:
        raise broken(place + error.place, error.reason) from None
    except OverflowError:
        raise broken(f"{place}.steps", "has a number that does not fit") from None
    message = messages.get(record.message_id)
    if message is None or message.role != "assistant":
        raise broken(f"{place}.message_id", "names no reply")
    _check_record(record, place)
    n_chars = len(message.text)
    end = 0
    for number, step in enumerate(record.steps):
        n_chars += len(step.text)
        end = _check_step(step, f"{place}.steps[{number}]", end)
    if end > n_chars + _MAX_DRAFT:
        raise broken(f"{place}.steps", "tell of more characters than the reply has")
    return record


def _check_record(record: RunRecord, place: str) -> None:
    sampling = asdict(record.sampling)
    del sampling["logit_bias"]
    for number, bias in enumerate(record.sampling.logit_bias):
        if not (bias.bias == -math.inf or abs(bias.bias) <= _MAX_FIGURE):
            raise broken(f"{place}.sampling.logit_bias[{number}]", "is beyond all sense")
    for key, value in sampling.items():
        if isinstance(value, (int, float)) and not -_MAX_FIGURE <= value <= _MAX_FIGURE:
            raise broken(f"{place}.sampling.{key}", "is beyond all sense")
    if record.seed is not None and not 0 <= record.seed < 2**64:
        raise broken(f"{place}.seed", "is not a number from 0 to 2^64")
    _check_time(f"{place}.started_s", record.started_s)
    figures = (
        ("stats", record.stats and encode(record.stats)),
        ("target", record.target and asdict(record.target)),
        ("draft", record.draft and asdict(record.draft)),
        ("first_token_s", record.first_token_s),
        ("max_tokens", record.max_tokens),
        ("n_cut", record.n_cut),
    )
    for key, value in figures:
        wrong = _unsound(value, f"{place}.{key}")
        if wrong:
            raise broken(wrong, "is no figure")


def _unsound(value: Any, place: str) -> str:
    """Return the position of the first number that is negative, infinite or too large, or ""."""
    if isinstance(value, dict):
        parts = ((f"{place}.{key}", part) for key, part in value.items())
    elif isinstance(value, (list, tuple)):
        parts = ((f"{place}[{i}]", part) for i, part in enumerate(value))
    else:
        # GPU layers: -1 are all.
        is_sound = not isinstance(value, (int, float)) or -1 <= value <= _MAX_FIGURE
        return "" if is_sound else place
    return next(filter(None, (_unsound(part, at) for at, part in parts)), "")


def _check_step(step: StepCommitted, place: str, end: int) -> int:
    """Check one step whose text begins at this character; returns where it ends."""
    times = (step.draft_s, step.verify_s, step.sample_s, step.total_s)
    if not all(0 <= seconds <= _MAX_FIGURE for seconds in times):
        raise broken(place, "took no time that can be")
    counts = [(c.n_drafted, c.n_accepted, c.n_discarded) for c in step.drafted]
    if not all(0 <= n <= _MAX_COUNT for n in (step.step, *(n for count in counts for n in count))):
        raise broken(place, "counts what cannot be counted")
    for trace in step.tokens:
        if trace.text_end < end or not _is_sound_trace(trace):
            raise broken(place, "has a token that cannot be")
        end = trace.text_end
    return end


def _is_sound_trace(trace: TokenTrace) -> bool:
    return (
        0 <= trace.token <= _MAX_FIGURE
        and -1 <= trace.position < _MAX_DRAFT
        and (trace.confidence is None or 0 <= trace.confidence <= 1)
    )


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
