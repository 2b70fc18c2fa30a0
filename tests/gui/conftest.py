"""GUI tests run the real widgets offscreen; nothing of Qt's may survive a test."""

from __future__ import annotations

import gc
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import QEvent, QObject, Qt, QThread, QTimer
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import getCppPointer, isValid

from gui.chat_help import shown_chat
from gui.fake_client import FakeClient
from gui.shared_window import USUAL, SharedWindow, deliver_deletes, end, program_around
from paceline import paths
from paceline.catalog.hub.client import TokenSource
from paceline.catalog.models import Models
from paceline.gui.chat.composer import Composer
from paceline.gui.engine_bridge import EngineBridge
from paceline.gui.look.current import look
from paceline.gui.look.scale import BASE_PX
from paceline.gui.program import Program
from paceline.hosting.threaded import ThreadedClient, service_factory
from paceline.params import ReplySettings
from paceline.paths import Paths
from paceline.settings import LoadedSettings, ReplyPreset, Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from paceline.gui.chat.view import ChatView
    from paceline.gui.kit.notices import Notice
    from paceline.settings import EngineHost


@pytest.fixture
def qtbot(qtbot: QtBot) -> QtBot:
    """pytest-qt's, which waits 30 s by default, not 5: other work shares the cores."""
    for name in ("waitUntil", "waitSignal", "waitExposed"):
        setattr(qtbot, name, partial(getattr(qtbot, name), timeout=30_000))
    return qtbot


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


class _Keeper:
    """The window that the tests of this process share; made when the first of them needs it."""

    def __init__(self, factory: pytest.TempPathFactory) -> None:
        self._factory = factory
        self.window: SharedWindow | None = None

    def get(self) -> SharedWindow:
        """Return the window, shown."""
        if self.window is None:
            self.window = SharedWindow(self._factory.mktemp("shared-window"))
            gc.collect()
            gc.freeze()  # each test looks through all that is not frozen
        self.window.show()
        return self.window

    def put_back(self) -> None:
        """Put it back after a test, which fails where that is not possible."""
        assert self.window is not None
        if differences := self.window.put_back():
            self.end()
            pytest.fail("the shared window is not as before:\n" + "\n".join(differences[:20]))

    def end(self) -> None:
        """Close it; the next test that needs one gets a new one."""
        if self.window is not None:
            self.window.end()
            self.window = None


@pytest.fixture(scope="session")
def _keeper(tmp_path_factory: pytest.TempPathFactory, qapp: QApplication) -> Iterator[_Keeper]:
    made = _Keeper(tmp_path_factory)
    yield made
    made.end()


@pytest.fixture(autouse=True)
def _nothing_of_qt_left(
    request: pytest.FixtureRequest, qapp: QApplication, _keeper: _Keeper
) -> Iterator[None]:
    if "shared_window" in request.fixturenames:
        _keeper.get()  # before the first look
    before = {getCppPointer(each) for each in qapp.topLevelWidgets()}
    look.use_icons(paths.resources() / "icons")
    if "shared_window" not in request.fixturenames:
        look.set_motion("reduced")  # a program asks its settings
    yield
    # QTest's double click holds it: then no later test's mouse is over anything.
    assert qapp.mouseButtons() == Qt.MouseButton.NoButton, "a mouse button is held"
    look.set_font_px(BASE_PX)
    look.set_mode("light")
    look.reset()
    deliver_deletes()
    gc.collect()
    deliver_deletes()
    widgets = [w for w in qapp.topLevelWidgets() if getCppPointer(w) not in before]
    if _keeper.window is not None:  # what it keeps for the next time, such as menus
        widgets = [w for w in widgets if not _keeper.window.owns(w)]
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
    """The types of what became a window, in the order of showing."""

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
def client(request: pytest.FixtureRequest, _keeper: _Keeper) -> FakeClient:
    """The scripted engine: that of the shared window where a test takes it."""
    return _keeper.get().client if "shared_window" in request.fixturenames else FakeClient()


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
        loaded = LoadedSettings(settings or USUAL, put_aside)
        program = program_around(
            engine or client, paceline_home, loaded, chats_file=chats_file, models=models
        )
        made.append(program)
        program.start()
        return program

    yield make
    for program in made:
        end(program)
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
        program = program_around(
            EngineBridge(engine),
            paceline_home,
            LoadedSettings(settings),
            engine=engine,
            chats_file=chats_file,
            change_host=engine.change_host,
            models=models,
        )
        made.append(program)
        return program

    yield make
    for program in made:
        end(program)
    made.clear()
    deliver_deletes()


@pytest.fixture
def shared_window(_keeper: _Keeper) -> Iterator[SharedWindow]:
    """The window that all tests share, and its client; put back after the test."""
    yield _keeper.get()
    _keeper.put_back()


@pytest.fixture
def program(shared_window: SharedWindow) -> Program:
    """The window that all tests share: its models are loaded, and there is no chat yet.

    A test of starts and ends, of damaged files or of other settings takes `make_program`.
    """
    return shared_window.program


@pytest.fixture
def chat(qtbot: QtBot) -> Iterator[ChatView]:
    """A conversation without a window around it."""
    yield from shown_chat(qtbot)


@pytest.fixture
def notices(program: Program) -> list[Notice]:
    """All notices that the shared window posts."""
    told: list[Notice] = []
    program.notices.posted.connect(told.append)
    return told


@pytest.fixture
def models(paceline_home: Path, tmp_path: Path) -> Iterator[Models]:
    """Everything that knows models, offline, with a home without any."""
    made = Models(Paths.below(paceline_home), environ={}, home=tmp_path / "home", offline=True)
    made.hub.tokens = TokenSource({"HF_HOME": str(tmp_path / "hf")})
    yield made
    made.close()


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
