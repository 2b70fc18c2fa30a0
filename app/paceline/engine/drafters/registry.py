"""All drafters by name, plug-ins included, and the strategy texts that choose among them.

A strategy is ``ID[:key=value]…``, for example ``draft:n_max=4:p_min=0.5``.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import NoReturn

from paceline.engine.drafters import draft_model, off, prompt_lookup
from paceline.engine.drafters.base import Drafter, DrafterInfo, Parameter, Workbench
from paceline.errors import UserError, ValueOutOfRangeError

_log = logging.getLogger(__name__)

PLUGIN_GROUP = "paceline.drafters"
PLUGIN_PREFIX = "plugin."
_BUILT_IN = {info.id: info for info in (off.INFO, draft_model.INFO, prompt_lookup.INFO)}
_PLANNED = {
    "auto", "ngram-simple", "ngram-map-k", "ngram-map-k4v", "ngram-mod", "ngram-cache", "suffix",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Strategy:
    """A parsed strategy: a drafter and a complete set of its settings."""

    info: DrafterInfo
    settings: Mapping[str, float]

    def make(self, bench: Workbench) -> Drafter:
        """Build the drafter.

        Raises:
            UserError: It cannot work here, e.g. without a draft model; says what to do.
        """
        return self.info.make(bench, self.settings)


def available() -> tuple[DrafterInfo, ...]:
    """Return every drafter that can be named, built-in ones first.

    Plug-ins are imported; one that cannot be is left out and named in the log.
    """
    plugins = []
    for entry in entry_points(group=PLUGIN_GROUP):
        try:
            plugins.append(_load_plugin(entry))
        except UserError as error:
            _log.error("%s", error.message)
    return (*_BUILT_IN.values(), *sorted(plugins, key=lambda info: info.id))


def parse_strategy(text: str) -> Strategy:
    """Return the strategy that a text names.

    Raises:
        ValueOutOfRangeError: Unknown drafter or setting, or a value outside its range; the hint
            lists what there is.
    """
    name, *assignments = text.strip().split(":")
    info = _find(name)
    parameters = {parameter.name: parameter for parameter in info.parameters}
    settings = {parameter.name: parameter.default for parameter in info.parameters}
    given: set[str] = set()
    for assignment in assignments:
        key, equals, value = assignment.partition("=")
        parameter = parameters.get(key)
        if parameter is None or not equals:
            known = ", ".join(parameters) or "no settings"
            _refuse(f"“{assignment}” is no setting of {name}.", f"It takes {known} (key=value).")
        if key in given:
            _refuse(f"{key} is given twice.", "Give it once.")
        given.add(key)
        settings[key] = _parse_value(parameter, value)
    if settings.get("n_min", 0) > settings.get("n_max", float("inf")):
        _refuse(
            f"n_min is {settings['n_min']:g}, above n_max {settings['n_max']:g}.",
            "No draft could ever be long enough: lower n_min or raise n_max.",
        )
    return Strategy(info, settings)


def _refuse(message: str, hint: str) -> NoReturn:
    raise ValueOutOfRangeError("bad-strategy", message, hint)


def _find(name: str) -> DrafterInfo:
    if name in _BUILT_IN:
        return _BUILT_IN[name]
    if name.startswith(PLUGIN_PREFIX):
        for entry in entry_points(group=PLUGIN_GROUP, name=name.removeprefix(PLUGIN_PREFIX)):
            return _load_plugin(entry)
        _refuse(
            f"No plug-in called “{name}” is installed.", "Install it, or choose another strategy."
        )
    if name in _PLANNED or ("+" in name and all(_is_name(part) for part in name.split("+"))):
        _refuse(
            f"The strategy “{name}” is not built yet.", f"Choose one of {', '.join(_BUILT_IN)}."
        )
    _refuse(f"There is no strategy “{name}”.", f"Choose one of {', '.join(_BUILT_IN)}.")


def _is_name(part: str) -> bool:
    return part in _BUILT_IN or part in _PLANNED


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


def _load_plugin(entry: EntryPoint) -> DrafterInfo:
    """Import a plug-in: a `Drafter` class, made like a built-in one.

    It may have the class attributes ``title`` (str) and ``parameters`` (tuple of `Parameter`).

    Raises:
        UserError: It cannot be imported.
    """
    name = PLUGIN_PREFIX + entry.name
    try:
        cls = entry.load()
    except Exception as error:
        raise UserError(
            "broken-plugin",
            f"The drafter plug-in {entry.name} cannot be imported: {error}.",
            "Update or uninstall it.",
        ) from error
    parameters = tuple(getattr(cls, "parameters", ()))
    lines = (cls.__doc__ or "").strip().splitlines()
    summary = lines[0] if lines else "A drafter from a plug-in."
    return DrafterInfo(name, getattr(cls, "title", entry.name), summary, "lookup", parameters, cls)
