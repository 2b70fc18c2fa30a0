"""The field for messages: it grows, has files, a hint, and one button that sends or stops.

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
"""Size above which a pasted text is offered as a file, whose end is marked for the model."""
MAX_MESSAGE_CHARS, MAX_MESSAGE_LINES = 40_000, 5_000
"""Maximum size of the message's field; longer pastes become files, since each key press would be
slow."""
_MAX_PASTED_SHARE = 0.1
"""Share of the maximum that may still be pasted as text into a full field."""


def is_long(text: str, share: float = 1.0) -> bool:
    """Return whether a text exceeds the field's maximum, or this share of it."""
    return len(text) > share * MAX_MESSAGE_CHARS or text.count("\n") >= share * MAX_MESSAGE_LINES


class ComposerEdit(RefitsWords, TextField):
    """A text field of 1 to 10 lines; Enter sends."""

    send_requested = Signal()
    stop_requested = Signal()
    focus_changed = Signal(bool)
    files_pasted = Signal(list)
    """Paths of pasted files."""
    large_text_pasted = Signal(str)
    """A long text was pasted; the field already contains it."""
    long_text_pasted = Signal(str)
    """A text was pasted that exceeds the field's maximum; the field does not contain it."""
    undo_requested = Signal()
    """Undo was requested while `undoes_itself` is off."""
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
        self.document().clearUndoRedoStacks()  # otherwise the margin could be undone by key
        self._is_composing = False
        self.is_limited = False
        self.undoes_itself = True
        self._send_key: SendKey = "enter"
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self._fit()

    def has_undo(self) -> bool:
        """Return whether there is something to undo, a paste that became a file included."""
        return not self.undoes_itself or super().has_undo()

    def set_hint(self, words: str) -> None:
        """Set the placeholder: one line, which is elided in a narrow field."""
        self._hint = words
        self._show_hint()

    def _show_hint(self) -> None:
        room = self.viewport().width() - 2 * ceil(self.document().documentMargin()) - 1
        words = self.fontMetrics().elidedText(self._hint, Qt.TextElideMode.ElideRight, room)
        if words != self.placeholderText():
            self.setPlaceholderText(words)

    def set_send_key(self, key: SendKey) -> None:
        """Set the key that sends: Enter, or Ctrl+Enter, which leaves Enter to new lines."""
        self._send_key = key

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Send with the send key; otherwise Enter begins a new line, and Esc stops the reply."""
        if event.key() == Qt.Key.Key_Escape:
            self.stop_requested.emit()
        elif not self.undoes_itself and event.matches(QKeySequence.StandardKey.Undo):
            self.undo_requested.emit()
        elif event.key() == Qt.Key.Key_Up and self.document().isEmpty() and not event.modifiers():
            self.edit_last_requested.emit()
        elif event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)
        elif self._sends(event.modifiers()):
            # While an input method is composing, Enter accepts its proposal.
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
        """Note whether an input method is composing."""
        self._is_composing = bool(event.preeditString())
        super().inputMethodEvent(event)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Paste text, or attach pasted files."""
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
        if is_long(text, _MAX_PASTED_SHARE):
            n_lines = document.blockCount() + text.count("\n")
            return (
                document.characterCount() + len(text) > MAX_MESSAGE_CHARS
                or n_lines > MAX_MESSAGE_LINES
            )
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
        """Notify the frame, which shows the focus ring."""
        super().focusInEvent(event)
        self.focus_changed.emit(True)  # noqa: FBT003

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Notify the frame, which shows the focus ring."""
        super().focusOutEvent(event)
        self.focus_changed.emit(False)  # noqa: FBT003

    @Slot()
    def _fit(self) -> None:
        """Adapt the height to the lines, which break differently in another width or font."""
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


_BUTTON_PX = 84  # minimum width, so that the button does not grow while a reply is written
_METER_WIDTHS = 3.5  # free width, in widths of the meter, from which the meter is shown
_BUTTON_WIDTHS = 2.0  # the same for the button of a message that is held back


class HeldBack(Refits, QWidget):
    """Explanation of a message that is held back, with a button for the remedy; hidden at first."""

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
        """Put the button below the words where it does not fit beside them."""
        is_narrow = self.width() < _BUTTON_WIDTHS * self.button.sizeHint().width()
        sides = QHBoxLayout.Direction
        self._row.setDirection(sides.TopToBottom if is_narrow else sides.LeftToRight)
        self.setMinimumHeight(max(self._row.heightForWidth(self.width()), 0))  # -1: not laid out

    def say(self, words: str, button: str) -> None:
        """Show these words; the button is hidden without words."""
        self.label.setText(words)
        say(self.button, button)
        self.setVisible(bool(words))
        self._fit()


class Composer(QFrame):
    """The field, the files, a hint and the button.

    Attributes:
        edit: The field.
        button: The button that sends or stops.
        elsewhere: Names another chat in which a reply is being written; its button shows that chat.
    """

    text_refused = Signal(object)
    """A `UserError`: the reason why a pasted text cannot become a file."""

    message_submitted = Signal(str, object)
    """The text and its files (a tuple of `Attachment`); one of them may be empty."""
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
        """The text written so far."""
        return self.edit.toPlainText()

    @property
    def text_before_caret(self) -> str:
        """The text before the caret or before the selection."""
        cursor = self.edit.textCursor()
        end = cursor.selectionStart()
        cursor.setPosition(0)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        return cursor.selection().toPlainText()

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """Files of the message."""
        return self.files.attachments

    def set_settings_widgets(self, preset: QWidget, badge: QWidget) -> None:
        """Put the choice of a preset into the foot, and the chat's own settings above it."""
        self._foot.insertWidget(self._foot.indexOf(self.meter), preset)
        self._rows.insertWidget(self._rows.indexOf(self._foot), badge)
        above = [self.offer, self.held.button, self.elsewhere.button]
        order = [*above, *badge.findChildren(QPushButton), self.attach]
        for before, after in pairwise([*order, preset, self.meter, self.button]):
            self.setTabOrder(before, after)  # keeps these two from coming after the panel

    def set_text(self, text: str) -> None:
        """Set the text of the field, e.g. to edit a message; an overlong text becomes a file."""
        if is_long(text):
            self.files.add([pasted(text, self.attachments)])
            text = ""
        self.edit.setPlainText(text)
        self.edit.moveCursor(self.edit.textCursor().MoveOperation.End)

    def show_unsent(self, text: str, files: Sequence[Attachment]) -> None:
        """Restore an unsent text and its files."""
        self.files.set_attachments(files)
        if self.text != text:
            self.set_text(text)

    def set_busy(self, busy: bool, elsewhere: str = "") -> None:  # noqa: FBT001
        """Let the button stop a running reply; `elsewhere` is the title of another chat's."""
        self._is_busy = busy
        words = self.tr("A reply is being written in “{}”.").format(elsewhere) if elsewhere else ""
        self.elsewhere.say(with_soft_breaks(words), self.tr("Show that chat") if words else "")
        self._update()

    @Slot(str)
    def set_obstacle(self, reason: str) -> None:
        """Set why nothing can be sent now; empty if it can."""
        self._obstacle = reason
        self._update()

    def hold_back(self, words: str, button: str = "") -> None:
        """Show why the message cannot be sent, with a button for the remedy; empty if it can."""
        if (words, button) != (self.held.label.text(), self.held.button.text()):
            had_focus = self.held.button.hasFocus()
            self.held.say(words, button)
            if had_focus and not button:
                self.edit.setFocus(Qt.FocusReason.OtherFocusReason)
            self._update()

    @Slot(object)
    def return_message(self, message: Message) -> None:
        """Restore a message that could not be answered, before later text."""
        files = message.attachments
        self.files.set_attachments([*files, *(a for a in self.attachments if a not in files)])
        texts = (message.text, self.text)
        self.set_text("\n".join(text for text in texts if text.strip()))

    def changeEvent(self, event: QEvent) -> None:
        """Enlarge the button with the text."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange and hasattr(self, "_rows"):
            self._update()

    @Slot()
    def _update(self) -> None:
        """Update button and hint for the present state."""
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
        """Show the meter only where it fits beside other words and the button."""
        room = self.width() - self.meter.sizeHint().width() * _METER_WIDTHS
        self.meter.set_wanted(not self._obstacle and room > 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide the meter where button and meter do not both fit."""
        super().resizeEvent(event)
        self._show_meter()

    @property
    def can_send(self) -> bool:
        """Return whether there is something to send and no obstacle."""
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
        """Attach a text as a file that the field cannot hold."""
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
        """Remove the file that was made of the last paste."""
        last = self._last_made
        self.files.set_attachments([file for file in self.attachments if file != last])

    @Slot(str)
    def _on_large_paste(self, text: str) -> None:
        """Offer to send the pasted text as a file."""
        # In the form of the field's text, in which Qt has converted the ends of lines.
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
