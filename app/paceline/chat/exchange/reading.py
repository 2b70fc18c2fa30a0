"""A reader of files of chats: ours, and those that other programs export.

A chat is either read as a whole or not at all; one that is damaged costs itself alone. What the
readers of `programs` cannot keep of a chat is counted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from json.decoder import JSONArray, JSONObject  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any, NamedTuple, NoReturn

from paceline.chat.exchange.chat_json import FORMAT, HINT, MAX_NAME_CHARS, folder_in, from_json
from paceline.chat.exchange.imported import ImportedChat, text_in
from paceline.chat.exchange.programs import chatgpt, llama_cpp, lm_studio, open_webui, silly_tavern
from paceline.errors import UserError
from paceline.sentence import sentence

MAX_FILE_BYTES = 512_000_000
_BOMS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_PROGRAMS = {
    chatgpt: "ChatGPT",
    llama_cpp: "llama.cpp",
    open_webui: "Open WebUI",
    silly_tavern: "SillyTavern",
    lm_studio: "LM Studio",
}
_NOT_ONE = sentence(
    "Choose a chat that Paceline, llama.cpp's web page, LM Studio, ChatGPT, Open WebUI or "
    "SillyTavern exported."
)
_NEXT = re.compile(r"\s*+,?+\s*+(?=[^\s\]]|\]\s*\S)")
_OBJECT = re.compile(r",\s*\{")
_AFTER = re.compile(r"\s*[,\]]")


class Chats(NamedTuple):
    """The chats of a file.

    Attributes:
        whole: Chats that can be imported, in the file's order.
        damaged: The error of each chat that cannot be imported.
    """

    whole: tuple[ImportedChat, ...]
    damaged: tuple[UserError, ...] = ()


class _Item(NamedTuple):
    """A chat of a file: its data, or what is wrong with it."""

    place: str
    data: Any
    error: UserError | None = None


def read_chats(raw: bytes, name: str) -> Chats:
    """Return the chats in a file's content; at least one, whole or damaged.

    Args:
        raw: The whole content.
        name: The file's name, for errors.

    Raises:
        UserError: It has no chats, or its only one is damaged; the text says where.
    """
    if len(raw) > MAX_FILE_BYTES:
        raise UserError(
            "chat-too-large",
            "“{name}” has {size:,.0f} MB; a file may have {most:.0f}.",
            "Export fewer chats at a time.",
            name=name,
            size=len(raw) / 1e6,
            most=MAX_FILE_BYTES / 1e6,
        )
    if raw.startswith(b"PK\x03\x04"):
        raise UserError(
            "chat-in-archive",
            "“{name}” is an archive.",
            "Unpack it and import the files in it.",
            name=name,
        )
    text = _decoded(raw, name)
    try:
        items = _items(text)
    except UserError as error:
        raise _named(error, name) from error
    except RecursionError:  # of the parser
        raise UserError(
            "not-a-chat", "“{name}” is nested too deeply.", _NOT_ONE, name=name
        ) from None
    chats = _sorted(items, name)
    if not chats.whole and len(chats.damaged) == 1:
        raise chats.damaged[0]
    if not any(chats):
        raise UserError("no-chats", "“{name}” has no messages to import.", _NOT_ONE, name=name)
    return chats


def _sorted(items: list[_Item], name: str) -> Chats:
    whole: list[ImportedChat] = []
    damaged: list[UserError] = []
    for number, item in enumerate(items, start=1):
        try:
            chat = _chat(item, name)
            if chat.left_out and not chat.conversation.messages:
                raise UserError("no-chats", "It has no text to import.", "See it in its program.")
        except UserError as error:
            damaged.append(_named(error, name, _title(item.data), number, len(items)))
        except RecursionError:  # of what walks over the data
            deep = UserError("not-a-chat", "It is nested too deeply.", _NOT_ONE)
            damaged.append(_named(deep, name, _title(item.data), number, len(items)))
        else:
            whole += [chat] if chat.conversation.messages else []
    return Chats(tuple(whole), tuple(damaged))


def _named(
    error: UserError, name: str, title: str = "", number: int = 1, n_chats: int = 1
) -> UserError:
    """Return the error about a chat of a file; it says which one, where there are several."""
    what = error.message
    message = sentence("“{name}”: {what}", name=name, what=what)
    if n_chats > 1:
        message = sentence(
            "Chat {n} of {n_chats} in “{name}”, “{title}”: {what}"
            if title
            else "Chat {n} of {n_chats} in “{name}”: {what}",
            n=number,
            n_chats=n_chats,
            name=name,
            title=title,
            what=what,
        )
    return UserError(error.code, message, error.hint)


def _title(data: Any) -> str:
    """Return the title of a chat that may be damaged; empty where none is found."""
    program = _program(data)
    try:
        title = program.title(data) if program is not None else ""
    except (AttributeError, TypeError, RecursionError):
        title = ""
    return " ".join(text_in(title).split())[:MAX_NAME_CHARS]


def _program(data: Any) -> ModuleType | None:
    if not isinstance(data, dict):
        return None
    return next((program for program in _PROGRAMS if program.is_chat(data)), None)


def _chat(item: _Item, name: str) -> ImportedChat:
    if item.error is not None:
        raise item.error
    data = item.data
    if isinstance(data, dict) and data.get("format") == FORMAT:
        return ImportedChat(*from_json(data), folder=folder_in(data), program="Paceline")
    program = _program(data)
    if program is None:
        place = item.place
        raise UserError(
            "not-a-chat",
            "It is JSON, but {place} is no chat." if place else "It is JSON, but no chat.",
            _NOT_ONE,
            place=place,
        )
    chat: ImportedChat = program.found(data, item.place, name).chat()
    return chat._replace(program=_PROGRAMS[program])


def _decoded(raw: bytes, name: str) -> str:
    encoding = next((e for bom, e in _BOMS.items() if raw.startswith(bom)), "utf-8")
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError:
        raise UserError("not-a-chat", "“{name}” is no text file.", _NOT_ONE, name=name) from None


# ------------------------------------------------------------------------- several in one file


def _items(text: str) -> list[_Item]:
    """Return the chats of JSON, or of lines of JSON.

    Raises:
        UserError: It is neither.
    """
    try:
        data = _Decoder().decode(text)
    except ValueError as error:
        lines = [_line(n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
        chats = _of_lines(lines) or _of_broken_list(text)
        if not chats:
            if isinstance(error, json.JSONDecodeError):
                raise UserError(
                    "not-json", "It is not JSON (line {n}).", _NOT_ONE, n=error.lineno
                ) from None
            raise UserError("not-json", "It is not JSON.", _NOT_ONE) from None
        return chats
    if isinstance(data, list):
        return [_Item(f"[{number}]", item) for number, item in enumerate(data)]
    only = _Item("", data)
    return _of_lines([only]) or [only]


def _of_lines(lines: list[_Item]) -> list[_Item] | None:
    """Return the chats of lines of JSON, or None if they are something else."""
    if lines and silly_tavern.is_first_line(lines[0].data):
        error = next((line.error for line in lines if line.error is not None), None)
        return [_Item("", {"lines": [line.data for line in lines]}, error)]
    return list(_sessions(lines)) if any(map(_is_head, lines)) else None


def _of_broken_list(text: str) -> list[_Item]:
    """Return the whole chats of a list that is partly no JSON; empty if there are none.

    The next whole chat after the broken part is looked for. A chat that is quoted in a message is
    none: its quotation marks have backslashes there.
    """
    decoder, items, at = _Decoder(), list[_Item](), text.find("[") + 1
    if not at or text[: at - 1].strip():
        return []
    while (start := _NEXT.match(text, at)) is not None:
        try:
            data, end = decoder.raw_decode(text, start.end())
        except (ValueError, RecursionError):
            data, end = None, -1
        place = f"[{len(items)}]"
        if end >= 0 and _AFTER.match(text, end):
            items.append(_Item(place, data))
            at = end
            continue
        line = text.count("\n", 0, start.end()) + 1
        items.append(_Item(place, None, _no_json(line)))
        at = _next_chat(decoder, text, start.end())
    return items if any(map(_is_chat, items)) else []


def _next_chat(decoder: json.JSONDecoder, text: str, at: int) -> int:
    """Return the index of the comma before the next whole chat, or the text's length."""
    while (found := _OBJECT.search(text, at)) is not None:
        at = found.end() - 1
        try:
            data, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at += 1
            continue
        if _AFTER.match(text, end) and _is_chat(_Item("", data)):
            return found.start()
        at = end
    return len(text)


def _is_chat(item: _Item) -> bool:
    data = item.data
    return isinstance(data, dict) and (data.get("format") == FORMAT or _program(data) is not None)


def _line(number: int, line: str) -> _Item:
    try:
        data = _Decoder().decode(line)
    except (ValueError, RecursionError):
        return _Item("", None, _no_json(number))
    return _Item("", data)


def _no_json(line: int) -> UserError:
    return UserError("broken-chat", "Line {n} is not JSON.", HINT, n=line)


def _is_head(line: _Item) -> bool:
    return isinstance(line.data, dict) and line.data.get("type") == "session"


def _sessions(lines: list[_Item]) -> Iterator[_Item]:
    """Yield the chats of llama.cpp's page from lines: each a session, then its messages.

    A line that is neither belongs to the chat before it, unless the next message is of another one:
    then it began that. Where it can be read and holds no message, it is passed over, as a newer
    version's.
    """
    chat: dict[str, Any] | None = None
    error: UserError | None = None
    strange: UserError | None = None  # of the line before this one
    for number, line in enumerate(lines, 1):
        if _is_head(line):
            if chat is not None:
                yield _Item("", chat, error)
            chat, error, strange = {"conv": line.data, "messages": []}, None, None
            continue
        message = line.data.get("message") if isinstance(line.data, dict) else None
        if line.error is not None or not isinstance(message, dict):
            strange = strange or line.error or _stray(number)
            error = error or (line.error if chat is not None else None)
            continue
        key = message.get("convId")
        if chat is None or (strange is not None and key not in (None, chat["conv"].get("id"))):
            if chat is not None:
                yield _Item("", chat, None if error is strange else error)
            chat, error = {"conv": {"id": key}, "messages": []}, strange or _stray(number)
        elif key not in (None, chat["conv"].get("id")) or line.data.get("type") != "message":
            error = error or _stray(number)
        chat["messages"].append(message)
        strange = None
    if chat is not None:
        yield _Item("", chat, error)


def _stray(number: int) -> UserError:
    return UserError(
        "broken-chat",
        "Line {n} is neither the beginning of a chat nor a message of the one before it.",
        HINT,
        n=number,
    )


class _Decoder(json.JSONDecoder):
    """Reads the two outer levels step by step.

    The fast parser blocks all other threads until it is done; for a whole chat that may take a
    second, in which the window would not respond.
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
