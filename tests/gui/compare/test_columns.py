"""Two replies side by side: clocks, colours, the end, and what came out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QScrollArea, QWidget

from gui.compare.turns import Turn, turn
from paceline.chat.reply import Reply, TurnOptions
from paceline.engine.draft import registry
from paceline.figures import MIN_GAIN_STEPS
from paceline.gui.chat.markdown.view import MessageView
from paceline.gui.compare.columns import TwoColumns
from paceline.gui.compare.outcome import (
    begin_of_word,
    first_difference,
    n_words_before,
    outcome_words,
    speedup,
)
from paceline.gui.look.current import look
from paceline.gui.state.sources import Sources
from paceline.messages import PrefillProgressed, TurnFailed, TurnStarted
from paceline.run_record import RunError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

    from paceline.gui.compare.columns import ReplyColumn

TEXT = " ".join(f"word{number}" for number in range(60))
OTHER = TEXT.replace("word40", "other")


@pytest.fixture
def columns(qtbot: QtBot) -> Iterator[TwoColumns]:
    host = QWidget()  # the offscreen plug-in knows no smallest sizes of windows
    qtbot.addWidget(host)
    host.resize(1600, 900)
    both = TwoColumns(Sources(registry.available()))
    both.setParent(host)
    both.resize(700, 400)
    host.show()
    both.begin("Alone", "With drafts")
    yield both
    host.close()


def play(column: ReplyColumn, events: Turn) -> None:
    for at_s, event in events:
        column.receive(at_s, event)


def check_clocks(columns: TwoColumns) -> None:
    """The shown ratio is that of the shown clocks, within the rounding of all three."""
    left, right = (
        float(column.words["clock"].removesuffix(" s")) for column in (columns.left, columns.right)
    )
    found = re.match(r"(≈ )?([\d.]+)× as fast", columns.outcome)
    assert found is not None
    off = 0.06 if found[1] else 0.005
    assert (left - 0.05) / (right + 0.05) <= float(found[2]) + off
    assert (left + 0.05) / (right - 0.05) >= float(found[2]) - off


def reply_of(events: Turn) -> Reply:
    """Return the reply that a column has after these events."""
    reply = Reply("", "", TurnOptions(), submitted_s=0.0)
    for at_s, event in events:
        reply.grow(event, at_s)
    reply.status = "finished"
    return reply


# ------------------------------------------------------------------------------- one column


def test_the_clock_runs_between_events_and_stands_at_the_end(columns: TwoColumns) -> None:
    look.set_motion("full")
    events = turn(TEXT, 0.1)
    columns.left.receive(*events[0])
    columns.left.pass_time(0.46)
    assert not columns.left.words["clock"]
    play(columns.left, events[1:3])
    assert columns.left.words["clock"] == "0.0 s"
    columns.left.pass_time(events[2][0] + 2.76)
    assert columns.left.words["clock"] == "2.8 s"
    play(columns.left, events[3:])
    columns.left.pass_time(99.0)
    assert columns.left.words["clock"] == f"{60 * 0.1:.1f} s"


def test_with_reduced_motion_the_clock_shows_whole_seconds_until_the_end(
    columns: TwoColumns,
) -> None:
    events = turn(TEXT, 0.1)
    columns.left.receive(*events[0])
    columns.left.pass_time(3.99)
    assert columns.left.words["status"] == "Reading the prompt: 0 %, 3 s…"
    play(columns.left, events[1:3])
    columns.left.pass_time(events[2][0] + 3.99)
    assert columns.left.words["clock"] == "3 s"
    play(columns.left, events[3:])
    assert columns.left.words["clock"] == "6.0 s"


def test_before_the_text_it_says_how_much_of_the_prompt_is_read_and_for_how_long(
    columns: TwoColumns,
) -> None:
    look.set_motion("full")
    columns.left.wait("Comes next")
    assert columns.left.words["status"] == "Comes next"
    columns.left.receive(0.1, TurnStarted(40, 0, 7))
    columns.left.receive(0.2, PrefillProgressed(10, 40))
    assert columns.left.words["status"] == "Reading the prompt: 25 %, 0.2 s…"
    columns.left.pass_time(1.3)
    assert columns.left.words["status"] == "Reading the prompt: 25 %, 1.3 s…"
    assert not columns.left.words["clock"]
    assert not columns.left.words["speed"]
    play(columns.left, turn(TEXT, 0.1))
    assert not columns.left.words["status"]


def test_the_text_grows_and_the_speed_is_shown_while_it_writes(
    columns: TwoColumns, qtbot: QtBot
) -> None:
    events = turn(TEXT, 0.1, per_step=2)
    play(columns.right, events[:12])
    qtbot.waitUntil(lambda: columns.right.shown_text == TEXT[: len(columns.right.shown_text)] != "")
    assert columns.right.words["speed"] == "20.0 tokens/s"
    assert not columns.right.words["end"]
    play(columns.right, events[12:])
    assert columns.right.shown_text == TEXT
    assert (
        columns.right.words["end"]
        == "Read the prompt in 0.5\u00a0s, wrote 60 tokens in 3.0\u00a0s."
    )


def test_drafted_tokens_are_coloured_as_in_the_chat(columns: TwoColumns) -> None:
    play(columns.left, turn(TEXT, 0.1))
    play(columns.right, turn(TEXT, 0.1, per_step=3))
    left, right = (
        [span for view in column.findChildren(MessageView) for span in view.content.spans]
        for column in (columns.left, columns.right)
    )
    assert not left
    assert {span.kind for span in right} == {"draft"}


def test_a_reply_that_was_cut_says_why(columns: TwoColumns) -> None:
    play(columns.left, turn(TEXT, 0.1, reason="length"))
    assert columns.left.words["end"].startswith("The token limit ended the reply. Read")


@pytest.mark.parametrize("is_turns_own", [True, False])
def test_an_error_stands_in_its_column_and_the_other_one_continues(
    columns: TwoColumns, *, is_turns_own: bool
) -> None:
    play(columns.left, turn(TEXT, 0.1)[:9])
    if is_turns_own:
        columns.left.receive(2.0, TurnFailed("odd", "It broke.", "Try again."))
    else:
        columns.left.fail(RunError("dead", "It broke.", "Try again."))
    play(columns.left, turn(TEXT, 0.1)[9:])
    assert columns.left.words["end"] == "It broke. Try again."
    assert columns.left.shown_text == " ".join(TEXT.split()[:7])
    assert not columns.outcome
    play(columns.right, turn(TEXT, 0.1))
    assert columns.right.shown_text == TEXT


def test_a_new_beginning_is_empty(columns: TwoColumns) -> None:
    play(columns.left, turn(TEXT, 0.1))
    play(columns.right, turn(OTHER, 0.1))
    columns.begin("Off", "Auto")
    assert not columns.outcome
    assert columns.left.words == dict.fromkeys(columns.left.words, "") | {"title": "Off"}
    assert not columns.right.shown_text
    play(columns.left, turn(OTHER, 0.1))
    assert columns.left.shown_text == OTHER


def test_the_text_follows_its_end_until_the_user_scrolls_back(
    columns: TwoColumns, qtbot: QtBot
) -> None:
    bar = columns.left.findChildren(QScrollArea)[0].verticalScrollBar()
    events = turn(TEXT.replace(" ", "\n\n "), 0.1)
    play(columns.left, events[:40])
    qtbot.waitUntil(lambda: bar.maximum() > 100)
    assert bar.value() == bar.maximum()
    bar.setValue(20)
    before = bar.maximum()
    play(columns.left, events[40:])
    qtbot.waitUntil(lambda: bar.maximum() > before)
    assert bar.value() == 20


def test_when_both_have_ended_one_line_says_what_came_out(
    columns: TwoColumns, qtbot: QtBot
) -> None:
    play(columns.right, turn(TEXT, 0.1, per_step=2))
    assert not columns.outcome
    with qtbot.waitSignal(columns.ended):
        play(columns.left, turn(TEXT, 0.1))
    assert columns.outcome == "2.00× as fast, the same text"


# ------------------------------------------------------------------------------------- both


@pytest.mark.parametrize("step_s", [0.05, 0.1, 0.13])
@pytest.mark.parametrize("per_step", [1, 2, 5])
def test_the_ratio_is_that_of_both_clocks(
    columns: TwoColumns, step_s: float, per_step: int
) -> None:
    play(columns.left, [(at + 7.0, event) for at, event in turn(TEXT, 0.1)])
    play(columns.right, turn(TEXT, step_s, per_step=per_step))
    check_clocks(columns)


def test_where_texts_part_the_first_other_word_is_marked(columns: TwoColumns) -> None:
    play(columns.left, turn(TEXT, 0.1))
    play(columns.right, turn(OTHER, 0.1))
    assert columns.outcome == "≈ 1× as fast, the texts differ from word 41 on"
    for column, word in ((columns.left, "word40"), (columns.right, "other")):
        views = [v for v in column.findChildren(MessageView) if v.current_top() is not None]
        assert len(views) == 1
        assert word in column.shown_text


def test_screen_readers_know_the_columns_and_hear_the_outcome(columns: TwoColumns) -> None:
    names = [column.accessibleName() for column in (columns.left, columns.right)]
    assert names == ["Alone", "With drafts"]
    texts = [
        {w.accessibleName() for w in column.findChildren(QWidget) if w.focusPolicy() != Qt.NoFocus}
        for column in (columns.left, columns.right)
    ]
    assert "Reply: Alone" in texts[0]
    assert "Reply: With drafts" in texts[1]


# ------------------------------------------------------------------------------ what came out


CUT = TEXT[: TEXT.index(" word50")]


@pytest.mark.parametrize(
    ("left", "right", "words"),
    [
        (turn(TEXT, 0.1), turn(TEXT, 0.1, per_step=3), "3.00× as fast, the same text"),
        (turn(TEXT, 0.1), turn(TEXT, 0.2), "0.50× as fast, the same text"),
        (turn(TEXT, 0.1), turn(TEXT, 0.1), "≈ 1× as fast, the same text"),
        (turn(TEXT, 0.1), turn(TEXT, 0.1, first_id=1),
         "≈ 1× as fast, the same text in other tokens"),
        (turn("So it", 0.1), turn("So it", 0.3), "too short to compare speeds, the same text"),
        (turn(TEXT, 0.2), turn(OTHER, 0.1),
         "2.00× as many tokens per second, the texts differ from word 41 on"),
        (turn(TEXT, 0.2), turn(CUT, 0.1, reason="cancelled"),
         "2.00× as many tokens per second, the same text as far as both go"),
    ],
)  # fmt: skip
def test_what_came_out(left: Turn, right: Turn, words: str) -> None:
    assert outcome_words(reply_of(left), reply_of(right)) == words


@pytest.mark.parametrize(
    ("step_s", "words"),
    [(0.075, "≈ 1× as fast (busy machine)"), (0.05, "2.00× as fast")],
)
def test_on_a_busy_machine_only_larger_differences_are_reported(step_s: float, words: str) -> None:
    left, right = reply_of(turn(TEXT, 0.1)), reply_of(turn(TEXT, step_s))
    assert right.stats is not None
    right.stats = structs.replace(right.stats, machine_busy=True)
    assert outcome_words(left, right) == f"{words}, the same text"


@given(
    n_words=st.integers(MIN_GAIN_STEPS, 120),
    left_s=st.floats(0.01, 0.3),
    right_s=st.floats(0.01, 0.3),
    per_step=st.integers(1, 6),
    jitter=st.floats(0.0, 0.9),
)
def test_the_ratio_is_that_of_the_shown_speeds_and_noise_widens_its_interval(
    n_words: int, left_s: float, right_s: float, per_step: int, jitter: float
) -> None:
    text = " ".join("ab" for _ in range(n_words))
    left, right = reply_of(turn(text, left_s)), reply_of(turn(text, right_s, per_step=per_step))
    noisy = reply_of(turn(text, right_s, per_step=per_step, jitter=jitter))
    speed, less_sure = speedup(left, right), speedup(left, noisy)
    assert speed is not None
    assert less_sure is not None
    assert left.stats is not None
    assert right.stats is not None
    assert speed.ratio == right.stats.tokens_per_s / left.stats.tokens_per_s
    assert speed.low < speed.ratio < speed.high
    assert less_sure.high / less_sure.low >= speed.high / speed.low * (1 - 1e-9)
    words = outcome_words(left, right)
    found = re.search(r"([\d.]+)×", words)
    assert found is not None
    shown = float(found[1])
    assert abs(shown - speed.ratio) <= (0.005 if speed.verdict != "even" else 0.06)


@given(st.text("ab \n", max_size=30), st.text("ab \n", max_size=30))
def test_the_first_difference_is_where_the_common_beginning_ends(left: str, right: str) -> None:
    at = first_difference(left, right)
    if at is None:
        assert left == right
        return
    assert left[:at] == right[:at]
    assert left[at : at + 1] != right[at : at + 1]
    begin = begin_of_word(left, at)
    assert not left[begin:at].strip(" \n") or not re.search(r"\s", left[begin:at])
    assert n_words_before(left, at) == len(left[:begin].split())
