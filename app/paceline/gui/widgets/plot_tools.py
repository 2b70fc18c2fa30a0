"""The controls in a plot's header: pause, time window, and a menu with the rest.

They are there, but faint, until the pointer or the keyboard comes near.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QHBoxLayout, QMenu, QToolButton, QWidget

from paceline.gui.scale import icon_size
from paceline.gui.viewmodels.plot_range import SPANS, USUAL_SPAN
from paceline.gui.widgets.plot_canvas import IN, OUT

if TYPE_CHECKING:
    from PySide6.QtCore import QEvent
    from PySide6.QtGui import QEnterEvent

    from paceline.gui.icons import Icons
    from paceline.gui.theme import Theme


class PlotTools(QWidget):
    """Tells what is wanted; decides nothing."""

    paused = Signal(bool)
    span_chosen = Signal(int)
    """Steps; 0: all"""
    zoom_wanted = Signal(float)
    reset_wanted = Signal()
    png_wanted = Signal()
    csv_wanted = Signal()

    def __init__(
        self, *, may_pause: bool = True, span: int = USUAL_SPAN, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._icons: Icons | None = None
        self._theme: Theme | None = None
        self.may_pause = may_pause
        self.pause = self._button(self.tr("Hold the plot"))
        self.pause.setCheckable(True)
        if not may_pause:
            self.pause.hide()
        self.pause.toggled.connect(self._on_paused)
        self.span = self._button(self.tr("Steps that are shown"))
        self.more = self._button(self.tr("More of this plot"))
        self.menu = QMenu(self)
        spans = QMenu(self)
        group = QActionGroup(self)
        for steps in (*SPANS, 0):
            text = self.tr("Last {} steps").format(steps) if steps else self.tr("Whole reply")
            action = spans.addAction(text)
            action.setCheckable(True)
            action.setChecked(steps == span)
            action.setData(steps)
            group.addAction(action)
        group.triggered.connect(self._on_span)
        self.spans = group.actions()
        for text, keys, slot in (
            (self.tr("Zoom in"), "+", self._on_zoom_in),
            (self.tr("Zoom out"), "-", self._on_zoom_out),
            (self.tr("Reset the view"), "0", self.reset_wanted),
        ):
            self.menu.addAction(f"{text}\t{keys}").triggered.connect(slot)
        self.menu.addSeparator()
        self.png = self.menu.addAction(self.tr("Export PNG…"))
        self.png.triggered.connect(self.png_wanted)
        self.csv = self.menu.addAction(self.tr("Export CSV…"))
        self.csv.triggered.connect(self.csv_wanted)
        for button, menu in ((self.span, spans), (self.more, self.menu)):
            button.setMenu(menu)
            button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        for button in (self.pause, self.span, self.more):
            row.addWidget(button)
        self._show_span(span)
        self.set_has_steps(has_steps=False)

    def set_icons(self, icons: Icons, theme: Theme) -> None:
        """Take the icons of the theme in force."""
        self._icons, self._theme = icons, theme
        self._show_icons()

    def set_has_steps(self, *, has_steps: bool) -> None:
        """Offer to export only what there is."""
        self.png.setEnabled(has_steps)
        self.csv.setEnabled(has_steps)

    def set_paused(self, *, is_paused: bool) -> None:
        """Show whether the plot holds."""
        self.pause.setChecked(is_paused)

    @Slot(QPoint)
    def open_menu(self, at: QPoint) -> None:
        """Open the menu with the rest there."""
        self.menu.popup(at)

    def enterEvent(self, event: QEnterEvent) -> None:
        """The pointer is here."""
        super().enterEvent(event)
        self._show_icons()

    def leaveEvent(self, event: QEvent) -> None:
        """The pointer has left."""
        super().leaveEvent(event)
        self._show_icons()

    def _button(self, name: str) -> QToolButton:
        button = QToolButton()
        button.setProperty("kind", "tiny")
        button.setToolTip(name)
        button.setAccessibleName(name)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return button

    def _show_icons(self) -> None:
        if self._icons is None or self._theme is None:
            return
        tint = "" if self.underMouse() else self._theme.faint
        if self.pause.isChecked():
            self.pause.setIcon(self._icons.icon("play", self._theme.lookup))
        else:
            self.pause.setIcon(self._icons.icon("pause", tint))
        self.more.setIcon(self._icons.icon("more", tint))
        for button in (self.pause, self.more):
            button.setIconSize(icon_size())

    def _show_span(self, steps: int) -> None:
        self.span.setText(str(steps) if steps else self.tr("all"))

    @Slot(bool)
    def _on_paused(self, is_paused: bool) -> None:  # noqa: FBT001
        name = self.tr("Go on") if is_paused else self.tr("Hold the plot")
        self.pause.setToolTip(name)
        self.pause.setAccessibleName(name)
        self._show_icons()
        self.paused.emit(is_paused)

    @Slot(QAction)
    def _on_span(self, action: QAction) -> None:
        self._show_span(action.data())
        self.span_chosen.emit(action.data())

    @Slot()
    def _on_zoom_in(self) -> None:
        self.zoom_wanted.emit(IN)

    @Slot()
    def _on_zoom_out(self) -> None:
        self.zoom_wanted.emit(OUT)
