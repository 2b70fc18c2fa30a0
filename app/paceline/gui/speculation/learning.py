"""Learning from stored chats in the window: its limit, a note about it, the last figures."""

from __future__ import annotations

import logging
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Slot

from paceline.chat.last_run import LastRun, save_last_run
from paceline.chat.reply import Reply
from paceline.engine.draft.strategy import short_text
from paceline.files import delete_folder
from paceline.gui.context import AppContext
from paceline.gui.kit.notices import Action
from paceline.paths import Paths
from paceline.settings import left_learning_off

_log = logging.getLogger(__name__)


class LearningController(QObject):
    """Gives the engine as much of the stored chats as the settings allow."""

    def __init__(self, context: AppContext, *, paths: Paths, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._data_dir = paths.data_dir
        self._settings = settings = context.settings
        if left_learning_off(settings.settings, paths.old_memory):
            settings.update(learns_from_chats=False, was_told_of_learning=True)
        if paths.old_memory.exists():
            job = partial(_delete, paths.old_memory)
            context.background.start(job, failed=context.notices.user_error)
        for name in ("learns_from_chats", "learned_mb"):
            settings.setting(name).changed.connect(self._set_limit)
        context.signals.ended.connect(self._on_ended)
        context.pair.changed.connect(self._report)
        self._set_limit()

    @Slot()
    def _set_limit(self) -> None:
        is_on = self._settings.value("learns_from_chats")
        n_bytes = 1_000_000 * self._settings.value("learned_mb") if is_on else 0
        self._context.session.stored_texts.set_limit(n_bytes)

    @Slot()
    def _report(self) -> None:
        """Show once that stored chats are used, when there are any beside the present one."""
        is_new = self._settings.value("learns_from_chats") and not self._settings.value(
            "was_told_of_learning"
        )
        has_others = any(
            not line.private and line.conversation_id != self._context.shown.id
            for line in self._context.session.summaries
        )
        if is_new and has_others and self._context.pair.state.status == "ready":
            self._settings.set("was_told_of_learning", value=True)
            self._context.notices.inform(
                self.tr(
                    "Drafts are now also looked up in your stored chats, for faster replies. "
                    "Private chats are left out, and nothing leaves this computer."
                ),
                action=Action(
                    self.tr("Switch off"),
                    partial(self._settings.set, "learns_from_chats", value=False),
                ),
            )

    @Slot(object)
    def _on_ended(self, reply: Reply) -> None:
        state = self._context.pair.state
        if reply.stats is None or reply.error is not None:  # none, or of a part alone
            return
        if state.target is None or not reply.options.remember:
            return
        run = LastRun.of(short_text(reply.strategy), reply.stats, state.target, state.draft)
        save = partial(save_last_run, self._data_dir, run)
        self._context.background.start(save, failed=self._context.notices.user_error)


def _delete(folder: Path) -> None:
    """Delete a folder; if that fails, the next start tries again."""
    try:
        delete_folder(folder)
    except OSError as error:
        _log.warning("%s stays: %s", folder, error)
