"""Titles that the model writes: when they are asked for, and which of its answers is one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.chat_bench import ChatBench
from paceline.chat.titles import MAX_TITLE_CHARS, TitleWriter, title_of_answer
from paceline.hosting.broker import Priority
from paceline.messages import AsideAnswered, SayAside

QUESTION = "How do I read a file in Python?"


class Desk:
    """A chat with one reply, and who writes its title."""

    def __init__(self) -> None:
        self.bench = ChatBench()
        self.bench.load()
        self.writer = TitleWriter(self.bench.client, self.bench.session, self.bench.loader)
        self.n_over = 0
        self.writer.on_over = self.count
        self.bench.ask(QUESTION, "With open().")

    def count(self) -> None:
        self.n_over += 1

    @property
    def title(self) -> str:
        return self.bench.current.title

    @property
    def asked(self) -> list[SayAside]:
        return self.bench.client.all(SayAside)

    def write(self) -> None:
        self.writer.write(self.bench.id)

    def answer(self, text: str) -> None:
        self.bench.client.emit(AsideAnswered(text))


def test_a_title_is_asked_for_after_the_first_reply() -> None:
    desk = Desk()
    desk.write()
    (asked,) = desk.asked
    assert desk.bench.client.tickets[-1].priority == Priority.IDLE
    assert asked.turn.begun_text == "With open()."
    assert [m.text for m in asked.turn.prompt.messages] == [QUESTION]
    assert asked.max_tokens <= 16
    desk.answer("")
    desk.write()
    assert len(desk.asked) == 1, "once"
    assert desk.title == QUESTION, "that was no title"


def test_a_written_title_stays_and_is_no_reply() -> None:
    desk = Desk()
    desk.write()
    desk.answer("Reading files in Python")
    assert desk.title == "Reading files in Python"
    assert desk.n_over == 1
    desk.bench.ask("And writing?", "The same.")
    assert desk.title == "Reading files in Python"
    desk.write()
    assert len(desk.asked) == 1
    assert desk.bench.texts == [QUESTION, "With open().", "And writing?", "The same."]


def test_a_title_of_the_users_own_is_left_alone() -> None:
    named, later = Desk(), Desk()
    named.bench.session.rename(named.bench.id, "Mine")
    named.write()
    assert named.asked == []
    later.write()
    later.bench.session.rename(later.bench.id, "Mine")
    later.answer("Reading files in Python")
    assert later.title == "Mine"


def test_it_is_asked_for_again_when_it_had_to_give_way_and_at_most_three_times() -> None:
    desk = Desk()
    for n in range(1, 5):
        desk.write()
        assert len(desk.asked) == min(n, 3)
        desk.bench.client.tickets[-1].gave_way = True
        if n < 4:
            desk.answer("")
        assert desk.writer.is_wanted(desk.bench.id) is (n < 3)
    assert desk.title == QUESTION


def test_nothing_is_asked_while_a_reply_is_written_or_in_a_long_chat() -> None:
    desk = Desk()
    assert desk.bench.send("More")
    desk.write()
    assert desk.asked == []
    desk.bench.client.reply("Yes.")
    for text in ("Three", "Four"):
        desk.bench.ask(text, "Yes.")
    desk.write()
    assert desk.asked == []


def test_the_title_of_a_private_chat_stays_in_memory() -> None:
    desk = Desk()
    desk.bench.new(private=True)
    desk.bench.ask("A secret", "Shh.")
    desk.write()
    desk.answer("Hush")
    assert desk.title == "Hush"
    assert [summary.title for summary in desk.bench.store.summaries()] == [QUESTION]


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("Reading files", "Reading files"),
        ('"Reading files."', "Reading files"),
        ("**Title: Reading files**", "Reading files"),
        ("Titel: „Dateien lesen“", "Dateien lesen"),
        ("Chat title - Reading files", "Reading files"),
        ("Sorry, wrong number", ""),
        ("I cannot help with that", ""),
        ("As an AI language model", ""),
        ("Sure! Here is a title", ""),
        ("Es tut mir leid", ""),
        ("How do I read a file", ""),
        ("how do i read a file in python", ""),
        ("You open it first", ""),
        ("Three kinds of files:", ""),
        ("", ""),
        ("…", ""),
        ("x" * (MAX_TITLE_CHARS + 1), ""),
        ("文件读取", "文件读取"),
    ],
)
def test_a_bad_title_is_not_used(said: str, title: str) -> None:
    assert title_of_answer(said, QUESTION, "You open it first, by open().") == title


@given(st.text(max_size=100), st.text(max_size=40))
def test_any_answer_gives_a_short_line_or_nothing(said: str, question: str) -> None:
    title = title_of_answer(said, question)
    assert len(title) <= MAX_TITLE_CHARS
    assert title == " ".join(title.split())
