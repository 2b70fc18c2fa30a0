"""What the engine tells of a turn, written into its reply. No Qt, no I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from paceline.messages import (
    ControlReported,
    FiguresReported,
    PrefillProgressed,
    StepCommitted,
    TextDiverged,
    TuneApplied,
    TuneRejected,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)

if TYPE_CHECKING:
    from paceline.chat.reply import Reply

TurnEvent = (
    TurnStarted
    | PrefillProgressed
    | StepCommitted
    | ControlReported
    | FiguresReported
    | TuneApplied
    | TuneRejected
    | TextDiverged
    | TurnFinished
    | TurnFailed
)


def grow(reply: Reply, event: TurnEvent, clock_s: float) -> None:
    """Let the reply know what the event says; how it ended is the session's business.

    Args:
        reply: The reply of this turn.
        event: What happened.
        clock_s: Now, on the clock of `Reply.submitted_s`.
    """
    match event:
        case TurnStarted():
            reply.status = "prefill"
            reply.n_prompt, reply.n_prefilled = event.n_prompt, event.n_reused
            reply.seed, reply.notes, reply.n_cut = event.seed, event.notes, event.n_cut
        case PrefillProgressed():
            reply.n_prefilled, reply.n_prompt = event.n_done, event.n_total
        case StepCommitted():
            if reply.first_token_s is None and reply.submitted_s is not None:
                reply.first_token_s = clock_s - reply.submitted_s
            reply.status = "decoding"
            reply.text += event.text
            reply.traces.extend(event.tokens)
            reply.steps.append(event)
        case FiguresReported():
            reply.stats = event.stats
        case TuneApplied():
            reply.strategy = event.strategy
        case TurnFinished():
            reply.text, reply.reason, reply.stats = event.text, event.reason, event.stats
            reply.seed, reply.strategy = event.seed, event.strategy
        case ControlReported() | TuneRejected() | TextDiverged() | TurnFailed():
            pass
        case _:
            assert_never(event)
