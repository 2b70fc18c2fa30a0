"""All drafters by name, including plug-ins.

One of them is Auto, which is not a drafter but a portfolio of the others: lookups are asked and
scored whether or not their proposals are verified, and a draft model is asked if it is expected to
gain more than it costs (`auto_chain`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points
from typing import NoReturn

from paceline.engine.draft import draft_model
from paceline.engine.draft.base import Drafter, DrafterInfo, Parameter, Settings, Workbench
from paceline.engine.draft.heads import HEAD_KINDS
from paceline.engine.draft.lookups import (
    earlier_reply,
    ngram_cache,
    ngram_map,
    ngram_mod,
    ngram_simple,
    prompt_lookup,
    suffix,
)
from paceline.errors import UserError, ValueOutOfRangeError
from paceline.sentence import sentence

MAX_DRAFT_TOKENS = 32
"""Default of the maximum number of tokens per draft."""

_OPEN: dict[str, dict[str, float]] = {
    "earlier": {"p_min": 0.2},
    "suffix": {"min_match": 1, "p_min": 0.2},
    "ngram-cache": {},
}
_OPEN_MODEL: dict[str, float] = {"n_min": 0, "p_min": 0}
_LENGTHS = {"earlier": "max", "suffix": "max"}


def portfolio(
    settings: Settings, *, model: str, has_earlier: bool = False, has_cache: bool = False
) -> list[tuple[DrafterInfo, Settings]]:
    """Return Auto's drafters with their settings: lookups, and the draft model if there is one.

    The settings leave lengths open: short proposals are made on any evidence, and long ones end
    only at the user's limit. The controller decides how much of a proposal is verified
    (`auto_chain`).

    Args:
        settings: Auto's settings.
        model: Id of the drafter that uses the loaded draft model or head; empty if there is none.
        has_earlier: Whether the reply replaces another one; then `earlier` is asked first.
        has_cache: Whether the user chose a lookup cache, which only `ngram-cache` reads.
    """
    lookups = [suffix.INFO]
    if has_earlier:
        lookups.insert(0, earlier_reply.INFO)
    if has_cache:
        lookups.append(ngram_cache.INFO)
    infos = [*lookups, *([find(model)] if model else [])]
    return [
        (
            info,
            {
                **_OPEN.get(info.id, _OPEN_MODEL),
                _LENGTHS.get(info.id, "n_max"): settings["n_max"],
            },
        )
        for info in infos
    ]


def _make(bench: Workbench, settings: Settings) -> NoReturn:
    """Refuse to make a drafter: Auto's drafters are made one by one, and “off” has none.

    Raises:
        UserError: Always.
    """
    del bench, settings
    raise UserError("bad-strategy", "This strategy is no drafter of its own.", "Use it by itself.")


AUTO_INFO = DrafterInfo(
    id="auto",
    title="Auto",
    summary="Drafts with whatever pays in each step, by what was measured, and decodes plainly "
    "where nothing does.",
    family="auto",
    parameters=(
        Parameter(
            "n_max", "int", MAX_DRAFT_TOKENS, 1, 62, "Tokens ahead",
            "Tokens drafted per step at most; how many pay is decided anew in every step.",
        ),
    ),
    make=_make,
)  # fmt: skip


OFF_INFO = DrafterInfo(
    id="off",
    title="Off",
    summary="Plain decoding, one token per step: the yardstick for everything else.",
    family="off",
    parameters=(),
    make=_make,
)


_log = logging.getLogger(__name__)

PLUGIN_GROUP = "paceline.drafters"
PLUGIN_PREFIX = "plugin."
_BUILT_IN: dict[str, DrafterInfo] = {
    info.id: info
    for info in (
        OFF_INFO,
        AUTO_INFO,
        draft_model.INFO,
        *(kind.info() for kind in HEAD_KINDS if kind.info is not None),
        prompt_lookup.INFO,
        ngram_simple.INFO,
        ngram_map.INFO_K,
        ngram_map.INFO_K4V,
        ngram_mod.INFO,
        ngram_cache.INFO,
        suffix.INFO,
        earlier_reply.INFO,
    )
}


def built_in() -> tuple[DrafterInfo, ...]:
    """Return every drafter that comes with the program."""
    return tuple(_BUILT_IN.values())


def available() -> tuple[DrafterInfo, ...]:
    """Return every drafter that can be named, built-in ones first.

    Plug-ins are imported; one that fails to import is left out and logged.
    """
    plugins = []
    for entry in entry_points(group=PLUGIN_GROUP):
        try:
            plugins.append(_load_plugin(entry))
        except UserError as error:
            _log.error("%s", error.message)
    return (*built_in(), *sorted(plugins, key=lambda info: info.id))


def find(name: str) -> DrafterInfo:
    """Return the drafter of this name.

    Raises:
        ValueOutOfRangeError: There is none; the hint lists all names.
        UserError: It is a plug-in that cannot be imported.
    """
    if name in _BUILT_IN:
        return _BUILT_IN[name]
    if name.startswith(PLUGIN_PREFIX):
        for entry in entry_points(group=PLUGIN_GROUP, name=name.removeprefix(PLUGIN_PREFIX)):
            return _load_plugin(entry)
        raise ValueOutOfRangeError(
            "bad-strategy",
            "No plug-in called “{name}” is installed.",
            "Install it, or choose another strategy.",
            name=name,
        )
    raise ValueOutOfRangeError(
        "bad-strategy",
        "There is no strategy “{name}”.",
        "Choose one of {known}.",
        name=name,
        known=", ".join([*_BUILT_IN, *_plugin_names()]),
    )


def describe(
    name: str, make: Callable[[Workbench, Settings], Drafter] | DrafterInfo
) -> DrafterInfo:
    """Describe a drafter by the attributes of its class.

    Args:
        name: Its id.
        make: The class, or another factory of a drafter. Its attributes ``title`` (str) and
            ``parameters`` (tuple of `Parameter`) are used if present, and the first line of its
            docstring as a summary. A `DrafterInfo` provides everything itself.

    Raises:
        TypeError: It cannot be called, or an attribute has a wrong type.
    """
    if isinstance(make, DrafterInfo):
        return replace(make, id=name)
    if not callable(make):
        raise TypeError(f"a {type(make).__name__} makes no drafters")
    parameters = tuple(getattr(make, "parameters", ()))
    if not all(isinstance(parameter, Parameter) for parameter in parameters):
        raise TypeError("its parameters are no tuple of Parameter")
    lines = (make.__doc__ or "").strip().splitlines()
    summary = lines[0] if lines else sentence("A drafter from a plug-in.")
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
            "The drafter plug-in {name} cannot be imported: {error}.",
            "Update or uninstall it.",
            name=entry.name,
            error=error,
        ) from error
