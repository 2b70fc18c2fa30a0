"""A reply while it grows and after it ended, and the record that is kept of it. No Qt, no I/O."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from msgspec import structs

from paceline.chat.reasoning import UNKNOWN, Known
from paceline.codec import made_of
from paceline.engine.draft.strategy import short_text, strategy_named
from paceline.hosting.prompt_wait import PromptWait
from paceline.messages import (
    EarlierReply,
    FiguresReported,
    FinishReason,
    ModelInfo,
    PrefillProgressed,
    Prompting,
    StepCommitted,
    Strategy,
    TokenTrace,
    TuneApplied,
    TurnEvent,
    TurnFinished,
    TurnStarted,
    TurnStats,
)
from paceline.params import DEFAULT_STRATEGY, ReplySettings
from paceline.run_record import INTERRUPTED, ModelRecord, RunError, RunRecord, last_part

ReplyStatus = Literal["waiting", "prefill", "decoding", "finished", "failed"]


@dataclass(frozen=True, slots=True)
class TurnOptions:
    """The options of a turn, captured when it is handed to the engine.

    Attributes:
        strategy: Which drafters are asked, and with which settings.
        settings: Sampling settings of the chat.
        remember: Whether drafters may keep what they learn from the turn; never of a private chat.
        cuts: Whether the oldest messages are left out where the context is too small.
        prompting: Settings for making the prompt from the conversation.
    """

    strategy: Strategy = DEFAULT_STRATEGY
    settings: ReplySettings = field(default_factory=ReplySettings)
    remember: bool = False
    cuts: bool = False
    prompting: Prompting = field(default_factory=Prompting)


AskOptions = Callable[[], TurnOptions]
"""Returns what a reply is generated with; asked when it is handed to the engine, since what fitted
when it was asked for need not fit the pair that is loaded by then."""


@dataclass(slots=True)
class Reply:
    """One reply while it grows and after it ended; only `ReplyRunner` changes it.

    Attributes:
        message_id: The message of the conversation that gets the text.
        conversation_id: That conversation.
        options: The requested options.
        status: "waiting" for the models, then "prefill", "decoding", and how it ended.
        strategy: The strategy in force: as it was asked for, until the engine says which it uses.
        text: The text so far.
        steps: One event per decoding step, for the plot and the figures.
        n_prompt: Tokens of the prompt; 0 until known.
        wait: Progress of its prompt, or None before the reading begins.
        seed: Seed of the sampling noise, as reported.
        submitted_s: Time at which the turn was handed to the engine, on the session's clock.
        started_s: The same in seconds since the epoch, or 0 if it was not handed over.
        first_token_s: Seconds from then to the first token.
        reason: Why the reply ended.
        stats: The figures so far, in the end those of the whole; None before the first ones.
        error: Why it failed.
        notes: Remarks of the engine about the turn, for the user.
        n_cut: Messages that were left out of the prompt.
        target: The target, or None if not known.
        draft: The draft model, or None if there was none.
        app_version: Paceline's version.
        engine_version: llama-cpp-python's version.
        stopping: Whether the user asked it to stop.
        waits_again: Whether it waited for another load, since the engine died before it began, or a
            model's file was written to.
        n_parts: Number of turns in which it was written; text and steps are of all of them.
        edited: Whether its user wrote the text.
        earlier: The reply that it replaces, and other versions of that one.
        knows_marks: Whether template or vocabulary know marks of reasoning, or None if not known.
    """

    message_id: str
    conversation_id: str
    options: TurnOptions
    status: ReplyStatus = "waiting"
    strategy: Strategy = DEFAULT_STRATEGY
    text: str = ""
    steps: list[StepCommitted] = field(default_factory=list)
    n_prompt: int = 0
    wait: PromptWait | None = None
    seed: int | None = None
    submitted_s: float | None = None
    started_s: float = 0.0
    first_token_s: float | None = None
    reason: FinishReason | None = None
    stats: TurnStats | None = None
    error: RunError | None = None
    notes: tuple[str, ...] = ()
    n_cut: int = 0
    target: ModelRecord | None = None
    draft: ModelRecord | None = None
    app_version: str = ""
    engine_version: str = ""
    stopping: bool = False
    waits_again: bool = False
    n_parts: int = 1
    edited: bool = False
    earlier: tuple[EarlierReply, ...] = ()
    knows_marks: bool | None = None

    def go_on_after(self, text: str, old: Reply | None) -> None:
        """Begin with another reply's text and sampling; `old` is None without its record."""
        steps = list(old.steps) if old is not None else []
        said = "".join(step.text for step in steps)
        if not text.startswith(said):
            steps, said = [], ""
        if steps and not text[len(said) :].strip("\ufffd"):
            text = said  # half a character, which the next token makes whole
        if text != said:  # figures that no step contains
            rest = StepCommitted(0, (), text[len(said) :], (), 0.0, 0.0, 0.0, 0.0)
            steps.append(rest)
        self.text, self.steps = text, steps
        self.n_parts = 2 if old is None else old.n_parts + 1
        if old is not None:
            settings = replace(
                old.options.settings,
                max_tokens=self.options.settings.max_tokens,
                seed=old.seed if old.seed is not None else self.options.settings.seed,
            )
            self.ask(drawn_like(self.options, replace(old.options, settings=settings)))

    def ask(self, options: TurnOptions) -> None:
        """Set the options that the turn is generated with."""
        self.options, self.strategy = options, options.strategy

    @property
    def n_prefilled(self) -> int:
        """Tokens of the prompt that are in the context, or 0 if reading has not begun."""
        return self.wait.n_done if self.wait is not None else 0

    @property
    def traces(self) -> list[TokenTrace]:
        """The source of each token."""
        return [trace for step in self.steps for trace in step.tokens]

    @property
    def last_part(self) -> tuple[StepCommitted, ...]:
        """The steps of the last turn, to which `stats` refers."""
        return last_part(self.steps, self.n_parts, has_begun=self.has_begun)

    @property
    def has_ended(self) -> bool:
        """Return whether nothing more will come."""
        return self.status in ("finished", "failed")

    @property
    def has_begun(self) -> bool:
        """Return whether the model has written anything; what it goes on after does not count."""
        return self.first_token_s is not None

    def grow(self, event: TurnEvent, clock_s: float) -> None:
        """Apply an event of its turn.

        How it ended is set by `ReplyRunner`.

        Args:
            event: The event.
            clock_s: Now, on the clock of `submitted_s`.
        """
        match event:
            case TurnStarted():
                self.status = "prefill"
                self.n_prompt, self.wait = event.n_prompt, PromptWait(event, clock_s)
                self.seed, self.notes, self.n_cut = event.seed, event.notes, event.n_cut
                self.knows_marks = event.knows_marks
            case PrefillProgressed():
                self.n_prompt = event.n_total
                if self.wait is not None:
                    self.wait.grow(event, clock_s)
            case StepCommitted():
                if self.first_token_s is None and self.submitted_s is not None:
                    self.first_token_s = clock_s - self.submitted_s
                self.status = "decoding"
                self.text += event.text
                self.steps.append(event)
            case FiguresReported():
                self.stats = event.stats
            case TuneApplied():
                self.strategy = event.strategy
            case TurnFinished():
                self.text, self.reason, self.stats = event.text, event.reason, event.stats
                self.seed, self.strategy = event.seed, event.strategy

    def break_off(self) -> None:
        """Bring the figures up to the last step, where no final ones come any more."""
        last, steps = self.stats, self.last_part
        n_tokens, decode_s = sum(len(step.tokens) for step in steps), sum(s.total_s for s in steps)
        if last is None or not decode_s > 0:
            self.stats = None
            return
        counts = [count for step in steps for count in step.drafted]
        n_accepted = sum(count.n_accepted for count in counts)
        n_judged = sum(count.n_drafted - count.n_discarded for count in counts)
        n_steps = sum(step.step > 0 for step in steps)
        self.stats = structs.replace(
            last,
            n_generated=n_tokens,
            decode_s=decode_s,
            total_s=last.prefill_s + decode_s,
            tokens_per_s=n_tokens / decode_s,
            n_steps=n_steps,
            n_drafted=sum(count.n_drafted for count in counts),
            n_accepted=n_accepted,
            n_discarded=sum(count.n_discarded for count in counts),
            acceptance_rate=n_accepted / n_judged if n_judged else None,
            mean_committed_per_step=(n_tokens - 1) / n_steps if n_steps else None,
            by_drafter=(),
        )


def drawn_like(options: TurnOptions, old: TurnOptions) -> TurnOptions:
    """Return the options with those of the old ones that determine which tokens are sampled."""
    return replace(options, settings=old.settings, cuts=old.cuts, prompting=old.prompting)


def model_record(info: ModelInfo, fingerprint: str = "") -> ModelRecord:
    """Return what is kept of a loaded model."""
    return made_of(ModelRecord, info, file=Path(info.path).name, fingerprint=fingerprint)


def to_record(reply: Reply) -> RunRecord:
    """Return the record of a reply as it is now, steps included."""
    options, settings = reply.options, reply.options.settings
    return made_of(
        RunRecord,
        reply,
        status=reply.status if reply.has_ended else "running",
        strategy=short_text(reply.strategy),
        asked_strategy=short_text(options.strategy),
        sampling=settings.sampling,
        max_tokens=settings.max_tokens,
        seed=reply.seed if reply.seed is not None else settings.seed,
        stop=settings.stop,
        system_prompt=settings.system_prompt,
        cuts=options.cuts,
        prompting=options.prompting,
        stats=reply.stats if reply.has_ended else None,
        steps=tuple(reply.steps),
    )


def to_reply(record: RunRecord, conversation_id: str, text: str) -> Reply:
    """Return the reply of a record; one that was still running ended with the program.

    Args:
        record: The record, with or without its steps.
        conversation_id: The conversation of the reply.
        text: The text of its message.
    """
    record = renamed(record, record.message_id)
    n_prompt = record.stats.n_prompt if record.stats is not None else 0
    return made_of(
        Reply,
        record,
        conversation_id=conversation_id,
        options=TurnOptions(
            strategy_named(record.asked_strategy or record.strategy),
            settings=record.settings,
            cuts=record.cuts,
            prompting=record.prompting,
        ),
        strategy=strategy_named(record.strategy),
        text=text,
        steps=list(record.steps),
        n_prompt=n_prompt,
    )


def edited_record(record: RunRecord, message_id: str) -> RunRecord:
    """Return the record of a reply whose user wrote another text: how it was asked for alone."""
    return replace(
        record, message_id=message_id, status="finished", reason=None, error=None, stats=None,
        first_token_s=None, notes=(), steps=(), n_parts=1, edited=True,
    )  # fmt: skip


def known_of(reply: Reply | RunRecord | None) -> Known:
    """Return the facts that decide how a reply's text is split into reasoning and answer."""
    if reply is None:
        return UNKNOWN
    has_ended = reply.reason is not None or reply.error is not None
    is_finished = reply.reason in ("eog", "stop") if has_ended and not reply.edited else None
    settings = reply if isinstance(reply, RunRecord) else reply.options.settings
    is_json = bool(settings.sampling.json_schema) and not reply.edited
    return Known(is_finished, reply.knows_marks, is_json)


def can_be_repeated(record: RunRecord) -> bool:
    """Return whether a reply can be repeated: written by the model in one turn, seed known."""
    return record.seed is not None and not record.edited and record.n_parts == 1


def renamed(record: RunRecord, message_id: str) -> RunRecord:
    """Return the record for a copy of its message; one without an end counts as interrupted."""
    if record.status != "running":
        return replace(record, message_id=message_id)
    error = record.error or INTERRUPTED
    return replace(record, message_id=message_id, status="failed", error=error)
