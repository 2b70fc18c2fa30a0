"""What a search on the Hub has found, as a list that grows page by page, and how it stands.

Rows are only ever appended or all taken away, so that a view keeps its place. Main thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from paceline.catalog import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.catalog.hub.values import HubModel
    from paceline.errors import UserError

MODEL_ROLE = int(Qt.ItemDataRole.UserRole) + 1
"""The row's `HubModel`."""

State = Literal["idle", "searching", "results", "empty", "offline", "failed"]
Index = QModelIndex | QPersistentModelIndex
_TOP = QModelIndex()


class HubResults(QAbstractListModel):
    """One row per repository.

    Attributes:
        state: "searching": there is no row yet; "results": there are some, and more may come.
        error: Why the search failed, or could not go on behind the rows that are there.
        has_more: Whether further rows can be asked for.
    """

    state_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[HubModel] = []
        self._repos: set[str] = set()
        self.state: State = "idle"
        self.error: UserError | None = None
        self.has_more = False

    @property
    def models(self) -> tuple[HubModel, ...]:
        """All rows."""
        return tuple(self._rows)

    def begin(self) -> None:
        """A search has begun: take away what an earlier one has found."""
        self.beginResetModel()
        self._rows.clear()
        self._repos.clear()
        self.endResetModel()
        self._become("searching")

    def append(self, models: Sequence[HubModel]) -> None:
        """Show these behind the others; between two pages a repository may move to the second."""
        new = [model for model in models if model.repo not in self._repos]
        if not new:
            return
        self.beginInsertRows(_TOP, len(self._rows), len(self._rows) + len(new) - 1)
        self._rows += new
        self._repos.update(model.repo for model in new)
        self.endInsertRows()
        if self.state != "results":
            self._become("results")

    def end(self, *, has_more: bool) -> None:
        """The search has ended, or rests until more is asked for."""
        self._become("results" if self._rows else "empty", has_more=has_more)

    def fail(self, error: UserError) -> None:
        """The search has ended with an error; rows that are there stay."""
        if self._rows:
            self._become("results", error=error)
        else:
            self._become("offline" if error.code == "offline" else "failed", error=error)

    def rowCount(self, parent: Index = _TOP) -> int:
        """Number of repositories."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The repository of a row, or words about it."""
        if not index.isValid():
            return None
        model = self._rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return model.repo
        if role == MODEL_ROLE:
            return model
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self._spoken(model)
        return None

    def _spoken(self, model: HubModel) -> str:
        weights = words.weights(model.n_params)
        return ", ".join(
            filter(
                None,
                (
                    model.repo,
                    self.tr("{} parameters").format(weights) if weights else "",
                    self.tr("{} downloads").format(model.downloads),
                    model.license,
                    self.tr("must be asked for") if model.gate != "open" else "",
                ),
            )
        )

    def _become(
        self, state: State, *, error: UserError | None = None, has_more: bool = False
    ) -> None:
        self.state, self.error, self.has_more = state, error, has_more
        self.state_changed.emit()
