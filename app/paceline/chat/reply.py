"""What is known of one reply: what was asked for, what came, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from paceline.messages import SamplingParams

if TYPE_CHECKING:
    from paceline.messages import FinishReason, StepCommitted, TokenTrace, TurnStats
    from paceline.run_record import ModelRecord

ReplyStatus = Literal["waiting", "prefill", "decoding", "finished", "failed"]


@dataclass(frozen=True, slots=True)
class TurnOptions:
    """What a turn is generated with, captured when it is handed to the engine.

    Attributes:
        strategy: ``ID[+ID…][:key=value]…``.
        sampling: How tokens are drawn.
        max_tokens: Tokens of the reply at most.
        seed: None draws a new one.
        system_prompt: Put before the conversation; empty: none.
        remember: Whether drafters may keep what they learn from the turn; never of a private chat.
        stop: Texts that end the reply.
        cuts: Whether the oldest messages are left out where the context is too small.
    """

    strategy: str = "auto"
    sampling: SamplingParams = field(default_factory=SamplingParams)
    max_tokens: int = 1024
    seed: int | None = None
    system_prompt: str = ""
    remember: bool = False
    stop: tuple[str, ...] = ()
    cuts: bool = False


@dataclass(frozen=True, slots=True)
class ReplyError:
    """Why a reply failed, and what to do about it."""

    code: str
    message: str
    hint: str


@dataclass(slots=True)
class Reply:
    """One reply while it grows and after it ended; `chat.session` alone changes it.

    Attributes:
        turn_id: Id of the engine's turn.
        message_id: The message of the conversation that gets the text.
        conversation_id: That conversation.
        options: What was asked for.
        status: "waiting" for the models, then "prefill", "decoding", and how it ended.
        strategy: The strategy in force; a `Tune` changes it.
        text: The text so far.
        traces: Where each token came from.
        steps: One record per decoding step, for the plot and the figures.
        n_prompt: Tokens of the prompt; 0 until known.
        n_prefilled: Tokens of the prompt that are in the context.
        seed: Key of the noise, as reported.
        submitted_s: When the turn was handed to the engine, on the session's clock.
        started_s: The same in seconds since the epoch; 0: it was not.
        first_token_s: Seconds from then to the first token.
        reason: Why the reply ended.
        stats: The figures so far, in the end those of the whole; None before the first ones, and
            where it ended without the engine's word.
        error: Why it failed.
        notes: What the engine remarked about the turn.
        n_cut: Messages that were left out of the prompt.
        target: The target; None: not known.
        draft: The draft model; None: there was none.
        app_version: Paceline's version.
        engine_version: llama-cpp-python's version.
        stopping: Whether the user asked it to stop.
        waits_again: Whether the engine died before it began, and it was handed to the next one.
    """

    turn_id: str
    message_id: str
    conversation_id: str
    options: TurnOptions
    status: ReplyStatus = "waiting"
    strategy: str = ""
    text: str = ""
    traces: list[TokenTrace] = field(default_factory=list)
    steps: list[StepCommitted] = field(default_factory=list)
    n_prompt: int = 0
    n_prefilled: int = 0
    seed: int | None = None
    submitted_s: float | None = None
    started_s: float = 0.0
    first_token_s: float | None = None
    reason: FinishReason | None = None
    stats: TurnStats | None = None
    error: ReplyError | None = None
    notes: tuple[str, ...] = ()
    n_cut: int = 0
    target: ModelRecord | None = None
    draft: ModelRecord | None = None
    app_version: str = ""
    engine_version: str = ""
    stopping: bool = False
    waits_again: bool = False

    @property
    def has_ended(self) -> bool:
        """Whether nothing more will come."""
        return self.status in ("finished", "failed")
