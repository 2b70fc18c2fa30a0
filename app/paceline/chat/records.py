"""Between a reply that lives in a session and the record that is kept of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from paceline.chat.reply import Reply, ReplyError, TurnOptions
from paceline.run_record import INTERRUPTED, ModelRecord, RunError, RunRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paceline.messages import ModelInfo, StepCommitted


def model_record(
    info: ModelInfo | None, fingerprint_of: Callable[[str], str]
) -> ModelRecord | None:
    """What is kept of a loaded model; None of none."""
    if info is None:
        return None
    return ModelRecord(
        name=info.name,
        file=Path(info.path).name,
        architecture=info.architecture,
        description=info.description,
        n_params=info.n_params,
        size_bytes=info.size_bytes,
        n_ctx=info.n_ctx,
        n_threads=info.n_threads,
        n_threads_batch=info.n_threads_batch,
        n_gpu_layers=info.n_gpu_layers,
        fingerprint=fingerprint_of(info.path),
    )


def to_record(reply: Reply) -> RunRecord:
    """What is kept of a reply as it is now, steps included."""
    status: Literal["running", "finished", "failed"] = "running"
    if reply.status in ("finished", "failed"):
        status = "finished" if reply.status == "finished" else "failed"
    error, options = reply.error, reply.options
    return RunRecord(
        reply.message_id,
        status,
        started_s=reply.started_s,
        strategy=reply.strategy,
        asked_strategy=options.strategy,
        sampling=options.sampling,
        max_tokens=options.max_tokens,
        seed=reply.seed if reply.seed is not None else options.seed,
        stop=options.stop,
        system_prompt=options.system_prompt,
        cuts=options.cuts,
        n_cut=reply.n_cut,
        reason=reply.reason,
        error=RunError(error.code, error.message, error.hint) if error is not None else None,
        stats=reply.stats if reply.has_ended else None,
        first_token_s=reply.first_token_s,
        notes=reply.notes,
        target=reply.target,
        draft=reply.draft,
        app_version=reply.app_version,
        engine_version=reply.engine_version,
        steps=tuple(reply.steps),
    )


def to_reply(
    record: RunRecord, conversation_id: str, text: str, steps: Sequence[StepCommitted] = ()
) -> Reply:
    """A reply as its record tells it; one that was still running ended with the program.

    Args:
        record: The record, with or without its steps.
        conversation_id: Where the reply belongs.
        text: The text of its message.
        steps: Its steps where the record has none.
    """
    record = renamed(record, record.message_id)
    error = record.error
    all_steps = list(record.steps or steps)
    return Reply(
        turn_id="",
        message_id=record.message_id,
        conversation_id=conversation_id,
        options=TurnOptions(
            strategy=record.asked_strategy or record.strategy,
            sampling=record.sampling,
            max_tokens=record.max_tokens,
            seed=record.seed,
            system_prompt=record.system_prompt,
            stop=record.stop,
            cuts=record.cuts,
        ),
        status="finished" if record.status == "finished" else "failed",
        strategy=record.strategy,
        text=text,
        traces=[trace for step in all_steps for trace in step.tokens],
        steps=all_steps,
        n_prompt=record.stats.n_prompt if record.stats is not None else 0,
        n_prefilled=record.stats.n_prompt if record.stats is not None else 0,
        seed=record.seed,
        started_s=record.started_s,
        first_token_s=record.first_token_s,
        reason=record.reason,
        stats=record.stats,
        error=ReplyError(error.code, error.message, error.hint) if error is not None else None,
        notes=record.notes,
        n_cut=record.n_cut,
        target=record.target,
        draft=record.draft,
        app_version=record.app_version,
        engine_version=record.engine_version,
    )


def renamed(record: RunRecord, message_id: str) -> RunRecord:
    """The same record for a copy of its message; one that never ended counts as interrupted."""
    if record.status != "running":
        return replace(record, message_id=message_id)
    error = record.error or INTERRUPTED
    return replace(record, message_id=message_id, status="failed", error=error)
