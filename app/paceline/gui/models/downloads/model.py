"""Downloads for the widgets, the newest first, and what to say about them.

States come from worker threads; the model's owner brings them to the main thread first.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Literal

from PySide6.QtCore import QObject, Signal

from paceline import sizes
from paceline.catalog.download.journal import DownloadState
from paceline.catalog.sidecar import sidecar_in_path
from paceline.engine.model.model_file import model_name
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import local_size, local_sizes, translator

Step = Literal["pause", "resume", "retry", "cancel", "use", "forget"]
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

_tr = translator("Downloads")


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
    return model_name(name) or state.request.repo


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


class DownloadsModel(QObject):
    """All downloads, the newest first; each keeps its place for as long as it is known."""

    changed = Signal()
    """Something is different, such as `summary`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.states: tuple[DownloadState, ...] = ()

    def state_of(self, download: str) -> DownloadState | None:
        """Return the download of this id; None when there is none."""
        return next((state for state in self.states if state.id == download), None)

    def show_all(self, states: Iterable[DownloadState]) -> None:
        """Show these and no others; given the oldest first."""
        given = {state.id: state for state in states}
        kept = [given.pop(known.id) for known in self.states if known.id in given]
        shown = (*reversed(given.values()), *kept)
        if shown != self.states:
            self.states = shown
            self.changed.emit()

    def show(self, state: DownloadState) -> None:
        """Show how a download stands now; a new one comes on top."""
        self.show_all([*(known for known in self.states if known.id != state.id), state])

    @property
    def n_under_way(self) -> int:
        """How many go on, or wait for their turn."""
        return sum(map(is_under_way, self.states))

    @property
    def progress(self) -> int:
        """How much of all that are under way is there, in thousandths."""
        under_way = [state for state in self.states if is_under_way(state) and state.n_total]
        n_total = sum(state.n_total for state in under_way)
        return 1000 * sum(state.n_done for state in under_way) // n_total if n_total else 0

    @property
    def summary(self) -> str:
        """All that are under way in one line; empty when there is none."""
        under_way = [state for state in self.states if is_under_way(state)]
        if not under_way:
            return ""
        if len(under_way) == 1:
            return f"{title(under_way[0])}: {line(under_way[0])}"
        n_done, n_total = (
            sum(getattr(s, name) for s in under_way) for name in ("n_done", "n_total")
        )
        speed = sum(state.bytes_per_s for state in under_way)
        seconds = (n_total - n_done) / speed if speed > 0 and n_total else None
        parts = [amount(n_done, n_total), *_pace(speed, seconds)]
        return f"{_tr('{} downloads').format(len(under_way))}: {', '.join(parts)}"
