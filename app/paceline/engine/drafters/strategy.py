"""Strategy texts: ``ID[+ID…][:key=value]…``, for example ``suffix+draft:draft.n_max=4``.

A strategy names one drafter or a chain of them: any number of lookups and at most one draft model.
In whatever order they are written, lookups are asked first, in their own order, and the model
comes last. A setting is written ``key=value``, or ``ID.key=value`` where several drafters of the
chain have one of that name. ``auto`` stands alone: it is a portfolio of the others. A length may
be ``auto`` as well, as in ``draft:n_max=auto``: then the same controller decides about the lengths
of all drafters of the chain, and their own lengths are its limits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from paceline.engine.drafters import auto, forced
from paceline.engine.drafters.base import AUTO, DrafterInfo, Parameter, Settings
from paceline.engine.drafters.registry import find
from paceline.errors import ValueOutOfRangeError

Member = tuple[DrafterInfo, Settings]


@dataclass(frozen=True, slots=True)
class Strategy:
    """A parsed strategy: drafters in the order in which they are asked, with all their settings."""

    drafters: tuple[Member, ...]

    @property
    def infos(self) -> tuple[DrafterInfo, ...]:
        """What the drafters are."""
        return tuple(info for info, _ in self.drafters)

    @property
    def speculates(self) -> bool:
        """Whether anything is drafted at all."""
        return any(info.family != "off" for info in self.infos)

    @property
    def needs_draft_model(self) -> bool:
        """Whether one of the drafters is a second model."""
        return any(info.family == "model" for info in self.infos)

    @property
    def uses_draft_model(self) -> bool:
        """Whether a second model drafts if there is one."""
        return any(info.family in ("model", "auto") for info in self.infos)

    @property
    def is_auto(self) -> bool:
        """Whether this is the portfolio, which works with whatever there is."""
        return any(info.family == "auto" for info in self.infos)

    @property
    def is_controlled(self) -> bool:
        """Whether a controller decides how many tokens are drafted."""
        return self.is_auto or any(_automatic(info, have) for info, have in self.drafters)

    @property
    def n_most(self) -> int:
        """Tokens per draft at most, where a controller decides."""
        lengths = [have["n_max"] for info, have in self.drafters if info.family == "auto"]
        return int(lengths[0]) if lengths else auto.LONGEST

    def members(self, *, has_grammar: bool, has_draft_model: bool = True) -> list[Member]:
        """Return the drafters themselves, in the order in which they are asked.

        Args:
            has_grammar: Under a grammar what it forces is drafted first, for free.
            has_draft_model: Whether Auto has one that it can use.
        """
        members: list[Member] = []
        for info, settings in self.drafters:
            if info.family == "auto":
                members += auto.portfolio(settings, has_draft_model=has_draft_model)
            else:
                lengths = {p.name: min(p.high, auto.LONGEST) for p in _automatic(info, settings)}
                members.append((info, {**settings, **lengths}))
        if has_grammar and self.speculates:
            members.insert(0, (forced.INFO, {}))
        return members


def parse_strategy(text: str, find: Callable[[str], DrafterInfo] = find) -> Strategy:
    """Return the strategy that a text names.

    Args:
        text: See the module's docstring.
        find: Where drafters are looked up by name.

    Raises:
        ValueOutOfRangeError: Unknown drafter or setting, or a value outside its range; the hint
            lists what there is.
    """
    names, *assignments = text.strip().split(":")
    if names.strip("+") and not all(names.split("+")):
        _refuse(f"A drafter is missing in “{names}”.", "Name one on either side of every “+”.")
    infos = _order([find(name) for name in names.split("+")])
    given: dict[str, dict[str, float]] = {info.id: {} for info in infos}
    for assignment in assignments:
        key, equals, value = assignment.partition("=")
        info, parameter = _setting(infos, assignment, key)
        if not equals:
            _refuse(f"“{key}” has no value.", f"Write {key}={parameter.default:g}, for example.")
        if parameter.name in given[info.id]:
            _refuse(f"{key} is given twice.", "Give it once.")
        given[info.id][parameter.name] = _parse_value(parameter, value)
    return Strategy(tuple((info, _complete(info, given[info.id])) for info in infos))


def _order(infos: Sequence[DrafterInfo]) -> list[DrafterInfo]:
    """Put lookups first; refuse chains that make no sense."""
    if len(infos) > 1:
        names = [info.id for info in infos]
        for info in infos:
            if info.family == "off":
                _refuse(f"“{info.id}” cannot be part of a chain.", "Leave it out.")
            if info.family == "auto":
                _refuse(
                    "“auto” cannot be part of a chain.",
                    "It stands alone, and uses every drafter that pays.",
                )
            if names.count(info.id) > 1:
                _refuse(f"“{info.id}” is named twice.", "Name it once.")
        models = [info.id for info in infos if info.family == "model"]
        if len(models) > 1:
            _refuse(f"{' and '.join(models)} are both draft models.", "Keep one of them.")
    return sorted(infos, key=lambda info: info.family == "model")


def _setting(
    infos: Sequence[DrafterInfo], assignment: str, key: str
) -> tuple[DrafterInfo, Parameter]:
    """Return the drafter and the parameter that a key means."""
    owner, _, name = key.rpartition(".")
    found = [
        (info, parameter)
        for info in infos
        for parameter in info.parameters
        if parameter.name == name and owner in ("", info.id)
    ]
    if len(found) > 1:
        options = " or ".join(f"{info.id}.{name}" for info, _ in found)
        _refuse(f"“{assignment}” could mean several settings.", f"Write {options}.")
    if not found:
        prefix = len(infos) > 1
        known = ", ".join(
            f"{info.id}.{parameter.name}" if prefix else parameter.name
            for info in infos
            for parameter in info.parameters
        )
        whose = "+".join(info.id for info in infos)
        _refuse(
            f"“{assignment}” is no setting of {whose}.",
            f"It takes {known or 'no settings'} (key=value).",
        )
    return found[0]


def _automatic(info: DrafterInfo, settings: Settings) -> list[Parameter]:
    """Return the lengths that are left to the controller."""
    return [p for p in info.parameters if p.can_be_auto and settings.get(p.name) == AUTO]


def _complete(info: DrafterInfo, given: dict[str, float]) -> Settings:
    """Add the defaults. A default n_min yields to a smaller n_max that was asked for.

    With an automatic length, the defaults that would end a draft early yield to the controller.
    """
    settings = {parameter.name: parameter.default for parameter in info.parameters} | given
    if _automatic(info, given):
        low = {p.name: p.low for p in info.parameters if p.name in ("n_min", "p_min")}
        return settings | low | given
    if "n_min" in settings and "n_max" in settings and settings["n_min"] > settings["n_max"]:
        if "n_min" in given:
            _refuse(
                f"n_min is {settings['n_min']:g}, above n_max {settings['n_max']:g}.",
                "No draft could ever be long enough: lower n_min or raise n_max.",
            )
        settings["n_min"] = settings["n_max"]
    return settings


def _parse_value(parameter: Parameter, text: str) -> float:
    p = parameter
    if p.can_be_auto and text == "auto":
        return AUTO
    kind = "a whole number" if p.kind == "int" else "a number"
    or_auto = ", or auto" if p.can_be_auto else ""
    try:
        value = int(text) if p.kind == "int" else float(text)
    except ValueError:
        _refuse(
            f"{p.name}={text} is not {kind}.", f"Give one from {p.low:g} to {p.high:g}{or_auto}."
        )
    if not p.low <= value <= p.high:
        _refuse(
            f"{p.name} is {text}, but it must be {kind} from {p.low:g} to {p.high:g}{or_auto}.",
            f"The default is {p.default:g}.",
        )
    return value


def _refuse(message: str, hint: str) -> NoReturn:
    raise ValueOutOfRangeError("bad-strategy", message, hint)
