"""Knowledge about the pair being picked: its verdict, its memory plan, or failures.

Both are determined in the background, since the header of a remote model may take seconds to load.
While the models change quickly, as when the user moves through a list, the question is delayed
until they stay the same; a changed setting is planned at once, one plan after the other, so that
the bar follows a slider. Answers to older questions are dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, Protocol

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from paceline.catalog.card import Examined, ModelCard
from paceline.catalog.judge.pairing import PairVerdict
from paceline.catalog.memory.values import MemoryPlan
from paceline.chat.pair import Pair
from paceline.engine.measure.known import MeasuredPair
from paceline.errors import UserError
from paceline.gui.kit.background import Background
from paceline.gui.state.current_devices import Room, RoomPlanner
from paceline.params import drafter_of

WAIT_MS = 150

Status = Literal["nothing", "looking", "known", "failed"]


class Judge(Protocol):
    """Judges models; implemented by `catalog.models.Models`. Worker threads; may take seconds."""

    def examine(self, reference: str, is_stopped: Callable[[], bool] = ...) -> Examined:
        """Inspect a model."""

    def card(self, reference: str, is_stopped: Callable[[], bool] = ...) -> ModelCard:
        """Read the header of a model or a head."""

    def judge(self, target: str, draft: str, is_stopped: Callable[[], bool] = ...) -> PairVerdict:
        """Judge whether a draft model or a head can draft for a target."""

    def measured(self, target: str, draft: str = ...) -> MeasuredPair | None:
        """Return what was measured of two files here before."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """State of the knowledge.

    Attributes:
        status: Status of the models; the plan comes later.
        target: The target's card.
        draft: The card of the draft model, or of the head in a file of its own; None if none is
            chosen or it is unknown.
        verdict: The verdict; None where only lookups draft.
        plan: The newest plan, which may be that of earlier settings for a moment.
        problem: Why the models are unknown, in one sentence.
        code: Code of the problem, e.g. ``no-network``.
        hint: Remedy of the problem.
        plan_problem: Why there is no plan.
        measured: Earlier measurements of the pair here, or None.
    """

    status: Status = "nothing"
    target: ModelCard | None = None
    draft: ModelCard | None = None
    verdict: PairVerdict | None = None
    plan: MemoryPlan | None = None
    problem: str = ""
    code: str = ""
    hint: str = ""
    plan_problem: str = ""
    measured: MeasuredPair | None = None

    @property
    def obstacle(self) -> str:
        """Reason why the pair cannot be loaded, or empty if it can or that is unknown."""
        if self.status == "failed":
            return self.problem
        verdict = self.verdict
        return verdict.reasons[0].text if verdict is not None and not verdict.ok else ""


class PairJudgement(QObject):
    """Questions about one pair at a time; lives on the main thread."""

    changed = Signal(object)
    """Judgement"""

    def __init__(self, models: Judge, planner: RoomPlanner, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._models = models
        self._planner = planner
        self._background = Background(self)
        self._room = Room()
        self._pair: Pair | None = None
        self.judgement = Judgement()
        """The present knowledge."""
        self._question = 0
        self._is_planning = self._is_closed = False
        self._planned: object = None
        self._wait_to_look = QTimer(self, singleShot=True, interval=WAIT_MS)
        self._wait_to_plan = QTimer(self, singleShot=True, interval=WAIT_MS)
        self._wait_to_look.timeout.connect(self._look)
        self._wait_to_plan.timeout.connect(self._plan)

    @Slot(object)
    def set_room(self, room: Room) -> None:
        """Set the devices that the models can be put on."""
        self._room = room
        self._ask_for_plan()

    def ask(self, pair: Pair | None) -> None:
        """Set the pair to ask about from now on; paths may be ``hf:`` references."""
        if self._is_closed or pair == self._pair:
            return
        before, self._pair = self._pair, pair
        if _models(before) != _models(pair):
            self._begin()
            if pair is not None:
                self._wait_to_look.start()  # restarted: the user may be moving through a list
        else:
            self._ask_for_plan()

    def ask_again(self) -> None:
        """Repeat the question, as after a failure."""
        self._begin()
        self._look()

    def close(self) -> None:
        """Stop asking; a running call ends on its own, or within the pool's time limit."""
        self._is_closed = True
        self._pair = None
        self._begin()
        self._background.close()

    def _begin(self) -> None:
        self._question += 1
        self._planned = None
        self._wait_to_look.stop()
        self._wait_to_plan.stop()
        self._set(Judgement("looking" if self._pair else "nothing"))

    # ------------------------------------------------------------------------------- the models

    @Slot()
    def _look(self) -> None:
        if self._pair is None:
            return
        question = self._question
        look = partial(_look, self._models, self._pair, self._stopper(question))
        self._background.start(
            look, partial(self._on_looked, question), partial(self._on_unusable, question)
        )

    def _on_looked(self, question: int, answer: Judgement) -> None:
        if question == self._question:
            self._set(answer)
            self._plan()

    def _on_unusable(self, question: int, error: UserError) -> None:
        if question == self._question:
            self._set(Judgement("failed", problem=error.message, code=error.code, hint=error.hint))

    # --------------------------------------------------------------------------------- the plan

    def _ask_for_plan(self) -> None:
        if self.judgement.status == "known" and not self._wait_to_plan.isActive():
            self._wait_to_plan.start()  # not restarted, so that the bar follows a moving slider

    @Slot()
    def _plan(self) -> None:
        wanted = (self._pair, self._room)
        if self._is_planning or self._pair is None or wanted == self._planned:
            return
        self._is_planning = True
        self._planned = wanted
        question = self._question
        plan = partial(self._planner.plan, self._room, self._pair, self._stopper(question))
        self._background.start(
            plan, partial(self._on_planned, question), partial(self._on_no_plan, question)
        )

    def _on_planned(self, question: int, plan: MemoryPlan) -> None:
        if question == self._question:
            self._set(replace(self.judgement, plan=plan, plan_problem=""))
        self._plan_next()

    def _on_no_plan(self, question: int, error: UserError) -> None:
        if question == self._question:
            self._set(replace(self.judgement, plan=None, plan_problem=str(error)))
        self._plan_next()

    def _plan_next(self) -> None:
        """Plan again if the settings changed meanwhile."""
        self._is_planning = False
        if self.judgement.status == "known":
            self._plan()

    def _stopper(self, question: int) -> Callable[[], bool]:
        """Return a function that returns whether this question is out of date."""
        return lambda: question != self._question

    def _set(self, judgement: Judgement) -> None:
        if judgement != self.judgement:
            self.judgement = judgement
            self.changed.emit(judgement)


def _look(models: Judge, pair: Pair, is_stopped: Callable[[], bool]) -> Judgement:
    """Inspect both models and judge them; runs in the background.

    Raises:
        UserError: A model cannot be used, or the question was dropped.
    """
    target = models.examine(pair.target.path, is_stopped).card
    draft: ModelCard | None = None
    drafter = ""
    if len(pair.files) > 1:
        drafter = pair.files[1]
        draft = models.card(drafter, is_stopped)
    elif pair.drafting is None or not target.n_heads:
        return Judgement("known", target, measured=models.measured(pair.target.path))
    verdict = models.judge(pair.target.path, drafter, is_stopped)
    measured = models.measured(pair.target.path, drafter)
    return Judgement("known", target, draft, verdict, measured=measured)


def _models(pair: Pair | None) -> tuple[str, ...]:
    """Return the models that a verdict is about."""
    return (*pair.files, drafter_of(pair.drafting)) if pair is not None else ()
