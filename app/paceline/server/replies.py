"""One reply for a program: requested, followed while it grows, with its figures at the end."""

from __future__ import annotations

import asyncio
import time
import uuid
from contextlib import aclosing
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from msgspec import structs

from paceline import __version__
from paceline.chat.reply import Reply, TurnOptions, model_record
from paceline.codec import made_of
from paceline.engine.calls.pieces import CallEnded
from paceline.engine.prompt.conversation import tools_of
from paceline.messages import (
    Chat,
    EngineDied,
    PrefillProgressed,
    StepCommitted,
    TokenLikelihood,
    TuneRejected,
    TurnEvent,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from paceline.params import Prompting, ReplySettings
from paceline.run_record import RunError
from paceline.server.asking import ending
from paceline.server.errors import ApiError, fault, from_engine
from paceline.server.journal import Entry
from paceline.server.limits import KEEP_ALIVE_EVERY_S, MAX_WAIT_FOR_START_S
from paceline.server.pieces import Piece, Pieces, PlainPieces

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from paceline.hosting.prompt_wait import PromptWait
    from paceline.messages import Event, StartTurn, TurnStats
    from paceline.server.asking import Question
    from paceline.server.context import Context
    from paceline.server.journal import Caller
    from paceline.server.served import Served


class ReplyBegun(NamedTuple):
    """The prompt fits, and its prefill begins."""


class Progressed(NamedTuple):
    """More of the prompt has been read.

    Attributes:
        wait: Progress of the prompt.
        seconds: Since it began.
    """

    wait: PromptWait
    seconds: float


class Waits(NamedTuple):
    """No event for a while; `words` say what the reply is waiting for."""

    words: str


class Grown(NamedTuple):
    """The gain of a step.

    Attributes:
        pieces: Pieces of the text; empty while a mark or a character is incomplete.
        likely: Likelihoods of its tokens if requested, except the end token's.
        ends: End of each of these tokens, in characters of the reply.
    """

    pieces: tuple[Piece, ...]
    likely: tuple[TokenLikelihood, ...] = ()
    ends: tuple[int, ...] = ()


class RunningReply:
    """A reply that a program has asked for. On the server's event loop.

    Args:
        context: Its desk asks the engine, its journal gets the record.
        served: The loaded pair, which alone may answer.
        turn: The turn to generate.
        caller: The requesting program.
        id_prefix: See `Pieces`.
        fields: As `names` in `from_engine`.
        remarks: Sentences about the request, for the program.

    Attributes:
        served: The loaded pair.
        asked: The prompt as the request has it.
        turn: The turn.
        record: The reply in the form of the window's chats: text, steps, figures.
        finished: Its last event; None until then.
        n_calls: Number of complete tool calls in it.
        is_call_cut: Whether it ends within a call, which does not count.
        warnings: Sentences for the program.
    """

    def __init__(
        self,
        context: Context,
        served: Served,
        turn: StartTurn,
        caller: Caller,
        *,
        id_prefix: str = "call_",
        fields: Mapping[str, str] = MappingProxyType({}),
        remarks: tuple[str, ...] = (),
    ) -> None:
        self._fields = fields
        self._remarks = remarks
        self._desk = context.desk
        self._models = context.models
        self._journal = context.journal
        self._caller = caller
        self._id_prefix = id_prefix
        self.served = served
        self.asked = turn.prompt
        prompt, self._ignored = context.unchanged.put(
            turn.prompt, context.defaults.ignored, caller.name
        )
        owner = turn.owner and structs.replace(turn.owner, asker=caller.name)
        self.turn = turn = structs.replace(turn, prompt=prompt, owner=owner)
        prompting = turn.prompt.prompting if isinstance(turn.prompt, Chat) else Prompting()
        options = TurnOptions(
            turn.strategy,
            made_of(ReplySettings, turn, system_prompt=""),
            remember=turn.remember,
            prompting=prompting,
        )
        self.record = Reply(uuid.uuid4().hex, "", options, app_version=__version__)
        self.record.ask(options)
        self.record.target = model_record(served.target)
        self.record.draft = model_record(served.draft) if served.draft else None
        self._entry = Entry(caller, self.record)
        self.finished: TurnFinished | None = None
        self.n_calls = 0
        self._pieces: Pieces | PlainPieces = PlainPieces()
        self.is_call_cut = False
        self._rejected: list[str] = []

    @property
    def has_called(self) -> bool:
        """Return whether it ends with complete tool calls."""
        return self.n_calls > 0 and not self.is_call_cut

    @property
    def n_reasoning(self) -> int:
        """Tokens between the marks of the reasoning, partial ones included."""
        spans = self._pieces.reasoning
        if not spans:
            return 0
        ends = [trace.text_end for trace in self.record.traces]
        begins = [len(self.turn.begun_text), *ends[:-1]]
        return sum(
            any(begin < last and end > first for first, last in spans)
            for begin, end in zip(begins, ends, strict=True)
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences about this reply and its request."""
        return (*self._remarks, *self.record.notes, *self._rejected)

    @property
    def stats(self) -> TurnStats:
        """The figures of a reply that has finished."""
        assert self.finished is not None
        return self.finished.stats

    async def grow(self) -> AsyncGenerator[ReplyBegun | Progressed | Waits | Grown]:
        """Generate, and yield progress; closing the generator stops the reply.

        Raises:
            ApiError: The request cannot be done, or the engine failed.
        """
        self.record.submitted_s, self.record.started_s = time.monotonic(), time.time()
        self._journal.begin(self._entry)
        try:
            with self._desk.asking(self.turn, self._caller.name) as question:
                async with aclosing(self._follow(question)) as growing:
                    async for each in growing:
                        yield each
        except ApiError as error:
            self._fail(error.code, error.message)
            raise
        except Exception:
            self._fail("bug", fault().message)
            raise
        except (asyncio.CancelledError, GeneratorExit):
            if self.finished is None:
                self._fail("hung-up", "The program hung up.")
            raise
        finally:
            self._journal.end(self._entry)

    async def complete(self) -> Grown:
        """Generate, and return all of it; errors as of `grow`."""
        async with aclosing(self.grow()) as growing:
            steps = [each async for each in growing if isinstance(each, Grown)]
        return Grown(
            tuple(chain.from_iterable(step.pieces for step in steps)),
            tuple(chain.from_iterable(step.likely for step in steps)),
            tuple(chain.from_iterable(step.ends for step in steps)),
        )

    def _fail(self, code: str, message: str) -> None:
        self.record.error = RunError(code, message, "")
        self.record.status = "failed"

    async def _follow(
        self, question: Question
    ) -> AsyncGenerator[ReplyBegun | Progressed | Waits | Grown]:
        held = Grown(())
        async with aclosing(question.events(MAX_WAIT_FOR_START_S, KEEP_ALIVE_EVERY_S)) as events:
            async for event in events:
                if event is None:
                    yield Waits(_waiting(question, self.record))
                    continue
                if isinstance(event, TurnStarted):
                    self._check_model()
                self._take(event)
                match event:
                    case TurnStarted():
                        if isinstance(self.turn.prompt, Chat):
                            use = self.turn.prompt.tools
                            self._pieces = Pieces(
                                self.turn.begun_text,
                                has_marks=event.knows_marks,
                                form=event.calls,
                                tools=tools_of(self.turn.prompt),
                                id_prefix=self._id_prefix,
                                is_call=use is not None and use.choice == "required",
                            )
                        yield ReplyBegun()
                        yield self._progress()
                    case PrefillProgressed():
                        yield self._progress()
                    case StepCommitted():
                        found = self._pieces.add(event.text)
                        # The last token is held: the end token is not reported.
                        likely = (*held.likely, *event.likely)
                        ends = held.ends
                        if event.likely:
                            ends += tuple(token.text_end for token in event.tokens)
                        n_ready = max(len(likely) - 1, 0)
                        yield Grown(self._noted(found), likely[:n_ready], ends[:n_ready])
                        held = Grown((), likely[n_ready:], ends[n_ready:])
                    case TurnFinished(reason="cancelled"):
                        raise ApiError(503, "cancelled", "The reply was stopped at Paceline.")
                    case TurnFinished():
                        if event.reason == "eog":
                            held = Grown(())
                        rest = self._pieces.finish(is_cut=event.reason != "eog")
                        yield held._replace(pieces=self._noted(rest))

    def _progress(self) -> Progressed:
        wait = self.record.wait
        assert wait is not None
        return Progressed(wait, wait.read_s(time.monotonic()))

    def _check_model(self) -> None:
        """Refuse an answer by another model than the one that the request was read for.

        A user may load one while requests wait, which takes precedence. If none is loaded any more,
        the engine has died, which the next event reports.

        Raises:
            ApiError: Another model is loaded.
        """
        loaded = self._models.loaded
        if loaded is not None and loaded.target is not self.served.target:
            raise ApiError(
                503,
                "model_changed",
                "Another model was loaded while the request waited. Send it again.",
                headers={"retry-after": "1"},
            )

    def _noted(self, pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
        """Note calls that end in these pieces, and return them."""
        ends = [piece.is_whole for piece in pieces if isinstance(piece, CallEnded)]
        self.n_calls += sum(ends)
        self.is_call_cut = self.is_call_cut or not all(ends)
        return pieces

    def _take(self, event: Event) -> None:
        """Add an event to the record.

        Raises:
            ApiError: The turn failed, or the engine died.
        """
        match event:
            case TurnFailed(code="cancelled") if self._desk.is_closing:
                raise ending()
            case TurnFailed(code, message, hint):
                raise from_engine(code, message, hint, self._fields)
            case EngineDied(reason, hint):
                raise from_engine("engine-died", reason, hint)
            case TuneRejected(message=message):
                self._rejected.append(message)
            case TurnFinished():
                self.finished = event
                self.record.status = "finished"
        if isinstance(event, StepCommitted) and event.likely:
            event = structs.replace(event, likely=())  # reported, but too large to be kept
        if isinstance(event, TurnEvent):
            self.record.grow(event, time.monotonic())
            if isinstance(event, TurnStarted):
                self.record.notes = (*self._ignored, *self.record.notes)
            self._journal.grow(self._entry, event)


def _waiting(question: Question, record: Reply) -> str:
    """Return the cause of the wait in a few words."""
    place = question.ticket.place
    if place:
        return f"waiting, place {place} in the queue"
    if record.status == "prefill":
        return f"reading the prompt, {record.n_prefilled} of {record.n_prompt} tokens"
    return "working"
