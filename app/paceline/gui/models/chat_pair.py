"""Offers to load the models that the shown chat was last answered by, where others are loaded.

Which they were, the chat's newest record says. Nothing is loaded unasked, and what is sent goes to
the models that are loaded.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from paceline.gui.kit.notices import Action

if TYPE_CHECKING:
    from paceline.gui.context import AppContext
    from paceline.gui.models.controller import ModelsController
    from paceline.gui.models.saved_pairs import SavedPairs

CHAT_PAIR = "chat-pair"
"""Topic of the offer; other models, or another chat, settle it."""


class ChatPairOffer(QObject):
    """Compares the shown chat's models with the loaded ones; main thread."""

    def __init__(self, context: AppContext, saved: SavedPairs, models: ModelsController) -> None:
        super().__init__(models)
        self._session, self._loader = context.session, context.loader
        self._notices = context.notices
        self._saved, self._models = saved, models
        self._seen: tuple[str, tuple[str, ...], tuple[str, ...]] = ("", (), ())
        signals = context.signals
        for signal in (signals.shown, signals.started, signals.ended, context.pair.changed):
            signal.connect(self._look)

    @Slot()
    def _look(self) -> None:
        """Offer them once for a chat, and again when other models are loaded."""
        pair = self._loader.state.pair
        loaded = tuple(Path(file).name for file in pair.files) if pair is not None else ()
        seen = self._session.current.conversation_id, self._used(), loaded
        if seen == self._seen:
            return
        self._seen = seen
        self._notices.settled.emit(CHAT_PAIR)
        _, used, _ = seen
        if not used or not loaded or used == loaded:
            return
        for row, title in enumerate(self._saved.titles):
            if tuple(Path(file).name for file in self._saved.pair(row).files) == used:
                load = Action(self.tr("Load them"), partial(self._models.load_saved, row))
                words = self.tr("This chat was answered by other models than the loaded ones: {}.")
                self._notices.tell(words.format(title), action=load, topic=CHAT_PAIR)
                return

    def _used(self) -> tuple[str, ...]:
        """The names of the files that wrote the newest reply; none: not known."""
        for message in reversed(self._session.current.path()):
            reply = self._session.conversations.reply_of(message.message_id)
            if reply is not None and reply.target is not None:
                draft = reply.draft.file if reply.draft is not None else ""
                # A head inside the target's file is no file of its own.
                return tuple(dict.fromkeys(filter(None, (reply.target.file, draft))))
        return ()
