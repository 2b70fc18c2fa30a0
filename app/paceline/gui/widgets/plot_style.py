"""What plots and the run dialog add to the application's style sheet."""

from __future__ import annotations

from dataclasses import asdict
from string import Template
from typing import TYPE_CHECKING

from paceline.gui.scale import type_sizes

if TYPE_CHECKING:
    from paceline.gui.theme import Theme

_PLOT = Template("""
QGraphicsView[kind="plot"] { border: 1px solid transparent; border-radius: 6px; }
QGraphicsView[kind="plot"]:focus { border-color: $accent; }
QToolButton[kind="tiny"] {
    background: transparent; color: $faint; border: 1px solid transparent; border-radius: 6px;
    padding: 2px 4px; min-height: 16px; font-size: $small;
}
QToolButton[kind="tiny"]:hover, QToolButton[kind="tiny"]:pressed {
    background: $hover; color: $text; border-color: transparent;
}
QToolButton[kind="tiny"]:checked { background: $lookup_soft; color: $lookup; }
QToolButton[kind="tiny"]:focus { border-color: $accent; color: $text; }
QToolButton[kind="tiny"]:disabled { color: $faint; }
QLabel[role="legend"] { color: $muted; font-size: $tiny; }
""")

_RUN = Template("""
QFrame[kind="foot"] { background: $surface; border: 0; border-top: 1px solid $line; }
QTabWidget { background: transparent; border: 0; }
QTabBar { background: transparent; }
QTabWidget::tab-bar { left: 8px; }
QLabel[role="figure"] { font-size: $heading; font-weight: 700; }
QLabel[role="figure"][tone="gain"] { color: $accent; }
QLabel[role="figure"][tone="loss"] { color: $danger; }
QLabel[role="figure"][tone="even"] { color: $muted; }
QPushButton[kind="compact"] { padding: 2px 10px; min-height: 20px; font-size: $small; }
QToolButton[kind="fold"] {
    background: transparent; border: 1px solid transparent; border-radius: 6px;
    padding: 2px 4px; margin-left: -10px; font-weight: 600; color: $text;
}
QToolButton[kind="fold"]:hover { background: transparent; color: $accent; }
QToolButton[kind="fold"]:focus { border-color: $accent; }
QFrame[kind="notice"][tone="accent"] { background: $accent_soft; border-color: $accent; }
QListView[kind="replies"] { background: transparent; border: 0; }
QListView[kind="replies"]:focus { border: 0; }
""")


def plot_stylesheet(theme: Theme) -> str:
    """The style sheet of a plot and its controls in the colours of a theme."""
    return _PLOT.substitute(asdict(theme), **type_sizes())


def run_stylesheet(theme: Theme) -> str:
    """The style sheet of the dialog that shows a run, in the colours of a theme."""
    return plot_stylesheet(theme) + _RUN.substitute(asdict(theme), **type_sizes())
