"""Downloads from a real server on loopback, seen and steered from the window."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QMessageBox, QWidget

from hub_server import Fault, HubServer, Repository
from paceline.catalog.download.downloads import Downloads
from paceline.catalog.download.journal import DownloadRequest, DownloadState
from paceline.catalog.hub.client import Hub
from paceline.gui.kit.notices import Notice, Notifications
from paceline.gui.models.downloads import controller
from paceline.gui.models.downloads.controller import DownloadsController
from paceline.gui.models.downloads.panel import DownloadsDialog

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytestqt.qtbot import QtBot

# Dialogs are windows, about which the offscreen platform has regrets.
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

REPO = "owner/model"
MB = 1_000_000
SLOW = Fault("*.gguf", bytes_per_s=MB // 3)


class World:
    """Downloads, the controller between them and the list, and what was told."""

    def __init__(self, endpoint: str, folder: Path, window: QWidget) -> None:
        self.folder = folder
        self.window = window
        self.downloads = Downloads(Hub(endpoint=endpoint), folder / "journal", at_once=1)
        self.notices: list[Notice] = []
        self.used: list[str] = []
        self.ended: list[DownloadState] = []
        notifications = Notifications(window)
        notifications.posted.connect(self.notices.append)
        self.controller = DownloadsController(self.downloads, notifications, window)
        self.model = self.controller.model
        self.controller.use_requested.connect(self.used.append)
        self.controller.ended.connect(self.ended.append)

    @property
    def questions(self) -> list[QMessageBox]:
        return [box for box in self.window.findChildren(QMessageBox) if box.isVisible()]

    def add(self, *files: str) -> str:
        return self.controller.add(
            DownloadRequest(REPO, files or ("a.gguf",), "main", str(self.folder / "models"))
        )

    def status(self, download: str) -> str:
        state = self.model.state_of(download)
        return state.status if state is not None else "unknown"

    def close(self) -> None:
        self.downloads.close()
        self.controller.close()


@pytest.fixture
def server() -> Iterator[HubServer]:
    content = random.Random(3).randbytes(2 * MB)
    repository = Repository(REPO, {"a.gguf": content, "b.gguf": content[::-1]})
    with HubServer({REPO: repository}) as server:
        yield server


@pytest.fixture
def make_world(
    qtbot: QtBot, server: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[], World]]:
    monkeypatch.setattr("paceline.catalog.download.job.PAUSES_S", (0.01,))
    worlds: list[World] = []

    def make() -> World:
        window = QWidget()
        qtbot.addWidget(window)
        worlds.append(World(server.endpoint, tmp_path, window))
        return worlds[-1]

    yield make
    for world in worlds:
        world.close()


@pytest.fixture
def world(make_world: Callable[[], World]) -> World:
    return make_world()


def test_one_that_is_done_can_be_used_from_the_note(world: World, qtbot: QtBot) -> None:
    download = world.add()
    qtbot.waitUntil(lambda: world.status(download) == "done", timeout=20_000)
    qtbot.waitUntil(lambda: bool(world.notices))
    (notice,) = world.notices
    assert (notice.level, notice.action.text) == ("info", "Use it")
    assert "“a” is downloaded" in notice.message
    notice.action.run()
    assert [Path(path) for path in world.used] == [world.folder / "models" / "a.gguf"]
    assert [state.status for state in world.ended] == ["done"]
    world.controller.do("forget", download)
    assert world.model.states == ()
    notice.action.run()
    assert len(world.used) == 1


def test_one_that_failed_says_why_and_can_be_tried_again(
    world: World, server: HubServer, qtbot: QtBot
) -> None:
    server.add(Fault("*.gguf", status=404, error_code="EntryNotFound"))
    download = world.add()
    qtbot.waitUntil(lambda: bool(world.notices), timeout=20_000)
    assert world.status(download) == "failed"
    (notice,) = world.notices
    assert notice.level == "error"
    assert "“a” was not downloaded" in notice.message
    assert notice.hint
    server.clear()
    world.controller.do("retry", download)
    qtbot.waitUntil(lambda: world.status(download) == "done", timeout=20_000)


def test_pause_resume_and_cancel(world: World, server: HubServer, qtbot: QtBot) -> None:
    server.add(SLOW)
    first, second = world.add("a.gguf"), world.add("b.gguf")
    assert world.status(second) == "waiting"
    qtbot.waitUntil(lambda: world.status(first) == "running", timeout=20_000)
    world.controller.do("pause", first)
    qtbot.waitUntil(lambda: world.status(first) == "paused", timeout=20_000)
    qtbot.waitUntil(lambda: world.status(second) == "running", timeout=20_000)
    world.controller.do("cancel", second)
    qtbot.waitUntil(lambda: world.status(second) == "cancelled", timeout=20_000)
    world.controller.do("resume", first)
    qtbot.waitUntil(lambda: world.status(first) in ("running", "done"), timeout=20_000)
    assert not [notice for notice in world.notices if notice.level == "error"]


def test_one_that_was_cancelled_can_begin_again(
    world: World, server: HubServer, qtbot: QtBot
) -> None:
    server.add(SLOW)
    download = world.add()
    qtbot.waitUntil(lambda: world.status(download) == "running", timeout=20_000)
    world.controller.do("cancel", download)
    qtbot.waitUntil(lambda: world.status(download) == "cancelled", timeout=20_000)
    server.clear()
    world.controller.do("retry", download)
    (state,) = world.model.states
    assert state.id != download
    qtbot.waitUntil(lambda: world.status(state.id) == "done", timeout=20_000)


def test_much_is_not_given_up_by_a_slip(
    world: World, server: HubServer, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(controller, "_ASK_FROM_BYTES", 1)
    server.add(SLOW)
    download = world.add()
    qtbot.waitUntil(lambda: _n_done(world, download) > 1, timeout=20_000)
    world.controller.do("cancel", download)
    (box,) = world.questions
    assert "of “a” that have arrived are deleted" in box.text()
    box.reject()
    assert not world.questions
    assert world.status(download) in ("running", "done")
    world.controller.do("cancel", download)
    (box,) = world.questions
    accept = QMessageBox.ButtonRole.AcceptRole
    next(b for b in box.buttons() if box.buttonRole(b) == accept).click()
    qtbot.waitUntil(lambda: world.status(download) == "cancelled", timeout=20_000)


def _n_done(world: World, download: str) -> int:
    state = world.model.state_of(download)
    return state.n_done if state is not None else 0


def test_a_restart_shows_what_was_left(
    make_world: Callable[[], World], server: HubServer, qtbot: QtBot
) -> None:
    server.add(SLOW)
    before = make_world()
    download = before.add()
    qtbot.waitUntil(lambda: _n_done(before, download) > 0, timeout=20_000)
    before.close()
    after = make_world()
    assert after.status(download) == "paused"
    assert not after.notices
    server.clear()
    after.controller.do("resume", download)
    qtbot.waitUntil(lambda: after.status(download) == "done", timeout=20_000)


def test_a_full_disk_is_told_though_it_only_pauses(world: World) -> None:
    download = world.downloads.add(
        DownloadRequest(REPO, ("b.gguf",), "main", str(world.folder / "models"))
    )
    (state,) = (s for s in world.downloads.states() if s.id == download)
    full = DownloadState(
        download, state.request, "paused", problem="The disk is full.", hint="Make room."
    )
    for _ in range(2):
        world.controller._arrived.emit(full)
    (notice,) = [n for n in world.notices if n.level == "warning"]
    assert "“b” had to pause: The disk is full." in notice.message
    assert notice.hint == "Make room."


def test_late_news_bring_nothing_back(world: World, qtbot: QtBot) -> None:
    download = world.add()
    qtbot.waitUntil(lambda: world.status(download) == "done", timeout=20_000)
    state = world.model.state_of(download)
    world.controller.do("forget", download)
    world.controller._arrived.emit(state)
    assert world.model.states == ()
    world.controller.do("pause", download)


def test_the_list_in_a_window_of_its_own(world: World, qtbot: QtBot) -> None:
    dialog = DownloadsDialog(world.model)
    qtbot.addWidget(dialog)
    dialog.panel.wanted.connect(world.controller.do)
    dialog.show()
    download = world.add()
    qtbot.waitUntil(lambda: world.status(download) == "done", timeout=20_000)
    dialog.panel.rows[0].buttons["use"].click()
    assert len(world.used) == 1
    dialog.panel.rows[0].buttons["forget"].click()
    assert dialog.panel.rows == []
