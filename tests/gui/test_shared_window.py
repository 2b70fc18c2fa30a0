"""The window that tests share: put back whatever a test did, or found to be different."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gui.fake_client import described
from paceline.conversation import Folder
from paceline.gui.conversations.tags import TagBar
from paceline.messages import DescribeEngine, LoadPair, StartTurn

if TYPE_CHECKING:
    from gui.shared_window import SharedWindow


def test_whatever_a_person_and_the_engine_did_is_put_back(shared_window: SharedWindow) -> None:
    program, client = shared_window.program, shared_window.client
    window, actions = program.window, program.window.actions_
    client.emit(described())
    program.chat.send("First?")
    client.reply("One")
    program.session.put_folder(Folder("f", "Work", "Answer briefly."))
    program.session.move(program.shown.id, "f")
    actions.delete.trigger()
    actions.new_private.trigger()
    program.chat.send("Second?")
    client.start_turn()
    program.settings.update(font_px=18, theme="dark", density="compact", n_replies=0)
    program.speculation.choose("suffix")
    actions.panel.trigger()
    actions.palette.trigger()
    actions.settings.trigger()
    window.sidebar.search.setText("nothing")
    window.chat_pane.composer.set_text("Half a sentence")
    window.resize(700, 500)
    program.notices.error("It failed.", "Try again.")
    actions.no_draft.trigger()
    assert shared_window.put_back() == []
    assert (program.session.summaries, program.session.active) == ((), None)
    assert program.shown.conversation.path() == ()
    assert client.all(StartTurn) == client.cancelled == []
    assert len(client.all(LoadPair)) == len(client.all(DescribeEngine)) == 1
    assert program.pair.state.status == "ready"


def test_what_cannot_be_put_back_is_named(shared_window: SharedWindow) -> None:
    tags = shared_window.program.window.sidebar.findChild(TagBar)
    assert isinstance(tags, TagBar)
    tags.show_tags(["left"], [])
    differences = shared_window.put_back()
    assert any("TagBar" in line and "left" in line for line in differences)
    tags.show_tags([], [])
    assert shared_window.put_back() == []
