"""The fields that say how one model is loaded; the panel and the picker lay them out.

Each form has one column for the target and one for the draft model.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QLabel, QSpinBox, QWidget

from paceline.gui.kit.fields import Choice, WholeNumber

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.messages import DeviceInfo, ModelParams

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
        self.title = QLabel(title)
        self.title.setProperty("role", "small")
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
