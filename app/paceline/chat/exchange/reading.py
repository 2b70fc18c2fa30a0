"""From the bytes of a file to the chats in it: ours, and what other programs export.

A file is either understood as a whole or refused; nothing is kept of one that is only half sound.
"""

from __future__ import annotations

import json
from json.decoder import JSONArray, JSONObject  # type: ignore[attr-defined]
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from paceline.chat.exchange import foreign
from paceline.chat.exchange.chat_json import FORMAT, from_json
from paceline.conversation import Conversation
from paceline.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paceline.run_record import RunRecord

MAX_FILE_BYTES = 512_000_000
_BOMS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_NOT_ONE = "Choose a chat that Paceline, llama.cpp's web page, LM Studio or ChatGPT exported."


class ImportedChat(NamedTuple):
    """A chat from a file.

    Attributes:
        conversation: It; its ids are the file's.
        records: How its replies were made, by message id; only files of ours have them.
        n_left_out: Messages that have no place here: system prompts, tools, pictures.
    """

    conversation: Conversation
    records: Mapping[str, RunRecord]
    n_left_out: int = 0


def read_chats(raw: bytes, name: str) -> tuple[ImportedChat, ...]:
    """Return the chats in a file's content; at least one.

    Args:
        raw: The whole content.
        name: The file's name, for errors.

    Raises:
        UserError: It has no chats, or they are damaged; the text says where.
    """
    if len(raw) > MAX_FILE_BYTES:
        raise UserError(
            "chat-too-large",
            f"“{name}” has {len(raw) / 1e6:,.0f} MB; a file may have {MAX_FILE_BYTES / 1e6:.0f}.",
            "Export fewer chats at a time.",
        )
    if raw.startswith(b"PK\x03\x04"):
        raise UserError(
            "chat-in-archive", f"“{name}” is an archive.", "Unpack it and import the files in it."
        )
    text = _decoded(raw, name)
    try:
        chats = _chats(_parsed(text), name)
    except UserError as error:
        raise UserError(error.code, f"“{name}”: {error.message}", error.hint) from error
    if not chats:
        raise UserError("no-chats", f"“{name}” has no messages to import.", _NOT_ONE)
    return chats


def _chats(data: Any, name: str) -> tuple[ImportedChat, ...]:
    if isinstance(data, dict) and data.get("format") == FORMAT:
        return (ImportedChat(*from_json(data)),)
    found: list[ImportedChat] = []
    for number, item in enumerate(data if isinstance(data, list) else [data]):
        place = f"[{number}]" if isinstance(data, list) else ""
        read = foreign.reader_of(item)
        if read is None:
            raise UserError(
                "not-a-chat", f"It is JSON, but no chat{place and f' at {place}'}.", _NOT_ONE
            )
        conversation, n_left_out = read(item, place, name)
        if conversation.messages:
            found.append(ImportedChat(conversation, {}, n_left_out))
    return tuple(found)


def _decoded(raw: bytes, name: str) -> str:
    encoding = next((e for bom, e in _BOMS.items() if raw.startswith(bom)), "utf-8")
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError:
        raise UserError("not-a-chat", f"“{name}” is no text file.", _NOT_ONE) from None


def _parsed(text: str) -> Any:
    """The JSON in a text; lines of JSON, as llama.cpp's web page writes them, as such a list."""
    try:
        return _Decoder().decode(text)
    except RecursionError:
        raise UserError("not-a-chat", "It is nested too deeply.", _NOT_ONE) from None
    except ValueError as error:
        try:
            return foreign.sessions(
                [_Decoder().decode(line) for line in text.splitlines() if line.strip()]
            )
        except (ValueError, RecursionError):
            pass
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise UserError("not-json", f"It is not JSON{where}.", _NOT_ONE) from None


class _Decoder(json.JSONDecoder):
    """Reads the two outer levels step by step.

    The fast parser keeps all other threads waiting until it is done; for a whole chat that may be
    a second, in which the window would stand still.
    """

    def __init__(self) -> None:
        super().__init__(parse_constant=_refuse)
        self._fast: Any = self.scan_once  # type: ignore[has-type]
        self.scan_once = self._outer

    def _outer(self, text: str, at: int) -> tuple[Any, int]:
        return self._container(text, at, self._inner)

    def _inner(self, text: str, at: int) -> tuple[Any, int]:
        return self._container(text, at, self._fast)

    def _container(self, text: str, at: int, scan: Any) -> tuple[Any, int]:
        first = text[at : at + 1]
        result: tuple[Any, int]
        if first == "{":
            result = JSONObject((text, at + 1), self.strict, scan, None, None, {})
        elif first == "[":
            result = JSONArray((text, at + 1), scan)
        else:
            result = self._fast(text, at)
        return result


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number of JSON")
