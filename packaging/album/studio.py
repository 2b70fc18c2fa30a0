"""A real window to be photographed: engine, database and models are those of the program."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from time import monotonic

from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from paceline.catalog.models import Models
from paceline.engine.draft import registry
from paceline.gui.engine_bridge import EngineBridge
from paceline.gui.kit.background import Slices
from paceline.gui.program import Program
from paceline.hosting.threaded import ThreadedClient, service_factory
from paceline.paths import Paths, resources
from paceline.settings import LoadedSettings, Settings

LIMIT_S = 60.0
_SCREEN = {"name": "album", "x": 0, "y": 0, "width": 1920, "height": 1200, "dpr": 1}
_AROUND = QSize(24, 24)
"""Pixels of the window that stay visible around a large dialog."""


def large_screen(folder: Path) -> str:
    """Return the name of a Qt platform without a display, larger than Qt's default of 800 x 800."""
    file = folder / "screen.json"
    file.write_text(json.dumps({"screens": [_SCREEN]}), encoding="utf-8")
    return f"offscreen:configfile={file}"


class Studio:
    """One window in one theme; main thread.

    Raises:
        TimeoutError: Something that was waited for did not happen.
    """

    def __init__(
        self, home: Path, out: Path, settings: Settings, suffix: str, *, only: tuple[str, ...] = ()
    ) -> None:
        """Make the window.

        Args:
            home: An empty folder for everything that the program keeps.
            out: Folder for the pictures.
            settings: The program's settings.
            suffix: End of the pictures' names.
            only: Beginnings of the names of the pictures to be kept; none: all are.
        """
        self._out, self._suffix, self._only = out, suffix, only
        self.home = home
        self.size = ""
        self.made: list[str] = []
        paths = Paths.below(home)
        self.data_dir = paths.data_dir
        engine = ThreadedClient(service_factory(settings.host_in_force))
        self.program = Program(
            client=EngineBridge(engine),
            engine=engine,
            infos=registry.available(),
            resources=resources(),
            paths=paths,
            loaded=LoadedSettings(settings),
            chats_file=paths.data_dir / "chats.db",
            models=Models(paths, environ={}, home=home, offline=True),
        )
        self.window = self.program.window
        self._n_counted = 0
        self.program.context_meter.counted.connect(self._on_counted)

    def _on_counted(self) -> None:
        self._n_counted += 1

    def start(self) -> None:
        """Show the window and wait for the models."""
        self.program.start()
        self.until_ready()

    def until_ready(self) -> None:
        """Wait until the pair can be used."""
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

    def until_idle(self) -> None:
        """Wait until no reply is being written and its figures are shown."""
        self.until(lambda: not self.window.actions_.stop.isEnabled())
        self.wait(700)

    def until_counted(self) -> None:
        """Wait until the context meter is about what is shown now."""
        n_counted = self._n_counted
        if self.program.pair.state.status == "ready":
            self.until(lambda: self._n_counted > n_counted)

    def open_chat(self, title: str) -> str:
        """Show a chat of the list; returns its last message's id."""
        names = {each.title: each.conversation_id for each in self.program.session.summaries}
        if self.program.shown.id != names[title]:
            self.program.shown.show(names[title])
            self.until_counted()
        self.wait(300)
        return self.program.shown.conversation.path()[-1].message_id

    def shoot(self, name: str, *over: QWidget | None) -> None:
        """Save the window, with the dialogs and menus that lie over it."""
        if self._only and not name.startswith(self._only):
            return
        for widget in over:
            if widget is not None and widget.isWindow() and not _places_itself(widget):
                widget.resize(widget.size().boundedTo(self.window.size() - _AROUND))
        self.wait(120)
        picture = self.window.grab().toImage()
        for widget in over:
            if widget is not None and widget.isVisible():
                self._lay_over(picture, widget)
        self.save(picture, f"{name}-{self.size}{self._suffix}.png")

    def save(self, picture: QImage, file: str) -> None:
        """Write a picture."""
        if not picture.save(str(self._out / file)):
            raise OSError(f"{self._out / file} cannot be written")
        self.made.append(file)

    def _lay_over(self, picture: QImage, widget: QWidget) -> None:
        """Draw a dialog where a window manager would: in the middle of its window."""
        size = widget.size()
        room = self.window.size()
        painter = QPainter(picture)
        if _places_itself(widget):
            at = widget.pos() - self.window.pos()
        else:
            left, top = (room.width() - size.width()) // 2, (room.height() - size.height()) // 3
            at = QPoint(max(left, 0), max(top, 0))
            painter.fillRect(self.window.rect(), "#50000000")
        if widget.testAttribute(Qt.WidgetAttribute.WA_TranslucentBackground):
            painter.drawPixmap(at, widget.grab())
        else:
            widget.render(painter, at)
            painter.setPen(QColor("#60808080"))
            painter.drawRect(at.x() - 1, at.y() - 1, size.width() + 1, size.height() + 1)
        painter.end()

    def dialog(self) -> QWidget | None:
        """Return the dialogs and menus that are open over the window."""
        modal = QApplication.activeModalWidget()
        if modal is not None:
            return modal
        shown = [
            each
            for each in QApplication.topLevelWidgets()
            if each.isVisible() and each is not self.window and each.isWindow()
        ]
        return shown[-1] if shown else None

    def shoot_dialog(self, name: str) -> None:
        """Save the window with its dialogs and menus, and close those."""
        self.wait(100)
        dialog = self.dialog()
        if dialog is not None:
            self.until(lambda: not any(each.is_busy for each in dialog.findChildren(Slices)))
        self.wait(300)
        self.shoot(name, dialog)
        if dialog is not None:
            dialog.close()
        self.wait(50)

    def close(self) -> None:
        """Close the window and remove everything."""
        ended: list[bool] = []
        self.program.ended.connect(ended.append)
        self.window.close()
        self.until(lambda: bool(ended), 20)


def _places_itself(widget: QWidget) -> bool:
    return widget.windowType() in (Qt.WindowType.ToolTip, Qt.WindowType.Popup)
