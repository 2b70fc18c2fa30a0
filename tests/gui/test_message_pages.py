"""A conversation of any length: few views, and what is seen stands still."""

from __future__ import annotations

from itertools import pairwise
from time import perf_counter
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt

from gui.chat_help import LONG, begin_reply, committed, say, settle, shown_chat
from paceline.conversation import ViewPlace
from paceline.gui.chat.messages.message_item import ShownMessage
from paceline.gui.chat.messages.message_pages import MAX_BUILT
from paceline.gui.chat.messages.reply_view import ReplyView
from paceline.gui.chat.messages.user_bubble import UserBubble
from paceline.gui.look.current import look

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from PySide6.QtWidgets import QScrollBar
    from pytestqt.qtbot import QtBot

    from paceline.gui.chat.view import ChatView

N = 10_000


def path(n_messages: int = N, name: str = "m") -> list[ShownMessage]:
    """Questions and replies in turns."""
    return [
        ShownMessage(f"{name}{i}", "assistant", f"Reply **{i}**.\n\n" + "- a line\n" * (i % 7))
        if i % 2
        else ShownMessage(f"{name}{i}", "user", f"Question {i}")
        for i in range(n_messages)
    ]


@pytest.fixture
def chat(qtbot: QtBot) -> Iterator[ChatView]:
    yield from shown_chat(qtbot)


def bar(chat: ChatView) -> QScrollBar:
    return chat._list.verticalScrollBar()


def rest(chat: ChatView, qtbot: QtBot) -> None:
    """Wait until everything near is built."""
    qtbot.waitUntil(lambda: not chat._page_timer.isActive(), timeout=5_000)
    settle(qtbot)


def ids(chat: ChatView) -> list[str]:
    return [item.message_id for item in chat._list.items]


def tops(chat: ChatView) -> dict[str, int]:
    """Where each message stands in the view."""
    return {item.message_id: item.y() - bar(chat).value() for item in chat._list.items}


def assert_contiguous(chat: ChatView, messages: Sequence[ShownMessage]) -> None:
    first = [m.message_id for m in messages].index(ids(chat)[0])
    built = messages[first : first + len(chat._list.items)]
    assert ids(chat) == [m.message_id for m in built]
    ends = [(i.y(), i.geometry().bottom()) for i in chat._list.items]
    assert all(a[1] < b[0] for a, b in pairwise(ends))


def test_a_line_stands_above_what_the_model_sees(chat: ChatView, qtbot: QtBot) -> None:
    messages, line = path(300), chat._list.line
    chat.show_path(messages)
    rest(chat, qtbot)
    before = tops(chat)["m299"]
    chat.show_kept_from("m298")
    assert tops(chat)["m299"] == before, "what is seen at the end stands still"
    for name in ("m298", "m20"):
        chat.show_kept_from(name)
        chat.go_to(name)
        rest(chat, qtbot)
        items = {item.message_id: item.geometry() for item in chat._list.items}
        above = items[f"m{int(name[1:]) - 1}"]
        assert line.isVisible()
        assert above.bottom() < line.y() < line.geometry().bottom() < items[name].top()
    chat.go_to("m250")
    rest(chat, qtbot)
    assert not line.isVisible(), "its message has no view"
    chat.go_to("m20")
    assert line.isVisible()
    chat.show_path(path(300, "other"))
    assert not line.isVisible()


def test_the_line_keeps_away_from_a_question_below_it(chat: ChatView, qtbot: QtBot) -> None:
    chat.show_path([ShownMessage("r", "assistant", "Yes."), ShownMessage("q", "user", "And?")])
    chat.show_kept_from("q")
    rest(chat, qtbot)
    question = next(item for item in chat._list.items if item.message_id == "q")
    assert question.y() - chat._list.line.geometry().bottom() > UserBubble.gap_below


def test_a_long_conversation_opens_at_its_end_with_few_views(chat: ChatView, qtbot: QtBot) -> None:
    messages = path()
    start = perf_counter()
    chat.show_path(messages)
    assert perf_counter() - start < 1.0
    assert ids(chat)[-1] == f"m{N - 1}"
    rest(chat, qtbot)
    assert bar(chat).value() == bar(chat).maximum() > 0
    assert len(chat._list.items) <= MAX_BUILT + 8
    assert chat._list.room_above() > chat._list.viewport().height()
    assert_contiguous(chat, messages)
    assert chat.place() == ViewPlace()


def test_scrolling_through_keeps_the_number_of_views_bounded(chat: ChatView, qtbot: QtBot) -> None:
    messages = path(4 * MAX_BUILT)
    chat.show_path(messages)
    rest(chat, qtbot)
    most = 0
    for _ in range(400):
        before = tops(chat)
        value = bar(chat).value()
        bar(chat).setValue(value - 400)
        moved = value - bar(chat).value()
        rest(chat, qtbot)
        after = tops(chat)
        same = before.keys() & after.keys()
        assert same
        assert {name: before[name] + moved for name in same} == {n: after[n] for n in same}
        most = max(most, len(chat._list.items))
        if ids(chat)[0] == "m0" and bar(chat).value() == 0:
            break
    assert ids(chat)[0] == "m0"
    assert most <= MAX_BUILT + 8
    assert_contiguous(chat, messages)


@pytest.mark.parametrize("at", [0, 1, 5_000, N - 1])
def test_any_message_can_be_gone_to(chat: ChatView, qtbot: QtBot, at: int) -> None:
    messages = path()
    chat.show_path(messages)
    chat.go_to(f"m{at}", ("reply",))
    rest(chat, qtbot)
    item = chat._pages.item(f"m{at}")
    assert item is not None
    top = tops(chat)[f"m{at}"]
    assert 0 <= top < chat._list.viewport().height()
    if at < N - 5:
        assert top == 24
    assert_contiguous(chat, messages)


def test_home_and_end_reach_the_first_and_the_last_message(chat: ChatView, qtbot: QtBot) -> None:
    chat.show_path(path())
    rest(chat, qtbot)
    qtbot.keyClick(chat._list, Qt.Key.Key_Home)
    rest(chat, qtbot)
    assert ids(chat)[0] == "m0"
    assert bar(chat).value() == 0
    qtbot.keyClick(chat._list, Qt.Key.Key_End)
    rest(chat, qtbot)
    assert ids(chat)[-1] == f"m{N - 1}"
    assert bar(chat).value() == bar(chat).maximum()
    before = bar(chat).value()
    qtbot.keyClick(chat._list, Qt.Key.Key_PageUp)
    assert bar(chat).value() < before


def test_what_is_seen_stands_still_when_something_above_grows(chat: ChatView, qtbot: QtBot) -> None:
    chat.show_path(path(60))
    chat.go_to("m30")
    rest(chat, qtbot)
    before = tops(chat)["m30"]
    above = chat.reply_view("m27")
    assert above is not None
    above.finish(LONG)
    above.flush()
    rest(chat, qtbot)
    assert tops(chat)["m30"] == before
    assert tops(chat)["m27"] < before - 1_000


def test_the_place_is_told_and_found_again(chat: ChatView, qtbot: QtBot) -> None:
    chat.show_path(path(200))
    chat.go_to("m101")
    rest(chat, qtbot)
    bar(chat).setValue(bar(chat).value() + 60)
    rest(chat, qtbot)
    place, seen = chat.place(), tops(chat)
    assert place.message_id
    chat.show_path(path(40, "other"))
    rest(chat, qtbot)
    chat.show_path(path(200), place)
    rest(chat, qtbot)
    assert tops(chat)[place.message_id] == seen[place.message_id]
    chat.show_path(path(200), ViewPlace("gone", 5))
    rest(chat, qtbot)
    assert chat.place() == ViewPlace(), "an unknown place is the end"


def test_another_path_keeps_what_both_begin_with(chat: ChatView, qtbot: QtBot) -> None:
    messages = path(20)
    chat.show_path(messages)
    rest(chat, qtbot)
    kept = chat.reply_view("m17")
    other = [*messages[:18], ShownMessage("x", "user", "Else?", n_siblings=2, sibling=1)]
    chat.show_path(other)
    rest(chat, qtbot)
    assert ids(chat)[-1] == "x"
    assert chat.reply_view("m17") is kept
    assert chat.reply_view("m19") is None


def test_a_sibling_takes_the_place_of_the_one_before(chat: ChatView, qtbot: QtBot) -> None:
    messages = path(40)
    chat.show_path(messages)
    chat.go_to("m20")
    rest(chat, qtbot)
    before = tops(chat)["m20"]
    other = [*messages[:20], *path(20, "new")]

    def answer(message_id: str, step: int) -> None:
        assert (message_id, step) == ("m20", 1)
        chat.show_path(other)

    chat.sibling_requested.connect(answer)
    item = chat._pages.item("m20")
    assert item is not None
    item.sibling_requested.emit("m20", 1)
    rest(chat, qtbot)
    assert tops(chat)["new0"] == before


def test_whoever_fills_replies_in_is_asked_once_per_view(chat: ChatView, qtbot: QtBot) -> None:
    asked: list[str] = []

    def fill(view: ReplyView, message_id: str) -> None:
        asked.append(message_id)
        view.append(committed("Filled in"))
        view.finish("Filled in")

    chat.fill_wanted.connect(fill)
    chat.show_path(path(30))
    rest(chat, qtbot)
    assert len(asked) == len(set(asked))
    replies = [item for item in chat._list.items if isinstance(item, ReplyView)]
    assert all(reply.plain_text == "Filled in" for reply in replies)
    chat.show_path(path(4, "b"))
    rest(chat, qtbot)
    assert asked[-2:] == ["b3", "b1"] or asked[-2:] == ["b1", "b3"]


def test_a_message_is_added_at_the_end_wherever_one_reads(chat: ChatView, qtbot: QtBot) -> None:
    chat.show_path(path())
    chat.go_to("m50")
    rest(chat, qtbot)
    say(chat, "And now?", "q")
    reply = begin_reply(chat, "a")
    reply.append(committed("Now"))
    rest(chat, qtbot)
    assert ids(chat)[-2:] == ["q", "a"]
    assert bar(chat).value() == bar(chat).maximum()


def test_a_growing_reply_may_be_dropped_and_comes_back(chat: ChatView, qtbot: QtBot) -> None:
    chat.show_path(path(400))
    reply = begin_reply(chat, "a")
    reply.append(committed("Half"))
    rest(chat, qtbot)
    chat.go_to("m3")
    rest(chat, qtbot)
    assert chat.reply_view("a") is None
    chat.scroll_to_end()
    rest(chat, qtbot)
    back = chat.reply_view("a")
    assert back is not None
    assert back is not reply
    assert back.is_growing


def test_other_widths_keep_the_message_that_is_read(chat: ChatView, qtbot: QtBot) -> None:
    chat.show_path(path(100))
    chat.go_to("m50")
    rest(chat, qtbot)
    for width in (420, 1_100, 700):
        chat.resize(width, 500)
        rest(chat, qtbot)
        assert tops(chat)["m50"] == 24


def test_going_to_the_latest_glides_unless_motion_is_reduced(chat: ChatView, qtbot: QtBot) -> None:
    chat.show_path(path(40))
    rest(chat, qtbot)
    bar(chat).setValue(bar(chat).maximum() - 300)
    rest(chat, qtbot)
    look.set_motion("full")
    chat.scroll_to_end()
    assert bar(chat).value() < bar(chat).maximum()
    qtbot.waitUntil(lambda: chat._list.follows and bar(chat).value() == bar(chat).maximum())
    bar(chat).setValue(bar(chat).maximum() - 300)
    rest(chat, qtbot)
    look.set_motion("reduced")
    chat.scroll_to_end()
    assert bar(chat).value() == bar(chat).maximum()
