"""The light beside the model button: whether other programs are served, and which one."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Slot
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QToolButton

from paceline.gui.kit.layouts import styled
from paceline.gui.look.current import look
from paceline.gui.look.scale import px
from paceline.gui.serving.controller import ServingController
from paceline.gui.state.programs import ProgramReplies

_SIDE, _DOT, _RIM = 34, 7, 1.5


class ServingLight(QToolButton):
    """Icon; with a green dot while on, lit and with a dot of another colour while answering."""

    def __init__(self, serving: ServingController, programs: ProgramReplies) -> None:
        super().__init__()
        self._serving, self._programs = serving, programs
        styled(self, kind="quiet")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        serving.changed.connect(self._show)
        programs.changed.connect(self._show)
        self._show()

    def sizeHint(self) -> QSize:
        """Return the model button's height."""
        return QSize(max(_SIDE, px(_SIDE)), max(_SIDE, px(_SIDE)))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the dot over the icon."""
        super().paintEvent(event)
        if self._serving.status == "off":
            return
        theme = look.theme
        is_busy = self._programs.answered is not None or self._serving.status != "on"
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        dot = QRectF(0, 0, px(_DOT), px(_DOT))
        dot.moveCenter(QRectF(self.rect()).center() + QPointF(px(6), px(6)))
        painter.setPen(QPen(QColor(theme.surface), 2 * _RIM))
        painter.setBrush(QColor(theme.lookup if is_busy else theme.accent))
        painter.drawEllipse(dot)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.drawEllipse(dot)

    @Slot()
    def _show(self) -> None:
        words = "\n".join(self.words())
        if words != self.toolTip():
            self.setToolTip(words)
            self.setAccessibleName(self.words()[0])
            self.setAccessibleDescription("\n".join(self.words()[1:]))
        status, asker = self._serving.status, self._programs.asker
        lit = "lookup" if asker else ("accent" if status == "on" else "muted")
        self.setIcon(look.icon("serve", lit))
        self.update()

    def words(self) -> tuple[str, ...]:
        """Return the meaning of the light, line by line."""
        status, programs = self._serving.status, self._programs
        if status == "off":
            return (self.tr("Other programs are not served"),)
        if programs.asker:
            first = self.tr("{} is being answered").format(programs.asker)
        elif status == "ending":
            first = self.tr("Other programs are served no longer")
        else:
            first = self.tr("Other programs can ask")
        lines = [first, self._serving.access.url]
        if programs.n_waiting:
            lines.append(self.tr("Waiting: {}").format(programs.n_waiting))
        lines.append(self.tr("Requests so far: {}").format(programs.n_answered))
        return tuple(lines)
