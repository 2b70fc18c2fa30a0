"""What the user wrote: plain text as typed, in a bubble at the right; edited where it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout

from paceline.gui.widgets.attachment_chips import AttachmentChips
from paceline.gui.widgets.message_actions import Act
from paceline.gui.widgets.message_edit import MessageEdit
from paceline.gui.widgets.message_item import ROW_PX, MessageItem
from paceline.gui.widgets.message_view import MessageView

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from paceline.gui.icons import Icons
    from paceline.gui.theme import Theme
    from paceline.gui.viewmodels.shown import ShownMessage
    from paceline.settings import SendKey

_PADDING = 14
_MAX_SHARE = 0.86
_EDIT_PX = 480
"""An editor is at least as wide, where there is room."""
_MEASURED_LINES = 60
_MEASURED_CHARS = 200


class UserBubble(MessageItem):
    """A row with the bubble at its right end, as wide as the text needs."""

    edit_submitted = Signal(str, str)
    """The message's id and its new text."""
    edit_ended = Signal(str)
    """The message's id: nothing of an edit is left."""

    gap_below = 4

    def __init__(self, message: ShownMessage, theme: Theme, icons: Icons | None) -> None:
        super().__init__(message, theme, icons)
        self._edit: MessageEdit | None = None
        self._is_submitting = False
        self._send_key: SendKey = "enter"
        self.setAccessibleName(self.tr("You said"))
        self._view = MessageView(theme)
        self._view.setAccessibleName(self.tr("You said"))
        self._view.show_plain(message.text)
        self._view.link_activated.connect(self.link_activated)
        self._chips: AttachmentChips | None = None
        self._bubble = QFrame()
        self._bubble.setProperty("kind", "bubble")
        self._inside = QVBoxLayout(self._bubble)
        self._inside.setContentsMargins(_PADDING, 10, _PADDING, 5 if message.text else 10)
        self._inside.setSpacing(8)
        if message.attachments:
            self._chips = AttachmentChips(message.attachments, icons)
            self._chips.unfolded.connect(self._fit)
            self._inside.addWidget(self._chips)
        self._inside.addWidget(self._view)
        self._view.setVisible(bool(message.text))
        self._line = QHBoxLayout()
        self._line.addStretch(1)
        self._line.addWidget(self._bubble)
        self._row, self._action_row = QHBoxLayout(), QHBoxLayout()
        # A margin, since Qt leaves out the spacing before a layout that shows nothing.
        self._row.setContentsMargins(0, 2, 0, 0)
        self._row.addStrut(ROW_PX)
        self._row.addStretch(1)
        self._row.addLayout(self._action_row)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(0)
        rows.addLayout(self._line)
        rows.addLayout(self._row)
        self._show_siblings()

    @property
    def text(self) -> str:
        """The message as typed."""
        return self._message.text

    @property
    def plain_text(self) -> str:
        """The message as typed."""
        return self._message.text

    @property
    def view(self) -> MessageView:
        """The text's view."""
        return self._view

    @property
    def chips(self) -> AttachmentChips | None:
        """The attached files; None where there are none."""
        return self._chips

    @property
    def editor(self) -> MessageEdit | None:
        """The field while the message is edited."""
        return self._edit

    @property
    def unsaved(self) -> str | None:
        """What is being written in place of the message; None while nothing is."""
        if self._edit is None or self._is_submitting:
            return None
        return self._edit.text

    def focus_text(self) -> None:
        """Give the keyboard to the text."""
        (self._edit or self._view).setFocus(Qt.FocusReason.OtherFocusReason)

    def mark_words(self, words: tuple[str, ...]) -> None:
        """Mark these words in the text for a while; none: no marks."""
        self._view.mark_words(words)

    def set_theme(self, theme: Theme) -> None:
        """Show the same in other colours."""
        super().set_theme(theme)
        self._view.set_theme(theme)

    def set_icons(self, icons: Icons | None) -> None:
        """Use these drawings, in the colours of the theme in force."""
        super().set_icons(icons)
        if self._chips is not None:
            self._chips.set_icons(icons)

    def set_send_key(self, key: SendKey) -> None:
        """Which key sends what is edited."""
        self._send_key = key
        if self._edit is not None:
            self._edit.set_send_key(key)

    def set_busy(self, busy: bool) -> None:  # noqa: FBT001
        """Whether a reply is being generated somewhere."""
        super().set_busy(busy)
        if self._edit is not None:
            self._edit.set_busy(busy)

    def update_message(self, message: ShownMessage) -> None:
        """Show another text or other siblings."""
        if message.text != self._message.text:
            self._view.show_plain(message.text)
            self._view.setVisible(bool(message.text))
        super().update_message(message)
        self._fit()

    # --------------------------------------------------------------------------- editing

    def begin_edit(self, text: str | None = None) -> None:
        """Put a field in the bubble's place, with the message or with a text that was kept."""
        if self._edit is not None:
            return
        edit = self._edit = MessageEdit(self.text if text is None else text, self._send_key)
        edit.set_busy(self._is_busy)
        edit.submitted.connect(self._on_submitted)
        edit.cancelled.connect(self._on_cancelled)
        if self._chips is not None:
            edit.show_attachments(self._chips)
        self._bubble.hide()
        self._line.addWidget(edit)
        self._update_actions()
        self._fit()

    @Slot(str)
    def _on_submitted(self, text: str) -> None:
        # What answers may show another path at once, and this view is gone behind the signal.
        self._is_submitting = True
        self.edit_submitted.emit(self.message_id, text)
        self._is_submitting = False

    @Slot()
    def _on_cancelled(self) -> None:
        edit, self._edit = self._edit, None
        if edit is None:
            return
        if self._chips is not None:
            self._inside.insertWidget(0, self._chips)
        self._line.removeWidget(edit)
        edit.hide()
        edit.deleteLater()
        self._bubble.show()
        self._fit()
        self._update_actions()
        self._view.setFocus(Qt.FocusReason.OtherFocusReason)
        self.edit_ended.emit(self.message_id)

    def _on_acted(self, act: str) -> None:
        if act == Act.EDIT:
            self.begin_edit()
            self.focus_text()
        else:
            super()._on_acted(act)

    def _wants_actions(self) -> bool:
        return self._edit is None and super()._wants_actions()

    def _switch_index(self) -> int:
        return -1  # behind the actions, which come and go while the pointer moves to it

    # ------------------------------------------------------------------------------ size

    def resizeEvent(self, event: QResizeEvent) -> None:
        """As wide as the text, but never the whole row."""
        super().resizeEvent(event)
        self._fit()

    @Slot()
    def _fit(self) -> None:
        most = int(self.width() * _MAX_SHARE)
        wanted = min(self._natural_width() + 2 * _PADDING, most)
        if self._chips is not None and self._chips.is_unfolded:
            wanted = most
        self._bubble.setFixedWidth(wanted)
        if self._edit is not None:
            self._edit.setFixedWidth(max(wanted, min(_EDIT_PX, self.width())))

    def _natural_width(self) -> int:
        metrics = self._view.fontMetrics()
        lines = self.text.split("\n", _MEASURED_LINES)[:_MEASURED_LINES]
        width = max(metrics.horizontalAdvance(line[:_MEASURED_CHARS]) for line in lines) + 4
        return width if self._chips is None else max(width, self._chips.natural_width)
