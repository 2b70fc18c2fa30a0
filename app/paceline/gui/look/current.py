"""The look in force: theme, size of text, icons, motion. Widgets ask `look` when they paint.

There is one `look`, since there is one application, whose palette and style sheet are global, too;
runs on the main thread. A widget that stores a size, or a text in the theme's colours, sets it in a
method that it passes to `look.follow`; only what depends on the widths of words waits for Qt's
`changeEvent`, which follows every change of font or style sheet. Icons are tinted when they are
painted, in sizes of the style sheet, so they never have to be set again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

from PySide6.QtCore import QByteArray, QObject, QRect, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication, QIcon, QIconEngine, QImage, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication

from paceline.gui.look.colours import DARK, LIGHT, Theme
from paceline.gui.look.scale import BASE_PX, COLUMNS
from paceline.gui.look.theme import apply_basics, apply_sheet, apply_theme, install_fonts
from paceline.settings import ChatWidth, Density, Motion, ThemeMode


class Look(QObject):
    """The theme in force (the desktop's or the chosen one) and the size of text."""

    changing = Signal()
    """The look is about to change to another theme or another size of text."""
    changed = Signal(object)
    """The look has changed; carries the `Theme`."""
    token_colours_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.mode: ThemeMode = "light"
        """The chosen mode: "system", "light" or "dark"."""
        self.theme = LIGHT
        """The theme in force."""
        self.font_px = BASE_PX
        """Size of body text, in device-independent pixels."""
        self._icons: Path | None = None
        self.reduces_motion = False
        """True to move widgets at once instead of animating them. Qt 6.11 reports the desktop's
        choice of contrast, but not of motion (https://doc.qt.io/qt-6/qaccessibilityhints.html), so
        "system" animates like "full"; nothing in the window moves without a reason anyway.

        Qt 6.11 tells what the desktop wants of contrast, but nothing of motion
        (https://doc.qt.io/qt-6/qaccessibilityhints.html), so "system" moves as "full" does; nothing
        in the window moves without a reason anyway.
        """
        self.wraps_code = True
        """True to wrap long lines of code; otherwise each block scrolls."""
        self.token_colours = True
        """True to show the source of each token in replies."""
        self.column_px = COLUMNS["normal"]
        """Maximum width of a chat, in device-independent pixels."""
        self.is_compact = False
        """True for less space between messages and in rows of chats."""
        self._hears_desktop = False

    def follow(self, dress: Callable[[], None]) -> None:
        """Call a widget's method now, and again after every change of the look.

        `dress` is a bound method, so that Qt drops the connection with the widget.
        """
        dress()
        self.changed.connect(dress)

    def start(self, resources: Path, mode: ThemeMode, font_px: int = BASE_PX) -> None:
        """Begin with these fonts, icons and choices, before any window is built.

        The style sheet is not put on yet: see `apply_basics`; `dress` adds it to a finished window.
        """
        install_fonts(resources / "fonts")
        self.use_icons(resources / "icons")
        if not self._hears_desktop:
            self._hears_desktop = True
            QGuiApplication.styleHints().colorSchemeChanged.connect(self._on_scheme_changed)
        self.mode, self.font_px = mode, font_px
        self.theme = self._wanted()
        if isinstance(app := QApplication.instance(), QApplication):
            apply_basics(app, self.theme, font_px)

    def reset(self) -> None:
        """Go back to the light theme in its usual size, with motion, as before `start`."""
        self.mode, self.theme = "light", LIGHT
        self.font_px = BASE_PX
        self.reduces_motion = False
        self.wraps_code = self.token_colours = True
        self.column_px, self.is_compact = COLUMNS["normal"], False

    def dress(self) -> None:
        """Put the style sheet on, once a window is built."""
        if isinstance(app := QApplication.instance(), QApplication):
            apply_sheet(app, self.theme)

    def set_mode(self, mode: ThemeMode) -> None:
        """Follow the desktop ("system") or stay with one theme; anything else is a ValueError."""
        if mode not in ("system", "light", "dark"):
            raise ValueError(f"no such theme mode: {mode!r}")
        self.mode = mode
        if self._wanted() is not self.theme:
            self._put_on()

    def set_font_px(self, size: int) -> None:
        """Choose another size of text, in device-independent pixels."""
        if size != self.font_px:
            self.font_px = size
            self._put_on()

    def set_motion(self, motion: Motion) -> None:
        """Allow animations ("full", "system") or not ("reduced")."""
        self.reduces_motion = motion == "reduced"

    def set_code_wrap(self, on: bool) -> None:  # noqa: FBT001
        """Wrap long lines of code, or let them be scrolled."""
        if on != self.wraps_code:
            self.wraps_code = on
            self._lay_out_anew()

    def set_chat_width(self, width: ChatWidth) -> None:
        """Set the maximum width of chats."""
        self.column_px = COLUMNS[width]
        self._lay_out_anew()

    def set_density(self, density: Density) -> None:
        """Set how much space is between things."""
        self.is_compact = density == "compact"
        self._lay_out_anew()

    def room(self, size: int) -> int:
        """Return a space between things, in pixels: half of `size` where the look is compact."""
        return size // 2 if self.is_compact else size

    def set_token_colours(self, on: bool) -> None:  # noqa: FBT001
        """Show or hide the source of each token, in all replies."""
        if on != self.token_colours:
            self.token_colours = on
            self.token_colours_changed.emit()

    # ------------------------------------------------------------------------------------- icons

    def use_icons(self, folder: Path) -> None:
        """Use the drawings in this folder: SVG files in `currentColor`."""
        self._icons = folder

    def icon(self, name: str, colour: str = "muted") -> QIcon:
        """Return the icon ``name.svg``; it paints itself in the theme's colour of this name.

        The icon is empty where the drawing is missing or broken.
        """
        return _icon(_drawing(self._icons, name), colour)

    # ----------------------------------------------------------------------------------- private

    def _wanted(self) -> Theme:
        if self.mode == "system":
            scheme = QGuiApplication.styleHints().colorScheme()
            return DARK if scheme == Qt.ColorScheme.Dark else LIGHT
        return DARK if self.mode == "dark" else LIGHT

    def _lay_out_anew(self) -> None:
        self.changing.emit()
        self.changed.emit(self.theme)

    def _put_on(self) -> None:
        self.theme = self._wanted()
        self.changing.emit()
        if isinstance(app := QApplication.instance(), QApplication):
            apply_theme(app, self.theme, self.font_px)
        self.changed.emit(self.theme)

    @Slot(Qt.ColorScheme)
    def _on_scheme_changed(self, _scheme: Qt.ColorScheme) -> None:
        self.set_mode(self.mode)


class _Tinted(QIconEngine):
    """An SVG drawing in a colour of the theme in force, sharp at every scale."""

    def __init__(self, drawing: str, colour: str) -> None:
        super().__init__()
        self._drawing = drawing
        self._colour = colour

    def clone(self) -> QIconEngine:
        copy = _Tinted(self._drawing, self._colour)
        _clones.append(copy)
        return copy

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        scale = painter.device().devicePixelRatioF() if painter.device() else 1.0
        painter.drawPixmap(rect, self.scaledPixmap(rect.size(), mode, state, scale))

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        return self.scaledPixmap(size, mode, state, 1.0)

    def scaledPixmap(
        self, size: QSize, mode: QIcon.Mode, _state: QIcon.State, scale: float
    ) -> QPixmap:
        """Draw it in pixels; `size` is in device-independent ones."""
        disabled = mode == QIcon.Mode.Disabled
        tint = getattr(look.theme, "faint" if disabled else self._colour)
        pixels = size * scale
        return _pixmap(self._drawing, tint, pixels.width(), pixels.height())


_clones: list[_Tinted] = []
"""References that keep Python from deleting what `clone` returns: Qt deletes it."""


@cache
def _icon(drawing: str, colour: str) -> QIcon:
    # Kept for good: Qt and Python would both delete an engine that comes and goes.
    return QIcon(_Tinted(drawing, colour)) if drawing else QIcon()


@cache
def _drawing(folder: Path | None, name: str) -> str:
    if folder is None:
        return ""
    try:
        text = (folder / f"{name}.svg").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
    # Qt writes warnings to the console about a text that is no SVG.
    if "<svg" not in text or "</svg>" not in text:
        return ""
    return text if QSvgRenderer(QByteArray(text.encode())).isValid() else ""


@cache
def _pixmap(drawing: str, tint: str, width: int, height: int) -> QPixmap:
    renderer = QSvgRenderer(QByteArray(drawing.replace("currentColor", tint).encode()))
    renderer.setAspectRatioMode(Qt.AspectRatioMode.KeepAspectRatio)
    image = QImage(max(width, 1), max(height, 1), QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    renderer.render(painter, QRectF(0, 0, width, height))
    painter.end()
    return QPixmap.fromImage(image)


look = Look()
"""The look of the application."""
