"""Room for words: nothing of the panel or the chat is cut off, and long words break."""

from __future__ import annotations

import datetime
from itertools import groupby
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QEvent, QLocale, QPoint, Qt, QTranslator
from PySide6.QtGui import QGuiApplication, QHelpEvent
from PySide6.QtWidgets import QApplication, QScrollArea

from gui.chat_help import settle
from gui.clocks import let_pass
from gui.fake_client import STATS, FakeClient, plain_step, step_of
from paceline import paths
from paceline.chat.advice import Advice
from paceline.engine.draft import grammar_drafter
from paceline.engine.draft.strategy import strategy_named
from paceline.gui.conversations.model import ChatGroups
from paceline.gui.kit import labels
from paceline.gui.kit.labels import (
    MAX_UNBROKEN_LETTERS,
    ZERO_WIDTH_SPACE,
    BreakingLabel,
    ElidedLabel,
    with_soft_breaks,
    without_soft_breaks,
)
from paceline.gui.kit.translation import install_language
from paceline.gui.look.current import look
from paceline.gui.panel import MIN_WIDTH
from paceline.params import Strategy
from paceline.sentence import sentence
from paceline.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytestqt.qtbot import QtBot

    from paceline.gui.program import Program

LONG_WORD = "x" * 300
LONG_CHAIN = "ngram-cache+ngram-mod+ngram-map-k4v+suffix+draft"


@given(st.lists(st.text(alphabet="ab/:+=", max_size=90), max_size=5).map("\n ".join))
def test_soft_breaks_change_nothing_that_is_seen(text: str) -> None:
    broken = with_soft_breaks(text)
    assert without_soft_breaks(broken) == text
    pieces = broken.replace(ZERO_WIDTH_SPACE, " ").split()
    assert all(len(piece) <= MAX_UNBROKEN_LETTERS for piece in pieces)
    if all(len(word) <= 12 for word in text.split()):
        assert broken == text, "short words stay whole"


def test_a_name_that_is_cut_off_has_an_ellipsis_and_is_shown_on_hover(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    tips = SimpleNamespace(showText=lambda _at, text, _widget: told.append(text))
    monkeypatch.setattr(labels, "QToolTip", tips)
    label = ElidedLabel(400)
    qtbot.addWidget(label)
    label.setText("a name with a few words")
    label.resize(label.sizeHint())
    label.show()
    asked = QHelpEvent(QEvent.Type.ToolTip, QPoint(4, 4), QPoint(4, 4))
    label.event(asked)
    assert (label.shown_text, told) == (label.text(), [])
    font = label.font()
    font.setPixelSize(2 * label.fontInfo().pixelSize())
    label.setFont(font)
    assert "…" in label.shown_text
    assert label.fontMetrics().horizontalAdvance(label.shown_text) <= label.width()
    label.event(asked)
    assert told == [label.text()]


@pytest.mark.grid(short=3)
@pytest.mark.parametrize("size", [11, 14, 20])
def test_the_panel_and_dialogs_fit_in_every_language_and_size(
    make_program: Callable[..., Program], client: FakeClient, qtbot: QtBot, language: str, size: int
) -> None:
    program = make_program(Settings(font_px=size, was_welcomed=True))
    program.window.resize(1500, 900)
    client.finish_load()
    panel = program.window.panel
    for form in range(3):
        fill(program, client, qtbot, form)
        assert panel.minimumWidth() == max(MIN_WIDTH, round(MIN_WIDTH * size / 14))
        assert surplus_px(program) <= 0
    assert len(panel.plot.title.shown_text) >= 12
    panel.picker.menu.own_wanted.emit()
    program.window.actions_.settings.trigger()
    for dialog in (panel.picker.chain.dialog, program.settings_controller.dialog):
        assert dialog is not None
        dialog.resize(dialog.minimumSize())
        settle(qtbot)
        pages = [each for each in dialog.findChildren(QScrollArea) if each.isVisible()]
        assert language == "longer" or [p.horizontalScrollBar().maximum() for p in pages] == [0]
        dialog.reject()


def test_what_is_copied_has_no_soft_breaks(qtbot: QtBot) -> None:
    label = BreakingLabel()
    qtbot.addWidget(label)
    path = "/home/somebody/models/a-model-with-a-long-name.gguf"
    label.setText(with_soft_breaks(path))
    label.setSelection(0, len(label.text()))
    label.copy()
    assert QGuiApplication.clipboard().text() == path


def fill(program: Program, client: FakeClient, qtbot: QtBot, form: int) -> None:
    """Show in the panel all that is long."""
    panel = program.window.panel
    panel.open_only(("details", "drafters", "more"))
    program.speculation.use(strategy_named(LONG_CHAIN))
    program.chat.send("Hello?")
    client.start_turn()
    for number, drafter in enumerate(("suffix", "ngram-map-k4v", "ngram-mod", "draft"), start=1):
        client.emit(step_of("x", number, drafter=drafter, n_rejected=900))
    client.emit(plain_step(5))
    client.finish_turn("Hi", stats=STATS)
    words = sentence("Try {word}.", word=LONG_WORD)
    panel.advice.show_advice("k", (Advice("longer-drafts", words, words, Strategy.of("off")),))
    panel.sampling.form.form_choice.setCurrentIndex(form)
    panel.sampling.biases.setText(LONG_WORD)
    panel.sampling.show_refusal("bad-grammar", LONG_WORD)
    panel.draft_settings.show_problem(LONG_WORD)
    panel.picker.show_problem(LONG_WORD)
    settle(qtbot)


def surplus_px(program: Program) -> int:
    """Return the pixels by which a tab's page exceeds the narrowest panel; at most 0 if it fits."""
    panel = program.window.panel
    surplus = []
    for tab in ("speed", "chat"):
        panel.show_tab(tab)
        scroll = panel.tabs.currentWidget()
        assert isinstance(scroll, QScrollArea)
        # Right of the page are the scroll bar and the panel's left line.
        beside = panel.width() - scroll.viewport().width()
        surplus.append(scroll.widget().minimumSizeHint().width() - (panel.minimumWidth() - beside))
    return max(surplus)


class Longer(QTranslator):
    """Makes every text of the program a third longer, as some languages are."""

    def translate(
        self, context: str, text: str, disambiguation: str | None = None, n: int = -1
    ) -> str:
        del disambiguation, n
        if context.startswith("Q"):  # an empty text would be one without places for arguments
            return text
        return text + (" onesevn" * 40)[: -(-len(text) * 35 // 100)]

    def isEmpty(self) -> bool:  # noqa: N802  Qt calls it so
        return False


@pytest.fixture(params=["en", "de", "longer"])
def language(request: pytest.FixtureRequest, qapp: QApplication) -> Iterator[str]:
    """Another language for what is made from now on."""
    name: str = request.param
    translators: tuple[QTranslator, ...] = (Longer(),)
    if name == "longer":
        assert qapp.installTranslator(translators[0])
    else:
        translators = install_language(name, paths.resources())
    yield name
    for translator in translators:
        qapp.removeTranslator(translator)
    QLocale.setDefault(QLocale.c())
    look.changed.emit(look.theme)  # what was dressed meanwhile, such as the shared window's plot


def test_the_fields_of_the_drafters_follow_their_card_in_the_tab_order(
    program: Program, qtbot: QtBot
) -> None:
    card = program.window.panel.draft_settings
    program.window.panel.open_only(("details", "drafters"))
    program.speculation.use(strategy_named("suffix+draft"))
    qtbot.waitUntil(lambda: all(field.isVisible() for field in card.fields.values()))
    card.presets.setFocus()
    reached: list[str] = []
    while not reached or reached[-1]:  # until the card is left
        before = QApplication.focusWidget()
        assert before is not None
        qtbot.keyClick(before, Qt.Key.Key_Tab)
        now = QApplication.focusWidget()
        assert now is not None
        fields = card.fields.items()
        around = (n for n, f in fields if f.isAncestorOf(now) or now is f.automatic)
        reached.append(next(around, ""))
    assert [name for name, _ in groupby(reached)] == [*card.fields, ""]
    assert min(reached.count(name) for name in card.fields) >= 2, "a slider and a number each"


def test_the_context_is_counted_while_a_reply_grows(program: Program, client: FakeClient) -> None:
    program.chat.send("Hello?")
    client.start_turn()
    client.emit(step_of("x", 0))
    client.emit(step_of("y", 1))
    let_pass(program.context_meter)
    assert program.window.chat_pane.composer.meter.toolTip().startswith("14 of 2,048")


def test_forced_tokens_of_a_grammar_are_no_strategy(program: Program, client: FakeClient) -> None:
    program.speculation.use(strategy_named("draft"))
    program.chat.send("Hello?")
    client.start_turn()
    client.emit(step_of("x", 0))
    client.emit(step_of("x", 1, drafter=grammar_drafter.INFO.id))
    client.finish_turn("xx")
    assert program.live.headline.sentence.startswith(grammar_drafter.INFO.title)


def test_a_chat_without_a_time_stands_last_and_under_no_month() -> None:
    groups = ChatGroups(datetime.date(2026, 11, 21))
    undated = groups.heading(0.0)
    assert undated.name == "Undated"
    oldest = groups.heading(datetime.datetime(1999, 5, 3, tzinfo=datetime.UTC).timestamp())
    assert "1999" in oldest.name
    assert 0.0 < undated.end_s <= oldest.begin_s
