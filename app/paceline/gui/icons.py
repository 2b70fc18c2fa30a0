"""Icons: SVG drawings in `currentColor`, tinted for the theme and sharp at every scale.

The folder comes from outside; this module knows no paths. Runs on the main thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, Qt
from PySide6.QtGui import QIcon, QImage, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

if TYPE_CHECKING:
    from pathlib import Path

    from paceline.gui.theme import Theme

_SIDES = (16, 20, 24, 32, 40, 48, 64)
"""Pixels; covers 16 to 32 device-independent pixels at scales 1, 1.25, 1.5 and 2."""


class Icons:
    """Loads icons by name from one folder and tints them."""

    def __init__(self, folder: Path, theme: Theme) -> None:
        self._folder = folder
        self._theme = theme
        self._sources: dict[str, str] = {}
        self._icons: dict[tuple[str, str, str], QIcon] = {}

    def set_theme(self, theme: Theme) -> None:
        """Tint what is asked for from now on; icons given out before keep their colour."""
        self._theme = theme

    def icon(self, name: str, colour: str = "") -> QIcon:
        """The icon ``name.svg`` in a colour ("#rrggbb"; by default that of muted text).

        A missing or broken drawing gives an empty icon, so that a widget shows its text alone.
        """
        tint = colour or self._theme.muted
        key = (name, tint, self._theme.faint)
        if key not in self._icons:
            self._icons[key] = self._draw(self._source(name), tint, self._theme.faint)
        return self._icons[key]

    def _source(self, name: str) -> str:
        if name not in self._sources:
            try:
                text = (self._folder / f"{name}.svg").read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError):
                text = ""
            # Qt complains on the console about what is no SVG at all.
            self._sources[name] = text if "<svg" in text and "</svg>" in text else ""
        return self._sources[name]

    @staticmethod
    def _draw(source: str, tint: str, disabled_tint: str) -> QIcon:
        icon = QIcon()
        if not source:
            return icon
        for mode, colour in ((QIcon.Mode.Normal, tint), (QIcon.Mode.Disabled, disabled_tint)):
            renderer = QSvgRenderer(QByteArray(source.replace("currentColor", colour).encode()))
            if not renderer.isValid():
                return QIcon()
            renderer.setAspectRatioMode(Qt.AspectRatioMode.KeepAspectRatio)
            for side in _SIDES:
                image = QImage(side, side, QImage.Format.Format_ARGB32_Premultiplied)
                image.fill(Qt.GlobalColor.transparent)
                painter = QPainter(image)
                renderer.render(painter)
                painter.end()
                icon.addPixmap(QPixmap.fromImage(image), mode)
        return icon
