from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QAccessible, QInputMethodEvent
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from paceline.gui.widgets.composer import MAX_LINES, Composer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

Key = Qt.Key
Modifier = Qt.KeyboardModifier


@pytest.fixture
def composer(qtbot: QtBot) -> Iterator[Composer]:
    # Within another widget: the offscreen plug-in knows no smallest sizes of windows.
    host = QWidget()
    qtbot.addWidget(host)
    made = Composer(host)
    made.resize(600, 100)
    host.resize(700, 300)
    host.show()
    yield made
    host.close()


def hint_of(composer: Composer) -> str:
    return composer.findChildren(QLabel)[0].text()


@pytest.mark.parametrize("key", [Key.Key_Return, Key.Key_Enter])
def test_enter_sends(composer: Composer, qtbot: QtBot, key: Qt.Key) -> None:
    qtbot.keyClicks(composer.edit, "Hello")
    with qtbot.waitSignal(composer.text_submitted) as caught:
        qtbot.keyClick(composer.edit, key)
    assert caught.args == ["Hello"]
    assert composer.text == ""


def test_the_button_sends(composer: Composer, qtbot: QtBot) -> None:
    assert not composer.button.isEnabled()
    composer.set_text("  two\n\nlines  ")
    assert composer.button.isEnabled()
    with qtbot.waitSignal(composer.text_submitted) as caught:
        qtbot.mouseClick(composer.button, Qt.MouseButton.LeftButton)
    assert caught.args == ["  two\n\nlines  "]


def test_shift_enter_makes_a_new_line(composer: Composer, qtbot: QtBot) -> None:
    qtbot.keyClicks(composer.edit, "one")
    with qtbot.assertNotEmitted(composer.text_submitted):
        qtbot.keyClick(composer.edit, Key.Key_Return, Modifier.ShiftModifier)
    qtbot.keyClicks(composer.edit, "two")
    assert composer.text == "one\ntwo"


@pytest.mark.parametrize("text", ["", "  ", "\n \t\n"])
def test_nothing_is_not_sent(composer: Composer, qtbot: QtBot, text: str) -> None:
    composer.set_text(text)
    with qtbot.assertNotEmitted(composer.text_submitted):
        qtbot.keyClick(composer.edit, Key.Key_Return)
    assert composer.text == text


def test_enter_belongs_to_the_input_method_while_it_composes(
    composer: Composer, qtbot: QtBot
) -> None:
    composer.set_text("ni")
    QApplication.sendEvent(composer.edit, QInputMethodEvent("hao", []))
    with qtbot.assertNotEmitted(composer.text_submitted):
        qtbot.keyClick(composer.edit, Key.Key_Return)
    QApplication.sendEvent(composer.edit, QInputMethodEvent("", []))
    with qtbot.waitSignal(composer.text_submitted):
        qtbot.keyClick(composer.edit, Key.Key_Return)


def test_busy_turns_send_into_stop(composer: Composer, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(composer.stop_requested):
        qtbot.keyClick(composer.edit, Key.Key_Escape)
    composer.set_text("next")
    composer.set_busy(True)
    assert "Stop" in composer.button.text()
    assert composer.button.accessibleName() == "Stop the reply"
    with qtbot.assertNotEmitted(composer.text_submitted):
        qtbot.keyClick(composer.edit, Key.Key_Return)
    assert composer.text == "next", "it is kept for later"
    for stop in (
        lambda: qtbot.keyClick(composer.edit, Key.Key_Escape),
        lambda: qtbot.mouseClick(composer.button, Qt.MouseButton.LeftButton),
    ):
        with qtbot.waitSignal(composer.stop_requested):
            stop()
    composer.set_busy(False)
    assert composer.button.text() == "Send"
    assert composer.button.property("kind") == "primary"


def test_a_reason_keeps_the_text(composer: Composer, qtbot: QtBot) -> None:
    composer.set_hint("Context 320 / 2,048")
    composer.set_text("Hello")
    composer.set_enabled_reason("Choose a model first.")
    assert hint_of(composer) == "Choose a model first."
    assert composer.button.toolTip() == "Choose a model first."
    with qtbot.assertNotEmitted(composer.text_submitted):
        qtbot.keyClick(composer.edit, Key.Key_Return)
        qtbot.mouseClick(composer.button, Qt.MouseButton.LeftButton)
    assert composer.text == "Hello"
    composer.set_enabled_reason(None)
    assert hint_of(composer) == "Context 320 / 2,048"
    with qtbot.waitSignal(composer.text_submitted):
        qtbot.keyClick(composer.edit, Key.Key_Return)


def test_the_field_grows_up_to_eight_lines(composer: Composer, qtbot: QtBot) -> None:
    heights = []
    for n_lines in (1, 2, MAX_LINES, MAX_LINES + 5):
        composer.set_text("\n".join("x" for _ in range(n_lines)))
        heights.append(composer.edit.height())
    assert heights[0] < heights[1] < heights[2] == heights[3]
    composer.set_text("")
    assert composer.edit.height() == heights[0]
    composer.set_text("wrapped words " * 30)
    assert composer.edit.height() > heights[1]


def test_only_text_is_pasted(composer: Composer) -> None:
    data = QMimeData()
    data.setHtml("<b>bold</b>")
    data.setText("bold")
    composer.edit.insertFromMimeData(data)
    assert composer.text == "bold"


def test_names_for_those_who_do_not_see(composer: Composer) -> None:
    for widget, name in ((composer.edit, "Message"), (composer.button, "Send the message")):
        interface = QAccessible.queryAccessibleInterface(widget)
        assert interface is not None
        assert interface.text(QAccessible.Text.Name) == name
    assert "Enter sends" in composer.edit.placeholderText()
    assert composer.focusProxy() is composer.edit
