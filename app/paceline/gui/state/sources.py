"""Titles and colours of drafters, wherever a token or a figure names one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from paceline.engine.draft import grammar_drafter
from paceline.engine.draft.base import DrafterInfo
from paceline.gui.kit.translation import translator

DRAFT = "draft"
Kind = Literal["draft", "lookup"]
"""Teal: a draft model proposed it. Amber: a lookup, or the grammar."""


_tr = translator("Sources")


def short_title(info: DrafterInfo) -> str:
    """Return the title of a drafter where its kind does not matter: one word for all lookups."""
    is_lookup = info.family == "lookup" and info.id != grammar_drafter.NAME
    return _tr("Lookup") if is_lookup else info.title


class Sources:
    """Titles and kinds by a drafter's id; an unknown id is shown as it is."""

    def __init__(self, infos: Iterable[DrafterInfo] = ()) -> None:
        self._infos = {info.id: info for info in infos}

    @property
    def titles(self) -> dict[str, str]:
        """Titles for display, by id."""
        return {name: self.title(name) for name in self._infos}

    @property
    def models(self) -> frozenset[str]:
        """Ids of the drafters that are models."""
        return frozenset(name for name in (DRAFT, *self._infos) if self.kind(name) == "draft")

    def title(self, drafter_id: str) -> str:
        """Return the short title: one word for all lookups; details use `full_title`."""
        info = self._infos.get(drafter_id)
        return drafter_id if info is None else short_title(info)

    def full_title(self, drafter_id: str) -> str:
        """Return the title that distinguishes a drafter from others of its kind."""
        info = self._infos.get(drafter_id)
        return drafter_id if info is None else info.title

    def kind(self, drafter_id: str) -> Kind:
        """Return the kind, which decides the colour."""
        info = self._infos.get(drafter_id)
        is_model = drafter_id == DRAFT if info is None else info.family == "model"
        return "draft" if is_model else "lookup"
