"""The benchmark's driver in a real queue, where the person's replies go first."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from bench.scripted import finished, model, stats
from message_samples import sample
from paceline.bench.plan import make_plan
from paceline.bench.runs import Report
from paceline.bench.workload import Workload
from paceline.chat.pair import PairState
from paceline.gui.bench.driver import BenchDriver
from paceline.hosting.broker import Broker, Priority, Ticket
from paceline.messages import (
    Calibrate,
    Calibrated,
    ChatMessage,
    Command,
    DescribeEngine,
    EngineDescribed,
    EngineDied,
    Reset,
    StartTurn,
    TurnFailed,
)
from turns import turn_of

QUESTION = (ChatMessage.of_text("user", "Hi"),)
PERSONS = turn_of(messages=QUESTION)
PLAN = make_plan([Workload("a", QUESTION, max_tokens=10)], ("off", "suffix"), 1)


class Desk:
    """A driver whose engine is played by hand."""

    def __init__(self) -> None:
        self.broker = Broker()
        self.session = SimpleNamespace(active=None)
        self.loader = SimpleNamespace(state=PairState("ready", target=model()))
        self.endings: list[str] = []
        self.reports: list[Report] = []
        self.driver = BenchDriver(self.broker, self.session, self.loader, self)  # type: ignore[arg-type]

    def bench_progressed(self) -> None:
        """Nothing is shown here."""

    def bench_ended(self, report: Report, ending: str, reason: str) -> None:
        del reason
        self.reports.append(report)
        self.endings.append(ending)

    def take(self, kind: type[Command]) -> Ticket:
        """Begin what is next."""
        ticket = self.broker.take(0)
        assert ticket is not None
        assert isinstance(ticket.command, kind)
        return ticket

    def finish(self, reason: str = "length") -> None:
        """End the turn that runs."""
        ticket = self.broker.running
        assert ticket is not None
        assert isinstance(ticket.command, StartTurn)
        if reason == "cancelled":
            self.broker.emit(TurnFailed("cancelled", "Stopped.", ""))
        else:
            self.broker.emit(finished(ticket.command, stats(1.0)))
        self.broker.done()

    def begin(self) -> None:
        """Carry out what comes before the first run."""
        assert self.driver.start(PLAN)
        self.take(DescribeEngine)
        self.broker.emit(sample(EngineDescribed))
        self.broker.done()
        self.take(Calibrate)
        self.broker.emit(Calibrated(""))
        self.broker.done()

    def reset(self) -> None:
        self.take(Reset)
        self.broker.done()

    def send(self) -> None:
        """Ask for a reply, as the window does."""
        self.broker.request(PERSONS)
        self.session.active = PERSONS
        self.driver.reply_began()

    def reply(self) -> None:
        """Carry that reply out."""
        assert self.take(StartTurn).command is PERSONS
        self.finish()
        self.session.active = None
        self.driver.reply_ended()

    def carry_out(self) -> Report:
        """Carry all runs out that are left."""
        while self.driver.is_running:
            self.reset()
            self.take(StartTurn)
            self.finish()
        return self.reports[-1]


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_it_asks_as_idle_work_and_forgets_at_the_end(desk: Desk) -> None:
    desk.begin()
    desk.reset()
    assert desk.take(StartTurn).priority is Priority.IDLE
    desk.finish()
    assert desk.carry_out().is_complete
    assert desk.endings == ["done"]
    last = desk.take(Reset)
    assert last.priority is Priority.PERSON, "it comes before the next reply"


def test_what_runs_gives_way_and_is_made_again_after_a_reset(desk: Desk) -> None:
    desk.begin()
    desk.reset()
    first = desk.take(StartTurn)
    desk.send()
    assert first.gave_way
    assert desk.broker.flag.is_set()
    assert desk.driver.is_paused
    desk.finish("cancelled")
    desk.reply()
    desk.reset()
    assert desk.take(StartTurn).command is first.command
    desk.finish()
    assert desk.carry_out().is_complete


def test_what_is_complete_before_it_could_give_way_counts(desk: Desk) -> None:
    desk.begin()
    desk.reset()
    first = desk.take(StartTurn)
    desk.send()
    desk.finish()
    desk.reply()
    desk.reset()
    assert desk.take(StartTurn).command is not first.command
    desk.finish()
    assert desk.carry_out().is_complete


def test_a_run_that_a_reply_overtakes_comes_directly_after_its_reset(desk: Desk) -> None:
    desk.begin()
    desk.take(Reset)
    desk.send()
    desk.broker.done()
    desk.reply()
    desk.reset()
    desk.take(StartTurn)
    desk.finish()
    assert desk.carry_out().is_complete


def test_a_stop_ends_what_waits_at_once_and_what_runs_when_it_has_ended(desk: Desk) -> None:
    assert desk.driver.start(PLAN)
    desk.driver.stop()
    assert desk.endings == ["stopped"]
    desk.reset()
    desk.take(DescribeEngine)
    desk.broker.done()
    desk.begin()
    desk.reset()
    desk.take(StartTurn)
    desk.driver.stop()
    assert desk.driver.is_running
    desk.finish("cancelled")
    assert desk.endings == ["stopped", "stopped"]
    assert not desk.driver.is_running


def test_a_death_ends_it_whatever_it_waits_for(desk: Desk) -> None:
    desk.begin()
    desk.reset()
    desk.broker.emit(EngineDied("It crashed."))
    assert desk.endings == ["died"]
    assert desk.reports[-1].failures[-1].message == "It crashed."
    assert desk.broker.take(0) is None
