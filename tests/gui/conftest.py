"""GUI tests run the real widgets offscreen; nothing of Qt's may survive a test."""

from __future__ import annotations

import gc
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QThread, QTimer
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from gui.fake_client import FakeClient
from paceline import paths
from paceline.engine.draft import registry
from paceline.gui.chat.composer import Composer
from paceline.gui.engine_bridge import EngineBridge
from paceline.gui.look.colours import LIGHT
from paceline.gui.look.current import look
from paceline.gui.look.scale import BASE_PX
from paceline.gui.look.theme import apply_sheet, apply_theme
from paceline.gui.program import Program
from paceline.hosting.threaded import ThreadedClient, service_factory
from paceline.params import ReplySettings
from paceline.settings import LoadedSettings, ReplyPreset, Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from paceline.catalog.models import Models
    from paceline.settings import EngineHost

INFOS = registry.available()
"""Every drafter: to look for plug-ins takes 4 ms, too long to do it for each window."""

DELETE = int(QEvent.Type.DeferredDelete.value)


@pytest.fixture(autouse=True, scope="module")
def _automatic_collections_are_rare() -> Iterator[None]:
    """Let Python collect garbage less often: every test of the window does so at its end.

    That is a tenth of a test's time, most of it while a window is built.
    """
    before = gc.get_threshold()
    gc.set_threshold(50_000, 20, 50)
    yield
    gc.set_threshold(*before)


@pytest.fixture(autouse=True, scope="module")
def _dressed(qapp: QApplication) -> None:
    """Fonts and style sheet are those of the program in every file, whichever runs first."""
    if not qapp.styleSheet():
        look.start(paths.resources(), "light")
        look.dress()


@pytest.fixture
def dressed() -> None:
    """Asked for by a test of looks in a file that uses `plain_windows`."""


@pytest.fixture
def plain_windows(
    request: pytest.FixtureRequest, qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows without the style sheet, but for tests that are `dressed`.

    To put it on takes more than half of a window's time, and most tests ask what a window does.
    It stays off until such a test or another file needs it.
    """
    if "dressed" in request.fixturenames:
        if not qapp.styleSheet():
            apply_sheet(qapp, look.theme)
        return
    if qapp.styleSheet():
        qapp.setStyleSheet("")
    monkeypatch.setattr(look, "dress", lambda: None)


def deliver_deletes() -> None:
    """Carry out every `deleteLater` that is waiting."""
    QCoreApplication.sendPostedEvents(None, DELETE)


@pytest.fixture(autouse=True)
def _nothing_of_qt_left(qapp: QApplication) -> Iterator[None]:
    before = set(map(id, qapp.topLevelWidgets()))
    look.use_icons(paths.resources() / "icons")
    look.set_motion("reduced")  # a program asks its settings
    yield
    # QTest's double click holds it: then no later test's mouse is over anything.
    assert qapp.mouseButtons() == Qt.MouseButton.NoButton, "a mouse button is held"
    is_usual = look.font_px == BASE_PX and look.theme is LIGHT
    look.reset()
    deliver_deletes()
    gc.collect()
    deliver_deletes()
    if not is_usual:  # the application would keep its font and style sheet for the next test
        apply_theme(qapp, look.theme, look.font_px)
    widgets = [w for w in qapp.topLevelWidgets() if id(w) not in before and isValid(w)]
    # Types first: most tests leave none of these, and then no object has to be asked.
    objects = gc.get_objects()
    types = {kind for kind in set(map(type, objects)) if issubclass(kind, (QTimer, QThread))}
    found = [each for each in objects if type(each) in types and isValid(each)] if types else []
    timers = [each for each in found if isinstance(each, QTimer) and each.isActive()]
    threads = [each for each in found if isinstance(each, QThread) and each.isRunning()]
    assert not threads, f"threads are still running: {[t.objectName() for t in threads]}"
    assert not timers, f"timers are still running: {[(t.parent(), t.interval()) for t in timers]}"
    assert not widgets, f"widgets are still there: {[(w, w.objectName()) for w in widgets]}"


class _Appeared(QObject):
    """What became a window, by its type, in the order of showing."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802  Qt calls it so
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            self.names.append(type(watched).__name__)
        return False


@pytest.fixture
def appeared(qapp: QApplication) -> Iterator[list[str]]:
    """Types of what is shown as a window: a part that is shown without a parent flashes as one."""
    found = _Appeared()
    qapp.installEventFilter(found)
    yield found.names
    qapp.removeEventFilter(found)


@pytest.fixture
def client() -> FakeClient:
    return FakeClient()


@pytest.fixture
def make_program(
    qtbot: QtBot, paceline_home: Path, client: FakeClient
) -> Iterator[Callable[..., Program]]:
    """Makes the whole window around the scripted client, and closes it at the end.

    A second one takes an `engine` of its own; without `chats_file` chats live as long as it does.
    """
    made: list[Program] = []

    def make(
        settings: Settings | None = None,
        put_aside: Path | None = None,
        models: Models | None = None,
        chats_file: Path | None = None,
        engine: FakeClient | None = None,
    ) -> Program:
        # Most tests are about a strategy whose lengths are fixed; Auto has tests of its own.
        usual = Settings(strategies=("draft",), was_welcomed=True, n_replies=9)
        program = Program(
            client=engine or client,
            infos=INFOS,
            resources=paths.resources(),
            paths=paths.Paths.below(paceline_home),
            loaded=LoadedSettings(settings or usual, put_aside),
            chats_file=chats_file,
            models=models,
        )
        made.append(program)
        program.window.resize(1440, 900)
        program.start()
        return program

    yield make
    for program in made:
        program.window.close()
        program.window.deleteLater()
        program.deleteLater()
    made.clear()
    deliver_deletes()


@pytest.fixture
def make_real(qtbot: QtBot, paceline_home: Path) -> Iterator[Callable[..., Program]]:
    """Makes the whole window around a real engine, as `gui.app` does, and closes it at the end.

    It is not started yet. `engine` is the engine where it is not that of the settings;
    `changes` are settings, or the most tokens of a reply; without `chats_file` chats live as long
    as the window.
    """
    made: list[Program] = []

    def make(
        host: EngineHost = "process",
        engine: ThreadedClient | None = None,
        models: Models | None = None,
        chats_file: Path | None = None,
        **changes: Any,
    ) -> Program:
        engine = engine or ThreadedClient(service_factory(host))
        preset = ReplyPreset(
            "Test", ReplySettings(max_tokens=changes.pop("max_tokens", 1024), seed=7)
        )
        settings = Settings(
            strategies=("draft:n_max=4",),
            engine_host=host,
            was_welcomed=True,
            reply_presets=(preset,),
            default_preset=preset.name,
        )
        settings = replace(settings, **changes)
        program = Program(
            client=EngineBridge(engine),
            engine=engine,
            infos=INFOS,
            resources=paths.resources(),
            paths=paths.Paths.below(paceline_home),
            loaded=LoadedSettings(settings),
            chats_file=chats_file,
            change_host=engine.change_host,
            models=models,
        )
        made.append(program)
        program.window.resize(1440, 900)
        return program

    yield make
    for program in made:
        program.window.close()
        program.window.deleteLater()
        program.deleteLater()
    made.clear()
    deliver_deletes()


@pytest.fixture
def program(make_program: Callable[..., Program], client: FakeClient) -> Program:
    """A window whose models are loaded."""
    made = make_program()
    client.finish_load()
    return made


@pytest.fixture
def composer(qtbot: QtBot) -> Iterator[Composer]:
    # Within another widget: the offscreen plug-in knows no smallest sizes of windows.
    host = QWidget()
    qtbot.addWidget(host)
    made = Composer(host)
    made.resize(600, 100)
    host.resize(700, 300)
    host.show()
    yield made
    host.close()
