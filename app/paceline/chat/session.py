"""The use cases of a chat: send, regenerate, stop, new; and the one place that hears the engine.

The session owns the turn. It hands commands to an `EngineClient` and takes every event in
`on_event`, on the thread that owns the client; events of a turn that is not its own are dropped,
so a late event can never write into another reply. It knows no widgets: a `SessionListener` shows
what happens. A reply that is asked for before the models are ready waits for them here, because a
turn that was queued behind a failing load could only fail.
"""

from __future__ import annotations

import time
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, assert_never

from paceline.chat.desk import Desk
from paceline.chat.reply import Reply, ReplyError, TurnOptions
from paceline.chat.turns import start_turn
from paceline.conversation import Conversation, Message
from paceline.hosting.deaths import NOT_STARTED
from paceline.messages import (
    DescribeEngine,
    EngineDescribed,
    EngineDied,
    LoadFailed,
    LoadProgressed,
    PairLoaded,
    PrefillProgressed,
    StepCommitted,
    Tune,
    TuneApplied,
    TuneRejected,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    Unloaded,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from paceline.chat.pair import PairLoader
    from paceline.hosting.client import EngineClient
    from paceline.messages import Event

TurnEvent = (
    TurnStarted
    | PrefillProgressed
    | StepCommitted
    | TuneApplied
    | TuneRejected
    | TurnFinished
    | TurnFailed
)


def _new_id() -> str:
    return uuid.uuid4().hex


class ChatSession(Desk):
    """Conversations in memory, one of them current, and at most one reply under way."""

    def __init__(
        self,
        client: EngineClient,
        pair: PairLoader,
        options: Callable[[], TurnOptions],
        *,
        new_id: Callable[[], str] = _new_id,
        clock: Callable[[], float] = time.perf_counter,
        now: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(new_id, now)
        self._client = client
        self._pair = pair
        self._options = options
        self._new_id = new_id
        self._clock = clock
        self._replies: dict[str, Reply] = {}
        self._active: Reply | None = None
        self._is_submitted = False
        self._plain_tokens_per_s: float | None = None

    # ------------------------------------------------------------------------------- reading

    @property
    def active(self) -> Reply | None:
        """The reply that is under way."""
        return self._active

    def reply_of(self, message_id: str) -> Reply | None:
        """What is known of the reply in this message; None for others' words."""
        return self._replies.get(message_id)

    # ----------------------------------------------------------------------------- use cases

    def describe_engine(self) -> None:
        """Ask for versions and devices."""
        self._client.submit(DescribeEngine())

    def send(self, text: str) -> bool:
        """Add a message of the user and start its reply; False if blank or one is under way."""
        if self._active is not None or not text.strip():
            return False
        text = text.strip().encode(errors="replace").decode()  # half an emoji may be pasted
        question = Message(self._new_id(), self.current.leaf_id, "user", text)
        self._store(self.current.add(question))
        self._start_reply(question.message_id)
        return True

    def regenerate(self) -> bool:
        """Answer the last question once more, beside the old reply; False if there is none."""
        questions = [m for m in self.current.path() if m.role == "user"]
        if self._active is not None or not questions:
            return False
        self._start_reply(questions[-1].message_id, shows_again=True)
        return True

    def stop(self) -> None:
        """Stop the reply that is under way; its text so far stays."""
        reply = self._active
        if reply is None or reply.stopping:
            return
        reply.stopping = True
        if self._is_submitted:
            self._client.cancel(reply.turn_id)
            self._tell_progress(reply)
        else:
            reply.reason = "cancelled"
            self._end(reply, "finished")

    def tune(self, strategy: str) -> bool:
        """Change the running reply from its next step on; False when none is running."""
        if self._active is None:
            return False
        if self._is_submitted:
            self._client.submit(Tune(self._active.turn_id, strategy))
        else:
            self._active.strategy = strategy  # the options are asked for again then
        return True

    def take_back(self, reply: Reply) -> str:
        """Forget a reply that failed before it began; returns its question if that is gone, too."""
        if not reply.has_ended or reply.steps or reply.conversation_id not in self.conversations:
            return ""
        question = self._shelf.take_back(reply.conversation_id, reply.message_id)
        del self._replies[reply.message_id]
        self._tell_conversations()
        self._show(self.current)
        return question

    def remove(self, conversation_id: str) -> Conversation:
        """Take a conversation out; a reply under way in it is stopped. `restore` brings it back."""
        if self._active is not None and self._active.conversation_id == conversation_id:
            self.stop()
        was_shown = conversation_id == self.current.conversation_id
        removed = self._shelf.remove(conversation_id)
        self._tell_conversations()
        if was_shown:
            self._show(self.current)
        return removed

    def restore(self, conversation: Conversation) -> None:
        """Bring a removed conversation back and show it."""
        for message_id in conversation.messages:  # a reply may have ended after the removal
            reply = self._replies.get(message_id)
            if reply is not None and reply.has_ended:
                conversation = conversation.with_content(message_id, reply.text)
        self._store(conversation)
        self._show(conversation)

    # -------------------------------------------------------------------------------- events

    def on_event(self, event: Event) -> None:
        """Take one event of the engine."""
        match event:
            case LoadProgressed() | PairLoaded() | LoadFailed() | Unloaded():
                self._pair.on_event(event)
                self._on_pair_event(event)
            case EngineDied():
                self._on_death(event)
            case EngineDescribed():
                if self._listener is not None:
                    self._listener.engine_described(event)
            case _:
                reply = self._active
                if reply is not None and self._is_submitted and event.turn_id == reply.turn_id:
                    self._on_turn_event(reply, event)

    def _on_pair_event(self, event: LoadProgressed | PairLoaded | LoadFailed | Unloaded) -> None:
        if isinstance(event, PairLoaded):
            self._plain_tokens_per_s = None  # it was another pair's
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
        if reply is not None:
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
        match event:
            case TurnStarted():
                reply.status = "prefill"
                reply.n_prompt, reply.n_prefilled = event.n_prompt, event.n_reused
                reply.seed, reply.notes = event.seed, event.notes
                self._tell_progress(reply)
            case PrefillProgressed():
                reply.n_prefilled, reply.n_prompt = event.n_done, event.n_total
                self._tell_progress(reply)
            case StepCommitted():
                self._grow(reply, event)
            case TuneApplied() | TuneRejected():
                if isinstance(event, TuneApplied):
                    reply.strategy = event.strategy
                if self._listener is not None:
                    self._listener.tune_answered(reply, event)
            case TurnFinished():
                reply.text, reply.reason, reply.stats = event.text, event.reason, event.stats
                reply.seed, reply.strategy = event.seed, event.strategy
                if event.stats.plain_tokens_per_s is not None:
                    self._plain_tokens_per_s = event.stats.plain_tokens_per_s
                reply.plain_tokens_per_s = self._plain_tokens_per_s
                self._end(reply, "finished")
            case TurnFailed():
                self._fail(reply, event.code, event.message, event.hint)
            case _:
                assert_never(event)

    def _grow(self, reply: Reply, step: StepCommitted) -> None:
        if reply.first_token_s is None and reply.submitted_s is not None:
            reply.first_token_s = self._clock() - reply.submitted_s
        reply.status = "decoding"
        reply.text += step.text
        reply.traces.extend(step.tokens)
        reply.steps.append(step)
        if self._listener is not None:
            self._listener.reply_grew(reply, step)

    # --------------------------------------------------------------------------------- turns

    def _start_reply(self, question_id: str, *, shows_again: bool = False) -> None:
        options = self._options()
        answer = Message(self._new_id(), question_id, "assistant", "")
        reply = Reply(
            self._new_id(),
            answer.message_id,
            self.current.conversation_id,
            options,
            strategy=options.strategy,
            plain_tokens_per_s=self._plain_tokens_per_s,
        )
        self._replies[answer.message_id] = reply
        self._active, self._is_submitted = reply, False
        self._store(self.current.add(answer))
        if self._listener is not None:
            if shows_again:
                self._listener.conversation_shown(self.current)
            self._listener.reply_started(reply)
        self._begin(reply)

    def _begin(self, reply: Reply) -> None:
        """Submit now, or when the models are there; load them again if they are gone."""
        status = self._pair.state.status
        if status == "ready":
            self._submit(reply)
        elif status != "loading" and not self._pair.reload():
            self._fail(reply, "no-model", "No model is loaded.", "Open one in the Models menu.")

    def _ask_again(self, reply: Reply) -> None:
        """What fitted when the reply was asked for need not fit the pair that came."""
        options, seed = self._options(), reply.options.seed
        reply.options = options if seed is None else replace(options, seed=seed)
        reply.strategy = options.strategy

    def _submit(self, reply: Reply) -> None:
        self._is_submitted = True
        reply.submitted_s = self._clock()
        conversation = self.conversations[reply.conversation_id]
        path = conversation.path_to(conversation.messages[reply.message_id].parent_id)
        self._client.submit(start_turn(reply, path))

    def _fail(self, reply: Reply, code: str, message: str, hint: str) -> None:
        reply.error = ReplyError(code, message, hint)
        self._end(reply, "failed")

    def _end(self, reply: Reply, status: Literal["finished", "failed"]) -> None:
        reply.status = status
        self._active, self._is_submitted = None, False
        self._shelf.fill_in(reply.conversation_id, reply.message_id, reply.text)
        self._tell_conversations()
        if self._listener is not None:
            self._listener.reply_ended(reply)

    def _tell_progress(self, reply: Reply) -> None:
        if self._listener is not None:
            self._listener.reply_progressed(reply)
