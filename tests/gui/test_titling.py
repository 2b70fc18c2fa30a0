"""Conditions under which the window generates a title; only the title is visible."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gui.clocks import let_pass
from paceline.chat.pair import Pair
from paceline.messages import AsideAnswered, LoadPair, ModelParams, SayAside
from paceline.paths import demo_pair, resources

if TYPE_CHECKING:
    from gui.fake_client import FakeClient
    from paceline.gui.program import Program


def answered(program: Program, client: FakeClient) -> None:
    """Let a model that is not the program's own answer."""
    program.models.load(Pair(ModelParams("/models/one.gguf")))
    client.finish_load()
    program.chat.send("How do I read a file?")
    client.reply("By open().")


def test_a_title_is_written_while_nothing_is_to_be_done(
    program: Program, client: FakeClient
) -> None:
    answered(program, client)
    assert let_pass(program.titling)
    client.emit(AsideAnswered("Reading files"))
    (chat,) = program.session.summaries
    assert chat.title == "Reading files"
    assert program.shown.conversation.title == "Reading files"
    assert len(program.shown.conversation.path()) == 2


def test_who_asks_again_waits_anew(program: Program, client: FakeClient) -> None:
    answered(program, client)
    assert let_pass(program.titling)
    client.tickets[-1].gave_way = True
    client.emit(AsideAnswered())
    assert program.titling.rest.isActive()
    program.chat.send("And writing?")
    assert not program.titling.rest.isActive()


def test_none_is_asked_for_where_it_is_off(program: Program, client: FakeClient) -> None:
    program.settings.set("writes_titles", False)
    answered(program, client)
    assert let_pass(program.titling)
    assert client.all(SayAside) == []


def test_a_small_model_is_not_asked(program: Program, client: FakeClient) -> None:
    assert client.last(LoadPair).target.path == str(demo_pair(resources())[0])
    program.chat.send("How do I read a file?")
    client.reply("By open().")
    assert let_pass(program.titling)
    assert client.all(SayAside) == []
