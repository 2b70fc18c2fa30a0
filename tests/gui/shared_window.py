"""One whole window for all tests of a process that ask what it does.

Making a window takes ten times as long as what most tests do with it. So it is made once, around a
`FakeClient`, and put back after each test by the same means that a person and the engine have.
Then everything that can be seen is compared with how it was at the start: a test that leaves
something else fails, and the next test gets a new window.
"""

from __future__ import annotations

from dataclasses import fields
from itertools import count
from time import monotonic
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, QEvent, Qt, QTimer
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSlider,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QTabBar,
    QTextEdit,
    QWidget,
)
from shiboken6 import isValid

from gui.fake_client import FakeClient
from paceline import paths
from paceline.engine.draft import registry
from paceline.gui.look.current import look
from paceline.gui.program import Program
from paceline.gui.state.current_devices import Room
from paceline.gui.state.speculation import GROUPS, USUAL_LOOKUP
from paceline.messages import EngineDescribed
from paceline.settings import LoadedSettings, Settings, WindowSettings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from PySide6.QtGui import QAction

SIZE = 1440, 900
SERVER_S = 10.0
"""The longest that a server may take to end."""
USUAL = Settings(strategies=("draft",), was_welcomed=True, n_replies=9)
"""Most tests are about a strategy whose lengths are fixed; Auto has tests of its own."""
INFOS = registry.available()
"""Every drafter: to look for plug-ins takes 4 ms, too long to do it for each window."""
DELETE = int(QEvent.Type.DeferredDelete.value)


def deliver_deletes() -> None:
    """Carry out every `deleteLater` that is waiting."""
    QCoreApplication.sendPostedEvents(None, DELETE)


def program_around(
    client: FakeClient,
    home: Path,
    loaded: LoadedSettings,
    **changes: Any,
) -> Program:
    """Return a window of the usual size around a client, not started; noted in `made`."""
    program = Program(
        client=client,
        infos=INFOS,
        resources=paths.resources(),
        paths=paths.Paths.below(home),
        loaded=loaded,
        **changes,
    )
    program.window.resize(*SIZE)
    made.append(home)
    return program


made: list[Path] = []
"""The homes of all whole windows that were made in this process."""


def end(program: Program) -> None:
    """Close a window and let Qt delete it."""
    program.window.close()
    program.window.deleteLater()
    program.deleteLater()


class SharedWindow:
    """The window, its client, and the state that both are put back to.

    Attributes:
        client: The scripted engine.
        program: The window, whose models are loaded.
    """

    def __init__(self, home: Path) -> None:
        self.client = FakeClient()
        self.program = program_around(self.client, home, LoadedSettings(USUAL))
        self.program.start()
        self.client.finish_load()
        self._settings = self.program.settings.settings
        self._presets = self.program.presets.state
        self._strategy = dict(self._strategies())
        for _ in range(2):  # what is laid out late is in its place then
            QApplication.processEvents()
            self._put_back_all()
        self._start = dict(self._parts())

    def show(self) -> None:
        """Bring it to the front for a test, with the look that its settings ask for."""
        window = self.program.window
        look.set_motion(self._settings.motion)
        if not window.isVisible():
            window.show()
        if not window.isActiveWindow():
            window.activateWindow()
        window.chat_pane.composer.setFocus()

    def owns(self, widget: QWidget) -> bool:
        """Say whether a window is its own: itself, or a hidden one that it keeps for later."""
        above: QWidget | None = widget
        while above is not None and above is not self.program.window:
            above = above.parentWidget()
        return above is not None and (widget is above or widget.isHidden())

    def put_back(self) -> list[str]:
        """Bring it back to its start.

        Returns:
            Remaining differences from the start, in words; empty if there are none.
        """
        if self.client.is_closed:
            return ["the program was ended: such a test takes `make_program`"]
        self._put_back_all()
        for _ in range(2):
            if not self._differences():
                break
            QApplication.processEvents()  # what was resized is laid out then
        return self._differences()

    def _differences(self) -> list[str]:
        now = dict(self._parts())
        return [
            f"{name}: {self._start.get(name)!r} became {now.get(name)!r}"
            for name in sorted({*self._start, *now})
            if self._start.get(name) != now.get(name)
        ]

    def end(self) -> None:
        """Close it."""
        end(self.program)
        deliver_deletes()

    # ---------------------------------------------------------------------------- putting back

    def _put_back_all(self) -> None:
        self._close_windows()
        self._empty_chats()
        self._put_back_settings()
        self._stop_serving()
        self._load_anew()
        self._put_back_settings()  # a loaded pair, and a server that ends, change some
        self._put_back_panes()
        for timer in self._timers():
            # What waits for the next event goes on; nothing else begins in the next test.
            if timer.interval() and timer.parent() is not self.program.window.sidebar:
                timer.stop()
        deliver_deletes()

    def _timers(self) -> list[QTimer]:
        roots = self.program, self.program.window
        return [each for root in roots for each in root.findChildren(QTimer)]

    def _close_windows(self) -> None:
        self.program.help.palette.hide()
        while (popup := QApplication.activePopupWidget()) is not None:
            popup.close()
        for widget in QApplication.topLevelWidgets():
            if widget is not self.program.window and isValid(widget) and widget.isVisible():
                widget.close()

    def _empty_chats(self) -> None:
        program, window = self.program, self.program.window
        session, pane = program.session, window.chat_pane
        program.find.close()
        pane.find_bar.field.clear()
        window.sidebar.search.clear()
        session.end_reply()
        self.client.forget()
        while window.actions_.undo.isEnabled():
            window.actions_.undo.trigger()
        for folder in session.conversations.folders.all:
            session.remove_folder(folder.folder_id)
        window.sidebar.model.open_folders(())  # an id stays open where its folder has gone
        for line in session.summaries:
            session.remove(line.conversation_id)
        program.shown.new(private=True)  # an empty chat would stay, with its settings
        program.shown.new()
        pane.composer.show_unsent("", ())
        program.unsent.keep()

    def _load_anew(self) -> None:
        """Have the engine asked for what it is asked at a start, and for nothing else."""
        program, devices = self.program, self.program.devices
        if devices.room != Room():
            devices.show_engine(EngineDescribed("", "", ()))
        self.client.forget()
        devices.ask_anew()
        program.saved_pairs.forget_all()
        program.models.load_demo_pair()
        self.client.finish_load()

    def _put_back_settings(self) -> None:
        program, speculation = self.program, self.program.speculation
        look.set_font_px(self._settings.font_px)
        look.set_mode(self._settings.theme)
        program.presets.restore(self._presets)
        if dict(self._strategies()) != self._strategy:
            lookups = [info.id for info in speculation.infos if info.id != USUAL_LOOKUP]
            for name in (*lookups, USUAL_LOOKUP, "draft"):
                speculation.choose(name)
                speculation.reset()
        program.draft_presets.presets.set_own(())
        program.settings.update(
            **{each.name: getattr(self._settings, each.name) for each in fields(Settings)}
        )

    def _stop_serving(self) -> None:
        """Wait for the end of the server that the settings have switched off."""
        serving, end_s = self.program.serving, monotonic() + SERVER_S
        while serving.status != "off" and monotonic() < end_s:
            serving.wait()
            QApplication.processEvents()
        self.program.programs.forget()

    def _put_back_panes(self) -> None:
        window = self.program.window
        window.setWindowState(Qt.WindowState.WindowNoState)
        window.resize(*SIZE)
        for name in ("sidebar", "panel"):
            if not window.panes.is_shown(name):
                window.panes.toggle(name)
        window.restore(WindowSettings())
        window.chat_pane.errors.dismiss()

    def _strategies(self) -> Iterator[tuple[str, str]]:
        """Yield the strategy in force, those with settings of their own, and what groups mean."""
        speculation = self.program.speculation
        yield "strategies", str(speculation.saved())
        for group in GROUPS:
            yield f"group {group}", speculation.usual(group)

    # ------------------------------------------------------------------------- what can be seen

    def _parts(self) -> Iterator[tuple[str, str]]:
        """Yield everything by which two states of the window can differ, by name."""
        program, window = self.program, self.program.window
        yield from self._strategies()
        for each in fields(Settings):
            yield f"setting {each.name}", str(program.settings.value(each.name))
        yield "models", str(program.loader.state)
        yield "chats", str(program.session.summaries)
        yield "folders", str(program.session.conversations.folders.all)
        yield "panes", str(window.panes.splitter.sizes())
        for widget in QApplication.topLevelWidgets():
            if widget is not window and widget.isVisible():
                yield f"window {type(widget).__name__}", widget.windowTitle()
        yield "devices", f"{program.devices.room} {program.devices.reading}"
        for action in window.actions():
            yield f"action {action.text()}", _state_of_action(action)
        yield from shown(window, "window")


def _state_of_action(action: QAction) -> str:
    return f"{action.isEnabled()} {action.isVisible()} {action.isChecked()}"


def shown(widget: QWidget, path: str) -> Iterator[tuple[str, str]]:
    """Yield a widget that is shown, and those within it, with what they say."""
    yield path, _content(widget)
    if isinstance(widget, QLineEdit):
        return  # the button that empties it fades away
    numbers: dict[str, Iterator[int]] = {}
    for child in widget.children():
        if isinstance(child, QWidget) and not child.isHidden() and not child.isWindow():
            kind = type(child).__name__
            number = next(numbers.setdefault(kind, count(1)))
            yield from shown(child, f"{path}/{kind}-{number}")


def _content(widget: QWidget) -> str:
    """Return what a widget says, or lets a person enter."""
    match widget:
        case QLabel() | QLineEdit():
            said = widget.text()
        case QAbstractButton():
            said = f"{widget.text()} {widget.isChecked()} {widget.isEnabled()}"
        case QPlainTextEdit() | QTextEdit():
            said = widget.toPlainText()
        case QComboBox():
            said = widget.currentText()
        case QAbstractSlider():
            said = f"{widget.value()} {widget.maximum()}"
        case QTabBar():
            said = str(widget.currentIndex())
        case _:
            said = ""
    return f"{said} {widget.accessibleName()}"
