"""What appears while a model file is dragged over the window: one zone per place it can take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from paceline.gui.theme import restyle
from paceline.gui.widgets.local_style import drop_zones_stylesheet

if TYPE_CHECKING:
    from PySide6.QtCore import QMimeData

    from paceline.gui.theme import Theme


class DropZones(QWidget):
    """Covers a window while a ``.gguf`` is over it: left for the target, right for the draft."""

    dropped = Signal(list, bool)
    """Paths, and whether they were dropped on the draft model's zone"""

    def __init__(self, window: QWidget, theme: Theme) -> None:
        super().__init__(window)
        self.setObjectName("drop_zones")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.set_theme(theme)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._target = self._make_zone(self.tr("Open as target"), self.tr("decides the text"))
        self._draft = self._make_zone(self.tr("Use as draft model"), self.tr("writes ahead"))
        row = QHBoxLayout(self)
        row.setContentsMargins(24, 72, 24, 48)
        row.setSpacing(24)
        row.addWidget(self._target)
        row.addWidget(self._draft)
        self.hide()
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours."""
        self.setStyleSheet(drop_zones_stylesheet(theme))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take the window's drag and drop events."""
        if isinstance(event, QDragEnterEvent):
            if model_files(event.mimeData()):
                event.acceptProposedAction()
                self._show_over(watched, event.position().toPoint())
                return True
        elif isinstance(event, QDragMoveEvent):
            if model_files(event.mimeData()):
                event.acceptProposedAction()
                self._mark(event.position().toPoint())
                return True
        elif event.type() == QEvent.Type.DragLeave:
            self.hide()
        elif isinstance(event, QDropEvent):
            self.hide()
            paths = model_files(event.mimeData())
            if paths:
                event.acceptProposedAction()
                self.dropped.emit(paths, self._is_for_draft(event.position().toPoint()))
                return True
        return super().eventFilter(watched, event)

    def _show_over(self, window: QObject, position: QPoint) -> None:
        if isinstance(window, QWidget):
            self.setGeometry(window.rect())
        self._mark(position)
        self.raise_()
        self.show()

    def _is_for_draft(self, position: QPoint) -> bool:
        return position.x() >= self.window().width() // 2

    def _mark(self, position: QPoint) -> None:
        for zone, is_chosen in (
            (self._target, not self._is_for_draft(position)),
            (self._draft, self._is_for_draft(position)),
        ):
            zone.setProperty("tone", "accent" if is_chosen else "")
            restyle(zone)

    @staticmethod
    def _make_zone(title: str, explanation: str) -> QFrame:
        zone = QFrame()
        zone.setProperty("kind", "dropzone")
        name, remark = QLabel(title), QLabel(explanation)
        name.setProperty("role", "heading")
        remark.setProperty("role", "muted")
        column = QVBoxLayout(zone)
        column.addStretch(1)
        for label in (name, remark):
            column.addWidget(label, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(1)
        return zone


def model_files(data: QMimeData) -> list[str]:
    """The local ``.gguf`` files in what is dragged."""
    paths = [url.toLocalFile() for url in data.urls() if url.isLocalFile()]
    return [path for path in paths if path.lower().endswith(".gguf")]
