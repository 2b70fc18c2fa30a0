"""Where the user writes: a field that grows, files, one button that sends or stops, a hint.

The composer never loses text: what cannot be sent stays in the field.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from paceline.chat.attachments import pasted
from paceline.gui.scale import icon_size
from paceline.gui.theme import restyle
from paceline.gui.widgets.composer_edit import ComposerEdit
from paceline.gui.widgets.context_meter import ContextMeter
from paceline.gui.widgets.draft_attachments import DraftAttachments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.conversation import Attachment, Message
    from paceline.gui.icons import Icons

_ICON_PX = 18


class Composer(QFrame):
    """The field, the files, a hint and the button."""

    message_submitted = Signal(str, object)
    """The text and its files, a tuple of `Attachment`; one of both may be empty."""
    attach_requested = Signal()
    files_pasted = Signal(list)
    attachments_changed = Signal(object)
    edit_last_requested = Signal()
    stop_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("composer")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._is_busy = False
        self._hint = ""
        self._reason: str | None = None
        self._edit = ComposerEdit()
        self._edit.set_hint(self.tr("Ask anything. Enter sends, Shift+Enter makes a new line."))
        self._edit.setAccessibleName(self.tr("Message"))
        self._edit.send_requested.connect(self._on_send)
        self._edit.stop_requested.connect(self._on_stop)
        self._edit.focus_changed.connect(self._on_focus_changed)
        self._edit.files_pasted.connect(self.files_pasted)
        self._edit.large_text_pasted.connect(self._on_large_paste)
        self._edit.edit_last_requested.connect(self.edit_last_requested)
        self._edit.textChanged.connect(self._update)
        self._pasted = ""
        self.files = DraftAttachments()
        self.files.changed.connect(self._on_files_changed)
        self.files.emptied.connect(self._edit.setFocus)
        self.offer = QPushButton()
        self.offer.setProperty("kind", "link")
        self.offer.clicked.connect(self._on_attach_pasted)
        self.offer.hide()
        self.attach = self._make_attach()
        self._hint_label = QLabel()
        self._hint_label.setProperty("role", "small")
        self._hint_label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.meter = ContextMeter()
        self._button = QPushButton()
        self._button.setMinimumWidth(84)
        self._button.clicked.connect(self._on_clicked)
        self.setFocusProxy(self._edit)

        self._foot = row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.attach)
        row.addWidget(self.meter)
        row.addWidget(self._hint_label, 1)
        row.addWidget(self._button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 12, 10, 10)
        layout.setSpacing(8)
        layout.addWidget(self.files)
        layout.addWidget(self._edit)
        layout.addWidget(self.offer, 0, Qt.AlignmentFlag.AlignLeft)
        layout.addLayout(row)
        self._update()

    def _make_attach(self) -> QToolButton:
        button = QToolButton()
        button.setProperty("kind", "quiet")
        button.setText("+")
        button.setAccessibleName(self.tr("Attach files"))
        button.setToolTip(self.tr("Attach text or code files (Ctrl+U)"))
        button.clicked.connect(self.attach_requested)
        return button

    @property
    def text(self) -> str:
        """What is written so far."""
        return self._edit.toPlainText()

    @property
    def edit(self) -> ComposerEdit:
        """The field."""
        return self._edit

    @property
    def button(self) -> QPushButton:
        """The button that sends or stops."""
        return self._button

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """The files that go with the message."""
        return self.files.attachments

    def set_attachments(self, attachments: Sequence[Attachment]) -> None:
        """Let exactly these files go with the message."""
        self.files.set_attachments(attachments)

    def add_attachments(self, attachments: Sequence[Attachment]) -> None:
        """Let these go with it, too."""
        self.files.add(attachments)

    def set_preset_widget(self, widget: QWidget) -> None:
        """Put the button that chooses a preset into the foot."""
        self._foot.insertWidget(self._foot.indexOf(self.meter), widget)

    def set_icons(self, icons: Icons) -> None:
        """Use these drawings, in the colours of the theme in force."""
        self.files.set_icons(icons)
        self.attach.setIconSize(icon_size(_ICON_PX))
        icon = icons.icon("attach")
        if not icon.isNull():
            self.attach.setIcon(icon)
            self.attach.setText("")

    def set_text(self, text: str) -> None:
        """Put a text into the field, e.g. a message to be edited."""
        self._edit.setPlainText(text)
        self._edit.moveCursor(self._edit.textCursor().MoveOperation.End)

    def set_busy(self, busy: bool) -> None:  # noqa: FBT001
        """While a reply is generated, the button stops it."""
        self._is_busy = busy
        self._update()

    def set_hint(self, text: str) -> None:
        """The small text at the left, e.g. how much of the context is used."""
        self._hint = text
        self._update()

    def set_enabled_reason(self, reason: str | None) -> None:
        """Why nothing can be sent now, in words for the user; None when it can."""
        self._reason = reason
        self._update()

    @Slot(str)
    def set_obstacle(self, reason: str) -> None:
        """Why nothing can be sent now; empty: it can."""
        self.set_enabled_reason(reason or None)

    @Slot(object)
    def return_message(self, message: Message) -> None:
        """Bring back a message that could not be answered, before what was written since."""
        files = message.attachments
        self.files.set_attachments([*files, *(a for a in self.attachments if a not in files)])
        texts = (message.content, self.text)
        self.set_text("\n".join(text for text in texts if text.strip()))

    @Slot()
    def _update(self) -> None:
        """Make button and hint say what is possible."""
        kind = "stop" if self._is_busy else "primary"
        if self._button.property("kind") != kind:
            self._button.setProperty("kind", kind)
            restyle(self._button)
        if self._is_busy:
            self._button.setText(self.tr("■ Stop"))
            self._button.setAccessibleName(self.tr("Stop the reply"))
            self._button.setToolTip(self.tr("Stop the reply (Esc)"))
            self._button.setEnabled(True)
        else:
            self._button.setText(self.tr("Send"))
            self._button.setAccessibleName(self.tr("Send the message"))
            self._button.setToolTip(self._reason or self.tr("Send the message (Enter)"))
            self._button.setEnabled(self.can_send)
        if self._pasted and self._pasted not in self.text:
            self._pasted = ""
        self.offer.setVisible(bool(self._pasted))
        self._hint_label.setText(self._hint if self._reason is None else self._reason)
        self.meter.set_wanted(self._reason is None)

    @property
    def can_send(self) -> bool:
        """Whether there is something to send, and nothing in the way."""
        has_something = bool(self.text.strip() or self.attachments)
        return not self._is_busy and self._reason is None and has_something

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
        self._edit.clear()
        self.files.set_attachments(())
        self.message_submitted.emit(text, files)

    @Slot()
    def _on_stop(self) -> None:
        if self._is_busy:
            self.stop_requested.emit()

    @Slot(bool)
    def _on_focus_changed(self, has_focus: bool) -> None:  # noqa: FBT001
        self.setProperty("active", "true" if has_focus else "false")
        restyle(self)

    @Slot()
    def _on_files_changed(self) -> None:
        self._update()
        self.attachments_changed.emit(self.attachments)

    @Slot(str)
    def _on_large_paste(self, text: str) -> None:
        """Offer to send what was pasted as a file."""
        # As the field has it: Qt's line ends and a character of two units are no difference.
        self._pasted = text.replace("\r\n", "\n").replace("\r", "\n")
        size = QLocale().formattedDataSize(len(text.encode(errors="replace")), 0)
        self.offer.setText(self.tr("Attach the {} that you pasted as a file").format(size))
        self.offer.setToolTip(self.tr("Then its end is marked for the model"))
        self._update()

    @Slot()
    def _on_attach_pasted(self) -> None:
        text, self._pasted = self._pasted, ""
        rest = self.text.replace(text, "", 1)
        self.files.add([pasted(text, self.attachments)])
        self.set_text(rest)
        self._edit.setFocus(Qt.FocusReason.OtherFocusReason)
