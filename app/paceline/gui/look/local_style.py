"""Rules for single panes and dialogs, besides the application's style sheet (`look.style`).

Each function returns them in the colours of a theme and the type scale in force.
"""

from __future__ import annotations

from dataclasses import asdict
from string import Template
from typing import TYPE_CHECKING

from paceline.gui.look.scale import type_sizes

if TYPE_CHECKING:
    from paceline.gui.look.colours import Theme

_PANEL = Template("""
QAbstractSpinBox[kind="value"], QComboBox[kind="value"] {
    background: transparent; border: 1px solid transparent; border-radius: 6px;
    padding: 2px 5px; min-height: 18px;
}
QAbstractSpinBox[kind="value"]::up-button, QAbstractSpinBox[kind="value"]::down-button {
    width: 0; margin: 0;
}
QAbstractSpinBox[kind="value"]::up-arrow, QAbstractSpinBox[kind="value"]::down-arrow {
    width: 0; height: 0; border: 0; image: none;
}
QComboBox[kind="value"] { padding-right: 16px; }
QComboBox[kind="value"]::drop-down { width: 16px; }
QAbstractSpinBox[kind="value"]:hover, QComboBox[kind="value"]:hover {
    background: $hover; border-color: transparent;
}
QAbstractSpinBox[kind="value"]:focus, QComboBox[kind="value"]:focus {
    background: $surface; border-color: $accent;
}
QAbstractSpinBox[kind="value"]:disabled, QComboBox[kind="value"]:disabled {
    background: transparent; color: $faint; border-color: transparent;
}
QToolButton[kind="fold"] {
    background: transparent; border: 1px solid transparent; border-radius: 6px;
    padding: 2px 4px; margin-left: -10px; font-weight: 600; color: $text;
}
QToolButton[kind="fold"]:hover { background: transparent; color: $accent; }
QToolButton[kind="fold"]:focus { border-color: $accent; }
QToolButton[kind="mini"] {
    background: transparent; color: $muted; border: 1px solid transparent; border-radius: 5px;
    padding: 0 2px; min-height: 0; font-size: $small;
}
QToolButton[kind="mini"]:hover { background: $hover; color: $accent; }
QToolButton[kind="mini"]:focus { border-color: $accent; }
QToolButton[kind="stop_chip"] {
    background: $hover; color: $text; border: 1px solid transparent; border-radius: 10px;
    padding: 1px 8px; min-height: 16px; font-size: $small;
}
QToolButton[kind="stop_chip"]:hover { background: $pressed; }
QToolButton[kind="stop_chip"]:focus { border-color: $accent; }
QPushButton[align="left"] { text-align: left; }
QPushButton[kind="compact"] { padding: 2px 10px; min-height: 16px; font-size: $small; }
QLabel[role="hint"] { color: $text; font-size: $compact; }
QLineEdit { padding: 3px 7px; min-height: 18px; }
QLineEdit[kind="value"] {
    background: transparent; border: 1px solid transparent; border-radius: 6px;
    padding: 2px 5px;
}
QLineEdit[kind="value"]:hover { background: $hover; }
QLineEdit[kind="value"]:focus { background: $surface; border-color: $accent; }
QLineEdit[kind="value"]:disabled { background: transparent; color: $faint; }
QLabel[role="legend"] { color: $muted; font-size: $tiny; }
QLabel[role="ratio"][tone="muted"] { color: $muted; }
QLabel[role="dot"][tone="accent"] { color: $accent; }
QLabel[role="dot"][tone="lookup"] { color: $lookup; }
QSlider { min-height: 18px; }
""")

_SIDEBAR = Template("""
QPushButton[split="left"] { border-top-right-radius: 0; border-bottom-right-radius: 0; }
QToolButton[split="right"] {
    border-top-left-radius: 0; border-bottom-left-radius: 0; padding: 6px 7px;
}
QToolButton[split="right"]:focus { padding: 5px 6px; }
QToolButton[kind="tag"] {
    background: $hover; color: $muted; border: 1px solid transparent; border-radius: 10px;
    padding: 1px 8px; min-height: 16px; font-size: $tiny;
}
QToolButton[kind="tag"]:hover { background: $pressed; color: $text; }
QToolButton[kind="tag"]:checked { background: $accent_soft; color: $accent; }
QToolButton[kind="tag"]:focus { border-color: $accent; }
""")

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

_PICKER = Template("""
QPushButton[kind="step"] {
    background: $surface; border: 1px solid $line; border-radius: 10px; padding: 0;
    text-align: left;
}
QPushButton[kind="step"]:hover { border-color: $line_strong; }
QPushButton[kind="step"]:checked { background: $surface; border: 1px solid $accent; }
QPushButton[kind="step"]:focus { border: 2px solid $accent; }
QLabel[role="number"] {
    background: $hover; color: $muted; border-radius: 12px; font-size: $small; font-weight: 600;
}
QLabel[role="number"][tone="accent"] { background: $accent; color: $accent_text; }
QLabel[role="small"][tone="accent"] { color: $accent; }
QPushButton[kind="compact"] { padding: 2px 10px; min-height: 20px; font-size: $small; }
QListView[kind="models"] { background: transparent; border: 0; }
QListView[kind="models"]:focus { border: 0; }
QComboBox[kind="value"] { background: $surface; border-color: $line; }
""")

_DROP_ZONES = Template("""
QWidget#drop_zones { background: $window; }
QFrame[kind="dropzone"] {
    background: $surface; border: 2px dashed $line_strong; border-radius: 12px;
}
QFrame[kind="dropzone"][tone="accent"] { background: $accent_soft; border-color: $accent; }
""")


def panel_stylesheet(theme: Theme) -> str:
    """The rules of the speculation panel, and of dialogs with the same compact fields."""
    return _in_colours(_PANEL, theme)


def sidebar_stylesheet(theme: Theme) -> str:
    """The rules of the list of chats."""
    return _in_colours(_SIDEBAR, theme)


def plot_stylesheet(theme: Theme) -> str:
    """The rules of a plot and its controls."""
    return _in_colours(_PLOT, theme)


def run_stylesheet(theme: Theme) -> str:
    """The rules of the dialog that shows a run."""
    return plot_stylesheet(theme) + _in_colours(_RUN, theme)


def bench_stylesheet(theme: Theme) -> str:
    """The rules of the benchmark's dialog."""
    return run_stylesheet(theme) + _in_colours(_BENCH, theme)


def picker_stylesheet(theme: Theme) -> str:
    """The rules of the dialog that picks a pair."""
    return _in_colours(_PICKER, theme)


def drop_zones_stylesheet(theme: Theme) -> str:
    """The rules of the drop zones."""
    return _in_colours(_DROP_ZONES, theme)


def _in_colours(rules: Template, theme: Theme) -> str:
    return rules.substitute(asdict(theme), **type_sizes())
