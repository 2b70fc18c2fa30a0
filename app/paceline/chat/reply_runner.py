"""The reply that is under way: hands it to the engine, and takes the engine's events for it.

Events come by the ticket of the reply's turn, so a late one can never write into another reply. A
reply that is asked for before the models are ready waits for them here, because a turn that was
queued after a failing load could only fail.

The question and the place of its answer are handed to the store together, before the engine gets
them, and the reply step by step; so however the program ends, the question and the reply as far as
it was shown are kept. The store puts steps together that come close to each other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

from paceline import __version__
from paceline.chat.conversations import Conversations
from paceline.chat.pair import PairLoader
from paceline.chat.prompt import KnownOf, build_messages, nothing_known
from paceline.chat.reply import AskOptions, Reply, TurnOptions, drawn_like, model_record
from paceline.codec import made_of
from paceline.content import of_text
from paceline.conversation import Conversation, Message
from paceline.engine.model.model_file import OVERWRITTEN
from paceline.errors import UserError
from paceline.hosting.broker import Ticket
from paceline.hosting.client import EngineClient
from paceline.hosting.exit_reasons import NOT_STARTED
from paceline.messages import (
    Chat,
    ControlReported,
    EarlierReply,
    EngineDescribed,
    EngineDied,
    Event,
    LoadFailed,
    LoadProgressed,
    ModelInfo,
    PairLoaded,
    PrefillProgressed,
    StartTurn,
    StateOwner,
    StepCommitted,
    Strategy,
    TuneApplied,
    TuneRejected,
    TurnEvent,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    Unloaded,
)
from paceline.params import ReplySettings
from paceline.run_record import CLOSED, RunError

_MAX_VERSIONS = 4
"""Upper bound of the versions of a reply that draft the next one."""
_MAX_CHARS = 200_000
"""Upper bound of the characters of each; the drafter keeps 32,768 tokens, and a megabyte takes 0.3
s."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """The sampling of a reply, where it differs from the settings.

    Attributes:
        greedy: Take the likeliest token each time, regardless of the settings.
        continued: Another reply to the question, with which it begins.
        replaced: The reply that it takes the place of: it drafts, as its other versions do.
        keeps: Whether it has the seed of that one, unless the settings have another.
        like: Use the sampling and strategy of these options in place of the current ones.
    """

    greedy: bool = False
    continued: Message | None = None
    replaced: Message | None = None
    keeps: bool = False
    like: TurnOptions | None = None


class SessionListener:
    """Callbacks for changes of chats; the methods of this base class do nothing."""

    def conversations_changed(self) -> None:
        """The list has changed: a conversation came or went, or its line is different."""

    def path_changed(self, conversation: Conversation) -> None:
        """Called when another path of this conversation is active, or it has other messages."""

    def details_changed(self, conversation: Conversation) -> None:
        """This conversation has another title or other flags; its path is the same."""

    def conversation_removed(self, conversation_id: str, *, was_refused: bool) -> None:
        """This conversation is gone.

        Args:
            conversation_id: Its id.
            was_refused: Whether the engine refused its only question; what is set in it may have
                to be corrected then.
        """

    def reply_started(self, reply: Reply) -> None:
        """A message was sent; its reply is waiting for the first token."""

    def reply_progressed(self, reply: Reply) -> None:
        """The reply's status or the number of prefilled tokens has changed."""

    def reply_grew(self, reply: Reply, step: StepCommitted) -> None:
        """One step was committed; the reply has it already."""

    def reply_ended(self, reply: Reply) -> None:
        """The reply is complete, was stopped, or failed."""

    def tune_answered(self, reply: Reply, answer: TuneApplied | TuneRejected) -> None:
        """The engine took or refused a change of the running turn."""

    def auto_reported(self, reply: Reply, report: ControlReported) -> None:
        """Auto reports its measurements so far, in the turn of this reply."""

    def engine_described(self, description: EngineDescribed) -> None:
        """Versions and devices are known."""

    def engine_died(self, death: EngineDied) -> None:
        """The engine has died; the next message starts it again."""


class ReplyRunner:
    """Runs one reply at a time.

    Attributes:
        listener: Gets the events of the reply.
        engine_version: llama-cpp-python's version; empty until known.
        active: The reply that is under way.

    Args:
        client: Client of the engine.
        pair: The models; loaded again if they are gone.
        conversations: Gets the reply's message, text and record.
        fingerprint_of: The fingerprint of a model's file by its path, at once, or empty if not
            known, or not yet.
        clock: Monotonic seconds.
        on_begin: Called with its chat when the engine begins with a reply, before it drafts.
        on_end: Called with its chat when a reply has ended, after the listener.
    """

    def __init__(
        self,
        client: EngineClient,
        pair: PairLoader,
        conversations: Conversations,
        *,
        fingerprint_of: Callable[[str], str],
        clock: Callable[[], float],
        on_begin: Callable[[str], None],
        on_end: Callable[[str], None],
    ) -> None:
        self.listener = SessionListener()
        self.engine_version = ""
        self._client = client
        self._pair = pair
        self._conversations = conversations
        self._options: AskOptions = TurnOptions
        self._fingerprint_of = fingerprint_of
        self._clock = clock
        self._on_begin = on_begin
        self._on_end = on_end
        self._ticket: Ticket | None = None
        self.active: Reply | None = None
        self._is_submitted = False
        self._like: TurnOptions | None = None
        self._told: Strategy | None = None  # the strategy last sent to the engine
        self._models: tuple[ModelInfo | None, ModelInfo | None] = (None, None)

    # ------------------------------------------------------------------------------ starting

    def start(
        self,
        conversation: Conversation,
        question_id: str,
        options: AskOptions,
        drawing: Drawing | None = None,
        *,
        is_new_path: bool = False,
    ) -> Reply:
        """Start a reply in an open conversation; none may be under way.

        Args:
            conversation: Its value, with the question; both messages are put together.
            question_id: The message that it answers.
            options: Options of the reply besides the conversation's settings.
            drawing: Sampling that differs from the settings; None means the settings.
            is_new_path: Whether the path branches off, which the listener is notified of.
        """
        drawing = drawing or Drawing()
        chat_id, self._options = conversation.conversation_id, options
        continued, replaced = drawing.continued, drawing.replaced
        self._like = drawing.like
        settings = self._conversations.sent_settings(chat_id)
        if drawing.greedy:
            sampling = replace(settings.sampling, temperature=0.0)
            settings = replace(settings, sampling=sampling)
        old = self._full_reply(conversation, replaced) if replaced else None
        if drawing.keeps and old is not None and settings.seed is None:
            settings = replace(settings, seed=old.seed)
        asked = self._asked_options(chat_id, settings)
        answer = self._conversations.new_message("assistant", of_text(""), question_id)
        reply = Reply(answer.message_id, chat_id, asked, app_version=__version__)
        reply.ask(asked)
        if continued is not None:
            reply.go_on_after(continued.text, self._full_reply(conversation, continued))
        first = replaced or continued
        if first is not None:
            reply.earlier = self._versions(conversation, first, question_id, asked)
        self.active, self._is_submitted = reply, False
        current, kept = conversation.add(answer), self._conversations.get(chat_id).messages
        question = () if question_id in kept else (question_id,)
        self._conversations.put(current, (*question, answer.message_id))
        self._conversations.add_reply(reply)
        is_ready = self._pair.state.status == "ready"
        if not is_ready:
            self._conversations.begin_run(reply)
        self.listener.conversations_changed()
        if is_new_path:
            self.listener.path_changed(current)
        self.listener.reply_started(reply)
        if is_ready:
            self._submit(reply)
        elif self._pair.state.status != "loading" and not self._pair.reload():
            self._fail(
                reply, RunError("no-model", "No model is loaded.", "Open one in the Models menu.")
            )
        return reply

    def _full_reply(self, conversation: Conversation, message: Message) -> Reply | None:
        return self._conversations.full_reply(conversation.conversation_id, message.message_id)

    def _versions(
        self, conversation: Conversation, first: Message, question_id: str, options: TurnOptions
    ) -> tuple[EarlierReply, ...]:
        """Return a reply and the newest of its other versions."""
        others = [m for m in conversation.siblings(first.message_id) if m != first]
        found = []
        for message in (first, *others[:-_MAX_VERSIONS:-1]):
            reply = self._full_reply(conversation, message)
            traces = reply.traces if reply is not None else ()
            text = message.text[:_MAX_CHARS]
            seed = reply.seed if reply is not None else None
            repeats = options.settings.sampling.temperature == 0 or (
                seed is not None and seed == options.settings.seed
            )
            same_prompt = message.parent_id == question_id and (
                reply is None or self._is_alike(reply, options)
            )
            tokens = tuple(trace.token for trace in traces)
            found.append(EarlierReply(tokens, text, repeats, same_prompt))
        return tuple(version for version in found if version.text)

    def _is_alike(self, reply: Reply, options: TurnOptions) -> bool:
        """Return whether a reply's prompt was made alike and, if known, for the same target."""
        target, then, old = self._pair.state.target, reply.target, reply.options
        return (
            (target is None or then is None or then.file == Path(target.path).name)
            and old.prompting == options.prompting
            and old.settings.system_prompt == options.settings.system_prompt
        )

    def _asked_options(self, conversation_id: str, settings: ReplySettings) -> TurnOptions:
        """Return the options of a reply that starts now; private chats are never remembered."""
        options = replace(self._options(), settings=settings)
        if self._conversations.is_private(conversation_id):
            options = replace(options, remember=False)
        like = self._like
        return replace(drawn_like(options, like), strategy=like.strategy) if like else options

    def _submit(self, reply: Reply) -> None:
        try:
            conversation = self._conversations.get(reply.conversation_id)
        except UserError as error:  # another window may have deleted it
            self._fail(reply, RunError(error.code, error.message, error.hint))
            return
        reply.engine_version = self.engine_version
        self._is_submitted = True
        self._models = self._pair.state.target, self._pair.state.draft
        self._told = reply.options.strategy
        reply.submitted_s, reply.started_s = self._clock(), self._conversations.now()
        self._note_models(reply)
        self._conversations.begin_run(reply)
        known = self._conversations.known_in(reply.conversation_id)
        command = start_turn(reply, conversation, known)
        self._ticket = self._client.request(command, on_event=partial(self._on_event, reply))

    def _note_models(self, reply: Reply) -> None:
        target, draft = self._models
        reply.target, reply.draft = (
            model_record(info, self._fingerprint_of(info.path)) if info else None
            for info in (target, draft)
        )

    # ------------------------------------------------------------------------ while it runs

    def stop(self) -> None:
        """Stop the reply that is under way; its text so far stays."""
        reply = self.active
        if reply is None or reply.stopping:
            return
        reply.stopping = True
        if not self._is_submitted:
            self.end()
            return
        if self._ticket is not None:
            self._ticket.cancel()
        self.listener.reply_progressed(reply)

    def tune(self, strategy: Strategy) -> bool:
        """Change the strategy from the next step on; False when no reply is under way.

        The engine gets it only if it differs from the last one that was sent.
        """
        if self.active is None:
            return False
        if self._is_submitted and self._ticket is not None and strategy != self._told:
            self._told = strategy
            self._ticket.tune(strategy)
        elif not self._is_submitted:
            self.active.strategy = strategy  # until the options are asked for again
        return True

    def end(self) -> None:
        """End the reply that is under way without waiting for the engine; what it has is kept.

        One that its user did not stop is marked as cut by the program's end.
        """
        reply = self.active
        if reply is None:
            return
        if reply.stopping:
            reply.reason = "cancelled"
            reply.break_off()
            self._end(reply, "finished")
        else:
            self._fail(reply, CLOSED)

    # -------------------------------------------------------------------------------- events

    def on_pair_event(self, event: LoadProgressed | PairLoaded | LoadFailed | Unloaded) -> None:
        """Submit the reply that waits for the models, or fail it; `pair` has taken the event."""
        reply = self.active
        if reply is None or self._is_submitted:
            return
        state = self._pair.state
        if state.status == "ready":
            # The options that fitted when the reply was asked for need not fit the loaded pair.
            options = self._asked_options(reply.conversation_id, reply.options.settings)
            reply.ask(drawn_like(options, reply.options) if reply.n_parts > 1 else options)
            self._submit(reply)
        elif state.status == "failed":
            hint = event.hint if isinstance(event, LoadFailed) else ""
            if isinstance(event, LoadFailed) and event.code == NOT_STARTED:
                hint = ""  # its seconds are soon out of date; a notice shows it
            self._fail(reply, RunError("no-model", state.problem, hint))

    def on_death(self, death: EngineDied) -> None:
        """Fail the reply, or hand it to the next engine; `pair` has taken the event."""
        reply = self.active
        if reply is None:
            return
        # It may have died long ago, while it had nothing to do.
        if not self._waits_again(reply):
            self._fail(reply, RunError("engine-died", death.reason, death.hint))

    def _waits_again(self, reply: Reply) -> bool:
        """Let a reply that has not begun wait for the models to be loaded again, but once."""
        if reply.status != "waiting" or reply.stopping or reply.waits_again:
            return False
        reply.waits_again, self._is_submitted = True, False
        reply.submitted_s = None
        return self._pair.reload()

    def _on_event(self, reply: Reply, event: Event) -> None:
        """Take an event of a reply's turn; those of one that is over are dropped."""
        if reply is not self.active or not self._is_submitted or not isinstance(event, TurnEvent):
            return
        if isinstance(event, TurnStarted):
            self._on_begin(reply.conversation_id)
        reply.grow(event, self._clock())
        match event:
            case TurnStarted():
                self._conversations.begin_run(reply)  # its seed is known now
                self.listener.reply_progressed(reply)
            case PrefillProgressed():
                self.listener.reply_progressed(reply)
            case StepCommitted():
                self._conversations.extend_run(reply, event.text, (event,))
                self.listener.reply_grew(reply, event)
            case TuneApplied() | TuneRejected():
                self.listener.tune_answered(reply, event)
            case TurnFinished():
                self._end(reply, "finished")
            case TurnFailed() if reply.stopping and event.code == "cancelled":
                self.end()  # it still waited for the engine
            case TurnFailed():
                if event.code == OVERWRITTEN and self._waits_again(reply):
                    return  # usually it was only touched, or copied onto itself
                self._fail(reply, RunError(event.code, event.message, event.hint))
            case ControlReported():
                self.listener.auto_reported(reply, event)

    def _fail(self, reply: Reply, error: RunError) -> None:
        reply.error = error
        reply.break_off()
        self._end(reply, "failed")

    def _end(self, reply: Reply, status: Literal["finished", "failed"]) -> None:
        reply.status = status
        if self._is_submitted:
            self._note_models(reply)  # fingerprints may have become known meanwhile
        self.active, self._is_submitted = None, False
        self._conversations.end_run(reply)
        self.listener.conversations_changed()
        self.listener.reply_ended(reply)
        self._on_end(reply.conversation_id)


def start_turn(
    reply: Reply, conversation: Conversation, known: KnownOf = nothing_known
) -> StartTurn:
    """Return the command for a reply whose message the conversation has."""
    options, settings = reply.options, reply.options.settings
    path = conversation.path_to(conversation.messages[reply.message_id].parent_id)
    return made_of(
        StartTurn,
        settings,
        prompt=Chat(
            build_messages(path, settings.system_prompt, known), options.prompting, options.cuts
        ),
        strategy=options.strategy,
        remember=options.remember,
        begun=tuple(trace.token for trace in reply.traces),
        begun_text=reply.text,
        earlier=reply.earlier,
        owner=StateOwner(conversation.conversation_id, conversation.private),
    )
