"""Colours, fonts and the application's look, light and dark; runs on the main thread.

A `Theme` is a plain record of colours (`paceline.gui.colours`); sizes stand in
`paceline.gui.scale`. `ThemeController` knows which theme is in force and tells when it changes;
`apply_theme` dresses the application in it (Fusion, palette, style sheet). Widgets that paint for
themselves take a `Theme`, and another by `set_theme`; it is called with the same one when the font
size changes, so whoever keeps a font or a height of text asks for it there again.

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
``option``             lines of text within, see `widgets.welcome.option_button`
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
``separator``          a line: fixed height (or width) 1
``page``               the window's ground; inside a scroll area transparent
``sheet``              what lies over the window, radius 12
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
``QLineEdit[kind="palette"]`` the one of the palette.
``QPlainTextEdit[kind="code"]`` has the size of code; its font comes from `mono_font`.
Line edits, combo boxes, spin boxes, sliders, scroll bars, menus, tabs, tables, progress bars,
splitters, tool tips and the status bar need no property. A widget that has the keyboard shows a
ring in the accent colour.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QPalette

from paceline.gui.colours import DARK, LIGHT, Theme
from paceline.gui.scale import BASE_PX, px, set_font_px
from paceline.gui.whole_style import whole_stylesheet

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtWidgets import QApplication, QWidget

__all__ = [
    "DARK",
    "LIGHT",
    "Theme",
    "ThemeController",
    "apply_basics",
    "apply_sheet",
    "apply_theme",
    "install_fonts",
    "mono_font",
    "restyle",
    "ui_font",
]

ThemeMode = Literal["system", "light", "dark"]

UI_FAMILIES = ("Inter", "Inter Variable", "Segoe UI", "Helvetica Neue", "Noto Sans", "DejaVu Sans")
MONO_FAMILIES = ("JetBrains Mono", "Cascadia Mono", "SF Mono", "Menlo", "Noto Sans Mono")


class ThemeController(QObject):
    """Which theme is in force: the desktop's, or the one that the user chose."""

    changing = Signal()
    """Another theme, or another size of text, is about to be told."""
    changed = Signal(object)

    def __init__(self, mode: ThemeMode = "system", parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._mode: ThemeMode = mode
        self._current = self._wanted()
        hints = QGuiApplication.styleHints()
        hints.colorSchemeChanged.connect(self._on_scheme_changed)

    @property
    def current(self) -> Theme:
        """The theme in force."""
        return self._current

    @property
    def mode(self) -> ThemeMode:
        """What the user chose: "system", "light" or "dark"."""
        return self._mode

    def set_mode(self, mode: ThemeMode) -> None:
        """Follow the desktop ("system") or stay with one theme; anything else is a ValueError."""
        if mode not in ("system", "light", "dark"):
            raise ValueError(f"no such theme mode: {mode!r}")
        self._mode = mode
        self._refresh()

    def _wanted(self) -> Theme:
        if self._mode == "system":
            scheme = QGuiApplication.styleHints().colorScheme()
            return DARK if scheme == Qt.ColorScheme.Dark else LIGHT
        return DARK if self._mode == "dark" else LIGHT

    def _refresh(self) -> None:
        wanted = self._wanted()
        if wanted is not self._current:
            self._current = wanted
            self.changing.emit()
            self.changed.emit(wanted)

    @Slot(Qt.ColorScheme)
    def _on_scheme_changed(self, _scheme: Qt.ColorScheme) -> None:
        self._refresh()


def install_fonts(font_folder: Path) -> None:
    """Make every font file in the folder known to Qt; a missing folder or bad file is no error."""
    if not font_folder.is_dir():
        return
    _present.cache_clear()
    for path in sorted(font_folder.iterdir()):
        if path.suffix.lower() in (".ttf", ".otf"):
            QFontDatabase.addApplicationFont(str(path))


def ui_font(size: int = BASE_PX, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
    """The font of the interface in a size of scale 1; the font has the size of the scale in force.

    Ask again in `set_theme`, which is called when the user chooses another size, too.
    """
    font = _font(UI_FAMILIES, QFontDatabase.SystemFont.GeneralFont)
    font.setPixelSize(px(size))
    font.setWeight(weight)
    return font


def mono_font(size: int = BASE_PX - 1) -> QFont:
    """The font of code in a size of scale 1; as `ui_font`."""
    font = _font(MONO_FAMILIES, QFontDatabase.SystemFont.FixedFont)
    font.setPixelSize(px(size))
    font.setStyleHint(QFont.StyleHint.Monospace)
    font.setFixedPitch(True)
    font.setFeature(QFont.Tag("calt"), 0)  # ligatures make ::= and != look like other signs
    return font


def _font(families: tuple[str, ...], fallback: QFontDatabase.SystemFont) -> QFont:
    font = QFontDatabase.systemFont(fallback)
    chosen = _present(families)
    if chosen:
        font.setFamilies([chosen, *[family for family in font.families() if family != chosen]])
    return font


@cache
def _present(families: tuple[str, ...]) -> str:
    # Only a family that is there: asking Qt for a missing one costs a search of all aliases.
    known = set(QFontDatabase.families())
    return next((family for family in families if family in known), "")


def palette(theme: Theme) -> QPalette:
    """The theme's colours in the roles of a Qt palette."""
    role = QPalette.ColorRole
    result = QPalette()
    for key, colour in (
        (role.Window, theme.window),
        (role.WindowText, theme.text),
        (role.Base, theme.surface),
        (role.AlternateBase, theme.hover),
        (role.Text, theme.text),
        (role.Button, theme.surface),
        (role.ButtonText, theme.text),
        (role.BrightText, theme.danger),
        (role.ToolTipBase, theme.tooltip),
        (role.ToolTipText, theme.tooltip_text),
        (role.PlaceholderText, theme.faint),
        (role.Highlight, theme.selection),
        (role.HighlightedText, theme.selection_text),
        (role.Accent, theme.accent),
        (role.Link, theme.accent),
        (role.LinkVisited, theme.accent),
        (role.Light, theme.surface),
        (role.Midlight, theme.hover),
        (role.Mid, theme.line_strong),
        (role.Dark, theme.muted),
        (role.Shadow, theme.line_strong),
    ):
        result.setColor(key, QColor(colour))
    for key in (role.WindowText, role.Text, role.ButtonText):
        result.setColor(QPalette.ColorGroup.Disabled, key, QColor(theme.faint))
    return result


def apply_theme(app: QApplication, theme: Theme, font_px: int = BASE_PX) -> None:
    """Dress the whole application: Fusion, palette, font and style sheet."""
    apply_basics(app, theme, font_px)
    apply_sheet(app, theme)


def apply_basics(app: QApplication, theme: Theme, font_px: int = BASE_PX) -> None:
    """Dress the application in all but the style sheet.

    A window is built in half the time before there is a sheet: under one, every widget is polished
    anew for each ancestor that it gets.
    """
    set_font_px(font_px)
    if app.styleSheet():
        # A sheet in place of another is handed down once for every ancestor of a widget; without
        # one in between, every widget is visited once for each of the two steps.
        app.setStyleSheet("")
    else:  # with a style sheet set, the style no longer tells its name
        app.setStyle("Fusion")
    font = ui_font()
    if app.font() != font:  # each of these calls visits every widget
        app.setFont(font)
    colours = palette(theme)
    app.setPalette(colours)
    # Fusion takes the outline of check boxes from the window colour, darkened: invisible in dark.
    colours.setColor(QPalette.ColorRole.Window, QColor(theme.faint).lighter(130))
    colours.setColor(QPalette.ColorRole.Text, QColor(theme.accent))
    for class_name in ("QCheckBox", "QRadioButton"):
        app.setPalette(colours, class_name)  # type: ignore[arg-type]  # the stubs say bytes


def apply_sheet(app: QApplication, theme: Theme) -> None:
    """Add the style sheet, in the size of text that the basics had."""
    app.setStyleSheet(whole_stylesheet(theme))


def restyle(widget: QWidget) -> None:
    """Make a changed dynamic property take effect."""
    style = widget.style()
    style.unpolish(widget)
    style.polish(widget)
    widget.update()
