"""The one door to the user: inline notices, and the only dialogs that block.

Everything that goes wrong is told here, as a message and what to do about it, and is shown by the
error bar. Nothing else in the program opens a message box.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QMessageBox, QWidget

if TYPE_CHECKING:
    from paceline.errors import UserError

Level = Literal["error", "warning", "info"]


@dataclass(frozen=True, slots=True)
class Notice:
    """A message for the error bar; `action` names what its button asks for."""

    level: Level
    message: str
    hint: str = ""
    action: str = ""
    action_text: str = ""


class Notifications(QObject):
    """Passes notices on to whoever shows them."""

    posted = Signal(object)
    settled = Signal(str)
    """The action of this name is not needed any more; a notice that offers it may go."""

    def error(self, message: str, hint: str = "", *, action: str = "", text: str = "") -> None:
        """Tell that something failed."""
        self.posted.emit(Notice("error", message, hint, action, text))

    def warn(self, message: str, hint: str = "") -> None:
        """Tell that something is not as asked for."""
        self.posted.emit(Notice("warning", message, hint))

    def user_error(self, error: UserError) -> None:
        """Tell of an error as it is."""
        self.error(error.message, error.hint)


def show_about(parent: QWidget, title: str, text: str) -> None:
    """Open the dialog that names versions; returns at once."""
    box = QMessageBox(QMessageBox.Icon.NoIcon, title, text, parent=parent)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.open()
