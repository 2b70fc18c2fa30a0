from __future__ import annotations

import inspect
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from paceline.chat.exchange import reading
from paceline.chat.exchange.chat_json import dumped, to_json
from paceline.chat.exchange.reading import read_chats
from paceline.errors import UserError
from storage.chats import chat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paceline.conversation import Conversation


def read(data: object) -> tuple[Conversation, int]:
    (made,) = read_chats(json.dumps(data).encode(), "file.json")
    assert made.records == {}
    return made.conversation, made.n_left_out


def said(conversation: Conversation) -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in conversation.path()]


def llama(*messages: dict[str, Any], **conv: Any) -> dict[str, Any]:
    return {
        "conv": {"id": "x", "name": "A chat", "lastModified": 5_000, **conv},
        "messages": list(messages),
    }


def node(name: str, parent: str | None, role: str, content: str, **more: Any) -> dict[str, Any]:
    return {
        "id": name, "parent": parent, "role": role, "content": content, "type": "text",
        "timestamp": 3_000, "children": [], **more,
    }  # fmt: skip


LLAMA = llama(
    {"id": "r", "parent": None, "type": "root", "role": "system", "content": "", "timestamp": 1},
    node("s", "r", "system", "Be brief."),
    node("a", "s", "user", "Why?", extra=[{"type": "TEXT", "name": "a.py", "content": "x = 1\n"}]),
    node("b", "a", "assistant", "So.", reasoningContent="Hmm."),
    node("c", "a", "assistant", "Because."),
    currNode="b",
    pinned=True,
)


def test_a_chat_of_llama_cpps_page() -> None:
    conversation, n_left_out = read(LLAMA)
    assert said(conversation) == [("user", "Why?"), ("assistant", "<think>\nHmm.\n</think>\n\nSo.")]
    assert [m.content for m in conversation.siblings("b")][1] == "Because."
    (file,) = conversation.messages["a"].attachments
    assert (file.name, file.text, file.n_bytes) == ("a.py", "x = 1\n", 6)
    assert (conversation.title, conversation.pinned) == ("A chat", True)
    assert (conversation.created_s, conversation.changed_s) == (3.0, 5.0)
    assert n_left_out == 1, "the system prompt"


def test_many_chats_of_llama_cpps_page_in_one_file_and_line_by_line() -> None:
    many = read_chats(json.dumps([LLAMA, LLAMA]).encode(), "all.json")
    lines = [{"type": "session", **LLAMA["conv"]}]
    lines += [{"type": "message", "message": message} for message in LLAMA["messages"]]
    lines += [{"type": "something new"}]
    by_line = read_chats("\n".join(map(json.dumps, lines + lines)).encode(), "all.jsonl")
    assert many == by_line
    assert len(many) == 2


def mapped(
    name: str, parent: str | None, role: str = "", *parts: Any, **more: Any
) -> dict[str, Any]:
    message = None
    if role:
        content = {"content_type": "text", "parts": list(parts)}
        message = {"author": {"role": role}, "content": content, "create_time": 9.5, **more}
    return {"id": name, "parent": parent, "children": [], "message": message}


def test_a_chat_of_chatgpt() -> None:
    hidden = {"is_visually_hidden_from_conversation": True}
    nodes = [
        # The order of the file says nothing: parents may stand behind.
        mapped("q", "sys", "user", "Why?", {"asset_pointer": "a picture"}),
        mapped("root", None),
        mapped("sys", "root", "system", "You are", metadata=hidden),
        mapped("call", "q", "assistant", "search(…)", recipient="browser"),
        mapped("tool", "call", "tool", "found"),
        mapped("a1", "tool", "assistant", "Because."),
        mapped("a2", "q", "assistant", "So."),
    ]
    data = {
        "title": "On reasons", "create_time": 1.5, "update_time": 2.5, "current_node": "a1",
        "mapping": {item["id"]: item for item in nodes},
    }  # fmt: skip
    conversation, n_left_out = read([data])
    assert said(conversation) == [("user", "Why?"), ("assistant", "Because.")]
    assert {m.content for m in conversation.siblings("a1")} == {"Because.", "So."}
    assert (conversation.title, conversation.created_s, conversation.changed_s) == (
        "On reasons", 1.5, 2.5,
    )  # fmt: skip
    assert n_left_out == 2


def test_a_chat_of_lm_studio() -> None:
    def block(text: str, style: str = "default") -> dict[str, Any]:
        return {
            "type": "contentBlock",
            "style": {"type": style},
            "content": [{"type": "text", "text": text}],
        }

    def version(role: str, text: str) -> dict[str, Any]:
        return {"type": "singleStep", "role": role, "content": [{"type": "text", "text": text}]}

    reply = {
        "type": "multiStep",
        "role": "assistant",
        "steps": [block("Hmm.", "thinking"), block("So."), {"type": "debugInfoBlock"}],
    }
    data = {
        "name": "Reasons",
        "createdAt": 7_000,
        "messages": [
            {
                "versions": [version("user", "Why?"), version("user", "Why not?")],
                "currentlySelected": 1,
            },
            {"versions": [reply], "currentlySelected": 0},
        ],
    }
    conversation, n_left_out = read(data)
    assert said(conversation) == [
        ("user", "Why not?"),
        ("assistant", "<think>\nHmm.\n</think>\n\nSo."),
    ]
    assert [m.content for m in conversation.children(None)] == ["Why?", "Why not?"]
    assert (conversation.title, conversation.created_s, n_left_out) == ("Reasons", 7.0, 0)


def test_a_title_comes_from_the_first_question_where_there_is_none() -> None:
    assert (
        read(llama(node("a", None, "user", "Why is it so?"), name="  "))[0].title == "Why is it so?"
    )


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_unicode_with_and_without_a_mark(encoding: str) -> None:
    text = json.dumps(llama(node("a", None, "user", "Größe 😀")), ensure_ascii=False)
    ((conversation, _, _),) = read_chats(text.encode(encoding), "a.json")
    assert said(conversation) == [("user", "Größe 😀")]


def test_the_two_readers_of_json_agree() -> None:
    data = to_json(chat("c", 'quo"te\n\t\\', "a\u2028b"), {})
    for text in ("".join(dumped(data)), json.dumps(data), json.dumps(data, indent=3)):
        assert read_chats(text.encode(), "c.json")[0].conversation == chat(
            "c", 'quo"te\n\t\\', "a\u2028b"
        )


@pytest.fixture
def usual_stack() -> Iterator[None]:
    """1,000 calls from here, whatever other tests set and however deep this one is."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 1000)
    yield
    sys.setrecursionlimit(before)


NESTED = b'{"a":' * 50_000 + b"1" + b"}" * 50_000
WITHIN = b'{"format": "paceline-chat", "version": 1, "a": ' + b"[" * 700 + b"]" * 700 + b"}"
"""The parser takes as much."""


@pytest.mark.parametrize(
    ("raw", "code", "words"),
    [
        (b"", "not-json", "“x.json”: It is not JSON (line 1)."),
        (b"hello", "not-json", "It is not JSON"),
        (b'{\n"format": "paceline-chat",\n', "not-json", "It is not JSON (line 3)."),
        (b'{"format": "paceline-chat", "version": NaN}', "not-json", "It is not JSON."),
        (b"\xff\x00\x01", "not-a-chat", "“x.json” is no text file."),
        (b"PK\x03\x04", "chat-in-archive", "“x.json” is an archive."),
        (b"{}", "not-a-chat", "It is JSON, but no chat."),
        (b"7", "not-a-chat", "It is JSON, but no chat."),
        (b'[{"a": 1}]', "not-a-chat", "It is JSON, but [0] is no chat."),
        (b"[]", "no-chats", "“x.json” has no messages to import."),
        (b'{"conv": {}, "messages": []}', "no-chats", "has no messages to import"),
        (b'{"messages": []}', "no-chats", "has no messages to import"),
        (NESTED, "not-a-chat", "“x.json” is nested too deeply."),
        (WITHIN, "not-a-chat", "“x.json” is nested too deeply."),
        (b"1\n" + NESTED, "not-a-chat", "“x.json” is nested too deeply."),
        (b'{"format": "paceline-chat", "version": 99}', "newer-chat", "“x.json”: The chat was"),
    ],
)
def test_what_is_no_chat_is_told(raw: bytes, code: str, words: str, usual_stack: None) -> None:
    with pytest.raises(UserError) as caught:
        read_chats(raw, "x.json")
    assert (caught.value.code, bool(caught.value.hint)) == (code, True)
    assert words in caught.value.message


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ([node("a", "b", "user", "x"), node("b", "a", "assistant", "y")], "in a circle"),
        ([node("a", "gone", "user", "x")], "follow 'gone', which is not there"),
        ([{"content": "x"}], "messages[0] has no id"),
        ([7], "messages[0] has no id"),
    ],
)
def test_damaged_chats_of_others_are_told(messages: list[Any], words: str) -> None:
    with pytest.raises(UserError) as caught:
        read(llama(*messages))
    assert caught.value.code == "broken-chat"
    assert words in caught.value.message


@pytest.mark.parametrize(
    ("limit", "most", "words"),
    [
        ("MAX_MESSAGES", 2, "messages has more than 1 entries"),
        ("MAX_TEXT_CHARS", 4, "messages have more than 3 characters"),
    ],
)
def test_chats_of_others_have_limits(
    monkeypatch: pytest.MonkeyPatch, limit: str, most: int, words: str
) -> None:
    data = llama(node("a", None, "user", "Why?"), node("b", "a", "assistant", "So."))
    monkeypatch.setattr(reading, limit, most)
    read(data)
    monkeypatch.setattr(reading, limit, most - 1)
    with pytest.raises(UserError, match=words) as caught:
        read(data)
    assert caught.value.code == "broken-chat"


def test_a_file_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = json.dumps(LLAMA).encode()
    monkeypatch.setattr(reading, "MAX_FILE_BYTES", len(raw))
    read_chats(raw, "x.json")
    monkeypatch.setattr(reading, "MAX_FILE_BYTES", len(raw) - 1)
    with pytest.raises(UserError, match="has 0 MB") as caught:
        read_chats(raw, "x.json")
    assert caught.value.code == "chat-too-large"


def test_long_names_of_others_are_cut() -> None:
    extra = [{"name": "y" * 1_001, "content": "x"}]
    conversation, _ = read(llama(node("a", None, "user", "Why?", extra=extra), name="x" * 1_001))
    (file,) = conversation.messages["a"].attachments
    assert (conversation.title, file.name) == ("x" * 1_000, "y" * 1_000)


def test_strange_values_of_others_are_passed_over() -> None:
    strange = node("a", None, "user", "x", timestamp=1e300, extra=[7, {"content": 3}], children=7)
    conversation, _ = read(llama(strange, currNode=[], lastModified="now", name=7, pinned="yes"))
    assert said(conversation) == [("user", "x")]
    assert (conversation.created_s, conversation.changed_s, conversation.pinned) == (0, 0, False)
