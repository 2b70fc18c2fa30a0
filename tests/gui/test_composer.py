from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtWidgets import QApplication

from paceline.conversation import Attachment, Message
from paceline.gui.chat.composer import Composer

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from paceline.settings import SendKey

Key = Qt.Key
Modifier = Qt.KeyboardModifier


def hint_of(composer: Composer) -> str:
    return composer._hint_label.text()


@pytest.mark.parametrize("keys", ["enter", "ctrl+enter"])
def test_a_key_or_the_button_sends_and_another_makes_a_line(
    composer: Composer, qtbot: QtBot, keys: SendKey
) -> None:
    edit, with_other = composer.edit, Modifier.ShiftModifier
    with_send = Modifier.NoModifier
    if keys == "ctrl+enter":
        with_send, with_other = Modifier.ControlModifier, Modifier.NoModifier
    edit.set_send_key(keys)
    assert not composer.button.isEnabled()
    with qtbot.assertNotEmitted(composer.message_submitted):
        for blank in ("", "  ", "\n \t\n"):
            composer.set_text(blank)
            qtbot.keyClick(edit, Key.Key_Return, with_send)
            assert composer.text == blank
        composer.set_text("one")
        qtbot.keyClick(edit, Key.Key_Return, with_other)
        qtbot.keyClicks(edit, "two  ")
    for send in (
        lambda: qtbot.keyClick(edit, Key.Key_Return, with_send),
        lambda: qtbot.keyClick(edit, Key.Key_Enter, with_send),
        lambda: qtbot.mouseClick(composer.button, Qt.MouseButton.LeftButton),
    ):
        composer.set_text("one\ntwo  ")
        with qtbot.waitSignal(composer.message_submitted) as caught:
            send()
        assert caught.args == ["one\ntwo  ", ()]
        assert composer.text == ""


def test_enter_belongs_to_the_input_method_while_it_composes(
    composer: Composer, qtbot: QtBot
) -> None:
    composer.set_text("ni")
    QApplication.sendEvent(composer.edit, QInputMethodEvent("hao", []))
    with qtbot.assertNotEmitted(composer.message_submitted):
        qtbot.keyClick(composer.edit, Key.Key_Return)
    QApplication.sendEvent(composer.edit, QInputMethodEvent("", []))
    with qtbot.waitSignal(composer.message_submitted):
        qtbot.keyClick(composer.edit, Key.Key_Return)


def test_busy_turns_send_into_stop(composer: Composer, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(composer.stop_requested):
        qtbot.keyClick(composer.edit, Key.Key_Escape)
    composer.set_text("next")
    composer.set_busy(True)
    assert "Stop" in composer.button.text()
    assert composer.button.accessibleName() == "Stop the reply"
    with qtbot.assertNotEmitted(composer.message_submitted):
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
    composer.set_text("Hello")
    composer.set_obstacle("Choose a model first.")
    assert hint_of(composer) == "Choose a model first."
    assert composer.button.toolTip() == "Choose a model first."
    with qtbot.assertNotEmitted(composer.message_submitted):
        qtbot.keyClick(composer.edit, Key.Key_Return)
        qtbot.mouseClick(composer.button, Qt.MouseButton.LeftButton)
    assert composer.text == "Hello"
    composer.set_obstacle("")
    assert not hint_of(composer)
    with qtbot.waitSignal(composer.message_submitted):
        qtbot.keyClick(composer.edit, Key.Key_Return)


# ----------------------------------------------------------------------------- attached files

FILE = Attachment("notes.py", "x = 1\n" * 100, 600)
OTHER = Attachment("a_very_long_name_that_has_no_room_in_a_chip.py", "y", 1)


def test_files_are_sent_with_the_text_and_alone(composer: Composer, qtbot: QtBot) -> None:
    composer.files.add([FILE, OTHER])
    composer.set_text("Look")
    with qtbot.waitSignal(composer.message_submitted) as caught:
        qtbot.keyClick(composer.edit, Key.Key_Return)
    assert caught.args == ["Look", (FILE, OTHER)]
    assert (composer.text, composer.attachments) == ("", ())
    assert not composer.files.isVisible()
    composer.files.add([FILE])
    assert composer.button.isEnabled()
    with qtbot.waitSignal(composer.message_submitted) as caught:
        qtbot.keyClick(composer.edit, Key.Key_Return)
    assert caught.args == ["", (FILE,)]


def test_chips_show_their_files_and_are_removed_by_click_and_by_key(
    composer: Composer, qtbot: QtBot
) -> None:
    files, third = composer.files, Attachment("c", "c", 1)
    files.add([FILE, FILE, OTHER, third])
    first, second, _ = files.chips
    assert first.name.text() == "notes.py · 600 B · ≈ 150 tokens"
    assert first.name.accessibleName() == "Attached file notes.py, 600 B, about 150 tokens"
    assert second.name.text().startswith("a_very_long_…")
    qtbot.mouseClick(first.name, Qt.MouseButton.LeftButton)
    assert files.preview is not None
    assert files.preview.text.toPlainText() == FILE.text
    qtbot.keyClick(files.preview, Key.Key_Escape)
    assert not files.preview.isVisible()
    assert OTHER.name in second.cross.accessibleName()
    qtbot.mouseClick(second.cross, Qt.MouseButton.LeftButton)
    assert composer.attachments == (FILE, third)
    files.chips[0].name.setFocus()
    qtbot.keyClick(files.chips[0].name, Key.Key_Delete)
    assert composer.attachments == (third,)
    assert files.chips[0].name.hasFocus()
    with qtbot.waitSignal(files.changed):
        qtbot.keyClick(files.chips[0].name, Key.Key_Delete)
    assert composer.attachments == ()
    assert composer.edit.hasFocus(), "there is nothing else to go to"


def test_text_is_pasted_as_such_and_files_and_large_texts_are_attached(
    composer: Composer, qtbot: QtBot
) -> None:
    def paste(text: str, html: str = "", *urls: QUrl) -> None:
        data = QMimeData()
        data.setText(text)
        if html:
            data.setHtml(html)
        if urls:
            data.setUrls(urls)
        composer.edit.insertFromMimeData(data)

    paste("See: ", "<b>See</b>")
    assert composer.text == "See: "
    with qtbot.waitSignal(composer.edit.files_pasted) as caught:
        paste("", "", QUrl.fromLocalFile("/a/b.py"), QUrl("https://example.org/c.py"))
    assert caught.args == [["/a/b.py"]]
    text = "zeile ä\r\n" * 3_000
    paste(text)
    assert composer.offer.isVisible()
    composer.set_text("See: ")
    assert not composer.offer.isVisible(), "it goes with the text"
    paste(text)
    assert composer.offer.text() == "Attach the 30 kB that you pasted as a file"
    qtbot.mouseClick(composer.offer, Qt.MouseButton.LeftButton)
    assert composer.text == "See: "
    (file,) = composer.attachments
    assert (file.name, file.text) == ("pasted.txt", text.replace("\r\n", "\n"))
    assert not composer.offer.isVisible()


def test_what_comes_back_brings_its_files(composer: Composer) -> None:
    composer.files.add([OTHER])
    composer.return_message(Message.of_text("m", None, "user", "Look", attachments=(FILE,)))
    assert (composer.text, composer.attachments) == ("Look", (FILE, OTHER))
    composer.return_message(Message.of_text("n", None, "user", "", attachments=(OTHER,)))
    assert (composer.text, composer.attachments) == ("Look", (OTHER, FILE))
