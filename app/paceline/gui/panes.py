"""The three panes side by side: which are wanted, which fit, and how wide they are.

What the user wants and what is shown are two things: in a narrow window the list of chats gives
way first, then the panel, and both come back when there is room. A pane that is asked for in a
narrow window is shown all the same.

Widths are kept as they are at scale 1, so that larger text has wider panes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QSplitter

from paceline.gui.scale import BASE_PX, font_px, px
from paceline.gui.whole_style import SPLITTER

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
        self.splitter.setObjectName(SPLITTER)
        for at, pane in enumerate((sidebar, chat, panel)):
            self.splitter.addWidget(pane)
            self.splitter.setStretchFactor(at, 1 if pane is chat else 0)
        self._panes = {"sidebar": sidebar, "panel": panel}
        self._fits_from = {"sidebar": SIDEBAR_FITS_FROM, "panel": PANEL_FITS_FROM}
        self._wanted = {"sidebar": True, "panel": True}
        self._widths = {"sidebar": 248, "panel": 356}
        self._panel_px = panel.minimumWidth()
        self._room = 0
        self._fit_panel()
        self.splitter.splitterMoved.connect(self._on_splitter_moved)

    def is_shown(self, name: str) -> bool:
        """Whether a pane, "sidebar" or "panel", is shown now."""
        return not self._panes[name].isHidden()

    def is_wanted(self, name: str) -> bool:
        """Whether a pane is shown where it fits."""
        return self._wanted[name]

    def width_of(self, name: str) -> int:
        """The width at scale 1 that the user gave a pane, also while there is no room for it."""
        return self._widths[name]

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

    def fit_text(self) -> None:
        """Adapt to another size of text."""
        self._fit_panel()
        for name in self._panes:
            self._show(name, is_shown=self._wanted[name] and self._fits(name, self._room))
        self._share_out()
        self.visibility_changed.emit()

    def fit(self, room: int) -> None:
        """Adapt to a new width of the window; panes come and go at a threshold alone."""
        before, self._room = self._room, room
        for name in self._panes:
            fits = self._fits(name, room)
            if fits != self._fits(name, before) or before == 0:
                self._show(name, is_shown=self._wanted[name] and fits)
        self._share_out()  # what had to be narrow meanwhile need not stay so
        self.visibility_changed.emit()

    def _fit_panel(self) -> None:
        """Larger text needs more room; smaller text leaves the frames as wide as they are."""
        self._panes["panel"].setMinimumWidth(max(self._panel_px, px(self._panel_px)))

    @Slot(int, int)
    def _on_splitter_moved(self, _at: int, handle: int) -> None:
        name = "sidebar" if handle == 1 else "panel"
        self._widths[name] = _at_scale_1(self._panes[name].width())

    def _fits(self, name: str, room: int) -> bool:
        return room >= px(self._fits_from[name])

    def _show(self, name: str, *, is_shown: bool) -> None:
        pane = self._panes[name]
        if is_shown == self.is_shown(name) and self._room:
            return
        pane.setVisible(is_shown)
        self._share_out()

    def _share_out(self) -> None:
        left = px(self._widths["sidebar"]) if self.is_shown("sidebar") else 0
        right = px(self._widths["panel"]) if self.is_shown("panel") else 0
        room = max(self.splitter.width(), self._room)
        self.splitter.setSizes([left, max(room - left - right, 1), right])


def _at_scale_1(width: int) -> int:
    return round(width * BASE_PX / font_px())
