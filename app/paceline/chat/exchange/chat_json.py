"""A conversation as JSON, complete: the whole tree, its files, and how every reply was made.

It is an object with five fields: `format`, `version`, `conversation` (title, flags and
settings), `messages` (in the order in which they were added, so each after its parent) and `runs`
(`run_record`). One difference to that: JSON has no infinity, so a bias that forbids a token is
the text "-Infinity". Settings may be missing, and may have fields that a later version added. Since
version 2 a record tells what a reply kept of an earlier one.

A file from elsewhere is read field by field, and an error says which field is wrong: it may be
damaged or malicious, with numbers out of any range, megabytes of text where a name belongs, half
an emoji, which databases refuse. What passes the checks here can be stored and shown.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from paceline.chat.presets import check_settings, read_forbidden, write_forbidden
from paceline.codec import CodecError, UnknownFieldError, decode_known, encode_part
from paceline.conversation import Attachment, Conversation, Message, clean
from paceline.errors import UserError, ValueOutOfRangeError
from paceline.params import ReplySettings
from paceline.run_record import record_from_json, record_to_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from paceline.figures import TokenTrace
    from paceline.messages import StepCommitted
    from paceline.run_record import RunRecord

MAX_NAME_CHARS = 1_000
MAX_TEXT_CHARS = 20_000_000
LAST_SECOND = 32_503_680_000
"""Of the year 2999: later dates are not shown on every system."""
HINT = "Export it again from where it is whole."

_T = TypeVar("_T")


def broken(place: str, why: str) -> UserError:
    """Return the error about one place of the file."""
    return UserError("broken-chat", f"The chat is damaged: {place} {why}.", HINT)


def _newer(why: str) -> UserError:
    return UserError(
        "newer-chat",
        f"The chat was exported by a newer Paceline ({why}).",
        "Install the newest version and import it there.",
    )


class Fields:
    """An object of the file; every method raises a `UserError` where a field does not fit."""

    def __init__(self, data: object, place: str) -> None:
        if not isinstance(data, dict):
            raise broken(place, "is not an object")
        self._data: dict[str, Any] = data
        self._place = place

    def place(self, key: str) -> str:
        """Return what a field is called in an error."""
        return f"{self._place}.{key}" if self._place else key

    def has(self, key: str) -> bool:
        """Whether a field is there, and not null."""
        return self._data.get(key) is not None

    def raw(self, key: str) -> object:
        """Return a field as it is; None if it is missing."""
        return self._data.get(key)

    def text(self, key: str, default: str | None = None, most: int = MAX_TEXT_CHARS) -> str:
        """Return a text; half an emoji in it becomes a question mark."""
        value = self._data.get(key, default)
        if not isinstance(value, str):
            raise broken(self.place(key), "is not a text" if key in self._data else "is missing")
        if len(value) > most:
            raise broken(self.place(key), f"has more than {most:,} characters")
        return clean(value)

    def name(self, key: str, default: str | None = None) -> str:
        """Return a text of at most a thousand characters."""
        return self.text(key, default, MAX_NAME_CHARS)

    def optional_name(self, key: str) -> str | None:
        """Return a text of at most a thousand characters, or None."""
        return self.name(key) if self._data.get(key) is not None else None

    def flag(self, key: str) -> bool:
        """Return a truth value; false if it is missing."""
        value = self._data.get(key, False)
        if not isinstance(value, bool):
            raise broken(self.place(key), "is neither true nor false")
        return value

    def number(self, key: str, most: float, default: float = 0.0) -> float:
        """Return a number that is not negative."""
        value = self._data.get(key, default)
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not 0 <= value <= most or not math.isfinite(value):
            raise broken(self.place(key), f"is not a number from 0 to {most:,.0f}")
        return float(value)

    def items(self, key: str, most: int) -> list[Any]:
        """Return a list; empty if it is missing."""
        value = self._data.get(key, [])
        if not isinstance(value, list):
            raise broken(self.place(key), "is not a list")
        if len(value) > most:
            raise broken(self.place(key), f"has more than {most:,} entries")
        return value


def scrubbed(value: Any) -> Any:
    """Return the JSON data with every text in it `clean`."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [scrubbed(item) if isinstance(item, (str, list, dict)) else item for item in value]
    if isinstance(value, dict):
        return {clean(key): scrubbed(item) for key, item in value.items()}
    return value


FORMAT = "paceline-chat"
VERSION = 2

MAX_MESSAGES = 200_000
MAX_TAGS = 100
MAX_FILES = 1_000
_MAX_BYTES = 1e15
_MAX_FIGURE = 1e15
_MAX_COUNT = 1_000_000
_MAX_DRAFT = 4_096  # the largest position that is accepted


def to_json(
    conversation: Conversation, records: Mapping[str, RunRecord], app_version: str = ""
) -> dict[str, Any]:
    """Return a conversation and the records of its replies as JSON data; nothing is left out."""
    messages = conversation.messages
    return {
        "format": FORMAT,
        "version": VERSION,
        "app_version": app_version,
        "conversation": {
            "id": conversation.conversation_id,
            "title": conversation.title,
            "created_s": conversation.created_s,
            "changed_s": conversation.changed_s,
            "pinned": conversation.pinned,
            "tags": list(conversation.tags),
            "private": conversation.private,
            "leaf_id": conversation.leaf_id,
            "settings": _settings_to_json(conversation.settings),
        },
        "messages": [_message_to_json(message) for message in messages.values()],
        "runs": [_run_to_json(records[name]) for name in messages if name in records],
    }


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
    whole = Fields(data, "")
    if whole.raw("format") != FORMAT:
        raise broken("format", f"is not “{FORMAT}”")
    version = whole.raw("version")
    if type(version) is not int or version < 1:
        raise broken("version", "is not a number from 1 on")
    if version > VERSION:
        raise _newer(f"format {version}, known: {VERSION}")
    messages: dict[str, Message] = {}
    for number, item in enumerate(whole.items("messages", MAX_MESSAGES)):
        message = _message(Fields(item, f"messages[{number}]"), messages)
        messages[message.message_id] = message
    conversation = _conversation(Fields(whole.raw("conversation"), "conversation"), messages)
    records: dict[str, RunRecord] = {}
    for number, item in enumerate(whole.items("runs", MAX_MESSAGES)):
        record = _run(item, f"runs[{number}]", messages)
        if record.message_id in records:
            raise broken(f"runs[{number}].message_id", "has a run already")
        records[record.message_id] = record
    return conversation, records


# --------------------------------------------------------------------------------------- parts


def _message_to_json(message: Message) -> dict[str, Any]:
    return {
        "id": message.message_id,
        "parent_id": message.parent_id,
        "role": message.role,
        "content": message.content,
        "created_s": message.created_s,
        "attachments": [asdict(attachment) for attachment in message.attachments],
    }


def _message(fields: Fields, before: Mapping[str, Message]) -> Message:
    name = fields.name("id")
    if not name or name in before:
        raise broken(
            fields.place("id"), "stands for another message already" if name else "is empty"
        )
    parent = fields.optional_name("parent_id")
    if parent is not None and parent not in before:
        raise broken(fields.place("parent_id"), f"names no message before it ({parent!r:.60})")
    files = fields.items("attachments", MAX_FILES)
    return Message(
        name,
        parent,
        _role(fields),
        fields.text("content"),
        fields.number("created_s", LAST_SECOND),
        tuple(
            _attachment(Fields(item, fields.place(f"attachments[{number}]")))
            for number, item in enumerate(files)
        ),
    )


def _role(fields: Fields) -> Literal["user", "assistant"]:
    match fields.raw("role"):
        case "user":
            return "user"
        case "assistant":
            return "assistant"
    raise broken(fields.place("role"), "is neither “user” nor “assistant”")


def _attachment(fields: Fields) -> Attachment:
    n_bytes = int(fields.number("n_bytes", _MAX_BYTES))
    return Attachment(fields.name("name"), fields.text("text"), n_bytes)


def _conversation(fields: Fields, messages: dict[str, Message]) -> Conversation:
    tags = fields.items("tags", MAX_TAGS)
    words = tuple(
        Fields({"tag": tag}, f"conversation.tags[{i}]").name("tag") for i, tag in enumerate(tags)
    )
    leaf = fields.optional_name("leaf_id")
    if leaf is None and messages:
        raise broken(fields.place("leaf_id"), "is missing")
    if leaf is not None and leaf not in messages:
        raise broken(fields.place("leaf_id"), f"names no message ({leaf!r:.60})")
    return Conversation(
        fields.name("id"),
        fields.name("title", ""),
        fields.number("created_s", LAST_SECOND),
        MappingProxyType(messages),
        leaf,
        fields.number("changed_s", LAST_SECOND),
        fields.flag("pinned"),
        words,
        fields.flag("private"),
        _settings(fields),
    )


def _settings_to_json(settings: ReplySettings | None) -> dict[str, Any] | None:
    return _without_infinity(encode_part(settings)) if settings is not None else None


def _settings(fields: Fields) -> ReplySettings | None:
    place, data = fields.place("settings"), scrubbed(fields.raw("settings"))
    if data is None:
        return None
    try:
        settings = decode_known(ReplySettings, read_forbidden(data))
        check_settings(settings)
    except CodecError as error:
        raise broken(place, f"have something that does not fit ({error!s:.200})") from None
    except ValueOutOfRangeError as error:
        raise broken(place, f"cannot be used ({error.message:.200})") from None
    return settings


# ---------------------------------------------------------------------------------------- runs


def _run_to_json(record: RunRecord) -> dict[str, Any]:
    return _without_infinity(record_to_json(record))


def _without_infinity(data: dict[str, Any]) -> dict[str, Any]:
    write_forbidden(data)
    finite: dict[str, Any] = _finite(data)
    return finite


def _finite(value: Any) -> Any:
    """Return the data with 0 for every number that JSON cannot write."""
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_finite(part) for part in value] if value and _is_mixed(value[0]) else value
    return 0.0 if isinstance(value, float) and not math.isfinite(value) else value


def _is_mixed(first: object) -> bool:
    """Whether a list holds something other than text and integers, which are always valid."""
    return isinstance(first, (dict, list))


def _run(data: object, place: str, messages: Mapping[str, Message]) -> RunRecord:
    data = scrubbed(data)
    try:
        record = record_from_json(read_forbidden(data))
    except UnknownFieldError as error:
        raise _newer(f"{place} {error!s:.200}") from None
    except CodecError as error:
        raise broken(place, f"has something that does not fit ({error!s:.200})") from None
    except (KeyError, OverflowError) as error:
        raise broken(place, f"is not complete ({error!s:.60})") from None
    message = messages.get(record.message_id)
    if message is None or message.role != "assistant":
        raise broken(f"{place}.message_id", "names no reply")
    _check_record(record, place)
    n_chars = len(message.content)
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
    if not 0 <= record.started_s <= LAST_SECOND:
        raise broken(f"{place}.started_s", "is no time")
    figures = (
        ("stats", record.stats and asdict(record.stats)),
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
    """Return the place of the first number that is negative, infinite or too large, or ""."""
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
