"""How the two models are loaded: where, with how much context and threads; applied by Reload.

The fields that say how one model is loaded (`LoadColumn`) are laid out by the picker, too. Each
form has one column for the target and one for the draft model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QGridLayout, QPushButton, QWidget

from paceline.chat.pair import Pair
from paceline.gui.kit.card import FoldCard, FoldSection
from paceline.gui.kit.fields import (
    Choice,
    ParsedLine,
    changes_of,
    choice_field,
    number_field,
    show_value,
    two_columns,
    value_of,
)
from paceline.gui.kit.file_dialogs import FileField
from paceline.gui.kit.labels import YieldingCheckBox, say, text_label, with_soft_breaks
from paceline.gui.kit.layouts import fill, styled
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import fields_in_words
from paceline.messages import DeviceInfo, EngineDescribed, Sameness
from paceline.parameters import Parameter
from paceline.params import ModelParams, read_shares, with_params
from paceline.settings import EngineHost

SPLIT = ("split_mode", "tensor_split", "main_gpu")
"""How several GPUs share a model"""
_FOR_GPUS = ("n_gpu_layers", "device", "n_cpu_moe")
_FIELD_PX = 64


def _field_for(parameter: Parameter) -> QWidget:
    if parameter.name == "tensor_split":
        shares = ParsedLine(read_shares, "{:g}".format, parameter.unset)
        shares.setAlignment(Qt.AlignmentFlag.AlignRight)
        return styled(shares, kind="value")
    match parameter.kind:
        case "bool":
            box = QCheckBox()
            box.setLayoutDirection(Qt.LayoutDirection.RightToLeft)  # as the numbers stand
            return box
        case "int":
            return number_field(parameter)
        case "text":
            return Choice([(parameter.unset, "")])
    return choice_field(parameter)


class LoadColumn(QWidget):
    """One model's title and fields, named as in `ModelParams`; itself not shown.

    A form shows those that it has room for; what the others would say stays as it is.

    Attributes:
        title: Stands above the fields.
        fields: Those that a form shows.
    """

    changed = Signal()

    def __init__(self, title: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.hide()
        self.title = text_label(title)
        self.title.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.fields: dict[str, Any] = {}

    def shown(self, name: str) -> QWidget:
        """Return a field for a form to show."""
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
        field = self.fields["device"]
        offered = list(devices) if any(device.kind != "cpu" for device in devices) else []
        names = [field.itemData(i) for i in range(1, field.count())]
        if names == [device.name for device in offered]:
            return  # they are described often, and the list may be open
        chosen = field.currentData()
        with QSignalBlocker(field):
            for at in range(field.count() - 1, 0, -1):
                field.removeItem(at)
            for device in offered:
                field.addItem(device.name, device.name)
                field.setItemData(
                    field.count() - 1, device.description, Qt.ItemDataRole.ToolTipRole
                )
        show_value(field, chosen)

    def show_params(self, params: ModelParams) -> None:
        """Show how the model is loaded, without emitting `changed`."""
        for name, field in self.fields.items():
            show_value(field, getattr(params, name))

    def params(self, params: ModelParams) -> ModelParams:
        """The same model with what the fields say."""
        return replace(params, **{name: value_of(field) for name, field in self.fields.items()})

    def enable(self, *, is_there: bool, has_gpu: bool, n_gpus: int = 0) -> None:
        """Switch the fields on that mean something here."""
        for name, field in self.fields.items():
            is_of_use = has_gpu or name not in _FOR_GPUS
            field.setEnabled(is_there and is_of_use and (n_gpus > 1 or name not in SPLIT))


def rows_of(target: LoadColumn, draft: LoadColumn, *names: str, titled: bool) -> QGridLayout:
    """Return a grid with one field in a row, for both models, whose titles may stand above."""
    words = fields_in_words(ModelParams)
    grid = two_columns([words[name].title for name in names], first_row=int(titled))
    for at, column in enumerate((target, draft), start=1):
        if titled:
            grid.addWidget(column.title, 0, at)
        for row, name in enumerate(names, start=int(titled)):
            grid.addWidget(column.shown(name), row, at)
    return grid


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
        self._has_gpu, self._n_gpus = False, 0
        self._host: EngineHost = "process"
        self.target = LoadColumn(self.tr("Target"), self)
        self.draft = LoadColumn(self.tr("Draft"), self)
        usual = ("n_gpu_layers", "device", "n_ctx", "n_threads")
        grid = rows_of(self.target, self.draft, *usual, titled=True)
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
        self.advanced = FoldSection()
        self.advanced.set_title(self.tr("Advanced"))
        self.advanced_reason = text_label(wraps=True)
        self.problem = text_label("", "danger", wraps=True)
        self.own_process = self._make_own_process()
        fill(
            self.advanced.body,
            rows_of(
                self.target,
                self.draft,
                "extra_bufts",
                "swa_full",
                "n_cpu_moe",
                *SPLIT,
                titled=False,
            ),
            self.advanced_reason,
            self.problem,
            self.own_process,
        )
        for column in (self.target, self.draft):
            column.changed.connect(self._enable)
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
        self._n_gpus = sum(device.kind in ("gpu", "igpu") for device in description.devices)
        reason = advanced_reason = ""
        if not self._has_gpu:
            reason = self.tr(
                "This build of llama.cpp has no GPU support, so GPU layers and device cannot "
                "be set. Everything runs on the processor."
            )
            advanced_reason = self.tr("Without a GPU everything is on the processor already.")
        elif self._n_gpus < 2:
            advanced_reason = self.tr("There is one GPU, so there is nothing to split.")
        say(self.reason, reason)
        say(self.advanced_reason, advanced_reason)
        self._enable()

    def show_host(self, host: EngineHost) -> None:
        """Show where the engine runs."""
        self._host = host
        with QSignalBlocker(self.own_process):
            self.own_process.setChecked(host == "process")
        self._enable()

    def follow_host(self, host: EngineHost) -> None:
        """Have the models loaded where the engine runs from now on, unless that was asked here."""
        if host == self._host:
            return
        self.show_host(host)
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
            self.lookup_cache.show_path(pair.lookup_cache)
            with QSignalBlocker(self.exact):
                self.exact.setChecked(pair.exact)
        self._enable()

    def show_sameness(self, sameness: Sameness | None) -> None:
        """Show whether the loaded pair's texts can depend on the strategy."""
        say(self.sameness, said(sameness.words) if sameness is not None else "")

    def wanted(self) -> Pair | None:
        """The same models with what the fields say."""
        if self._pair is None:
            return None
        draft = self._pair.draft
        return replace(
            self._pair,
            target=self.target.params(self._pair.target),
            drafting=with_params(self._pair.drafting, draft and self.draft.params(draft)),
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
        box.toggled.connect(self._enable)
        return box

    @Slot()
    def _enable(self) -> None:
        pair = self._pair
        has_draft = pair is not None and pair.draft is not None
        for column, is_there in ((self.target, pair is not None), (self.draft, has_draft)):
            column.enable(is_there=is_there, has_gpu=self._has_gpu, n_gpus=self._n_gpus)
        shares = (column.fields["tensor_split"] for column in (self.target, self.draft))
        problem = next((each.problem for each in shares if each.problem), "")
        say(self.problem, with_soft_breaks(problem))
        for field in (self.exact, self.own_process, self.lookup_cache, self.reload_button):
            field.setEnabled(pair is not None)
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
