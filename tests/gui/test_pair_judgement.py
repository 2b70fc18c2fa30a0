"""Asking about a pair in the background: what is asked when, and which answers count."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from msgspec import structs
from PySide6.QtCore import QTimer

from gui.fake_hub import HeldBackground
from gui.fake_judge import CARD, GOOD, FakeJudge, plan_of
from paceline.catalog.judge.pairing import PairVerdict, Reason
from paceline.chat.pair import Pair
from paceline.errors import UserError
from paceline.gui.models.picker import pair_judgement
from paceline.gui.models.picker.pair_judgement import Judgement, PairJudgement
from paceline.gui.state.current_devices import Room, RoomPlanner
from paceline.messages import DeviceInfo
from paceline.params import OWN_HEAD, DraftModel, ModelParams, TargetHead, file_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytestqt.qtbot import QtBot

    from paceline.catalog.card import Examined

TARGET, DRAFT = ModelParams("/m/7b.gguf"), ModelParams("/m/0.5b.gguf")
GONE = UserError("no-network", "The Hub cannot be reached.", "Look at the cable.")
NO_PLAN = UserError("odd", "It cannot be told.")


class NamingJudge(FakeJudge):
    """Calls each model by its reference."""

    def examine(self, reference: str, is_stopped: Callable[[], bool] = lambda: False) -> Examined:
        examined = super().examine(reference, is_stopped)
        return replace(examined, card=structs.replace(examined.card, name=reference))


PAIRS = st.builds(
    Pair,
    st.builds(ModelParams, st.sampled_from(["/m/a.gguf", "/m/b.gguf"]), st.sampled_from([0, 512])),
    st.sampled_from([None, OWN_HEAD, TargetHead(file="/m/c.gguf")])
    | st.sampled_from(["/m/c.gguf", "/m/d.gguf"]).map(lambda file: DraftModel(ModelParams(file))),
)


class Questions(RuleBasedStateMachine):
    """Any order of questions, of pauses between them, and of answers."""

    def __init__(self) -> None:
        super().__init__()
        self.judge = NamingJudge()
        with patch.object(pair_judgement, "Background", HeldBackground):
            self.judgement = PairJudgement(self.judge, RoomPlanner(self.judge))
        jobs = self.judgement.findChild(HeldBackground)
        assert jobs is not None
        self.jobs = jobs
        self.pair: Pair | None = None

    def teardown(self) -> None:
        self.judgement.close()
        assert self.judgement.judgement == Judgement()

    @rule(pair=st.none() | PAIRS)
    def ask(self, pair: Pair | None) -> None:
        self.pair = pair
        self.judgement.ask(pair)

    @rule(n_free=st.integers(1, 3))
    def other_memory(self, n_free: int) -> None:
        self.judgement.set_room(Room((DeviceInfo("CPU", "CPU", "cpu", 9, n_free),)))

    @rule(error=st.sampled_from([None, GONE]), plan_error=st.sampled_from([None, NO_PLAN]))
    def what_goes_wrong(self, error: UserError | None, plan_error: UserError | None) -> None:
        self.judge.error, self.judge.plan_error = error, plan_error

    @rule()
    def ask_again(self) -> None:
        self.judgement.ask_again()

    @rule()
    def pause(self) -> None:
        for timer in self.judgement.findChildren(QTimer):
            if timer.isActive():
                timer.stop()
                timer.timeout.emit()

    @precondition(lambda self: self.pair is not None)
    @rule()
    def move_a_slider(self) -> None:
        for n_ctx in (1024, 2048):
            if self.pair is not None:
                self.ask(replace(self.pair, target=replace(self.pair.target, n_ctx=n_ctx)))
            self.pause()

    @precondition(lambda self: self.jobs.jobs)
    @rule(pair=PAIRS)
    def ask_while_an_answer_is_on_its_way(self, pair: Pair) -> None:
        self.jobs.compute()
        self.ask(pair)
        self.jobs.carry_out()

    @precondition(lambda self: self.jobs.jobs)
    @rule(data=st.data(), is_late=st.booleans())
    def answer(self, data: st.DataObject, is_late: bool) -> None:
        at = data.draw(st.integers(0, len(self.jobs.jobs) - 1))
        (self.jobs.compute if is_late else self.jobs.carry_out)(at)

    @rule()
    def answer_all(self) -> None:
        for _ in range(2):
            self.pause()
            self.jobs.carry_out_all()
        known, pair = self.judgement.judgement, self.pair
        if pair is None:
            assert known == Judgement()
        elif known.status == "failed":
            assert (known.problem, known.hint) == (GONE.message, GONE.hint)
            assert known.obstacle == known.problem
        else:
            assert known.status == "known"
            assert known.plan == plan_of(pair.target, pair.drafting) or known.plan_problem

    @invariant()
    def only_answers_about_this_pair_count(self) -> None:
        known, pair = self.judgement.judgement, self.pair
        assert (known.status == "nothing") == (pair is None)
        if known.status != "known" or pair is None:
            assert (known.target, known.verdict, known.plan) == (None, None, None)
            return
        assert known.target is not None
        assert known.target.name == pair.target.path
        file = file_of(pair.drafting)
        assert (known.draft.name if known.draft else "") == file
        assert known.verdict == (GOOD if file else None)
        assert not known.obstacle
        if known.plan is not None:
            assert known.plan.target.path == pair.target.path


TestQuestions = Questions.TestCase


@pytest.fixture
def judge() -> FakeJudge:
    return FakeJudge()


@pytest.fixture
def judgement(judge: FakeJudge, qtbot: QtBot) -> Iterator[PairJudgement]:
    made = PairJudgement(judge, RoomPlanner(judge))
    yield made
    judge.may_answer.set()
    made.close()


def test_nothing_is_asked_while_the_choice_moves_and_a_setting_is_only_planned(
    judgement: PairJudgement, judge: FakeJudge, qtbot: QtBot
) -> None:
    for number in range(20):
        judgement.ask(Pair(TARGET, DraftModel(replace(DRAFT, path=f"/m/{number}.gguf"))))
    last = replace(DRAFT, path="/m/19.gguf")
    qtbot.waitUntil(lambda: judgement.judgement.plan is not None)
    assert judge.judged == [(TARGET.path, last.path)]
    assert judgement.judgement.target == CARD
    for n_ctx in (1024, 2048, 8192):
        judgement.ask(Pair(replace(TARGET, n_ctx=n_ctx), DraftModel(last)))
        assert judgement.judgement.plan is not None, "the older one stays until then"
    wanted = plan_of(replace(TARGET, n_ctx=8192), DraftModel(last))
    qtbot.waitUntil(lambda: judgement.judgement.plan == wanted)
    assert (len(judge.judged), len(judge.planned)) == (1, 2)


def test_a_refused_pair_cannot_be_loaded() -> None:
    verdict = PairVerdict(False, (Reason("token-differs", "Token 5 differs.", "bad"),))
    assert Judgement("known", CARD, CARD, verdict).obstacle == "Token 5 differs."
