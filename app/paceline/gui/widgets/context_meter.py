"""How full the context is: a few words over a thin bar; a click tells what fills it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QSize, Qt, Slot
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QLabel,
    QProgressBar,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from paceline.gui.theme import restyle
from paceline.gui.viewmodels.context import (
    ContextUse,
    description,
    headline,
    meter_text,
    parts,
    warning,
)

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent, QResizeEvent

_POPOVER_PX = 300
_BAR_PX = 3
_SIDE_PX = 4
_STEPS = 1000


class ContextMeter(QToolButton):
    """Hidden while there is nothing to measure."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "meter")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.use = ContextUse()
        self._is_wanted = True
        self.bar = QProgressBar(self)
        self.bar.setProperty("kind", "meter")
        self.bar.setRange(0, _STEPS)
        self.bar.setTextVisible(False)
        self.bar.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.popover: ContextPopover | None = None
        self.clicked.connect(self._on_clicked)
        self.show_use(self.use)

    def show_use(self, use: ContextUse) -> None:
        """Show how full the context is."""
        is_new_tone = use.tone != self.property("tone")
        self.use = use
        self.setText(meter_text(use))
        self.bar.setValue(round(use.share * _STEPS))
        if is_new_tone:
            for widget in (self, self.bar):
                widget.setProperty("tone", use.tone)
                restyle(widget)
        self.setToolTip(description(use))
        self.setAccessibleName(meter_text(use))
        self.setAccessibleDescription(description(use))
        self._show_if_wanted()
        if self.popover is not None and self.popover.isVisible():
            self.popover.show_use(use)

    def set_wanted(self, wanted: bool) -> None:  # noqa: FBT001
        """Make room for more urgent words beside it, or come back."""
        self._is_wanted = wanted
        self._show_if_wanted()

    def sizeHint(self) -> QSize:
        """As wide as the words."""
        hint = super().sizeHint()
        return QSize(
            self.fontMetrics().horizontalAdvance(self.text()) + 2 * _SIDE_PX, hint.height()
        )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter does what a click does."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the bar below the words."""
        super().resizeEvent(event)
        place = self.height() - _BAR_PX - 3
        self.bar.setGeometry(_SIDE_PX, place, self.width() - 2 * _SIDE_PX, _BAR_PX)

    def _show_if_wanted(self) -> None:
        self.setVisible(self._is_wanted and self.use.n_ctx > 0)

    @Slot()
    def _on_clicked(self) -> None:
        if self.popover is None:
            self.popover = ContextPopover(self)
        self.popover.show_use(self.use)
        self.popover.open_above(self)


class ContextPopover(QFrame):
    """The parts of the context, one below the other; Esc or a click elsewhere closes it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setProperty("kind", "card")
        self.setFixedWidth(_POPOVER_PX)
        self.title = QLabel()
        self.title.setProperty("role", "title")
        self.title.setWordWrap(True)
        self._rows = QGridLayout()
        self._rows.setColumnStretch(0, 1)
        self._rows.setVerticalSpacing(4)
        self._labels: list[QLabel] = []
        self.warning = QLabel()
        self.warning.setWordWrap(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 12, 14, 12)
        column.setSpacing(8)
        column.addWidget(self.title)
        column.addLayout(self._rows)
        column.addWidget(self.warning)

    def show_use(self, use: ContextUse) -> None:
        """Show what fills the context."""
        self.title.setText(headline(use))
        for label in self._labels:
            self._rows.removeWidget(label)
            label.hide()
            label.deleteLater()
        self._labels = []
        rows = [(words, f"{n_tokens:,}") for words, n_tokens in parts(use)]
        if use.room:
            rows.append((self.tr("The reply may have"), f"{use.room:,}"))
        for row, (words, figure) in enumerate(rows):
            self._add(row, 0, words, "small")
            self._add(row, 1, figure, "value")
        self.warning.setText(warning(use))
        self.warning.setVisible(bool(self.warning.text()))
        self.warning.setProperty("role", "danger" if use.tone == "danger" else "small")
        restyle(self.warning)
        self.setAccessibleName(description(use))
        self._fit()

    def open_above(self, widget: QWidget) -> None:
        """Show it above a widget, or below where there is no room."""
        self._fit()
        screen = widget.screen().availableGeometry()
        place = widget.mapToGlobal(QPoint(0, -self.height() - 6))
        if place.y() < screen.top():
            place.setY(widget.mapToGlobal(QPoint(0, widget.height() + 6)).y())
        place.setX(max(min(place.x(), screen.right() - self.width()), screen.left()))
        self.move(place)
        self.show()
        self.setFocus()

    def _fit(self) -> None:
        """Become as high as the lines need, which break by the width."""
        layout = self.layout()
        assert layout is not None
        layout.activate()
        self.setFixedHeight(layout.totalHeightForWidth(self.width()))

    def _add(self, row: int, column: int, text: str, role: str) -> None:
        label = QLabel(text)
        label.setProperty("role", role)
        side = Qt.AlignmentFlag.AlignRight if column else Qt.AlignmentFlag.AlignLeft
        self._rows.addWidget(label, row, column, side)
        self._labels.append(label)
