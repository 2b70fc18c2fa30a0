"""The chosen strategy with its settings; everything that the panel shows comes from here.

It is built from the drafters' own descriptions, so a new drafter or a plug-in needs no code here. A
strategy is one drafter or a chain of them. Every drafter has one set of settings, which it keeps in
every chain, also while it is not chosen.

The window offers strategies in groups: auto, draft model, lookups, chains, and off. Chains are
ordered by usefulness: until the user chooses another one, the group stands for the first chain
whose members exist.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QObject, Signal

from paceline.engine.draft.base import AUTO, DrafterInfo
from paceline.engine.draft.heads import head_title, usable_heads
from paceline.engine.draft.strategy import (
    CompleteStrategy,
    complete,
    drafters_named,
    needs_of,
    strategy_text,
)
from paceline.errors import UserError
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import translator
from paceline.params import DRAFT, Strategy

Group = Literal["auto", "draft", "lookup", "mixed", "off"]
GROUPS: tuple[Group, ...] = ("auto", "draft", "lookup", "mixed", "off")
HEADS = tuple(kind.id for kind in usable_heads())
USUAL_CHAINS = (
    "suffix+draft",
    "ngram-mod+draft",
    "prompt-lookup+draft",
    "suffix+ngram-mod+draft",
    "ngram-cache+draft",
    "suffix+ngram-mod",
    *(f"{lookup}+{head}" for head in HEADS for lookup in ("suffix", "ngram-mod", "prompt-lookup")),
)
USUAL_LOOKUP = "suffix"
"""Initial choice in the group of lookups: it finds the longest match of them all."""
_ARROW = " → "


@dataclass(frozen=True, slots=True)
class StrategyChoice:
    """One strategy of a menu, without its settings: ``ID[+ID…]``."""

    name: str
    title: str
    summary: str
    group: Group


def in_order(infos: Sequence[DrafterInfo]) -> list[DrafterInfo]:
    """Return the drafters of a chain in call order: lookups as given, the model last."""
    return sorted(infos, key=lambda info: info.family == "model")


def name_of(infos: Sequence[DrafterInfo]) -> str:
    """Return the name of a strategy: its text without settings."""
    return strategy_text(Strategy(tuple((info.id, ()) for info in in_order(infos))))


def group_of(infos: Sequence[DrafterInfo]) -> Group:
    """Return the group of a strategy."""
    if len(infos) > 1:
        return "mixed"
    groups: dict[str, Group] = {"off": "off", "auto": "auto", "model": "draft", "lookup": "lookup"}
    return groups[infos[0].family]


def choice_of(infos: Sequence[DrafterInfo]) -> StrategyChoice:
    """Return a menu's entry for a strategy."""
    infos = in_order(infos)
    return StrategyChoice(
        name=name_of(infos),
        title=_ARROW.join(info.title for info in infos),
        summary=infos[0].summary if len(infos) == 1 else _chain_summary(infos),
        group=group_of(infos),
    )


def _chain_summary(infos: Sequence[DrafterInfo]) -> str:
    n_lookups = sum(info.family == "lookup" for info in infos)
    if n_lookups == len(infos):
        return _tr("The first of them that finds something writes ahead.")
    return _tr(
        "Looks up first; where that finds nothing the draft model writes ahead, and the "
        "lookup goes on after it."
        if n_lookups == 1
        else "Looks up in this order; where nothing is found the draft model writes ahead, and a "
        "lookup goes on after it."
    )


_tr = translator("Choices")


YIELDING = ("n_min", "p_min")
"""Settings that end drafts early; an automatic length overrides them."""
DEFAULT = "auto"
"""Strategy that is chosen when nothing usable was saved."""


class SpeculationModel(QObject):
    """The chosen strategy and the settings of all drafters.

    Attributes:
        strategy: The last valid strategy.
        problem: Why the settings do not fit together, in words, or empty if they do.
        unusable: The saved choice, if it cannot be used; otherwise None.
    """

    drafter_changed = Signal()
    """A strategy is chosen, perhaps the same one again, or all settings of it are new."""
    strategy_changed = Signal()
    """The strategy is different and valid."""
    refused = Signal(str)
    """The settings do not fit together (the reason), or fit again (empty)."""
    choices_changed = Signal()
    """The offered strategies have changed, or whether they can be used now."""

    def __init__(
        self,
        infos: Sequence[DrafterInfo],
        saved: Sequence[Strategy] = (),
        parent: QObject | None = None,
    ) -> None:
        """Start with saved strategies, the chosen one first; an unknown one becomes `unusable`."""
        super().__init__(parent)
        self._infos = {info.id: info for info in infos}
        self._values: dict[str, dict[str, float]] = {
            info.id: {parameter.name: parameter.default for parameter in info.parameters}
            for info in infos
        }
        self._usual_chains = [
            name for name in USUAL_CHAINS if self._infos.keys() >= set(drafters_named(name))
        ]
        self._own_chains: list[str] = []
        self._last: dict[Group, str] = {}
        self._loaded: str | None = None
        self._current = DEFAULT if DEFAULT in self._infos else next(iter(self._infos))
        self.unusable: Strategy | None = None
        self.problem = ""
        self._load(saved)
        self._last[self.group] = self._current
        self.strategy = self.value_of(self._current)

    @property
    def infos(self) -> tuple[DrafterInfo, ...]:
        """All existing drafters."""
        return tuple(self._infos.values())

    @property
    def current(self) -> StrategyChoice:
        """The chosen strategy."""
        return choice_of(self.members)

    @property
    def members(self) -> tuple[DrafterInfo, ...]:
        """Drafters of the chosen strategy in call order."""
        return self._members(self._current)

    @property
    def group(self) -> Group:
        """The group of the chosen strategy."""
        return group_of(self.members)

    @property
    def text(self) -> str:
        """The last valid strategy, as text."""
        return strategy_text(self.strategy, self._infos.__getitem__)

    def choices(self, group: Group) -> tuple[StrategyChoice, ...]:
        """Return all strategies of a group."""
        if group == "mixed":
            usable = ("", self.model if self.model in HEADS else DRAFT)
            names = [name for name in self._usual_chains if self.needs(name) in usable]
            names += [name for name in self._own_chains if self.is_offered(name)]
        else:
            names = [info.id for info in self.infos if group_of([info]) == group]
            names = [name for name in names if self.is_offered(name)]
        return tuple(choice_of(self._members(name)) for name in names)

    def usual(self, group: Group) -> str:
        """Return the strategy that a group stands for: its last choice or its best one, or ""."""
        names = [choice.name for choice in self.choices(group)]
        for name in (self._last.get(group, ""), USUAL_LOOKUP, *names):
            if name in names:
                return name
        return ""

    def needs(self, name: str) -> str:
        """Return the kind of drafter that a strategy needs beside the target, as `needs_of`."""
        return needs_of(self._members(name))

    def is_offered(self, name: str) -> bool:
        """Return whether menus offer a strategy: with a head only where such a head is loaded."""
        needed = self.needs(name)
        return needed not in HEADS or needed == self._loaded or name == self._current

    def obstacle(self, name: str) -> str:
        """Return why a strategy cannot be used now, in words, or empty if it can."""
        if self._loaded is None or self.needs(name) in ("", self._loaded):
            return ""
        if self.needs(name) == DRAFT:
            return self.tr("No draft model is loaded.")
        return self.tr("No {} is loaded.").format(said(head_title(self.needs(name))))

    @property
    def is_controlled(self) -> bool:
        """Return whether Auto decides: as the chosen strategy, or about the length of drafts."""
        return self.group == "auto" or any(self._is_automatic(info.id) for info in self.members)

    @property
    def model(self) -> str:
        """Loaded drafter beside the target; a draft model while that is not known."""
        return DRAFT if self._loaded is None else self._loaded

    def knows(self, strategy: Strategy) -> bool:
        """Return whether all drafters of a strategy exist."""
        return all(name in self._infos for name, _ in strategy.drafters)

    def choice_for(self, strategy: Strategy) -> StrategyChoice:
        """Return the entry of a menu for a strategy that `knows` accepts."""
        return choice_of([self._infos[name] for name, _ in strategy.drafters])

    def in_words(self, strategy: Strategy) -> str:
        """Describe a strategy of existing drafters, with its differences from the chosen one."""
        infos = [self._infos[name] for name, _ in strategy.drafters]
        title, chosen = choice_of(infos).title, dict(self.strategy.drafters)
        changes = [
            f"{parameter.title} {value:g}"
            for info, (_, given) in zip(infos, strategy.drafters, strict=True)
            for name, value in given
            for parameter in info.parameters
            if parameter.name == name and (name, value) not in chosen.get(info.id, ())
        ]
        if not changes:
            return _tr("“{}”").format(title)
        return _tr("“{}” with {}").format(title, ", ".join(changes))

    def set_drafter(self, loaded: str | None) -> None:
        """Set the drafter that is loaded beside the target, or None if that is not known."""
        if loaded != self._loaded:
            self._loaded = loaded
            self.choices_changed.emit()

    def value(self, drafter_id: str, name: str) -> float:
        """Return a setting of a drafter."""
        return self._values[drafter_id][name]

    def choose(self, name: str) -> None:
        """Choose a drafter or a chain by its name; an unknown one is ignored."""
        if not all(part in self._infos for part in drafters_named(name)):
            return
        self._current = name = name_of(self._members(name))
        self._learn_chain(name)
        self._last[self.group] = name
        self.drafter_changed.emit()
        self._check()

    def set_value(self, drafter_id: str, name: str, value: float) -> None:
        """Change a setting of a drafter."""
        if self._values[drafter_id][name] == value:
            return
        before = self._defaults(drafter_id)
        values = self._values[drafter_id]
        values[name] = value
        after = self._defaults(drafter_id)
        for other in after:  # settings that still have their default follow the length
            if other != name and values[other] == before[other]:
                values[other] = after[other]
        self._check()

    def is_idle(self, drafter_id: str, name: str) -> bool:
        """Return whether a setting has no effect, because the length of drafts is automatic."""
        is_yielding = name in YIELDING and self._is_automatic(drafter_id)
        return is_yielding and self._values[drafter_id][name] == self._defaults(drafter_id)[name]

    def reset(self) -> None:
        """Reset the settings of the chosen drafters to their defaults."""
        for info in self.members:
            for parameter in info.parameters:
                self._values[info.id][parameter.name] = parameter.default
        self.drafter_changed.emit()
        self._check()

    def use(self, strategy: Strategy) -> None:
        """Choose a strategy with its settings.

        Raises:
            UserError: A drafter or a setting does not exist.
        """
        whole = complete(strategy)
        for info in whole.infos:
            if info.id not in self._infos:
                raise UserError(
                    "unknown-drafter",
                    "There is no drafter “{name}” here.",
                    "Choose another.",
                    name=info.id,
                )
        self._take(whole)
        self._last[self.group] = self._current
        self.drafter_changed.emit()
        self._check()

    def _check(self) -> None:
        """Emit whether the settings fit together, and the strategy if it has changed."""
        strategy = self.value_of(self._current)
        try:
            complete(strategy, self._infos.__getitem__)
        except UserError as error:
            self._refuse(said(str(error)))
            return
        self._refuse("")
        if strategy != self.strategy:
            self.strategy = strategy
            self.strategy_changed.emit()

    def _refuse(self, problem: str) -> None:
        self.problem = problem
        self.refused.emit(problem)

    def saved(self) -> tuple[Strategy, ...]:
        """Return what `__init__` takes as `saved`."""
        in_use = {info.id for info in self.members}
        others = [self.value_of(name) for name in self._infos if name not in in_use]
        changed = [other for other in others if other.drafters[0][1]]
        chains = [
            Strategy(tuple((info.id, ()) for info in self._members(name)))
            for name in self._own_chains
            if name != self._current
        ]
        return (self.strategy, *changed, *chains)

    # ------------------------------------------------------------------------------ within

    def _members(self, name: str) -> tuple[DrafterInfo, ...]:
        return tuple(in_order([self._infos[part] for part in drafters_named(name)]))

    def value_of(self, name: str) -> Strategy:
        """Return a strategy with those of its settings that are not the default."""
        return Strategy(tuple((info.id, self._changed(info)) for info in self._members(name)))

    def _changed(self, info: DrafterInfo) -> tuple[tuple[str, float], ...]:
        values, defaults = self._values[info.id], self._defaults(info.id)
        return tuple((name, values[name]) for name in defaults if values[name] != defaults[name])

    def _is_automatic(self, drafter_id: str) -> bool:
        """Return whether Auto decides the length of a drafter's drafts."""
        values = self._values[drafter_id]
        return any(
            parameter.can_be_auto and values[parameter.name] == AUTO
            for parameter in self._infos[drafter_id].parameters
        )

    def _defaults(self, drafter_id: str) -> dict[str, float]:
        """Return the values of settings that a strategy leaves out; see `engine.draft.strategy`."""
        yields = YIELDING if self._is_automatic(drafter_id) else ()
        return {
            parameter.name: parameter.low if parameter.name in yields else parameter.default
            for parameter in self._infos[drafter_id].parameters
        }

    def _load(self, saved: Sequence[Strategy]) -> None:
        strategies = [self._completed(strategy) for strategy in saved]
        # From the last to the first: where two texts differ about a drafter, the chosen one counts.
        for strategy in reversed(strategies[1:]):
            if strategy is not None:
                for info, settings in strategy.drafters:
                    for parameter in info.parameters:
                        if settings[parameter.name] != parameter.default:
                            self._values[info.id][parameter.name] = settings[parameter.name]
                self._learn_chain(name_of(strategy.infos), first=True)
        if strategies and strategies[0] is not None:
            self._take(strategies[0])
        elif strategies:
            self.unusable = saved[0]

    def _completed(self, strategy: Strategy) -> CompleteStrategy | None:
        try:
            return complete(strategy) if self.knows(strategy) else None
        except UserError:
            return None

    def _take(self, strategy: CompleteStrategy) -> None:
        self._current = name_of(strategy.infos)
        for info, settings in strategy.drafters:
            self._values[info.id] = dict(settings)
        self._learn_chain(self._current)

    def _learn_chain(self, name: str, *, first: bool = False) -> None:
        if len(drafters_named(name)) > 1 and name not in (*self._usual_chains, *self._own_chains):
            self._own_chains.insert(0 if first else len(self._own_chains), name)
            self.choices_changed.emit()
