"""The widgets that show downloads: list and dialog, ring in the top bar, line in the picker.

In the list, each download has a row with its progress and the buttons that its state allows.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFrame,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from paceline.gui.kit.dialogs import scrolling
from paceline.gui.kit.labels import BreakingLabel, ElidedLabel, text_label, with_soft_breaks
from paceline.gui.kit.layouts import column_of, row_of, set_look, styled
from paceline.gui.look.current import look
from paceline.gui.models.downloads.controller import DOWNLOADS
from paceline.gui.models.downloads.model import line, permille, steps, title

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent

    from paceline.catalog.download.journal import DownloadState
    from paceline.gui.models.downloads.model import DownloadsModel, Step


class DownloadsDialog(QDialog):
    """Shows a `DownloadsPanel`; gone when it is closed."""

    def __init__(self, model: DownloadsModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Downloads"))
        self.panel = DownloadsPanel(model)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        column_of((self.panel, 1), buttons, on=self, margins=16, spacing=12)
        self.setMinimumSize(380, 240)
        self.resize(self.sizeHint())  # a hint alone gives way to the height of wrapped text

    def sizeHint(self) -> QSize:
        """Room for about four downloads."""
        return QSize(560, 520)


_SIDE = 28
_RING = 14
_WIDTH = 2.5
_FULL_TURN = 16 * 360
_TOP = 16 * 90


class DownloadsButton(QToolButton):
    """Hidden while nothing runs."""

    def __init__(self, model: DownloadsModel) -> None:
        super().__init__()
        self._model = model
        self.setProperty("kind", "quiet")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        model.changed.connect(self._on_changed)
        self._on_changed()

    def sizeHint(self) -> QSize:
        """As large as the other buttons of the bar."""
        return QSize(_SIDE, _SIDE)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the ring over the button."""
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ring = QRectF(0, 0, _RING, _RING)
        ring.moveCenter(QRectF(self.rect()).center())
        painter.setPen(QPen(QColor(look.theme.line_strong), _WIDTH))
        painter.drawEllipse(ring)
        pen = QPen(QColor(look.theme.accent), _WIDTH)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        painter.drawArc(ring, _TOP, -_FULL_TURN * self._model.progress // 1000)

    @Slot()
    def _on_changed(self) -> None:
        words = self._model.summary
        self.setVisible(bool(self._model.n_under_way))
        self.setToolTip(words)
        self.setAccessibleName(self.tr("Downloads"))
        self.setAccessibleDescription(words)
        self.update()


_TEXT_PX = 420


class DownloadStrip(QWidget):
    """Shows a `DownloadsModel`; hidden while nothing is under way."""

    def __init__(self, model: DownloadsModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.line = styled(ElidedLabel(_TEXT_PX, Qt.TextElideMode.ElideMiddle), role="small")
        self.line.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.bar = QProgressBar()
        self.bar.setRange(0, 1000)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(self.tr("Progress of the downloads"))
        column_of(self.line, self.bar, on=self, margins=0, spacing=4)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        model.changed.connect(self.show_downloads)
        self.show_downloads()

    @Slot()
    def show_downloads(self) -> None:
        """Show how they stand now."""
        summary = self._model.summary
        self.line.set_full_text(summary)
        self.line.setToolTip(summary)
        self.bar.setValue(self._model.progress)
        self.setAccessibleName(summary)
        self.setVisible(bool(summary))


_TITLE_PX = 2000
"""As wide as there is room for."""


class DownloadRow(QFrame):
    """One download: name, repository, bar, a line of figures, and buttons."""

    wanted = Signal(str, str)
    """A `Step`, and the download's id."""

    def __init__(self, download: str) -> None:
        super().__init__()
        self.setProperty("kind", "card")
        self.download = download
        self._shown: tuple[Step, ...] = ()
        self.name = styled(ElidedLabel(_TITLE_PX), role="title")
        self.repo = styled(ElidedLabel(_TITLE_PX), role="small")
        self.bar = QProgressBar()
        self.bar.setRange(0, 1000)
        self.bar.setTextVisible(False)
        self.line = styled(BreakingLabel(), role="small")
        self.line.setTextFormat(Qt.TextFormat.PlainText)
        self.line.setWordWrap(True)
        self.buttons: dict[Step, QPushButton] = {}
        foot = row_of((self.line, 1), spacing=6)
        texts: dict[Step, str] = {
            "pause": self.tr("Pause"),
            "resume": self.tr("Resume"),
            "retry": self.tr("Retry"),
            "use": self.tr("Use it"),
            "cancel": self.tr("Cancel"),
            "forget": self.tr("Remove"),
        }
        for step, text in texts.items():
            button = styled(QPushButton(text), kind="compact")
            button.setProperty("step", step)
            button.clicked.connect(self._on_clicked)
            button.hide()
            foot.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
            self.buttons[step] = button
        column_of(
            self.name, self.repo, self.bar, foot, on=self, margins=(14, 10, 14, 10), spacing=6
        )

    def show_state(self, state: DownloadState) -> None:
        """Show how the download stands."""
        name, text = title(state), line(state)
        self.name.set_full_text(name)
        self.name.setToolTip("\n".join(state.request.files))
        self.repo.set_full_text(state.request.repo)
        self.repo.setToolTip(state.request.folder)
        self.bar.setValue(permille(state))
        self.bar.setVisible(state.status not in ("done", "cancelled"))
        self.bar.setAccessibleName(self.tr("Progress of {}").format(name))
        self.line.setText(with_soft_breaks(text))
        role = "danger" if state.problem else "small"
        set_look(self.line, role=role)
        self.setAccessibleName(name)
        self.setAccessibleDescription(text)
        self._show_steps(steps(state), name)

    def focus_first(self) -> None:
        """Give the keyboard to the first of the buttons."""
        if self._shown:
            self.buttons[self._shown[0]].setFocus()

    def _show_steps(self, steps: tuple[Step, ...], name: str) -> None:
        if steps == self._shown:
            return
        self._shown = steps
        focused = [step for step, button in self.buttons.items() if button.hasFocus()]
        for step, button in self.buttons.items():
            button.setVisible(step in steps)
            button.setAccessibleName(f"{button.text()}: {name}")
        if focused and focused[0] not in steps:  # the keyboard stays with the download
            self.focus_first()

    @Slot()
    def _on_clicked(self) -> None:
        self.wanted.emit(self.sender().property("step"), self.download)


class DownloadsPanel(QWidget):
    """All downloads in a scrolling list, or a sentence when there are none."""

    wanted = Signal(str, str)
    """A `Step`, and the download's id."""

    def __init__(self, model: DownloadsModel) -> None:
        super().__init__()
        self._model = model
        self.setObjectName(DOWNLOADS)
        self.setAccessibleName(self.tr("Downloads"))
        self.rows: list[DownloadRow] = []
        self.empty = text_label(
            self.tr(
                "Nothing is being downloaded. Models that you fetch from Hugging Face show here."
            ),
            "muted",
            wraps=True,
        )
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        page = styled(QWidget(), kind="page")
        self._column = column_of(None, on=page, margins=0, spacing=8)
        self.area = scrolling(page)
        column_of((self.empty, 1), (self.area, 1), on=self, margins=0)
        model.rowsInserted.connect(self._on_inserted)
        model.rowsRemoved.connect(self._on_removed)
        model.dataChanged.connect(self._on_changed)
        if model.rowCount():
            self._on_inserted(QModelIndex(), 0, model.rowCount() - 1)
        self._show_emptiness()

    @Slot(QModelIndex, int, int)
    def _on_inserted(self, _parent: QModelIndex, first: int, last: int) -> None:
        for at in range(first, last + 1):
            state = self._model.states[at]
            row = DownloadRow(state.id)
            row.wanted.connect(self.wanted)
            row.show_state(state)
            self.rows.insert(at, row)
            self._column.insertWidget(at, row)
        self._order_by_sight()
        self._show_emptiness()

    @Slot(QModelIndex, int, int)
    def _on_removed(self, _parent: QModelIndex, first: int, last: int) -> None:
        gone = self.rows[first : last + 1]
        del self.rows[first : last + 1]
        had_focus = any(row.isAncestorOf(self.focusWidget()) for row in gone if self.focusWidget())
        for row in gone:
            self._column.removeWidget(row)
            row.hide()
            row.deleteLater()
        self._show_emptiness()
        if had_focus and self.rows:
            self.rows[min(first, len(self.rows) - 1)].focus_first()

    @Slot(QModelIndex, QModelIndex)
    def _on_changed(self, first: QModelIndex, last: QModelIndex) -> None:
        for at in range(first.row(), last.row() + 1):
            self.rows[at].show_state(self._model.states[at])

    def _order_by_sight(self) -> None:
        """Let the keyboard go from top to bottom, though the newest row was made last."""
        buttons = [button for row in self.rows for button in row.buttons.values()]
        for first, second in pairwise(buttons):
            QWidget.setTabOrder(first, second)

    def _show_emptiness(self) -> None:
        self.empty.setVisible(not self.rows)
        self.area.setVisible(bool(self.rows))
