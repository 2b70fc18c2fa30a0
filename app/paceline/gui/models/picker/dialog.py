"""The dialog for picking a pair: two steps, with the judgement beside them. The controller decides.

A dialog with all its pages takes 90 ms to build, most of it for styling; the event loop must not
block for so long. So it is built in steps while the program is idle: first after the start of the
window, and again when a dialog was closed. If it is opened earlier, the rest is built at once.
Every dialog is used once, so that it contains no earlier choice.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QBoxLayout,
    QButtonGroup,
    QDialog,
    QDialogButtonBox,
    QFrame,
    QPushButton,
    QSizePolicy,
    QTabWidget,
    QWidget,
)
from shiboken6 import delete

from paceline.errors import UserError
from paceline.gui.kit.dialogs import scrolling, within_screen
from paceline.gui.kit.drop_zones import local_files, model_files, model_folders
from paceline.gui.kit.labels import ElidedLabel, YieldingLabel, say, text_label
from paceline.gui.kit.layouts import Refits, column_of, fill, row_of, set_look, styled
from paceline.gui.kit.notices import ErrorBar, Notice
from paceline.gui.kit.sentences import said
from paceline.gui.look.current import look
from paceline.gui.look.scale import px, scaled
from paceline.gui.look.style import PICKER
from paceline.gui.models.candidates import MachineFacts, MainButton, Picks
from paceline.gui.models.downloads.model import DownloadsModel
from paceline.gui.models.downloads.panel import DownloadStrip
from paceline.gui.models.lists.hub_page import HubPage
from paceline.gui.models.lists.installed_page import InstalledPage
from paceline.gui.models.lists.page import Page
from paceline.gui.models.lists.recommended_page import RecommendedPage
from paceline.gui.models.picker.pair_pane import PairPane

_NAME_PX = 260
_HEIGHT = 64


class StepButton(QPushButton):
    """Number, heading, and the name of the picked model."""

    def __init__(self, number: int, heading: str) -> None:
        super().__init__()
        self.setProperty("kind", "step")
        self.setCheckable(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._heading = heading
        self.number = text_label(str(number), "number")
        self.number.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.number.setFixedSize(24, 24)
        self.heading = styled(YieldingLabel(heading), role="small")
        self.name = styled(ElidedLabel(_NAME_PX), role="title")
        self.name.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        words = column_of(self.heading, self.name, spacing=2)
        row_of(self.number, (words, 1), on=self, margins=(12, 8, 12, 8), spacing=12)
        for label in (self.number, self.heading, self.name):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.toggled.connect(self._on_toggled)

    def sizeHint(self) -> QSize:
        """Return the size of two lines."""
        return QSize(200, px(_HEIGHT))

    def minimumSizeHint(self) -> QSize:
        """Return a width with an elided name."""
        return QSize(140, px(_HEIGHT))

    def show_name(self, name: str, *, is_picked: bool) -> None:
        """Show the name of the pick, or what is to be done."""
        self.name.setText(name)
        set_look(self.name, role="title" if is_picked else "muted")
        self.setToolTip(name if is_picked else "")
        self.setAccessibleName(f"{self._heading}: {name}")

    @Slot(bool)
    def _on_toggled(self, is_on: bool) -> None:  # noqa: FBT001
        for label in (self.number, self.heading):
            set_look(label, tone="accent" if is_on else "")


class StepBar(QWidget):
    """Buttons for the model and, in the second step, the draft model, which is optional."""

    draft_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.target = StepButton(1, self.tr("Model"))
        self.draft = StepButton(2, self.tr("Draft model (optional)"))
        self.add = styled(QPushButton(self.tr("Add a draft model (optional)")), kind="link")
        self.add.setIcon(look.icon("plus"))
        # With a fixed policy, its height would be that of the row.
        self.add.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.add.clicked.connect(self.draft_wanted)
        self.group = QButtonGroup(self)
        row = row_of(spacing=8)
        for number, button in ((1, self.target), (2, self.draft)):
            self.group.addButton(button, number)
            row.addWidget(button, 1)
        row.addWidget(self.add, 1)
        self.sentence = text_label("", "muted", wraps=True)
        column_of(row, self.sentence, on=self, margins=0, spacing=8)

    def show_picks(self, picks: Picks) -> None:
        """Show the picks and the present step."""
        self.target.setChecked(picks.step == 1)
        self.draft.setChecked(picks.step == 2)
        target, draft = picks.target, picks.draft
        name = target.title if target else self.tr("choose")
        self.target.show_name(name, is_picked=target is not None)
        has_second = picks.step == 2 or draft is not None or picks.drafts_itself
        self.draft.setVisible(has_second)
        self.add.setVisible(not has_second)
        self.add.setEnabled(target is not None)
        name = self.tr("none")
        if draft is not None:
            name = draft.title
        elif picks.drafts_itself:
            name = self.tr("MTP head inside")
        self.draft.show_name(name, is_picked=draft is not None or picks.drafts_itself)
        words = self.tr("A small model that guesses ahead: the text is the same, only faster.")
        say(self.sentence, words if picks.step == 2 else "")


SIZE = QSize(1040, 720)
SMALLEST = QSize(480, 560)
PANE_PX = 388
_ROOMY_PX, _NARROW_PX = 960, 330
_STACKED_PX = 720
"""Width below which the judgement is placed below the lists."""


class PickerDialog(Refits, QDialog):
    """Layout of the parts; shows what the controller sets."""

    dropped = Signal(list)
    """Paths of model files"""
    folders_dropped = Signal(list)
    """Paths of folders with models"""

    def __init__(
        self,
        installed: InstalledPage,
        recommended: RecommendedPage,
        hub: HubPage,
        pane: PairPane,
        *,
        downloads: DownloadsModel,
        parent: QWidget | None = None,
    ) -> None:
        """Lay out the pages, with the judgement at the right and the downloads below."""
        super().__init__(parent)
        self.setObjectName(PICKER)
        self.setWindowTitle(self.tr("Choose models"))
        self.setMinimumSize(SMALLEST)
        self.setAcceptDrops(True)
        self.installed, self.recommended, self.hub, self.pane = installed, recommended, hub, pane
        self.pages: tuple[Page, ...] = installed, recommended, hub
        self.steps = StepBar()
        self.tabs = QTabWidget()
        self.tabs.tabBar().setDrawBase(False)
        self.tabs.addTab(installed, self.tr("Installed"))
        self.tabs.addTab(recommended, self.tr("Recommended"))
        self.tabs.addTab(hub, self.tr("Hugging Face"))
        # From the outside to the inside: a new parent restyles a widget with all its children.
        column = column_of(on=self, margins=0, spacing=0)
        middle = self._middle = row_of(margins=0, spacing=0)
        left = styled(QWidget(), kind="page")
        self.side = styled(QFrame(), kind="panel")
        self.side.setFixedWidth(px(PANE_PX))
        column.addLayout(middle, 1)
        fill(middle, (scrolling(left), 2), (self.side, 1))
        self.problem = ErrorBar()
        self.offline = self._make_offline()
        parts = self.steps, self.problem, self.offline, (self.tabs, 1)
        column_of(*parts, on=left, margins=(24, 20, 24, 12), spacing=12)
        self.side_scroll = scrolling(pane)
        column_of(self.side_scroll, on=self.side, margins=0)
        column.addWidget(self._make_foot(downloads))
        self.resize(within_screen(self, scaled(SIZE)))

    def _make_offline(self) -> QFrame:
        bar = styled(QFrame(), kind="notice")
        self.offline_text = text_label(wraps=True)
        self.online = styled(QPushButton(), kind="compact")
        margins = (12, 6, 12, 6)
        row_of((self.offline_text, 1), self.online, on=bar, margins=margins, spacing=8)
        bar.hide()
        return bar

    def show_reach(self, out_of_reach: str) -> None:
        """Show for all pages why the Hub cannot be asked; empty if it can."""
        words, action = self.tr("Hugging Face cannot be reached."), self.tr("Try again")
        if out_of_reach == "offline":
            words, action = self.tr("Offline mode is on."), self.tr("Go online")
        self.offline_text.setText(words)
        self.online.setText(action)
        self.offline.setAccessibleName(words)
        self.offline.setVisible(bool(out_of_reach))

    def _make_foot(self, downloads: DownloadsModel) -> QFrame:
        foot = styled(QFrame(), kind="foot")
        self.reason = text_label("", "muted", wraps=True, plain=True)
        self.reason.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.reason.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.cancel = QPushButton(self.tr("Cancel"))
        self.main = styled(QPushButton(), kind="primary")
        self.strip = DownloadStrip(downloads, foot)  # its parent, since it shows itself at once
        row = row_of(
            (self.strip, 1), (self.reason, 1), on=foot, margins=(24, 12, 24, 12), spacing=12
        )
        buttons = QDialogButtonBox()  # the system's order, as in every other dialog
        buttons.addButton(self.main, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.addButton(self.cancel, QDialogButtonBox.ButtonRole.RejectRole)
        row.addWidget(buttons)
        self.cancel.clicked.connect(self.reject)
        return foot

    def show_picks(self, picks: Picks, button: MainButton, machine: MachineFacts) -> None:
        """Show the picks and the main button."""
        self.steps.show_picks(picks)
        for page in self.pages:
            page.show_picks(picks, machine)
        self.main.setText(button.text)
        self.main.setEnabled(button.todo != "wait")
        self.main.setToolTip(button.reason)
        # The result of the judgement is shown beside the list.
        is_said = button.reason == said(self.pane.judgement.judgement.obstacle)
        self.reason.setText("" if is_said else button.reason)
        # A download continues when the dialog is closed.
        is_busy = button.todo == "wait" and button.is_downloading
        self.cancel.setText(self.tr("Close") if is_busy else self.tr("Cancel"))

    def show_problem(self, text: str, hint: str = "") -> None:
        """Show why an action is impossible, until the user dismisses it."""
        self.problem.show_notice(Notice("error", text, hint))

    @property
    def page(self) -> Page:
        """The page at the front."""
        return self.pages[self.tabs.currentIndex()]

    def show_page(self, page: Page) -> None:
        """Bring a page to the front."""
        self.tabs.setCurrentWidget(page)

    @Slot()
    def show_recommended(self) -> None:
        """Bring the recommended pairs to the front."""
        self.show_page(self.recommended)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Keep Enter in a field from pressing a button: only a focused button reacts."""
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if is_enter and not isinstance(self.focusWidget(), QAbstractButton):
            event.accept()
            return
        super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept model files, and folders with models."""
        if model_files(event.mimeData()) or model_folders(local_files(event.mimeData())):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Emit the dropped files and folders."""
        for signal, paths in (
            (self.dropped, model_files(event.mimeData())),
            (self.folders_dropped, model_folders(local_files(event.mimeData()))),
        ):
            if paths:
                event.acceptProposedAction()
                signal.emit(paths)

    def _fit(self) -> None:
        """Shrink the judgement or place it below the lists, where space is short."""
        directions = QBoxLayout.Direction
        is_stacked = self.width() < px(_STACKED_PX)
        self._middle.setDirection(directions.TopToBottom if is_stacked else directions.LeftToRight)
        bar = self.side_scroll.verticalScrollBar().sizeHint().width()
        narrow = max(self.pane.minimumSizeHint().width() + bar + 1, _NARROW_PX)
        pane = px(PANE_PX)
        self.pane.names.setVisible(not is_stacked)  # the steps above name them, too
        if self.width() < px(_ROOMY_PX):
            pane = min(pane, narrow)
        self.side.setFixedWidth(self.width() if is_stacked else pane)


IDLE_MS = 200
STEP_MS = 10
"""Pause between two steps, so that the user's actions come first."""

_logger = logging.getLogger(__name__)


class PickerBuilder(QObject):
    """Keeps one dialog ready, hidden; main thread."""

    def __init__(
        self,
        parts: Sequence[Callable[[], QWidget]],
        dialog: Callable[..., PickerDialog],
        window: QWidget,
    ) -> None:
        """Keep the parts; nothing is built yet.

        Args:
            parts: Make the parts of a dialog.
            dialog: Makes a dialog of the parts.
            window: Its parent, and this object's.
        """
        super().__init__(window)
        self._parts, self._make_dialog = parts, dialog
        self._made: list[QWidget] = []
        self._dialog: PickerDialog | None = None
        self._next = QTimer(self, singleShot=True)
        self._next.timeout.connect(self._on_time)
        look.changing.connect(self._on_changing)

    def prepare(self) -> None:
        """Build a dialog when there is time."""
        self._next.start(IDLE_MS)

    def take(self) -> PickerDialog:
        """Return a dialog, which then belongs to the caller."""
        self._next.stop()
        while self._dialog is None:
            self._step()
        dialog, self._dialog = self._dialog, None
        return dialog

    def discard(self) -> bool:
        """Drop what is built, e.g. in an old theme's colours; return False without anything.

        Nothing more is built before `prepare` is called again.
        """
        built = [*self._made, *([self._dialog] if self._dialog is not None else [])]
        was_wanted = self._next.isActive() or bool(built)
        self._next.stop()
        # In this order, and now: a style sheet visits all widgets that still exist.
        for each in built:
            delete(each)
        self._made, self._dialog = [], None
        return was_wanted

    def _step(self) -> bool:
        """Build one part, then a dialog of them, then style it; return whether more is left."""
        if self._dialog is not None:
            self._dialog.ensurePolished()
            return False
        if len(self._made) < len(self._parts):
            self._made.append(self._parts[len(self._made)]())
        else:
            self._dialog = self._make_dialog(*self._made)
            self._made = []
        return True

    @Slot()
    def _on_changing(self) -> None:
        """Build another dialog later: restyling it would take longer than restyling the window."""
        if self.discard():
            self.prepare()

    @Slot()
    def _on_time(self) -> None:
        try:
            if self._step():
                self._next.start(STEP_MS)
        except UserError as error:  # reported when the dialog is opened
            _logger.info("the picker cannot be prepared: %s", error)
