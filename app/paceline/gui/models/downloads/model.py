"""Downloads for the widgets, the newest first, with their words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Literal

from PySide6.QtCore import QObject, Signal

from paceline import sizes
from paceline.catalog.download.record import Download
from paceline.catalog.sidecar import sidecar_in_path
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import local_size, local_sizes, translator
from paceline.gui.state.pair import model_name

Step = Literal["pause", "resume", "retry", "cancel", "use", "forget"]
_UNDER_WAY = ("waiting", "running", "verifying")
"""Statuses of downloads that run, or will run when another one ends."""

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


def steps(download: Download) -> tuple[Step, ...]:
    """Return the possible actions on a download; a drafter that is no model cannot be loaded."""
    is_sidecar = any(map(sidecar_in_path, download.request.files))
    return tuple(s for s in _STEPS[download.status] if s != "use" or not is_sidecar)


def title(download: Download) -> str:
    """Return the title of a download: its file name, without the number of a split model's part."""
    name = PurePosixPath(download.request.files[0]).name if download.request.files else ""
    return model_name(name) or download.request.repo


def permille(download: Download) -> int:
    """Return the received part, in thousandths."""
    return 1000 if download.status == "done" else _permille(download.n_done, download.n_total)


def amount(n_done: int, n_total: int) -> str:
    """Return the received amount, e.g. ``3.1 of 4.9 GB``, or ``3.1 GB`` for an unknown total."""
    if not n_total:
        return local_size(n_done)
    return _tr("{} of {}").format(*local_sizes(n_done, n_total))


def line(download: Download) -> str:
    """Return the state of a download in one line."""
    so_far = amount(download.n_done, download.n_total)
    match download.status:
        case "waiting":
            return _tr("Waits for another download to end")
        case "running":
            return _running(download, so_far)
        case "verifying":
            return _tr("Checking {}…").format(local_size(download.n_total))
        case "paused":
            return _why(download) or _tr("Paused, {}").format(so_far)
        case "done":
            return _tr("Downloaded, {}").format(local_size(download.n_total or download.n_done))
        case "failed":
            return _why(download) or _tr("It failed.")
        case "cancelled":
            return _tr("Cancelled; what had arrived is deleted")


def _running(download: Download, so_far: str) -> str:
    if download.obstacle:
        return _tr("{} Trying again…").format(said(download.obstacle))
    if not download.n_total:
        return _tr("Connecting…")
    return ", ".join([so_far, *_pace(download.bytes_per_s, download.seconds_left)])


def _why(download: Download) -> str:
    """Return why a download does not continue, with a remedy; empty where the user stopped it."""
    return said(download.problem, download.hint)


def _pace(bytes_per_s: float, seconds_left: float | None) -> list[str]:
    parts = []
    if bytes_per_s > 0:
        parts.append(_tr("{}/s").format(local_size(bytes_per_s)))
    if seconds_left is not None:
        parts.append(_tr("{} left").format(sizes.duration(seconds_left)))
    return parts


class DownloadsModel(QObject):
    """All downloads, the newest first."""

    changed = Signal()
    """A download, and so for example `summary`, has changed."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.downloads: tuple[Download, ...] = ()

    def find(self, id_: str) -> Download | None:
        """Return the download of this id, or None."""
        return next((download for download in self.downloads if download.id == id_), None)

    def show(self, downloads: Sequence[Download]) -> None:
        """Replace the downloads by these, which begin with the oldest."""
        shown = tuple(reversed(downloads))
        if shown != self.downloads:
            self.downloads = shown
            self.changed.emit()

    @property
    def n_under_way(self) -> int:
        """Number of downloads that run or wait."""
        return len(self._under_way())

    @property
    def progress(self) -> int:
        """Received part of all unfinished downloads, in thousandths."""
        return together(self._under_way())

    @property
    def summary(self) -> str:
        """All unfinished downloads in one line; empty without any."""
        under_way = self._under_way()
        if not under_way:
            return ""
        if len(under_way) == 1:
            return f"{title(under_way[0])}: {line(under_way[0])}"
        return f"{_tr('{} downloads').format(len(under_way))}: {amount_and_pace(under_way)}"

    def _under_way(self) -> list[Download]:
        return [download for download in self.downloads if download.status in _UNDER_WAY]


def together(downloads: Iterable[Download]) -> int:
    """Return the received part of some downloads, in thousandths."""
    return _permille(*_counts(each for each in downloads if each.n_total))


def amount_and_pace(downloads: Sequence[Download]) -> str:
    """Return the received amount of some downloads, their speed and the time left."""
    n_done, n_total = _counts(downloads)
    speed = sum(download.bytes_per_s for download in downloads)
    seconds = (n_total - n_done) / speed if speed > 0 and n_total else None
    return ", ".join([amount(n_done, n_total), *_pace(speed, seconds)])


def _counts(downloads: Iterable[Download]) -> tuple[int, int]:
    """Return the received bytes of some downloads, and the bytes of all their files."""
    counts = [(download.n_done, download.n_total) for download in downloads]
    return sum(n_done for n_done, _ in counts), sum(n_total for _, n_total in counts)


def _permille(n_done: int, n_total: int) -> int:
    return min(1000, 1000 * n_done // n_total) if n_total else 0
