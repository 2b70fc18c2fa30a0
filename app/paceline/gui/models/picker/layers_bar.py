"""Bars for the number of a model's layers on each device."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QWidget

from paceline.catalog.memory.values import DevicePlan, MemoryPlan
from paceline.gui.kit.labels import text_label
from paceline.gui.kit.layouts import column_of
from paceline.gui.look.current import look
from paceline.gui.models.picker.parts_bar import BarPart, PartsBar, mixed


class LayersBar(QWidget):
    """Bar of a model's layers by device in order, with words above."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title
        self._counts: tuple[tuple[str, int], ...] = ()
        self.words = text_label("", wraps=True, plain=True)
        self.bar = PartsBar()
        column_of(self.words, self.bar, on=self, margins=0, spacing=2)
        self.hide()

    def show_counts(self, counts: Sequence[tuple[str, int]]) -> None:
        """Show the layers of each device, the processor last; hide the bar without any."""
        self._counts = tuple(counts)
        self.setVisible(bool(counts))
        listed = " · ".join(f"{name} {n}" for name, n in counts if n)
        self.words.setText(self.tr("{}: layers on {}").format(self._title, listed))
        self.setAccessibleName(self.words.text())
        self._paint()

    def changeEvent(self, event: QEvent) -> None:
        """Apply the colours of another theme."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self._paint()

    def _paint(self) -> None:
        theme = look.theme
        colours = [
            (colour, stripes)
            for stripes in ("", theme.surface)
            for colour in (theme.time_verify, theme.accent, mixed(theme.accent, theme.surface))
        ]
        *devices, cpu = self._counts or (("", 0),)
        parts = [
            BarPart(name, n, *colours[i % len(colours)]) for i, (name, n) in enumerate(devices)
        ]
        parts.append(BarPart(cpu[0], cpu[1], theme.faint))
        self.bar.show_parts(parts, sum(n for _, n in self._counts))


def layers_of(plan: MemoryPlan | None) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """Return the layers of target and draft model by device; empty where the processor has all."""

    def counted(counts: list[tuple[str, int]]) -> list[tuple[str, int]]:
        return counts if any(n for _, n in counts) else []

    devices: tuple[DevicePlan, ...] = plan.devices if plan is not None else ()
    if len(devices) < 2:
        return [], []
    return (
        counted([(each.device, each.n_layers) for each in devices]),
        counted([(each.device, each.n_draft_layers) for each in devices]),
    )
