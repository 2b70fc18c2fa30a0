"""A real window to be photographed: engine, database and models are those of the program."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import monotonic

from PySide6.QtCore import QPoint
from PySide6.QtGui import QImage, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from paceline.catalog.models import Models
from paceline.engine.drafters import registry
from paceline.gui.engine_thread import EngineThread, service_factory
from paceline.gui.program import Program
from paceline.paths import Paths, resources
from paceline.settings import LoadedSettings, Settings

LIMIT_S = 60.0


class Studio:
    """One window in one theme; main thread.

    Raises:
        TimeoutError: Something that was waited for did not happen.
    """

    def __init__(self, home: Path, out: Path, settings: Settings, suffix: str) -> None:
        self._out, self._suffix = out, suffix
        self.home = home
        self.size = ""
        self.made: list[str] = []
        paths = Paths.below(home)
        self.program = Program(
            client=EngineThread(service_factory(settings.engine_host)),
            infos=registry.available(),
            resources=resources(),
            settings_file=paths.config_dir / "settings.json",
            cache_dir=paths.cache_dir,
            data_dir=paths.data_dir,
            loaded=LoadedSettings(settings),
            chats_file=paths.data_dir / "chats.db",
            models=Models(paths, environ={}, home=home, offline=True),
        )
        self.window = self.program.window

    def start(self) -> None:
        """Show the window and wait for the models."""
        self.program.start()
        self.until(lambda: self.program.pair.state.status == "ready")

    def resize(self, width: int, height: int) -> None:
        """Give the window another size, which is part of the pictures' names from now on."""
        self.window.resize(width, height)
        self.size = f"{width}x{height}"
        self.wait(150)

    @staticmethod
    def wait(ms: int) -> None:
        """Let the window live for a while."""
        QTest.qWait(ms)

    def until(self, is_so: Callable[[], bool], limit_s: float = LIMIT_S) -> None:
        """Let the window live until something has happened."""
        end = monotonic() + limit_s
        while not is_so():
            if monotonic() > end:
                raise TimeoutError("what was waited for did not happen")
            QTest.qWait(20)

    def shoot(self, name: str, *over: QWidget | None) -> None:
        """Save the window, with the dialogs that lie over it."""
        self.wait(120)
        picture = self.window.grab().toImage()
        for widget in over:
            if widget is not None and widget.isVisible():
                self._lay_over(picture, widget)
        file = f"{name}-{self.size}{self._suffix}.png"
        picture.save(str(self._out / file))
        self.made.append(file)

    def _lay_over(self, picture: QImage, widget: QWidget) -> None:
        """Draw a dialog where a window manager would: in the middle of its window."""
        size = widget.size()
        room = self.window.size()
        painter = QPainter(picture)
        if widget.inherits("QTipLabel"):
            at = widget.pos() - self.window.pos()
        else:
            left, top = (room.width() - size.width()) // 2, (room.height() - size.height()) // 3
            at = QPoint(max(left, 0), max(top, 0))
            painter.fillRect(self.window.rect(), "#50000000")
        widget.render(painter, at)
        painter.end()

    def dialog(self) -> QWidget | None:
        """What lies over the window now."""
        modal = QApplication.activeModalWidget()
        if modal is not None:
            return modal
        shown = [
            each
            for each in QApplication.topLevelWidgets()
            if each.isVisible() and each is not self.window and each.isWindow()
        ]
        return shown[-1] if shown else None

    def close(self) -> None:
        """Put everything away."""
        ended: list[bool] = []
        self.program.ended.connect(ended.append)
        self.window.close()
        self.until(lambda: bool(ended), 20)
