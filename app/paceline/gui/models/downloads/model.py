"""Downloads for the widgets: one row each, the newest first, and what to say about them.

States come from worker threads; the model's owner brings them to the main thread first.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Literal

from PySide6.QtCore import (
    QAbstractListModel,
    QCoreApplication,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from paceline import sizes
from paceline.catalog.local.model_files import PART
from paceline.catalog.sidecar import sidecar_in_path
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import local_size, local_sizes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paceline.catalog.download.journal import DownloadState

STATE_ROLE = int(Qt.ItemDataRole.UserRole) + 1
"""The row's `DownloadState`."""

Index = QModelIndex | QPersistentModelIndex
Step = Literal["pause", "resume", "retry", "cancel", "use", "forget"]
_TOP = QModelIndex()
_UNDER_WAY = ("waiting", "running", "verifying")

_STEPS: dict[str, tuple[Step, ...]] = {
    "waiting": ("pause", "cancel"),
    "running": ("pause", "cancel"),
    "verifying": ("cancel",),
    "paused": ("resume", "cancel"),
    "failed": ("retry", "cancel"),
    "done": ("use", "forget"),
    "cancelled": ("retry", "forget"),
}


def _tr(text: str) -> str:
    return QCoreApplication.translate("Downloads", text)


def is_under_way(state: DownloadState) -> bool:
    """Whether it goes on, or will as soon as another one ends."""
    return state.status in _UNDER_WAY


def steps(state: DownloadState) -> tuple[Step, ...]:
    """Return what can be done with a download; a drafter that is no model cannot be loaded."""
    is_sidecar = any(map(sidecar_in_path, state.request.files))
    return tuple(s for s in _STEPS[state.status] if s != "use" or not is_sidecar)


def title(state: DownloadState) -> str:
    """Return what a download is called: the file's name, of a split model without the part."""
    name = PurePosixPath(state.request.files[0]).name if state.request.files else ""
    return PART.sub("", name).removesuffix(".gguf") or state.request.repo


def permille(state: DownloadState) -> int:
    """Return how much is there, in thousandths."""
    if state.status == "done":
        return 1000
    return min(1000, 1000 * state.n_done // state.n_total) if state.n_total else 0


def amount(n_done: int, n_total: int) -> str:
    """Return how much is there, e.g. ``3.1 of 4.9 GB``; without an end ``3.1 GB``."""
    if not n_total:
        return local_size(n_done)
    return _tr("{} of {}").format(*local_sizes(n_done, n_total))


def line(state: DownloadState) -> str:
    """Return how a download stands, in one line."""
    so_far = amount(state.n_done, state.n_total)
    match state.status:
        case "waiting":
            return _tr("Waits for another download to end")
        case "running":
            if not state.n_total:
                return _tr("Connecting…")
            return ", ".join([so_far, *_pace(state.bytes_per_s, state.seconds_left)])
        case "verifying":
            return _tr("Checking {}…").format(local_size(state.n_total))
        case "paused":
            return _why(state) or _tr("Paused, {}").format(so_far)
        case "done":
            return _tr("Downloaded, {}").format(local_size(state.n_total or state.n_done))
        case "failed":
            return _why(state) or _tr("It failed.")
        case "cancelled":
            return _tr("Cancelled; what had arrived is deleted")


def _why(state: DownloadState) -> str:
    """Return why it does not go on, and what to do; empty where the user stopped it."""
    return said(state.problem, state.hint)


def _pace(bytes_per_s: float, seconds_left: float | None) -> list[str]:
    parts = []
    if bytes_per_s > 0:
        parts.append(_tr("{}/s").format(local_size(bytes_per_s)))
    if seconds_left is not None:
        parts.append(_tr("{} left").format(sizes.duration(seconds_left)))
    return parts


class DownloadsModel(QAbstractListModel):
    """A row per download; it keeps its place for as long as it is known."""

    changed = Signal()
    """Something is different, such as `summary`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._states: list[DownloadState] = []

    @property
    def states(self) -> tuple[DownloadState, ...]:
        """All downloads, in the order of the rows."""
        return tuple(self._states)

    def state_of(self, download: str) -> DownloadState | None:
        """Return the download of this id; None when there is none."""
        row = self.row_of(download)
        return self._states[row] if row >= 0 else None

    def row_of(self, download: str) -> int:
        """Return the row of the download of this id; -1 when there is none."""
        return next((row for row, s in enumerate(self._states) if s.id == download), -1)

    def show_all(self, states: Iterable[DownloadState]) -> None:
        """Show these and no others; given the oldest first."""
        states = tuple(states)
        ids = {state.id for state in states}
        for state in self.states:
            if state.id not in ids:
                self.remove(state.id)
        for state in states:
            self.show(state)

    def show(self, state: DownloadState) -> None:
        """Show how a download stands now; a new one comes on top."""
        row = self.row_of(state.id)
        if row < 0:
            self.beginInsertRows(_TOP, 0, 0)
            self._states.insert(0, state)
            self.endInsertRows()
        elif state == self._states[row]:
            return
        else:
            self._states[row] = state
            index = self.index(row)
            self.dataChanged.emit(index, index)
        self.changed.emit()

    def remove(self, download: str) -> None:
        """Take a download out of the list."""
        row = self.row_of(download)
        if row >= 0:
            self.beginRemoveRows(_TOP, row, row)
            del self._states[row]
            self.endRemoveRows()
            self.changed.emit()

    @property
    def n_under_way(self) -> int:
        """How many go on, or wait for their turn."""
        return sum(map(is_under_way, self._states))

    @property
    def progress(self) -> int:
        """How much of all that are under way is there, in thousandths."""
        under_way = [state for state in self._states if is_under_way(state) and state.n_total]
        n_total = sum(state.n_total for state in under_way)
        return 1000 * sum(state.n_done for state in under_way) // n_total if n_total else 0

    @property
    def summary(self) -> str:
        """All that are under way in one line; empty when there is none."""
        under_way = [state for state in self._states if is_under_way(state)]
        if not under_way:
            return ""
        if len(under_way) == 1:
            return f"{title(under_way[0])}: {line(under_way[0])}"
        n_done, n_total = (sum(getattr(s, name) for s in under_way) for name in _SUMMED)
        speed = sum(state.bytes_per_s for state in under_way)
        seconds = (n_total - n_done) / speed if speed > 0 and n_total else None
        parts = [amount(n_done, n_total), *_pace(speed, seconds)]
        return f"{_tr('{} downloads').format(len(under_way))}: {', '.join(parts)}"

    def rowCount(self, parent: Index = _TOP) -> int:
        """Number of downloads."""
        return 0 if parent.isValid() else len(self._states)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """One field of a download."""
        if not index.isValid():
            return None
        state = self._states[index.row()]
        if role == STATE_ROLE:
            return state
        if role == Qt.ItemDataRole.DisplayRole:
            return title(state)
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return f"{title(state)}: {line(state)}"
        return None


_SUMMED = ("n_done", "n_total")
