"""What drafters keep between chats: the permission, forgetting, and the last reply's figures."""

from __future__ import annotations

import contextlib
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, Signal, Slot

from paceline.chat.last_run import LastRun, save_last_run
from paceline.errors import UserError
from paceline.gui.notifications import ask_to_delete

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QDialog, QWidget

    from paceline.chat.pair import PairLoader
    from paceline.chat.reply import Reply
    from paceline.gui.background import Background
    from paceline.gui.notifications import Notifications
    from paceline.gui.viewmodels.chat import ChatSignals
    from paceline.gui.viewmodels.pair import PairModel
    from paceline.gui.widgets.learning_card import LearningCard

MEMORY_FOLDER = "drafts"
"""Below `Paths.data_dir`: what drafters learn, one folder per vocabulary."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("LearningController", text)


class LearningController(QObject):
    """Owns the folder of learned files; the engine writes them, this deletes them."""

    settings_changed = Signal()
    obstacle_changed = Signal(str)
    """Why nothing can be forgotten now, in words; empty: it can"""

    def __init__(
        self,
        *,
        card: LearningCard,
        data_dir: Path,
        signals: ChatSignals,
        loader: PairLoader,
        pair: PairModel,
        background: Background,
        notifications: Notifications,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._card = card
        self._data_dir = data_dir
        self._loader = loader
        self._pair = pair
        self._background = background
        self._notifications = notifications
        self._is_writing = self._is_deleting = False
        self.obstacle = ""
        self.dialog: QDialog | None = None
        card.changed.connect(self.settings_changed)
        card.forget_wanted.connect(self._on_forget_wanted)
        signals.started.connect(self._on_started)
        signals.ended.connect(self._on_ended)
        pair.changed.connect(self._show_obstacle)
        self._show_obstacle()

    @property
    def remembers(self) -> bool:
        """Whether drafters may keep what they learn from the next reply."""
        return self._card.remembers

    @Slot()
    def _on_started(self) -> None:
        self._is_writing = True
        self._show_obstacle()

    @Slot(object)
    def _on_ended(self, reply: Reply) -> None:
        self._is_writing = False
        self._show_obstacle()
        target = self._pair.state.target
        if reply.stats is None or target is None or not reply.options.remember:
            return
        draft = self._pair.state.draft
        run = LastRun(
            strategy=reply.strategy,
            target=Path(target.path).name,
            draft=Path(draft.path).name if draft else None,
            stats=reply.stats,
            when=time.time(),
        )
        self._background.start(_Save(self._data_dir, run), _nothing, self._on_failed)

    @Slot()
    def _show_obstacle(self) -> None:
        if self._is_deleting:
            reason = self.tr("The learned files are being deleted.")
        elif self._is_writing:
            reason = self.tr("Wait until the reply has ended.")
        elif self._pair.state.status == "loading":
            reason = self.tr("Wait until the models are loaded.")
        else:
            reason = ""
        self._card.set_obstacle(reason)
        if reason != self.obstacle:
            self.obstacle = reason
            self.obstacle_changed.emit(reason)

    @Slot()
    def _on_forget_wanted(self) -> None:
        self.ask_to_forget(self._card.window())

    def ask_to_forget(self, parent: QWidget) -> None:
        """Ask in front of this window, then delete everything that was learned."""
        self.dialog = ask_to_delete(
            parent,
            self.tr("Forget what was learned?"),
            self.tr(
                "Everything that drafters have learned from your chats on this computer is deleted "
                "now and cannot be brought back. The chats themselves stay; drafts may be slower "
                "until enough is learned again."
            ),
            self.tr("Delete what was learned"),
        )
        self.dialog.accepted.connect(self._on_forget)
        self.dialog.finished.connect(self._on_dialog_finished)

    @Slot()
    def _on_dialog_finished(self) -> None:
        self.dialog = None

    @Slot()
    def _on_forget(self) -> None:
        if self._is_writing or self._is_deleting:
            return
        self._is_deleting = True
        self._show_obstacle()
        folder = self._data_dir / MEMORY_FOLDER
        self._background.start(_Forget(folder), self._on_forgotten, self._on_failed)

    def _on_forgotten(self, was_there: object) -> None:
        self._is_deleting = False
        self._show_obstacle()
        self._card.show_remark(
            self.tr("What was learned is deleted.") if was_there else self.tr("Nothing was kept.")
        )
        # The loaded pair still holds in memory what it had read; the next reply would write it.
        if was_there and self._loader.state.status == "ready":
            self._loader.reload()

    def _on_failed(self, error: UserError) -> None:
        self._is_deleting = False
        self._show_obstacle()
        self._notifications.user_error(error)


def _nothing(result: object) -> None:
    del result


class _Save:
    """Writes the figures of a reply off the main thread."""

    def __init__(self, folder: Path, run: LastRun) -> None:
        self._folder, self._run = folder, run

    def __call__(self) -> None:
        save_last_run(self._folder, self._run)


class _Forget:
    """Deletes the folder of learned files off the main thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(self) -> bool:
        """Delete it and tell whether it was there.

        Raises:
            UserError: A file cannot be deleted.
        """
        problems: list[OSError] = []

        def note(function: Callable[..., object], path: str, error: object) -> None:
            del function, path
            if isinstance(error, tuple) and isinstance(error[1], OSError):
                problems.append(error[1])

        if not self._folder.exists():
            return False
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(self._folder, onerror=note)
        if self._folder.exists():
            why = problems[0].strerror if problems else ""
            raise UserError(
                "not-deleted",
                _tr("What was learned could not be deleted completely: {}.").format(
                    why or _tr("a file is in use")
                ),
                _tr("Close other windows of Paceline, or delete the folder {}.").format(
                    self._folder
                ),
            )
        return True
