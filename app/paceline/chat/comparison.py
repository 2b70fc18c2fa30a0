"""Two replies to one question, one after the other: other drafts, other settings, other models.

Both begin with an empty context (`Reset`), have the same prompt and the same seed, so that their
texts are the same where nothing but the drafts differs, and both read the whole prompt. No other
version of the reply drafts, nor do earlier chats, and nothing is remembered. The session knows
nothing of these turns: no chat has them before `ChatSession.keep_reply` is called.

All commands are queued at once, the load of other models and the reload of the window's own models
included. So no other program's turn runs with models that are loaded only for the comparison, and
the window's models come back however it ends. Meanwhile their state is "loading", and requests
wait. After the engine's death the next engine carries out the loads; a turn that had not begun is
queued again. On the session's thread.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

from paceline import __version__
from paceline.chat.pair import Pair, PairLoader
from paceline.chat.prompt import build_messages
from paceline.chat.reply import Reply, TurnOptions, model_record
from paceline.chat.session import ChatSession
from paceline.codec import made_of
from paceline.conversation import answer_to
from paceline.hosting.broker import Priority, Ticket
from paceline.hosting.client import EngineClient
from paceline.messages import (
    Chat,
    EngineDied,
    Event,
    LoadFailed,
    LoadProgressed,
    ModelInfo,
    PairLoaded,
    Reset,
    StartTurn,
    TurnEvent,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from paceline.run_record import RunError
from paceline.sentence import UserText, sentence

ASKER = "comparison"
STOPPED = RunError("stopped", sentence("The comparison was stopped."))


@dataclass(frozen=True, slots=True)
class Side:
    """One side: the options of its reply, and its models, or None for the loaded ones."""

    options: TurnOptions
    pair: Pair | None = None


class ComparisonListener(Protocol):
    """Shows the comparison; called on the session's thread. Sides are 0 and 1."""

    def side_loading(self, side: int, fraction: float) -> None:
        """The models of a side are being loaded; 0..1 of one of them."""

    def side_took(self, side: int, at_s: float, event: TurnEvent) -> None:
        """An event of a side's turn, `at_s` seconds after its start."""

    def side_failed(self, side: int, error: RunError) -> None:
        """A side has ended by an error, without an event of its turn."""

    def comparison_ended(self) -> None:
        """Both sides have ended."""


@dataclass(slots=True, eq=False)
class _Turn:
    """A side's turn."""

    side: Side
    command: StartTurn
    reply: Reply
    ticket: Ticket | None = None
    load: Ticket | None = None
    began_s: float | None = None
    models: tuple[ModelInfo | None, ModelInfo | None] = (None, None)


@dataclass(slots=True, eq=False)
class _Run:
    turns: list[_Turn] = field(default_factory=list)
    is_cancelled: bool = False


class ReplyComparison:
    """Runs a comparison; at most one at a time."""

    def __init__(
        self,
        client: EngineClient,
        session: ChatSession,
        pair: PairLoader,
        listener: ComparisonListener,
        *,
        fingerprint_of: Callable[[str], str] = lambda _: "",
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._client, self._session, self._pair = client, session, pair
        self._listener = listener
        self._fingerprint_of = fingerprint_of
        self._clock = clock
        self._run = _Run()

    @property
    def is_running(self) -> bool:
        """Return whether a comparison is under way."""
        return not all(turn.reply.has_ended for turn in self._run.turns)

    @property
    def replies(self) -> tuple[Reply, ...]:
        """Return the replies of the last comparison, as far as they exist."""
        return tuple(turn.reply for turn in self._run.turns)

    def obstacle(self) -> UserText:
        """Return why nothing can be compared now, or empty if it can."""
        if self.is_running:
            return sentence("A comparison is under way.")
        if self._session.active is not None:
            return sentence("A reply is being written.")
        if self._pair.state.status == "loading":
            return sentence("Models are being loaded.")
        return "" if self._pair.state.pair is not None else sentence("No model is loaded.")

    def elapsed_s(self, side: int) -> float | None:
        """Return the seconds since a side's turn began, or None if it has not, or is over."""
        turn = self._run.turns[side] if self.is_running else None
        if turn is None or turn.began_s is None or turn.reply.has_ended:
            return None
        return self._clock() - turn.began_s

    def start(self, conversation_id: str, question_id: str, sides: Sequence[Side]) -> bool:
        """Generate two replies to a question; return False if there is an `obstacle`.

        The seed is that of the first side's settings, else of the existing reply, else random.

        Raises:
            UserError: The chat is not there any more, or cannot be read.
        """
        if self.obstacle():
            return False
        conversations = self._session.conversations
        chat, known = conversations.get(conversation_id), conversations.known_in(conversation_id)
        answer = answer_to(chat, question_id)
        old = conversations.reply_of(conversation_id, answer.message_id) if answer else None
        seeds = (sides[0].options.settings.seed, old.seed if old else None, secrets.randbits(32))
        seed = next(seed for seed in seeds if seed is not None)
        self._run = run = _Run()
        for side in sides:
            settings = replace(side.options.settings, seed=seed)
            # Among the chats that are remembered is this one, with an answer to copy.
            options = replace(side.options, settings=settings, remember=False)
            prompt = build_messages(chat.path_to(question_id), settings.system_prompt, known)
            command = made_of(
                StartTurn,
                settings,
                prompt=Chat(prompt, options.prompting, options.cuts),
                strategy=options.strategy,
            )
            reply = Reply(
                conversations.new_id(), conversation_id, options,
                strategy=options.strategy, app_version=__version__,
            )  # fmt: skip
            turn = _Turn(side, command, reply)
            self._note_own(turn)
            run.turns.append(turn)
        self._queue(run.turns)
        return True

    def cancel(self) -> None:
        """Stop the running turn within a step, and begin no further one."""
        if self._run.is_cancelled:
            return
        self._run.is_cancelled = True
        for turn in reversed(self._run.turns):
            for ticket in (turn.load, turn.ticket):
                if ticket is not None:
                    ticket.cancel()

    # ------------------------------------------------------------------------------- private

    def _queue(self, turns: Sequence[_Turn]) -> None:
        """Queue these turns, each after the load of its models if others are loaded."""
        own = self._pair.state
        there = own.pair if own.status == "ready" else None
        for turn in turns:
            wanted = turn.side.pair or own.pair
            if wanted != there and wanted == own.pair:
                self._pair.reload()
            elif wanted is not None and wanted != there and not _waits(turn.load):
                hear = partial(self._on_load, turn)
                load = self._pair.command(wanted)
                turn.load = self._client.request(load, Priority.PERSON, hear, ASKER)
            there = wanted
            self._client.request(Reset(keeps_rates=True), asker=ASKER)
            hear = partial(self._on_event, turn)
            turn.ticket = self._client.request(turn.command, Priority.PERSON, hear, ASKER)
        if there != own.pair:
            self._pair.reload()

    def _on_load(self, turn: _Turn, event: Event) -> None:
        side = self._run.turns.index(turn) if turn in self._run.turns else -1
        if side < 0 or turn.reply.has_ended:
            return
        match event:
            case LoadProgressed():
                self._listener.side_loading(side, event.fraction)
            case PairLoaded():
                for each in self._run.turns:
                    if each.side.pair == turn.side.pair:
                        each.models = event.target, event.draft
            case LoadFailed():
                error = RunError(event.code, event.message, event.hint)
                for each in self._run.turns:
                    if each.side.pair == turn.side.pair:
                        self._fail(each, STOPPED if self._run.is_cancelled else error)

    def _on_event(self, turn: _Turn, event: Event) -> None:
        reply = turn.reply
        if turn not in self._run.turns or reply.has_ended:
            return
        if isinstance(event, EngineDied):
            if turn.began_s is None and not self._run.is_cancelled and not reply.waits_again:
                reply.waits_again = True
                self._queue([turn])
            else:
                self._fail(turn, RunError("engine-died", event.reason, event.hint))
            return
        if not isinstance(event, TurnEvent):
            return
        if isinstance(event, TurnStarted):
            self._begin(turn)
        elif turn.began_s is None and isinstance(event, TurnFailed) and self._run.is_cancelled:
            self._fail(turn, STOPPED)
            return
        now = self._clock()
        reply.grow(event, now)
        match event:
            case TurnFinished():
                reply.status = "finished"
            case TurnFailed():
                reply.status = "failed"
                reply.error = RunError(event.code, event.message, event.hint)
        at_s = now - turn.began_s if turn.began_s is not None else 0.0
        if isinstance(event, TurnFinished):
            at_s = event.stats.total_s  # this thread may have been late with some events
        self._listener.side_took(self._run.turns.index(turn), at_s, event)
        self._look_for_end(turn)

    def _note_own(self, turn: _Turn) -> None:
        """Note which models are loaded, where they are the turn's and not about to be replaced."""
        state = self._pair.state
        if state.target is not None and turn.side.pair in (None, state.pair):
            turn.models = state.target, state.draft

    def _begin(self, turn: _Turn) -> None:
        """Start the turn's clock: it is no longer waiting in the queue."""
        reply = turn.reply
        self._note_own(turn)
        reply.target, reply.draft = (
            model_record(info, self._fingerprint_of(info.path)) if info else None
            for info in turn.models
        )
        turn.began_s = reply.submitted_s = self._clock()
        reply.started_s = self._session.conversations.now()

    def _fail(self, turn: _Turn, error: RunError) -> None:
        if turn.reply.has_ended:
            return
        turn.reply.status, turn.reply.error = "failed", error
        self._listener.side_failed(self._run.turns.index(turn), error)
        self._look_for_end(turn)

    def _look_for_end(self, turn: _Turn) -> None:
        if not turn.reply.has_ended or self.is_running:
            return
        if self._pair.state.status == "dead":
            self._pair.reload()
        self._listener.comparison_ended()


def _waits(ticket: Ticket | None) -> bool:
    """Return whether a load that survived the engine's death is still to come."""
    return ticket is not None and ticket.state == "waiting"
