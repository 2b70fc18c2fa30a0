"""What was written in a conversation but not sent: kept with it, and back when it is shown.

Text is stored. Attached files are kept only while the window is open: they may be private, and are
still where they came from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Slot

if TYPE_CHECKING:
    from paceline.chat.session import ChatSession
    from paceline.conversation import Attachment
    from paceline.gui.viewmodels.chat import ChatSignals
    from paceline.gui.widgets.composer import Composer

KEEP_AFTER_MS = 400
"""Behind the last key press; a switch and the end of the program keep it at once."""


class UnsentController(QObject):
    """Binds the composer to the conversation that is shown."""

    def __init__(
        self,
        session: ChatSession,
        signals: ChatSignals,
        composer: Composer,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._composer = composer
        self._id = session.unsent_id
        self._kept = session.unsent(self._id)
        self._files: dict[str, tuple[Attachment, ...]] = {}  # gone with the window
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(KEEP_AFTER_MS)
        self._timer.timeout.connect(self.keep)
        if self._kept:
            composer.set_text(self._kept)
        composer.edit.textChanged.connect(self._timer.start)
        signals.shown.connect(self._on_shown)
        signals.started.connect(self._on_started)

    @Slot()
    def keep(self) -> None:
        """Keep now what the composer has."""
        self._timer.stop()
        text = self._composer.text
        if text != self._kept:
            self._kept = text
            self._session.save_unsent(self._id, text)

    @Slot()
    def _on_shown(self) -> None:
        unsent_id = self._session.unsent_id
        if unsent_id == self._id:
            return
        if self._session.is_gone(self._id):  # a question that was refused: one writes on
            self._id, self._kept = unsent_id, ""
            return
        self.keep()
        self._files[self._id] = self._composer.attachments
        self._id = unsent_id
        self._kept = self._session.unsent(unsent_id)
        self._composer.set_attachments(self._files.pop(unsent_id, ()))
        if self._composer.text != self._kept:
            self._composer.set_text(self._kept)
            self._timer.stop()

    @Slot()
    def _on_started(self) -> None:
        """The first message gives a new chat an id; what is written stays with it."""
        unsent_id = self._session.unsent_id
        if unsent_id != self._id:
            self._session.save_unsent(self._id, "")
            self._id, self._kept = unsent_id, ""
        self.keep()
