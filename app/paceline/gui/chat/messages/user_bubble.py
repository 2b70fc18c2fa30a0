"""A message of the user: plain text as typed, in a bubble at the right; edited in place."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QToolButton

from paceline.gui.chat.links import MessageRequests
from paceline.gui.chat.markdown.found import hits_in
from paceline.gui.chat.markdown.view import MessageView
from paceline.gui.chat.messages.attachment_chips import AttachmentChips
from paceline.gui.chat.messages.message_actions import Act, MessageActions
from paceline.gui.chat.messages.message_item import ROW_PX, MessageEdit, MessageItem, ShownMessage
from paceline.gui.kit.layouts import column_of, row_of, styled
from paceline.gui.kit.translation import local
from paceline.gui.state.settings_store import Setting
from paceline.settings import SendKey

_PADDING = 14
_MAX_SHARE = 0.86
_EDIT_PX = 480
"""Minimum width of an editor, where space allows."""
_MAX_LINES, _MAX_CHARS = 40, 4_000
"""Size above which a text is folded."""
_SHOWN_LINES, _SHOWN_CHARS = 16, 1_600
_MEASURED_LINES = 60
_MEASURED_CHARS = 200


class UserBubble(MessageItem):
    """A row with the bubble at its right end, as wide as the text needs.

    Attributes:
        view: The text's view.
        chips: The attached files, or None without any.
    """

    gap_below = 4

    def __init__(
        self,
        message: ShownMessage,
        requests: MessageRequests | None = None,
        keeps: Setting | None = None,
    ) -> None:
        """Create it with a message; for `keeps` see `MessageEdit`."""
        super().__init__(message)
        self._keeps = keeps
        self._is_submitting = False
        self._send_key: SendKey = "enter"
        self.setAccessibleName(self.tr("You said"))
        self.view = MessageView(requests=requests)
        self.view.setAccessibleName(self.tr("You said"))
        # Without a parent it would be a window.
        self._unfold = styled(QToolButton(self), kind="link")
        self._unfold.clicked.connect(self._on_fold)
        self._show_text(is_folded=True)
        self.chips: AttachmentChips | None = None
        self._bubble = styled(QFrame(), kind="bubble")
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
        # A margin, since Qt omits the spacing before a layout that shows nothing.
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
        """The unsent edit of the message, or None."""
        return None if self._is_submitting else super().unsaved

    def focus_text(self) -> None:
        """Focus the text."""
        (self.editor or self.view).setFocus(Qt.FocusReason.OtherFocusReason)

    def _unfold_hit(self) -> None:
        current = hits_in(self.text, *self._searched).current
        if self._is_folded and current is not None and current[1] > self._n_shown:
            self._show_text(is_folded=False)

    def _show_marks(self) -> None:
        self.view.mark(hits_in(self.text, *self._searched))

    def renew(self) -> None:
        """Show the same in the present colours and size."""
        self.view.renew()

    def set_send_key(self, key: SendKey) -> None:
        """Set the key that sends an edit."""
        self._send_key = key
        if self.editor is not None:
            self.editor.field.set_send_key(key)

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
        """Show the text, or only the beginning of a long one while it is folded."""
        lines = self.text.split("\n")
        is_long = len(lines) > _MAX_LINES or len(self.text) > _MAX_CHARS
        self._is_folded = is_folded and is_long
        begin = "\n".join(lines[:_SHOWN_LINES])[:_SHOWN_CHARS].rstrip()
        self._n_shown = len(begin)
        self.view.show_plain(f"{begin}…" if self._is_folded else self.text)
        words = self.tr("Show less")
        if self._is_folded:  # one line may be too long, too
            words = self.tr("Show all {} lines") if len(lines) > 1 else self.tr("Show all")
        self._unfold.setText(words.format(f"{local(len(lines)):,}"))
        self._unfold.setVisible(is_long)
        self._show_marks()

    # --------------------------------------------------------------------------- editing

    def begin_edit(self, text: str | None = None) -> None:
        """Put an edit field in the bubble's place, with the message or with a stored edit."""
        if self.editor is not None:
            return
        shown = self.text if text is None else text
        edit = self._open_editor(MessageEdit(shown, self._send_key, keeps=self._keeps))
        if self.chips is not None:
            edit.show_attachments(self.chips)
        self._bubble.hide()
        self._line.addWidget(edit)
        self._update_actions()
        self._fit()

    @Slot(str)
    def _on_submitted(self, text: str) -> None:
        # The receiver may show another path at once, which deletes this view before the signal
        # returns.
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

    def _offer(self, actions: MessageActions) -> None:
        actions.set_possible(Act.REGENERATE, self._is_last)  # a branch may end with a question
        switch = self._switch.sizeHint().width() if self._switch is not None else 0
        actions.set_compact(actions.full_width + switch > self.width())

    def _switch_index(self) -> int:
        return -1  # after the actions, which come and go while the pointer moves to it

    # ------------------------------------------------------------------------------ size

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Set the bubble's width to the text's, but never to the whole row's."""
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
