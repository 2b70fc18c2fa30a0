"""Strategy texts: ``ID[+ID…][:key=value]…``, for example ``suffix+draft:draft.n_max=4``.

A strategy names one drafter or a chain of them: any number of lookups and at most one draft model.
In whatever order they are written, lookups are asked first, in their own order, and the model
comes last. A setting is written ``key=value``, or ``ID.key=value`` where several drafters of the
chain have one of that name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from paceline.engine.drafters import forced
from paceline.engine.drafters.base import DrafterInfo, Parameter, Settings
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

    def members(self, *, has_grammar: bool) -> list[Member]:
        """Return the drafters; under a grammar what it forces is drafted first, for free."""
        members = list(self.drafters)
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


def _complete(info: DrafterInfo, given: dict[str, float]) -> Settings:
    """Add the defaults. A default n_min yields to a smaller n_max that was asked for."""
    settings = {parameter.name: parameter.default for parameter in info.parameters} | given
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
    kind = "a whole number" if p.kind == "int" else "a number"
    try:
        value = int(text) if p.kind == "int" else float(text)
    except ValueError:
        _refuse(f"{p.name}={text} is not {kind}.", f"Give one from {p.low:g} to {p.high:g}.")
    if not p.low <= value <= p.high:
        _refuse(
            f"{p.name} is {text}, but it must be {kind} from {p.low:g} to {p.high:g}.",
            f"The default is {p.default:g}.",
        )
    return value


def _refuse(message: str, hint: str) -> NoReturn:
    raise ValueOutOfRangeError("bad-strategy", message, hint)
