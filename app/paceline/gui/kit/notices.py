"""Notices and their bar, and the only dialogs that block.

Every failure is shown here, as a message and a remedy. Nothing else in the program opens a message
box.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QMessageBox, QPushButton, QSizePolicy, QWidget

from paceline.errors import UserError
from paceline.gui.kit.labels import (
    BreakingLabel,
    YieldingButton,
    YieldingLabel,
    say,
    with_soft_breaks,
)
from paceline.gui.kit.layouts import IconButton, Refits, Strip, row_of, set_look, styled
from paceline.gui.kit.sentences import said
from paceline.gui.look.theme import restyle
from paceline.sentence import joined

Level = Literal["error", "warning", "info"]


@dataclass(frozen=True, slots=True)
class Action:
    """The text of a notice's button and its function.

    `run` is a function or a bound method, possibly partial, but no `emit` of a signal: a stored
    `emit` can outlive its object, which crashes Python's garbage collector.
    """

    text: str
    run: Callable[[], object]


@dataclass(frozen=True, slots=True)
class Notice:
    """A message for the error bar.

    Attributes:
        level: Its severity.
        message: A sentence about the event.
        hint: A remedy.
        action: Its button, or None.
        other: Another button before it, or None.
        topic: Its subject; once that is resolved, the notice may go.
        is_question: True for a question about the user's last action, which may replace an error.
    """

    level: Level
    message: str
    hint: str = ""
    action: Action | None = None
    topic: str = ""
    is_question: bool = False
    other: Action | None = None


class Notifications(QObject):
    """Sender of notices, which the error bars show."""

    posted = Signal(object)
    resolved = Signal(str)
    """This topic is resolved; a notice about it may go."""

    def error(
        self,
        message: str,
        hint: str = "",
        *,
        action: Action | None = None,
        other: Action | None = None,
        topic: str = "",
    ) -> None:
        """Report that something failed."""
        self.posted.emit(Notice("error", message, hint, action, topic, other=other))

    def warn(self, message: str, hint: str = "", *, topic: str = "") -> None:
        """Report that something differs from what was requested."""
        self.posted.emit(Notice("warning", message, hint, topic=topic))

    def inform(self, message: str, *, action: Action | None = None, topic: str = "") -> None:
        """Report good news, with a button for the next action."""
        self.posted.emit(Notice("info", message, "", action, topic))

    def ask(self, message: str, action: Action) -> None:
        """Ask before an action that the user has just requested."""
        self.posted.emit(Notice("info", message, "", action, is_question=True))

    def user_error(self, error: UserError, *, topic: str = "") -> None:
        """Report an error with its own words."""
        self.error(error.message, error.hint, topic=topic)

    def attempt(self, use_case: Callable[..., object], *args: object) -> bool:
        """Call a function for the user; report its `UserError`, and return False then."""
        try:
            use_case(*args)
        except UserError as error:
            self.user_error(error)
            return False
        return True

    def user_errors(self, errors: Sequence[UserError], others: str, *, topic: str = "") -> None:
        """Report the first of some errors, if any, and the number of the others.

        Args:
            errors: The failures, one by one.
            others: Words for the number of the others, e.g. ``"{} more files could not be read
                either."``.
            topic: See `Notice`.
        """
        if not errors:
            return
        first = errors[0]
        more = others.format(len(errors) - 1) if len(errors) > 1 else ""
        self.error(first.message, joined([first.hint, more]), topic=topic)


_AROUND_PX = 48
"""Margins of a notice and the gaps between its parts, in pixels."""
_MIN_LETTERS = 24
"""Minimum number of visible letters of a message beside two buttons."""
NEWS_MS = 10_000
"""Time that good news without a button is shown."""


class ErrorBar(Refits, Strip):
    """One notice at a time, in one line that unfolds; hidden while there is none.

    Attributes:
        text: The whole text, if it fits or is unfolded.
    """

    dismissed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "notice")
        self.setObjectName("error_bar")
        self._shown: Notice | None = None
        self.text = BreakingLabel()
        self._line = YieldingLabel()
        self._line.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.more = styled(QPushButton(), kind="link")
        self.more.setCheckable(True)
        self.more.toggled.connect(self._fit)
        self.other, self.action = YieldingButton(), YieldingButton()
        self.close_button = IconButton("close", self.tr("Dismiss the message"), self.tr("Dismiss"))
        parts = (self._line, 1), (self.text, 1), self.more, self.other, self.action
        row_of(*parts, self.close_button, on=self, margins=(14, 6, 6, 6))
        self._leave = QTimer(self, singleShot=True, interval=NEWS_MS)
        self._leave.timeout.connect(self.dismiss)
        self.other.clicked.connect(self._on_other)
        self.action.clicked.connect(self._on_action)
        self.close_button.clicked.connect(self.dismiss)
        self.hide()

    @Slot(object)
    def show_notice(self, notice: Notice) -> None:
        """Show this notice in place of an older one; only errors and questions replace an error."""
        shows_error = self._shown is not None and self._shown.level == "error"
        if shows_error and notice.level != "error" and not notice.is_question:
            return
        self._shown = notice
        set_look(self, tone={"error": "danger", "warning": "lookup"}.get(notice.level, ""))
        words = said(notice.message, notice.hint)
        self.text.setText(with_soft_breaks(words))
        self._line.setText(words)
        self.setAccessibleName(words)
        self.more.setChecked(False)
        say(self.other, notice.other.text if notice.other is not None else "")
        say(self.action, notice.action.text if notice.action is not None else "")
        self.show()
        self._fit()
        self._leave.stop()
        if notice.level == "info" and notice.action is None:
            self._leave.start()

    @Slot()
    def _fit(self) -> None:
        """Show one line of a longer text and a button for the rest; words give way first."""
        words = self._line.text()
        buttons = (each for each in (self.action, self.close_button) if not each.isHidden())
        room = self.width() - _AROUND_PX - sum(each.sizeHint().width() for each in buttons)
        beside = room - self.other.sizeHint().width()
        is_roomy = beside > _MIN_LETTERS * self.fontMetrics().averageCharWidth()
        self.other.setVisible(is_roomy and bool(self.other.text()))
        room = beside if not self.other.isHidden() else room
        is_long = "\n" in words or self._line.fontMetrics().horizontalAdvance(words) > room
        is_open = self.more.isChecked()
        self.more.setText(self.tr("Less") if is_open else self.tr("More"))
        self.more.setVisible(is_long)
        self._line.setVisible(is_long and not is_open)
        self.text.setVisible(not is_long or is_open)

    @Slot(str)
    def resolve(self, topic: str) -> None:
        """Hide the notice if it is about this topic."""
        if self._shown is not None and self._shown.topic == topic:
            self.dismiss()

    @Slot()
    def dismiss(self) -> None:
        """Hide the notice."""
        self._shown = None
        self._leave.stop()
        if self.isHidden():
            return
        had_focus = self.isAncestorOf(self.focusWidget()) if self.focusWidget() else False
        self.hide()
        if had_focus:
            self.dismissed.emit()

    @Slot()
    def _on_action(self) -> None:
        self._carry_out(self._shown.action if self._shown is not None else None)

    @Slot()
    def _on_other(self) -> None:
        self._carry_out(self._shown.other if self._shown is not None else None)

    def _carry_out(self, action: Action | None) -> None:
        self.dismiss()
        if action is not None:
            action.run()


def ask_to_delete(
    parent: QWidget, title: str, text: str, action: str, accepted: Callable[[], None]
) -> None:
    """Open a dialog that names what will be deleted; return at once.

    `accepted` is called if the user confirms. The button that keeps everything is the default.
    """
    box = QMessageBox(QMessageBox.Icon.Warning, title, text, parent=parent)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    delete = box.addButton(action, QMessageBox.ButtonRole.AcceptRole)
    delete.setProperty("kind", "danger")
    keep = box.addButton(QMessageBox.StandardButton.Cancel)
    box.setDefaultButton(keep)
    restyle(delete)
    box.accepted.connect(accepted)
    box.open()
