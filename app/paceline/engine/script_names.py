"""Names for drafters that exist in no registry: those that a script brings along."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from paceline.engine.drafters import registry
from paceline.engine.drafters.base import Drafter, DrafterInfo, Settings, Workbench
from paceline.engine.drafters.strategy import Strategy, parse_strategy

MakeDrafter = Callable[[Workbench, Settings], Drafter]
"""A drafter's class, or any function that makes one."""
StrategyLike = str | MakeDrafter | DrafterInfo
"""A strategy text, or a drafter to be used by itself with its default settings."""


class Names:
    """Drafters by name: those of the registry, and those that a script brings along."""

    def __init__(self, own: Mapping[str, MakeDrafter | DrafterInfo]) -> None:
        self._own = {name: registry.describe(name, make) for name, make in own.items()}
        self._single: dict[str, DrafterInfo] = {}

    def name(self, strategy: StrategyLike) -> str:
        """Return a strategy text for anything that `generate` takes as a strategy."""
        if isinstance(strategy, str):
            return strategy
        name = strategy.id if isinstance(strategy, DrafterInfo) else _name_of(strategy)
        self._single[name] = registry.describe(name, strategy)
        return name

    def parse(self, text: str) -> Strategy:
        """Return the strategy of a text.

        Raises:
            ValueOutOfRangeError: There is no such drafter or setting.
        """
        single = self._single.get(text)
        if single is not None:  # whatever its name looks like
            settings = {p.name: p.default for p in single.parameters}
            return Strategy(((single, settings),))
        return parse_strategy(text, self._find)

    def _find(self, name: str) -> DrafterInfo:
        return self._own.get(name) or registry.find(name)


def _name_of(make: MakeDrafter) -> str:
    name = getattr(make, "name", None) or getattr(make, "__name__", None)
    return name if isinstance(name, str) else type(make).__name__
