"""From a conversation and the record of its last reply to one line of the list."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paceline.conversation import ConversationSummary
from paceline.run_record import figures_of

if TYPE_CHECKING:
    from paceline.conversation import Conversation
    from paceline.run_record import RunRecord


def summary_of(
    conversation: Conversation, old: ConversationSummary | None = None
) -> ConversationSummary:
    """Return what the list shows; figures are those of an older line, if there is one."""
    line = old or ConversationSummary(conversation.conversation_id, "", 0.0, 0.0)
    return replace(
        line,
        title=conversation.title,
        created_s=conversation.created_s,
        changed_s=conversation.changed_s,
        pinned=conversation.pinned,
        tags=conversation.tags,
        private=conversation.private,
    )


def with_figures(line: ConversationSummary, last: RunRecord | None) -> ConversationSummary:
    """The same line with the figures of the last reply; None: there is none."""
    strategy, speed, rate = figures_of(last)
    return replace(
        line,
        strategy=strategy,
        tokens_per_s=speed,
        acceptance_rate=rate,
    )
