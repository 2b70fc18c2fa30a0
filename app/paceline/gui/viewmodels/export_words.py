"""What exported chats say beside the chat itself, in the window's language and colours."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QLocale

from paceline.chat.exchange.page import Look, PageColours
from paceline.chat.exchange.words import Sourcing, Words
from paceline.gui.colours import DARK, LIGHT

if TYPE_CHECKING:
    from paceline.gui.colours import Theme
    from paceline.gui.viewmodels.sources import Sources

_CONTEXT = "Export"


def _tr(text: str) -> str:
    return QCoreApplication.translate(_CONTEXT, text)


def export_words() -> Words:
    """Headings and lines of exported files."""
    return Words(
        you=_tr("You"),
        reply=_tr("Reply"),
        system_prompt=_tr("System prompt"),
        reasoning=_tr("Reasoning"),
        attached=_tr("{name} ({size})"),
        exported=_tr("Exported by Paceline {version} on {date}"),
        failed=_tr("This reply failed: {why}"),
        speed=_tr("{} tokens/s"),
        plain=_tr("plain ≈ {}"),
        accepted=_tr("{share:.0f} % of {n} drafted accepted"),
        first_token=_tr("first token {:.1f} s"),
        strategy=_tr("{strategy} for {model}"),
        by_target=_tr("the target's own · step {step}"),
        by_drafter=_tr("accepted from {who} · {place} of {total} drafted · step {step}"),
        confidence=_tr("confidence {:.2f}"),
        legend=_tr("Who wrote ahead:"),
        legend_target=_tr("the target itself"),
    )


def page_look(sources: Sources) -> Look:
    """How exported pages look."""
    language = QLocale().bcp47Name().split("-")[0]  # "en" for the locale "C", too
    sourcing = Sourcing(sources.titles, sources.models)
    return Look(_colours(LIGHT), _colours(DARK), sourcing, export_words(), language)


def _colours(theme: Theme) -> PageColours:
    names = [field.name for field in dataclasses.fields(PageColours)]
    return PageColours(**{name: getattr(theme, name) for name in names})
