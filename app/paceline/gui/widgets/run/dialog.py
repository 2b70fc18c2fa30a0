"""The dialog that shows how a reply was made, and all replies of its chat. It decides nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtWidgets import QDialog, QFrame, QHBoxLayout, QPushButton, QTabWidget, QVBoxLayout

from paceline.gui.scale import px
from paceline.gui.widgets.plot_style import run_stylesheet
from paceline.gui.widgets.run.chat_page import ChatPage
from paceline.gui.widgets.run.reply_page import ReplyPage
from paceline.gui.widgets.run.sameness_strip import SamenessStrip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QShowEvent
    from PySide6.QtWidgets import QWidget

    from paceline.gui.icons import Icons
    from paceline.gui.theme import Theme
    from paceline.gui.viewmodels.reply_rows import ReplyRow
    from paceline.gui.viewmodels.sources import Sources
    from paceline.run_record import RunRecord

SIZE = QSize(900, 720)
SMALLEST = QSize(720, 440)


class RunDialog(QDialog):
    """Two tabs above a row of buttons."""

    verify_wanted = Signal()
    stop_wanted = Signal()
    copy_wanted = Signal()
    save_wanted = Signal()
    opened = Signal(str)
    """Another reply of the chat is to be shown"""

    def __init__(
        self, sources: Sources, theme: Theme, icons: Icons, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("How this reply was made"))
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self._record: RunRecord | None = None
        self.setStyleSheet(run_stylesheet(theme))  # before there is anything to style again
        self.reply_page = ReplyPage(sources, theme)
        self.chat_page = ChatPage(theme)
        self.strip = SamenessStrip()
        self.tabs = QTabWidget()
        self.tabs.tabBar().setDrawBase(False)
        self.tabs.addTab(self.reply_page, self.tr("This reply"))
        self.tabs.addTab(self.chat_page, self.tr("This chat"))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.tabs, 1)
        column.addWidget(self._make_foot())
        self.strip.stop_wanted.connect(self.stop_wanted)
        self.chat_page.chosen.connect(self._on_chosen)
        self.set_theme(theme, icons)
        self.resize(_scaled(SIZE).boundedTo(self.screen().availableSize()))

    def _make_foot(self) -> QFrame:
        foot = QFrame()
        foot.setProperty("kind", "foot")
        self.verify = QPushButton(self.tr("&Verify sameness"))
        self.copy = QPushButton(self.tr("&Copy run record"))
        self.save = QPushButton(self.tr("&Save…"))
        self.close_button = QPushButton(self.tr("Close"))
        self.copy.setToolTip(self.tr("As JSON, with all steps"))
        self.verify.clicked.connect(self.verify_wanted)
        self.copy.clicked.connect(self.copy_wanted)
        self.save.clicked.connect(self.save_wanted)
        self.close_button.clicked.connect(self.reject)
        for button in (self.verify, self.copy, self.save, self.close_button):
            button.setAutoDefault(False)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.verify)
        row.addStretch(1)
        row.addWidget(self.copy)
        row.addWidget(self.save)
        row.addWidget(self.close_button)
        column = QVBoxLayout(foot)
        column.setContentsMargins(20, 12, 20, 12)
        column.setSpacing(10)
        column.addWidget(self.strip)
        column.addLayout(row)
        return foot

    def set_theme(self, theme: Theme, icons: Icons) -> None:
        """Use another theme's colours."""
        style = run_stylesheet(theme)  # another one for another size of text, too
        if style != self.styleSheet():
            self.setStyleSheet(style)
        self.setMinimumSize(_scaled(SMALLEST).boundedTo(self.screen().availableSize()))
        self.reply_page.set_theme(theme, icons)
        self.chat_page.set_theme(theme)

    def show_record(self, record: RunRecord, *, target_obstacle: str, draft_obstacle: str) -> None:
        """Show another run; see `ReplyPage`."""
        self._record = record
        self.reply_page.show_record(
            record, target_obstacle=target_obstacle, draft_obstacle=draft_obstacle
        )
        self.chat_page.select(record.message_id)

    def show_replies(self, rows: Sequence[ReplyRow]) -> None:
        """Show the replies of the chat."""
        self.chat_page.model.set_rows(rows)
        self.tabs.setTabVisible(1, len(rows) > 1)

    def set_verify_obstacle(self, obstacle: str) -> None:
        """Say why no sameness can be verified now; empty: it can."""
        self.verify.setEnabled(not obstacle)
        self.verify.setToolTip(
            obstacle or self.tr("Generates this reply once more without drafts, and compares")
        )

    def showEvent(self, event: QShowEvent) -> None:
        """Draw what could not be drawn before."""
        super().showEvent(event)
        if self._record is not None:
            self.reply_page.draw()

    @Slot(str)
    def _on_chosen(self, message_id: str) -> None:
        self.tabs.setCurrentWidget(self.reply_page)
        self.opened.emit(message_id)


def _scaled(size: QSize) -> QSize:
    """A size for the text in force."""
    return QSize(px(size.width()), px(size.height()))
