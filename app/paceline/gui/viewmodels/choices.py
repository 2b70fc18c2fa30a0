"""The strategies that the window offers, in groups: auto, draft model, lookups, chains, and off.

The order of the chains is that of usefulness: the first whose members there are is what the group
means until the user chooses another one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QCoreApplication

from paceline.engine.drafters.base import DrafterInfo

Group = Literal["auto", "draft", "lookup", "mixed", "off"]
GROUPS: tuple[Group, ...] = ("auto", "draft", "lookup", "mixed", "off")
USUAL_CHAINS = (
    "suffix+draft",
    "ngram-mod+draft",
    "prompt-lookup+draft",
    "suffix+ngram-mod+draft",
    "ngram-cache+draft",
    "suffix+ngram-mod",
)
USUAL_LOOKUP = "suffix"
"""What the group of lookups means at first: it finds the longest match of them all."""
JOINT = "+"
_ARROW = " → "


@dataclass(frozen=True, slots=True)
class Choice:
    """One strategy of a menu, without its settings: ``ID[+ID…]``."""

    name: str
    title: str
    summary: str
    group: Group
    needs_draft_model: bool


def in_order(infos: Sequence[DrafterInfo]) -> list[DrafterInfo]:
    """The drafters of a chain as they are asked: lookups as given, the model last."""
    return sorted(infos, key=lambda info: info.family == "model")


def name_of(infos: Sequence[DrafterInfo]) -> str:
    """The name of a chain."""
    return JOINT.join(info.id for info in in_order(infos))


def group_of(infos: Sequence[DrafterInfo]) -> Group:
    """The group that a strategy belongs to."""
    if len(infos) > 1:
        return "mixed"
    groups: dict[str, Group] = {"off": "off", "auto": "auto", "model": "draft", "lookup": "lookup"}
    return groups[infos[0].family]


def choice_of(infos: Sequence[DrafterInfo]) -> Choice:
    """A strategy for people."""
    infos = in_order(infos)
    return Choice(
        name=name_of(infos),
        title=_ARROW.join(info.title for info in infos),
        summary=infos[0].summary if len(infos) == 1 else _chain_summary(infos),
        group=group_of(infos),
        needs_draft_model=any(info.family == "model" for info in infos),
    )


def usual_chains(infos: Mapping[str, DrafterInfo]) -> list[str]:
    """The chains that are worth offering, of those drafters that there are."""
    return [name for name in USUAL_CHAINS if all(part in infos for part in name.split(JOINT))]


def _chain_summary(infos: Sequence[DrafterInfo]) -> str:
    n_lookups = sum(info.family == "lookup" for info in infos)
    if n_lookups == len(infos):
        return _tr("The first of them that finds something writes ahead.")
    if n_lookups == 1:
        return _tr(
            "Looks up first; where that finds nothing the draft model writes ahead, and the "
            "lookup goes on behind it.",
        )
    return _tr(
        "Looks up in this order; where nothing is found the draft model writes ahead, and a "
        "lookup goes on behind it.",
    )


def _tr(text: str) -> str:
    return QCoreApplication.translate("Choices", text)
