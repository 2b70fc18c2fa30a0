"""The versions of a message side by side, with marked differences and their figures."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import QDateTime, QLocale, QObject, QSize, Qt, Signal, Slot
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QDialog, QFrame, QMenu, QPushButton, QWidget

from paceline.chat.difference import Difference, compare
from paceline.chat.reply import Reply, can_be_repeated, to_record
from paceline.conversation import Message
from paceline.gui.context import AppContext
from paceline.gui.kit.dialogs import DialogOwner, within_screen
from paceline.gui.kit.fields import DropDown
from paceline.gui.kit.labels import YieldingLabel, text_label
from paceline.gui.kit.layouts import column_of, grid_of, row_of, styled
from paceline.gui.look.current import look
from paceline.gui.look.scale import scaled
from paceline.gui.look.style import RUN
from paceline.gui.run.difference_view import DifferenceView
from paceline.gui.run.run_words import figures_words, sampling_words
from paceline.gui.state.speculation import Group
from paceline.run_record import RunRecord

SIZE = QSize(1000, 720)
SMALLEST = QSize(560, 440)


class Version(NamedTuple):
    """One version of a message; questions and edited texts have no record."""

    message_id: str
    name: str
    record: RunRecord | None


class VersionsDialog(QDialog):
    """Dialog that emits the two chosen versions, and shows their differences. Decides nothing."""

    chosen = Signal(str, str)
    """Ids of the version to the left and of the one to the right"""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Versions side by side"))
        self.setObjectName(RUN)
        self.left = DropDown(name=self.tr("Version to the left"))
        self.right = DropDown(name=self.tr("Version to the right"))
        self.figures = tuple(text_label(wraps=True, plain=True) for _ in range(2))
        self.summary = YieldingLabel()
        self.back = QPushButton(self.tr("&Previous"), autoDefault=False)
        self.on = QPushButton(self.tr("&Next"), autoDefault=False)
        self.back.setToolTip(self.tr("To the difference before"))
        self.on.setToolTip(self.tr("To the next difference"))
        self.back.setShortcut(QKeySequence("Shift+F3"))
        self.on.setShortcut(QKeySequence("F3"))
        self.text = DifferenceView()
        self.repeat = QPushButton(self.tr("&Write again with"), autoDefault=False)
        self.repeat.setMenu(QMenu(self.repeat))
        self.close_button = QPushButton(self.tr("Close"), autoDefault=False)
        self.close_button.clicked.connect(self.reject)
        self._lay_out()
        self.left.activated.connect(self._on_chosen)
        self.right.activated.connect(self._on_chosen)
        self.back.clicked.connect(self._on_back)
        self.on.clicked.connect(self._on_next)
        look.follow(self._fit)
        self.resize(within_screen(self, scaled(SIZE)))

    def _lay_out(self) -> None:
        head = grid_of(margins=(20, 12, 20, 12), across=20, stretches=(0, 1))
        for at, choice in enumerate((self.left, self.right)):
            head.addWidget(choice, 0, at)
            head.addWidget(self.figures[at], 1, at, Qt.AlignmentFlag.AlignTop)
        foot = styled(QFrame(), kind="foot")
        row = row_of(self.repeat, (self.summary, 1), on=foot, margins=(20, 12, 20, 12), spacing=8)
        for button in (self.back, self.on, self.close_button):
            row.addWidget(button)
        column_of(head, (self.text, 1), foot, on=self, margins=0, spacing=0)

    def show_versions(self, versions: Sequence[Version], left: str, right: str) -> None:
        """Offer these versions, with two of them chosen by id."""
        for choice, figures, name in zip(
            (self.left, self.right), self.figures, (left, right), strict=True
        ):
            choice.clear()
            for version in versions:
                choice.addItem(version.name, version)
            at = [version.message_id for version in versions].index(name)
            choice.setCurrentIndex(at)
            record = versions[at].record
            figures.setText(
                "" if record is None else f"{figures_words(record)}\n{self._made_with(record)}"
            )
        self.summary.setText(self.tr("Comparing…"))
        self.repeat.setVisible(self.shown_right.record is not None)

    @property
    def shown_right(self) -> Version:
        """The version to the right."""
        version: Version = self.right.currentData()
        return version

    def offer_strategies(self, choices: Sequence[tuple[str, str, str]], obstacle: str) -> None:
        """Offer to repeat the reply at the right with another strategy.

        Args:
            choices: Name, title and obstacle of each strategy; the obstacle is empty if it can be
                used.
            obstacle: Why no reply can be written now, or empty if it can.
        """
        menu = self.repeat.menu()
        menu.clear()
        for name, title, why in choices:
            action = menu.addAction(title)
            action.setData(name)
            action.setEnabled(not why)
        self.repeat.setEnabled(not obstacle)
        self.repeat.setToolTip(
            obstacle
            or self.tr(
                "Generate the reply to the right once more, with its seed and settings, "
                "but another strategy; then compare both"
            )
        )

    def _made_with(self, record: RunRecord) -> str:
        seed = "" if record.seed is None else self.tr("seed {}").format(record.seed)
        parts = (record.strategy or record.asked_strategy, sampling_words(record.sampling), seed)
        return " · ".join(filter(None, parts))

    def show_difference(self, difference: Difference) -> None:
        """Show both texts."""
        self.text.show_difference(difference)
        n = difference.n_changes
        count = self.tr("1 difference") if n == 1 else self.tr("{} differences").format(n)
        self.summary.setText(count if n else self.tr("Both texts are the same."))
        for button in (self.back, self.on):
            button.setEnabled(n > 0)

    @Slot()
    def _fit(self) -> None:
        self.setMinimumSize(within_screen(self, scaled(SMALLEST)))

    @Slot()
    def _on_chosen(self) -> None:
        self.chosen.emit(self.left.currentData().message_id, self.right.currentData().message_id)

    @Slot()
    def _on_back(self) -> None:
        self._go(-1)

    @Slot()
    def _on_next(self) -> None:
        self._go(1)

    def _go(self, step: int) -> None:
        """Show the next difference; after the last one comes the first."""
        if at := self.text.go(step):
            n = self.text.difference.n_changes
            self.summary.setText(self.tr("Difference {} of {}").format(at, n))


class VersionsController(DialogOwner[VersionsDialog]):
    """Owner of the dialog while it is open."""

    def __init__(self, context: AppContext, parent: QObject) -> None:
        super().__init__(parent)
        self._session, self._shown = context.session, context.shown
        self._context = context
        self._versions: list[Version] = []
        self._repeated = ("", "")  # a reply, and its repetition that is being written
        self._compared = ("", "")
        context.actions.compare.triggered.connect(self.open_last)
        context.signals.started.connect(self._offer_strategies)
        context.signals.ended.connect(self._on_ended)

    @Slot()
    def open_last(self) -> None:
        """Compare the last message on the path that has versions with its previous version."""
        conversation = self._shown.conversation
        for message in reversed(conversation.path()):
            if len(conversation.versions(message.message_id)) > 1:
                self.open(message.message_id)
                return
        self._context.notices.inform(self.tr("No message of this chat has another version."))

    @Slot(str)
    def open(self, message_id: str) -> None:
        """Compare a shown message with its previous version, or the first one with the next."""
        ids = [version.message_id for version in self._shown.conversation.versions(message_id)]
        if len(ids) > 1:
            at = max(ids.index(message_id), 1)
            self._open(ids[at - 1], ids[at])

    def _open(self, left: str, right: str) -> None:
        dialog = self.dialog
        if dialog is None:
            dialog = self.own(VersionsDialog(self._context.window))
            dialog.chosen.connect(self._show)
            dialog.repeat.menu().triggered.connect(self._on_repeat)
        self._versions = [*map(self._version, self._shown.conversation.versions(right))]
        self._show(left, right)
        dialog.open()

    @Slot()
    def _offer_strategies(self) -> None:
        """Offer the strategies for a repetition of the reply, or say why it is impossible now."""
        if self.dialog is None:
            return
        speculation = self._context.speculation
        groups: tuple[Group, ...] = ("off", "auto", "draft", "lookup", "mixed")
        choices = [choice for group in groups for choice in speculation.choices(group)]
        record = self.dialog.shown_right.record
        obstacle = ""
        if record is None or not can_be_repeated(record):
            obstacle = self.tr(
                "The reply to the right was continued or edited, or its seed is not known."
            )
        elif self._session.active is not None:
            obstacle = self.tr("A reply is being written.")
        self.dialog.offer_strategies(
            [(choice.name, choice.title, speculation.obstacle(choice.name)) for choice in choices],
            obstacle,
        )

    @Slot(QAction)
    def _on_repeat(self, action: QAction) -> None:
        """Repeat the reply at the right with the chosen strategy."""
        assert self.dialog is not None
        message_id, speculation = self.dialog.shown_right.message_id, self._context.speculation
        strategy, options = speculation.value_of(action.data()), self._context.next_reply.options
        reply = self._session.repeat(self._shown.id, message_id, strategy, options)
        if reply is not None:
            self._repeated = message_id, reply.message_id
            self.dialog.summary.setText(self.tr("Writing…"))

    @Slot(object)
    def _on_ended(self, reply: Reply) -> None:
        """Compare a repetition with its original."""
        self._offer_strategies()
        old_id, new_id = self._repeated
        if reply.message_id == new_id:
            self._repeated = "", ""
            if self.dialog is not None:
                was_refused = new_id not in self._shown.conversation.messages
                self._show(*self._compared) if was_refused else self._open(old_id, new_id)

    def _version(self, message: Message) -> Version:
        """Return a version named by its number in the chat, which begins anew in every branch."""
        conversation = self._shown.conversation
        reply = self._shown.reply(message.message_id)
        record = to_record(reply) if reply is not None else None
        when = QDateTime.fromSecsSinceEpoch(int(message.created_s))
        is_in_path = message.parent_id in (None, *(m.message_id for m in conversation.path()))
        words = (
            self.tr("Version {} · {}")
            if is_in_path
            else self.tr("Version {} in another branch · {}")
        )
        name = words.format(
            conversation.place_of(message.message_id)[0] + 1,
            QLocale().toString(when, self.tr("d MMM HH:mm")),
        )
        return Version(message.message_id, name, record)

    @Slot(str, str)
    def _show(self, left: str, right: str) -> None:
        dialog, messages = self.dialog, self._shown.conversation.messages
        if dialog is None:
            return
        self._compared = left, right
        dialog.show_versions(self._versions, left, right)
        self._offer_strategies()
        self._context.background.start(
            partial(compare, messages[left].text, messages[right].text),
            partial(self._on_compared, self._compared),
            self._context.notices.user_error,
        )

    def _on_compared(self, which: tuple[str, str], difference: object) -> None:
        assert isinstance(difference, Difference)
        if self.dialog is not None and which == self._compared:
            self.dialog.show_difference(difference)
