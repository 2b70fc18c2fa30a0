"""Which strategy is chosen and with which settings; everything the panel shows comes from here.

Built from the drafters' own descriptions, so a new drafter or a plug-in appears by itself. The
settings of every drafter are kept, also of those that are not chosen just now.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from paceline.engine.drafters.registry import parse_strategy
from paceline.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.engine.drafters.base import DrafterInfo

DEFAULT = "draft"
"""What is chosen when nothing usable was saved."""


class SpeculationModel(QObject):
    """The chosen drafter and the settings of all of them."""

    drafter_changed = Signal()
    """Another drafter is chosen."""
    strategy_changed = Signal(str)
    """The strategy text is different and valid."""
    refused = Signal(str)
    """The settings do not fit together; empty: they do again."""

    def __init__(
        self,
        infos: Sequence[DrafterInfo],
        saved: Sequence[str] = (),
        parent: QObject | None = None,
    ) -> None:
        """Start with saved strategy texts, the chosen one first; unknown ones are `unusable`."""
        super().__init__(parent)
        self._infos = {info.id: info for info in infos}
        self._values = {
            info.id: {parameter.name: parameter.default for parameter in info.parameters}
            for info in infos
        }
        self._current = DEFAULT if DEFAULT in self._infos else next(iter(self._infos))
        self.unusable = ""
        """The saved strategy that was to be chosen and cannot be; empty: there is none."""
        self._load(saved)
        self._strategy = self.text_of(self._current)

    @property
    def infos(self) -> tuple[DrafterInfo, ...]:
        """All drafters that can be chosen."""
        return tuple(self._infos.values())

    @property
    def current(self) -> DrafterInfo:
        """The chosen drafter."""
        return self._infos[self._current]

    @property
    def strategy(self) -> str:
        """The last valid strategy text."""
        return self._strategy

    def info(self, drafter_id: str) -> DrafterInfo | None:
        """The description of a drafter."""
        return self._infos.get(drafter_id)

    def value(self, name: str) -> float:
        """A setting of the chosen drafter."""
        return self._values[self._current][name]

    def choose(self, drafter_id: str) -> None:
        """Choose another drafter."""
        if drafter_id == self._current or drafter_id not in self._infos:
            return
        self._current = drafter_id
        self.drafter_changed.emit()
        self._update()

    def set_value(self, name: str, value: float) -> None:
        """Change a setting of the chosen drafter."""
        if self._values[self._current][name] != value:
            self._values[self._current][name] = value
            self._update()

    def reset(self) -> None:
        """Put the settings of the chosen drafter back to their defaults."""
        for parameter in self.current.parameters:
            self._values[self._current][parameter.name] = parameter.default
        self.drafter_changed.emit()
        self._update()

    def use(self, strategy: str) -> None:
        """Choose what a strategy text names.

        Raises:
            UserError: It names nothing that there is.
        """
        parsed = parse_strategy(strategy)
        self._current = parsed.info.id
        self._values[self._current] = dict(parsed.settings)
        self.drafter_changed.emit()
        self._update()

    def check(self) -> None:
        """Tell once more whether the settings fit together."""
        self._update()

    def text_of(self, drafter_id: str) -> str:
        """The strategy text of a drafter: its id and the settings that are not the default."""
        parts = [drafter_id]
        for parameter in self._infos[drafter_id].parameters:
            value = self._values[drafter_id][parameter.name]
            if value != parameter.default:
                shown = f"{value:.0f}" if parameter.kind == "int" else f"{value:g}"
                parts.append(f"{parameter.name}={shown}")
        return ":".join(parts)

    def saved(self) -> tuple[str, ...]:
        """What `__init__` takes as `saved`."""
        others = (name for name in self._infos if name != self._current)
        changed = [text for text in map(self.text_of, others) if ":" in text]
        return (self._strategy, *changed)

    def _load(self, saved: Sequence[str]) -> None:
        for at, text in enumerate(saved):
            try:
                strategy = parse_strategy(text)
            except UserError:
                strategy = None
            if strategy is not None and strategy.info.id in self._infos:
                self._values[strategy.info.id] = dict(strategy.settings)
                if at == 0:
                    self._current = strategy.info.id
            elif at == 0:
                self.unusable = text

    def _update(self) -> None:
        text = self.text_of(self._current)
        try:
            parse_strategy(text)
        except UserError as error:
            self.refused.emit(str(error))
            return
        self.refused.emit("")
        if text != self._strategy:
            self._strategy = text
            self.strategy_changed.emit(text)
