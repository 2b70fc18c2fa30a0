"""The reply that is under way, and the one place that hears the engine.

The session owns the turn. It hands commands to an `EngineClient` and takes every event in
`on_event`, on the thread that owns the client; events of a turn that is not its own are dropped,
so a late event can never write into another reply. A reply that is asked for before the models are
ready waits for them here, because a turn that was queued behind a failing load could only fail.

What was said is handed to the store before the engine hears of it, and a reply step by step; so
whatever ends the program, the question and what was shown of the reply are kept. The store puts
steps together that come close to each other.
"""

from __future__ import annotations

import time
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, assert_never

from paceline import __version__
from paceline.chat.desk import Desk
from paceline.chat.growth import grow
from paceline.chat.memory_store import MemoryStore
from paceline.chat.records import model_record, to_record
from paceline.chat.reply import Reply, ReplyError, TurnOptions
from paceline.chat.turns import start_turn
from paceline.conversation import Message
from paceline.errors import UserError
from paceline.hosting.deaths import NOT_STARTED
from paceline.messages import (
    Calibrated,
    ControlReported,
    EngineDescribed,
    EngineDied,
    FiguresReported,
    Forgotten,
    LoadFailed,
    LoadProgressed,
    PairLoaded,
    PrefillProgressed,
    SamenessChanged,
    StepCommitted,
    TextDiverged,
    TokensCounted,
    TuneApplied,
    TuneRejected,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    Unloaded,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from paceline.chat.growth import TurnEvent
    from paceline.chat.pair import PairLoader
    from paceline.chat.recording import Recording
    from paceline.chat.store import ConversationStore
    from paceline.hosting.client import EngineClient
    from paceline.messages import Event, ModelInfo


def _new_id() -> str:
    return uuid.uuid4().hex


def _unknown(path: str) -> str:
    del path
    return ""


class Turns(Desk):
    """The part of a session that talks with the engine; at most one reply is under way."""

    def __init__(
        self,
        client: EngineClient,
        pair: PairLoader,
        options: Callable[[], TurnOptions],
        *,
        store: ConversationStore | None = None,
        fingerprint_of: Callable[[str], str] = _unknown,
        new_id: Callable[[], str] = _new_id,
        clock: Callable[[], float] = time.perf_counter,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Make a session; nothing is asked of the engine yet.

        Args:
            client: Where commands go.
            pair: The models.
            options: What the next reply is generated with; asked when one begins.
            store: Where conversations are kept; None: in memory.
            fingerprint_of: The fingerprint of a model's file by its path, at once; empty: not
                known, or not yet.
            new_id: Makes ids.
            clock: Seconds that only go forward.
            now: Seconds since the epoch.
        """
        super().__init__(store if store is not None else MemoryStore(), new_id, now)
        self._client = client
        self._pair = pair
        self._options = options
        self._fingerprint_of = fingerprint_of
        self._clock = clock
        self._is_submitted = self._is_greedy = self._is_recorded = False
        self._models: tuple[ModelInfo | None, ModelInfo | None] = (None, None)
        self._engine_version = ""
        self._observers: list[Callable[[Event], None]] = []

    # -------------------------------------------------------------------------------- events

    def add_observer(self, observer: Callable[[Event], None]) -> None:
        """Let somebody see every event, before it is carried out here; also of foreign turns."""
        self._observers.append(observer)

    def on_event(self, event: Event) -> None:
        """Take one event of the engine."""
        for observer in tuple(self._observers):
            observer(event)
        match event:
            case LoadProgressed() | PairLoaded() | LoadFailed() | Unloaded():
                self._pair.on_event(event)
                self._on_pair_event(event)
            case EngineDied():
                self._on_death(event)
            case EngineDescribed():
                self._engine_version = event.library_version
                if self._listener is not None:
                    self._listener.engine_described(event)
            case SamenessChanged():
                self._pair.on_event(event)
            case TokensCounted() | Calibrated():
                pass  # of interest to observers alone
            case Forgotten():
                if self._shelf.is_purged(event.chat) and not event.problem:
                    self._shelf.purge(event.chat)
            case _:
                reply = self._active
                if reply is not None and self._is_submitted and event.turn_id == reply.turn_id:
                    self._on_turn_event(reply, event)

    def _on_pair_event(self, event: LoadProgressed | PairLoaded | LoadFailed | Unloaded) -> None:
        if self._active is None or self._is_submitted:
            return
        state = self._pair.state
        if state.status == "ready":
            self._ask_again(self._active)
            self._submit(self._active)
        elif state.status == "failed":
            hint = event.hint if isinstance(event, LoadFailed) else ""
            if isinstance(event, LoadFailed) and event.code == NOT_STARTED:
                hint = ""  # for how long it is not started is soon out of date; a notice tells it
            self._fail(self._active, "no-model", state.problem, hint)

    def _on_death(self, death: EngineDied) -> None:
        self._pair.on_event(death)
        reply = self._active
        if reply is not None and not self._is_recorded:
            may_wait = reply.status == "waiting" and not (reply.stopping or reply.waits_again)
            if may_wait and self._pair.reload():
                # It died before the reply began, perhaps long ago while it had nothing to do.
                reply.waits_again, self._is_submitted = True, False
                reply.submitted_s = None
            else:
                self._fail(reply, "engine-died", death.reason, death.hint)
        if self._listener is not None:
            self._listener.engine_died(death)

    def _on_turn_event(self, reply: Reply, event: TurnEvent) -> None:
        grow(reply, event, self._clock())
        match event:
            case TurnStarted() | PrefillProgressed():
                self._tell_progress(reply)
            case StepCommitted():
                if not self._shelf.is_purged(reply.conversation_id):
                    self._shelf.store.extend_run(reply.message_id, event.text, (event,))
                if self._listener is not None:
                    self._listener.reply_grew(reply, event)
            case TuneApplied() | TuneRejected():
                if self._listener is not None:
                    self._listener.tune_answered(reply, event)
            case TurnFinished():
                self._end(reply, "finished")
            case TurnFailed():
                self._fail(reply, event.code, event.message, event.hint)
            case ControlReported() | FiguresReported() | TextDiverged():
                pass  # observers show the one, and chats compare with nothing
            case _:
                assert_never(event)

    # --------------------------------------------------------------------------------- turns

    def _start_reply(
        self,
        question_id: str,
        *,
        shows_again: bool = False,
        greedy: bool = False,
        recording: Recording | None = None,
    ) -> Reply:
        self._is_greedy, self._is_recorded = greedy, recording is not None
        options = self._now_asked() if recording is None else TurnOptions(recording.strategy)
        answer = Message(self._new_id(), question_id, "assistant", "", self._now())
        reply = Reply(
            self._new_id(),
            answer.message_id,
            self.current.conversation_id,
            options,
            strategy=options.strategy,
            app_version=__version__,
        )
        self._replies[answer.message_id] = reply
        self._active, self._is_submitted = reply, False
        self._shelf.put(self.current.add(answer), (answer.message_id,))
        self._shelf.store.begin_run(reply.conversation_id, to_record(reply))
        self._tell_conversations()
        if self._listener is not None:
            if shows_again:
                self._listener.conversation_shown(self.current)
            self._listener.reply_started(reply)
        if recording is None:
            self._begin(reply)
        else:
            self._is_submitted, self._models = True, (recording.target, None)
            reply.submitted_s, reply.started_s = self._clock(), self._now()
        return reply

    def _begin(self, reply: Reply) -> None:
        """Submit now, or when the models are there; load them again if they are gone."""
        status = self._pair.state.status
        if status == "ready":
            self._submit(reply)
        elif status != "loading" and not self._pair.reload():
            self._fail(reply, "no-model", "No model is loaded.", "Open one in the Models menu.")

    def _now_asked(self) -> TurnOptions:
        """What the settings ask for, and greedily where the reply is to be so."""
        options = self._options()
        if not self._is_greedy:
            return options
        return replace(options, sampling=replace(options.sampling, temperature=0.0))

    def _ask_again(self, reply: Reply) -> None:
        """What fitted when the reply was asked for need not fit the pair that came."""
        options, seed = self._now_asked(), reply.options.seed
        reply.options = options if seed is None else replace(options, seed=seed)
        reply.strategy = options.strategy

    def _submit(self, reply: Reply) -> None:
        try:
            conversation = self._shelf.get(reply.conversation_id)
        except UserError as error:  # another window may have deleted it
            self._fail(reply, error.code, error.message, error.hint)
            return
        self._is_submitted = True
        self._models = (self._pair.state.target, self._pair.state.draft)
        reply.submitted_s, reply.started_s = self._clock(), self._now()
        reply.engine_version = self._engine_version
        self._note_models(reply)
        self._shelf.store.begin_run(reply.conversation_id, to_record(reply))
        self._client.submit(start_turn(reply, conversation))

    def _note_models(self, reply: Reply) -> None:
        target, draft = self._models
        reply.target = model_record(target, self._fingerprint_of)
        reply.draft = model_record(draft, self._fingerprint_of)

    def _fail(self, reply: Reply, code: str, message: str, hint: str) -> None:
        reply.error = ReplyError(code, message, hint)
        reply.stats = None  # the last ones tell of fewer tokens than it has
        self._end(reply, "failed")

    def _give_up(self, reply: Reply) -> None:
        """End a reply of which nothing more will come; what it has is kept."""
        reply.reason, reply.stats = "cancelled", None
        self._end(reply, "finished")

    def _end(self, reply: Reply, status: Literal["finished", "failed"]) -> None:
        reply.status = status
        if self._is_submitted:
            self._note_models(reply)  # fingerprints may have become known meanwhile
        self._active, self._is_submitted = None, False
        self._shelf.end(reply.conversation_id, to_record(reply), reply.text)
        self._tell_conversations()
        if self._listener is not None:
            self._listener.reply_ended(reply)

    def _tell_progress(self, reply: Reply) -> None:
        if self._listener is not None:
            self._listener.reply_progressed(reply)
