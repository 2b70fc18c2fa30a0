"""Search and tags in the list of chats: typing, results, the way there and back by keyboard."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QListView

from paceline.conversation import ConversationSummary, SearchHit
from paceline.gui.conversations.model import ID_ROLE, ConversationList
from paceline.gui.conversations.rows import MarkedText
from paceline.gui.conversations.sidebar import Sidebar
from paceline.gui.look.colours import LIGHT
from paceline.gui.look.theme import ui_font

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot


NOW = time.time()
HITS = (
    SearchHit("a", "m1", "read the config with care", ((9, 15),)),
    SearchHit("b", "", "Config of the lighthouse", ((0, 6),)),
    SearchHit("a", "m2", "the config again", ((4, 10),)),
    SearchHit("gone", "m3", "config of nobody", ((0, 6),)),
)
Key = Qt.Key


def chats() -> tuple[ConversationSummary, ...]:
    return (
        ConversationSummary("a", "Parse a file", NOW, NOW - 5, tags=("work", "python")),
        ConversationSummary("b", "Config of the lighthouse", NOW, NOW - 9, tags=("work",)),
        ConversationSummary("c", "Private words", NOW, NOW - 12, private=True),
    )


@pytest.fixture
def sidebar(qtbot: QtBot) -> Sidebar:
    made = Sidebar(ConversationList(now=lambda: NOW))
    qtbot.addWidget(made)
    made.model.set_summaries(chats())
    made.select("a")
    made.resize(248, 700)
    made.show()
    qtbot.waitExposed(made)
    made.activateWindow()
    return made


@pytest.fixture
def chosen(sidebar: Sidebar) -> list[tuple[object, ...]]:
    """Every hit that is chosen."""
    seen: list[tuple[object, ...]] = []
    sidebar.finder.hit_chosen.connect(lambda *what: seen.append(what))
    return seen


def answer(sidebar: Sidebar, hits: tuple[SearchHit, ...] = HITS) -> list[str]:
    """Play who searches; returns what is searched for from now on."""
    asked: list[str] = []
    sidebar.finder.search_wanted.connect(asked.append)
    sidebar.finder.search_wanted.connect(lambda _text: sidebar.finder.show_hits(hits))
    return asked


def listed(view: QListView, role: int = Qt.ItemDataRole.DisplayRole) -> list[str]:
    model = view.model()
    return [str(model.index(row, 0).data(role) or "") for row in range(model.rowCount())]


def page(sidebar: Sidebar) -> object:
    return sidebar.finder.pages.currentWidget()


def test_what_is_typed_is_searched_for_when_typing_pauses(
    sidebar: Sidebar, qtbot: QtBot, chosen: list[tuple[object, ...]]
) -> None:
    asked = answer(sidebar)
    found = sidebar.finder.found
    sidebar.finder.focus_search()
    qtbot.keyClicks(sidebar.search, "config")
    assert asked == []
    qtbot.waitUntil(lambda: asked == ["config"])
    assert page(sidebar) is found
    assert listed(found.view) == [
        "Parse a file", "read the config with care", "the config again", "Config of the lighthouse",
    ]  # fmt: skip
    assert found.summary.text() == "2 hits in 2 chats"
    place = found.view.visualRect(found.view.model().index(2, 0)).center()
    qtbot.mouseClick(found.view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert chosen == [("a", "m2", ("config",))]
    sidebar.finder.show_hits(HITS, is_cut=True)
    assert found.summary.text() == "The best 2 hits"
    sidebar.search.setText("#python config")
    sidebar.search.emit_now()
    assert asked == ["config", "config"]
    assert listed(found.view)[0] == "Parse a file"
    assert "Config of the lighthouse" not in listed(found.view), "it has no such tag"
    sidebar.search.clear()
    sidebar.finder.show_hits(HITS)
    assert page(sidebar) is sidebar.list, "they are late"


def test_results_are_walked_through_by_keyboard(
    sidebar: Sidebar, qtbot: QtBot, chosen: list[tuple[object, ...]]
) -> None:
    answer(sidebar)
    view = sidebar.finder.found.view
    sidebar.finder.focus_search()
    qtbot.keyClicks(sidebar.search, "con fig")
    qtbot.keyClick(sidebar.search, Key.Key_Down)  # without waiting for the pause
    assert view.hasFocus()
    qtbot.keyClick(view, Key.Key_Down)
    qtbot.keyClick(view, Key.Key_Return)
    assert chosen == [("a", "m1", ("con", "fig"))]
    qtbot.keyClick(view, Key.Key_End)
    qtbot.keyClick(view, Key.Key_Return)
    assert chosen[-1] == ("b", "", ("con", "fig"))
    qtbot.keyClick(view, Key.Key_Home)
    qtbot.keyClick(view, Key.Key_Up)
    assert sidebar.search.hasFocus()
    qtbot.keyClick(sidebar.search, Key.Key_Down)
    qtbot.keyClick(view, Key.Key_Escape)
    assert sidebar.search.hasFocus()
    assert sidebar.search.text() == ""
    assert page(sidebar) is sidebar.list


def test_enter_takes_the_best_hit_at_once(
    sidebar: Sidebar, qtbot: QtBot, chosen: list[tuple[object, ...]]
) -> None:
    answer(sidebar)
    qtbot.keyClicks(sidebar.search, "config")
    qtbot.keyClick(sidebar.search, Key.Key_Return)
    assert chosen == [("a", "m1", ("config",))], "the message, since the title has no such word"
    answer(sidebar, HITS[1:2])
    sidebar.search.clear()
    qtbot.keyClicks(sidebar.search, "config")
    qtbot.keyClick(sidebar.search, Key.Key_Return)
    assert chosen[-1] == ("b", "", ("config",)), "the chat, whose title has it"


@pytest.mark.parametrize(
    ("text", "title", "hint"),
    [
        ("xyzzy", "xyzzy", "fewer"),
        ("xyzzy🎉", "xyzzy", "not searched"),
        ("#nothing", "nothing", ""),
        ("🎉", "Signs and emoji are not searched", "🎉"),
        ("#tag 👩‍👩‍👧 ++", "Signs and emoji are not searched", "👩‍👩‍👧 ++"),
    ],
)
def test_nothing_found_says_so_and_offers_the_way_back(
    sidebar: Sidebar, qtbot: QtBot, text: str, title: str, hint: str
) -> None:
    answer(sidebar, ())
    sidebar.search.setText(text)
    sidebar.search.emit_now()
    empty = sidebar.finder.empty
    assert page(sidebar) is empty
    assert title in empty.title.text()
    assert hint in empty.hint.text()
    qtbot.mouseClick(empty.button, Qt.MouseButton.LeftButton)
    assert page(sidebar) is sidebar.list
    assert sidebar.search.text() == ""


def test_a_search_whose_signs_are_left_out_says_so(sidebar: Sidebar) -> None:
    answer(sidebar)
    for text, is_told in (("config++", True), ("🎉 config", True), ("config, 'x'.", False)):
        sidebar.search.setText(text)
        sidebar.search.emit_now()
        assert sidebar.finder.found.summary.text().endswith(", without the signs") == is_told
    sidebar.search.setText("#")
    sidebar.search.emit_now()
    assert page(sidebar) is sidebar.list


def test_results_follow_what_becomes_of_their_chats(sidebar: Sidebar) -> None:
    answer(sidebar)
    sidebar.search.setText("config")
    sidebar.search.emit_now()
    sidebar.finder.found.take_focus()
    renamed = replace(chats()[0], title="Another title")
    sidebar.model.set_summaries((renamed, *chats()[1:]))
    assert "Another title" in listed(sidebar.finder.found.view)
    sidebar.model.set_summaries(chats()[1:])
    assert listed(sidebar.finder.found.view) == ["Config of the lighthouse"]
    sidebar.model.set_summaries(chats()[2:])
    assert page(sidebar) is sidebar.finder.empty


# --------------------------------------------------------------------------------------------- tags


def test_a_chip_a_button_and_a_word_filter_by_tag(sidebar: Sidebar, qtbot: QtBot) -> None:
    chats_, bar = sidebar.list, sidebar.finder.tags
    row = chats_.model().index(1, 0)
    rect = chats_.visualRect(row)
    delegate = chats_._rows
    spots = [
        QPoint(x, y)
        for y in range(rect.top(), rect.bottom(), 3)
        for x in range(rect.left(), rect.right(), 3)
        if delegate.tag_at(rect, row, QPoint(x, y)) == "python"
    ]
    opened: list[str] = []
    sidebar.finder.chosen.connect(opened.append)
    qtbot.mouseClick(chats_.viewport(), Qt.MouseButton.LeftButton, pos=spots[len(spots) // 2])
    assert opened == []
    assert sidebar.search.text() == "#python"
    assert listed(chats_, ID_ROLE) == ["", "a"]
    pressed = [button.objectName() for button in bar.buttons if button.isChecked()]
    assert pressed == ["python"]
    qtbot.mouseClick(bar.buttons[0], Qt.MouseButton.LeftButton)
    assert sidebar.search.text() == ""
    assert listed(chats_, ID_ROLE) == ["", "a", "b", "c"]
    qtbot.keyClicks(sidebar.search, "#work")
    qtbot.keyClick(sidebar.search, Key.Key_Return)
    assert opened == ["a"]
    assert listed(chats_, ID_ROLE) == ["", "a", "b"]


def test_tags_without_room_are_in_a_menu(sidebar: Sidebar, qtbot: QtBot) -> None:
    bar = sidebar.finder.tags
    many = tuple(f"label-{at}" for at in range(30))
    sidebar.model.set_summaries((replace(chats()[0], tags=many),))
    sidebar.resize(180, 700)
    qtbot.waitUntil(lambda: bar.width() < 180)
    seen = [button for button in bar.buttons if button.isVisible()]
    assert seen
    assert bar.more.isVisible()
    assert all(button.geometry().right() < bar.width() for button in (*seen, bar.more))
    assert bar.more.text() == f"+{30 - len(seen)}"
    action = next(action for action in bar.menu.actions() if action.data() == "label-29")
    action.trigger()
    assert sidebar.search.text() == "#label-29"
    assert bar.buttons[0].objectName() == "label-29"  # what is searched for is seen
    sidebar.model.set_summaries((replace(chats()[0], tags=()),))
    assert not bar.isVisible()


# ---------------------------------------------------------------------------------- how it looks


def painted(draw: Callable[[QPainter], None]) -> QImage:
    image = QImage(QSize(240, 40), QImage.Format.Format_RGB32)
    image.fill(QColor("#ffffff"))
    painter = QPainter(image)
    painter.setPen(QColor("#000000"))
    draw(painter)
    painter.end()
    return image


def columns_of(image: QImage, colour: str) -> list[int]:
    """Return the pixel columns that contain a colour."""
    wanted = QColor(colour).rgb()
    return [
        x
        for x in range(image.width())
        if any(image.pixel(x, y) == wanted for y in range(image.height()))
    ]


def test_marked_words_stand_on_a_ground_of_their_own() -> None:
    font = ui_font(12)

    def marked(text: str, *marks: tuple[int, int]) -> list[int]:
        words = MarkedText(text, marks, font, is_chosen=False)
        return columns_of(painted(lambda p: words.draw(p, QRect(0, 0, 240, 40))), LIGHT.accent_soft)

    assert marked("one two three") == []
    plain = marked("one two three", (4, 7))
    assert 15 < plain[0] < plain[-1] < 70
    # An emoji is one character and two of Qt's units: the same word stays marked.
    other = marked("🦊🦊🦊🦊 two", (5, 8))
    assert abs((other[-1] - other[0]) - (plain[-1] - plain[0])) <= 3
    long = "word " * 40
    far = marked(f"{long}needle {long}", (200, 206))
    assert 20 < far[0] < far[-1] < 200, "it is seen though it stands far along"
