"""Where a model's parts lie: experts, repacked weights, and how several GPUs share a model."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QLabel, QLineEdit, QVBoxLayout, QWidget

from paceline.gui.widgets.card import FoldSection
from paceline.gui.widgets.fields import Choice, WholeNumber, two_columns
from paceline.gui.widgets.load_column import FIELD_PX, experts_field
from paceline.gui.widgets.soft_breaks import with_soft_breaks

if TYPE_CHECKING:
    from paceline.messages import EngineDescribed, ModelParams

_MAX_GPU = 63


def _tr(text: str) -> str:
    return QCoreApplication.translate("AdvancedLoading", text)


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
        self.split_mode.currentIndexChanged.connect(owner.on_changed)
        self.tensor_split.textChanged.connect(owner.on_changed)
        self.main_gpu.valueChanged.connect(owner.on_changed)

    @property
    def fields(self) -> tuple[QWidget, ...]:
        return (self.extra_bufts, self.n_cpu_moe, *self.split)

    @property
    def split(self) -> tuple[QWidget, ...]:
        return (self.split_mode, self.tensor_split, self.main_gpu)

    def show_params(self, params: ModelParams) -> None:
        blockers = [QSignalBlocker(widget) for widget in self.fields]
        self.n_cpu_moe.setValue(params.n_cpu_moe)
        self.extra_bufts.setChecked(params.extra_bufts)
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

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.set_title(self.tr("Advanced"))
        self._n_gpus = 0
        self._has_gpu = False
        self.target, self.draft = _Column(self), _Column(self)
        names = (
            self.tr("Repack weights"),
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
        self.reason = QLabel()
        self.reason.setProperty("role", "small")
        self.problem = QLabel()
        self.problem.setProperty("role", "danger")
        rows = QVBoxLayout()
        rows.addLayout(grid)
        for label in (self.reason, self.problem):
            label.setWordWrap(True)
            rows.addWidget(label)
        self.body.addLayout(rows)
        self._show_words()

    def show_engine(self, description: EngineDescribed) -> None:
        """Know which GPUs there are."""
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
