"""Builds the picker's dialog before somebody wants it, so that it opens at once.

A dialog with all its pages takes 90 ms to build, most of them for styling; the event loop must not
stand still for so long. So it is built in steps while nothing else happens: the first time behind
the start of the window, and again when one was closed. Whoever is faster gets the rest built at
once. Every dialog is used once, so that nothing of an earlier choice is left in it.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Slot
from shiboken6 import delete

from paceline.errors import UserError
from paceline.gui.viewmodels.recommended import RecommendedPairs
from paceline.gui.widgets.picker.dialog import PickerDialog
from paceline.gui.widgets.picker.hub_page import HubPage
from paceline.gui.widgets.picker.installed_page import InstalledPage
from paceline.gui.widgets.picker.pair_pane import PairPane
from paceline.gui.widgets.picker.recommended_page import RecommendedPage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtWidgets import QWidget

    from paceline.catalog.models import Models
    from paceline.gui.icons import Icons
    from paceline.gui.theme import ThemeController
    from paceline.gui.viewmodels.downloads import DownloadsModel
    from paceline.gui.viewmodels.hub_results import HubResults
    from paceline.gui.viewmodels.library import LibraryModel
    from paceline.gui.viewmodels.pair_judgement import PairJudgement

IDLE_MS = 200
STEP_MS = 10
"""Between two steps, so that what the user does comes first."""

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PickerParts:
    """A dialog and what is in it."""

    dialog: PickerDialog
    installed: InstalledPage
    recommended: RecommendedPage
    pairs: RecommendedPairs
    hub: HubPage
    pane: PairPane


class PickerBuilder(QObject):
    """Keeps one dialog ready, hidden; main thread."""

    def __init__(
        self,
        *,
        models: Models,
        entries: LibraryModel,
        results: HubResults,
        states: DownloadsModel,
        judgement: PairJudgement,
        themes: ThemeController,
        icons: Icons,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._models = models
        self._entries = entries
        self._results = results
        self._states = states
        self._judgement = judgement
        self._themes = themes
        self._icons = icons
        self._window = window
        self._steps: Iterator[PickerParts | None] | None = None
        self._parts: PickerParts | None = None
        self._made: list[QObject] = []
        self._next = QTimer(self)
        self._next.setSingleShot(True)
        self._next.timeout.connect(self._on_time)
        themes.changing.connect(self._on_changing)

    @property
    def is_ready(self) -> bool:
        """Whether a whole dialog waits."""
        return self._parts is not None

    def prepare(self) -> None:
        """Build a dialog when there is time."""
        if self._parts is None:
            self._next.start(IDLE_MS)

    def take(self) -> PickerParts:
        """Return a dialog, which is the caller's from now on."""
        self._next.stop()
        while self._parts is None:
            self._step()
        parts, self._parts = self._parts, None
        self._made.clear()
        return parts

    def discard(self) -> bool:
        """Let go of what is built, e.g. since it has another theme's colours; false: nothing was.

        Builds no more before `prepare` is called again.
        """
        was_wanted = self._next.isActive() or self._parts is not None
        self._next.stop()
        self._parts = self._steps = None
        for each in self._made:  # in this order, and now: a style sheet visits what still exists
            delete(each)
        self._made.clear()
        return was_wanted

    def _step(self) -> None:
        if self._steps is None:
            self._steps = self._build()
        steps, self._steps = self._steps, None
        self._parts = next(steps)
        if self._parts is None:
            self._steps = steps

    def _build(self) -> Iterator[PickerParts | None]:
        """Build one part after the other; the last one comes with all."""
        theme = self._themes.current
        installed = InstalledPage(self._entries, theme)
        self._made.append(installed)
        yield None
        pairs = RecommendedPairs(self._models.curated)
        recommended = RecommendedPage(pairs, theme)
        self._made += [recommended, pairs]
        yield None
        hub = HubPage(self._results, theme)
        self._made.append(hub)
        yield None
        pane = PairPane(self._judgement, theme, self._icons)
        self._made.append(pane)
        yield None
        dialog = PickerDialog(
            installed=installed,
            recommended=recommended,
            hub=hub,
            pane=pane,
            downloads=self._states,
            parent=self._window,
        )
        pairs.setParent(dialog)
        self._made[:] = [dialog]
        yield None
        dialog.set_theme(theme, self._icons)
        yield None
        dialog.ensurePolished()
        yield PickerParts(dialog, installed, recommended, pairs, hub, pane)

    @Slot()
    def _on_changing(self) -> None:
        """Build anew later: to dress all of it would take longer than to dress the window."""
        if self.discard():
            self.prepare()

    @Slot()
    def _on_time(self) -> None:
        try:
            self._step()
        except UserError as error:  # whoever opens the dialog is told
            _logger.info("the picker cannot be prepared: %s", error)
            return
        if self._parts is None:
            self._next.start(STEP_MS)
