"""What the user wrote: plain text as typed, in a bubble at the right; edited where it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QToolButton,
    QWidget,
)

from paceline.gui.chat.composer import ComposerEdit
from paceline.gui.chat.markdown.found import hits_in
from paceline.gui.chat.markdown.view import MessageView
from paceline.gui.chat.messages.attachment_chips import AttachmentChips
from paceline.gui.chat.messages.message_actions import Act
from paceline.gui.chat.messages.message_item import ROW_PX, MessageItem
from paceline.gui.kit.layouts import column_of, row_of

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from paceline.gui.chat.links import MessageRequests
    from paceline.gui.chat.messages.message_actions import MessageActions
    from paceline.gui.chat.messages.message_item import ShownMessage
    from paceline.gui.state.settings_store import Setting
    from paceline.settings import SendKey


class _Field(ComposerEdit):
    max_lines = 16


class MessageEdit(QFrame):
    """Takes another text for a message; the owner decides what becomes of it.

    Attributes:
        field: The field with the text.
    """

    submitted = Signal(str)
    cancelled = Signal()

    def __init__(
        self, text: str, send_key: SendKey, *, for_reply: bool = False, keeps: Setting | None = None
    ) -> None:
        """Show a text to be changed.

        Args:
            text: The text.
            send_key: What sends.
            for_reply: Whether it is a reply's.
            keeps: Whether the next reply keeps what need not change; None: that is not asked.
        """
        super().__init__()
        self._for_reply = for_reply
        self.setProperty("kind", "editor")
        self._is_busy = False
        self._has_attachments = False
        self.field = _Field()
        self.field.setAccessibleName(self.tr("Edit the message"))
        self.field.set_send_key(send_key)
        self.field.setPlainText(text)
        self.field.moveCursor(self.field.textCursor().MoveOperation.End)
        self.field.send_requested.connect(self._on_send)
        self.field.stop_requested.connect(self.cancelled)
        self.field.textChanged.connect(self._update)
        self._cancel = QPushButton(self.tr("Cancel"))
        self._cancel.setToolTip(self.tr("Keep the message as it was (Esc)"))
        self._cancel.clicked.connect(self.cancelled)
        self._send = QPushButton(self.tr("Keep") if for_reply else self.tr("Send"))
        self._send.setProperty("kind", "primary")
        words = self.tr("Keep the edited reply"), self.tr("Send the edited message")
        self._send.setAccessibleName(words[0] if for_reply else words[1])
        self._send.clicked.connect(self._on_send)
        self.setFocusProxy(self.field)
        row = QHBoxLayout()
        row.setSpacing(8)
        if keeps is not None:
            box = QCheckBox(self.tr("Keep what need not change"))
            box.setToolTip(
                self.tr("The new reply has the seed of the old one, and differs where it has to")
            )
            box.setChecked(keeps.value)
            box.toggled.connect(keeps.set_value)
            row.addWidget(box)
        row.addStretch(1)
        row.addWidget(self._cancel)
        row.addWidget(self._send)
        self._rows = column_of(self.field, row, on=self, margins=(14, 12, 10, 10), spacing=8)
        self._update()

    @property
    def text(self) -> str:
        """What is written so far."""
        return self.field.toPlainText()

    def show_attachments(self, chips: QWidget) -> None:
        """Show the files that stay with the message."""
        self._has_attachments = True
        self._rows.insertWidget(0, chips)
        self._update()

    def set_busy(self, busy: bool) -> None:  # noqa: FBT001
        """While a reply is generated, nothing can be sent."""
        self._is_busy = busy
        self._update()

    def _can_send(self) -> bool:
        return not self._is_busy and (bool(self.text.strip()) or self._has_attachments)

    @Slot()
    def _update(self) -> None:
        self._send.setEnabled(self._can_send())
        self._send.setToolTip(
            self.tr("A reply is being written; stop it first.")
            if self._is_busy
            else self.tr("Keep it as a new version (Ctrl+Enter)")
            if self._for_reply
            else self.tr("Send it again as a new version")
        )

    @Slot()
    def _on_send(self) -> None:
        if self._can_send():
            self.submitted.emit(self.text)


_PADDING = 14
_MAX_SHARE = 0.86
_EDIT_PX = 480
"""An editor is at least as wide, where there is room."""
_MOST_LINES, _MOST_CHARS = 40, 4_000
"""A longer text is folded."""
_SHOWN_LINES, _SHOWN_CHARS = 16, 1_600
_MEASURED_LINES = 60
_MEASURED_CHARS = 200


class UserBubble(MessageItem):
    """A row with the bubble at its right end, as wide as the text needs.

    Attributes:
        view: The text's view.
        chips: The attached files; None where there are none.
        editor: The field while the message is edited.
    """

    gap_below = 4

    def __init__(
        self,
        message: ShownMessage,
        requests: MessageRequests | None = None,
        keeps: Setting | None = None,
    ) -> None:
        """Show a message; for `keeps` see `MessageEdit`."""
        super().__init__(message)
        self._keeps = keeps
        self.editor: MessageEdit | None = None
        self._is_submitting = False
        self._send_key: SendKey = "enter"
        self.setAccessibleName(self.tr("You said"))
        self.view = MessageView(requests=requests)
        self.view.setAccessibleName(self.tr("You said"))
        self._unfold = QToolButton(self)  # shown without a parent it would be a window
        self._unfold.setProperty("kind", "link")
        self._unfold.clicked.connect(self._on_fold)
        self._show_text(is_folded=True)
        self.chips: AttachmentChips | None = None
        self._bubble = QFrame()
        self._bubble.setProperty("kind", "bubble")
        self._inside = column_of(
            on=self._bubble, margins=(_PADDING, 10, _PADDING, 5 if message.text else 10), spacing=8
        )
        if message.attachments:
            self.chips = AttachmentChips(message.attachments)
            self.chips.unfolded.connect(self._fit)
            self._inside.addWidget(self.chips)
        self._inside.addWidget(self.view)
        self._inside.addWidget(self._unfold)
        self.view.setVisible(bool(message.text))
        self._line = row_of(None, self._bubble)
        self._row, self._action_row = QHBoxLayout(), QHBoxLayout()
        # A margin, since Qt leaves out the spacing before a layout that shows nothing.
        self._row.setContentsMargins(0, 2, 0, 0)
        self._row.addStrut(ROW_PX)
        self._row.addStretch(1)
        self._row.addLayout(self._action_row)
        column_of(self._line, self._row, on=self, margins=0, spacing=0)
        self._show_place()

    @property
    def text(self) -> str:
        """The message as typed."""
        return self.message.text

    plain_text = text

    @property
    def unsaved(self) -> str | None:
        """What is being written in place of the message; None while nothing is."""
        if self.editor is None or self._is_submitting:
            return None
        return self.editor.text

    def focus_text(self) -> None:
        """Give the keyboard to the text."""
        (self.editor or self.view).setFocus(Qt.FocusReason.OtherFocusReason)

    def _unfold_hit(self) -> None:
        current = hits_in(self.text, *self._searched).current
        if self._is_folded and current is not None and current[1] > self._n_shown:
            self._show_text(is_folded=False)

    def _show_marks(self) -> None:
        self.view.mark(hits_in(self.text, *self._searched))

    def renew(self) -> None:
        """Show the same in the colours and the size in force."""
        self.view.renew()

    def set_send_key(self, key: SendKey) -> None:
        """Which key sends what is edited."""
        self._send_key = key
        if self.editor is not None:
            self.editor.field.set_send_key(key)

    def set_busy(self, busy: bool) -> None:  # noqa: FBT001
        """Whether a reply is being generated somewhere."""
        super().set_busy(busy)
        if self.editor is not None:
            self.editor.set_busy(busy)

    def update_message(self, message: ShownMessage) -> None:
        """Show another text or other siblings."""
        if message.text != self.message.text:
            self.message = message
            self._show_text(is_folded=True)
            self.view.setVisible(bool(message.text))
        super().update_message(message)
        self._fit()

    @Slot()
    def _on_fold(self) -> None:
        self._show_text(is_folded=not self._is_folded)

    def _show_text(self, *, is_folded: bool) -> None:
        """Show the text; of a long one, while it is folded, its beginning alone."""
        lines = self.text.split("\n")
        is_long = len(lines) > _MOST_LINES or len(self.text) > _MOST_CHARS
        self._is_folded = is_folded and is_long
        begin = "\n".join(lines[:_SHOWN_LINES])[:_SHOWN_CHARS].rstrip()
        self._n_shown = len(begin)
        self.view.show_plain(f"{begin}…" if self._is_folded else self.text)
        words = self.tr("Show less")
        if self._is_folded:  # one line may be too long, too
            words = self.tr("Show all {} lines") if len(lines) > 1 else self.tr("Show all")
        self._unfold.setText(words.format(f"{len(lines):,}"))
        self._unfold.setVisible(is_long)
        self._show_marks()

    # --------------------------------------------------------------------------- editing

    def begin_edit(self, text: str | None = None) -> None:
        """Put a field in the bubble's place, with the message or with a text that was kept."""
        if self.editor is not None:
            return
        shown = self.text if text is None else text
        edit = self.editor = MessageEdit(shown, self._send_key, keeps=self._keeps)
        edit.set_busy(self._is_busy)
        edit.submitted.connect(self._on_submitted)
        edit.cancelled.connect(self._on_cancelled)
        if self.chips is not None:
            edit.show_attachments(self.chips)
        self._bubble.hide()
        self._line.addWidget(edit)
        self._update_actions()
        self._fit()

    @Slot(str)
    def _on_submitted(self, text: str) -> None:
        # The receiver may show another path at once, and then this view is gone after the signal.
        self._is_submitting = True
        self.edit_submitted.emit(self.message_id, text)
        self._is_submitting = False

    @Slot()
    def _on_cancelled(self) -> None:
        edit, self.editor = self.editor, None
        if edit is None:
            return
        if self.chips is not None:
            self._inside.insertWidget(0, self.chips)
        self._line.removeWidget(edit)
        edit.hide()
        edit.deleteLater()
        self._bubble.show()
        self._fit()
        self._update_actions()
        self.view.setFocus(Qt.FocusReason.OtherFocusReason)
        self.edit_ended.emit(self.message_id)

    def _on_acted(self, act: str) -> None:
        if act == Act.EDIT:
            self.begin_edit()
            self.focus_text()
        else:
            super()._on_acted(act)

    def _offer(self, actions: MessageActions) -> None:
        actions.set_possible(Act.REGENERATE, self._is_last)  # a branch may end with a question
        switch = self._switch.sizeHint().width() if self._switch is not None else 0
        actions.set_compact(actions.full_width + switch > self.width())

    def _wants_actions(self) -> bool:
        return self.editor is None and super()._wants_actions()

    def _switch_index(self) -> int:
        return -1  # after the actions, which come and go while the pointer moves to it

    # ------------------------------------------------------------------------------ size

    def resizeEvent(self, event: QResizeEvent) -> None:
        """As wide as the text, but never the whole row."""
        super().resizeEvent(event)
        self._fit()
        if self._actions is not None:
            self._offer(self._actions)

    @Slot()
    def _fit(self) -> None:
        most = int(self.width() * _MAX_SHARE)
        wanted = min(self._natural_width() + 2 * _PADDING, most)
        if self.chips is not None and self.chips.is_unfolded:
            wanted = most
        self._bubble.setFixedWidth(wanted)
        if self.editor is not None:
            self.editor.setFixedWidth(max(wanted, min(_EDIT_PX, self.width())))

    def _natural_width(self) -> int:
        metrics = self.view.fontMetrics()
        lines = self.text.split("\n", _MEASURED_LINES)[:_MEASURED_LINES]
        width = max(metrics.horizontalAdvance(line[:_MEASURED_CHARS]) for line in lines) + 4
        return width if self.chips is None else max(width, self.chips.natural_width)
