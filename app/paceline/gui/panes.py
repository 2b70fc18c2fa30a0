"""The three panes side by side: which are wanted, which fit, and how wide they are.

What the user wants and what is shown are two things: in a narrow window the list of chats gives
way first, then the panel, and both come back when there is room. A pane that is asked for in a
narrow window is shown all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QSplitter

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

SIDEBAR_FITS_FROM = 1080
PANEL_FITS_FROM = 820


class Panes(QObject):
    """Owns the splitter around sidebar, chat and panel."""

    visibility_changed = Signal()

    def __init__(
        self, sidebar: QWidget, chat: QWidget, panel: QWidget, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setHandleWidth(1)
        self.splitter.setChildrenCollapsible(False)
        # The panes have lines of their own; the handle is seen when the pointer is over it.
        self.splitter.setStyleSheet("QSplitter::handle:!hover { background: transparent; }")
        for at, pane in enumerate((sidebar, chat, panel)):
            self.splitter.addWidget(pane)
            self.splitter.setStretchFactor(at, 1 if pane is chat else 0)
        self._panes = {"sidebar": sidebar, "panel": panel}
        self._fits_from = {"sidebar": SIDEBAR_FITS_FROM, "panel": PANEL_FITS_FROM}
        self._wanted = {"sidebar": True, "panel": True}
        self._widths = {"sidebar": 248, "panel": 356}
        self._room = 0

    def is_shown(self, name: str) -> bool:
        """Whether a pane, "sidebar" or "panel", is shown now."""
        return not self._panes[name].isHidden()

    def is_wanted(self, name: str) -> bool:
        """Whether a pane is shown where it fits."""
        return self._wanted[name]

    def width_of(self, name: str) -> int:
        """The width of a pane, also while it is hidden."""
        pane = self._panes[name]
        return pane.width() if pane.isVisible() else self._widths[name]

    def restore(self, wanted: dict[str, bool], widths: dict[str, int]) -> None:
        """Bring back what was remembered."""
        self._wanted.update(wanted)
        self._widths.update(widths)
        for name in self._panes:
            self._show(name, is_shown=self._wanted[name] and self._fits(name, self._room))

    def toggle(self, name: str) -> None:
        """Show or hide a pane because the user said so."""
        is_shown = not self.is_shown(name)
        self._wanted[name] = is_shown
        self._show(name, is_shown=is_shown)
        self.visibility_changed.emit()

    def fit(self, room: int) -> None:
        """Adapt to a new width of the window; acts only when a threshold is crossed."""
        before, self._room = self._room, room
        for name in self._panes:
            fits = self._fits(name, room)
            if fits != self._fits(name, before) or before == 0:
                self._show(name, is_shown=self._wanted[name] and fits)
        self.visibility_changed.emit()

    def _fits(self, name: str, room: int) -> bool:
        return room >= self._fits_from[name]

    def _show(self, name: str, *, is_shown: bool) -> None:
        pane = self._panes[name]
        if is_shown == self.is_shown(name) and self._room:
            return
        if not is_shown and pane.isVisible():
            self._widths[name] = pane.width()
        pane.setVisible(is_shown)
        self._share_out()

    def _share_out(self) -> None:
        left = self._widths["sidebar"] if self.is_shown("sidebar") else 0
        right = self._widths["panel"] if self.is_shown("panel") else 0
        room = max(self.splitter.width(), self._room)
        self.splitter.setSizes([left, max(room - left - right, 1), right])
