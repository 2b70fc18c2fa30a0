"""The part of a text that is certain while it is written, and requests to read it ahead."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inline_client import InlineClient
from paceline.chat.reading_ahead import AheadReader, certain_part
from paceline.hosting.broker import Broker
from paceline.messages import (
    Chat,
    ChatMessage,
    Command,
    PrefillProgressed,
    ReadAhead,
    ReadAheadEnded,
    StartTurn,
)


@pytest.mark.parametrize(
    ("before", "certain"),
    [
        ("", ""),
        ("Hello", ""),
        ("Hello.", ""),  # it may become 3.14
        ("Hello. ", "Hello."),
        ("Hello. How are", "Hello."),
        ("Pi is 3.14 or", ""),
        ('He said "No!" Then', 'He said "No!"'),
        ("A line\nand another", "A line"),
        ("  Hello?! \n\n", "Hello?!"),
        ("Was ist das? Ein „Satz.“ Und", "Was ist das? Ein „Satz.“"),
        ("これは文です。次の", "これは文です。"),
    ],
)
def test_what_stands_before_the_sentence_at_the_caret_is_certain(before: str, certain: str) -> None:
    assert certain_part(before) == certain


@given(st.text("aB. \n!?)", max_size=60), st.text("aB. \n!?)", max_size=30))
def test_what_is_certain_stays_so_whatever_is_typed(before: str, more: str) -> None:
    certain = certain_part(before)
    assert (before + more).strip().startswith(certain)
    assert certain_part(before + more).startswith(certain)


class Heard:
    """A service that notes what it is asked, and says what a test wants."""

    def __init__(self) -> None:
        self.commands: list[Command] = []
        self.answers: list[PrefillProgressed | ReadAheadEnded] = []
        self.emit = lambda _event: None

    def made(self, emit: object, _broker: Broker) -> Heard:
        self.emit = emit  # type: ignore[assignment]
        return self

    def handle(self, command: Command) -> None:
        self.commands.append(command)
        for answer in self.answers:
            self.emit(answer)  # type: ignore[no-untyped-call]


def turn(text: str) -> StartTurn:
    return StartTurn(Chat((ChatMessage.of_text("user", text),)))


def test_the_same_turn_is_asked_about_once_and_again_where_it_was_stopped() -> None:
    service, told = Heard(), []
    reader = AheadReader(InlineClient(service.made), lambda: told.append(reader.progress))
    service.answers = [PrefillProgressed(3, 9), ReadAheadEnded(3, 9, is_over=False)]
    reader.read(turn("a"))
    assert told == [ReadAheadEnded(3, 9, is_over=False)] * 2
    service.answers = [ReadAheadEnded(9, 9)]
    reader.read(turn("a"))
    reader.read(turn("a"))
    assert service.commands == [ReadAhead(turn("a"))] * 2
    assert reader.progress == ReadAheadEnded(9, 9)
    reader.read(turn("b"))
    reader.drop()
    reader.read(turn("b"))
    assert service.commands[2:] == [ReadAhead(turn("b"))] * 2
