"""Asking about a pair in the background: what is asked when, and which answers count."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from gui.fake_judge import CARD, GOOD, FakeJudge, plan_of
from paceline.catalog.judge.pairing import Reason, Verdict
from paceline.chat.pair import Pair
from paceline.errors import UserError
from paceline.gui.models.picker.pair_judgement import Judgement, PairJudgement
from paceline.gui.state.current_devices import Room, RoomPlanner
from paceline.messages import DeviceInfo
from paceline.params import ModelParams

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

TARGET, DRAFT = ModelParams("/m/7b.gguf"), ModelParams("/m/0.5b.gguf")


@pytest.fixture
def judge() -> FakeJudge:
    return FakeJudge()


@pytest.fixture
def judgement(judge: FakeJudge, qtbot: QtBot) -> Iterator[PairJudgement]:
    made = PairJudgement(judge, RoomPlanner(judge))
    yield made
    judge.may_answer.set()
    made.close()


def wait_for_plan(judgement: PairJudgement, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: judgement.judgement.plan is not None)


def test_a_pair_is_judged_and_planned(
    judgement: PairJudgement, judge: FakeJudge, qtbot: QtBot
) -> None:
    assert judgement.judgement == Judgement()
    judgement.ask(Pair(TARGET, DRAFT))
    assert judgement.judgement.status == "looking"
    wait_for_plan(judgement, qtbot)
    known = judgement.judgement
    assert (known.status, known.verdict, known.target) == ("known", GOOD, CARD)
    assert known.plan == plan_of(TARGET, DRAFT)
    assert not known.obstacle
    assert judge.judged == [(TARGET.path, DRAFT.path)]


def test_a_target_alone_has_no_verdict_and_a_plan(
    judgement: PairJudgement, judge: FakeJudge, qtbot: QtBot
) -> None:
    judgement.ask(Pair(TARGET, None))
    wait_for_plan(judgement, qtbot)
    assert judgement.judgement.verdict is None
    assert not judgement.judgement.obstacle
    assert not judge.judged


def test_nothing_is_asked_while_the_choice_moves_down_a_list(
    judgement: PairJudgement, judge: FakeJudge, qtbot: QtBot
) -> None:
    for number in range(20):
        judgement.ask(Pair(TARGET, replace(DRAFT, path=f"/m/{number}.gguf")))
    wait_for_plan(judgement, qtbot)
    assert judge.judged == [(TARGET.path, "/m/19.gguf")]


def test_an_answer_to_an_older_question_is_dropped(
    judgement: PairJudgement, judge: FakeJudge, qtbot: QtBot
) -> None:
    judge.may_answer.clear()
    heard: list[Judgement] = []
    judgement.changed.connect(heard.append)
    judgement.ask(Pair(TARGET, replace(DRAFT, path="/m/old.gguf")))
    qtbot.waitUntil(lambda: bool(judge.n_looks))
    judgement.ask(Pair(TARGET, DRAFT))
    judge.may_answer.set()
    wait_for_plan(judgement, qtbot)
    assert [known.status for known in heard] == ["looking", "known", "known"]
    assert judge.planned[-1] == (TARGET, DRAFT)


def test_a_changed_setting_is_planned_without_judging_again(
    judgement: PairJudgement, judge: FakeJudge, qtbot: QtBot
) -> None:
    judgement.ask(Pair(TARGET, DRAFT))
    wait_for_plan(judgement, qtbot)
    for n_ctx in (1024, 2048, 8192):
        judgement.ask(Pair(replace(TARGET, n_ctx=n_ctx), DRAFT))
        assert judgement.judgement.plan is not None  # the older one stays until then
    wanted = replace(TARGET, n_ctx=8192)
    qtbot.waitUntil(lambda: judgement.judgement.plan == plan_of(wanted, DRAFT))
    assert len(judge.judged) == 1
    assert len(judge.planned) == 2


def test_other_devices_are_planned_for(
    judgement: PairJudgement, judge: FakeJudge, qtbot: QtBot
) -> None:
    judgement.ask(Pair(TARGET, DRAFT))
    wait_for_plan(judgement, qtbot)
    judgement.set_room(Room((DeviceInfo("CPU", "CPU", "cpu", 10, 10),)))
    qtbot.waitUntil(lambda: len(judge.planned) == 2)


def test_a_failure_is_told_and_can_be_tried_again(
    judgement: PairJudgement, judge: FakeJudge, qtbot: QtBot
) -> None:
    judge.error = UserError("no-network", "The Hub cannot be reached.", "Look at the cable.")
    judgement.ask(Pair(TARGET, DRAFT))
    qtbot.waitUntil(lambda: judgement.judgement.status == "failed")
    failed = judgement.judgement
    assert failed.problem == "The Hub cannot be reached."
    assert failed.hint == "Look at the cable."
    assert failed.obstacle == failed.problem
    judge.error = None
    judgement.ask_again()
    wait_for_plan(judgement, qtbot)


def test_without_a_plan_the_verdict_stands(
    judgement: PairJudgement, judge: FakeJudge, qtbot: QtBot
) -> None:
    judge.plan_error = UserError("odd", "It cannot be told.")
    judgement.ask(Pair(TARGET, DRAFT))
    qtbot.waitUntil(lambda: bool(judgement.judgement.plan_problem))
    assert judgement.judgement.plan_problem == "It cannot be told."
    assert not judgement.judgement.obstacle


def test_a_refused_pair_cannot_be_loaded(
    judgement: PairJudgement, judge: FakeJudge, qtbot: QtBot
) -> None:
    judge.verdict = Verdict(False, (Reason("token-differs", "Token 5 differs.", "bad"),))
    judgement.ask(Pair(TARGET, DRAFT))
    wait_for_plan(judgement, qtbot)
    assert judgement.judgement.obstacle == "Token 5 differs."


def test_nothing_is_asked_about_nothing(
    judgement: PairJudgement, judge: FakeJudge, qtbot: QtBot
) -> None:
    judge.may_answer.clear()
    judgement.ask(Pair(TARGET, DRAFT))
    qtbot.waitUntil(lambda: bool(judge.n_looks))
    judgement.ask(None)
    assert judgement.judgement == Judgement()
    judge.may_answer.set()
    judgement.close()  # waits for the look that was under way
    assert judgement.judgement == Judgement()
    assert not judge.planned
