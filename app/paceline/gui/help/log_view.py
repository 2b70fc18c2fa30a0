"""The log as people see it: its end, by level and words, going on while the program runs.

The end of the file is read off the main thread: the last two megabytes, then what is new. The file
may be rotated away at any moment; then it is read anew. A line that belongs to no record of its
own, such as one of a traceback, has the level of the one above.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QColor, QFontMetrics, QGuiApplication, QKeyEvent, QKeySequence, QPainter
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QListView,
    QPushButton,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTabWidget,
    QWidget,
)

from paceline.errors import UserError
from paceline.gui.help.about import VersionsPage
from paceline.gui.kit.background import Background
from paceline.gui.kit.dialogs import closing_row, scrolling, within_screen
from paceline.gui.kit.file_dialogs import open_folder
from paceline.gui.kit.labels import text_label
from paceline.gui.kit.layouts import column_of, row_of
from paceline.gui.kit.rows import ROW, Index, Rows
from paceline.gui.kit.search_field import SearchField
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import local, translator
from paceline.gui.look.current import look
from paceline.gui.look.scale import GAP, SMALL, STEP, px
from paceline.gui.look.theme import mono_font
from paceline.messages import EngineDescribed

MOST_BYTES = 2 * 2**20
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
_RECORD = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\S* ([A-Z]+) ")
_LONGEST_LINE = 2000

_tr = translator("LogTail")


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line.

    Attributes:
        level: Place in `LEVELS`.
        text: The line.
    """

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Place:
    """How far a file has been read: which file it was, and the byte after the last whole line."""

    file_id: int = 0
    n_read: int = 0


@dataclass(frozen=True, slots=True)
class Tail:
    """What was read.

    Attributes:
        lines: New lines.
        place: Where to go on.
        is_new: Whether the lines replace what was there, and are not to be added to it.
    """

    lines: tuple[LogLine, ...]
    place: Place
    is_new: bool


@dataclass(frozen=True, slots=True)
class ReadTail:
    """Reads on from a place; a job for the background. A missing file is an empty one."""

    file: Path
    place: Place = Place()
    level: int = 1
    """Level of the line above."""

    def __call__(self) -> Tail:
        """Return what is new.

        Raises:
            UserError: The file is there and cannot be read.
        """
        try:
            with self.file.open("rb") as file:
                status = os.fstat(file.fileno())
                is_same = (
                    self.place.file_id == status.st_ino and self.place.n_read <= status.st_size
                )
                start = self.place.n_read if is_same else 0
                if status.st_size - start > MOST_BYTES:
                    start, is_same = status.st_size - MOST_BYTES, False
                file.seek(start)
                data = file.read(MOST_BYTES)
        except FileNotFoundError:
            return Tail((), Place(), is_new=self.place != Place())
        except OSError as error:
            raise UserError(
                "cannot-read",
                _tr("The log cannot be read: {}.").format(error.strerror or error),
                _tr("Look at who owns the file, or delete it."),
            ) from error
        if not is_same and start > 0:
            cut = data.find(b"\n") + 1  # the first line is half a line
            data, start = data[cut:], start + cut
        end = data.rfind(b"\n") + 1  # the last one may be half written
        text = data[:end].decode("utf-8", "replace")
        lines = as_lines(text, self.level if is_same else 1)
        return Tail(lines, Place(status.st_ino, start + end), is_new=not is_same)


def as_lines(text: str, level: int = 1) -> tuple[LogLine, ...]:
    """Return a text line by line; `level` is that of the line above the first."""
    lines = []
    for line in text.split("\n")[:-1]:
        record = _RECORD.match(line)
        if record is not None and record[1] in LEVELS:
            level = LEVELS.index(record[1])
        lines.append(LogLine(level, line.rstrip("\r")[:_LONGEST_LINE]))
    return tuple(lines)


MOST_LINES = 30_000
POLL_MS = 1000
_WARNING, _ERROR = LEVELS.index("WARNING"), LEVELS.index("ERROR")


class LogDialog(QDialog):
    """The log, and beside it what else a bug report needs; blocks nothing."""

    def __init__(
        self,
        file: Path | None,
        *,
        engine: EngineDescribed | None,
        background: Background,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Log"))
        self.page = LogPage(file, background)
        self.versions = VersionsPage(engine)
        self.tabs = QTabWidget()
        self.tabs.tabBar().setAccessibleName(self.tr("Pages"))
        self.tabs.addTab(self.page, self.tr("Log"))
        self.tabs.addTab(
            scrolling(self.versions, self.tr("Versions")), self.tr("Versions and devices")
        )
        middle = column_of(self.tabs, margins=(2 * STEP, STEP, 2 * STEP, 0))
        column_of((middle, 1), closing_row(self), on=self, margins=0, spacing=0)
        self.finished.connect(self.page.close_page)
        self.setMinimumSize(480, 320)
        self.resize(within_screen(self, QSize(px(900), px(600))))
        self.page.start()


class LogPage(QWidget):
    """The file's end with its filters."""

    def __init__(
        self,
        file: Path | None,
        background: Background,
    ) -> None:
        """Show a file; None: nothing is logged into one."""
        super().__init__()
        self._file = file
        self._background = background
        self._place = Place()
        self._is_reading = self._is_closed = False
        self.lines = LogLines(self)
        self._make_filters()
        self._make_list()
        self._make_foot()
        # Aligned, since the lower box would else limit the row's height.
        follow = (self.follow, 0, Qt.AlignmentFlag.AlignVCenter)
        head = row_of(self.level, (self.search, 1), follow, spacing=STEP)
        foot = row_of((self.told, 1), self.copy, self.folder, spacing=STEP)
        column_of(head, (self.list, 1), foot, on=self, margins=(0, GAP, 0, GAP), spacing=STEP)
        self._poll = QTimer(self, interval=POLL_MS)
        self._poll.timeout.connect(self.read)
        self._tell()

    def _make_filters(self) -> None:
        self.level = QComboBox()
        self.level.setAccessibleName(self.tr("Level"))
        for title, at in (
            (self.tr("Everything"), 0),
            (self.tr("Warnings and errors"), _WARNING),
            (self.tr("Errors"), _ERROR),
        ):
            self.level.addItem(title, at)
        self.level.activated.connect(self._on_level)
        self.search = SearchField(self.tr("Search the log"))
        self.search.textChanged.connect(self._on_search)
        self.follow = QCheckBox(self.tr("Follow"))
        self.follow.setToolTip(self.tr("Show new lines as they come"))
        self.follow.setChecked(True)
        self.follow.toggled.connect(self._on_follow)

    def _make_list(self) -> None:
        self.list = _LineList()
        self.list.setModel(self.lines)
        self.list.setAccessibleName(self.tr("Log"))
        self.list.setUniformItemSizes(True)
        self.list.setSelectionMode(QListView.SelectionMode.ExtendedSelection)
        self.list.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.list.copy_wanted.connect(self.copy_lines)
        self.list.setItemDelegate(_LineRow(self.lines, self.list))

    def _make_foot(self) -> None:
        self.told = text_label()
        self.copy = QPushButton(self.tr("Copy"), autoDefault=False)
        self.copy.setToolTip(self.tr("Copy the chosen lines, or all that are shown"))
        self.copy.clicked.connect(self.copy_lines)
        self.folder = QPushButton(self.tr("Open folder"), autoDefault=False)
        self.folder.setEnabled(self._file is not None)
        self.folder.clicked.connect(self._on_folder)

    def start(self) -> None:
        """Read now, and again and again."""
        self._poll.start()
        self.read()

    def close_page(self) -> None:
        """Read no more."""
        self._is_closed = True
        self._poll.stop()

    @Slot()
    def read(self) -> None:
        """Read what is new, in the background."""
        if self._file is None or self._is_reading or self._is_closed:
            return
        self._is_reading = True
        job = ReadTail(self._file, self._place, self.lines.last_level)
        self._background.start(job, self._on_read, self._on_failed)

    def _on_read(self, result: Tail) -> None:
        self._is_reading = False
        if self._is_closed:
            return
        self._place = result.place
        if result.is_new:
            self.lines.replace(result.lines)
        elif result.lines:
            self.lines.append(result.lines)
        else:
            return
        self._tell()
        if self.follow.isChecked():
            self.list.scrollToBottom()

    def _on_failed(self, error: UserError) -> None:
        self._is_reading = False
        if not self._is_closed:
            self._poll.stop()
            self.told.setText(said(error.message, error.hint))

    def _tell(self) -> None:
        if self._file is None:
            self.told.setText(self.tr("Nothing is written into a log file."))
        elif not self.lines.rowCount():
            self.told.setText(self.tr("Nothing to show."))
        else:
            n_lines = self.lines.rowCount()
            words = (
                self.tr("1 line") if n_lines == 1 else self.tr("{:,} lines").format(local(n_lines))
            )
            self.told.setText(words)

    @Slot(int)
    def _on_level(self, at: int) -> None:
        self.lines.set_level(int(self.level.itemData(at)))
        self._after_filter()

    @Slot(str)
    def _on_search(self, text: str) -> None:
        self.lines.set_search(text)
        self._after_filter()

    def _after_filter(self) -> None:
        self._tell()
        self.list.scrollToBottom()

    @Slot(bool)
    def _on_follow(self, is_on: bool) -> None:  # noqa: FBT001
        if is_on:
            self.list.scrollToBottom()

    @Slot()
    def copy_lines(self) -> None:
        """Copy the chosen lines, or all that are shown."""
        rows = sorted(index.row() for index in self.list.selectedIndexes())
        chosen = rows or range(self.lines.rowCount())
        texts = [str(self.lines.index(row, 0).data()) for row in chosen]
        QGuiApplication.clipboard().setText("\n".join(texts))

    @Slot()
    def _on_folder(self) -> None:
        if self._file is not None and not open_folder(self._file.parent):
            self.told.setText(
                self.tr("No file manager could be opened. The file is {}.").format(self._file)
            )


class LogLines(Rows[LogLine]):
    """Keeps all lines and shows some."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lines: list[LogLine] = []
        self._level = 0
        self._words: tuple[str, ...] = ()

    @property
    def last_level(self) -> int:
        """The level of the newest line."""
        return self._lines[-1].level if self._lines else 1

    @property
    def longest(self) -> str:
        """The longest of the lines that are shown."""
        return max((line.text for line in self.rows), key=len, default="")

    def replace(self, lines: Sequence[LogLine]) -> None:
        """Show another log."""
        self._lines = list(lines[-MOST_LINES:])
        self._filter()

    def append(self, lines: Sequence[LogLine]) -> None:
        """Add what is new; of very many lines the oldest go."""
        if len(self._lines) + len(lines) > MOST_LINES:
            self.replace([*self._lines, *lines])
            return
        self._lines += lines
        self.add_rows([line for line in lines if self._fits(line)])

    def set_level(self, level: int) -> None:
        """Show lines of this level and above."""
        self._level = level
        self._filter()

    def set_search(self, text: str) -> None:
        """Show lines with all words of a text."""
        self._words = tuple(text.casefold().split())
        self._filter()

    def _filter(self) -> None:
        self.set_rows(line for line in self._lines if self._fits(line))

    def _fits(self, line: LogLine) -> bool:
        if line.level < self._level:
            return False
        if not self._words:
            return True
        text = line.text.casefold()
        return all(word in text for word in self._words)

    def title(self, row: LogLine) -> str:
        """Return the line."""
        return row.text


class _LineRow(QStyledItemDelegate):
    """Paints one line in the colour of its level."""

    def __init__(self, lines: LogLines, parent: QWidget) -> None:
        super().__init__(parent)
        self._lines = lines

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:
        """As wide as the longest line; the list asks for the first only."""
        metrics = QFontMetrics(mono_font(SMALL))
        return QSize(
            metrics.horizontalAdvance(self._lines.longest) + 2 * STEP, metrics.height() + 4
        )

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint a line."""
        theme = look.theme
        level = index.data(ROW).level
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, QColor(theme.selection))
            ink = theme.selection_text
        elif level >= _ERROR:
            ink = theme.danger
        else:
            ink = theme.lookup if level == _WARNING else theme.text
        painter.setFont(mono_font(SMALL))
        painter.setPen(QColor(ink))
        painter.drawText(
            option.rect.adjusted(STEP, 0, 0, 0),
            Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft,
            str(index.data()),
        )


class _LineList(QListView):
    """The lines; Ctrl+C copies those that are chosen."""

    copy_wanted = Signal()

    def changeEvent(self, event: QEvent) -> None:
        """Lay the lines out in another size of text."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self.doItemsLayout()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy lines, not the one with the keyboard alone."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_wanted.emit()
        else:
            super().keyPressEvent(event)
