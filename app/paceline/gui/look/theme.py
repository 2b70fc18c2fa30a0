"""Fonts, palette and how the application is dressed in a theme; runs on the main thread.

A `Theme` is a plain record of colours (`look.colours`); sizes are in `look.scale`. `look.current`
knows which theme is in force and tells when it changes; `apply_theme` dresses the application in
it (Fusion, palette, style sheet).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from PySide6.QtGui import QColor, QFont, QFontDatabase, QPalette
from PySide6.QtWidgets import QApplication, QWidget

from paceline.gui.look.colours import Theme
from paceline.gui.look.scale import BASE_PX, px, set_font_px
from paceline.gui.look.style import whole_stylesheet

UI_FAMILIES = ("Inter", "Inter Variable", "Segoe UI", "Helvetica Neue", "Noto Sans", "DejaVu Sans")
MONO_FAMILIES = ("JetBrains Mono", "Cascadia Mono", "SF Mono", "Menlo", "Noto Sans Mono")


@cache
def install_fonts(font_folder: Path) -> None:
    """Make every font file in the folder known to Qt; a missing folder or bad file is no error.

    Once only: each time, Qt forgets how it had measured texts.
    """
    if not font_folder.is_dir():
        return
    _present.cache_clear()
    for path in sorted(font_folder.iterdir()):
        if path.suffix.lower() in (".ttf", ".otf"):
            QFontDatabase.addApplicationFont(str(path))


def ui_font(size: int = BASE_PX, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
    """The font of the interface in a size of scale 1; the font has the size of the scale in force.

    Ask when painting, or in a method that `look.follow` calls: the user may choose another size.
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
    return font


def _font(families: tuple[str, ...], fallback: QFontDatabase.SystemFont) -> QFont:
    font = QFontDatabase.systemFont(fallback)
    chosen = _present(families)
    if chosen:
        font.setFamilies([chosen, *[family for family in font.families() if family != chosen]])
    font.setFeature(QFont.Tag("calt"), 0)  # ligatures make -> and != look like other signs
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
