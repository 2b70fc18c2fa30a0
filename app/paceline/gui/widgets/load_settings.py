"""How the two models are loaded: where, with how much context and threads; applied by Reload."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from paceline.chat.pair import Pair
from paceline.gui.widgets.advanced_loading import AdvancedLoading
from paceline.gui.widgets.card import FoldCard
from paceline.gui.widgets.fields import two_columns
from paceline.gui.widgets.file_field import FileField
from paceline.gui.widgets.load_column import LoadColumn
from paceline.gui.widgets.yielding import YieldingCheckBox

if TYPE_CHECKING:
    from paceline.messages import EngineDescribed, Sameness
    from paceline.settings import EngineHost


class LoadSettings(FoldCard):
    """One column for the target, one for the draft model, and the button that applies them."""

    reload_requested = Signal(object)
    """Pair"""
    host_requested = Signal(str)
    """The engine is to run in a "process" of its own or in a "thread"; a reload follows"""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.set_title(self.tr("Loading and memory"))
        self._pair: Pair | None = None
        self._has_gpu = False
        self._host: EngineHost = "process"
        self.target = LoadColumn(self.tr("Target"), self)
        self.draft = LoadColumn(self.tr("Draft"), self)
        names = (
            self.tr("GPU layers"), self.tr("Device"), self.tr("Context"), self.tr("Threads"),
        )  # fmt: skip
        grid = two_columns(names, first_row=1)
        for at, column in enumerate((self.target, self.draft), start=1):
            column.changed.connect(self._enable)
            column.name_fields(names, column.fields)
            grid.addWidget(column.title, 0, at)
            for row, widget in enumerate(column.fields, start=1):
                grid.addWidget(widget, row, at)
        self.reason = self._small_label("")
        self.reason.hide()
        self.remark = self._small_label(self.tr("Takes effect when the models are loaded again."))
        self.reload_button = QPushButton(self.tr("Reload models"))
        self.reload_button.setEnabled(False)
        self.reload_button.clicked.connect(self._on_reload)
        self.exact = YieldingCheckBox(self.tr("Exact: same text in every case"))
        self.exact.setToolTip(
            self.tr(
                "The same text with any strategy and whatever was in the context before, on this "
                "machine. Prompts are prefilled in fixed pieces, and where the processor or GPU "
                "computes narrow batches in another way, single tokens are decoded in wider ones, "
                "which costs speed; a note says how much after loading."
            )
        )
        self.sameness = self._small_label("")
        self.sameness.hide()
        self.exact.setAccessibleDescription(self.exact.toolTip())
        self.exact.toggled.connect(self._enable)
        self.lookup_cache = FileField(
            self.tr("Lookup cache"),
            self.tr(
                "A file of token statistics from texts of yours, for the strategy ngram-cache; "
                "“paceline cache build” makes one."
            ),
            self.tr("Lookup caches (*.bin);;All files (*)"),
        )
        self.lookup_cache.changed.connect(self._enable)
        self.advanced = AdvancedLoading()
        self.advanced.changed.connect(self._enable)
        self.own_process = self._make_own_process()
        self.advanced.body.addWidget(self.own_process)
        self.body.addLayout(grid)
        self.body.addWidget(self.reason)
        self.body.addWidget(self.exact)
        self.body.addWidget(self.sameness)
        self.body.addWidget(self.lookup_cache)
        self.body.addWidget(self.advanced)
        self.body.addWidget(self.remark)
        self.body.addWidget(self.reload_button)
        self._enable()

    def show_engine(self, description: EngineDescribed) -> None:
        """Offer the devices there are; without a GPU its fields are off, and say why."""
        self._has_gpu = description.supports_gpu
        for column in (self.target, self.draft):
            column.show_devices(description.devices)
        if not self._has_gpu:
            self.reason.setText(
                self.tr(
                    "This build of llama.cpp has no GPU support, so GPU layers and device cannot "
                    "be set. Everything runs on the processor."
                )
            )
        self.reason.setVisible(not self._has_gpu)
        self.advanced.show_engine(description)
        self._enable()

    def show_host(self, host: EngineHost) -> None:
        """Show where the engine runs."""
        self._host = host
        with QSignalBlocker(self.own_process):
            self.own_process.setChecked(host == "process")
        self._enable()

    def host(self) -> EngineHost:
        """Return where the engine runs."""
        return self._host

    def choose_host(self, host: EngineHost) -> None:
        """Have the engine moved, and its models loaded there as they are loaded now."""
        self.show_host(host)
        self.host_requested.emit(host)
        if self._pair is not None:
            self.reload_requested.emit(self._pair)

    def show_pair(self, pair: Pair | None) -> None:
        """Show how a pair is loaded."""
        if pair == self._pair:
            return
        self._pair = pair
        if pair is not None:
            self.target.show_params(pair.target)
            if pair.draft is not None:
                self.draft.show_params(pair.draft)
            self.advanced.show_params(pair.target, pair.draft)
            self.lookup_cache.show_path(pair.lookup_cache)
            with QSignalBlocker(self.exact):
                self.exact.setChecked(pair.exact)
        self._enable()

    def show_sameness(self, sameness: Sameness | None) -> None:
        """Show whether the loaded pair's texts can depend on the strategy."""
        self.sameness.setText(sameness.words if sameness is not None else "")
        self.sameness.setVisible(sameness is not None)

    def wanted(self) -> Pair | None:
        """The same models with what the fields say."""
        if self._pair is None:
            return None
        draft = self._pair.draft
        advanced = self.advanced
        return Pair(
            advanced.target.params(self.target.params(self._pair.target)),
            None if draft is None else advanced.draft.params(self.draft.params(draft)),
            lookup_cache=self.lookup_cache.path,
            exact=self.exact.isChecked(),
        )

    @property
    def wanted_host(self) -> EngineHost:
        """Where the engine is to run, as the box says."""
        return "process" if self.own_process.isChecked() else "thread"

    def _make_own_process(self) -> YieldingCheckBox:
        box = YieldingCheckBox(self.tr("Run the engine in its own process"))
        box.setChecked(True)
        box.setToolTip(
            self.tr(
                "If llama.cpp crashes or memory runs out, only the reply that is being written "
                "ends; the window, your chats and the text so far stay. Off: the window ends with "
                "it."
            )
        )
        box.setAccessibleDescription(box.toolTip())
        box.toggled.connect(self._enable)
        return box

    @staticmethod
    def _small_label(text: str) -> QLabel:
        label = QLabel(text)
        label.setProperty("role", "small")
        label.setWordWrap(True)
        return label

    @Slot()
    def _enable(self) -> None:
        pair = self._pair
        has_draft = pair is not None and pair.draft is not None
        self.target.enable(is_there=pair is not None, has_gpu=self._has_gpu)
        self.draft.enable(is_there=has_draft, has_gpu=self._has_gpu)
        self.advanced.enable(has_target=pair is not None, has_draft=has_draft)
        self.exact.setEnabled(pair is not None)
        self.own_process.setEnabled(pair is not None)
        self.lookup_cache.setEnabled(pair is not None)
        self.reload_button.setEnabled(pair is not None)
        is_changed = pair is not None and (self.wanted() != pair or self.wanted_host != self._host)
        self.reload_button.setText(
            self.tr("Reload to apply") if is_changed else self.tr("Reload models")
        )

    @Slot()
    def _on_reload(self) -> None:
        wanted = self.wanted()
        if wanted is None:
            return
        if self.wanted_host != self._host:
            self.show_host(self.wanted_host)
            self.host_requested.emit(self._host)
        self.reload_requested.emit(wanted)
