"""The replies of a conversation side by side: a list model of figures for bars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from paceline.gui.viewmodels.figures import percent_text, ratio_text, speed_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from paceline.chat.reply import Reply
    from paceline.conversation import Conversation
    from paceline.figures import Speedup
    from paceline.gui.viewmodels.sources import Sources

ROW_ROLE = int(Qt.ItemDataRole.UserRole)
Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class ReplyRow:
    """One reply; figures are None where they are not known.

    Attributes:
        message_id: Its message.
        number: Which reply of the path it is, from 1.
        question: The beginning of what it answers.
        tokens_per_s: Its speed.
        plain_tokens_per_s: The plain estimate, where there is a speed-up.
        speedup: Its speed over that; None: nothing was drafted, or it is not known.
        n_tokens: Tokens generated.
        n_drafted: Drafted tokens that were judged.
        n_by_model: Accepted tokens of draft models.
        n_by_lookup: Accepted tokens of others.
        strategy: What it was drafted with.
        problem: Why it has no figures.
    """

    message_id: str
    number: int
    question: str
    tokens_per_s: float | None = None
    plain_tokens_per_s: float | None = None
    speedup: Speedup | None = None
    n_tokens: int = 0
    n_drafted: int = 0
    n_by_model: int = 0
    n_by_lookup: int = 0
    strategy: str = ""
    problem: str = ""

    @property
    def acceptance_rate(self) -> float | None:
        """Accepted of the judged tokens."""
        accepted = self.n_by_model + self.n_by_lookup
        return accepted / self.n_drafted if self.n_drafted > 0 else None


def reply_rows(
    conversation: Conversation, reply_of: Callable[[str], Reply | None], sources: Sources
) -> tuple[ReplyRow, ...]:
    """The replies on the active path, first one first."""
    path = conversation.path()
    rows: list[ReplyRow] = []
    for before, message in zip((None, *path), path, strict=False):
        if message.role == "assistant":
            question = " ".join(before.content.split())[:200] if before is not None else ""
            reply = reply_of(message.message_id)
            rows.append(_row(message.message_id, len(rows) + 1, question, reply, sources))
    return tuple(rows)


def _row(
    message_id: str, number: int, question: str, reply: Reply | None, sources: Sources
) -> ReplyRow:
    if reply is None or reply.stats is None or not reply.has_ended:
        problem = reply.error.message if reply is not None and reply.error is not None else ""
        strategy = reply.strategy if reply is not None else ""
        return ReplyRow(message_id, number, question, strategy=strategy, problem=problem)
    stats = reply.stats
    by_model = sum(
        s.tokens_accepted for s in stats.by_drafter if sources.kind(s.drafter) == "draft"
    )
    return ReplyRow(
        message_id,
        number,
        question,
        stats.tokens_per_s,
        stats.plain_tokens_per_s if stats.speedup is not None else None,
        stats.speedup,
        stats.n_generated,
        stats.n_drafted - stats.n_discarded,
        by_model,
        stats.n_accepted - by_model,
        reply.strategy,
    )


class ReplyList(QAbstractListModel):
    """The rows for a view; the words are for those who hear them."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[ReplyRow, ...] = ()
        self.fastest = 0.0
        """The longest bar, in tokens per second"""

    @property
    def rows(self) -> tuple[ReplyRow, ...]:
        """All rows."""
        return self._rows

    def set_rows(self, rows: Iterable[ReplyRow]) -> None:
        """Show these replies."""
        self.beginResetModel()
        self._rows = tuple(rows)
        speeds = [v for r in self._rows for v in (r.tokens_per_s, r.plain_tokens_per_s) if v]
        self.fastest = max(speeds, default=0.0)
        self.endResetModel()

    def rowCount(self, parent: Index | None = None) -> int:
        """How many replies there are."""
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """One reply."""
        if not index.isValid() or not 0 <= index.row() < len(self._rows):
            return None
        row = self._rows[index.row()]
        if role == ROW_ROLE:
            return row
        if role == int(Qt.ItemDataRole.DisplayRole):
            return row.question or self.tr("Reply {}").format(row.number)
        if role in (int(Qt.ItemDataRole.AccessibleTextRole), int(Qt.ItemDataRole.ToolTipRole)):
            return self.words(row)
        return None

    def words(self, row: ReplyRow) -> str:
        """A row in one sentence."""
        parts = [self.tr("Reply {}").format(row.number)]
        if row.tokens_per_s is None:
            parts.append(row.problem or self.tr("no figures"))
            return ", ".join(parts)
        parts.append(self.tr("{} tokens per second").format(speed_text(row.tokens_per_s)))
        if row.speedup is not None:
            parts.append(self.tr("{} of plain").format(ratio_text(row.speedup.ratio)))
        if row.acceptance_rate is not None:
            parts.append(self.tr("{} accepted").format(percent_text(row.acceptance_rate)))
        parts.append(self.tr("{:,} tokens").format(row.n_tokens))
        parts.append(row.strategy)
        return ", ".join(filter(None, parts))
