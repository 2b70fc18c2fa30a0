"""A conversation of any length: few views, and what is seen stands still."""

from __future__ import annotations

from itertools import pairwise
from time import process_time
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt

from gui.chat_help import LONG, begin_reply, committed, item_in, list_in, rest, say, shown_chat
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


def path(n_messages: int, name: str = "m") -> list[ShownMessage]:
    """Make questions and replies in turns."""
    return [
        ShownMessage(f"{name}{i}", "assistant", f"Reply **{i}**.\n\n" + "- a line\n" * (i % 7))
        if i % 2
        else ShownMessage(f"{name}{i}", "user", f"Question {i}")
        for i in range(n_messages)
    ]


@pytest.fixture
def chat(qtbot: QtBot) -> Iterator[ChatView]:
    yield from shown_chat(qtbot)


def show(
    chat: ChatView, qtbot: QtBot, messages: Sequence[ShownMessage], at: str = ""
) -> Sequence[ShownMessage]:
    """Show these messages, from the end or at one of them."""
    chat.show_path(messages)
    if at:
        chat.go_to(at)
    rest(chat, qtbot)
    return messages


def bar(chat: ChatView) -> QScrollBar:
    return list_in(chat).verticalScrollBar()


def ids(chat: ChatView) -> list[str]:
    return [item.message_id for item in list_in(chat).items]


def tops(chat: ChatView) -> dict[str, int]:
    """Return where each message stands in the view."""
    return {item.message_id: item.y() - bar(chat).value() for item in list_in(chat).items}


def assert_contiguous(chat: ChatView, messages: Sequence[ShownMessage]) -> None:
    items = list_in(chat).items
    first = [m.message_id for m in messages].index(ids(chat)[0])
    assert ids(chat) == [m.message_id for m in messages[first : first + len(items)]]
    ends = [(item.y(), item.geometry().bottom()) for item in items]
    assert all(a[1] < b[0] for a, b in pairwise(ends))
    assert len(items) <= MAX_BUILT + 8


def test_a_line_stands_above_what_the_model_sees(chat: ChatView, qtbot: QtBot) -> None:
    line = list_in(chat).line
    show(chat, qtbot, path(300))
    before = tops(chat)["m299"]
    chat.show_kept_from("m298")
    assert tops(chat)["m299"] == before, "what is seen at the end stands still"
    for name in ("m298", "m20"):
        chat.show_kept_from(name)
        chat.go_to(name)
        rest(chat, qtbot)
        above = item_in(chat, f"m{int(name[1:]) - 1}").geometry()
        assert line.isVisible()
        assert above.bottom() < line.y() < line.geometry().bottom()
        below = item_in(chat, name).y() - line.geometry().bottom()
        assert below > UserBubble.gap_below, "it keeps away from a question"
    chat.go_to("m250")
    rest(chat, qtbot)
    assert not line.isVisible(), "its message has no view"
    chat.go_to("m20")
    assert line.isVisible()
    show(chat, qtbot, path(30, "other"))
    assert not line.isVisible()


def test_a_long_conversation_opens_at_its_end_and_is_gone_through_by_keys(
    chat: ChatView, qtbot: QtBot
) -> None:
    messages, view = path(N), list_in(chat)
    start = process_time()
    chat.show_path(messages)
    assert process_time() - start < 1.0
    rest(chat, qtbot)
    for key, name in ((Qt.Key.Key_End, f"m{N - 1}"), (Qt.Key.Key_Home, "m0")):
        qtbot.keyClick(view, key)
        rest(chat, qtbot)
        is_end = key == Qt.Key.Key_End
        assert ids(chat)[-1 if is_end else 0] == name
        assert bar(chat).value() == (bar(chat).maximum() if is_end else 0)
        assert max(view.room_above(), view.room_below()) > view.viewport().height()
        assert (chat.place() == ViewPlace()) == is_end
        assert_contiguous(chat, messages)
    qtbot.keyClick(view, Qt.Key.Key_PageDown)
    assert bar(chat).value() > 0
    for at in (0, 1, N // 2, N - 1):
        chat.go_to(f"m{at}", ("reply",))
        rest(chat, qtbot)
        top = tops(chat)[f"m{at}"]
        assert 0 <= top < view.viewport().height()
        assert top == 24 or at == N - 1
        assert_contiguous(chat, messages)


def test_scrolling_through_keeps_the_number_of_views_bounded(chat: ChatView, qtbot: QtBot) -> None:
    messages = show(chat, qtbot, path(3 * MAX_BUILT))
    for _ in range(200):
        before, value = tops(chat), bar(chat).value()
        bar(chat).setValue(value - 450)
        moved = value - bar(chat).value()
        rest(chat, qtbot)
        after = tops(chat)
        same = before.keys() & after.keys()
        assert same
        assert {name: before[name] + moved for name in same} == {n: after[n] for n in same}
        assert len(list_in(chat).items) <= MAX_BUILT + 8
        if ids(chat)[0] == "m0" and bar(chat).value() == 0:
            break
    assert ids(chat)[0] == "m0"
    assert_contiguous(chat, messages)


def test_what_is_read_stands_still_when_something_above_grows_or_the_width_changes(
    chat: ChatView, qtbot: QtBot
) -> None:
    show(chat, qtbot, path(60), at="m30")
    before = tops(chat)["m30"]
    above = chat.reply_view("m27")
    assert above is not None
    above.finish(LONG)
    above.flush()
    qtbot.waitUntil(lambda: tops(chat)["m27"] < before - 1_000)
    assert tops(chat)["m30"] == before
    for width in (420, 1_100, 700):
        chat.resize(width, 500)
        rest(chat, qtbot)
        assert tops(chat)["m30"] == before


def test_the_place_is_told_and_found_again(chat: ChatView, qtbot: QtBot) -> None:
    show(chat, qtbot, path(200), at="m101")
    bar(chat).setValue(bar(chat).value() + 60)
    rest(chat, qtbot)
    place, seen = chat.place(), tops(chat)
    assert place.message_id
    show(chat, qtbot, path(40, "other"))
    chat.show_path(path(200), place)
    rest(chat, qtbot)
    assert tops(chat)[place.message_id] == seen[place.message_id]
    chat.show_path(path(200), ViewPlace("gone", 5))
    rest(chat, qtbot)
    assert chat.place() == ViewPlace(), "an unknown place is the end"


def test_another_path_keeps_what_both_begin_with(chat: ChatView, qtbot: QtBot) -> None:
    messages = show(chat, qtbot, path(20))
    kept = chat.reply_view("m17")
    show(chat, qtbot, [*messages[:18], ShownMessage("x", "user", "Else?", (), 2, 1)])
    assert ids(chat)[-1] == "x"
    assert chat.reply_view("m17") is kept
    assert chat.reply_view("m19") is None


def test_a_sibling_takes_the_place_of_the_one_before(chat: ChatView, qtbot: QtBot) -> None:
    messages = show(chat, qtbot, path(40), at="m20")
    before = tops(chat)["m20"]
    asked: list[tuple[str, int]] = []

    def answer(message_id: str, step: int) -> None:
        asked.append((message_id, step))
        chat.show_path([*messages[:20], *path(20, "new")])

    chat.sibling_requested.connect(answer)
    item_in(chat, "m20").sibling_requested.emit("m20", 1)
    rest(chat, qtbot)
    assert asked == [("m20", 1)]
    assert tops(chat)["new0"] == before


def test_replies_are_filled_in_once_per_view(chat: ChatView, qtbot: QtBot) -> None:
    asked: list[str] = []

    def fill(view: ReplyView, message_id: str) -> None:
        asked.append(message_id)
        view.append(committed("Filled in"))
        view.finish("Filled in")

    chat.fill_wanted.connect(fill)
    show(chat, qtbot, path(30))
    assert len(asked) == len(set(asked))
    replies = [item for item in list_in(chat).items if isinstance(item, ReplyView)]
    assert all(reply.plain_text == "Filled in" for reply in replies)
    show(chat, qtbot, path(4, "b"))
    assert sorted(asked[-2:]) == ["b1", "b3"]


def test_a_message_is_added_at_the_end_wherever_one_reads_and_grows_unseen(
    chat: ChatView, qtbot: QtBot
) -> None:
    show(chat, qtbot, path(400), at="m50")
    say(chat, "And now?", "q")
    reply = begin_reply(chat, "a")
    reply.append(committed("Now"))
    rest(chat, qtbot)
    assert ids(chat)[-2:] == ["q", "a"]
    assert bar(chat).value() == bar(chat).maximum()
    chat.go_to("m3")
    rest(chat, qtbot)
    assert chat.reply_view("a") is None
    chat.scroll_to_end()
    rest(chat, qtbot)
    back = chat.reply_view("a")
    assert back is not None
    assert back is not reply
    assert back.is_growing


def test_going_to_the_latest_glides_unless_motion_is_reduced(chat: ChatView, qtbot: QtBot) -> None:
    show(chat, qtbot, path(40))
    for motion in ("full", "reduced"):
        bar(chat).setValue(bar(chat).maximum() - 300)
        rest(chat, qtbot)
        look.set_motion(motion)  # type: ignore[arg-type]
        chat.scroll_to_end()
        assert (bar(chat).value() == bar(chat).maximum()) == (motion == "reduced")
        qtbot.waitUntil(lambda: list_in(chat).follows and bar(chat).value() == bar(chat).maximum())
