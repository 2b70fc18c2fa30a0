"""How the two models are loaded: where, with how much context and threads; applied by Reload."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QLabel,
    QPushButton,
    QSpinBox,
    QWidget,
)

from paceline.chat.pair import Pair
from paceline.gui.widgets.advanced_loading import AdvancedLoading
from paceline.gui.widgets.card import FoldCard
from paceline.gui.widgets.fields import Choice, WholeNumber, two_columns
from paceline.gui.widgets.file_field import FileField

if TYPE_CHECKING:
    from paceline.messages import EngineDescribed, ModelParams
    from paceline.settings import EngineHost

AUTO = -1
_FIELD_PX = 64
_MAX_LAYERS = 999
_MAX_CONTEXT = 1_048_576
_MAX_THREADS = 512


@dataclass(frozen=True, slots=True)
class _Column:
    """The fields of one model."""

    title: QLabel
    gpu_layers: QSpinBox
    device: Choice
    n_ctx: QSpinBox
    n_threads: QSpinBox

    @property
    def numbers(self) -> tuple[QSpinBox, ...]:
        return (self.gpu_layers, self.n_ctx, self.n_threads)

    @property
    def fields(self) -> tuple[QWidget, ...]:
        return (self.gpu_layers, self.device, self.n_ctx, self.n_threads)


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
        self.target = self._make_column(self.tr("Target"))
        self.draft = self._make_column(self.tr("Draft"))
        names = (
            self.tr("GPU layers"), self.tr("Device"), self.tr("Context"), self.tr("Threads"),
        )  # fmt: skip
        grid = two_columns(names, first_row=1)
        for at, column in enumerate((self.target, self.draft), start=1):
            grid.addWidget(column.title, 0, at)
            for row, (name, widget) in enumerate(zip(names, column.fields, strict=True), start=1):
                widget.setMinimumWidth(_FIELD_PX)
                widget.setAccessibleName(f"{column.title.text()}: {name}")
                grid.addWidget(widget, row, at)
        self.reason = self._small_label("")
        self.reason.hide()
        self.remark = self._small_label(self.tr("Takes effect when the models are loaded again."))
        self.reload_button = QPushButton(self.tr("Reload models"))
        self.reload_button.setEnabled(False)
        self.reload_button.clicked.connect(self._on_reload)
        self.exact = QCheckBox(self.tr("Exact: same text with any strategy"))
        self.exact.setToolTip(
            self.tr(
                "Chooses batch widths at which the target's numbers do not depend on the draft, so "
                "that a reply is the same with any strategy. It costs speed where the processor or "
                "GPU computes narrow batches in another way; a note says how much after loading. "
                "Off: only near-ties between two tokens can fall differently."
            )
        )
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
        self.body.addWidget(self.lookup_cache)
        self.body.addWidget(self.advanced)
        self.body.addWidget(self.remark)
        self.body.addWidget(self.reload_button)
        self._enable()

    def show_engine(self, description: EngineDescribed) -> None:
        """Offer the devices there are; without a GPU its fields are off, and say why."""
        self._has_gpu = description.supports_gpu
        devices = [device for device in description.devices if device.kind != "cpu"]
        for column in (self.target, self.draft):
            chosen = column.device.currentData()
            with QSignalBlocker(column.device):
                column.device.clear()
                column.device.addItem(self.tr("auto"), "")
                for device in devices:
                    column.device.addItem(device.name, device.name)
                    column.device.setItemData(
                        column.device.count() - 1, device.description, Qt.ItemDataRole.ToolTipRole
                    )
                column.device.setCurrentIndex(max(column.device.findData(chosen), 0))
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

    def show_pair(self, pair: Pair | None) -> None:
        """Show how a pair is loaded."""
        if pair == self._pair:
            return
        self._pair = pair
        if pair is not None:
            self._show_params(self.target, pair.target)
            if pair.draft is not None:
                self._show_params(self.draft, pair.draft)
            self.advanced.show_params(pair.target, pair.draft)
            self.lookup_cache.show_path(pair.lookup_cache)
            with QSignalBlocker(self.exact):
                self.exact.setChecked(pair.exact)
        self._enable()

    def wanted(self) -> Pair | None:
        """The same models with what the fields say."""
        if self._pair is None:
            return None
        draft = self._pair.draft
        advanced = self.advanced
        return Pair(
            advanced.target.params(self._params(self.target, self._pair.target)),
            None if draft is None else advanced.draft.params(self._params(self.draft, draft)),
            lookup_cache=self.lookup_cache.path,
            exact=self.exact.isChecked(),
        )

    @property
    def wanted_host(self) -> EngineHost:
        """Where the engine is to run, as the box says."""
        return "process" if self.own_process.isChecked() else "thread"

    def _make_own_process(self) -> QCheckBox:
        box = QCheckBox(self.tr("Run the engine in its own process"))
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

    def _make_column(self, title: str) -> _Column:
        label = QLabel(title)
        label.setProperty("role", "small")
        label.setAlignment(Qt.AlignmentFlag.AlignRight)
        column = _Column(
            label,
            WholeNumber(AUTO, _MAX_LAYERS),
            Choice(),
            WholeNumber(0, _MAX_CONTEXT),
            WholeNumber(0, _MAX_THREADS),
        )
        for field in column.numbers:
            field.setSpecialValueText(self.tr("auto"))
            field.setValue(field.minimum())
            field.valueChanged.connect(self._enable)
        column.n_ctx.setSingleStep(512)
        column.gpu_layers.setToolTip(self.tr("Layers kept on the GPU; auto: as many as there are"))
        column.device.setToolTip(self.tr("The device to compute on; auto: llama.cpp chooses"))
        column.n_ctx.setToolTip(self.tr("Tokens that fit into a chat; auto: 4096, or fewer"))
        column.n_threads.setToolTip(self.tr("Processor threads; auto: physical cores - 1"))
        column.device.addItem(self.tr("auto"), "")
        column.device.currentIndexChanged.connect(self._enable)
        return column

    @staticmethod
    def _small_label(text: str) -> QLabel:
        label = QLabel(text)
        label.setProperty("role", "small")
        label.setWordWrap(True)
        return label

    @staticmethod
    def _show_params(column: _Column, params: ModelParams) -> None:
        blockers = [QSignalBlocker(widget) for widget in column.fields]
        column.gpu_layers.setValue(params.n_gpu_layers)
        column.device.setCurrentIndex(max(column.device.findData(params.device), 0))
        column.n_ctx.setValue(params.n_ctx)
        column.n_threads.setValue(params.n_threads)
        del blockers

    @staticmethod
    def _params(column: _Column, params: ModelParams) -> ModelParams:
        return replace(
            params,
            n_gpu_layers=column.gpu_layers.value(),
            device=str(column.device.currentData() or ""),
            n_ctx=column.n_ctx.value(),
            n_threads=column.n_threads.value(),
        )

    @Slot()
    def _enable(self) -> None:
        pair = self._pair
        for column, is_there in (
            (self.target, pair is not None),
            (self.draft, pair is not None and pair.draft is not None),
        ):
            column.n_ctx.setEnabled(is_there)
            column.n_threads.setEnabled(is_there)
            column.gpu_layers.setEnabled(is_there and self._has_gpu)
            column.device.setEnabled(is_there and self._has_gpu)
        self.advanced.enable(
            has_target=pair is not None, has_draft=pair is not None and pair.draft is not None
        )
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
