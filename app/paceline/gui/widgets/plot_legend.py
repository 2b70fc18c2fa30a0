"""What the colours of a plot mean, in one line of rich text."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from paceline.gui.theme import Theme
    from paceline.gui.viewmodels.sources import Sources


def _tr(text: str) -> str:
    return QCoreApplication.translate("PlotLegend", text)


def legend_html(drafters: Sequence[str], sources: Sources, theme: Theme) -> str:
    """Name the drafters of a reply beside their colours, or the kinds that there are."""
    names: dict[str, list[str]] = {"draft": [], "lookup": []}
    for drafter_id in drafters:
        names[sources.kind(drafter_id)].append(sources.title(drafter_id))
    if not drafters:
        names = {"draft": [_tr("draft model")], "lookup": [_tr("lookup")]}
    elif len(names["lookup"]) > 1:
        # One colour has one entry; the card of the drafters tells them apart.
        names["lookup"] = [_tr("lookups")]
    return entries_html(
        (
            *((theme.accent, name) for name in names["draft"]),
            *((theme.lookup, name) for name in names["lookup"]),
            (theme.rejected, _tr("rejected")),
        )
    )


def entries_html(entries: Iterable[tuple[str, str]], sign: str = "■") -> str:
    """Colours with what they mean; an entry does not break."""
    return " &nbsp; ".join(
        f'<span style="color:{colour}">{sign}</span>&nbsp;{unbroken(text)}'
        for colour, text in entries
    )


def unbroken(text: str) -> str:
    """A text that does not break, for a label with rich text."""
    return escape(text).replace(" ", "&nbsp;").replace("\u202f", "&nbsp;")
