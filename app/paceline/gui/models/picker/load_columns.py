"""Fields for loading one model, and rows of them for both models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QWidget

from paceline.gui.kit.fields import (
    ParsedLine,
    changes_of,
    choice_field,
    number_field,
    show_value,
    two_columns,
    value_of,
)
from paceline.gui.kit.labels import text_label
from paceline.gui.kit.layouts import styled
from paceline.gui.kit.translation import fields_in_words
from paceline.gui.models.picker.device_field import DeviceField
from paceline.messages import DeviceInfo
from paceline.parameters import Parameter
from paceline.params import ModelParams, read_shares

SPLIT = ("split_mode", "tensor_split", "main_gpu")
"""The split of a model over several GPUs"""
_FOR_GPUS = ("n_gpu_layers", "device", "n_cpu_moe", "kv_offload")
_FIELD_PX = 64


def _field_for(parameter: Parameter) -> QWidget:
    if parameter.name == "tensor_split":
        shares = ParsedLine(read_shares, "{:g}".format, parameter.unset)
        shares.setAlignment(Qt.AlignmentFlag.AlignRight)
        return styled(shares, kind="value")
    match parameter.kind:
        case "bool":
            box = QCheckBox()
            # Beside each other like the numbers.
            box.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
            return box
        case "int":
            return number_field(parameter)
        case "text":
            return DeviceField(parameter.unset)
    return choice_field(parameter)


class LoadColumn(QWidget):
    """One model's title and fields, named as in `ModelParams`; the widget itself is not shown.

    Attributes:
        title: Label above the fields.
        fields: The fields that the form shows.
    """

    changed = Signal()

    def __init__(self, title: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.hide()
        self.title = text_label(title)
        self.title.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.fields: dict[str, Any] = {}

    def shown(self, name: str) -> QWidget:
        """Return a field for the form to show."""
        parameter = fields_in_words(ModelParams)[name]
        field = self.fields[name] = _field_for(parameter)
        field.setMinimumWidth(_FIELD_PX)
        field.setToolTip(parameter.help)
        field.setAccessibleName(f"{self.title.text()}: {parameter.title}")
        show_value(field, parameter.default)
        changes_of(field).connect(self.changed)
        return field

    def show_devices(self, devices: Sequence[DeviceInfo]) -> None:
        """Offer these devices; the processor only where there is a choice."""
        offered = [each for each in devices if each.takes_layers or each.kind == "cpu"]
        is_choice = any(device.takes_layers for device in devices)
        self.fields["device"].show_devices(offered if is_choice else [])

    def show_params(self, params: ModelParams) -> None:
        """Show how the model is loaded, without emitting `changed`."""
        for name, field in self.fields.items():
            show_value(field, getattr(params, name))

    def params(self, params: ModelParams) -> ModelParams:
        """Return the model's parameters with the fields' values."""
        return replace(params, **{name: value_of(field) for name, field in self.fields.items()})

    def enable(self, *, is_there: bool, has_gpu: bool, n_used: int) -> None:
        """Enable the fields that have an effect here.

        Args:
            is_there: Whether there is a model.
            has_gpu: Whether layers can be put on a device other than the processor, or a lost
                device removed.
            n_used: Number of devices that would share the layers.
        """
        for name, field in self.fields.items():
            is_of_use = has_gpu or name not in _FOR_GPUS
            if name == "device":
                is_of_use |= bool(field.value)
            field.setEnabled(is_there and is_of_use and (n_used > 1 or name not in SPLIT))


def rows_of(target: LoadColumn, draft: LoadColumn, *names: str) -> QGridLayout:
    """Return a grid with a row per field, for both models, with their titles above."""
    words = fields_in_words(ModelParams)
    grid = two_columns([words[name].title for name in names], first_row=1)
    columns = tuple(enumerate((target, draft), start=1))
    for at, column in columns:
        grid.addWidget(column.title, 0, at)
    for row, name in enumerate(names, start=1):  # in the order of Tab
        for at, column in columns:
            grid.addWidget(column.shown(name), row, at)
    return grid
