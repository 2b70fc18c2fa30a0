"""Speculation made visible: opens the run of a reply, verifies it, exports figures and plots."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QGuiApplication

from paceline.chat.records import to_record
from paceline.chat.sameness import SamenessCheck
from paceline.gui.file_hash import FileHash
from paceline.gui.run_exports import RunExports, record_text
from paceline.gui.viewmodels.reply_rows import reply_rows
from paceline.gui.viewmodels.sameness_words import result_words
from paceline.gui.widgets.run.dialog import RunDialog

if TYPE_CHECKING:
    from paceline.chat.pair import PairLoader
    from paceline.chat.reply import Reply
    from paceline.chat.sameness import Result
    from paceline.chat.session import ChatSession
    from paceline.errors import UserError
    from paceline.gui.background import Background
    from paceline.gui.fingerprints import ModelFingerprints
    from paceline.gui.icons import Icons
    from paceline.gui.main_window import MainWindow
    from paceline.gui.save_file import SaveFile
    from paceline.gui.theme import Theme, ThemeController
    from paceline.gui.viewmodels.chat import ChatSignals
    from paceline.gui.viewmodels.live import LiveFigures
    from paceline.gui.widgets.run.models_card import ModelCard
    from paceline.hosting.client import EngineClient
    from paceline.run_record import ModelRecord, RunRecord

_TELL_AFTER_S = 0.06
"""Progress is told some 15 times a second; tokens may be faster."""


class RunController(QObject):
    """Owns the dialog while it is open, and what was found out about replies."""

    def __init__(
        self,
        *,
        client: EngineClient,
        session: ChatSession,
        signals: ChatSignals,
        loader: PairLoader,
        live: LiveFigures,
        fingerprints: ModelFingerprints,
        background: Background,
        save: SaveFile,
        themes: ThemeController,
        icons: Icons,
        window: MainWindow,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._loader = loader
        self._live = live
        self._themes = themes
        self._icons = icons
        self._window = window
        self._fingerprint_of = fingerprints.fingerprint_of
        self._hashes = FileHash(background, self)
        self._exports = RunExports(save, self)
        self._results: dict[str, Result] = {}
        self._record: RunRecord | None = None
        self._text = ""
        self._told_s = 0.0
        self.dialog: RunDialog | None = None
        self.check = SamenessCheck(
            client, session, loader, self, fingerprint_of=fingerprints.fingerprint_of
        )
        window.chat_pane.chat.run_requested.connect(self.open)
        window.actions_.run.triggered.connect(self.open_last)
        window.closing.connect(self._on_closing)
        plot = window.panel.plot
        plot.png_wanted.connect(self._on_live_png)
        plot.csv_wanted.connect(self._on_live_csv)
        plot.set_icons(icons)
        themes.changed.connect(self._on_theme)
        signals.started.connect(self._on_started)
        signals.ended.connect(self._on_ended)
        self._hashes.progressed.connect(self._on_hash_progress)
        self._hashes.ended.connect(self._on_hash_ended)
        self._hashes.failed.connect(self._on_hash_failed)

    # ------------------------------------------------------------------------- what users do

    @Slot(str)
    def open(self, message_id: str) -> None:
        """Show the run of a reply of the shown conversation."""
        reply = self._session.full_reply(message_id)
        if reply is None:
            return
        if self.dialog is None:
            self.dialog = self._make_dialog()
        self._show(reply)
        self.dialog.open()

    @Slot()
    def open_last(self) -> None:
        """Show the run of the last reply of the shown conversation."""
        replies = [m.message_id for m in self._session.current.path() if m.role == "assistant"]
        if replies:
            self.open(replies[-1])

    def _make_dialog(self) -> RunDialog:
        dialog = RunDialog(self._live.sources, self._themes.current, self._icons, self._window)
        dialog.verify_wanted.connect(self._on_verify)
        dialog.stop_wanted.connect(self._on_stop)
        dialog.copy_wanted.connect(self._on_copy)
        dialog.save_wanted.connect(self._on_save)
        dialog.opened.connect(self.open)
        dialog.finished.connect(self._on_finished)
        page = dialog.reply_page
        page.png_wanted.connect(self._on_png)
        page.csv_wanted.connect(self._on_csv)
        page.hash_wanted.connect(self._on_hash_wanted)
        page.hash_unwanted.connect(self._hashes.cancel)
        return dialog

    def _show(self, reply: Reply) -> None:
        dialog = self.dialog
        assert dialog is not None
        if self._record is not None and self._record.message_id != reply.message_id:
            self.check.cancel()
        record = to_record(reply)
        self._record = replace(
            record, target=self._hashed(record.target), draft=self._hashed(record.draft)
        )
        self._text = reply.text
        conversation = self._session.current
        dialog.show_replies(reply_rows(conversation, self._session.reply_of, self._live.sources))
        dialog.show_record(
            self._record,
            target_obstacle=self._hash_obstacle(record.target),
            draft_obstacle=self._hash_obstacle(record.draft),
        )
        result = self._results.get(reply.message_id)
        if result is not None:
            dialog.strip.show_words(result_words(result))
        else:
            dialog.strip.clear()
        self._show_verify()

    def _show_verify(self) -> None:
        if self.dialog is None or self._record is None:
            return
        obstacle = self.check.obstacle(self._record)
        words = f"{obstacle.message} {obstacle.hint}".strip() if obstacle is not None else ""
        self.dialog.set_verify_obstacle(words)

    @Slot()
    def _on_verify(self) -> None:
        record = self._record
        if record is None:
            return
        conversation = self._session.current
        message = conversation.messages.get(record.message_id)
        if message is None:
            return
        self._results.pop(record.message_id, None)
        self._told_s = 0.0
        self.check.start(record, self._text, conversation.path_to(message.parent_id))
        self._show_verify()

    @Slot()
    def _on_stop(self) -> None:
        self.check.cancel(self.tr("You stopped the check."))

    @Slot()
    def _on_finished(self) -> None:
        self.check.cancel()
        dialog, self.dialog, self._record = self.dialog, None, None
        if dialog is not None:
            dialog.deleteLater()

    @Slot()
    def _on_closing(self) -> None:
        self._hashes.cancel()
        if self.dialog is not None:
            self.dialog.reject()

    # ------------------------------------------------------------------------------ sameness

    def sameness_progressed(self, message_id: str, n_same: int, n_tokens: int) -> None:
        """Show how far the check is."""
        now = time.monotonic()
        if now - self._told_s < _TELL_AFTER_S and n_same < n_tokens:
            return
        self._told_s = now
        if self._is_shown(message_id) and self.dialog is not None:
            self.dialog.strip.show_progress(n_same, n_tokens)

    def sameness_ended(self, message_id: str, result: Result) -> None:
        """Show what the check found, and remember it while the program runs."""
        self._results[message_id] = result
        if self._is_shown(message_id) and self.dialog is not None:
            self.dialog.strip.show_words(result_words(result))
        self._show_verify()

    def result_of(self, message_id: str) -> Result | None:
        """What a check of this reply found; None: it was not checked."""
        return self._results.get(message_id)

    def _is_shown(self, message_id: str) -> bool:
        return self._record is not None and self._record.message_id == message_id

    @Slot(object)
    def _on_started(self, reply: Reply) -> None:
        del reply
        self.check.cancel(self.tr("A message was sent meanwhile, so the check gave way."))
        self._show_verify()

    @Slot(object)
    def _on_ended(self, reply: Reply) -> None:
        if self._is_shown(reply.message_id):
            self._show(reply)
        else:
            self._show_verify()

    # ------------------------------------------------------------------------------- exports

    @Slot()
    def _on_copy(self) -> None:
        if self._record is not None:
            QGuiApplication.clipboard().setText(record_text(self._record))

    @Slot()
    def _on_save(self) -> None:
        if self._record is not None and self.dialog is not None:
            self._exports.save_record(self.dialog, self._record)

    @Slot()
    def _on_png(self) -> None:
        if self.dialog is not None:
            self._exports.save_plot(self.dialog.reply_page.plot)

    @Slot()
    def _on_csv(self) -> None:
        record = self._record
        if record is not None and self.dialog is not None:
            self._exports.save_steps(self.dialog, record.steps, record.stats)

    @Slot()
    def _on_live_png(self) -> None:
        self._exports.save_plot(self._window.panel.plot)

    @Slot()
    def _on_live_csv(self) -> None:
        shown = self._live.reply
        reply = self._session.full_reply(shown.message_id) if shown is not None else None
        if reply is not None:
            self._exports.save_steps(self._window, tuple(reply.steps), reply.stats)

    # -------------------------------------------------------------------------------- hashes

    def _path_of(self, model: ModelRecord | None) -> str:
        """Where a model's file is, if it is loaded now; empty: that is not known."""
        state = self._loader.state
        for info in (state.target, state.draft):
            if model is None or info is None:
                continue
            fingerprint = self._fingerprint_of(info.path)
            is_it = (model.file, model.size_bytes) == (Path(info.path).name, info.size_bytes)
            is_other = model.fingerprint and fingerprint and model.fingerprint != fingerprint
            if is_it and not is_other:
                return info.path
        return ""

    def _hash_obstacle(self, model: ModelRecord | None) -> str:
        if model is None or self._path_of(model):
            return ""
        return self.tr("Only files of the loaded pair can be read; load this model first.")

    def _hashed(self, model: ModelRecord | None) -> ModelRecord | None:
        """A record with what is known by now."""
        path = self._path_of(model)
        if model is None or not path:
            return model
        return replace(
            model,
            fingerprint=model.fingerprint or self._fingerprint_of(path),
            sha256=model.sha256 or self._hashes.known(path),
        )

    @Slot(str)
    def _on_hash_wanted(self, which: str) -> None:
        if self._record is not None:
            model = self._record.target if which == "target" else self._record.draft
            self._hashes.start(self._path_of(model))

    def _cards(self, path: str) -> list[ModelCard]:
        if self.dialog is None or self._record is None:
            return []
        models = {"target": self._record.target, "draft": self._record.draft}
        cards = self.dialog.reply_page.models.items()
        return [card for name, card in cards if path and self._path_of(models[name]) == path]

    @Slot(str, int)
    def _on_hash_progress(self, path: str, percent: int) -> None:
        for card in self._cards(path):
            card.show_progress(percent)

    @Slot(str)
    def _on_hash_ended(self, path: str) -> None:
        for card in self._cards(path):
            card.show_hash(self._hashes.known(path))
        if self._record is not None:
            self._record = replace(
                self._record,
                target=self._hashed(self._record.target),
                draft=self._hashed(self._record.draft),
            )

    @Slot(object)
    def _on_hash_failed(self, error: UserError) -> None:
        if self.dialog is not None:
            self.dialog.strip.show_problem(str(error))

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        self._icons.set_theme(theme)  # whoever else does it may be told later
        self._window.panel.plot.set_icons(self._icons)
        if self.dialog is not None:
            self.dialog.set_theme(theme, self._icons)
