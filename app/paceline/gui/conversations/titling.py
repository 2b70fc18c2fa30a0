"""Requests for titles: a while after a reply, while the engine is idle. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Slot

from paceline.chat.reply import Reply
from paceline.chat.titles import TitleWriter
from paceline.gui.context import AppContext

REST_MS = 2500
"""Pause after a reply or an interrupted request; meanwhile the context is counted again."""


class TitlingController(QObject):
    """Requests that the model write the title of the last answered chat."""

    def __init__(self, context: AppContext, parent: QObject) -> None:
        """Connect to the session; the next reply is the first that may get a title."""
        super().__init__(parent)
        self._context = context
        self._chat_id = ""
        self._writer = TitleWriter(context.client, context.session, context.loader)
        self.rest = QTimer(self, singleShot=True, interval=REST_MS)
        self.rest.timeout.connect(self._on_rest)
        self._writer.on_over = self._on_over
        context.signals.started.connect(self.rest.stop)
        context.signals.ended.connect(self._on_ended)

    @Slot(object)
    def _on_ended(self, reply: Reply) -> None:
        self._chat_id = reply.conversation_id
        self.rest.start()

    @Slot()
    def _on_rest(self) -> None:
        if self._context.settings.value("writes_titles"):
            self._writer.write(self._chat_id)

    def _on_over(self) -> None:
        """Request again after a pause where another request interrupted this one."""
        if self._writer.is_wanted(self._chat_id) and self._context.session.active is None:
            self.rest.start()
