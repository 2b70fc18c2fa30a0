"""Long text in fields: it becomes a file before it gets into the message, and nothing is lost.

Qt's time for a word without blanks grows with the square of its length where lines break between
words; so what is asked here is that such text is never laid out like that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QTextOption
from PySide6.QtWidgets import QPlainTextEdit

from paceline.chat.attachments import MAX_BYTES, MAX_FILES
from paceline.conversation import Attachment, Message
from paceline.errors import UserError
from paceline.gui.chat.composer import MAX_MESSAGE_CHARS, MAX_MESSAGE_LINES, Composer, ComposerEdit
from paceline.gui.chat.messages.attachment_chips import attachment_note, attachment_view
from paceline.gui.chat.messages.message_item import MessageEdit
from paceline.gui.kit.fields import LeavingEdit, TextField

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot


LETTERS = "a" * 100_000
LINES = "a line of text here\n" * 20_000
LONG = {
    "letters": LETTERS,
    "lines": LINES,
    "words": "word " * 20_000,
    "base64": "Zm9v+/Yg" * 12_500,
    "Thai": "กขค" * 33_000,
    "Chinese": "漢字" * 50_000,
    "line breaks alone": "\n" * 100_000,
}
ANYWHERE = QTextOption.WrapMode.WrapAnywhere


def paste(field: QPlainTextEdit, text: str) -> None:
    data = QMimeData()
    data.setText(text)
    field.insertFromMimeData(data)


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_a_long_paste_is_a_file_and_what_was_written_stays(composer: Composer, text: str) -> None:
    composer.set_text("Look at this: ")
    paste(composer.edit, text)
    assert composer.text == "Look at this: "
    (file,) = composer.attachments
    assert (file.name, file.text) == ("pasted.txt", text)
    assert composer.files.isVisible()
    assert not composer.offer.isVisible()


def test_long_pastes_are_sent_as_files_of_the_message(composer: Composer, qtbot: QtBot) -> None:
    paste(composer.edit, LETTERS)
    paste(composer.edit, LINES)
    files = composer.attachments
    assert [file.name for file in files] == ["pasted.txt", "pasted-2.txt"]
    qtbot.keyClicks(composer.edit, "why?")
    with qtbot.waitSignal(composer.message_submitted) as caught:
        qtbot.keyClick(composer.edit, Qt.Key.Key_Return)
    assert caught.args == ["why?", files]
    assert (composer.text, composer.attachments) == ("", ())


def test_undo_takes_back_what_was_pasted_last(composer: Composer, qtbot: QtBot) -> None:
    undo = Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier
    qtbot.keyClicks(composer.edit, "ab")
    paste(composer.edit, LETTERS)
    qtbot.keyClick(composer.edit, *undo)
    assert (composer.text, composer.attachments) == ("ab", ())
    qtbot.keyClick(composer.edit, *undo)
    assert composer.text == "", "and then the field's own"
    paste(composer.edit, LETTERS)
    qtbot.keyClicks(composer.edit, "c")
    qtbot.keyClick(composer.edit, *undo)
    assert composer.text == ""
    assert len(composer.attachments) == 1, "something was written since"


def test_small_texts_stay_text_in_a_full_field_and_what_comes_back_too_long_is_a_file(
    composer: Composer,
) -> None:
    composer.set_text("w " * (MAX_MESSAGE_CHARS // 2))
    paste(composer.edit, "a few words")
    assert composer.text.endswith("a few words")
    paste(composer.edit, "x " * (MAX_MESSAGE_CHARS // 10))
    assert len(composer.attachments) == 1
    composer.edit.clear()
    composer.return_message(Message.of_text("m", None, "user", LETTERS))
    assert composer.text == ""
    assert composer.attachments[-1].text == LETTERS


def test_what_no_file_may_be_is_refused_in_words(composer: Composer) -> None:
    errors: list[UserError] = []
    composer.text_refused.connect(errors.append)
    composer.set_text("stays")
    paste(composer.edit, "x" * (MAX_BYTES + 1))
    composer.files.add([Attachment(str(n), "x", 1) for n in range(MAX_FILES)])
    paste(composer.edit, LETTERS)
    assert [error.code for error in errors] == ["attachment-too-large", "too-many-attachments"]
    assert (composer.text, len(composer.attachments)) == ("stays", MAX_FILES)


PIECES = ("a", "word ", "line\n", "漢", "ก", "\r\n", "```\n", "pasted.txt\n```\n", "é🎉")
TIMES = (1, 7, 400, *(n + side for n in (MAX_MESSAGE_LINES, MAX_MESSAGE_CHARS) for side in (-1, 1)))
TEXTS = st.tuples(st.sampled_from(PIECES), st.sampled_from(TIMES)).map(
    lambda parts: parts[0] * min(parts[1], 2 * MAX_MESSAGE_CHARS // len(parts[0]))
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_nothing_that_is_pasted_is_lost(composer: Composer, texts: list[str]) -> None:
    composer.files.set_attachments(())
    composer.edit.clear()
    written = ""
    for text in texts:
        n_files = len(composer.attachments)
        paste(composer.edit, text)
        as_kept = text.replace("\r\n", "\n")
        if len(composer.attachments) > n_files:
            assert composer.attachments[-1].text == as_kept
        elif as_kept not in [file.text for file in composer.attachments]:
            written += as_kept
        assert composer.text == written
        assert (
            composer.edit.document().characterCount() <= MAX_MESSAGE_CHARS + MAX_MESSAGE_CHARS // 2
        )
    files = composer.attachments
    composer.files.set_attachments(())
    composer.show_unsent(composer.text, files)
    assert (composer.text, composer.attachments) == (written, files)


# ------------------------------------------------------------------------------------- fields


@pytest.mark.parametrize("make", [TextField, LeavingEdit, ComposerEdit])
def test_lines_break_anywhere_while_there_is_a_long_word(
    qtbot: QtBot, make: type[TextField]
) -> None:
    field = make()
    qtbot.addWidget(field)
    usual = field.wordWrapMode()
    for text in (LETTERS, LONG["Thai"], f"words and {LETTERS} after"):
        for put in (field.setPlainText, field.insertPlainText, lambda t: paste(field, t)):
            field.setPlainText("")
            assert field.wordWrapMode() == usual
            put(text)
            assert field.wordWrapMode() == ANYWHERE
            assert field.toPlainText() == text
    field.setPlainText("word " * 20_000)
    assert field.wordWrapMode() == usual
    field.clear()
    field.setPlainText("a" * 1_999)
    field.moveCursor(field.textCursor().MoveOperation.End)
    assert field.wordWrapMode() == usual
    qtbot.keyClicks(field, "aaa")
    assert field.wordWrapMode() == ANYWHERE, "typed letters count, too"


def test_a_message_that_is_edited_and_a_file_that_is_looked_at(qtbot: QtBot) -> None:
    edit = MessageEdit(LETTERS, "enter")
    qtbot.addWidget(edit)
    assert edit.text == LETTERS
    assert edit.field.wordWrapMode() == ANYWHERE
    paste(edit.field, "b" * 100_000)
    assert len(edit.text) == 200_000, "an edited message has no files to put it into"
    view = attachment_view(Attachment("a", LETTERS, 1))
    qtbot.addWidget(view)
    assert view.lineWrapMode() == QPlainTextEdit.LineWrapMode.WidgetWidth
    assert len(view.toPlainText()) < len(LETTERS)
    note = attachment_note(Attachment("a", LETTERS, 1))
    assert f"{len(view.toPlainText()):,}" in note
    code = attachment_view(Attachment("a", "x = 1\n" * 9_000, 1))
    qtbot.addWidget(code)
    assert code.lineWrapMode() == QPlainTextEdit.LineWrapMode.NoWrap
