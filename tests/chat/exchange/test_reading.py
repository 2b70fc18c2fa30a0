from __future__ import annotations

import inspect
import json
import random
import sys
from typing import TYPE_CHECKING, Any

import pytest

from chat.exchange import exports as ex
from paceline.chat.exchange import imported, reading
from paceline.chat.exchange.chat_json import dumped, to_json
from paceline.chat.exchange.reading import read_chats
from paceline.errors import UserError
from storage.chats import chat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paceline.chat.exchange.imported import ImportedChat
    from paceline.conversation import Conversation
    from trials import Trials


def read(data: object) -> ImportedChat:
    (made,), damaged = read_chats(json.dumps(data).encode(), "file.json")
    assert not damaged
    assert made.records == {}
    return made


def said(conversation: Conversation) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in conversation.path()]


def llama(*messages: Any, **conv: Any) -> dict[str, Any]:
    return {"conv": {"id": "x", "name": "A chat", **conv}, "messages": list(messages)}


node = ex.page_message
LLAMA = ex.page_chat(
    "b",
    node("s", "root", "system", "Be brief."),
    node("a", "s", "user", "Why?", extra=[{"type": "TEXT", "name": "a.py", "content": "x = 1\n"}]),
    node("b", "a", "assistant", "So.", reasoningContent="Hmm."),
    node("c", "a", "assistant", "Because."),
    pinned=True,
)


def test_a_chat_of_llama_cpps_page() -> None:
    conversation = read(LLAMA).conversation
    assert [m.text for m in conversation.siblings("b")][1] == "Because."
    assert conversation.messages["a"].attachments[0].n_bytes == 6
    assert (conversation.title, conversation.pinned) == ("A chat", True)
    assert (conversation.created_s, conversation.changed_s) == (3.0, 9.0)


def test_many_chats_of_llama_cpps_page_in_one_file_and_line_by_line() -> None:
    many = read_chats(json.dumps([LLAMA, LLAMA]).encode(), "all.json")
    lines = [{"type": "session", **LLAMA["conv"]}]
    lines += [{"type": "message", "message": message} for message in LLAMA["messages"]]
    lines += [{"type": "something new"}]
    by_line = read_chats("\n".join(map(json.dumps, lines + lines)).encode(), "all.jsonl")
    assert many == by_line
    assert len(many.whole) == 2


def test_a_chat_without_a_title_gets_one_from_its_first_question() -> None:
    made = read(llama(node("a", None, "user", "Why is it so?"), name="  "))
    assert made.conversation.title == "Why is it so?"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_unicode_with_and_without_a_mark(encoding: str) -> None:
    text = json.dumps(llama(node("a", None, "user", "Größe 😀")), ensure_ascii=False)
    (chat,) = read_chats(text.encode(encoding), "a.json").whole
    assert said(chat.conversation) == [("user", "Größe 😀")]


def test_the_two_readers_of_json_agree() -> None:
    data = to_json(chat("c", 'quo"te\n\t\\', "a\u2028b"), {})
    for text in ("".join(dumped(data)), json.dumps(data), json.dumps(data, indent=3)):
        (read_again,) = read_chats(text.encode(), "c.json").whole
        assert read_again.conversation == chat("c", 'quo"te\n\t\\', "a\u2028b")


@pytest.mark.parametrize("end", [",]", " ,\n ]\n"])
def test_a_comma_too_many_is_no_damaged_chat(end: str) -> None:
    one = json.dumps(llama(node("a", None, "user", "Go")))
    chats = read_chats(f"[{one}, {one}{end}".encode(), "a.json")
    assert [said(found.conversation) for found in chats.whole] == [[("user", "Go")]] * 2
    assert not chats.damaged


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
        (WITHIN, "not-a-chat", "“x.json”: It is nested too deeply."),
        (b"1\n" + NESTED, "not-json", "It is not JSON (line 2)."),
        (b'{"type": "session", "id": "c"}', "no-chats", "has no messages to import"),
        (b'{"chat_metadata": {}}', "no-chats", "has no messages to import"),
        (b'{"format": "paceline-chat", "version": 99}', "newer-chat", "“x.json”: The chat was"),
    ],
)
def test_what_is_no_chat_is_reported(raw: bytes, code: str, words: str, usual_stack: None) -> None:
    with pytest.raises(UserError) as caught:
        read_chats(raw, "x.json")
    assert (caught.value.code, bool(caught.value.hint)) == (code, True)
    assert words in caught.value.message


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (llama(node("a", "b", "user", "x"), node("b", "a", "assistant", "y")), "in a circle"),
        (llama(node("a", "gone", "user", "x")), "follow 'gone', which is not there"),
        (llama({"content": "x"}), "messages[0] has no id"),
        (llama(7), "messages[0] has no id"),
        (llama(*2 * [node("a", None, "user", "x")]), "messages[1].id stands for another message"),
        (ex.gpt_chat("a", mapping={"a": 7}), "mapping.a is not an object"),
        (ex.lm_chat(messages=[{"versions": 7}]), "messages[0] has no versions"),
        ({"chat": {"history": {"messages": []}}}, "chat.history.messages is not an object"),
    ],
)
def test_damaged_chats_of_others_are_reported(data: Any, words: str) -> None:
    with pytest.raises(UserError) as caught:
        read(data)
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
    monkeypatch.setattr(imported, limit, most)
    read(data)
    monkeypatch.setattr(imported, limit, most - 1)
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
    conversation, *_ = read(llama(node("a", None, "user", "Why?", extra=extra), name="x" * 1_001))
    (file,) = conversation.messages["a"].attachments
    assert (conversation.title, file.name) == ("x" * 1_000, "y" * 1_000)


def test_strange_values_of_others_are_passed_over() -> None:
    strange = node("a", None, "user", "x", timestamp=1e300, extra=[7, {"content": 3}], children=7)
    conversation, *_ = read(llama(strange, currNode=[], lastModified="now", name=7, pinned="yes"))
    assert said(conversation) == [("user", "x")]
    assert (conversation.created_s, conversation.changed_s, conversation.pinned) == (0, 0, False)


# --------------------------------------------------------------------- several, one is damaged


def test_each_of_several_damaged_chats_is_reported() -> None:
    chats = read_chats(json.dumps([None, 7]).encode(), "all.json")
    assert chats.whole == ()
    told = [error.message.split(" in ")[0] for error in chats.damaged]
    assert told == ["Chat 1 of 2", "Chat 2 of 2"]


def test_a_chat_of_which_nothing_can_be_kept_is_reported() -> None:
    only = ex.gpt_chat("q", ex.gpt_node("q", None, "user", ex.PICTURE))
    chats = read_chats(json.dumps([LLAMA, only]).encode(), "all.json")
    assert len(chats.whole) == 1
    assert "“On reasons”: It has no text to import." in chats.damaged[0].message


YES = ex.lm_block(ex.lm_text("Yes"))
CALLED = ex.lm_block(ex.LM_CALL), ex.LM_STATUS, YES
SAMPLES = (
    LLAMA,
    ex.gpt_chat(
        "a",
        ex.gpt_node("s", None, "system", "Be brief."),
        ex.gpt_node("q", "s", "user", ex.SPOKEN, ex.SOUND, metadata={"attachments": [{"name": 1}]}),
        ex.gpt_node("a", "q", "assistant", "See \ue200cite\ue202x\ue201."),
    ),
    ex.lm_chat(
        ex.lm_user(ex.lm_text("Why?"), ex.LM_FILE),
        (1, [ex.lm_reply(ex.lm_block(ex.lm_text("Hm"), thinking=True), YES), ex.lm_reply(*CALLED)]),
    ),
    ex.web_chat(
        "a",
        ex.web_message("q", None, "user", "Why?", files=[{"type": "file", "file": {"data": {}}}]),
        ex.web_message("a", "q", "assistant", "So."),
        meta={"tags": ["x"]},
    ),
)
WRONG: tuple[Any, ...] = (None, 7, -1e308, "", "x", "\ud800", [], {}, [[]], {"a": [1]}, True)


def damaged(data: Any, rng: random.Random) -> Any:
    """A copy in which one value, somewhere, is another one, is missing or is there twice."""
    copy = json.loads(json.dumps(data))
    places: list[tuple[Any, Any]] = []

    def walk(value: Any) -> None:
        keys = value if isinstance(value, dict) else range(len(value))
        for key in keys:
            places.append((value, key))
            if isinstance(value[key], (dict, list)):
                walk(value[key])

    walk(copy)
    parent, key = rng.choice(places)
    what = rng.randrange(4)
    if what == 0:
        del parent[key]
    elif what == 1 and isinstance(parent, list):
        parent.append(parent[key])
    elif what == 2:
        elsewhere, other = rng.choice(places)
        parent[key] = json.loads(json.dumps(elsewhere[other]))
    else:
        parent[key] = rng.choice(WRONG)
    return copy


def test_random_damage_to_one_chat_leaves_the_others_whole(trials: Trials) -> None:
    alone = [read(sample) for sample in SAMPLES]
    n_damaged = 0
    for number in trials(150, 5_000):
        rng = random.Random(number)
        at = rng.randrange(len(SAMPLES))
        items = [*SAMPLES[:at], damaged(SAMPLES[at], rng), *SAMPLES[at + 1 :]]
        chats = read_chats(json.dumps(items).encode(), "all.json")
        others = [*alone[:at], *alone[at + 1 :]]
        if chats.damaged:
            n_damaged += 1
            (error,) = chats.damaged
            assert error.message.startswith(f"Chat {at + 1} of {len(SAMPLES)} in “all.json”")
            assert list(chats.whole) == others
        else:
            n_after = len(others) - at
            assert [*chats.whole[:at], *chats.whole[len(chats.whole) - n_after :]] == others
    assert n_damaged


def test_random_damage_to_the_lines_of_one_chat_leaves_the_others_whole(trials: Trials) -> None:
    chats = [
        ex.page_chat(
            "a",
            ex.page_message("q", "root", "user", f"Why {n}?"),
            ex.page_message("a", "q", "assistant", "So."),
            key=f"c{n}",
            name=f"Chat {n}",
        )
        for n in range(3)
    ]
    alone = [read(chat) for chat in chats]
    for number in trials(150, 5_000):
        rng = random.Random(number)
        at = rng.randrange(3)
        written = [ex.page_lines(chat) for chat in chats]
        line = rng.randrange(len(written[at]))
        text = written[at][line]
        cut = rng.randrange(len(text))
        written[at][line] = text[:cut] + rng.choice(('"', "{", "\x00", "")) + text[cut + 3 :]
        raw = "\n".join(line for lines in written for line in lines).encode()
        found = read_chats(raw, "all.jsonl")
        for n, whole in enumerate(alone):
            if n != at:
                assert whole in found.whole, (at, line, written[at][line])
        for error in found.damaged:
            assert error.message.startswith(f"Chat {at + 1} of 3 in “all.jsonl”")
        assert len(found.whole) + len(found.damaged) == 3


@pytest.mark.parametrize("indent", [None, 1])
def test_random_damage_to_the_text_of_one_chat_leaves_the_others_whole(
    trials: Trials, indent: int | None
) -> None:
    alone = [read(sample) for sample in SAMPLES]
    texts = [json.dumps(sample, indent=indent, ensure_ascii=False) for sample in SAMPLES]
    for number in trials(150, 5_000):
        rng = random.Random(number)
        at = rng.randrange(len(SAMPLES))
        text = texts[at]
        cut = rng.randrange(1, len(text) - 1)
        kept = text[cut + rng.randrange(4) :]
        written = [*texts[:at], text[:cut] + rng.choice(BROKEN) + kept, *texts[at + 1 :]]
        chats = read_chats(f"[{', '.join(written)}]".encode(), "all.json")
        others = [chat for n, chat in enumerate(alone) if n != at]
        assert [chat for chat in chats.whole if chat in others] == others
        assert len(chats.whole) + len(chats.damaged) >= len(SAMPLES) or not chats.damaged
        if len(chats.whole) < len(SAMPLES):
            told = int(chats.damaged[0].message.split()[1])
            assert told in (at + 1, at + 2), "the second half of one that fell apart"


BROKEN = ('"', "{", "}", "]", "[", ",", "\\", "\n", "", "\x00", "null", '"}, {"')


def test_a_list_that_was_cut_has_the_chats_before_the_cut(trials: Trials) -> None:
    text = json.dumps(SAMPLES)
    ends = [len(json.dumps(SAMPLES[: n + 1])) - 1 for n in range(len(SAMPLES))]
    for number in trials(40, 2_000):
        cut = random.Random(number).randrange(ends[0] + 2, len(text) - 1)
        chats = read_chats(text[:cut].encode(), "all.json")
        n_whole = sum(end <= cut for end in ends)
        assert [*chats.whole] == [read(sample) for sample in SAMPLES[:n_whole]]
        assert len(chats.damaged) == int(cut > ends[n_whole - 1])
