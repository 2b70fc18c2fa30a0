"""The one style sheet of the application: what is common, and what single panes add to it.

Panes have no sheets of their own. Qt looks at a widget once for every sheet above it, and a sheet
of the application that takes another's place is handed down once for every ancestor of a widget,
which is eight times for most of them (`theme.apply_theme` says how that is kept from it). So a
pane's additions stand here, behind the name of the pane.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from paceline.gui.style import stylesheet
from paceline.gui.widgets.local_style import (
    drop_zones_stylesheet,
    panel_stylesheet,
    sidebar_stylesheet,
)
from paceline.gui.widgets.plot_style import plot_stylesheet

if TYPE_CHECKING:
    from paceline.gui.colours import Theme

PANEL, SIDEBAR, SPLITTER = "speculation_panel", "sidebar", "panes"
"""Names of the objects that their rules are for."""

_RULE = re.compile(r"([^{}]+)(\{[^{}]*\})")
# The panes have lines of their own; the handle is seen when the pointer is over it.
_SPLITTER = f"QSplitter#{SPLITTER}::handle:!hover {{ background: transparent; }}\n"


def whole_stylesheet(theme: Theme) -> str:
    """The style sheet of the application in the colours of a theme and the type scale in force."""
    return "".join(
        (
            stylesheet(theme),
            within(PANEL, panel_stylesheet(theme) + plot_stylesheet(theme)),
            within(SIDEBAR, sidebar_stylesheet(theme)),
            drop_zones_stylesheet(theme),
            _SPLITTER,
        )
    )


def within(name: str, rules: str) -> str:
    """Return the rules for what is in the object of this name; they win over all others there."""

    def narrow(rule: re.Match[str]) -> str:
        selectors = (f"#{name} {each.strip()}" for each in rule[1].split(","))
        return f"{', '.join(selectors)} {rule[2]}\n"

    return _RULE.sub(narrow, rules)
