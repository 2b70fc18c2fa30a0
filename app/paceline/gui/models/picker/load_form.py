"""Settings of the load of the picked pair: the context, and a folded part with the rest."""

from __future__ import annotations

import math
from dataclasses import replace

from PySide6.QtCore import QSignalBlocker, QSize, Signal, Slot
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QSizePolicy, QSpinBox, QWidget

from paceline.catalog.card import ModelCard
from paceline.catalog.memory.values import MemoryPlan
from paceline.chat.pair import Pair
from paceline.engine.model.memory_hints import MIN_PROPOSAL_TOKENS, SLOW_CACHE, has_quantised_cache
from paceline.engine.model.model_params import DEFAULT_CTX, check_params, choose_ctx
from paceline.engine.model.placement import devices_for
from paceline.errors import ValueOutOfRangeError
from paceline.gui.kit.card import Card, FoldSection
from paceline.gui.kit.fields import Slider, show_value
from paceline.gui.kit.file_dialogs import FileField
from paceline.gui.kit.labels import (
    YieldingCheckBox,
    YieldingLabel,
    say,
    text_label,
    with_soft_breaks,
)
from paceline.gui.kit.layouts import fill, grid_of, styled
from paceline.gui.kit.sentences import said
from paceline.gui.models.picker.layers_bar import LayersBar, layers_of
from paceline.gui.models.picker.load_columns import SPLIT, LoadColumn, rows_of
from paceline.messages import DeviceInfo, EngineDescribed
from paceline.params import ModelParams
from paceline.sizes import tokens

_STEPS_PER_DOUBLING = 8
_STEP = 256  # llama.cpp pads contexts to multiples of it
_HANDLE_PX = 14
_MARK_PX = 6


class _Mark(QWidget):
    """The scale below the slider: a line up to the context that fits."""

    def __init__(self) -> None:
        super().__init__()
        self.share: float | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(60, _MARK_PX)

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self.share is None:
            return
        painter = QPainter(self)
        width = self.width() - _HANDLE_PX
        end = round(_HANDLE_PX / 2 + self.share * width)
        colour = self.palette().color(QPalette.ColorRole.Accent)
        painter.fillRect(_HANDLE_PX // 2, 1, max(end - _HANDLE_PX // 2, 2), 2, colour)
        painter.fillRect(end - 1, 0, 2, _MARK_PX, QColor(colour))


class ContextField(QWidget):
    """The length of the context: a slider in doublings up to what the model was trained for.

    The number beside it accepts every length; 0 is automatic. A mark below the slider shows the
    length that fits into memory, by the plan.
    """

    changed = Signal()

    def __init__(self, number: QSpinBox) -> None:
        super().__init__()
        self._number = number
        self._longest = DEFAULT_CTX
        self._wish = 0
        self._decided = 0
        self._fits: int | None = None
        self._is_trained = False
        self.label = text_label(self.tr("Context"), "muted")
        self.label.setBuddy(number)
        self.slider = Slider()
        self.slider.setAccessibleName(self.tr("Context"))
        self.slider.setPageStep(_STEPS_PER_DOUBLING)
        self.mark = _Mark()
        self.words = text_label(wraps=True)
        grid = grid_of(on=self, margins=0, across=8, down=0, stretches=(1,))
        grid.addWidget(self.label, 0, 0)
        grid.addWidget(self.slider, 0, 1)
        grid.addWidget(number, 0, 2)
        grid.addWidget(self.mark, 1, 1)
        grid.addWidget(self.words, 2, 0, 1, 3)
        number.setFixedWidth(72)
        number.setAccessibleName(self.tr("Context in tokens"))
        self.slider.valueChanged.connect(self._on_slider_moved)
        number.valueChanged.connect(self._on_number_changed)
        self.set_longest(0)

    @property
    def n_ctx(self) -> int:
        """Context in tokens, with the automatic value decided."""
        return self._number.value() or min(DEFAULT_CTX, self._longest)

    def set_longest(self, n_ctx_train: int) -> None:
        """Set the context that the model was trained for; 0 if it is unknown.

        A longer value is reduced for this model, and restored with the next one.
        """
        self._longest = n_ctx_train or max(self._wish, 4 * DEFAULT_CTX)
        with QSignalBlocker(self._number):
            self._number.setMaximum(self._longest)
            self._number.setValue(min(self._wish, self._longest))
        with QSignalBlocker(self.slider):
            self.slider.setRange(0, self._steps)
        self._is_trained = bool(n_ctx_train)
        self.refresh()

    def show_wish(self, n_ctx: int) -> None:
        """Show a requested length, which may exceed the model's trained context."""
        self._wish = n_ctx
        with QSignalBlocker(self._number):
            self._number.setMaximum(max(self._longest, n_ctx))
            self._number.setValue(n_ctx)

    def show_room(self, n_fits: int | None) -> None:
        """Mark the length that fits; None if it is unknown."""
        self._fits = n_fits
        self.refresh()

    def show_decided(self, n_ctx: int) -> None:
        """Set the plan's decision for an automatic length; 0 without a plan."""
        self._decided = n_ctx
        self.refresh()

    def refresh(self) -> None:
        """Update words and slider by the number."""
        with QSignalBlocker(self.slider):
            self.slider.setValue(round(self._share(self.n_ctx) * self._steps))
        fits = self._fits
        is_short = fits is not None and fits < self._longest
        has_mark = fits is not None and is_short and fits >= MIN_PROPOSAL_TOKENS
        self.mark.share = self._share(fits) if fits is not None and has_mark else None
        self.mark.update()
        text = ", ".join(self._sayings(fits if is_short else None))
        self.words.setText(text[:1].upper() + text[1:] or "\u00a0")  # keeps the height of the line
        self.slider.setAccessibleDescription(self.words.text())

    def _sayings(self, fits: int | None) -> list[str]:
        """Return the remarks; `fits` is None where every length fits."""
        words = []
        if self._wish > self._longest:
            words.append(
                self.tr("cut from {}: trained for {} tokens").format(
                    tokens(self._wish), tokens(self._longest)
                )
            )
        elif self._is_trained:
            words.append(self.tr("trained for {} tokens").format(tokens(self._longest)))
        if self._is_shortened:
            words.append(
                self.tr("automatic: {}, as many as find room").format(tokens(self._decided))
            )
        elif fits is not None and fits < MIN_PROPOSAL_TOKENS:
            words.append(self.tr("no context finds room"))
        elif fits is not None:
            words.append(self.tr("up to about {} find room").format(tokens(_rounded(fits))))
        return words

    @property
    def _is_shortened(self) -> bool:
        """Return whether the automatic length is shorter than usual, for lack of memory."""
        return self._number.value() == 0 and 0 < self._decided < self.n_ctx

    @property
    def _shortest(self) -> int:
        return min(MIN_PROPOSAL_TOKENS, self._longest)

    @property
    def _steps(self) -> int:
        return max(round(math.log2(self._longest / self._shortest) * _STEPS_PER_DOUBLING), 1)

    def _share(self, n_ctx: int) -> float:
        """Return the position of a length on the slider, 0..1."""
        if self._longest == self._shortest:
            return 1.0
        whole = math.log2(self._longest / self._shortest)
        share = math.log2(max(n_ctx, self._shortest) / self._shortest) / whole
        return min(max(share, 0.0), 1.0)

    @Slot(int)
    def _on_slider_moved(self, place: int) -> None:
        n_ctx = self._shortest * 2 ** (place / _STEPS_PER_DOUBLING)
        is_end = place == self.slider.maximum()
        self._number.setValue(self._longest if is_end else min(_rounded(n_ctx), self._longest))

    @Slot()
    def _on_number_changed(self) -> None:
        self._wish = self._number.value()
        self.refresh()
        self.changed.emit()


def _rounded(n_ctx: float) -> int:
    """Round to the padding of contexts, and above 8192 to multiples of 1024."""
    step = 1024 if n_ctx >= 8192 else _STEP
    return max(int(n_ctx) // step * step, 1)


class LoadForm(Card):
    """Shows and changes how a pair is loaded; its files are set from outside."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.set_title(self.tr("Loading"))
        self._devices: tuple[DeviceInfo, ...] = ()
        self._has_target = self._has_draft = False
        self._n_ctx_draft = 0
        # Parameters without a field keep their values.
        self._target_before = self._draft_before = ModelParams("")
        self.target = LoadColumn(self.tr("Model"), self)
        self.draft = LoadColumn(self.tr("Draft"), self)
        self.columns = self.target, self.draft
        self.target.shown("n_ctx")
        self.context = ContextField(self.target.fields["n_ctx"])
        self.lost = text_label("", "danger", wraps=True, plain=True)
        self.lost.hide()
        self.layers = LayersBar(self.target.title.text()), LayersBar(self.draft.title.text())
        self.reason = text_label(wraps=True)
        self.cache_text = text_label(wraps=True)
        self.problem_text = text_label("", "danger", wraps=True)
        self.advanced = FoldSection()
        self.advanced.set_title(self.tr("Advanced"))
        self._make_advanced()
        fill(self.body, self.context, self.lost, self.advanced, self.problem_text)
        # The number is older than the slider beside it.
        self.setTabOrder(self.context.slider, self.target.fields["n_ctx"])
        n_ctx_draft = self.draft.fields["n_ctx"]
        n_ctx_draft.setSpecialValueText(self.tr("same"))
        n_ctx_draft.setToolTip(self.tr("Tokens that the draft model keeps; same: as many"))
        self.context.changed.connect(self._on_changed)
        for column in self.columns:
            column.changed.connect(self._on_changed)
        self._enable()

    def _make_advanced(self) -> None:
        names = (
            "n_gpu_layers", "device", "n_threads", "kv_type_k", "kv_type_v", "flash_attn",
            "n_cpu_moe", "kv_offload", "extra_bufts", "swa_full", *SPLIT,
        )  # fmt: skip
        grid = rows_of(self.target, self.draft, *names)
        label = styled(YieldingLabel(self.tr("Draft context"), keeps=6), role="muted")
        grid.addWidget(label, len(names) + 1, 0)
        grid.addWidget(self.draft.shown("n_ctx"), len(names) + 1, 2)
        self.exact = YieldingCheckBox(self.tr("Exact: same text in every case"))
        self.exact.setToolTip(
            self.tr(
                "The same text with any strategy and whatever was in the context before, on this "
                "machine. Where Paceline's own kernels compute, that is so anyway. Elsewhere "
                "prompts are prefilled in fixed pieces, and where narrow batches are computed in "
                "another way, single tokens are decoded in wider ones, which costs speed; a note "
                "says how much after loading."
            )
        )
        self.lookup_cache = FileField(
            self.tr("Lookup cache"),
            self.tr(
                "A file of token statistics from texts of yours, for the strategies ngram-cache "
                "and Auto; “paceline cache build” makes one."
            ),
            self.tr("Lookup caches (*.bin);;All files (*)"),
        )
        self.exact.toggled.connect(self._on_changed)
        self.lookup_cache.changed.connect(self._on_changed)
        parts = *self.layers, grid, self.reason, self.cache_text, self.exact, self.lookup_cache
        fill(self.advanced.body, *parts)

    def show_engine(self, description: EngineDescribed) -> None:
        """Offer the engine's devices."""
        self._devices = description.devices
        for column in self.columns:
            column.show_devices(description.devices)
        lost = (said(problem.message) for problem in description.lost)
        say(self.lost, with_soft_breaks(" ".join(lost)))
        self._enable()

    def show_pair(self, pair: Pair) -> None:
        """Show how a pair is loaded, without emitting `changed`."""
        target, draft = pair.target, pair.draft
        with QSignalBlocker(self):
            self.exact.setChecked(pair.exact)
        self.lookup_cache.show_path(pair.lookup_cache)
        self._target_before = target
        self.context.show_wish(target.n_ctx)
        self.target.show_params(target)
        if draft is not None:
            self._draft_before = draft
            self.draft.show_params(draft)
            if draft.n_ctx == target.n_ctx:
                show_value(self.draft.fields["n_ctx"], 0)
        self.context.refresh()
        self._show_problem()

    def show_models(self, *, has_target: bool, has_draft: bool) -> None:
        """Enable the fields of the chosen models."""
        self._has_target, self._has_draft = has_target, has_draft
        self._enable()

    def show_cards(self, target: ModelCard | None, draft: ModelCard | None) -> None:
        """Set the contexts that the models were trained for; None for an unknown model."""
        self.context.set_longest(target.n_ctx_train if target else 0)
        self._n_ctx_draft = draft.n_ctx_train if draft else 0
        self._show_problem()

    def show_plan(self, plan: MemoryPlan | None) -> None:
        """Mark the context that fits."""
        self.context.show_room(room_for_context(plan) if plan else None)
        self.context.show_decided(plan.target.n_ctx if plan else 0)
        for bar, counts in zip(self.layers, layers_of(plan), strict=True):
            bar.show_counts(counts)

    @property
    def problem(self) -> str:
        """Sentence about values that contradict each other, or empty."""
        both = (self.target_params(""), self.draft_params("") if self._has_draft else None)
        shares = (column.fields["tensor_split"].problem for column in self.columns)
        if wrong := next(filter(None, shares), ""):
            return wrong
        try:
            for params in both:
                if params is not None:
                    check_params(params)
                    # Without a GPU nothing else could be changed; at first no device is known.
                    if self._has_gpu or (params.device and self._devices):
                        devices_for(params, self._devices)
        except ValueOutOfRangeError as error:
            return said(str(error))
        try:
            if both[1] is not None:
                choose_ctx(both[1], self._n_ctx_draft)
        except ValueOutOfRangeError as error:
            return self.tr("Draft model: {}").format(said(str(error)))
        return ""

    def target_params(self, path: str) -> ModelParams:
        """Return the parameters for the target in this file."""
        return self.target.params(replace(self._target_before, path=path))

    def draft_params(self, path: str) -> ModelParams:
        """Return the parameters for the draft model in this file."""
        params = self.draft.params(replace(self._draft_before, path=path))
        wish = self.target.fields["n_ctx"].value()
        if params.n_ctx == 0 and wish:
            # A shorter context would end drafting in the middle of a chat.
            return replace(params, n_ctx=min(wish, self._n_ctx_draft or wish))
        return params

    def _show_problem(self) -> None:
        say(self.problem_text, with_soft_breaks(self.problem))
        models = [self.target_params("")] + [self.draft_params("")] * self._has_draft
        is_slow = any(has_quantised_cache(each) and self._is_on_cpu(each) for each in models)
        say(self.cache_text, said(SLOW_CACHE) if is_slow else "")

    def _is_on_cpu(self, params: ModelParams) -> bool:
        return params.n_gpu_layers == 0 or self._n_used(params) == 0

    @property
    def _has_gpu(self) -> bool:
        return any(device.takes_layers for device in self._devices)

    def _n_used(self, params: ModelParams) -> int:
        """Return the number of devices that would share a model."""
        shared = replace(params, n_gpu_layers=-1, split_mode="", tensor_split=(), main_gpu=0)
        try:
            return len(devices_for(shared, self._devices))
        except ValueOutOfRangeError:
            return 0

    def _enable(self) -> None:
        """Enable the fields that have an effect, and give the others' reasons."""
        n_used = []
        for column, is_there in ((self.target, self._has_target), (self.draft, self._has_draft)):
            n_used.append(self._n_used(column.params(ModelParams(""))))
            column.enable(is_there=is_there, has_gpu=self._has_gpu, n_used=n_used[-1])
        self.context.setEnabled(self._has_target)
        why = ""
        if not self._has_gpu:
            why = self.tr(
                "Everything runs on the processor: llama.cpp finds no GPU here that it can use."
            )
        elif max(n_used) < 2:
            why = self.tr("A model is put on one device, so there is nothing to split.")
        say(self.reason, why)
        self._show_problem()

    @Slot()
    def _on_changed(self) -> None:
        self._enable()
        self.changed.emit()


def room_for_context(plan: MemoryPlan) -> int | None:
    """Return roughly the number of tokens that fit, all else unchanged.

    The caches of both models grow with the context, weights and buffers nearly do not. The result
    is None where caches need no memory.
    """
    rooms = []
    for device in plan.devices:
        kv = device.target.kv + device.draft.kv
        if kv:
            rest = device.target.total + device.draft.total + device.margin - kv
            rooms.append(int(max(device.free - rest, 0) / kv * plan.target.n_ctx))
    return min(rooms, default=None)
