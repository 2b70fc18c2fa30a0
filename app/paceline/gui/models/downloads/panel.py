"""Widgets of downloads: list and dialog, ring in the top bar, line in the picker.

In the list, each download has a row with its progress and the buttons for its status.
"""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from paceline.catalog.download.record import Download
from paceline.gui.kit.dialogs import closing_row, scrolling
from paceline.gui.kit.labels import BreakingLabel, ElidedLabel, text_label, with_soft_breaks
from paceline.gui.kit.layouts import column_of, discard, row_of, set_look, styled
from paceline.gui.look.current import look
from paceline.gui.look.scale import STEP
from paceline.gui.models.downloads.controller import DOWNLOADS
from paceline.gui.models.downloads.model import DownloadsModel, Step, line, permille, steps, title


class DownloadsDialog(QDialog):
    """Dialog with a `DownloadsPanel`; deleted when it is closed."""

    def __init__(self, model: DownloadsModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Downloads"))
        self.panel = DownloadsPanel(model)
        list_ = column_of(self.panel, margins=2 * STEP)
        column_of((list_, 1), closing_row(self), on=self, margins=0, spacing=0)
        self.setMinimumSize(380, 240)
        self.resize(560, 520)  # room for about four downloads


_SIDE = 28
_RING = 14
_WIDTH = 2.5
_FULL_TURN = 16 * 360
_TOP = 16 * 90


class DownloadsButton(QToolButton):
    """Button with a ring for the progress; hidden while no download runs."""

    def __init__(self, model: DownloadsModel) -> None:
        super().__init__()
        self._model = model
        self.setProperty("kind", "quiet")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        model.changed.connect(self._on_changed)
        self._on_changed()

    def sizeHint(self) -> QSize:
        """Return the size of the bar's other buttons."""
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
        self.update()


_TEXT_PX = 420


class DownloadStrip(QWidget):
    """A line about a `DownloadsModel`; hidden without unfinished downloads."""

    def __init__(self, model: DownloadsModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.line = styled(ElidedLabel(_TEXT_PX, Qt.TextElideMode.ElideMiddle), role="small")
        self.line.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.bar = QProgressBar(minimum=0, maximum=1000, textVisible=False)
        self.bar.setAccessibleName(self.tr("Progress of the downloads"))
        column_of(self.line, self.bar, on=self, margins=0, spacing=4)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        model.changed.connect(self.show_downloads)
        self.show_downloads()

    @Slot()
    def show_downloads(self) -> None:
        """Show the present state."""
        summary = self._model.summary
        self.line.setText(summary)
        self.bar.setValue(self._model.progress)
        self.setAccessibleName(summary)
        self.setVisible(bool(summary))


_TITLE_PX = 2000
"""Maximum width; practically unlimited."""


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
        self.bar = QProgressBar(minimum=0, maximum=1000, textVisible=False)
        self.line = styled(BreakingLabel(), role="small")
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

    def show_download(self, download: Download) -> None:
        """Show the state of the download."""
        name, text = title(download), line(download)
        self.name.setText(name)
        self.name.setToolTip("\n".join(download.request.files))
        self.repo.setText(download.request.repo)
        self.repo.setToolTip(download.request.folder)
        self.bar.setValue(permille(download))
        self.bar.setVisible(download.status not in ("done", "cancelled"))
        self.bar.setAccessibleName(self.tr("Progress of {}").format(name))
        self.line.setText(with_soft_breaks(text))
        role = "danger" if download.problem else "small"
        set_look(self.line, role=role)
        self.setAccessibleName(name)
        self.setAccessibleDescription(text)
        self._show_steps(steps(download), name)

    def focus_first(self) -> None:
        """Focus the first button."""
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
        if focused and focused[0] not in steps:  # the focus stays at the download
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
        model.changed.connect(self._show)
        self._show()

    @Slot()
    def _show(self) -> None:
        """Give every download its row: new ones at the top, the others in their places."""
        downloads, before, focused = self._model.downloads, self.rows, self.focusWidget()
        gone = {row.download: row for row in before}
        self.rows = [
            gone.pop(download.id) if download.id in gone else self._new_row(download.id)
            for download in downloads
        ]
        for row in gone.values():
            had_focus = focused is not None and row.isAncestorOf(focused)
            discard([row], self._column)
            if had_focus and self.rows:
                self.rows[min(before.index(row), len(self.rows) - 1)].focus_first()
        for at, (row, download) in enumerate(zip(self.rows, downloads, strict=True)):
            row.show_download(download)
            if self._column.indexOf(row) < 0:
                self._column.insertWidget(at, row)
        if self.rows != before:
            self._order_by_sight()
        self.empty.setVisible(not self.rows)
        self.area.setVisible(bool(self.rows))

    def _new_row(self, download: str) -> DownloadRow:
        row = DownloadRow(download)
        row.wanted.connect(self.wanted)
        return row

    def _order_by_sight(self) -> None:
        """Order the focus from top to bottom: the newest row was made last."""
        buttons = [button for row in self.rows for button in row.buttons.values()]
        for first, second in pairwise(buttons):
            QWidget.setTabOrder(first, second)
