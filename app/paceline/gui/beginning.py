"""The first moments of the window: the application, the one window of a home, an empty frame.

Importing the window's modules takes a second of processor time, and several on a busy machine. So
this module imports little, and the frame is on the screen meanwhile, in the colour and place of the
window that follows. Main thread.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import PySide6
from PySide6.QtCore import (
    QByteArray,
    QCoreApplication,
    QEvent,
    QLocale,
    QObject,
    QSize,
    QTimer,
)
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication, QSplashScreen, QWidget

from paceline import __version__, logs
from paceline.gui.look.current import look
from paceline.gui.one_window import OneWindow
from paceline.paths import Paths, check_readable, resources
from paceline.settings import SETTINGS_FILE, LoadedSettings, load_settings

DEFAULT_SIZE = (1280, 800)
_COLLECT_AFTER = (20_000, 20, 10)
"""Thresholds of the garbage collector's three generations; see `gc.set_threshold`."""


def make_application(argv: Sequence[str]) -> QApplication:
    """Make the one `QApplication`; without a display, Qt draws into memory."""
    has_display = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    if sys.platform == "linux" and not has_display:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    QLocale.setDefault(QLocale.c())  # numbers are written in one style everywhere
    # PySide6 passes Qt its folder in a text that ends at a comma or semicolon, as in a list.
    for folder in ("Qt/plugins", "plugins"):
        QCoreApplication.addLibraryPath(str(Path(PySide6.__file__).parent / folder))
    app = QApplication(list(argv))
    app.setApplicationName("paceline")
    app.setApplicationDisplayName("Paceline")
    app.setApplicationVersion(__version__)
    app.setDesktopFileName("org.paceline.Paceline")
    icon = QIcon()
    for side in (16, 32, 64, 128, 256):
        icon.addFile(str(resources() / "icons" / f"paceline-{side}.png"))
    app.setWindowIcon(icon)
    return app


def collect_less() -> None:
    """Keep modules out of the garbage collector, and let it run rarely.

    A streaming reply makes many small objects and hardly any cycle; with Python's usual thresholds
    the collector takes a twelfth of the window's time.
    """
    gc.freeze()
    gc.set_threshold(*_COLLECT_AFTER)


class FirstFrame(QSplashScreen):
    """Covers the place of the window in its colour, until the window has been painted."""

    def __init__(self, geometry: str) -> None:
        """Make the frame; `show` puts it on the screen.

        Args:
            geometry: The last position of the window, as in `WindowSettings`; empty for the middle.
        """
        super().__init__()
        self.setWindowTitle("Paceline")
        screen = self.screen().availableGeometry()
        self.resize(QSize(*DEFAULT_SIZE).boundedTo(screen.size()))
        self.move(screen.center() - self.rect().center())
        if geometry:
            self.restoreGeometry(QByteArray.fromBase64(geometry.encode()))

    def give_way(self, window: QWidget) -> None:
        """Close as soon as this window has been painted."""
        window.installEventFilter(self)

    def eventFilter(self, window: QObject, event: QEvent) -> bool:
        """Wait for the first painting."""
        if event.type() == QEvent.Type.Paint:
            window.removeEventFilter(self)
            QTimer.singleShot(0, self.close)  # the painting itself comes after this
        return False


@dataclass(frozen=True, slots=True)
class Beginning:
    """The parts that exist before the window is made."""

    app: QApplication
    paths: Paths
    one: OneWindow
    loaded: LoadedSettings
    frame: FirstFrame


def begin(argv: Sequence[str], files: Sequence[Path]) -> Beginning | None:
    """Show the empty frame; return None where the window open on this home took the files.

    Raises:
        UserError: The home belongs to another user, or is not known.
    """
    paths = Paths.from_environment()
    check_readable(paths)
    logs.set_up(paths.log_dir)
    app = make_application(argv)
    one = OneWindow(paths.data_dir)
    if not one.claim(files):
        logs.tear_down()
        return None
    loaded = load_settings(paths.config_dir / SETTINGS_FILE)
    look.start(resources(), loaded.settings.theme, loaded.settings.font_px)
    frame = FirstFrame(loaded.settings.window.geometry)
    frame.show()
    frame.repaint()  # Qt's splash screen lets the window system draw it now
    return Beginning(app, paths, one, loaded, frame)
