"""Searching: any input, all words, beginnings of words, without case and accents; the marks."""

from __future__ import annotations

import string
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.conversation import Attachment, Conversation, Message
from paceline.storage import search
from paceline.storage.archive import Archive, ConversationStore
from paceline.storage.search import folded, words_of
from storage.chats import chat

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TEXTS = {
    "code": "def load_model(path): return llama_load(path)",
    "german": "Die Straße nach Köln ist länger; Übung macht den Meister",
    "french": "Un café crème à l'île, déjà vu",
    "nfd": "cafe\u0301 decomposed",
    "chinese": "我喜欢学习机器学习和推测解码。",
    "japanese": "推測デコードは速いです",
    "thai": "การถอดรหัสแบบคาดเดา",
    "russian": "Спекулятивное декодирование быстрее",
    "greek": "Η ΤΑΧΎΤΗΤΑ είναι καλή",
    "long": "padding words " * 3000 + "needleinhay " + "more words " * 3000,
    "numbers": "llama 3.2 has 70b and 8b versions, x=10",
    "emoji": "rocket 🚀 launch 🎉 party",
}


@contextmanager
def store_of(kind: str, folder: Path) -> Iterator[ConversationStore]:
    """All texts: searched one by one, or by the index; in both cases with the same answers."""
    store = ConversationStore() if kind == "memory" else Archive(folder / "chats.db")
    with ExitStack() as ends:
        if isinstance(store, Archive):
            store.open()
            ends.callback(store.close)
        for key, text in TEXTS.items():
            store.save(chat(key, text, title=f"title{key}"), [f"{key}-0"])
        yield store


@pytest.fixture(scope="module", params=["memory", "disk"])
def filled(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ConversationStore]:
    """A store that tests search alone."""
    with store_of(request.param, tmp_path_factory.mktemp("search")) as store:
        yield store


@pytest.fixture(params=["memory", "disk"])
def archive(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ConversationStore]:
    """A store that a test adds to."""
    with store_of(request.param, tmp_path) as store:
        yield store


def found(archive: ConversationStore, text: str) -> set[str]:
    return {hit.conversation_id for hit in archive.search(text)}


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("load_model", {"code"}),
        ("model load", {"code"}),
        ("LLAMA", {"code", "numbers"}),
        ("llama_lo", {"code"}),
        ("oad", set()),
        ("strasse", set()),
        ("straße", {"german"}),
        ("koln", {"german"}),
        ("KÖLN übung", {"german"}),
        ("ubu", {"german"}),
        ("cafe", {"french", "nfd"}),
        ("café", {"french", "nfd"}),
        ("cafe\u0301", {"french", "nfd"}),
        ("deja", {"french"}),
        ("学习", {"chinese"}),
        ("器学", {"chinese"}),
        ("学机", set()),
        ("推", {"chinese", "japanese"}),
        ("デコード", {"japanese"}),
        ("ถอดรหัส", {"thai"}),
        ("декод", {"russian"}),
        ("ΤΑΧΥΤΗΤΑ", {"greek"}),
        ("needleinhay", {"long"}),
        ("needleinhay padding", {"long"}),
        ("n", {"german", "long"}),
        ("7", {"numbers"}),
        ("70b 3", {"numbers"}),
        ("launch party", {"emoji"}),
        ("titlecode", {"code"}),
        ("nothing", set()),
    ],
)
def test_what_is_found(filled: ConversationStore, text: str, keys: set[str]) -> None:
    assert found(filled, text) == keys


HARMLESS = [
    "", " ", '"', "''", '"*', "*", "AND", "OR NOT", "NEAR(", "a NEAR b", "(", "^a", "-a", "a:b",
    "text:x", "{a b}", "\0", "a\0b", "%", "_", "\\", "🚀", "\ud800", "a" * 5000, "a " * 5000,
    "'; DROP TABLE messages; --", "\u0301", "ﬁ ß İ",
]  # fmt: skip


@pytest.mark.parametrize("text", HARMLESS)
def test_any_input_is_harmless(filled: ConversationStore, text: str) -> None:
    assert isinstance(filled.search(text), tuple)
    assert found(filled, "needleinhay") == {"long"}


@given(text=st.text(max_size=20) | st.text(f"{string.printable}äßKölnÜ\u0301", max_size=20))
def test_random_input(filled: ConversationStore, text: str) -> None:
    for hit in filled.search(text):
        assert hit.marks


def test_marks_are_where_the_words_are(filled: ConversationStore) -> None:
    for text in ("koln ubung", "cafe", "学习", "needleinhay", "party rocket", "load"):
        hits = [hit for hit in filled.search(text) if hit.message_id]
        assert hits
        for hit in hits:
            marked = [hit.snippet[start:end] for start, end in hit.marks]
            assert marked
            assert "\n" not in hit.snippet
            assert len(hit.snippet) < 180
            for piece in marked:
                assert any(folded(piece).replace("\u0301", "") == word for word in words_of(text))


def test_a_busy_machine_hides_no_hit(
    archive: ConversationStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "_MAX_SEARCH_S", 0.0)
    archive.save(chat("c", *(["token here"] * 50)), [f"c-{i}" for i in range(50)])
    assert len(archive.search("token")) == 50


def test_the_best_come_first(archive: ConversationStore) -> None:
    archive.save(chat("old", "token here", title="x"), ["old-0"])
    archive.save(chat("whole", "one token", title="x"), ["whole-0"])
    archive.save(chat("part", "many tokens", title="x"), ["part-0"])
    archive.save(chat("title", "else", title="All tokens"), ["title-0"])
    expected = ["title", "whole", "old", "part"]
    assert [hit.conversation_id for hit in archive.search("token")] == expected
    assert [hit.conversation_id for hit in archive.search("token", 2)] == expected[:2]
    assert archive.search("token", 0) == ()


def test_names_of_files_are_found(archive: ConversationStore) -> None:
    file = Attachment("report_final.csv", "secretcontent", 14)
    made = Conversation("c", "x").add(
        Message.of_text("m", None, "user", "look", 1.0, attachments=(file,))
    )
    archive.save(made, ["m"])
    assert found(archive, "report csv") == {"c"}
    assert found(archive, "secretcontent") == set()
