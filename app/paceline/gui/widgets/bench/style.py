"""What the benchmark's dialog adds to the application's style sheet."""

from __future__ import annotations

from dataclasses import asdict
from string import Template
from typing import TYPE_CHECKING

from paceline.gui.scale import type_sizes
from paceline.gui.widgets.plot_style import run_stylesheet

if TYPE_CHECKING:
    from paceline.gui.theme import Theme

_BENCH = Template("""
QTableView[kind="figures"] {
    background: transparent; border: 1px solid transparent; border-radius: 6px;
    selection-background-color: $accent_soft; selection-color: $text; font-size: $compact;
}
QTableView[kind="figures"]:focus { border-color: $accent; }
QTableView[kind="figures"]::item { border-bottom: 1px solid $line; padding: 0 6px; }
QTableView[kind="figures"]::item:hover { background: transparent; }
QTableView[kind="figures"] QHeaderView { background: transparent; border: 0; }
QTableView[kind="figures"] QPushButton { margin: 4px 2px; }
QToolButton[kind="fold"] { margin-left: 0; }
""")


def bench_stylesheet(theme: Theme) -> str:
    """The style sheet of the benchmark's dialog in the colours of a theme."""
    return run_stylesheet(theme) + _BENCH.substitute(asdict(theme), **type_sizes())
