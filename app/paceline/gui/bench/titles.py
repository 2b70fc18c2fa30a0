"""Strategies with their settings, in words that fit beside a bar. Pure functions.

The same words are used in the window and in the picture that the command line writes, where only
the strategy's text is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QCoreApplication

from paceline.engine.draft.strategy import parse_strategy, read_strategy
from paceline.errors import UserError
from paceline.gui.kit.translation import in_words
from paceline.gui.state.speculation import choice_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.engine.draft.base import DrafterInfo, Parameter
    from paceline.engine.draft.strategy import Strategy

PLAIN = "off"
Kind = Literal["plain", "model", "lookup", "both"]
"""Which colours a strategy has: "both" where a model and lookups draft."""

_LENGTHS = ("n_max", "max", "n_pred", "m")
"""Settings that say how many tokens are drafted at most, by their names."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("BenchTitles", text)


def title_of(strategy: str) -> str:
    """What a strategy is called, with the settings that its text has.

    An unknown one, such as a plug-in of another machine, is called by its text.
    """
    parsed = _parsed(strategy)
    if parsed is None:
        return strategy
    title = choice_of([in_words(info) for info in parsed.infos]).title
    given = {
        (drafter, name) for drafter, own in read_strategy(strategy).drafters for name, _ in own
    }
    settings = [
        _setting(parsed.infos, info, parameter, values[parameter.name])
        for info, values in parsed.drafters
        for parameter in info.parameters
        if (info.id, parameter.name) in given or _is_told(parsed.infos, parameter)
    ]
    if strategy == PLAIN:
        title = _tr("Plain decoding")
    return f"{title} ({', '.join(settings)})" if settings else title


def in_use(strategies: Sequence[str], chosen: str) -> str:
    """Which of these strategies the chosen one is, however it is written; empty: none."""
    wanted = _parsed(chosen)
    return next((each for each in strategies if wanted and _parsed(each) == wanted), "")


def kind_of(strategy: str) -> Kind:
    """Which colours a strategy has; those of lookups where it is not known here."""
    parsed = _parsed(strategy)
    if parsed is None:
        return "lookup"
    families = {str(info.family) for info in parsed.infos}
    if "auto" in families or families >= {"model", "lookup"}:
        return "both"
    if "off" in families:
        return "plain"
    return "model" if "model" in families else "lookup"


def prompt_title(name: str) -> str:
    """What a shipped prompt is called; others keep their names."""
    return {
        "question": _tr("Question"),
        "quote": _tr("Quoting a text"),
        "edit": _tr("Editing code"),
        "chat": _tr("Second question of a chat"),
        "free-0.8": _tr("Free text, temperature 0.8"),
        "free-1.0": _tr("Free text, temperature 1"),
        "long": _tr("Long context"),
    }.get(name, name)


def _parsed(strategy: str) -> Strategy | None:
    try:
        return parse_strategy(strategy)
    except UserError:
        return None


def _is_told(infos: Sequence[DrafterInfo], parameter: Parameter) -> bool:
    """Whether it is shown in any case, since a benchmark compares draft lengths."""
    return len(infos) == 1 and infos[0].family == "model" and parameter.name == _LENGTHS[0]


def _setting(
    infos: Sequence[DrafterInfo], info: DrafterInfo, parameter: Parameter, value: float
) -> str:
    is_known_length = parameter.name in _LENGTHS and parameter.kind == "int"
    if is_known_length and value == 0 and parameter.low > 0:
        return _tr("as many tokens as pay")
    if is_known_length:
        has_one_length = len(infos) == 1 or info.family == "model"
        if has_one_length:
            return (_tr("{} token") if value == 1 else _tr("{} tokens")).format(f"{value:.0f}")
    shown = f"{value:.0f}" if parameter.kind == "int" else f"{value:g}"
    owner = f"{info.id}." if len(infos) > 1 else ""
    return f"{owner}{parameter.name} {shown}"
