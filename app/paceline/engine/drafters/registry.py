"""All drafters by name, plug-ins included."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points

from paceline.engine.drafters import (
    auto,
    draft_model,
    ngram_cache,
    ngram_map_k,
    ngram_map_k4v,
    ngram_mod,
    ngram_simple,
    off,
    prompt_lookup,
    suffix,
)
from paceline.engine.drafters.base import Drafter, DrafterInfo, Parameter, Settings, Workbench
from paceline.errors import UserError, ValueOutOfRangeError

_log = logging.getLogger(__name__)

PLUGIN_GROUP = "paceline.drafters"
PLUGIN_PREFIX = "plugin."
_BUILT_IN: dict[str, DrafterInfo] = {
    module.INFO.id: module.INFO
    for module in (
        off,
        auto,
        draft_model,
        prompt_lookup,
        ngram_simple,
        ngram_map_k,
        ngram_map_k4v,
        ngram_mod,
        ngram_cache,
        suffix,
    )
}


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


def find(name: str) -> DrafterInfo:
    """Return the drafter of this name.

    Raises:
        ValueOutOfRangeError: There is none; the hint lists those that there are.
        UserError: It is a plug-in that cannot be imported.
    """
    if name in _BUILT_IN:
        return _BUILT_IN[name]
    if name.startswith(PLUGIN_PREFIX):
        for entry in entry_points(group=PLUGIN_GROUP, name=name.removeprefix(PLUGIN_PREFIX)):
            return _load_plugin(entry)
        raise ValueOutOfRangeError(
            "bad-strategy",
            f"No plug-in called “{name}” is installed.",
            "Install it, or choose another strategy.",
        )
    raise ValueOutOfRangeError(
        "bad-strategy",
        f"There is no strategy “{name}”.",
        f"Choose one of {', '.join([*_BUILT_IN, *_plugin_names()])}.",
    )


def describe(
    name: str, make: Callable[[Workbench, Settings], Drafter] | DrafterInfo
) -> DrafterInfo:
    """Describe a drafter by what its class says of itself.

    Args:
        name: Its id from now on.
        make: The class, or anything else that makes a drafter. Taken from its attributes, where
            it has them: ``title`` (str) and ``parameters`` (tuple of `Parameter`), and the first
            line of the docstring as a summary. A `DrafterInfo` says everything by itself.

    Raises:
        TypeError: It cannot be called, or an attribute is of a wrong type.
    """
    if isinstance(make, DrafterInfo):
        return replace(make, id=name)
    if not callable(make):
        raise TypeError(f"a {type(make).__name__} makes no drafters")
    parameters = tuple(getattr(make, "parameters", ()))
    if not all(isinstance(parameter, Parameter) for parameter in parameters):
        raise TypeError("its parameters are no tuple of Parameter")
    lines = (make.__doc__ or "").strip().splitlines()
    summary = lines[0] if lines else "A drafter from a plug-in."
    title = str(getattr(make, "title", name.removeprefix(PLUGIN_PREFIX)))
    return DrafterInfo(name, title, summary, "lookup", parameters, make)


def _plugin_names() -> list[str]:
    return sorted({PLUGIN_PREFIX + entry.name for entry in entry_points(group=PLUGIN_GROUP)})


def _load_plugin(entry: EntryPoint) -> DrafterInfo:
    """Import a plug-in: a `Drafter` class, made like a built-in one; see `describe`.

    Raises:
        UserError: It cannot be imported.
    """
    try:
        return describe(PLUGIN_PREFIX + entry.name, entry.load())
    except Exception as error:
        raise UserError(
            "broken-plugin",
            f"The drafter plug-in {entry.name} cannot be imported: {error}.",
            "Update or uninstall it.",
        ) from error
