"""The log as people see it: its end, by level and words, going on while the program runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QColor, QFontMetrics, QGuiApplication, QKeyEvent, QKeySequence, QPainter
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QHBoxLayout,
    QLabel,
    QListView,
    QPushButton,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from paceline.gui.about import VersionsPage
from paceline.gui.log_tail import LEVELS, Place, ReadTail, Tail
from paceline.gui.reveal import open_folder
from paceline.gui.scale import GAP, SMALL, STEP, px
from paceline.gui.theme import mono_font
from paceline.gui.viewmodels.log_lines import LEVEL_ROLE, LogLines
from paceline.gui.widgets.dialog_parts import closing_row, scrolling
from paceline.gui.widgets.search_field import SearchField

if TYPE_CHECKING:
    from pathlib import Path

    from paceline.errors import UserError
    from paceline.gui.background import Background
    from paceline.gui.icons import Icons
    from paceline.gui.theme import Theme
    from paceline.messages import EngineDescribed

POLL_MS = 1000
_WARNING, _ERROR = LEVELS.index("WARNING"), LEVELS.index("ERROR")

Index = QModelIndex | QPersistentModelIndex


class _LineRow(QStyledItemDelegate):
    """Paints one line in the colour of its level."""

    def __init__(self, theme: Theme, lines: LogLines, parent: QWidget) -> None:
        super().__init__(parent)
        self._lines = lines
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours, or another size of text."""
        self._theme = theme
        self._font = mono_font(SMALL)
        self._metrics = QFontMetrics(self._font)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """As wide as the longest line; the list asks for the first only."""
        del option, index
        width = self._metrics.horizontalAdvance(self._lines.longest) + 2 * STEP
        return QSize(width, self._metrics.height() + 4)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint a line."""
        theme = self._theme
        level = int(index.data(LEVEL_ROLE))
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, QColor(theme.selection))
            ink = theme.selection_text
        elif level >= _ERROR:
            ink = theme.danger
        else:
            ink = theme.lookup if level == _WARNING else theme.text
        painter.setFont(self._font)
        painter.setPen(QColor(ink))
        painter.drawText(
            option.rect.adjusted(STEP, 0, 0, 0),
            Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft,
            str(index.data()),
        )


class _LineList(QListView):
    """The lines; Ctrl+C copies those that are chosen."""

    copy_wanted = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy lines, not the one with the keyboard alone."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_wanted.emit()
        else:
            super().keyPressEvent(event)


class LogPage(QWidget):
    """The file's end with its filters."""

    def __init__(
        self,
        file: Path | None,
        theme: Theme,
        icons: Icons,
        background: Background,
        parent: QWidget | None = None,
    ) -> None:
        """Show a file; None: nothing is logged into one."""
        super().__init__(parent)
        self._file = file
        self._icons = icons
        self._background = background
        self._place = Place()
        self._is_reading = self._is_closed = False
        self.lines = LogLines(self)
        self._make_filters(theme)
        self._make_list(theme)
        self._make_foot()
        head = QHBoxLayout()
        head.setSpacing(STEP)
        head.addWidget(self.level)
        head.addWidget(self.search, 1)
        head.addWidget(self.follow)
        foot = QHBoxLayout()
        foot.setSpacing(STEP)
        foot.addWidget(self.told, 1)
        foot.addWidget(self.copy)
        foot.addWidget(self.folder)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, GAP, 0, GAP)
        column.setSpacing(STEP)
        column.addLayout(head)
        column.addWidget(self.list, 1)
        column.addLayout(foot)
        self._poll = QTimer(self)
        self._poll.setInterval(POLL_MS)
        self._poll.timeout.connect(self.read)
        self._tell()

    def _make_filters(self, theme: Theme) -> None:
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
        self.search.set_theme(theme, self._icons.icon("search"))
        self.search.textChanged.connect(self._on_search)
        self.follow = QCheckBox(self.tr("Follow"))
        self.follow.setToolTip(self.tr("Show new lines as they come"))
        self.follow.setChecked(True)
        self.follow.toggled.connect(self._on_follow)

    def _make_list(self, theme: Theme) -> None:
        self.list = _LineList()
        self.list.setModel(self.lines)
        self.list.setAccessibleName(self.tr("Log"))
        self.list.setUniformItemSizes(True)
        self.list.setSelectionMode(QListView.SelectionMode.ExtendedSelection)
        self.list.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.list.copy_wanted.connect(self.copy_lines)
        self._rows = _LineRow(theme, self.lines, self.list)
        self.list.setItemDelegate(self._rows)

    def _make_foot(self) -> None:
        self.told = QLabel()
        self.told.setProperty("role", "small")
        self.copy = QPushButton(self.tr("Copy"))
        self.copy.setToolTip(self.tr("Copy the chosen lines, or all that are shown"))
        self.copy.setAutoDefault(False)
        self.copy.clicked.connect(self.copy_lines)
        self.folder = QPushButton(self.tr("Open folder"))
        self.folder.setAutoDefault(False)
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

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours, or another size of text."""
        self._rows.set_theme(theme)
        self.search.set_theme(theme, self._icons.icon("search"))
        self.list.doItemsLayout()

    @Slot()
    def read(self) -> None:
        """Read what is new, in the background."""
        if self._file is None or self._is_reading or self._is_closed:
            return
        self._is_reading = True
        job = ReadTail(self._file, self._place, self.lines.last_level)
        self._background.start(job, self._on_read, self._on_failed)

    def _on_read(self, result: object) -> None:
        self._is_reading = False
        if self._is_closed or not isinstance(result, Tail):
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
            self.told.setText(f"{error.message} {error.hint}")

    def _tell(self) -> None:
        if self._file is None:
            self.told.setText(self.tr("Nothing is written into a log file."))
        elif not self.lines.rowCount():
            self.told.setText(self.tr("Nothing to show."))
        else:
            n_lines = self.lines.rowCount()
            words = self.tr("1 line") if n_lines == 1 else self.tr("{:,} lines").format(n_lines)
            self.told.setText(words.replace(",", "\u202f"))

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


class LogDialog(QDialog):
    """The log, and beside it what a bug report needs else; blocks nothing."""

    def __init__(
        self,
        file: Path | None,
        *,
        engine: EngineDescribed | None,
        theme: Theme,
        icons: Icons,
        background: Background,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Log"))
        self.page = LogPage(file, theme, icons, background)
        self.versions = VersionsPage(engine)
        self.tabs = QTabWidget()
        self.tabs.tabBar().setAccessibleName(self.tr("Pages"))
        self.tabs.addTab(self.page, self.tr("Log"))
        self.tabs.addTab(
            scrolling(self.versions, self.tr("Versions")), self.tr("Versions and devices")
        )
        middle = QVBoxLayout()
        middle.setContentsMargins(2 * STEP, STEP, 2 * STEP, 0)
        middle.addWidget(self.tabs)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(middle, 1)
        column.addWidget(closing_row(self))
        self.finished.connect(self.page.close_page)
        self.setMinimumSize(480, 320)
        self.resize(px(900), px(600))
        self.page.start()

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours, or another size of text."""
        self.page.set_theme(theme)
