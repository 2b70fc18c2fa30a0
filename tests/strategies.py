"""Strategies by their texts, also those that the engine refuses."""

from __future__ import annotations

from paceline.engine.draft.strategy import (
    drafters_named,
    parse_strategy,
    read_strategy,
    settings_named,
)
from paceline.errors import UserError
from paceline.messages import Strategy


def strategy(text: str) -> Strategy:
    """Return the strategy that a text names; of one that there is not, what the text says."""
    try:
        return read_strategy(text)
    except UserError:
        names = drafters_named(text)
        settings: dict[str, list[tuple[str, float]]] = {name: [] for name in names}
        for assignment in settings_named(text):
            key, _, value = assignment.partition("=")
            owner, _, name = key.rpartition(".")
            settings[owner or names[0]].append((name, float(value or "nan")))
        return Strategy(tuple((name, tuple(settings[name])) for name in names))


def whole(text: str) -> Strategy:
    """Return the strategy of a text with all its settings, as events carry it."""
    return parse_strategy(text).value
