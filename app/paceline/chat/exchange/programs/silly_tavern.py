"""Chats of SillyTavern: lines of JSON; the first describes the chat.

Source for the format: SillyTavern's code (`src/endpoints/chats.js`, `public/script.js`,
`public/scripts/tool-calling.js`). Its swipes are other versions of a reply.
"""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime
from typing import Any

from paceline.chat.exchange.chat_json import HINT
from paceline.chat.exchange.imported import (
    LeftOut,
    Node,
    ParsedChat,
    dicts,
    kind_of_file,
    seconds,
    text_in,
)
from paceline.errors import UserError

_UNNAMED = ("", "unused")
_STAMP = re.compile(r"(\d+)-(\d+)-(\d+) ?@ ?(\d+)h ?(\d+)m ?(\d+)s(?: ?(\d+)ms)?")
_WRITTEN = ("%B %d, %Y %I:%M%p", "%B %d, %Y %I:%M:%S%p")
_MEDIA = ("image", "video", "audio")


def is_chat(data: dict[str, Any]) -> bool:
    """Return whether the data is such a chat: its lines under “lines”."""
    return isinstance(data.get("lines"), list)


def is_first_line(line: object) -> bool:
    """Return whether the lines of such a chat begin like this."""
    return isinstance(line, dict) and (
        "chat_metadata" in line or ("user_name" in line and "character_name" in line)
    )


def title(data: dict[str, Any]) -> object:
    """Return the title of such a chat: its character's name."""
    name = data["lines"][0].get("character_name")
    return "" if name in _UNNAMED else name


def found(data: dict[str, Any], place: str, name: str) -> ParsedChat:
    """Return what such data holds.

    Raises:
        UserError: It is damaged.
    """
    head, lines = data["lines"][0], data["lines"][1:]
    for number, line in enumerate(lines, start=2):
        if not isinstance(line, dict) or not isinstance(line.get("mes"), str):
            raise UserError("broken-chat", "Line {n} is no message.", HINT, n=number)
    replies = (line for line in lines if not (line.get("is_user") or line.get("is_system")))
    writers = {text_in(line.get("name")).strip() for line in replies} - {""}
    nodes: dict[str, Node] = {}
    parent: str | None = None
    for number, line in enumerate(lines):
        chosen, versions = _versions(line)
        for version_number, version in enumerate(versions):
            nodes[f"{number}-{version_number}"] = _node(parent, version, named=len(writers) > 1)
        parent = f"{number}-{chosen}"
    metadata = head.get("chat_metadata")
    note = metadata.get("note_prompt") if isinstance(metadata, dict) else ""
    return ParsedChat(
        place,
        nodes,
        parent,
        text_in(title(data)),
        name,
        _time_s(head.get("create_date")),
        left_out={"notes": int(bool(text_in(note).strip()))},
    )


def _versions(line: dict[str, Any]) -> tuple[int, list[dict[str, Any]]]:
    """Return which version of a line is shown, the line itself, and all of them."""
    swipes, chosen = line.get("swipes"), line.get("swipe_id", 0)
    if not isinstance(swipes, list):
        return 0, [line]
    if type(chosen) is not int or not 0 <= chosen < len(swipes):
        if line.get("mes") not in swipes:
            swipes = [*swipes, line.get("mes")]
        chosen = swipes.index(line.get("mes"))
    about = line.get("swipe_info")
    about = about if isinstance(about, list) else []
    versions = []
    for number, swipe in enumerate(swipes):
        info = about[number] if number < len(about) and isinstance(about[number], dict) else {}
        version = {**line, "extra": info.get("extra"), "send_date": info.get("send_date")}
        versions.append(line if number == chosen else {**version, "mes": swipe})
    return chosen, versions


def _node(parent: str | None, line: dict[str, Any], *, named: bool) -> Node:
    extra = line.get("extra")
    extra = extra if isinstance(extra, dict) else {}
    left_out = _lost(extra)
    text, created_s = text_in(line.get("mes")), _time_s(line.get("send_date"))
    calls = extra.get("tool_invocations")
    if isinstance(calls, list):
        left_out["tools"] += max(1, len(calls))
        return Node(parent, created_s=created_s, left_out=left_out)
    if line.get("is_system") is True and extra.get("type"):  # help, comments, the narrator
        left_out["system"] += 1
        return Node(parent, created_s=created_s, left_out=left_out)
    is_user = line.get("is_user") is True
    writer = text_in(line.get("name")).strip()
    if named and not is_user and writer and text.strip():
        text = f"{writer}: {text}"  # several characters talk, and the text alone says not who
    role = "user" if is_user else "assistant"
    return Node(parent, role, text, text_in(extra.get("reasoning")), created_s, (), left_out)


def _lost(extra: dict[str, Any]) -> Counter[LeftOut]:
    """Count a message's lost files by kind: the chat has only their paths."""
    lost: Counter[LeftOut] = Counter()
    media = dicts(extra.get("media"))
    lost.update(kind_of_file(item.get("type") or "image") for item in media)
    if not media:  # the same, as earlier versions had it
        lost.update(kind_of_file(kind) for kind in _MEDIA if extra.get(kind))
    lost["files"] += len(dicts(extra.get("files"))) or isinstance(extra.get("file"), dict)
    return lost


def _time_s(value: object) -> float:
    """Return a time in seconds since the epoch; 0 where it is written in an unknown way."""
    if not isinstance(value, str):
        return seconds(value, 1000)
    stamp = _STAMP.fullmatch(value.strip())
    try:
        if stamp is not None:
            year, month, day, hour, minute, second, ms = (int(part or 0) for part in stamp.groups())
            time = datetime(year, month, day, hour, minute, second, ms * 1000).astimezone()
        else:
            time = _written(value.strip())
        return seconds(time.timestamp())
    except (ValueError, OverflowError, OSError):
        return 0.0


def _written(value: str) -> datetime:
    for form in _WRITTEN:
        try:
            return datetime.strptime(value, form).astimezone()
        except ValueError:
            pass
    time = datetime.fromisoformat(value)
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)
