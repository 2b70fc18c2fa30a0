"""Fonts and palette, and how the application takes on a theme; runs on the main thread.

A `Theme` is a plain record of colours (`look.colours`); sizes are in `look.scale`. `look.current`
holds the theme in force and signals changes; `apply_theme` sets it for the application (Fusion,
palette, style sheet).
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

    Call it once only: each time, Qt discards its measurements of texts.
    """
    if not font_folder.is_dir():
        return
    _present.cache_clear()
    for path in sorted(font_folder.iterdir()):
        if path.suffix.lower() in (".ttf", ".otf"):
            QFontDatabase.addApplicationFont(str(path))


def ui_font(size: int = BASE_PX, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
    """Return the interface's font in a size of scale 1, at the scale in force.

    Ask when painting, or in a method that `look.follow` calls: the user may choose another size.
    """
    font = _font(UI_FAMILIES, QFontDatabase.SystemFont.GeneralFont)
    font.setPixelSize(px(size))
    font.setWeight(weight)
    return font


def mono_font(size: int = BASE_PX - 1) -> QFont:
    """Return the font of code in a size of scale 1, at the scale in force; see `ui_font`."""
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
    # Only an installed family: asking Qt for a missing one costs a search of all aliases.
    known = set(QFontDatabase.families())
    return next((family for family in families if family in known), "")


def palette(theme: Theme) -> QPalette:
    """Return a Qt palette with the theme's colours in its roles."""
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
    """Apply a theme to the whole application: Fusion, palette, font and style sheet."""
    apply_basics(app, theme, font_px)
    apply_sheet(app, theme)


def apply_basics(app: QApplication, theme: Theme, font_px: int = BASE_PX) -> None:
    """Apply all of a theme but the style sheet.

    A window is built in half the time without a sheet: under one, every widget is polished anew for
    each ancestor that it gets.
    """
    set_font_px(font_px)
    if app.styleSheet():
        # Replacing a sheet by another polishes each widget once for every ancestor of it. Without a
        # sheet in between, each widget is visited only twice.
        app.setStyleSheet("")
    else:  # the name of a style cannot be read while a style sheet is set
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
