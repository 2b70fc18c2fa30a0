"""Memory of a pair: one bar per device, and remedies where it does not fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from paceline.catalog.memory.values import DevicePlan, MemoryPlan, MemoryRemedy
from paceline.gui.kit.card import Card, FoldSection
from paceline.gui.kit.labels import YieldingLabel, say, text_label, with_soft_breaks
from paceline.gui.kit.layouts import as_many, column_of, fill, grid_of, row_of, set_look
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import local_size, local_sizes, translator
from paceline.gui.look.current import look
from paceline.gui.models.load_checks import saving_title
from paceline.gui.models.picker.parts_bar import BarPart, PartsBar, Swatch, mixed
from paceline.gui.state.device_words import device_title
from paceline.messages import DeviceMemory
from paceline.params import Drafting


class MemoryBar(QWidget):
    """Memory that a pair uses on one device: a bar, and its parts in numbers below.

    The length of the bar is the free memory. Where more is needed, it is the needed memory, a line
    marks the free memory, and everything beyond it is tinted in the error colour. Parts differ in
    lightness and stripes as well as in colour.
    """

    def __init__(self) -> None:
        super().__init__()
        self._plan: DevicePlan | None = None
        self.title = YieldingLabel(keeps=1, mode=Qt.TextElideMode.ElideMiddle)
        self.figures = QLabel()
        head = row_of((self.title, 1), self.figures, spacing=8)
        self.excess = text_label("", "danger")
        self.excess.hide()
        self.bar = PartsBar()
        self.found = text_label(wraps=True)
        self.found.hide()
        self._legend = grid_of(margins=(0, 2, 0, 0), across=8, down=2, stretches=(1,))
        self._entries: list[tuple[Swatch, QLabel, QLabel]] = []
        self.parts = QWidget()
        """Its parts in numbers, which the card shows while it is unfolded."""
        fill(column_of(on=self.parts, margins=0), self._legend)
        right = Qt.AlignmentFlag.AlignRight
        below = (self.excess, 0, right), self.found
        column_of(head, self.bar, *below, on=self, margins=0, spacing=4)
        self.show_nothing()

    def show_nothing(self) -> None:
        """Keep the space while nothing is known."""
        self._plan = None
        self.figures.setText("–")
        set_look(self.figures, role="value")
        self.excess.hide()
        self.found.hide()
        self.bar.show_parts((), 0)
        self._show_legend(())

    def changeEvent(self, event: QEvent) -> None:
        """Apply the colours of another theme."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange and self._plan is not None:
            self._show_parts(self._plan)

    def show_plan(
        self,
        plan: DevicePlan,
        *,
        is_only: bool = False,
        guests: Sequence[str] = (),
        found: int | None = None,
    ) -> None:
        """Show the memory used on a device.

        Args:
            plan: The plan, with the needs of its guests.
            is_only: Whether it is the only one, which needs no title.
            guests: Names of devices that share its memory.
            found: Bytes that these models really use there; None if they are not loaded.
        """
        self._plan = plan
        needed = plan.free - plan.left + plan.kept_free
        title = title_of(plan)
        if guests:
            title = self.tr("{}, with {}").format(title, ", ".join(guests))
        self.title.setText("" if is_only else title)
        words = self.tr("Loaded now: {} found, {} expected")
        sizes = map(local_size, (found or 0, plan.buffers))
        say(self.found, words.format(*sizes) if found is not None else "")
        words = self.tr("{} of {}").format(*local_sizes(needed, plan.free))
        self.figures.setText(words)
        set_look(self.figures, role="value" if plan.fits else "danger")
        excess = self.tr("{} too much").format(local_size(plan.missing))
        self.excess.setText(excess)
        self.excess.setVisible(not plan.fits)
        words = words if plan.fits else f"{words}, {excess}"
        self._describe(plan, words, self._show_parts(plan))

    def _show_parts(self, plan: DevicePlan) -> tuple[BarPart, ...]:
        parts = parts_of(plan)
        self.bar.show_parts(parts, plan.free)
        self._show_legend([part for part in parts if part.size])
        return parts

    def _describe(self, plan: DevicePlan, words: str, parts: Sequence[BarPart]) -> None:
        """Give screen readers everything that the bar shows."""
        listed = ", ".join(f"{part.name} {local_size(part.size)}" for part in parts if part.size)
        self.setAccessibleName(f"{title_of(plan)}: {words}")
        self.setAccessibleDescription(listed)
        self.setToolTip(
            self.tr("{} has {}; {} can be had now.").format(
                title_of(plan), local_size(plan.total), local_size(plan.free)
            )
        )

    def _show_legend(self, parts: Sequence[BarPart]) -> None:
        while len(self._entries) < len(parts):
            entry = Swatch(), text_label(), text_label()
            entry[2].setAlignment(Qt.AlignmentFlag.AlignRight)
            for column, widget in enumerate(entry):
                self._legend.addWidget(widget, len(self._entries), column)
            self._entries.append(entry)
        for at, entry in enumerate(self._entries):
            is_shown = at < len(parts)
            for widget in entry:
                widget.setVisible(is_shown)
            if is_shown:
                swatch, name, size = entry
                swatch.part = parts[at]
                swatch.update()
                name.setText(parts[at].name)
                size.setText(local_size(parts[at].size))


_tr = translator("MemoryBar")


def title_of(plan: DevicePlan) -> str:
    """Return the title of a device; the processor's is "memory"."""
    return _tr("Memory") if plan.title == "Memory" else device_title(plan.device, plan.title)


def parts_of(plan: DevicePlan) -> tuple[BarPart, ...]:
    """Return the parts of a device's bar from the left, in the present colours.

    The draft model's parts and the reserve are striped. The last one is not needed by the pair: the
    prompt cache uses part of the rest.
    """
    theme, target, draft = look.theme, plan.target, plan.draft
    full, pale_target = theme.time_verify, mixed(theme.time_verify, theme.surface)
    pale_draft = mixed(theme.accent, theme.surface)
    beyond, kv = target.beyond_windows, target.kv - target.beyond_windows
    return (
        BarPart(_tr("Model"), target.weights, full),
        BarPart(_tr("Its cache"), kv, pale_target),
        BarPart(_tr("More than its sliding windows"), beyond, pale_target, theme.surface),
        BarPart(_tr("Drafter"), draft.weights, theme.accent, pale_draft),
        BarPart(_tr("Drafter's cache"), draft.kv, pale_draft, theme.surface),
        BarPart(_tr("Buffers for computing"), target.compute + draft.compute, theme.faint),
        BarPart(_tr("Earlier states, to take drafts back"), plan.states, pale_target, full),
        BarPart(_tr("Kept free"), plan.kept_free, theme.line, theme.line_strong),
        BarPart(_tr("Prompt cache, up to"), plan.prompts, mixed(theme.lookup, theme.surface)),
    )


class _Way(QWidget):
    """A remedy: the action, and its effect below."""

    chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._remedy: MemoryRemedy | None = None
        self.button = QPushButton()
        self.button.clicked.connect(self._on_clicked)
        self.button.setProperty("kind", "compact")
        self.text = text_label(wraps=True)
        column_of(
            (self.button, 0, Qt.AlignmentFlag.AlignLeft),
            self.text,
            on=self,
            margins=(0, 2, 0, 2),
            spacing=2,
        )

    def show_remedy(self, remedy: MemoryRemedy, drafting: Drafting) -> None:
        """Offer a remedy; without a button where only the user can carry it out.

        Args:
            remedy: The remedy.
            drafting: The present drafter.
        """
        self._remedy = remedy
        title = saving_title(remedy.saving, drafting)
        say(self.button, title)
        words = said(remedy.text)
        self.button.setAccessibleDescription(words)
        self.text.setText(with_soft_breaks(words))

    @Slot()
    def _on_clicked(self) -> None:
        self.chosen.emit(self._remedy)


def shown_once(devices: Sequence[DevicePlan]) -> list[tuple[DevicePlan, tuple[str, ...]]]:
    """Return the plans of memories, each with the names of further devices that share it.

    A device that is too small for its need, since its server lends less, has a bar of its own.
    """
    names = {device.device for device in devices}
    guests = [each for each in devices if each.shares in names and each.fits]
    owners = [each for each in devices if each not in guests]
    by_owner = {each.device: [g for g in guests if g.shares == each.device] for each in owners}
    return [
        (each.with_guests(by_owner[each.device]), tuple(g.device for g in by_owner[each.device]))
        for each in owners
    ]


class MemoryCard(Card):
    """Card of a `MemoryPlan`; the previous plan stays until the next one is made.

    Its space is reserved from the start, so that nothing below moves when the plan arrives.
    """

    remedy_chosen = Signal(object)
    """MemoryRemedy"""

    def __init__(self) -> None:
        super().__init__()
        self.set_title(self.tr("Memory"))
        self.pill = text_label("", "pill")
        keeps = self.pill.sizePolicy()
        keeps.setRetainSizeWhenHidden(True)
        self.pill.setSizePolicy(keeps)
        self.header.addWidget(self.pill)
        self.problem = text_label(wraps=True)
        self.bars: list[MemoryBar] = []
        self.ways: list[_Way] = []
        self._bar_rows = column_of(spacing=12)
        self._way_rows = column_of(spacing=4)
        self.going_back = text_label(wraps=True)
        self.help = text_label(self.tr("What would help:"), "title")
        self.details = FoldSection()
        self.details.set_title(self.tr("Details"))
        self._legends = column_of(spacing=8)
        fill(self.details.body, self._legends, self.problem, self.going_back)
        fill(self.body, self._bar_rows, self.help, self._way_rows, self.details)
        self._found: Mapping[str, int] = {}
        self.show_plan(None)

    def show_found(self, memory: Sequence[DeviceMemory]) -> None:
        """Compare the next plan with measured memory; empty if other models are loaded."""
        self._found = {each.device: each.total for each in memory}

    def show_plan(
        self, plan: MemoryPlan | None, problem: str = "", *, is_looking: bool = False
    ) -> None:
        """Show a plan; without one, say that it is awaited, unknown, or impossible (`problem`)."""
        words, tone = (self.tr("Working it out…") if is_looking else ""), "muted"
        if plan is not None:
            words, tone = (
                (self.tr("fits"), "accent") if plan.fits else (self.tr("does not fit"), "danger")
            )
        elif problem:
            words, tone = self.tr("not known"), "muted"
        say(self.pill, words)
        set_look(self.pill, tone=tone)
        is_rough = plan is not None and not plan.is_measured
        self.problem.setText(
            with_soft_breaks(said(problem) or self.tr("Estimated from the headers."))
        )
        self.problem.setVisible(bool(problem) or is_rough)
        back = plan.going_back if plan is not None else None
        self.going_back.setText(with_soft_breaks(said(back.sentence)) if back is not None else "")
        self.going_back.setVisible(back is not None and back.way != "cells")
        self._show_bars(plan)
        self._show_ways(plan)

    def _show_bars(self, plan: MemoryPlan | None) -> None:
        devices = shown_once(plan.devices if plan is not None else ())
        bars = as_many(self.bars, max(len(devices), 1), self._make_bar, self._bar_rows)
        for bar in self.bars:
            bar.parts.setVisible(bar in bars)
        if not devices:
            bars[0].show_nothing()
        for bar, (device, guests) in zip(bars, devices, strict=False):
            names = device.device, *guests
            found = sum(self._found.get(name, 0) for name in names) if self._found else None
            is_only = len(devices) == 1 and not guests
            bar.show_plan(device, is_only=is_only, guests=guests, found=found)

    def _make_bar(self) -> MemoryBar:
        bar = MemoryBar()
        self._legends.addWidget(bar.parts)
        return bar

    def _show_ways(self, plan: MemoryPlan | None) -> None:
        remedies = plan.remedies if plan is not None and not plan.fits else ()
        drafting = plan.drafting if plan is not None else None
        self.help.setVisible(bool(remedies))
        ways = as_many(self.ways, len(remedies), self._make_way, self._way_rows)
        for way, remedy in zip(ways, remedies, strict=True):
            way.show_remedy(remedy, drafting)

    def _make_way(self) -> _Way:
        way = _Way()
        way.chosen.connect(self.remedy_chosen)
        return way
