"""How the two models are loaded: where, with how much context and threads; applied by Reload.

The fields that say how one model is loaded (`LoadColumn`) are laid out by the picker, too. Each
form has one column for the target and one for the draft model.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from paceline.chat.pair import Pair
from paceline.gui.kit.card import FoldCard, FoldSection
from paceline.gui.kit.fields import Choice, WholeNumber, two_columns
from paceline.gui.kit.file_dialogs import FileField
from paceline.gui.kit.labels import YieldingCheckBox, text_label, with_soft_breaks
from paceline.gui.kit.layouts import fill
from paceline.gui.kit.sentences import said

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.messages import DeviceInfo, EngineDescribed, ModelParams, Sameness
    from paceline.settings import EngineHost


AUTO = -1
AUTO_CTX = 0
FIELD_PX = 64
_MAX_LAYERS = 999
_MAX_CONTEXT = 1_048_576
_MAX_THREADS = 512


def layers_field(auto: str, explanation: str) -> WholeNumber:
    """Return a field for a number of layers; -1 is shown as `auto`."""
    field = WholeNumber(AUTO, _MAX_LAYERS)
    field.setSpecialValueText(auto)
    field.setToolTip(explanation)
    return field


def _tr(text: str) -> str:
    return QCoreApplication.translate("LoadColumn", text)


def experts_field() -> WholeNumber:
    """Return a field for `ModelParams.n_cpu_moe`."""
    field = layers_field(
        _tr("all"),
        _tr(
            "Layers, counted from the first, whose experts stay in the processor's memory: "
            "for mixture-of-experts models that do not fit onto the GPU. One below 0 is all."
        ),
    )
    field.setValue(0)
    return field


class LoadColumn(QWidget):
    """One model's title and fields; itself not shown."""

    changed = Signal()

    def __init__(self, title: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.hide()
        self.title = text_label(title)
        self.title.setAlignment(Qt.AlignmentFlag.AlignRight)
        auto = self.tr("auto")
        self.gpu_layers = layers_field(
            auto, self.tr("Layers kept on the GPU; auto: as many as there is room for")
        )
        self.device = Choice()
        self.device.addItem(auto, "")
        self.device.setToolTip(self.tr("The device to compute on; auto: llama.cpp chooses"))
        self.n_ctx = WholeNumber(0, _MAX_CONTEXT)
        self.n_ctx.setSingleStep(512)
        self.n_ctx.setToolTip(self.tr("Tokens that fit into a chat; auto: 4096, or fewer"))
        self.n_threads = WholeNumber(0, _MAX_THREADS)
        self.n_threads.setToolTip(self.tr("Processor threads; auto: physical cores - 1"))
        for field in self.numbers:
            field.setSpecialValueText(auto)
            field.setValue(field.minimum())
            field.valueChanged.connect(self.changed)
        self.device.currentIndexChanged.connect(self.changed)

    @property
    def numbers(self) -> tuple[QSpinBox, ...]:
        """The fields with a number."""
        return (self.gpu_layers, self.n_ctx, self.n_threads)

    @property
    def fields(self) -> tuple[QWidget, ...]:
        """All fields, in the order of a form."""
        return (self.gpu_layers, self.device, self.n_ctx, self.n_threads)

    def name_fields(self, names: Sequence[str], fields: Sequence[QWidget]) -> None:
        """Give some fields their accessible names and a width that the column keeps."""
        for name, widget in zip(names, fields, strict=True):
            widget.setMinimumWidth(FIELD_PX)
            widget.setAccessibleName(f"{self.title.text()}: {name}")

    def show_devices(self, devices: Sequence[DeviceInfo]) -> None:
        """Offer these devices; the processor only where there is a choice."""
        offered = list(devices) if any(device.kind != "cpu" for device in devices) else []
        names = [self.device.itemData(i) for i in range(1, self.device.count())]
        if self.device.count() and names == [device.name for device in offered]:
            return  # they are described often, and the list may be open
        chosen = self.device.currentData()
        with QSignalBlocker(self.device):
            self.device.clear()
            self.device.addItem(self.tr("auto"), "")
            for device in offered:
                self.device.addItem(device.name, device.name)
                self.device.setItemData(
                    self.device.count() - 1, device.description, Qt.ItemDataRole.ToolTipRole
                )
            self.device.setCurrentIndex(max(self.device.findData(chosen), 0))

    def show_params(self, params: ModelParams) -> None:
        """Show how the model is loaded, without emitting `changed`."""
        blockers = [QSignalBlocker(widget) for widget in self.fields]
        self.gpu_layers.setValue(params.n_gpu_layers)
        self.device.setCurrentIndex(max(self.device.findData(params.device), 0))
        self.n_ctx.setValue(params.n_ctx)
        self.n_threads.setValue(params.n_threads)
        del blockers

    def params(self, params: ModelParams) -> ModelParams:
        """The same model with what the fields say."""
        return replace(
            params,
            n_gpu_layers=self.gpu_layers.value(),
            device=str(self.device.currentData() or ""),
            n_ctx=self.n_ctx.value(),
            n_threads=self.n_threads.value(),
        )

    def enable(self, *, is_there: bool, has_gpu: bool) -> None:
        """Switch the fields on that mean something here."""
        self.n_ctx.setEnabled(is_there)
        self.n_threads.setEnabled(is_there)
        self.gpu_layers.setEnabled(is_there and has_gpu)
        self.device.setEnabled(is_there and has_gpu)


_MAX_GPU = 63


def read_shares(text: str) -> tuple[float, ...]:
    """Read the shares of several GPUs, such as ``3, 1``.

    Raises:
        ValueError: A part is no number, or one below 0; the message is for people.
    """
    shares = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        try:
            share = float(part)
        except ValueError:
            share = math.nan
        if not (math.isfinite(share) and share >= 0):
            raise ValueError(f"“{part}” is no share: give numbers such as 3, 1.")
        shares.append(share)
    if shares and not any(shares):
        raise ValueError("At least one share must be above 0.")
    return tuple(shares)


class _Column:
    """The fields of one model."""

    def __init__(self, owner: AdvancedLoading) -> None:
        self.n_cpu_moe = experts_field()
        self.extra_bufts = QCheckBox()
        self.extra_bufts.setLayoutDirection(Qt.LayoutDirection.RightToLeft)  # as the numbers stand
        self.extra_bufts.setChecked(True)
        self.extra_bufts.setToolTip(
            _tr(
                "Copies the weights into an order that suits special instructions of the "
                "processor, such as AMX: faster, and takes memory for the copy. Take the tick away "
                "if the engine crashes while a model is loaded, or if memory is short."
            )
        )
        self.swa_full = QCheckBox()
        self.swa_full.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
        self.swa_full.setChecked(True)
        self.swa_full.setToolTip(
            _tr(
                "Layers with a sliding window, as in Gemma and gpt-oss, keep the whole chat, so "
                "that any place of it can be gone back to at once, and the text is the same with "
                "any strategy. Without the tick they keep their window alone: less memory, but a "
                "change far back in a chat reads the whole prompt again."
            )
        )
        self.split_mode = Choice()
        for mode, name in (
            ("", _tr("auto")),
            ("none", _tr("one GPU")),
            ("layer", _tr("layers")),
            ("row", _tr("rows")),
        ):
            self.split_mode.addItem(name, mode)
        self.split_mode.setToolTip(_tr("How several GPUs share the model"))
        self.tensor_split = QLineEdit()
        self.tensor_split.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.tensor_split.setPlaceholderText(_tr("auto"))
        self.tensor_split.setToolTip(_tr("Each GPU's share, in proportions, such as 3, 1"))
        self.main_gpu = WholeNumber(0, _MAX_GPU)
        self.main_gpu.setToolTip(_tr("Number of the GPU that holds everything when one GPU does"))
        self.n_cpu_moe.valueChanged.connect(owner.on_changed)
        self.extra_bufts.toggled.connect(owner.on_changed)
        self.swa_full.toggled.connect(owner.on_changed)
        self.split_mode.currentIndexChanged.connect(owner.on_changed)
        self.tensor_split.textChanged.connect(owner.on_changed)
        self.main_gpu.valueChanged.connect(owner.on_changed)

    @property
    def fields(self) -> tuple[QWidget, ...]:
        return (self.extra_bufts, self.swa_full, self.n_cpu_moe, *self.split)

    @property
    def split(self) -> tuple[QWidget, ...]:
        return (self.split_mode, self.tensor_split, self.main_gpu)

    def show_params(self, params: ModelParams) -> None:
        blockers = [QSignalBlocker(widget) for widget in self.fields]
        self.n_cpu_moe.setValue(params.n_cpu_moe)
        self.extra_bufts.setChecked(params.extra_bufts)
        self.swa_full.setChecked(params.swa_full)
        self.split_mode.setCurrentIndex(max(self.split_mode.findData(params.split_mode), 0))
        if self._shares() != params.tensor_split:
            self.tensor_split.setText(", ".join(f"{share:g}" for share in params.tensor_split))
        self.main_gpu.setValue(params.main_gpu)
        del blockers

    def params(self, params: ModelParams) -> ModelParams:
        return replace(
            params,
            n_cpu_moe=self.n_cpu_moe.value(),
            split_mode=str(self.split_mode.currentData() or ""),
            tensor_split=self._shares(),
            main_gpu=self.main_gpu.value(),
            extra_bufts=self.extra_bufts.isChecked(),
            swa_full=self.swa_full.isChecked(),
        )

    def problem(self) -> str:
        try:
            read_shares(self.tensor_split.text())
        except ValueError as error:
            return str(error)
        return ""

    def _shares(self) -> tuple[float, ...]:
        try:
            return read_shares(self.tensor_split.text())
        except ValueError:
            return ()


class AdvancedLoading(FoldSection):
    """One column per model; off, with the reason, where the computer has no use for it."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.set_title(self.tr("Advanced"))
        self._n_gpus = 0
        self._has_gpu = False
        self.target, self.draft = _Column(self), _Column(self)
        names = (
            self.tr("Repack weights"),
            self.tr("Beyond windows"),
            self.tr("Experts on CPU"),
            self.tr("Split"),
            self.tr("Shares"),
            self.tr("Main GPU"),
        )
        grid = two_columns(names)
        owners = ((self.tr("Target"), self.target), (self.tr("Draft"), self.draft))
        for at, (title, column) in enumerate(owners, start=1):
            for row, (name, widget) in enumerate(zip(names, column.fields, strict=True)):
                widget.setMinimumWidth(FIELD_PX)
                widget.setAccessibleName(f"{title}: {name}")
                if not isinstance(widget, QCheckBox):
                    widget.setProperty("kind", "value")
                grid.addWidget(widget, row, at)
        self.reason = text_label()
        self.problem = text_label("", "danger")
        rows = QVBoxLayout()
        rows.addLayout(grid)
        for label in (self.reason, self.problem):
            label.setWordWrap(True)
            rows.addWidget(label)
        self.body.addLayout(rows)
        self._show_words()

    def show_engine(self, description: EngineDescribed) -> None:
        """Take the GPUs that there are."""
        self._has_gpu = description.supports_gpu
        self._n_gpus = sum(device.kind in ("gpu", "igpu") for device in description.devices)
        self._show_words()

    def show_params(self, target: ModelParams | None, draft: ModelParams | None) -> None:
        """Show how the models are loaded."""
        for column, params in ((self.target, target), (self.draft, draft)):
            if params is not None:
                column.show_params(params)
        self._show_words()

    def enable(self, *, has_target: bool, has_draft: bool) -> None:
        """Switch the fields on that mean something here."""
        for column, is_there in ((self.target, has_target), (self.draft, has_draft)):
            column.n_cpu_moe.setEnabled(is_there and self._has_gpu)
            column.extra_bufts.setEnabled(is_there)
            column.swa_full.setEnabled(is_there)
            for field in column.split:
                field.setEnabled(is_there and self._n_gpus > 1)

    def _show_words(self) -> None:
        reason = ""
        if not self._has_gpu:
            reason = self.tr("Without a GPU everything is on the processor already.")
        elif self._n_gpus < 2:
            reason = self.tr("There is one GPU, so there is nothing to split.")
        problem = self.target.problem() or self.draft.problem()
        for label, text in ((self.reason, reason), (self.problem, problem)):
            label.setText(with_soft_breaks(text))
            label.setVisible(bool(text))

    @Slot()
    def on_changed(self) -> None:
        """A field was changed."""
        self._show_words()
        self.changed.emit()


class LoadSettings(FoldCard):
    """One column for the target, one for the draft model, and the button that applies them."""

    reload_requested = Signal(object)
    """Pair"""
    host_requested = Signal(str)
    """The engine is to run in a "process" of its own or in a "thread"; a reload follows"""

    def __init__(self) -> None:
        super().__init__()
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
        self.reason = text_label(wraps=True)
        self.reason.hide()
        self.remark = text_label(
            self.tr("Takes effect when the models are loaded again."), wraps=True
        )
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
        self.sameness = text_label(wraps=True)
        self.sameness.hide()
        self.exact.setAccessibleDescription(self.exact.toolTip())
        self.exact.toggled.connect(self._enable)
        self.lookup_cache = FileField(
            self.tr("Lookup cache"),
            self.tr(
                "A file of token statistics from texts of yours, for the strategies ngram-cache "
                "and Auto; “paceline cache build” makes one."
            ),
            self.tr("Lookup caches (*.bin);;All files (*)"),
        )
        self.lookup_cache.changed.connect(self._enable)
        self.advanced = AdvancedLoading()
        self.advanced.changed.connect(self._enable)
        self.own_process = self._make_own_process()
        self.advanced.body.addWidget(self.own_process)
        fill(
            self.body,
            grid,
            self.reason,
            self.exact,
            self.sameness,
            self.lookup_cache,
            self.advanced,
            self.remark,
            self.reload_button,
        )
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
        self.sameness.setText(said(sameness.words) if sameness is not None else "")
        self.sameness.setVisible(sameness is not None)

    def wanted(self) -> Pair | None:
        """The same models with what the fields say."""
        if self._pair is None:
            return None
        draft = self._pair.draft
        advanced = self.advanced
        return replace(
            self._pair,
            target=advanced.target.params(self.target.params(self._pair.target)),
            draft=None if draft is None else advanced.draft.params(self.draft.params(draft)),
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
