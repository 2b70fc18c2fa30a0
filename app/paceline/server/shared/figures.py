"""The figures of a reply: usage, timings, and those that only Paceline knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paceline.codec import encode
from paceline.engine.draft.lookups.earlier_reply import EarlierReplyDrafter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.figures import LikelyToken
    from paceline.messages import TurnStats
    from paceline.server.replies import Progressed, RunningReply


def usage(replies: Sequence[RunningReply]) -> dict[str, Any]:
    """Return the tokens of all replies of a request, as OpenAI's API counts them.

    A prompt with several replies counts once.
    """
    all_stats = [reply.stats for reply in replies]
    prompts = {id(reply.asked): reply.stats for reply in reversed(replies)}
    n_prompt = sum(stats.n_prompt for stats in prompts.values())
    n_generated = sum(stats.n_generated for stats in all_stats)
    predicted = [
        (each.tokens, each.tokens_accepted)
        for stats in all_stats
        for each in stats.by_drafter
        if each.drafter == EarlierReplyDrafter.name
    ]
    n_accepted = sum(accepted for _, accepted in predicted)
    return {
        "prompt_tokens": n_prompt,
        "completion_tokens": n_generated,
        "total_tokens": n_prompt + n_generated,
        "prompt_tokens_details": {
            "cached_tokens": sum(stats.n_reused for stats in prompts.values())
        },
        "completion_tokens_details": {
            "reasoning_tokens": sum(reply.n_reasoning for reply in replies),
            "accepted_prediction_tokens": n_accepted,
            "rejected_prediction_tokens": sum(tokens for tokens, _ in predicted) - n_accepted,
        },
    }


def timings(stats: TurnStats) -> dict[str, Any]:
    """Return llama-server's timings of a reply."""
    n_read = stats.n_prompt - stats.n_reused
    return {
        "cache_n": stats.n_reused,
        "prompt_n": n_read,
        "prompt_ms": stats.prefill_s * 1000,
        "prompt_per_second": n_read / stats.prefill_s if stats.prefill_s else None,
        "predicted_n": stats.n_generated,
        "predicted_ms": stats.decode_s * 1000,
        "predicted_per_second": stats.tokens_per_s,
        "draft_n": stats.n_drafted,
        "draft_n_accepted": stats.n_accepted,
    }


def prompt_progress(progress: Progressed) -> dict[str, Any]:
    """Return llama-server's object for the progress of a prompt."""
    wait = progress.wait
    return {
        "total": wait.n_total,
        "cache": wait.n_warm,
        "processed": wait.n_done,
        "time_ms": round(progress.seconds * 1000),
    }


def own_figures(reply: RunningReply) -> dict[str, Any]:
    """Return the figures that only Paceline reports."""
    stats = reply.stats
    assert reply.finished is not None
    return {
        "seed": reply.finished.seed,
        "plain_tokens_per_s": stats.plain_tokens_per_s,
        "plain_low": stats.plain_low,
        "plain_high": stats.plain_high,
        "by_drafter": encode(stats.by_drafter),
        "n_reused": stats.n_reused,
        "n_read": stats.n_prompt - stats.n_reused,
        "reread": stats.reread and stats.reread.words,
        "same_text": reply.served.same_text,
        "warnings": list(reply.warnings),
    }


def likely_token(token: LikelyToken) -> dict[str, Any]:
    """Return a token with its likelihood."""
    return {
        "token": token.piece.decode("utf-8", "replace"),
        "logprob": token.logprob,
        "bytes": list(token.piece),
    }
