"""The one style sheet of the application: what is common, and what single panes add to it.

The text is a `string.Template` over the fields of a `Theme` and the type scale, so that braces stay
braces. Sizes are device-independent pixels on the grid of `paceline.gui.look.scale`.

Panes have no sheets of their own. Qt polishes a widget once for every sheet above it, and where a
sheet of the application replaces another, once for every ancestor of the widget, which is eight
times for most of them (`theme.apply_basics` says how that is avoided). So the rules for a pane are
part of this sheet, restricted to the pane's name.

How to get a look: set one of these dynamic properties before the widget is shown (later changes
need `restyle`). Plain `QWidget`s need `Qt.WidgetAttribute.WA_StyledBackground` for backgrounds;
`QFrame`s do not.

=====================  =====================================================================
Buttons                ``kind`` of a QPushButton or QToolButton
=====================  =====================================================================
(none)                 outlined button on the surface colour
``primary``            filled with the accent: the one main action of an area
``quiet``              no frame until hovered; for tool buttons and secondary actions
``link``               muted text only, accent when hovered
``danger``             outlined, text in the danger colour
``stop``               outlined, semi-bold
``segment``            one part of a segmented row: checkable, inside a ``segments`` frame
``chip``               rounded, holds the chosen pair in the top bar
``option``             lines of text within, see `welcome.pages`
=====================  =====================================================================

=====================  =====================================================================
Containers             ``kind`` of a QFrame (or of a styled QWidget)
=====================  =====================================================================
``card``               surface with a line around it, radius 10
``segments``           the frame around ``segment`` buttons (layout margins 2, spacing 2)
``topbar``             surface with a line below
``sidebar``            surface with a line at its right
``panel``              surface with a line at its left
``bubble``             what the user wrote, radius 12
``notice``             inline message; with ``tone`` "danger" or "lookup" in those colours
``page``               the window's ground; inside a scroll area transparent
``sheet``              what stands over the window, radius 12
``foot``               surface with a line above: the buttons of a dialog
=====================  =====================================================================

=====================  =====================================================================
Labels                 ``role`` of a QLabel
=====================  =====================================================================
``title``              semi-bold heading of a card        ``heading``  larger, for dialogs
``muted``              secondary text                     ``small``    secondary and 12 px
``section``            12 px, spaced, above list groups   ``big``      the large figure
``accent``             accent colour, semi-bold           ``ratio``    large accent figure
``danger``             danger colour                      ``value``    text colour, digits
``stats``              secondary, 13 px: the line below a reply
``keys``               the cap of a key
``pill``               rounded badge; ``tone`` is one of "accent", "lookup", "danger", "muted"
=====================  =====================================================================

``QListView[kind="chats"]`` has tall rounded rows; ``QLineEdit[kind="search"]`` is a search field,
``QLineEdit[kind="palette"]`` the one of the palette. ``QPlainTextEdit[kind="code"]`` has the size
of code; its font comes from `mono_font`. Line edits, combo boxes, spin boxes, sliders, scroll bars,
menus, tabs, tables, progress bars, splitters and tool tips need no property. A widget that has the
keyboard shows a ring in the accent colour.
"""

from __future__ import annotations

import re
from dataclasses import asdict
from string import Template

from paceline.gui.look.colours import Theme
from paceline.gui.look.scale import type_sizes

_FOLD = """
QToolButton[kind="fold"] {
    background: transparent; border: 1px solid transparent; border-radius: 6px;
    padding: 2px 4px; margin-left: -10px; font-weight: 600; color: $text;
}
QToolButton[kind="fold"]:hover { background: transparent; color: $accent; }
QToolButton[kind="fold"]:focus { border-color: $accent; }
"""

_PANEL = """
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
QLabel[role="dot"][tone="accent"] { color: $accent; }
QLabel[role="dot"][tone="lookup"] { color: $lookup; }
QSlider { min-height: 18px; }
"""

_SIDEBAR = """
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
"""

_PLOT = """
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
"""

_RUN = """
QLabel[role="figure"] { font-size: $heading; font-weight: 700; }
QLabel[role="figure"][tone="gain"] { color: $accent; }
QLabel[role="figure"][tone="loss"] { color: $danger; }
QLabel[role="figure"][tone="even"] { color: $muted; }
QPushButton[kind="compact"] { padding: 2px 10px; min-height: 20px; font-size: $small; }
QFrame[kind="notice"][tone="accent"] { background: $accent_soft; border-color: $accent; }
"""

_BENCH = """
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
"""

_PICKER = """
QLabel[role="conclusion"] { font-size: $heading; font-weight: 700; }
QLabel[role="conclusion"][tone="gain"] { color: $accent; }
QLabel[role="conclusion"][tone="even"] { color: $muted; }
QLabel[role="conclusion"][tone="slower"] { color: $lookup; }
QLabel[role="conclusion"][tone="loss"] { color: $danger; }
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
"""

_DROP_ZONES = """
QWidget#drop_zones { background: $window; }
QFrame[kind="dropzone"] {
    background: $surface; border: 2px dashed $line_strong; border-radius: 12px;
}
QFrame[kind="dropzone"][tone="accent"] { background: $accent_soft; border-color: $accent; }
"""


PANEL, SIDEBAR, SPLITTER = "speculation_panel", "sidebar", "panes"
PICKER, PICKER_PANE, DOWNLOADS = "picker", "picker_pane", "downloads"
BENCH, RUN, REQUESTS = "bench_dialog", "run_dialog", "requests_dialog"
"""Names of objects that have rules of their own."""
_RULE = re.compile(r"([^{}]+)(\{[^{}]*\})")
# The panes have lines of their own; the handle is seen when the pointer is over it.
_SPLITTER = f"QSplitter#{SPLITTER}::handle:!hover {{ background: transparent; }}\n"
_GROUNDS = """
QMainWindow, QDialog, QWidget[kind="page"] { background: $window; }
QToolTip {
    background: $tooltip; color: $tooltip_text; border: 0; padding: 6px 8px; font-size: $small;
}
QFrame[kind="card"] { background: $surface; border: 1px solid $line; border-radius: 10px; }
QFrame[kind="sheet"] { background: $surface; border: 1px solid $line_strong; border-radius: 12px; }
QFrame[kind="segments"] { background: $surface; border: 1px solid $line; border-radius: 9px; }
QFrame[kind="bubble"] { background: $bubble; border: 0; border-radius: 12px; }
QFrame[kind="notice"] { background: $hover; border: 1px solid $line; border-radius: 8px; }
QFrame[kind="notice"][tone="danger"] { background: $danger_soft; border-color: $danger; }
QFrame[kind="notice"][tone="lookup"] { background: $lookup_soft; border-color: $lookup; }
QWidget[kind="topbar"] { background: $surface; border: 0; border-bottom: 1px solid $line; }
QWidget[kind="sidebar"] { background: $surface; border: 0; border-right: 1px solid $line; }
QWidget[kind="panel"] { background: $surface; border: 0; border-left: 1px solid $line; }
QFrame[kind="foot"] { background: $surface; border: 0; border-top: 1px solid $line; }
QScrollArea, QScrollArea > QWidget > QWidget[kind="page"] { background: transparent; border: 0; }
QSplitter::handle { background: $line; }
QSplitter::handle:horizontal { width: 1px; }
QSplitter::handle:vertical { height: 1px; }
QSplitter::handle:hover { background: $accent; }
"""
_LABELS = """
QLabel { background: transparent; }
QLabel[role="title"] { font-weight: 600; }
QLabel[role="heading"] { font-size: $heading; font-weight: 600; }
QLabel[role="muted"] { color: $muted; }
QLabel[role="stats"] { color: $muted; font-size: $compact; }
QLabel[role="small"] { color: $muted; font-size: $small; }
QLabel[role="section"] { color: $muted; font-size: $small; letter-spacing: 0.4px; }
QLabel[role="big"] { font-size: $figure; font-weight: 700; }
QLabel[role="ratio"] { color: $accent; font-size: $heading; font-weight: 700; }
QLabel[role="ratio"][tone="even"] { color: $muted; }
QLabel[role="ratio"][tone="loss"] { color: $danger; }
QLabel[role="scale"] { color: $muted; font-size: $tiny; background: $surface; padding: 0 4px; }
QLabel[role="accent"] { color: $accent; font-weight: 600; }
QLabel[role="danger"] { color: $danger; }
QLabel[role="value"] { color: $text; }
QLabel[role="keys"] {
    background: $surface; color: $muted; border: 1px solid $line_strong; border-radius: 5px;
    padding: 1px 6px; font-size: $small;
}
QLabel[role="pill"] {
    background: $hover; color: $muted; border-radius: 8px; padding: 2px 8px;
    min-height: 14px; font-size: $tiny; font-weight: 600;
}
QLabel[role="pill"][tone="accent"] { background: $accent_soft; color: $accent; }
QLabel[role="pill"][tone="lookup"] { background: $lookup_soft; color: $lookup; }
QLabel[role="pill"][tone="danger"] { background: $danger_soft; color: $danger; }
"""
_BUTTONS = """
QPushButton, QToolButton[kind] {
    background: $surface; color: $text; border: 1px solid $line_strong; border-radius: 8px;
    padding: 6px 14px; min-height: 18px;
}
QPushButton, QToolButton { icon-size: $icon; }
QAbstractButton[kind="fold_header"] { font-size: $small; }
QToolButton[sign="small"] { icon-size: $small; }
QToolButton[sign="medium"] { icon-size: $body; }
QToolButton[sign="large"] { icon-size: $icon_large; }
QPushButton:hover, QToolButton[kind]:hover { background: $hover; border-color: $faint; }
QPushButton:pressed, QToolButton[kind]:pressed { background: $pressed; }
QPushButton:focus, QToolButton[kind]:focus { border: 1px solid $accent; }
QPushButton:disabled, QToolButton[kind]:disabled { color: $faint; border-color: $line; }
QAbstractButton[kind="primary"] {
    background: $accent; color: $accent_text; border: 1px solid $accent; font-weight: 600;
}
QAbstractButton[kind="primary"]:hover { background: $accent_hover; border-color: $accent_hover; }
QAbstractButton[kind="primary"]:focus { border: 2px solid $text; padding: 5px 13px; }
QAbstractButton[kind="primary"]:disabled { background: $hover; color: $faint; border-color: $line; }
QPushButton[kind="stop"] { font-weight: 600; }
QPushButton[kind="danger"] { color: $danger; }
QPushButton[kind="danger"]:hover { background: $danger_soft; border-color: $danger; }
QAbstractButton[kind="quiet"] {
    background: transparent; color: $muted; border: 1px solid transparent; padding: 5px 8px;
}
QAbstractButton[kind="quiet"]:hover { background: $hover; color: $text; border-color: transparent; }
QAbstractButton[kind="quiet"]:checked { background: $accent_soft; color: $accent; }
QAbstractButton[kind="quiet"]:focus { border-color: $accent; }
QAbstractButton[kind="quiet"]:disabled { color: $faint; }
QAbstractButton[kind="link"] {
    background: transparent; color: $muted; border: 1px solid transparent; padding: 1px 4px;
    border-radius: 4px; min-height: 0; font-size: $small;
}
QAbstractButton[kind="link"]:hover { color: $accent; }
QAbstractButton[kind="link"]:focus { border-color: $accent; }
QAbstractButton[kind="segment"] {
    background: transparent; color: $muted; border: 1px solid transparent; border-radius: 7px;
    padding: 4px 3px; font-weight: 500;
}
QAbstractButton[kind="segment"]:hover { background: $hover; color: $text; }
QAbstractButton[kind="segment"]:checked {
    background: $accent_soft; color: $accent; font-weight: 600;
}
QAbstractButton[kind="segment"]:focus { border-color: $accent; }
QAbstractButton[kind="segment"]:disabled { color: $faint; }
QAbstractButton[kind="chip"] { border-color: $line; border-radius: 10px; padding: 6px 12px; }
QAbstractButton[kind="chip"]:hover { border-color: $line_strong; }
QAbstractButton[kind="chip"]:focus { border-color: $accent; }
QPushButton[kind="option"] { background: $surface; border-color: $line; padding: 0; }
QFrame[kind="card"] QPushButton[kind="option"] { background: $window; }
QPushButton[kind="option"]:hover, QFrame[kind="card"] QPushButton[kind="option"]:hover {
    background: $accent_soft; border-color: $accent;
}
QPushButton[kind="option"]:pressed { background: $pressed; }
QPushButton[kind="option"]:focus { border: 2px solid $accent; }
QPushButton::menu-indicator, QToolButton::menu-indicator { image: none; width: 0; }
"""
_FIELDS = """
QLineEdit, QAbstractSpinBox, QComboBox {
    background: $surface; color: $text; border: 1px solid $line_strong; border-radius: 8px;
    padding: 5px 10px; min-height: 20px;
    selection-background-color: $selection; selection-color: $selection_text;
}
QLineEdit:hover, QAbstractSpinBox:hover, QComboBox:hover { border-color: $faint; }
QLineEdit:focus, QAbstractSpinBox:focus, QComboBox:focus {
    border: 1px solid $accent;
}
QLineEdit:disabled, QAbstractSpinBox:disabled, QComboBox:disabled {
    background: $window; color: $faint; border-color: $line;
}
QLineEdit[kind="palette"] { border: 0; padding: 6px 8px; background: transparent; }
QLineEdit[kind="search"] { border-color: $line; padding-left: 2px; }
QLineEdit[kind="search"]:focus { border-color: $accent; }
QComboBox::drop-down { border: 0; width: 24px; }
QComboBox::down-arrow {
    width: 0; height: 0; border-left: 4px solid $surface; border-right: 4px solid $surface;
    border-top: 5px solid $muted;
}
QComboBox { combobox-popup: 0; }
QComboBox QAbstractItemView, QComboBox QAbstractItemView:focus {
    background: $surface; color: $text; border: 1px solid $line_strong; border-radius: 8px;
    padding: 4px; outline: 0;
}
QComboBox QAbstractItemView::item { border-radius: 6px; padding: 3px 8px; min-height: 20px; }
QComboBox QAbstractItemView::item:selected { background: $accent_soft; color: $text; }
QAbstractSpinBox { padding: 5px 20px 5px 8px; }
QAbstractSpinBox QLineEdit {
    background: transparent; border: 0; border-radius: 0; padding: 0; min-height: 0;
}
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button {
    subcontrol-origin: border; width: 18px; border: 0; background: transparent; margin: 2px;
}
QAbstractSpinBox::up-button { subcontrol-position: top right; }
QAbstractSpinBox::down-button { subcontrol-position: bottom right; }
QAbstractSpinBox::up-arrow {
    width: 0; height: 0; border-left: 4px solid $surface; border-right: 4px solid $surface;
    border-bottom: 4px solid $muted;
}
QAbstractSpinBox::down-arrow {
    width: 0; height: 0; border-left: 4px solid $surface; border-right: 4px solid $surface;
    border-top: 4px solid $muted;
}
QPlainTextEdit, QTextEdit {
    background: $surface; color: $text; border: 1px solid $line; border-radius: 8px;
    selection-background-color: $selection; selection-color: $selection_text;
}
QPlainTextEdit[kind="code"] { font-size: $small; }
QPlainTextEdit:focus, QTextEdit:focus { border-color: $accent; }
QSlider { min-height: 20px; background: transparent; }
QSlider::groove:horizontal { height: 4px; border-radius: 2px; background: $line_strong; }
QSlider::sub-page:horizontal { height: 4px; border-radius: 2px; background: $accent; }
QSlider::handle:horizontal {
    background: $surface; border: 2px solid $accent; width: 10px; height: 10px;
    margin: -5px 0; border-radius: 7px;
}
QSlider::handle:horizontal:hover { background: $accent_soft; }
QSlider::handle:horizontal:focus { background: $accent; border-color: $text; }
QSlider::sub-page:horizontal:disabled { background: $line_strong; }
QSlider::handle:horizontal:disabled { border-color: $line_strong; }
QProgressBar {
    background: $line; border: 0; border-radius: 3px; max-height: 6px; text-align: center;
    color: transparent;
}
QProgressBar::chunk { background: $accent; border-radius: 3px; }
QToolButton[kind="meter"] {
    background: transparent; color: $muted; border: 1px solid transparent; border-radius: 6px;
    padding: 1px 3px 7px 3px; font-size: $small;
}
QToolButton[kind="meter"]:hover { background: $hover; color: $text; }
QToolButton[kind="meter"]:focus { border-color: $accent; }
QToolButton[kind="meter"][tone="danger"] { color: $danger; }
QProgressBar[kind="meter"] { max-height: 3px; border-radius: 1px; }
QProgressBar[kind="meter"]::chunk { border-radius: 1px; }
QProgressBar[kind="meter"][tone="amber"]::chunk { background: $lookup; }
QProgressBar[kind="meter"][tone="danger"]::chunk { background: $danger; }
"""
_LISTS = """
QAbstractItemView { background: $surface; border: 1px solid $line; outline: 0; }
QListView, QTreeView, QTableView { border-radius: 8px; }
QListView::item, QTreeView::item { padding: 4px 8px; border-radius: 6px; color: $text; }
QListView::item:hover, QTreeView::item:hover { background: $hover; }
QListView::item:selected, QTreeView::item:selected { background: $accent_soft; color: $text; }
QListView[kind="chats"] { background: transparent; border: 0; }
QListView[kind="chats"]::item { padding: 8px 10px; margin: 1px 0; border-radius: 8px; }
QListView:focus, QTreeView:focus, QTableView:focus { border-color: $accent; }
QListView[kind="chats"]:focus { border: 0; }
QListView[kind="menu"], QListView[kind="menu"]:focus { background: transparent; border: 0; }
QListView[kind="chats"]::item:selected:focus { border: 1px solid $accent; }
QHeaderView::section {
    background: $surface; color: $muted; border: 0; border-bottom: 1px solid $line;
    padding: 6px 8px; font-size: $small;
}
QTableView { gridline-color: $line; }
QTabWidget { background: transparent; border: 0; }
QTabWidget::tab-bar { left: 8px; }
QTabBar { background: transparent; }
QTabWidget::pane { border: 0; border-top: 1px solid $line; }
QTabBar::tab {
    background: transparent; color: $muted; padding: 8px 12px; border: 0;
    border-bottom: 2px solid transparent;
}
QTabBar::tab:hover { color: $text; }
QTabBar::tab:selected { color: $accent; border-bottom-color: $accent; }
QTabBar::tab:focus { background: $hover; }
"""
_MENUS = """
QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
QMenuBar { background: transparent; color: $muted; border: 0; padding: 0; }
QMenuBar::item { background: transparent; padding: 6px 8px; border-radius: 6px; }
QMenuBar::item:selected { background: $hover; color: $text; }
QMenu {
    background: $surface; color: $text; border: 1px solid $line_strong; border-radius: 8px;
    padding: 4px;
}
QMenu::item { padding: 6px 24px 6px 12px; border-radius: 6px; }
QMenu::item:selected { background: $accent_soft; color: $text; }
QMenu::item:disabled { color: $faint; }
QMenu::indicator { left: 7px; width: 14px; height: 14px; }
QMenu::separator { height: 1px; background: $line; margin: 4px 8px; }
"""
_SCROLLING = """
QScrollBar:vertical { background: transparent; width: 12px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 12px; margin: 0; }
QScrollBar::handle { background: $line_strong; border-radius: 3px; margin: 3px; }
QScrollBar::handle:vertical { min-height: 32px; }
QScrollBar::handle:horizontal { min-width: 32px; }
QScrollBar::handle:hover { background: $faint; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; border: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QAbstractScrollArea::corner { background: transparent; border: 0; }
"""
_CHAT = """
QWidget#chat_view, QWidget#chat_page { background: $window; }
QTextBrowser[kind="message"] {
    background: transparent; border: 0; border-radius: 0; padding: 0; color: $text;
}
QTextBrowser[kind="message"]:focus { border: 0; }
QPushButton[kind="stats"] {
    background: transparent; border: 1px solid transparent; border-radius: 6px; padding: 0;
    min-height: 0;
}
QPushButton[kind="stats"]:hover { background: $hover; border-color: transparent; }
QPushButton[kind="stats"]:pressed { background: $pressed; }
QPushButton[kind="stats"]:focus { border-color: $accent; }
QToolButton[kind="attachment"] {
    background: $surface; border: 1px solid $line; border-radius: 8px; padding: 3px 10px 3px 6px;
    min-height: 18px; font-size: $compact;
}
QToolButton[kind="attachment"]:hover { background: $hover; border-color: $line_strong; }
QToolButton[kind="attachment"]:checked { background: $code_surface; border-color: $line_strong; }
QToolButton[kind="attachment"]:focus { border-color: $accent; }
QFrame[kind="draft_chip"] { background: $hover; border: 1px solid $line; border-radius: 8px; }
QToolButton[kind="draft_chip"] {
    background: transparent; border: 1px solid transparent; border-radius: 7px; padding: 2px 6px;
    min-height: 18px; font-size: $compact;
}
QToolButton[kind="draft_chip"]:hover { background: $pressed; }
QToolButton[kind="draft_chip"]:focus { border-color: $accent; }
QPlainTextEdit[kind="attachment"] {
    background: $code_surface; border: 1px solid $line; padding: 8px;
}
QFrame[kind="editor"] { background: $surface; border: 1px solid $accent; border-radius: 12px; }
QFrame[kind="editor"] QPlainTextEdit { background: transparent; border: 0; padding: 0; }
QToolButton[kind="link"]:disabled { color: $faint; border-color: transparent; }
QFrame#composer { background: $surface; border: 1px solid $line; border-radius: 12px; }
QFrame#composer[active="true"] { border-color: $accent; }
QFrame#composer QPlainTextEdit {
    background: transparent; border: 0; padding: 0; font-size: $reading;
}
"""
_COMMON = _GROUNDS + _LABELS + _BUTTONS + _FIELDS + _LISTS + _MENUS + _SCROLLING + _CHAT


def whole_stylesheet(theme: Theme) -> str:
    """Return the application's style sheet in a theme's colours and the type scale in force."""
    rules = (
        _COMMON,
        within(PANEL, _FOLD + _PANEL + _PLOT),
        within(SIDEBAR, _SIDEBAR),
        _DROP_ZONES,
        within(PICKER, _PICKER),
        within(PICKER_PANE, _FOLD + _PANEL),
        within(DOWNLOADS, _FOLD + _PANEL),
        within(BENCH, _PLOT + _FOLD + _RUN + _BENCH),
        within(RUN, _PLOT + _FOLD + _RUN),
        within(REQUESTS, _BENCH),
        _SPLITTER,
    )
    return _in_colours("".join(rules), theme)


def plot_stylesheet(theme: Theme) -> str:
    """Return the rules for a plot and its controls that are drawn outside of the window."""
    return _in_colours(_PLOT, theme)


def _in_colours(rules: str, theme: Theme) -> str:
    return Template(rules).substitute(asdict(theme), **type_sizes())


def within(name: str, rules: str) -> str:
    """Return the rules, restricted to the object of this name; they win over all others there."""

    def narrow(rule: re.Match[str]) -> str:
        selectors = (f"#{name} {each.strip()}" for each in rule[1].split(","))
        return f"{', '.join(selectors)} {rule[2]}\n"

    return _RULE.sub(narrow, rules)
