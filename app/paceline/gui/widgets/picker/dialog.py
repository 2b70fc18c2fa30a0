"""The dialog that picks a pair: two steps, the judgement beside them. It decides nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QAbstractButton,
    QDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from paceline.gui.notifications import Notice
from paceline.gui.scale import px
from paceline.gui.widgets.drop_zones import model_files
from paceline.gui.widgets.error_bar import ErrorBar
from paceline.gui.widgets.local_style import picker_stylesheet
from paceline.gui.widgets.picker.download_strip import DownloadStrip
from paceline.gui.widgets.picker.step_bar import StepBar

if TYPE_CHECKING:
    from PySide6.QtGui import QDragEnterEvent, QDropEvent, QKeyEvent, QResizeEvent

    from paceline.gui.icons import Icons
    from paceline.gui.theme import Theme
    from paceline.gui.viewmodels.downloads import DownloadsModel
    from paceline.gui.viewmodels.picks import MainButton, Picks
    from paceline.gui.widgets.picker.hub_page import HubPage
    from paceline.gui.widgets.picker.installed_page import InstalledPage
    from paceline.gui.widgets.picker.recommended_page import RecommendedPage

SIZE = QSize(1040, 720)
SMALLEST = QSize(760, 560)
PANE_PX = 388
_ROOMY_PX = 960


class PickerDialog(QDialog):
    """Puts the parts together and shows what it is told."""

    step_chosen = Signal(int)
    tab_shown = Signal(object)
    """The page that is in front now"""
    main_clicked = Signal()
    dropped = Signal(list)
    """Paths of model files"""
    gone = Signal()
    """It was closed, whichever way."""

    def __init__(
        self,
        *,
        installed: InstalledPage,
        recommended: RecommendedPage,
        hub: HubPage,
        pane: QWidget,
        downloads: DownloadsModel,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Choose models"))
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setMinimumSize(SMALLEST)
        self.setAcceptDrops(True)
        self.installed, self.recommended, self.hub, self.pane = installed, recommended, hub, pane
        self.steps = StepBar()
        self.tabs = QTabWidget()
        self.tabs.tabBar().setDrawBase(False)
        self.tabs.addTab(installed, self.tr("Installed"))
        self.tabs.addTab(recommended, self.tr("Recommended"))
        self.tabs.addTab(hub, self.tr("Hugging Face"))
        # From the outside to the inside: what gets another parent is styled anew with all it holds.
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        middle = QHBoxLayout()
        middle.setContentsMargins(0, 0, 0, 0)
        middle.setSpacing(0)
        left = QVBoxLayout()
        left.setContentsMargins(24, 20, 24, 12)
        left.setSpacing(12)
        self.side = QFrame()
        self.side.setProperty("kind", "panel")
        self.side.setFixedWidth(px(PANE_PX))
        column.addLayout(middle, 1)
        middle.addLayout(left, 1)
        middle.addWidget(self.side)
        self.problem = ErrorBar()
        left.addWidget(self.steps)
        left.addWidget(self.problem)
        left.addWidget(self.tabs, 1)
        self.side_scroll = QScrollArea()
        self.side_scroll.setWidgetResizable(True)
        self.side_scroll.setFrameShape(QFrame.Shape.NoFrame)
        self.side_scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.side_scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.side_scroll.setWidget(pane)
        side = QVBoxLayout(self.side)
        side.setContentsMargins(0, 0, 0, 0)
        side.addWidget(self.side_scroll)
        column.addWidget(self._make_foot(downloads))
        self.steps.chosen.connect(self.step_chosen)
        self.tabs.currentChanged.connect(self._on_tab)
        self.finished.connect(self._on_finished)
        self.resize(SIZE)

    def _make_foot(self, downloads: DownloadsModel) -> QFrame:
        foot = QFrame()
        foot.setProperty("kind", "foot")
        self.reason = QLabel()
        self.reason.setProperty("role", "muted")
        self.reason.setTextFormat(Qt.TextFormat.PlainText)
        self.reason.setWordWrap(True)
        self.reason.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.reason.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.cancel = QPushButton(self.tr("Cancel"))
        self.main = QPushButton()
        self.main.setProperty("kind", "primary")
        row = QHBoxLayout(foot)
        row.setContentsMargins(24, 12, 24, 12)
        row.setSpacing(12)
        self.strip = DownloadStrip(downloads, foot)  # shown at once, so not without a parent
        row.addWidget(self.strip, 1)
        row.addWidget(self.reason, 1)
        row.addWidget(self.cancel)
        row.addWidget(self.main)
        self.cancel.clicked.connect(self.reject)
        self.main.clicked.connect(self.main_clicked)
        return foot

    def set_theme(self, theme: Theme, icons: Icons) -> None:
        """Use a theme's colours and icons."""
        self.setStyleSheet(picker_stylesheet(theme))
        icon = icons.icon
        for page in (self.installed, self.recommended, self.hub):
            page.set_theme(theme)
        for searching in (self.installed, self.hub):
            searching.dress_search(theme, icon("search"))
        self.installed.set_icons(icon("file"), icon("folder"))
        self.recommended.set_external_icon(icon("external"))
        self.hub.set_signs(icon("offline"), icon("warning"))
        self.problem.set_close_icon(icon("close"))
        self.hub.card.set_icons(icon("back"), icon("external"))

    def show_picks(self, picks: Picks, button: MainButton, n_free: int) -> None:
        """Show what is picked, and what the main button would do."""
        self.steps.show_picks(picks)
        self.installed.show_picks(picks)
        self.recommended.show_picks(picks, n_free)
        self.hub.show_picks(picks, n_free)
        self.main.setText(button.text)
        self.main.setEnabled(button.todo != "wait")
        self.main.setToolTip(button.reason)
        self.main.setAccessibleDescription(button.reason)
        self.reason.setText(button.reason)
        # A download goes on when the dialog is closed.
        is_busy = button.todo == "wait" and button.is_downloading
        self.cancel.setText(self.tr("Close") if is_busy else self.tr("Cancel"))

    def show_problem(self, text: str) -> None:
        """Say why something cannot be done, until it is dismissed."""
        self.problem.show_notice(Notice("error", text))

    @property
    def page(self) -> QWidget:
        """The page in front."""
        return self.tabs.currentWidget()

    def show_page(self, page: QWidget) -> None:
        """Bring a page to the front."""
        self.tabs.setCurrentWidget(page)

    @Slot()
    def show_recommended(self) -> None:
        """Bring the recommended pairs to the front."""
        self.show_page(self.recommended)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Keep Enter in a field from pressing a button: only a button that has the keyboard."""
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if is_enter and not isinstance(self.focusWidget(), QAbstractButton):
            event.accept()
            return
        super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take model files."""
        if model_files(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Pass on which model files were dropped."""
        paths = model_files(event.mimeData())
        if paths:
            event.acceptProposedAction()
            self.dropped.emit(paths)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Let the judgement give way when there is little room."""
        super().resizeEvent(event)
        bar = self.side_scroll.verticalScrollBar().sizeHint().width()
        narrow = self.pane.minimumSizeHint().width() + bar + 1
        pane = px(PANE_PX)
        self.side.setFixedWidth(pane if self.width() >= px(_ROOMY_PX) else min(pane, narrow))

    @Slot()
    def _on_tab(self) -> None:
        self.tab_shown.emit(self.page)

    @Slot()
    def _on_finished(self) -> None:
        self.gone.emit()
