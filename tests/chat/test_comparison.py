"""Two replies to one question: what the engine is asked, whatever happens, and what is kept.

A scripted client carries out the real queue, one command after the other; it is told which
load fails, which turn dies, and where the user stops.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from gui.fake_client import STATS, model_info
from paceline.chat.comparison import ReplyComparison, Side
from paceline.chat.pair import Pair, PairLoader
from paceline.chat.reply import TurnOptions, to_record
from paceline.chat.session import ChatSession
from paceline.hosting.broker import Priority
from paceline.hosting.client import QueuedClient
from paceline.messages import (
    ChatMessage,
    EngineDied,
    LoadFailed,
    LoadPair,
    LoadProgressed,
    ModelParams,
    PairLoaded,
    Reset,
    StartTurn,
    StepCommitted,
    Strategy,
    Tokens,
    TokenTrace,
    TurnEvent,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from paceline.params import ReplySettings, SamplingParams
from paceline.run_record import RunError

if TYPE_CHECKING:
    from collections.abc import Callable

    from paceline.conversation import Conversation
    from paceline.hosting.broker import Ticket
    from paceline.messages import Command

OWN = Pair(ModelParams("own.gguf"))
OTHERS = {"own": None, "b": Pair(ModelParams("b.gguf")), "c": Pair(ModelParams("c.gguf"))}
Fate = Literal["works", "fails", "dies", "dies late", "is stopped"]
N_STEPS = 4


class Puppet(QueuedClient):
    """A client with scripted outcomes; `carry_out` executes all queued commands.

    Attributes:
        fates: Outcomes of the next loads and turns, in their order; all later ones succeed.
        loaded: The loaded file, or empty if none is loaded.
        done: Completed commands: a load's file, "reset", or a turn with the file it ran on.
        stop: Called in the middle of what "is stopped".
    """

    def __init__(self) -> None:
        super().__init__()
        self.fates: deque[Fate] = deque()
        self.loaded = ""
        self.done: list[str] = []
        self.turns: list[tuple[Ticket, str]] = []
        self.stop: Callable[[], None] = lambda: None

    def _drive(self) -> None:
        """Wait for `carry_out`."""

    def close(self) -> bool:
        return True

    def carry_out(self) -> None:
        while (ticket := self._broker.take(timeout=0)) is not None:
            self._handle(ticket.command)
            self._broker.done()

    def _handle(self, command: Command) -> None:
        match command:
            case LoadPair():
                self._load(command)
            case StartTurn():
                self._turn(command)
            case Reset():
                self.done.append("reset")
            case _:
                pass

    def _next_fate(self) -> Fate:
        fate: Fate = self.fates.popleft() if self.fates else "works"
        if fate == "is stopped":
            self.stop()
        elif fate in ("dies", "dies late"):
            if fate == "dies late":
                return fate
            self._die()
        return fate

    def _die(self) -> None:
        self.loaded = ""
        self._broker.emit(EngineDied("It crashed.", "Load again."))

    def _load(self, command: LoadPair) -> None:
        path = command.target.path
        self.done.append(f"load {path}")
        if self._broker.flag.is_set():
            self._broker.emit(LoadFailed("cancelled", "Stopped.", ""))
            return
        self.loaded = ""
        self._broker.emit(LoadProgressed("target", 0.5))
        fate = self._next_fate()
        if self._broker.flag.is_set():
            self._broker.emit(LoadFailed("cancelled", "Stopped.", ""))
        elif fate == "fails":
            self._broker.emit(LoadFailed("broken", "It is broken.", "Take another."))
        elif fate == "dies late":
            self._die()
        elif fate != "dies":
            self.loaded = path
            self._broker.emit(PairLoaded(model_info(path), None, 0.1))

    def _turn(self, command: StartTurn) -> None:
        ticket = self.running
        assert ticket is not None
        self.done.append(f"turn on {self.loaded}")
        self.turns.append((ticket, self.loaded))
        emit = self._broker.emit
        fate = self._next_fate() if self.loaded else "fails"
        if not self.loaded and fate != "dies":
            emit(TurnFailed("no-model", "No model is loaded.", ""))
            return
        if fate == "fails":
            emit(TurnFailed("odd", "It broke.", "Try again."))
        if fate in ("fails", "dies"):
            return
        emit(TurnStarted(10, 0, command.seed or 0))
        for number in range(N_STEPS):
            if self._broker.flag.is_set():
                break
            trace = TokenTrace(number, "target", -1, None, 2 * (number + 1))
            emit(StepCommitted(number, (trace,), "a ", (), 0, 0, 0, 0.1))
            if fate == "dies late" and number == 1:
                self._die()
                return
        reason = "cancelled" if self._broker.flag.is_set() else "eog"
        stats = structs.replace(STATS, n_generated=number + 1)
        tokens = tuple(range(N_STEPS))
        emit(TurnFinished(reason, "a " * N_STEPS, tokens, 7, command.strategy, stats))


class Bench:
    """A chat with one question and its reply, and a comparison of others."""

    def __init__(self, *, private: bool = False, seed: int | None = None) -> None:
        self.client = Puppet()
        self.loader = PairLoader(self.client)
        self.time = 0.0
        numbers = count()
        self.session = ChatSession(
            self.client,
            self.loader,
            defaults=lambda: ReplySettings(SamplingParams(temperature=0.9), 50, seed, "Be brief."),
            new_id=lambda: f"id-{next(numbers)}",
            clock=self.clock,
        )
        self.told: list[tuple[int, str]] = []
        self.n_ended = 0
        self.comparison = ReplyComparison(
            self.client,
            self.session,
            self.loader,
            self,
            fingerprint_of=lambda path: f"print of {path}",
            clock=self.clock,
        )
        self.client.stop = self.comparison.cancel
        self.loader.load(OWN)
        self.client.carry_out()
        self.chat = self.session.conversations.new(private=private)
        self.session.send(self.chat, "What is it?", TurnOptions)
        self.client.carry_out()
        self.question = self.conversation.path()[0].message_id
        self.client.done.clear()
        self.client.turns.clear()

    def clock(self) -> float:
        self.time += 0.25
        return self.time

    @property
    def conversation(self) -> Conversation:
        return self.session.conversations.get(self.chat)

    def side_loading(self, side: int, fraction: float) -> None:
        self.told.append((side, f"loading {fraction}"))

    def side_took(self, side: int, at_s: float, event: TurnEvent) -> None:
        assert at_s >= 0
        self.told.append((side, type(event).__name__))

    def side_failed(self, side: int, error: RunError) -> None:
        self.told.append((side, str(error.message)))

    def comparison_ended(self) -> None:
        self.n_ended += 1

    def start(self, left: Side, right: Side) -> None:
        assert self.comparison.start(self.chat, self.question, (left, right))

    def run(self, left: str = "own", right: str = "own") -> None:
        """Compare off with Auto, on these models."""
        self.start(side("off", left), side("auto", right))
        self.client.carry_out()


def side(strategy: str = "off", pair: str = "own", **changes: object) -> Side:
    options = TurnOptions(Strategy.of(strategy), remember=True, **changes)  # type: ignore[arg-type]
    return Side(options, OTHERS[pair])


@pytest.fixture
def bench() -> Bench:
    return Bench()


# ------------------------------------------------------------------------------ what is asked


def test_both_sides_have_one_prompt_one_seed_and_an_empty_context(bench: Bench) -> None:
    old = bench.session.conversations.reply_of(bench.chat, bench.conversation.path()[1].message_id)
    assert old is not None
    bench.run()
    assert bench.client.done == ["reset", "turn on own.gguf", "reset", "turn on own.gguf"]
    left, right = (ticket.command for ticket, _ in bench.client.turns)
    assert isinstance(left, StartTurn)
    assert isinstance(right, StartTurn)
    assert (left.strategy, right.strategy) == (Strategy.of("off"), Strategy.of("auto"))
    assert left == structs.replace(right, strategy=left.strategy)
    assert left.prompt.messages == (ChatMessage.of_text("user", "What is it?"),)  # type: ignore[union-attr]
    assert left.seed == old.seed
    assert left.earlier == ()
    assert {ticket.priority for ticket, _ in bench.client.turns} == {Priority.PERSON}


def test_a_side_may_have_other_settings_and_the_first_ones_seed_counts(bench: Bench) -> None:
    greedy = ReplySettings(SamplingParams(temperature=0.0), 20, 5, "Be long.")
    bench.start(side(settings=greedy), side(settings=replace(greedy, seed=6)))
    bench.client.carry_out()
    commands = [ticket.command for ticket, _ in bench.client.turns]
    assert [c.seed for c in commands] == [5, 5]  # type: ignore[union-attr]
    assert commands[0].sampling.temperature == 0.0  # type: ignore[union-attr]
    system = commands[0].prompt.messages[0]  # type: ignore[union-attr]
    assert system == ChatMessage.of_text("system", "Be long.")


def test_without_a_seed_both_sides_have_the_same_new_one() -> None:
    bench = Bench()
    bench.session.delete_message(bench.chat, bench.conversation.path()[1].message_id)
    bench.run()
    seeds = {ticket.command.seed for ticket, _ in bench.client.turns}  # type: ignore[union-attr]
    assert len(seeds) == 1
    assert None not in seeds


@pytest.mark.parametrize("private", [False, True])
def test_nothing_is_remembered_and_no_chat_drafts(*, private: bool) -> None:
    bench = Bench(private=private)
    bench.run()
    commands = [ticket.command for ticket, _ in bench.client.turns]
    assert not any(c.remember or c.earlier for c in commands)  # type: ignore[union-attr]


def test_other_models_are_loaded_between_and_the_own_ones_after_it(bench: Bench) -> None:
    bench.run("own", "b")
    assert bench.client.done == [
        *("reset", "turn on own.gguf"),
        *("load b.gguf", "reset", "turn on b.gguf", "load own.gguf"),
    ]
    assert (0, "loading 0.5") not in bench.told
    assert (1, "loading 0.5") in bench.told
    assert bench.loader.state.status == "ready"
    assert bench.loader.state.pair == OWN
    names = [reply.target.file for reply in bench.comparison.replies if reply.target]
    assert names == ["own.gguf", "b.gguf"]


def test_models_of_both_sides_are_loaded_once(bench: Bench) -> None:
    bench.run("b", "b")
    assert bench.client.done == [
        *("load b.gguf", "reset", "turn on b.gguf", "reset", "turn on b.gguf", "load own.gguf")
    ]


def test_meanwhile_the_own_models_count_as_being_loaded_and_a_message_waits(bench: Bench) -> None:
    bench.start(side(pair="own"), side(pair="b"))
    assert bench.loader.state.status == "loading"
    assert bench.loader.state.pair == OWN
    bench.session.send(bench.chat, "And now?", TurnOptions)
    bench.client.carry_out()
    assert bench.client.done[-2:] == ["load own.gguf", "turn on own.gguf"]
    assert bench.conversation.path()[-1].text == "a " * N_STEPS


def test_the_clock_of_a_side_runs_from_the_start_of_its_turn(bench: Bench) -> None:
    assert bench.comparison.elapsed_s(0) is None
    seen: list[tuple[float | None, float | None]] = []
    bench.client.stop = lambda: seen.append(
        (bench.comparison.elapsed_s(0), bench.comparison.elapsed_s(1))
    )
    bench.start(side(), side("auto"))
    bench.time += 100  # in the queue
    bench.client.fates.extend(("works", "is stopped"))
    bench.client.carry_out()
    assert seen == [(None, None)], "the first is over, the second has not begun"
    firsts = [reply.first_token_s for reply in bench.comparison.replies]
    assert all(first is not None and first < 5 for first in firsts)


@pytest.mark.parametrize("status", ["writing", "loading", "nothing"])
def test_it_does_not_begin_while_the_engine_is_needed_or_empty(status: str) -> None:
    bench = Bench()
    if status == "writing":
        bench.session.send(bench.chat, "More?", TurnOptions)
    elif status == "loading":
        bench.loader.load(OWN)
    else:
        bench.loader = PairLoader(bench.client)
        bench.comparison = ReplyComparison(bench.client, bench.session, bench.loader, bench)
    assert bench.comparison.obstacle()
    n_before = len(bench.client.done)
    assert not bench.comparison.start(bench.chat, bench.question, (side(), side()))
    assert len(bench.client.done) == n_before


# ---------------------------------------------------------------------------------- troubles


@pytest.mark.parametrize(
    ("fate", "left", "told"),
    [
        ("fails", "own", "TurnFailed"),
        ("fails", "b", "It is broken."),  # it is not loaded
        ("dies late", "own", "It crashed."),
    ],
)
def test_a_side_that_fails_leaves_the_other_one_alone(
    bench: Bench, fate: Fate, left: str, told: str
) -> None:
    bench.client.fates.append(fate)
    bench.run(left, "own")
    assert (0, told) in bench.told
    assert [reply.status for reply in bench.comparison.replies] == ["failed", "finished"]
    assert (bench.client.loaded, bench.loader.state.status) == ("own.gguf", "ready")


def test_cancel_stops_within_a_step_and_begins_nothing_more(bench: Bench) -> None:
    bench.client.fates.append("is stopped")
    bench.run("own", "b")
    assert bench.client.done == ["reset", "turn on own.gguf", "reset", "load own.gguf"]
    assert [reply.status for reply in bench.comparison.replies] == ["finished", "failed"]
    assert bench.comparison.replies[0].reason == "cancelled"
    assert (1, "The comparison was stopped.") in bench.told


@given(
    left=st.sampled_from(sorted(OTHERS)),
    right=st.sampled_from(sorted(OTHERS)),
    fates=st.lists(
        st.sampled_from(["works", "fails", "dies", "dies late", "is stopped"]), max_size=6
    ),
    has_program=st.booleans(),
)
def test_whatever_happens_it_ends_once_and_the_own_models_are_back(
    left: str, right: str, fates: list[Fate], *, has_program: bool
) -> None:
    bench = Bench()
    client = bench.client
    client.fates.extend(fates)
    bench.start(side("off", left), side("auto", right))
    program = None
    if has_program:
        program = client.request(
            StartTurn(Tokens((1, 2))), Priority.PROGRAM, lambda _event: None, "a program"
        )
    client.carry_out()
    assert bench.n_ended == 1
    assert not bench.comparison.is_running
    assert all(reply.has_ended for reply in bench.comparison.replies)
    for ticket, loaded in client.turns:
        if ticket is program:
            assert loaded in ("own.gguf", ""), "a program's turn never runs on other models"
    wanted = {"own": "own.gguf", "b": "b.gguf", "c": "c.gguf"}
    for reply, name in zip(bench.comparison.replies, (left, right), strict=True):
        if reply.target is not None:
            assert reply.target.file == wanted[name]
    state = bench.loader.state
    if state.status == "ready":
        assert client.loaded == "own.gguf"
        assert state.pair == OWN
    else:
        assert any(fate not in ("works", "is stopped") for fate in fates), (
            "a load of its own failed"
        )


# ------------------------------------------------------------------------------- what is kept


def test_nothing_is_in_the_chat_until_a_reply_is_kept(bench: Bench) -> None:
    before = bench.conversation
    bench.run()
    assert bench.conversation == before
    reply = bench.comparison.replies[1]
    assert bench.session.keep_reply(bench.question, reply)
    versions = bench.conversation.versions(reply.message_id)
    assert [message.message_id for message in versions][-1] == reply.message_id
    assert bench.conversation.path()[-1].text == "a " * N_STEPS
    kept = bench.session.conversations.full_reply(bench.chat, reply.message_id)
    assert kept is not None
    record = to_record(kept)
    assert record == to_record(reply)
    assert (record.strategy, record.seed, len(record.steps)) == ("auto", 7, N_STEPS)
    assert record.target is not None
    assert (record.target.file, record.target.fingerprint) == ("own.gguf", "print of own.gguf")


def test_a_private_chats_reply_is_kept_in_it_alone() -> None:
    bench = Bench(private=True)
    bench.run()
    assert bench.session.keep_reply(bench.question, bench.comparison.replies[0])
    assert bench.session.conversations.is_private(bench.chat)
    assert len(bench.conversation.children(bench.question)) == 2


def test_a_reply_is_not_kept_where_its_question_is_gone(bench: Bench) -> None:
    bench.run()
    bench.session.delete_message(bench.chat, bench.question)
    assert not bench.session.keep_reply(bench.question, bench.comparison.replies[0])
