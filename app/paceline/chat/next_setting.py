"""Strategy texts with something changed: what advice names as the next thing to try.

A text is changed and not written anew, so that a user finds the own settings again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paceline.engine.drafters.base import DrafterInfo, Parameter
from paceline.engine.drafters.registry import find
from paceline.engine.drafters.strategy import parse_strategy
from paceline.errors import UserError


def with_settings(strategy: str, info: DrafterInfo, changes: Mapping[str, float]) -> str:
    """Return the strategy with other settings of one of its drafters.

    Args:
        strategy: A text that can be parsed.
        info: The drafter.
        changes: Values by the parameter's name; each is brought into its range.
    """
    names, *assignments = strategy.strip().split(":")
    prefix = f"{info.id}." if "+" in names else ""
    parameters = {parameter.name: parameter for parameter in info.parameters}
    kept = [a for a in assignments if not _is_about(a, info.id, changes)]
    new = [f"{prefix}{name}={_text(parameters[name], value)}" for name, value in changes.items()]
    changed = ":".join([names, *kept, *new])
    if _can_be_parsed(changed) or "n_max" not in changes or "n_min" not in parameters:
        return changed
    # The user's own shortest draft is longer than the longest one now.
    return with_settings(strategy, info, {**changes, "n_min": changes["n_max"]})


def without(strategy: str, info: DrafterInfo) -> str:
    """Return a chain without one of its drafters; empty if nothing would be left."""
    names, *assignments = strategy.strip().split(":")
    left = [name for name in names.split("+") if name != info.id]
    if not left:
        return ""
    own = {parameter.name: 0.0 for parameter in info.parameters}
    return ":".join(["+".join(left), *(a for a in assignments if not _is_about(a, info.id, own))])


def first_known(names: Sequence[str], *, besides: str = "") -> str:
    """Return the first drafter of these that there is, besides one; "off" if there is none."""
    for name in names:
        if name != besides:
            try:
                return find(name).id
            except UserError:
                continue
    return "off"


def _is_about(assignment: str, drafter: str, names: Mapping[str, float]) -> bool:
    """Whether it sets one of these parameters; a key without an owner can mean one drafter only."""
    owner, _, name = assignment.partition("=")[0].rpartition(".")
    return name in names and owner in ("", drafter)


def _text(parameter: Parameter, value: float) -> str:
    value = min(max(value, parameter.low), parameter.high)
    return str(int(value)) if parameter.kind == "int" else f"{value:g}"


def _can_be_parsed(strategy: str) -> bool:
    try:
        parse_strategy(strategy)
    except UserError:
        return False
    return True
