"""Where the user writes: a field that grows, files, one button that sends or stops, a hint.

The composer never loses text: what cannot be sent stays in the field.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil

from PySide6.QtCore import QEvent, QMimeData, Qt, Signal, Slot
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QDragEnterEvent,
    QDragMoveEvent,
    QFocusEvent,
    QInputMethodEvent,
    QKeyEvent,
    QKeySequence,
    QResizeEvent,
    QTextCursor,
)
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QWidget,
)

from paceline.chat.attachments import check_count, check_pasted, pasted
from paceline.conversation import Attachment, Message
from paceline.errors import UserError
from paceline.gui.chat.context_meter import ContextMeter
from paceline.gui.chat.markdown.format import TEXT_PX
from paceline.gui.chat.messages.attachment_chips import DraftAttachments
from paceline.gui.kit.drop_zones import local_files
from paceline.gui.kit.fields import TextField
from paceline.gui.kit.labels import say, text_label, with_soft_breaks
from paceline.gui.kit.layouts import (
    IconButton,
    Refits,
    RefitsWords,
    column_of,
    row_of,
    set_look,
    styled,
)
from paceline.gui.kit.translation import local_size
from paceline.gui.look.scale import px
from paceline.gui.look.theme import ui_font
from paceline.settings import SendKey

MAX_LINES = 10
LARGE_PASTE_BYTES = 20_000
"""A longer text is better sent as a file: then its end is marked for the model."""
MOST_CHARS, MOST_LINES = 40_000, 5_000
"""Of the message's field; what is pasted beyond becomes a file, or each key would take long."""
_FEW = 0.1
"""This share of that is still text in a field that is full."""


def is_long(text: str, share: float = 1.0) -> bool:
    """Whether a text takes more than all, or this share, of what the message's field holds."""
    return len(text) > share * MOST_CHARS or text.count("\n") >= share * MOST_LINES


class ComposerEdit(RefitsWords, TextField):
    """A text field of 1 to 10 lines, in which Enter sends."""

    send_requested = Signal()
    stop_requested = Signal()
    focus_changed = Signal(bool)
    files_pasted = Signal(list)
    """Paths of files that were pasted."""
    large_text_pasted = Signal(str)
    """It is in the field already."""
    long_text_pasted = Signal(str)
    """It is too long for a limited field, and is not in it."""
    undo_requested = Signal()
    """In place of the field's own undo, while `undoes_itself` is off."""
    edit_last_requested = Signal()
    """Up was pressed in the empty field."""

    max_lines = MAX_LINES

    def __init__(self) -> None:
        self._hint = ""
        super().__init__()
        self.setFont(ui_font(TEXT_PX))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setTabChangesFocus(True)
        self.document().setDocumentMargin(2)
        self.document().clearUndoRedoStacks()  # or the margin could be undone by key
        self._is_composing = False
        self.is_limited = False
        self.undoes_itself = True
        self._send_key: SendKey = "enter"
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self._fit()

    def has_undo(self) -> bool:
        """As in any field, and that of a paste which became a file."""
        return not self.undoes_itself or super().has_undo()

    def set_hint(self, words: str) -> None:
        """Say in the empty field what it is for: one line, which ends early where it is narrow."""
        self._hint = words
        self._show_hint()

    def _show_hint(self) -> None:
        room = self.viewport().width() - 2 * ceil(self.document().documentMargin()) - 1
        words = self.fontMetrics().elidedText(self._hint, Qt.TextElideMode.ElideRight, room)
        if words != self.placeholderText():
            self.setPlaceholderText(words)

    def set_send_key(self, key: SendKey) -> None:
        """What sends: Enter, or Ctrl+Enter, which then leaves Enter to new lines."""
        self._send_key = key

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The send key sends, Enter otherwise makes a new line, Esc stops."""
        if event.key() == Qt.Key.Key_Escape:
            self.stop_requested.emit()
        elif not self.undoes_itself and event.matches(QKeySequence.StandardKey.Undo):
            self.undo_requested.emit()
        elif event.key() == Qt.Key.Key_Up and self.document().isEmpty() and not event.modifiers():
            self.edit_last_requested.emit()
        elif event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)
        elif self._sends(event.modifiers()):
            # While an input method is composing, Enter takes its proposal.
            if not self._is_composing:
                self.send_requested.emit()
        else:
            self.insertPlainText("\n")
            self.ensureCursorVisible()

    def _sends(self, modifiers: Qt.KeyboardModifier) -> bool:
        if modifiers & Qt.KeyboardModifier.ControlModifier:
            return True
        return self._send_key == "enter" and not modifiers & Qt.KeyboardModifier.ShiftModifier

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        """Know whether an input method is at work."""
        self._is_composing = bool(event.preeditString())
        super().inputMethodEvent(event)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Paste text, or the names of files that are to be attached."""
        if paths := local_files(source):
            self.files_pasted.emit(paths)
        elif source.hasText():
            text = source.text()
            if self.is_limited and self._is_too_long(text):
                self.long_text_pasted.emit(text)
                return
            self.insertPlainText(text)
            self.ensureCursorVisible()
            if len(text.encode(errors="replace")) > LARGE_PASTE_BYTES:
                self.large_text_pasted.emit(text)

    def _is_too_long(self, text: str) -> bool:
        document = self.document()
        if is_long(text, _FEW):
            n_lines = document.blockCount() + text.count("\n")
            return document.characterCount() + len(text) > MOST_CHARS or n_lines > MOST_LINES
        return False

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Leave files to the window."""
        if local_files(event.mimeData()):
            event.ignore()
        else:
            super().dragEnterEvent(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        """Leave files to the window."""
        if local_files(event.mimeData()):
            event.ignore()
        else:
            super().dragMoveEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Tell the frame, which shows the ring."""
        super().focusInEvent(event)
        self.focus_changed.emit(True)  # noqa: FBT003

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Tell the frame, which shows the ring."""
        super().focusOutEvent(event)
        self.focus_changed.emit(False)  # noqa: FBT003

    @Slot()
    def _fit(self) -> None:
        """As high as the lines, which break at other places in another width or font."""
        # A plain-text layout counts its height in lines.
        n_lines = min(max(1, round(self.document().size().height())), self.max_lines)
        margins = 2 * self.document().documentMargin()
        height = ceil(n_lines * self.fontMetrics().lineSpacing() + margins) + 2
        is_full = n_lines == self.max_lines
        self.setVerticalScrollBarPolicy(
            Qt.ScrollBarPolicy.ScrollBarAsNeeded
            if is_full
            else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        )
        if height != self.height():
            self.setFixedHeight(height)
        self._show_hint()


_BUTTON_PX = 84  # at least, so that it does not grow while a reply is written
_METER_SHARE = 3.5  # so many times as wide as the meter, there is room for what is beside it
_HELD_SHARE = 2.0  # the same of the button of a message that is held back


class HeldBack(Refits, QWidget):
    """Why the message stays here, and one button for what would help; hidden at first."""

    def __init__(self, tone: str = "danger") -> None:
        super().__init__()
        self.label = text_label("", tone, wraps=True, plain=True)
        self.button = QPushButton()
        self.button.hide()
        self._row = row_of(
            (self.label, 1),
            (self.button, 0, Qt.AlignmentFlag.AlignVCenter),
            on=self,
            margins=0,
            spacing=12,
        )
        self.hide()

    def _fit(self) -> None:
        """Put the button below the words where there is no room beside it."""
        is_narrow = self.width() < _HELD_SHARE * self.button.sizeHint().width()
        sides = QHBoxLayout.Direction
        self._row.setDirection(sides.TopToBottom if is_narrow else sides.LeftToRight)
        self.setMinimumHeight(max(self._row.heightForWidth(self.width()), 0))  # -1: not laid out

    def say(self, words: str, button: str) -> None:
        """Show these words; an empty one for the button hides it."""
        self.label.setText(words)
        say(self.button, button)
        self.setVisible(bool(words))
        self._fit()


class Composer(QFrame):
    """The field, the files, a hint and the button.

    Attributes:
        edit: The field.
        button: The button that sends or stops.
        elsewhere: In which other chat a reply is being written; its button shows that chat.
    """

    text_refused = Signal(object)
    """A `UserError`: why a pasted text cannot be a file."""

    message_submitted = Signal(str, object)
    """The text and its files, a tuple of `Attachment`; one of both may be empty."""
    stop_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("composer")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._is_busy = False
        self._obstacle = ""
        self.edit = ComposerEdit()
        self.edit.set_hint(self.tr("Ask anything. Enter sends, Shift+Enter makes a new line."))
        self.edit.setAccessibleName(self.tr("Message"))
        self.edit.send_requested.connect(self._on_send)
        self.edit.stop_requested.connect(self._on_stop)
        self.edit.focus_changed.connect(self._on_focus_changed)
        self.edit.large_text_pasted.connect(self._on_large_paste)
        self.edit.is_limited = True
        self.edit.long_text_pasted.connect(self._on_long_paste)
        self.edit.undo_requested.connect(self._on_undo)
        self.edit.textChanged.connect(self._on_text)
        self._last_made: Attachment | None = None
        self._pasted = ""
        self.files = DraftAttachments()
        self.files.changed.connect(self._update)
        self.files.emptied.connect(self.edit.setFocus)
        self.offer = styled(QPushButton(), kind="link")
        self.offer.clicked.connect(self._on_attach_pasted)
        self.offer.hide()
        self.held, self.elsewhere = HeldBack(), HeldBack("muted")
        self.attach = IconButton(
            "attach",
            self.tr("Attach files"),
            self.tr("Attach text or code files (Ctrl+U)"),
            sign="large",
        )
        self._hint_label = text_label()
        self._hint_label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.meter = ContextMeter()
        self.button = QPushButton()
        self.button.clicked.connect(self._on_clicked)
        self.setFocusProxy(self.edit)

        self._foot = row = row_of(
            self.attach, self.meter, (self._hint_label, 1), self.button, spacing=8
        )
        self._rows = column_of(
            self.files,
            self.edit,
            (self.offer, 0, Qt.AlignmentFlag.AlignLeft),
            self.held,
            self.elsewhere,
            row,
            on=self,
            margins=(14, 12, 10, 10),
            spacing=8,
        )
        self._update()

    @property
    def text(self) -> str:
        """What is written so far."""
        return self.edit.toPlainText()

    @property
    def text_before_caret(self) -> str:
        """The part of it before the caret, or before what is selected."""
        cursor = self.edit.textCursor()
        end = cursor.selectionStart()
        cursor.setPosition(0)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        return cursor.selection().toPlainText()

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """The files that go with the message."""
        return self.files.attachments

    def set_settings_widgets(self, preset: QWidget, badge: QWidget) -> None:
        """Put the choice of a preset into the foot, and what the chat has set above it."""
        self._foot.insertWidget(self._foot.indexOf(self.meter), preset)
        self._rows.insertWidget(self._rows.indexOf(self._foot), badge)
        above = [self.offer, self.held.button, self.elsewhere.button]
        order = [*above, *badge.findChildren(QPushButton), self.attach]
        for before, after in pairwise([*order, preset, self.meter, self.button]):
            self.setTabOrder(before, after)  # else these two come after the panel

    def set_text(self, text: str) -> None:
        """Put a text into the field, e.g. a message to be edited; too long a one becomes a file."""
        if is_long(text):
            self.files.add([pasted(text, self.attachments)])
            text = ""
        self.edit.setPlainText(text)
        self.edit.moveCursor(self.edit.textCursor().MoveOperation.End)

    def show_unsent(self, text: str, files: Sequence[Attachment]) -> None:
        """Show again what was written and attached before."""
        self.files.set_attachments(files)
        if self.text != text:
            self.set_text(text)

    def set_busy(self, busy: bool, elsewhere: str = "") -> None:  # noqa: FBT001
        """While a reply is generated, the button stops it; `elsewhere` titles another chat's."""
        self._is_busy = busy
        words = self.tr("A reply is being written in “{}”.").format(elsewhere) if elsewhere else ""
        self.elsewhere.say(with_soft_breaks(words), self.tr("Show that chat") if words else "")
        self._update()

    @Slot(str)
    def set_obstacle(self, reason: str) -> None:
        """Why nothing can be sent now; empty: it can."""
        self._obstacle = reason
        self._update()

    def hold_back(self, words: str, button: str = "") -> None:
        """Say why what is written cannot be sent, and what a button would do; empty: it can."""
        if (words, button) != (self.held.label.text(), self.held.button.text()):
            had_focus = self.held.button.hasFocus()
            self.held.say(words, button)
            if had_focus and not button:
                self.edit.setFocus(Qt.FocusReason.OtherFocusReason)
            self._update()

    @Slot(object)
    def return_message(self, message: Message) -> None:
        """Bring back a message that could not be answered, before what was written since."""
        files = message.attachments
        self.files.set_attachments([*files, *(a for a in self.attachments if a not in files)])
        texts = (message.text, self.text)
        self.set_text("\n".join(text for text in texts if text.strip()))

    def changeEvent(self, event: QEvent) -> None:
        """Larger text needs a larger button."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange and hasattr(self, "_rows"):
            self._update()

    @Slot()
    def _update(self) -> None:
        """Make button and hint say what is possible."""
        if self._last_made not in self.attachments:
            self._last_made = None
        self.edit.undoes_itself = self._last_made is None
        set_look(self.button, kind="stop" if self._is_busy else "primary")
        if self._is_busy:
            self.button.setText(self.tr("■ Stop"))
            self.button.setAccessibleName(self.tr("Stop the reply"))
            self.button.setToolTip(self.tr("Stop the reply (Esc)"))
            self.button.setEnabled(True)
        else:
            self.button.setText(self.tr("Send"))
            self.button.setAccessibleName(self.tr("Send the message"))
            why = self._obstacle or self.held.label.text()
            self.button.setToolTip(why or self.tr("Send the message (Enter)"))
            self.button.setEnabled(self.can_send)
        self.button.setMinimumWidth(max(px(_BUTTON_PX), self.button.sizeHint().width()))
        if self._pasted and self._pasted not in self.text:
            self._pasted = ""
        self.offer.setVisible(bool(self._pasted))
        self._hint_label.setText(self._obstacle)
        self._show_meter()

    def _show_meter(self) -> None:
        """Show the meter where it takes no room from other words, nor from the button."""
        room = self.width() - self.meter.sizeHint().width() * _METER_SHARE
        self.meter.set_wanted(not self._obstacle and room > 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the meter's place to the button where there is not enough for both."""
        super().resizeEvent(event)
        self._show_meter()

    @property
    def can_send(self) -> bool:
        """Whether there is something to send, and nothing in the way."""
        has_something = bool(self.text.strip() or self.attachments)
        is_held = bool(self._obstacle or self.held.label.text())
        return not self._is_busy and not is_held and has_something

    @Slot()
    def _on_clicked(self) -> None:
        if self._is_busy:
            self._on_stop()
        else:
            self._on_send()

    @Slot()
    def _on_send(self) -> None:
        if not self.can_send:
            return
        text, files = self.text, self.attachments
        self.edit.clear()
        self.files.set_attachments(())
        self.message_submitted.emit(text, files)

    @Slot()
    def _on_stop(self) -> None:
        if self._is_busy:
            self.stop_requested.emit()

    @Slot(bool)
    def _on_focus_changed(self, has_focus: bool) -> None:  # noqa: FBT001
        set_look(self, active="true" if has_focus else "false")

    @Slot()
    def _on_text(self) -> None:
        self._last_made = None
        self._update()

    @Slot(str)
    def _on_long_paste(self, text: str) -> None:
        """Attach as a file what has no place in the field."""
        file = pasted(text, self.attachments)
        try:
            check_count(self.attachments, 1)
            check_pasted(file)
        except UserError as error:
            self.text_refused.emit(error)
            return
        self.files.add([file])
        self._last_made = file
        self._update()
        size = local_size(file.n_bytes)
        words = self.tr("The {} that you pasted are attached as {}").format(size, file.name)
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self.edit, words))

    @Slot()
    def _on_undo(self) -> None:
        """Take away the file that was made of what was pasted last."""
        last = self._last_made
        self.files.set_attachments([file for file in self.attachments if file != last])

    @Slot(str)
    def _on_large_paste(self, text: str) -> None:
        """Offer to send what was pasted as a file."""
        # As the field has it: Qt's line ends and a character of two units are no difference.
        self._pasted = text.replace("\r\n", "\n").replace("\r", "\n")
        size = local_size(len(text.encode(errors="replace")))
        self.offer.setText(self.tr("Attach the {} that you pasted as a file").format(size))
        self.offer.setToolTip(self.tr("Then its end is marked for the model"))
        self._update()

    @Slot()
    def _on_attach_pasted(self) -> None:
        text, self._pasted = self._pasted, ""
        rest = self.text.replace(text, "", 1)
        self.files.add([pasted(text, self.attachments)])
        self.set_text(rest)
        self.edit.setFocus(Qt.FocusReason.OtherFocusReason)
