"""The one door to the user: inline notices, and the only dialogs that block.

Everything that goes wrong is told here, as a message and what to do about it, and is shown by the
error bar. Nothing else in the program opens a message box.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QMessageBox, QWidget

from paceline.gui.theme import restyle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.errors import UserError

Level = Literal["error", "warning", "info"]


@dataclass(frozen=True, slots=True)
class Notice:
    """A message for the error bar.

    Attributes:
        level: How bad it is.
        message: What happened.
        hint: What to do about it.
        action: Names what the button asks for; empty: there is none.
        action_text: What the button says.
        topic: What it is about; when that is settled, the notice may go.
        is_question: Asked because of something the user just did: takes an error's place.
    """

    level: Level
    message: str
    hint: str = ""
    action: str = ""
    action_text: str = ""
    topic: str = ""
    is_question: bool = False


class Notifications(QObject):
    """Passes notices on to whoever shows them."""

    posted = Signal(object)
    settled = Signal(str)
    """This topic, or the action of this name, is settled; a notice about it may go."""

    def error(
        self, message: str, hint: str = "", *, action: str = "", text: str = "", topic: str = ""
    ) -> None:
        """Tell that something failed."""
        self.posted.emit(Notice("error", message, hint, action, text, topic))

    def warn(self, message: str, hint: str = "", *, topic: str = "") -> None:
        """Tell that something is not as asked for."""
        self.posted.emit(Notice("warning", message, hint, topic=topic))

    def tell(self, message: str, *, action: str = "", text: str = "", topic: str = "") -> None:
        """Tell good news, with a button that goes on from there."""
        self.posted.emit(Notice("info", message, "", action, text, topic))

    def ask(self, message: str, *, action: str, text: str) -> None:
        """Ask before something is done that the user has just wished for."""
        self.posted.emit(Notice("info", message, "", action, text, is_question=True))

    def user_error(self, error: UserError) -> None:
        """Tell of an error as it is."""
        self.error(error.message, error.hint)

    def user_errors(self, errors: Sequence[UserError], others: str) -> None:
        """Tell the first of some errors, if there is any, and how many more there are.

        Args:
            errors: What failed, one by one.
            others: What says how many more, e.g. ``"{} more files could not be read either."``.
        """
        if not errors:
            return
        first = errors[0]
        more = others.format(len(errors) - 1) if len(errors) > 1 else ""
        self.error(first.message, f"{first.hint} {more}".strip())


def ask_to_delete(parent: QWidget, title: str, text: str, action: str) -> QMessageBox:
    """Open a dialog that says what will be gone; returns at once.

    `accepted` tells that the user wants it. The button that keeps everything is the default.
    """
    box = QMessageBox(QMessageBox.Icon.Warning, title, text, parent=parent)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    delete = box.addButton(action, QMessageBox.ButtonRole.AcceptRole)
    delete.setProperty("kind", "danger")
    keep = box.addButton(QMessageBox.StandardButton.Cancel)
    box.setDefaultButton(keep)
    restyle(delete)
    box.open()
    return box
