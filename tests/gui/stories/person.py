"""A person at the window: types, presses keys, clicks, and looks at what is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from gui.shared_window import shown
from paceline.gui.chat.messages.reply_view import ReplyView
from paceline.gui.conversations.model import ID_ROLE, SUBTITLE_ROLE
from paceline.gui.kit.labels import without_soft_breaks

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from paceline.gui.program import Program

CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
NONE = Qt.KeyboardModifier.NoModifier


class Person:
    """Does nothing that keys and mouse could not, and sees nothing that is hidden."""

    def __init__(self, program: Program, qtbot: QtBot) -> None:
        self.program = program
        self._qtbot = qtbot
        self._window = program.window

    # ------------------------------------------------------------------------------- what they do

    def write(self, text: str) -> None:
        """Type a message and send it."""
        edit = self._window.chat_pane.composer.edit
        self._qtbot.mouseClick(edit.viewport(), Qt.MouseButton.LeftButton)
        self._qtbot.keyClicks(edit, text)
        self._qtbot.keyClick(edit, Qt.Key.Key_Return)

    def press(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = NONE) -> None:
        """Press a key where the keyboard is."""
        QTest.keyClick(QApplication.focusWidget() or self._window, key, modifiers)

    def click(self, name: str, within: QWidget | None = None) -> None:
        """Click the last button of this text or accessible name that is seen and can be used."""
        found = [
            button
            for button in (within or self._window).findChildren(QAbstractButton)
            if name in (button.text().replace("&", ""), button.accessibleName())
            and button.isVisible()
            and button.isEnabled()
        ]
        assert found, f"no button “{name}” can be clicked"
        self._qtbot.mouseClick(found[-1], Qt.MouseButton.LeftButton)

    def wait(self, is_so: Callable[[], bool]) -> None:
        """Wait until something is so."""
        self._qtbot.waitUntil(is_so)

    # ------------------------------------------------------------------------------ what they see

    @property
    def replies(self) -> list[str]:
        """The texts of the replies on the shown path."""
        return [view.plain_text for view in self.views]

    @property
    def views(self) -> list[ReplyView]:
        """The replies themselves, from the first one."""
        chat = self._window.chat_pane.chat
        path = self.program.shown.conversation.path()
        views = (chat.reply_view(message.message_id) for message in path)
        return [view for view in views if view is not None]

    @property
    def notice(self) -> str:
        """The text of the notice, or empty if there is none."""
        errors = self._window.chat_pane.errors
        return "" if errors.isHidden() else without_soft_breaks(errors.text.text())

    @property
    def chats(self) -> list[str]:
        """The titles of the list of chats."""
        return [title for title, _ in self.rows]

    @property
    def rows(self) -> list[tuple[str, str]]:
        """The titles of the list of chats, with the lines below them."""
        model = self._window.sidebar.list.model()
        rows = (model.index(row, 0) for row in range(model.rowCount()))
        return [(str(r.data()), str(r.data(SUBTITLE_ROLE))) for r in rows if r.data(ID_ROLE)]

    def sees(self, text: str, within: QWidget | None = None) -> bool:
        """Say whether a text is on the screen."""
        place = within or self._window
        return any(text in without_soft_breaks(said) for _, said in shown(place, ""))

    def choose_chat(self, title: str) -> None:
        """Click a row of the list of chats."""
        view = self._window.sidebar.list
        model = view.model()
        (index,) = (
            model.index(row, 0)
            for row in range(model.rowCount())
            if model.index(row, 0).data() == title and model.index(row, 0).data(ID_ROLE)
        )
        view.scrollTo(index)
        place = view.visualRect(index).center()
        self._qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
