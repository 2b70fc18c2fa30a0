"""Controller of a reply's run: opens its dialog, checks sameness, exports figures and plots.

A run can be exported as a record in JSON, its steps as a table, its plot as a picture.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from paceline.chat.reply import Reply, to_record
from paceline.chat.sameness import Result, SamenessCheck
from paceline.errors import UserError
from paceline.gui.context import AppContext
from paceline.gui.kit.dialogs import DialogOwner
from paceline.gui.kit.file_dialogs import png_of
from paceline.gui.kit.sentences import said
from paceline.gui.plot.speed_plot import PlotPicture, SpeedPlot
from paceline.gui.run.cards import ModelFactsCard
from paceline.gui.run.dialog import RunDialog
from paceline.gui.run.hashes import ModelHashes
from paceline.gui.run.sameness import result_words
from paceline.gui.state.metrics import steps_csv
from paceline.run_record import ModelRecord, RunRecord, record_text

_UPDATE_AFTER_S = 0.06
"""Interval of updates, some 15 times a second; tokens may be faster."""


class RunController(DialogOwner[RunDialog]):
    """Owner of the open dialog, and of the results about replies."""

    def __init__(
        self,
        context: AppContext,
        *,
        hashes: ModelHashes,
        plot: SpeedPlot,
        parent: QObject | None = None,
    ) -> None:
        """Connect the sources of runs.

        Args:
            context: The program.
            hashes: Hashes of the model files of a reply.
            plot: The live plot, whose figures can be exported, too.
            parent: The owner.
        """
        super().__init__(parent)
        self._shown = context.shown
        self._context = context
        self._hashes = hashes
        self._plot = plot
        self._picture = PlotPicture(self)
        self._picture.made.connect(self._on_picture)
        self._pictured: QWidget = context.window
        self.results: dict[str, Result] = {}
        self._record: RunRecord | None = None
        self._text = ""
        self._updated_s = 0.0
        self.check = SamenessCheck(
            context.client,
            context.session,
            context.loader,
            self,
            fingerprint_of=hashes.fingerprint_of,
        )
        context.actions.run.triggered.connect(self.open_last)
        plot.tools.png.triggered.connect(self._on_live_png)
        plot.tools.csv.triggered.connect(self._on_live_csv)
        context.signals.started.connect(self._on_started)
        context.signals.ended.connect(self._on_ended)
        hashes.progressed.connect(self._on_hash_progress)
        hashes.ended.connect(self._on_hash_ended)
        hashes.failed.connect(self._on_hash_failed)

    # -------------------------------------------------------------------------- user actions

    @Slot(str)
    def open(self, message_id: str) -> None:
        """Show the run of a reply of the shown conversation."""
        reply = self._shown.full_reply(message_id)
        if reply is not None:
            self.open_reply(reply)

    def open_reply(self, reply: Reply) -> None:
        """Show the run of any reply, with its steps."""
        dialog = self.dialog or self._make_dialog()
        self._show(reply)
        dialog.open()

    @Slot()
    def open_last(self) -> None:
        """Show the run of the last reply of the shown conversation."""
        path = self._shown.conversation.path()
        replies = [message.message_id for message in path if message.role == "assistant"]
        if replies:
            self.open(replies[-1])

    def _make_dialog(self) -> RunDialog:
        dialog = self.own(RunDialog(self._context.live.sources, self._context.window))
        dialog.verify.clicked.connect(self._on_verify)
        dialog.strip.stop.clicked.connect(self._on_stop)
        dialog.copy.clicked.connect(self._on_copy)
        dialog.save.clicked.connect(self._on_save)
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
        self._record = record = self._with_hashes(to_record(reply))
        self._text = reply.text
        models = {"target": record.target, "draft": record.draft}
        obstacles = {name: self._hash_obstacle(model) for name, model in models.items()}
        dialog.show_record(record, obstacles, judges=self._context.live.judges)
        result = self.results.get(reply.message_id)
        if result is not None:
            dialog.strip.show_words(result_words(result))
        else:
            dialog.strip.hide()
        self._show_verify()

    def _show_verify(self) -> None:
        if self.dialog is None or self._record is None:
            return
        obstacle = self.check.obstacle(self._record)
        words = said(obstacle.message, obstacle.hint) if obstacle is not None else ""
        if self._record.message_id not in self._shown.conversation.messages:
            words = self.tr("Only replies of the shown chat can be verified.")
        self.dialog.set_verify_obstacle(words)

    @Slot()
    def _on_verify(self) -> None:
        record, conversation = self._record, self._shown.conversation
        message = conversation.messages.get(record.message_id) if record is not None else None
        if record is None or message is None:
            return
        self.results.pop(record.message_id, None)
        self._updated_s = 0.0
        known = self._context.session.conversations.known_in(conversation.conversation_id)
        self.check.start(record, self._text, conversation.path_to(message.parent_id), known)
        self._show_verify()

    @Slot()
    def _on_stop(self) -> None:
        self.check.cancel(self.tr("You stopped the check."))

    @Slot()
    def _on_finished(self) -> None:
        super()._on_finished()
        self.check.cancel()
        self._record = None

    def close(self) -> None:
        """Close the dialog together with the window."""
        self._hashes.cancel()
        super().close()

    # ------------------------------------------------------------------------------ sameness

    def sameness_progressed(self, message_id: str, n_same: int, n_tokens: int) -> None:
        """Show the progress of the check."""
        now = time.monotonic()
        if now - self._updated_s < _UPDATE_AFTER_S and n_same < n_tokens:
            return
        self._updated_s = now
        if self._is_shown(message_id) and self.dialog is not None:
            self.dialog.strip.show_progress(n_same, n_tokens)

    def sameness_ended(self, message_id: str, result: Result) -> None:
        """Show the result of the check, and keep it while the program runs."""
        self.results[message_id] = result
        if self._is_shown(message_id) and self.dialog is not None:
            self.dialog.strip.show_words(result_words(result))
        self._show_verify()

    def _is_shown(self, message_id: str) -> bool:
        return self._record is not None and self._record.message_id == message_id

    @Slot(object)
    def _on_started(self, _reply: Reply) -> None:
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
            self._context.save_file.ask(
                self.dialog,
                self.tr("Save the run record"),
                "paceline-run.json",
                self.tr("Run records (*.json)"),
                partial(record_text, self._record),
            )

    @Slot()
    def _on_png(self) -> None:
        if self.dialog is not None:
            self._save_plot(self.dialog.reply_page.plot)

    @Slot()
    def _on_csv(self) -> None:
        if self._record is not None and self.dialog is not None:
            self._save_steps(self.dialog, self._record)

    @Slot()
    def _on_live_png(self) -> None:
        self._save_plot(self._plot)

    @Slot()
    def _on_live_csv(self) -> None:
        live, reply = self._context.live, self._context.live.reply
        if reply is not None and not live.asker:
            reply = self._shown.full_reply(reply.message_id)
        if reply is not None:
            self._save_steps(self._context.window, to_record(reply))

    def _save_plot(self, plot: SpeedPlot) -> None:
        """Ask for a place to save the present part of a plot."""
        self._pictured = plot.window()
        self._picture.start(plot)

    @Slot(object)
    def _on_picture(self, image: QImage) -> None:
        if isValid(self._pictured):
            self._context.save_file.ask(
                self._pictured,
                self.tr("Export the plot"),
                "paceline-plot.png",
                self.tr("Pictures (*.png)"),
                partial(png_of, image),
            )

    def _save_steps(self, window: QWidget, record: RunRecord) -> None:
        self._context.save_file.ask(
            window,
            self.tr("Export the steps"),
            "paceline-steps.csv",
            self.tr("Tables (*.csv)"),
            partial(steps_csv, record.last_part, record.stats),
        )

    # -------------------------------------------------------------------------------- hashes

    def _path_of(self, model: ModelRecord | None) -> str:
        """Return the path of a model's file if it is loaded now, or empty."""
        state = self._context.loader.state
        for info in (state.target, state.draft):
            if model is None or info is None:
                continue
            fingerprint = self._hashes.fingerprint_of(info.path)
            is_it = (model.file, model.size_bytes) == (Path(info.path).name, info.size_bytes)
            is_other = model.fingerprint and fingerprint and model.fingerprint != fingerprint
            if is_it and not is_other:
                return info.path
        return ""

    def _hash_obstacle(self, model: ModelRecord | None) -> str:
        if model is None or self._path_of(model):
            return ""
        return self.tr("Only files of the loaded pair can be read; load this model first.")

    def _with_hashes(self, record: RunRecord) -> RunRecord:
        """Return a record completed by hashes known by now."""
        target, draft = map(self._hashed, (record.target, record.draft))
        return replace(record, target=target, draft=draft)

    def _hashed(self, model: ModelRecord | None) -> ModelRecord | None:
        path = self._path_of(model)
        if model is None or not path:
            return model
        return replace(
            model,
            fingerprint=model.fingerprint or self._hashes.fingerprint_of(path),
            sha256=model.sha256 or self._hashes.sha256_of(path),
        )

    @Slot(str)
    def _on_hash_wanted(self, which: str) -> None:
        if self._record is not None:
            model = self._record.target if which == "target" else self._record.draft
            self._hashes.start(self._path_of(model))

    def _cards(self, path: str) -> list[ModelFactsCard]:
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
            card.show_hash(self._hashes.sha256_of(path))
        if self._record is not None:
            self._record = self._with_hashes(self._record)

    @Slot(object)
    def _on_hash_failed(self, error: UserError) -> None:
        if self.dialog is not None:
            self.dialog.strip.show_problem(said(str(error)))
