"""Common part of user messages and replies in the chat: the shown content, and the actions.

The actions of the last message are always visible; those of the others appear under the pointer or
with the keyboard focus. Their row has a fixed height, so that nothing moves when they appear.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from PySide6.QtCore import QEvent, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QContextMenuEvent, QEnterEvent, QGuiApplication
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QHBoxLayout,
    QMenu,
    QPushButton,
    QToolButton,
    QWidget,
)

from paceline.content import StoredRole
from paceline.conversation import Attachment
from paceline.gui.chat.composer import ComposerEdit
from paceline.gui.chat.markdown.view import MessageView
from paceline.gui.chat.messages.message_actions import Act, MessageActions, SiblingSwitch
from paceline.gui.kit.labels import say
from paceline.gui.kit.layouts import column_of, fill, row_of, styled
from paceline.gui.look.current import look
from paceline.gui.state.settings_store import Setting
from paceline.settings import SendKey


class ShownMessage(NamedTuple):
    """Data of a message for the chat view; a tuple, since a long chat has ten thousand of them.

    Attributes:
        message_id: Its id in the conversation.
        role: Its author.
        text: The stored text; empty for a reply that has just begun.
        attachments: The files that were sent with it.
        n_siblings: Number of messages under the same parent, this one included.
        sibling: Its place among them, from 0.
        origin: Words about the branching of the chat, if this is the last message of both chats.
    """

    message_id: str
    role: StoredRole
    text: str
    attachments: tuple[Attachment, ...] = ()
    n_siblings: int = 1
    sibling: int = 0
    origin: str = ""


class _Field(ComposerEdit):
    max_lines = 16


class MessageEdit(QFrame):
    """Edit field for a message; the owner handles the new text.

    Attributes:
        field: The field with the text.
    """

    submitted = Signal(str)
    cancelled = Signal()

    def __init__(
        self, text: str, send_key: SendKey, *, for_reply: bool = False, keeps: Setting | None = None
    ) -> None:
        """Show a text to be edited.

        Args:
            text: The text.
            send_key: The key that sends.
            for_reply: Whether the text is a reply's.
            keeps: Whether the next reply keeps what need not change; None to offer no choice.
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
        self._send = styled(
            QPushButton(self.tr("Keep") if for_reply else self.tr("Send")), kind="primary"
        )
        words = self.tr("Keep the edited reply"), self.tr("Send the edited message")
        self._send.setAccessibleName(words[0] if for_reply else words[1])
        self._send.clicked.connect(self._on_send)
        self.setFocusProxy(self.field)
        row = row_of(spacing=8)
        if keeps is not None:
            box = QCheckBox(self.tr("Keep what need not change"))
            box.setToolTip(
                self.tr("The new reply has the seed of the old one, and differs where it has to")
            )
            box.setChecked(keeps.value)
            box.toggled.connect(keeps.set_value)
            row.addWidget(box)
        fill(row, None, self._cancel, self._send)
        self._rows = column_of(self.field, row, on=self, margins=(14, 12, 10, 10), spacing=8)
        self._update()

    @property
    def text(self) -> str:
        """The text written so far."""
        return self.field.toPlainText()

    def show_attachments(self, chips: QWidget) -> None:
        """Show the files that stay with the message."""
        self._has_attachments = True
        self._rows.insertWidget(0, chips)
        self._update()

    def set_busy(self, busy: bool) -> None:  # noqa: FBT001
        """Disable sending while a reply is running."""
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


ROW_PX = 28
"""Height of the row with the actions, in device-independent pixels."""


class MessageItem(QWidget):
    """One message in the chat.

    Attributes:
        message: The shown data.
        editor: The field while the message is edited.
    """

    acted = Signal(str, str)
    """An `Act` and the message's id; copying and editing are handled in here."""
    sibling_requested = Signal(str, int)
    """The message's id, and -1 or 1."""

    edit_submitted = Signal(str, str)
    """The message's id and its new text."""
    edit_ended = Signal(str)
    """The message's id; its edit has ended without a trace."""

    gap_below = 24
    """Pixels to the next message."""

    def __init__(self, message: ShownMessage) -> None:
        super().__init__()
        self.setAttribute(Qt.WidgetAttribute.WA_StaticContents)
        self.message = message
        self._is_last = self._is_hovered = self._has_focus = self._is_busy = False
        self.editor: MessageEdit | None = None
        self._searched: tuple[re.Pattern[str] | None, int | None] = None, None
        self._actions: MessageActions | None = None
        self._switch: SiblingSwitch | None = None
        self._origin: QToolButton | None = None
        self._row: QHBoxLayout
        self._action_row: QHBoxLayout

    @property
    def message_id(self) -> str:
        """The message's id."""
        return self.message.message_id

    @property
    def text(self) -> str:
        """The message's source."""
        raise NotImplementedError

    @property
    def answer_text(self) -> str:
        """The text for copies: the source, without the reasoning of a reply."""
        return self.text

    @property
    def plain_text(self) -> str:
        """The text as it is read on the screen."""
        raise NotImplementedError

    def focus_text(self) -> None:
        """Focus the message's text."""
        raise NotImplementedError

    @property
    def unsaved(self) -> str | None:
        """The unsent edit of the message, or None."""
        return None if self.editor is None else self.editor.text

    def begin_edit(self, text: str | None = None) -> None:
        """Put an edit field in the text's place, with the message or with a stored edit."""
        raise NotImplementedError

    def _open_editor(self, editor: MessageEdit) -> MessageEdit:
        self.editor = editor
        editor.set_busy(self._is_busy)
        editor.submitted.connect(self._on_submitted)
        editor.cancelled.connect(self._on_cancelled)
        return editor

    def _on_submitted(self, text: str) -> None:
        raise NotImplementedError

    def _on_cancelled(self) -> None:
        raise NotImplementedError

    def mark(self, pattern: re.Pattern[str] | None, current: int | None = None) -> None:
        """Mark hits in the text, also in later text; None for no marks.

        Args:
            pattern: The pattern to search for in the source.
            current: The number of the current hit, from 0; it is unfolded.
        """
        if (pattern, current) != self._searched:
            self._searched = pattern, current
            self._unfold_hit()
            self._show_marks()

    def _unfold_hit(self) -> None:
        """Unfold the part of the text that contains the current hit."""

    def _show_marks(self) -> None:
        raise NotImplementedError

    def marked_px(self) -> int | None:
        """Return the distance of the current hit from the upper edge; None if it is not written."""
        for view in self.findChildren(MessageView):
            top = view.current_top() if view.isVisibleTo(self) else None
            if top is not None:
                return view.mapTo(self, QPoint(0, round(top))).y()
        return None

    def wanted_height(self, width: int) -> int:
        """Return the height that the message needs at this width, which it has already."""
        if self.hasHeightForWidth():
            return self.heightForWidth(width)
        return self.sizeHint().height()

    # ----------------------------------------------------------------------------- state

    def set_last(self, on: bool) -> None:  # noqa: FBT001
        """Set whether it is the last message; its actions then stay visible."""
        self._is_last = on
        self._update_actions()

    def set_focused(self, on: bool) -> None:  # noqa: FBT001
        """Set whether the keyboard focus is within."""
        self._has_focus = on
        self._update_actions()

    def set_busy(self, busy: bool) -> None:  # noqa: FBT001
        """Set whether a reply is running in any chat."""
        self._is_busy = busy
        for part in (self._actions, self._switch, self.editor):
            if part is not None:
                part.set_busy(busy)

    def renew(self) -> None:
        """Show the same in the present colours and size; a long text may follow later."""

    def update_message(self, message: ShownMessage) -> None:
        """Show the same message with other siblings."""
        self.message = message
        self._show_place()

    def _show_place(self) -> None:
        """Show its place in the tree: its siblings, and the chat's branching."""
        origin = self.message.origin
        rows = self.layout()
        if origin and self._origin is None and rows is not None:
            self._origin = styled(QToolButton(), kind="link")
            self._origin.setIcon(look.icon("branch"))
            self._origin.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            self._origin.clicked.connect(self._on_origin)
            rows.addWidget(self._origin)
            rows.setAlignment(self._origin, Qt.AlignmentFlag.AlignHCenter)
        if self._origin is not None:
            say(self._origin, origin)
        many = self.message.n_siblings > 1
        if many and self._switch is None:
            self._switch = SiblingSwitch()
            self._switch.set_busy(self._is_busy)
            self._switch.stepped.connect(self._on_stepped)
            self._switch.place.clicked.connect(self._on_compared)
            self._row.insertWidget(self._switch_index(), self._switch)
        if self._switch is not None:
            self._switch.setVisible(many)
            self._switch.show_place(self.message.sibling, self.message.n_siblings)

    def _switch_index(self) -> int:
        return 0

    def _wants_actions(self) -> bool:
        wants = self._is_last or self._is_hovered or self._has_focus
        return wants and self.editor is None

    def _update_actions(self) -> None:
        wanted = self._wants_actions()
        if wanted:
            self._offer(self._need_actions())
        if self._actions is not None:
            self._actions.setVisible(wanted)

    def _need_actions(self) -> MessageActions:
        if self._actions is None:
            self._actions = MessageActions(self.message.role)
            self._actions.set_busy(self._is_busy)
            self._actions.acted.connect(self._on_acted)
            self._actions.hide()
            self._action_row.addWidget(self._actions)
        return self._actions

    def _offer(self, actions: MessageActions) -> None:
        """Adapt the row to the message's state and width."""

    # ---------------------------------------------------------------------------- events

    @Slot(str)
    def _on_acted(self, act: str) -> None:
        if act in (Act.COPY, Act.COPY_PLAIN):
            text = self.answer_text if act == Act.COPY else self.plain_text
            QGuiApplication.clipboard().setText(text)
            self._need_actions().confirm_copy()
        elif act == Act.EDIT:
            self.begin_edit()
            self.focus_text()
        else:
            self.acted.emit(act, self.message_id)

    @Slot()
    def _on_origin(self) -> None:
        self.acted.emit(Act.ORIGIN, self.message_id)

    @Slot(int)
    def _on_stepped(self, step: int) -> None:
        self.sibling_requested.emit(self.message_id, step)

    @Slot()
    def _on_compared(self) -> None:
        self.acted.emit(Act.COMPARE, self.message_id)

    def enterEvent(self, event: QEnterEvent) -> None:
        """Show the actions of the message under the pointer."""
        super().enterEvent(event)
        self._is_hovered = True
        self._update_actions()

    def leaveEvent(self, event: QEvent) -> None:
        """Hide the actions again."""
        super().leaveEvent(event)
        self._is_hovered = False
        self._update_actions()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Open the text's own menu, extended by the message's actions."""
        view: QWidget | None = self.childAt(event.pos())
        while view is not None and not isinstance(view, MessageView):
            view = view.parentWidget()
        menu = (
            view.createStandardContextMenu(view.mapFromGlobal(event.globalPos())) if view else None
        )
        menu = menu or QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for action in menu.actions():
            if not action.isEnabled():  # nothing is selected, or there is no link
                menu.removeAction(action)
            elif action.objectName() == "edit-copy":  # the whole message can be copied, too
                action.setText(self.tr("Copy selection"))
        if menu.actions():
            menu.addSeparator()
        actions = self._need_actions()
        self._offer(actions)
        actions.fill(menu)
        menu.popup(event.globalPos())
