"""A first hour with the window by the keyboard alone, on the real engine and a real database.

Nothing is called that a key could not cause: the story presses keys where the keyboard is, and
looks at what is shown. After each key the keyboard must still be somewhere that can be seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QApplication,
    QFileDialog,
    QLineEdit,
    QTabBar,
    QTextEdit,
    QWidget,
)

from paceline.chat.exchange.reading import read_chats
from paceline.gui.chat.markdown.view import MessageView
from paceline.gui.chat.messages.message_actions import SiblingSwitch
from paceline.gui.chat.messages.reply_view import ReplyView
from paceline.gui.chat.messages.user_bubble import UserBubble
from paceline.gui.welcome.options import OptionButton

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from paceline.gui.program import Program

LIMIT_MS = 60_000
MOST_TABS = 90
CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
NONE = Qt.KeyboardModifier.NoModifier


def seen_part(widget: QWidget) -> QRect:
    """Return the part of a widget that lies within all its parents; children do not count."""
    seen = widget.rect()
    while (parent := widget.parentWidget()) is not None and not widget.isWindow():
        seen = seen.translated(widget.pos()) & parent.rect()
        widget = parent
    return seen


class Keyboard:
    """Presses keys where the keyboard is."""

    def __init__(self, qtbot: QtBot) -> None:
        self._qtbot = qtbot

    @property
    def place(self) -> QWidget:
        """Return the widget with the focus, which must be visible."""
        found = QApplication.focusWidget()
        assert found is not None, "nobody has the keyboard"
        assert found.isVisible(), f"{found} has the keyboard and is hidden"
        assert not seen_part(found).isEmpty(), f"{found} has the keyboard out of sight"
        return found

    @property
    def name(self) -> str:
        """Return the name that a screen reader would speak for the focused widget."""
        place = self.place
        text = place.text() if isinstance(place, QAbstractButton) else ""
        return place.accessibleName() or text

    def press(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = NONE) -> None:
        QTest.keyClick(self.place, key, modifiers)
        self._qtbot.wait(1)
        self._qtbot.waitUntil(lambda: self.place is not None)  # what just appeared is laid out soon

    def write(self, text: str) -> None:
        QTest.keyClicks(self.place, text)

    def go_to(self, is_it: Callable[[QWidget], bool], what: str, *, back: bool = False) -> None:
        """Press Tab until the keyboard is there."""
        seen = []
        for _ in range(MOST_TABS):
            if is_it(self.place):
                return
            seen.append(self.name)
            self.press(Qt.Key.Key_Backtab if back else Qt.Key.Key_Tab, SHIFT if back else NONE)
        raise AssertionError(f"Tab does not reach {what}; it reached {seen}")

    def go_to_name(self, part: str, *, back: bool = False) -> None:
        self.go_to(lambda widget: part in self.name, f"“{part}”", back=back)


class Story:
    """Records the visible state of the program during the story."""

    def __init__(self, qtbot: QtBot, program: Program) -> None:
        self._qtbot = qtbot
        self.program = program

    def wait(self, is_so: Callable[[], bool]) -> None:
        self._qtbot.waitUntil(is_so, timeout=LIMIT_MS)

    def texts(self) -> list[str]:
        return [message.text for message in self.program.shown.conversation.path()]

    def is_writing(self) -> bool:
        return self.program.window.actions_.stop.isEnabled()

    def n_replies(self) -> int:
        messages = self.program.shown.conversation.messages.values()
        return sum(message.role == "assistant" for message in messages)


@pytest.fixture
def story(qtbot: QtBot, make_real: Callable[..., Program], paceline_home: Path) -> Story:
    program = make_real(
        "thread", chats_file=paceline_home / "chats.db", was_welcomed=False, max_tokens=250
    )
    program.start()
    told = Story(qtbot, program)
    told.wait(lambda: program.pair.state.status == "ready")
    program.window.activateWindow()
    qtbot.waitUntil(program.window.isActiveWindow)
    return told


def is_switch_of(kind: type[QWidget]) -> Callable[[QWidget], bool]:
    """Return whether a widget switches between versions of a message of this kind."""

    def is_it(widget: QWidget) -> bool:
        switch = widget.parent()
        if not isinstance(switch, SiblingSwitch):
            return False
        above = switch.parentWidget()
        while above is not None and not isinstance(above, UserBubble | ReplyView):
            above = above.parentWidget()
        return isinstance(above, kind)

    return is_it


def test_first_run_to_export_by_keys_alone(qtbot: QtBot, story: Story, tmp_path: Path) -> None:
    program, keys = story.program, Keyboard(qtbot)
    composer = program.window.chat_pane.composer.edit
    assert keys.place is composer

    # First run: the page stands before the field, and one key asks.
    keys.go_to(lambda widget: isinstance(widget, OptionButton), "a question", back=True)
    keys.go_to_name("How do I open a file?", back=True)
    keys.press(Qt.Key.Key_Space)
    story.wait(lambda: len(story.texts()) == 2 and len(story.texts()[1]) > 10)
    assert keys.place is composer

    # Stop.
    keys.press(Qt.Key.Key_Escape)
    story.wait(lambda: not story.is_writing())
    assert story.texts()[0] == "How do I open a file?"

    # Edit the question: a sibling with a reply of its own.
    keys.go_to_name("Conversation", back=True)
    keys.go_to_name("Edit this message")
    keys.press(Qt.Key.Key_Space)
    assert isinstance(keys.place, QTextEdit | QAbstractScrollArea)
    keys.press(Qt.Key.Key_A, CONTROL)
    keys.write("What does len do?")
    keys.press(Qt.Key.Key_Return)
    story.wait(lambda: story.n_replies() == 2 and not story.is_writing())
    assert story.texts()[0] == "What does len do?"

    # Regenerate: a second reply to it.
    first = story.texts()[1]
    keys.press(Qt.Key.Key_R, CONTROL)
    story.wait(lambda: story.n_replies() == 3 and not story.is_writing())

    # Step to the sibling of the reply, then to that of the question.
    keys.press(Qt.Key.Key_L, CONTROL)
    keys.go_to_name("Conversation", back=True)
    keys.go_to(is_switch_of(ReplyView), "the siblings of the reply")
    keys.press(Qt.Key.Key_Space)
    assert story.texts() == ["What does len do?", first]
    keys.press(Qt.Key.Key_L, CONTROL)
    keys.go_to_name("Conversation", back=True)
    keys.go_to(is_switch_of(UserBubble), "the siblings of the question")
    keys.press(Qt.Key.Key_Space)
    assert story.texts()[0] == "How do I open a file?"
    keys.press(Qt.Key.Key_L, CONTROL)
    assert keys.place is composer

    # A setting of this chat: the badge says it, leads to it, and is gone in a new chat.
    keys.go_to(lambda widget: isinstance(widget, QTabBar), "the tabs of the panel")
    keys.press(Qt.Key.Key_Right)
    assert program.window.panel.tab == "chat"
    keys.go_to_name("Temperature")
    keys.press(Qt.Key.Key_Left)
    keys.press(Qt.Key.Key_L, CONTROL)
    keys.go_to_name("Settings of this chat: Temperature")
    keys.press(Qt.Key.Key_Space)
    assert keys.place is program.window.panel.sampling.sliders["temperature"].field
    settings = program.shown.settings
    assert settings.sampling.temperature < 0.7

    # Find the chat by a word of the question.
    keys.press(Qt.Key.Key_N, CONTROL)
    assert not story.texts()
    assert program.sampling.badge.isHidden()
    keys.press(Qt.Key.Key_F, CONTROL | SHIFT)
    keys.write("len")
    found = program.window.sidebar.finder.found
    story.wait(found.isVisible)
    keys.go_to(lambda widget: widget is found or found.isAncestorOf(widget), "what was found")
    keys.press(Qt.Key.Key_End)  # the last row is a message; those above it may be titles
    keys.press(Qt.Key.Key_Return)
    story.wait(lambda: "What does len do?" in story.texts())

    # Settings: opened, gone through, closed; the keyboard comes back.
    before = keys.place
    keys.press(Qt.Key.Key_Comma, CONTROL)
    dialog = QApplication.activeModalWidget()
    assert dialog is not None
    assert dialog.isAncestorOf(keys.place)
    for _ in range(8):
        keys.press(Qt.Key.Key_Tab)
        assert dialog.isAncestorOf(keys.place)
    QTest.keyClick(keys.place, Qt.Key.Key_Escape)
    story.wait(lambda: QApplication.activeModalWidget() is None)
    program.window.activateWindow()  # as a window manager does
    story.wait(lambda: QApplication.focusWidget() is not None)
    assert keys.place is before

    # Export: the name is typed into the dialog, and its ending says that everything is wanted.
    file = tmp_path / "by keys.json"
    keys.press(Qt.Key.Key_E, CONTROL)
    story.wait(lambda: isinstance(QApplication.activeModalWidget(), QFileDialog))
    assert isinstance(keys.place, QLineEdit)
    keys.press(Qt.Key.Key_A, CONTROL)
    keys.write(str(file))
    QTest.keyClick(keys.place, Qt.Key.Key_Return)
    story.wait(file.exists)
    story.wait(lambda: QApplication.activeModalWidget() is None)
    program.window.activateWindow()
    story.wait(lambda: QApplication.focusWidget() is not None)
    assert keys.place is before

    # What was written is the whole tree: both questions, three replies, and how each came about.
    (exported,) = read_chats(file.read_bytes(), file.name).whole
    assert exported.conversation.settings == settings
    tree, current = exported.conversation, program.shown.conversation
    assert [m.text for m in tree.path()] == [m.text for m in current.path()]
    assert sorted(m.text for m in tree.messages.values()) == sorted(
        m.text for m in current.messages.values()
    )
    replies = [m for m in tree.messages.values() if m.role == "assistant"]
    assert len(replies) == 3
    for reply in replies:
        record = exported.records[reply.message_id]
        streamed = "".join(step.text for step in record.steps)
        assert streamed
        assert reply.text.startswith(streamed)  # the end may have been held back
        assert record.stats is not None
        assert record.stats.n_generated == sum(len(step.tokens) for step in record.steps)


def test_a_reply_is_worked_with_by_keys_alone(qtbot: QtBot, story: Story) -> None:
    program, keys = story.program, Keyboard(qtbot)
    composer, bar = program.window.chat_pane.composer.edit, program.window.chat_pane.find_bar
    keys.write("What does len do?")
    keys.press(Qt.Key.Key_Return)
    story.wait(lambda: len(story.texts()) == 2 and not story.is_writing())
    first = story.texts()[1]

    # Continue: a version that begins with the first.
    keys.press(Qt.Key.Key_G, CONTROL)
    story.wait(lambda: story.n_replies() == 2 and not story.is_writing())
    assert story.texts()[1].startswith(first)

    # Edit the reply; Enter is a new line there. It is a version, too.
    def act(name: str) -> None:
        keys.press(Qt.Key.Key_L, CONTROL)
        keys.go_to_name("Conversation", back=True)
        keys.go_to_name(name)
        keys.press(Qt.Key.Key_Space)

    act("Change the text of this reply")
    keys.press(Qt.Key.Key_A, CONTROL)
    keys.write("It counts a needle,")
    keys.press(Qt.Key.Key_Return)
    keys.write("then $n$ needles.")
    keys.press(Qt.Key.Key_Return, CONTROL)
    story.wait(lambda: story.n_replies() == 3)
    assert story.texts()[1] == "It counts a needle,\nthen $n$ needles."

    # Its mathematics is set.
    shown = program.window.chat_pane.chat
    story.wait(
        lambda: any(
            [placed.source for placed in view.content.formulas] == ["$n$"]
            for view in shown.findChildren(MessageView)
        )
    )

    # Compare it with the version before: from difference to difference, and back.
    keys.press(Qt.Key.Key_L, CONTROL)
    keys.press(Qt.Key.Key_D, CONTROL | SHIFT)
    dialog = program.versions.dialog
    assert dialog is not None
    story.wait(lambda: "difference" in dialog.summary.text())
    keys.press(Qt.Key.Key_F3)
    story.wait(lambda: dialog.summary.text().startswith("Difference 1 of"))
    QTest.keyClick(keys.place, Qt.Key.Key_Escape)
    story.wait(lambda: program.versions.dialog is None)
    program.window.activateWindow()  # as a window manager does
    story.wait(lambda: QApplication.focusWidget() is composer)

    # Find in the chat: forwards, backwards, and the keyboard comes back.
    keys.press(Qt.Key.Key_L, CONTROL)
    keys.press(Qt.Key.Key_F, CONTROL)
    assert keys.place is bar.field
    keys.write("needle")
    story.wait(lambda: bar.count.text() == "1 of 2")
    keys.press(Qt.Key.Key_Return)
    assert bar.count.text() == "2 of 2"
    keys.press(Qt.Key.Key_Return, SHIFT)
    keys.press(Qt.Key.Key_F3)
    assert bar.count.text() == "2 of 2"
    keys.press(Qt.Key.Key_Escape)
    assert bar.isHidden()
    assert keys.place is composer

    # Branch, and back to where it came from.
    original = program.shown.id
    act("Go on from here in a chat of its own")
    assert program.shown.conversation.title == "What does len do? (2)"
    act("Branched here from “What does len do?”")
    assert program.shown.id == original

    # Delete the question with all its replies, and bring them back.
    act("Delete this message and what follows it")
    story.wait(lambda: story.n_replies() == 0)
    keys.press(Qt.Key.Key_L, CONTROL)
    keys.go_to_name("Undo", back=True)
    keys.press(Qt.Key.Key_Space)
    story.wait(lambda: story.n_replies() == 3)
    assert story.texts()[1] == "It counts a needle,\nthen $n$ needles."
