"""What single widgets add to the application's style sheet: compact fields, folds, drop zones."""

from __future__ import annotations

from dataclasses import asdict
from string import Template
from typing import TYPE_CHECKING

from paceline.gui.scale import type_sizes

if TYPE_CHECKING:
    from paceline.gui.theme import Theme

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
QSlider { min-height: 18px; }
""")

_DROP_ZONES = Template("""
QWidget#drop_zones { background: $window; }
QFrame[kind="dropzone"] {
    background: $surface; border: 2px dashed $line_strong; border-radius: 12px;
}
QFrame[kind="dropzone"][tone="accent"] { background: $accent_soft; border-color: $accent; }
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
QTabWidget { background: transparent; border: 0; }
QTabBar { background: transparent; }
QComboBox[kind="value"] { background: $surface; border-color: $line; }
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

_TICKS = Template("""
QListView { border-radius: 8px; padding: 4px; }
QListView::indicator {
    width: 12px; height: 12px; border: 1px solid $muted; border-radius: 4px; background: $surface;
}
QListView::indicator:checked { background: $accent; border-color: $accent; }
""")


def tick_list_stylesheet(theme: Theme) -> str:
    """The style sheet of a list to tick in the colours of a theme."""
    return _TICKS.substitute(asdict(theme))


def sidebar_stylesheet(theme: Theme) -> str:
    """The style sheet of the list of chats in the colours of a theme."""
    return _SIDEBAR.substitute(asdict(theme), **type_sizes())


def picker_stylesheet(theme: Theme) -> str:
    """The style sheet of the dialog that picks a pair, in the colours of a theme."""
    return _PICKER.substitute(asdict(theme), **type_sizes())


def panel_stylesheet(theme: Theme) -> str:
    """The style sheet of the panel in the colours of a theme."""
    return _PANEL.substitute(asdict(theme), **type_sizes())


def drop_zones_stylesheet(theme: Theme) -> str:
    """The style sheet of the drop zones in the colours of a theme."""
    return _DROP_ZONES.substitute(asdict(theme), **type_sizes())
