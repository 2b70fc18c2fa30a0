"""The list of the last requests of other programs; each opens the run of its reply."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QModelIndex, QObject, QSize, Qt, Signal, Slot
from PySide6.QtWidgets import QDialog, QLabel, QPushButton, QWidget

from paceline.chat.reply import Reply
from paceline.gui.context import AppContext
from paceline.gui.kit.card import Card
from paceline.gui.kit.dialogs import DialogOwner, closing_row, within_screen
from paceline.gui.kit.figures_table import FiguresTable
from paceline.gui.kit.labels import say, text_label
from paceline.gui.kit.layouts import column_of, row_of, styled
from paceline.gui.kit.sentences import said
from paceline.gui.look.current import look
from paceline.gui.look.scale import GAP, PAGE, STEP, px, scaled
from paceline.gui.look.style import REQUESTS
from paceline.gui.serving.controller import ServingController
from paceline.gui.serving.page import StateRow
from paceline.gui.serving.rows import GIVING_WAY, PROGRAM, RequestRows
from paceline.gui.state.programs import ProgramReplies
from paceline.gui.state.settings_store import Setting

_SIZE, _SMALLEST = QSize(920, 560), QSize(480, 320)


class RequestsDialog(QDialog):
    """The server's state above a table of requests, the newest first.

    It does not block the window, so that both can be watched.
    """

    run_wanted = Signal(object)
    """The `Reply` whose run is to be shown"""

    def __init__(
        self,
        serving: ServingController,
        programs: ProgramReplies,
        ignored: Setting,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Requests of other programs"))
        self.setObjectName(REQUESTS)
        self._programs, self._ignored = programs, ignored
        self.rows = RequestRows(self)
        self.table = FiguresTable(self.rows, PROGRAM, GIVING_WAY)
        self.table.setAccessibleName(self.windowTitle())
        self.table.activated.connect(self._on_activated)
        self.table.selectionModel().currentChanged.connect(self._show_choice)
        self.state = StateRow(serving)
        self.state.layout().setContentsMargins(0, 0, 0, 0)  # type: ignore[union-attr]  # it has one
        self.empty = self._make_empty()
        self.details = text_label("", "muted", wraps=True, plain=True)
        self.ignore = QPushButton(self.tr("Ignore changes of this line"), autoDefault=False)
        self.ignore.setToolTip(
            self.tr(
                "From now on the model is given the first such line; the settings have the list"
            )
        )
        self.ignore.clicked.connect(self._on_ignore)
        card = Card()
        card.body.addWidget(self.table, 1)
        top = Qt.AlignmentFlag.AlignTop
        card.body.addLayout(row_of((self.details, 1), (self.ignore, 0, top), spacing=STEP))
        card.body.addWidget(self.empty, 1)
        self.run = QPushButton(self.tr("How the reply was made…"), autoDefault=False)
        self.run.clicked.connect(self._on_run)
        self.forget = styled(QPushButton(self.tr("Forget"), autoDefault=False), kind="quiet")
        self.forget.setToolTip(
            self.tr("Empties this list, which is kept in memory alone and gone with the window")
        )
        self.forget.clicked.connect(programs.forget)
        self.settings = styled(QPushButton(self.tr("Settings…"), autoDefault=False), kind="quiet")
        margins = (PAGE, GAP, PAGE, GAP)
        column_of(
            column_of(self.state, (card, 1), margins=margins, spacing=GAP),
            closing_row(self, (self.run, self.forget, self.settings)),
            on=self,
            margins=0,
            spacing=0,
        )
        self.layout().setStretch(0, 1)  # type: ignore[union-attr]
        programs.changed.connect(self._show)
        ignored.changed.connect(self._show_choice)
        self.resize(within_screen(self, scaled(_SIZE)))
        look.follow(self._set_smallest)
        self._show()
        self.table.setFocus()

    def _make_empty(self) -> QLabel:
        empty = text_label(
            self.tr(
                "There are no requests in the list. The settings show what a program needs in "
                "order to ask."
            ),
            "muted",
            wraps=True,
        )
        empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        return empty

    @Slot()
    def _set_smallest(self) -> None:
        self.setMinimumSize(px(_SMALLEST.width()), px(_SMALLEST.height()))

    @Slot()
    def _show(self) -> None:
        programs = self._programs
        answered = () if programs.answered is None else (programs.answered,)
        over = tuple(e for e in reversed(programs.journal.entries) if e not in answered)
        self.rows.set_entries((*answered, *over))
        has_rows = bool(self.rows.entries)
        self.table.setVisible(has_rows)
        self.empty.setVisible(not has_rows)
        self.forget.setEnabled(bool(over))
        self.table.refit()
        self._show_choice()

    @Slot()
    def _show_choice(self) -> None:
        reply = self._chosen(self.table.currentIndex())
        self.run.setEnabled(reply is not None and reply.has_ended)
        reread = reply.stats.reread if reply is not None and reply.stats is not None else None
        say(self.details, said(reread.words) if reread is not None else "")
        self.ignore.setVisible(reread is not None and bool(reread.pattern))
        is_ignored = reread is not None and reread.pattern in self._ignored.value
        self.ignore.setEnabled(not is_ignored)

    @Slot()
    def _on_ignore(self) -> None:
        reply = self._chosen(self.table.currentIndex())
        if reply is not None and reply.stats is not None and reply.stats.reread is not None:
            self._ignored.add(reply.stats.reread.pattern)

    def _chosen(self, index: QModelIndex) -> Reply | None:
        return self.rows.entries[index.row()].reply if index.isValid() else None

    @Slot()
    def _on_run(self) -> None:
        self._on_activated(self.table.currentIndex())

    @Slot(QModelIndex)
    def _on_activated(self, index: QModelIndex) -> None:
        reply = self._chosen(index)
        if reply is not None and reply.has_ended:
            self.run_wanted.emit(reply)


class RequestsController(DialogOwner[RequestsDialog]):
    """Owner of the open list; lets the live figures follow the replies for programs."""

    settings_wanted = Signal()
    """The page about other programs is to be shown."""

    def __init__(
        self,
        context: AppContext,
        serving: ServingController,
        *,
        open_run: Callable[[Reply], None],
        parent: QObject,
    ) -> None:
        """Connect the menu; `open_run` shows the run of a reply."""
        super().__init__(parent)
        self._context, self._serving = context, serving
        self._open_run = open_run
        context.actions.requests.triggered.connect(self.open)

    @Slot()
    def open(self) -> None:
        """Show the list, or bring it to the front."""
        if self.dialog is None:
            context = self._context
            ignored = context.settings.setting("serving_ignored")
            dialog = RequestsDialog(self._serving, context.programs, ignored, context.window)
            dialog.run_wanted.connect(self._open_run)
            dialog.settings.clicked.connect(self.settings_wanted)
            self.own(dialog).show()
        self.bring_to_front()
