"""The rows of the list of chats: order, headings, wording, and what 10,000 of them cost."""

from __future__ import annotations

import datetime
import random
from dataclasses import replace

import pytest
from PySide6.QtCore import QLocale, Qt
from PySide6.QtTest import QAbstractItemModelTester

from paceline.conversation import ConversationSummary, Folder
from paceline.gui.conversations.groups import ARCHIVE
from paceline.gui.conversations.model import (
    FOLDER_ROLE,
    ID_ROLE,
    INDENT_ROLE,
    SUBTITLE_ROLE,
    ChatQuery,
    ConversationList,
    clean_tag,
    parse,
    with_tag,
)
from paceline.gui.state.chat_lines import (
    second_line,
    spoken_row,
    title_text,
    when_text,
)

NOW = datetime.datetime(2026, 3, 18, 15, 30).astimezone().timestamp()
DAY = 86_400.0
FOLDERS = (Folder("f", "Work", "Be brief."), Folder("g", "a garden"))


def chat(name: str, age_days: float = 0.0, **fields: object) -> ConversationSummary:
    summary = ConversationSummary(name, f"Title {name}", 1.0, NOW - age_days * DAY)
    return replace(summary, **fields)  # type: ignore[arg-type]


def rows(model: ConversationList) -> list[str]:
    """Ids of chats and names of headings."""
    indexes = (model.index(row) for row in range(model.rowCount()))
    return [str(index.data(ID_ROLE) or index.data()) for index in indexes]


def contents(model: ConversationList) -> list[tuple[object, ...]]:
    roles = (Qt.ItemDataRole.DisplayRole, ID_ROLE, SUBTITLE_ROLE, FOLDER_ROLE, INDENT_ROLE)
    indexes = (model.index(row) for row in range(model.rowCount()))
    return [tuple(index.data(role) for role in roles) for index in indexes]


@pytest.fixture
def model() -> ConversationList:
    QLocale.setDefault(QLocale(QLocale.Language.English, QLocale.Country.UnitedStates))
    return ConversationList(now=lambda: NOW)


def test_chats_stand_under_headings_the_newest_change_first(model: ConversationList) -> None:
    ages = {
        "last-year": 200, "month": 10, "week": 3, "today": 0.1, "now": 0, "yesterday": 1,
        "february": 28,
    }  # fmt: skip
    pinned = chat("pinned", 30, pinned=True)
    model.set_summaries((*(chat(name, age) for name, age in ages.items()), pinned))
    assert rows(model) == [
        "Pinned", "pinned", "Today", "now", "today", "Yesterday", "yesterday", "This week", "week",
        "This month", "month", "February", "february", "August 2025", "last-year",
    ]  # fmt: skip
    start = datetime.datetime(2026, 3, 2, 12).astimezone().timestamp()
    early = ConversationList(now=lambda: start)
    early.set_summaries(
        tuple(ConversationSummary(f"{age}", "", 1.0, start - age * DAY) for age in (0, 4, 20))
    )
    assert rows(early) == ["Today", "0", "This week", "4", "February", "20"], "no part is in both"


def test_folders_stand_below_the_pinned_chats_and_hide_theirs_until_opened(
    model: ConversationList,
) -> None:
    model.set_folders(FOLDERS)
    model.set_summaries(
        (
            chat("now"),
            chat("pinned", 1, pinned=True),
            chat("work", 1, folder_id="f"),
            chat("first", 9, folder_id="f", pinned=True),
            chat("old", folder_id="f", archived=True),
            chat("lost", 0.1, folder_id="deleted"),
        )
    )
    closed = ["Pinned", "pinned", "a garden", "Work", "Today", "now", "lost", "Archived"]
    assert rows(model) == closed
    model.set_open("f", on=True)
    assert rows(model)[4:7] == ["first", "work", "Today"]
    model.set_open("f", on=False)
    assert rows(model) == closed
    model.set_open(ARCHIVE, on=True)
    assert rows(model)[-1] == "old"
    line = model.index(rows(model).index("Work")).data(FOLDER_ROLE)
    assert (line.n_chats, line.is_open) == (2, False)


def test_a_search_for_a_tag_opens_what_it_finds_and_knows_the_names_of_folders(
    model: ConversationList,
) -> None:
    model.set_folders(FOLDERS)
    model.set_summaries(
        (
            chat("tagged", folder_id="g", tags=("x",)),
            chat("other", folder_id="g"),
            chat("old", tags=("x",), archived=True),
        )
    )
    model.set_query(ChatQuery(tags=("x",)))
    assert rows(model) == ["a garden", "tagged", "Archived", "old"]
    model.set_query(ChatQuery(tags=("a-gar",)))
    assert rows(model) == ["a garden", "other", "tagged"]
    assert model.accepts("other")
    assert not model.accepts("old")


def test_headings_cannot_be_chosen_and_chats_can_be_renamed(model: ConversationList) -> None:
    model.set_summaries((chat("a"),))
    heading, row = model.index(0), model.index(1)
    assert model.flags(heading) == Qt.ItemFlag.NoItemFlags
    assert model.flags(row) & Qt.ItemFlag.ItemIsEditable
    asked: list[tuple[str, str]] = []
    model.rename_requested.connect(lambda *what: asked.append(what))
    assert model.setData(row, "  Other \n words ")
    assert model.setData(row, "Title a")  # the same: nothing is asked for
    assert not model.setData(row, "   ")
    assert not model.setData(heading, "Never")
    assert asked == [("a", "Other words")]


def test_every_change_ends_where_sorting_anew_would(model: ConversationList) -> None:
    """Random changes, one by one and many at once, under the eyes of Qt's own tester."""
    chance = random.Random(3)
    clock = [NOW]
    for _ in range(12):
        model = ConversationList(now=lambda: clock[0])
        tester = QAbstractItemModelTester(
            model, QAbstractItemModelTester.FailureReportingMode.Fatal
        )
        known: dict[str, ConversationSummary] = {}
        folders: tuple[Folder, ...] = ()
        for _ in range(60):
            kind = chance.random()
            name = f"c{chance.randrange(10)}"
            if kind < 0.15 and known:
                del known[chance.choice(sorted(known))]
                model.set_summaries(tuple(known.values()))
            elif kind < 0.2:
                model.set_query(ChatQuery(tags=chance.choice([(), ("a",), ("b",)])))
            elif kind < 0.25:
                clock[0] += DAY
                model.refresh()
            elif kind < 0.3:
                folders = tuple(chance.sample(FOLDERS, chance.randrange(3)))
                model.set_folders(folders)
            elif kind < 0.35:
                model.set_open(chance.choice(["f", "g", ARCHIVE]), on=chance.random() < 0.5)
            else:
                age = chance.choice([0, 0.1, 1, 2, 5, 9, 40, 80]) + chance.randrange(3) / 1000
                known[name] = chat(
                    name,
                    age,
                    pinned=chance.random() < 0.3,
                    tags=chance.choice([(), ("a",), ("ab",), ("a", "b")]),
                    folder_id=chance.choice(["", "f", "g", "gone"]),
                    archived=chance.random() < 0.2,
                )
                if chance.random() < 0.5:
                    model.set_summaries(tuple(known.values()))
                else:
                    model.update_summary(known[name])
            reference = ConversationList(now=lambda: clock[0])
            reference.set_folders(folders)
            reference.open_folders(model.opened)
            reference.set_summaries(tuple(known.values()))
            reference.set_query(model._query)
            assert contents(model) == contents(reference)
            assert model.tags == reference.tags
        del tester


def test_times_are_as_short_as_people_say_them(model: ConversationList) -> None:
    ago = lambda days: when_text(NOW - days * DAY, NOW)  # noqa: E731
    assert ago(0) == ago(0.0001) == "now"
    assert ago(0.25).replace("\u202f", " ") == "9:30 AM"
    assert (ago(1), ago(3), ago(30)) == ("yesterday", "Sun", "16 Feb")
    assert ago(400) == "11 Feb 2025"
    assert when_text(0, NOW) == second_line(replace(chat("x"), changed_s=0.0), NOW) == ""
    assert second_line(chat("a", private=True), NOW) == "now · not stored"
    model.set_summaries((chat("a"),))
    for note, line in (("writing…", "now · writing…"), ("", "now")):
        model.set_note("a", note)
        model.set_note("gone", note)
        assert model.index(1).data(SUBTITLE_ROLE) == line
    summary = chat("a", tags=("work", "rust"), pinned=True)
    assert spoken_row(summary, NOW) == ("Title a, pinned, now, tags: work, rust")
    assert title_text(replace(summary, title="")) == "New chat"
    assert title_text(replace(summary, title="", private=True)) == "Private chat"


@pytest.mark.parametrize(
    ("text", "words", "tags"),
    [
        ("plain words", "plain words", ()),
        ("#work", "", ("work",)),
        ("  #work fix  #rust it ", "fix it", ("work", "rust")),
        ("#", "", ()),
        ("c# and a#b", "c# and a#b", ()),
        ("#work #work", "", ("work",)),
    ],
)
def test_a_search_is_words_and_tags(text: str, words: str, tags: tuple[str, ...]) -> None:
    assert parse(text) == ChatQuery(words, tags)


def test_a_tag_is_switched_on_and_off_in_the_text() -> None:
    assert with_tag("fix it", "work", on=True) == "#work fix it"
    assert with_tag("#work fix it", "rust", on=True) == "#work #rust fix it"
    assert with_tag("#Work fix it", "work", on=False) == "fix it"
    assert clean_tag("  ##two  words ") == "two-words"
    assert clean_tag(" # ") == ""
    assert len(clean_tag("x" * 100)) == 32


def test_tags_filter_by_their_beginning_unless_one_is_meant_exactly(
    model: ConversationList,
) -> None:
    model.set_summaries((chat("a", tags=("Work",)), chat("b", tags=("workshop",)), chat("c")))
    assert model.tags == ("Work", "workshop")
    model.set_query(parse("#wor"))
    assert rows(model) == ["Today", "a", "b"]
    model.set_query(parse("#work"))
    assert rows(model) == ["Today", "a"]
    assert model.accepts("a")
    assert not model.accepts("b")
    assert model.row_of("b") == -1
    model.update_summary(chat("a"))  # the exact tag is gone, so its beginning counts again
    assert rows(model) == ["Today", "b"]
    model.set_query(parse(""))
    assert rows(model) == ["Today", "a", "b", "c"]
