"""“Which strategy?”: what it recommends here, what it applies, and what else it offers."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import pytest
from PySide6.QtCore import Qt

from paceline.chat.advice import UseCase
from paceline.messages import LoadPair, Tune
from paceline.params import params_of
from strategies import strategy

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.program import Program
    from paceline.gui.speculation.strategy_helper import StrategyHelper

pytestmark = [
    pytest.mark.qt_log_ignore("This plugin does not support"),
    pytest.mark.usefixtures("plain_windows"),
]


def opened(program: Program) -> StrategyHelper:
    program.window.actions_.which_strategy.trigger()
    dialog = program.advisor.dialog
    assert dialog is not None
    return dialog


def test_every_kind_of_work_has_a_card_with_a_reason(program: Program) -> None:
    program.window.panel.picker.help_button.click()
    dialog = opened(program)  # the same one
    assert tuple(dialog.cards) == get_args(UseCase)
    for card in dialog.cards.values():
        assert card.reason.text().endswith(".")
        assert card.apply.accessibleName()
    assert dialog.isModal()
    assert len({card.reason.text() for card in dialog.cards.values()}) == len(dialog.cards)
    dialog.reject()


def test_applying_changes_the_running_reply(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    program.chat.send("Hello?")
    client.start_turn()
    dialog = opened(program)
    card = dialog.cards["editing"]
    card.apply.setFocus()
    qtbot.keyClick(card.apply, Qt.Key.Key_Space)
    assert program.advisor.dialog is None
    assert program.speculation.text == "suffix+draft"
    qtbot.waitUntil(lambda: bool(client.all(Tune)))
    assert client.last(Tune).strategy == strategy("suffix+draft")
    client.finish_turn("Hi")
    card = opened(program).cards["editing"]
    assert not card.in_use.isHidden()
    assert card.apply.isHidden()


def test_settings_of_a_recommendation_are_taken_over(program: Program) -> None:
    card = opened(program).cards["structured"]
    assert "min_hits=2" in card.details.text()
    card.apply.click()
    assert program.speculation.value("ngram-map-k4v", "min_hits") == 2


def test_a_spare_draft_model_can_be_unloaded(program: Program, client: FakeClient) -> None:
    dialog = opened(program)
    card = dialog.cards["memory"]
    assert "without it 1 B more" in card.hint.text()
    assert "Draft model" in dialog.cards["editing"].strategy.text()
    assert "Auto" in dialog.cards["general"].strategy.text()
    card.offer.click()
    assert params_of(client.last(LoadPair).drafting) is None
    client.finish_load()
    assert not card.offer.isVisibleTo(card)
    # Without a draft model the rest is recommended by lookups alone.
    for other in dialog.cards.values():
        assert "Draft model" not in other.strategy.text()
    assert "Auto measures it" in dialog.cards["general"].reason.text()
