"""Downloads as the window steers and reports them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from PySide6.QtWidgets import QMessageBox, QWidget

from paceline.catalog.download.downloads import Downloads, Listener
from paceline.catalog.download.record import Download, DownloadedFile, DownloadRequest, Status
from paceline.catalog.models import Models
from paceline.chat.pair import Pair
from paceline.gui.kit.background import Background
from paceline.gui.kit.notices import Notice, Notifications
from paceline.gui.models.downloads.controller import DownloadsController, PairFetcher
from paceline.gui.models.downloads.panel import DownloadsDialog
from paceline.params import DraftModel, ModelParams

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot


GB = 10**9


class FakeDownloads:
    """Downloads that change when a test says so, and write down what they are asked for."""

    def __init__(self, *known: Download) -> None:
        self.known = {download.id: download for download in known}
        self.asked: list[tuple[str, str]] = []
        self.listener: Listener | None = None

    def set_listener(self, listener: Listener | None) -> None:
        self.listener = listener

    def states(self) -> tuple[Download, ...]:
        return tuple(self.known.values())

    def add(self, request: DownloadRequest) -> str:
        id_ = str(len(self.asked) + 1)
        self.asked.append(("add", id_))
        files = tuple(DownloadedFile(path) for path in request.files)
        self.known[id_] = Download(id_, request, files)
        return id_

    def forget(self, id_: str) -> None:
        self.asked.append(("forget", id_))
        del self.known[id_]

    def __getattr__(self, name: str) -> Callable[[str], None]:
        if name not in ("pause", "resume", "cancel"):
            raise AttributeError(name)
        return lambda id_: self.asked.append((name, id_))

    def change(self, id_: str, status: Status, n_here: int = 0, **more: Any) -> None:
        """Change a download, and notify its listener."""
        known = self.known[id_]
        file = replace(known.files[0], etag="e", n_bytes=2 * GB, n_here=n_here)
        now = self.known[id_] = replace(known, status=status, files=(file,), **more)
        if self.listener is not None:
            self.listener(now)


def request(name: str = "a.gguf") -> DownloadRequest:
    return DownloadRequest("o/r", (name,), "main", "/models")


class World:
    """The controller between fake downloads and a window, and its notifications."""

    def __init__(self, window: QWidget, *known: Download) -> None:
        self.window = window
        self.downloads = FakeDownloads(*known)
        self.notices: list[Notice] = []
        self.used: list[str] = []
        self.ended: list[str] = []
        notifications = Notifications(window)
        notifications.posted.connect(self.notices.append)
        real = cast(Downloads, self.downloads)
        self.controller = DownloadsController(real, notifications, window)
        self.controller.use_requested.connect(self.used.append)
        self.controller.ended.connect(lambda download: self.ended.append(download.status))

    @property
    def statuses(self) -> list[str]:
        """Statuses as the list shows them."""
        return [download.status for download in self.controller.model.downloads]

    def answer(self, role: QMessageBox.ButtonRole) -> str:
        """Press a button of the question that is open; returns its text."""
        (box,) = (b for b in self.window.findChildren(QMessageBox) if b.isVisible())
        next(b for b in box.buttons() if box.buttonRole(b) == role).click()
        return box.text()


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    window = QWidget()
    qtbot.addWidget(window)
    return window


@pytest.fixture
def world(window: QWidget) -> World:
    return World(window)


def test_one_that_is_done_can_be_used_from_the_note(window: QWidget) -> None:
    left = [Download(id_, request(), (), "failed", problem="Gone.") for id_ in ("8", "9")]
    world = World(window, *left)
    assert [download.id for download in world.controller.model.downloads] == ["9", "8"]
    assert not world.notices, "what earlier runs have left is not reported again"
    id_ = world.controller.add(request())
    assert world.statuses == ["waiting", "failed", "failed"]
    world.downloads.change(id_, "running", GB)
    world.downloads.change(id_, "done")
    (notice,) = world.notices
    assert (notice.level, world.ended) == ("info", ["done"])
    assert notice.action is not None
    notice.action.run()
    assert [Path(path) for path in world.used] == [Path("/models/a.gguf")]
    world.controller.do("forget", id_)
    notice.action.run()
    assert len(world.used) == 1
    head = world.controller.add(request("mtp-gemma-4-12B-it.gguf"))
    world.downloads.change(head, "done")
    assert world.notices[-1].action is None, "it is no model"


@pytest.mark.parametrize(
    ("status", "level", "ended"), [("failed", "error", ["failed"]), ("paused", "warning", [])]
)
def test_what_goes_wrong_is_reported_each_time(
    world: World, status: Status, level: str, ended: list[str]
) -> None:
    id_ = world.controller.add(request())
    for _ in range(2):
        world.downloads.change(id_, status, problem="The disk is full.", hint="Make room.")
    assert [notice.level for notice in world.notices] == [level] * 2
    assert "The disk is full." in world.notices[0].message
    assert world.notices[0].hint == "Make room."
    assert world.ended == ended * 2
    world.downloads.change(id_, "paused", problem="", hint="")
    assert len(world.notices) == 2


def test_every_button_asks_for_its_step_and_much_is_not_given_up_by_a_slip(world: World) -> None:
    id_ = world.controller.add(request())
    world.downloads.change(id_, "running", 1)
    for step in ("pause", "resume", "cancel", "retry"):
        world.controller.do(step, id_)
    assert world.downloads.asked[1:] == [
        ("pause", id_), ("resume", id_), ("cancel", id_), ("resume", id_),
    ]  # fmt: skip
    world.downloads.change(id_, "running", 100_000_000)
    world.controller.do("cancel", id_)
    assert "100 MB of “a”" in world.answer(QMessageBox.ButtonRole.RejectRole)
    assert len(world.downloads.asked) == 5
    world.controller.do("cancel", id_)
    world.answer(QMessageBox.ButtonRole.AcceptRole)
    assert world.downloads.asked[5:] == [("cancel", id_)]
    world.downloads.change(id_, "cancelled")
    world.controller.do("retry", id_)
    assert world.downloads.asked[6:] == [("forget", id_), ("add", "8")]
    world.controller.do("pause", "unknown")
    assert len(world.downloads.asked) == 8


def test_late_news_bring_nothing_back(world: World) -> None:
    id_ = world.controller.add(request())
    listener = world.downloads.listener
    assert listener is not None
    late = replace(world.downloads.known.pop(id_), status="done")
    listener(late)
    assert (world.statuses, world.notices, world.ended) == ([], [], [])
    world.controller.add(request())
    world.controller.close()
    assert world.downloads.listener is None
    world.downloads.known.clear()
    listener(late)
    assert world.statuses == ["waiting"]


def test_the_list_in_a_window_of_its_own(world: World, qtbot: QtBot) -> None:
    dialog = DownloadsDialog(world.controller.model)
    qtbot.addWidget(dialog)
    dialog.panel.wanted.connect(world.controller.do)
    dialog.show()
    world.downloads.change(world.controller.add(request()), "done")
    dialog.panel.rows[0].buttons["use"].click()
    assert len(world.used) == 1
    dialog.panel.rows[0].buttons["forget"].click()
    assert dialog.panel.rows == []


class Finder:
    """Stands for `Models` and for the Hub: one file is here, the others have to come."""

    def __init__(self) -> None:
        self.found: list[Callable[[], None]] = []

    def start(self, find: Any, done: Callable[[Any], None], failed: Callable[[Any], None]) -> None:
        """Do what `Background.start` does, when the test says so."""
        del find, failed
        self.found.append(lambda: done([request(), Path("/m/here.gguf")]))


class Waiting:
    """A fetcher, and what it said."""

    def __init__(self, world: World) -> None:
        self.finder = Finder()
        self.fetcher = PairFetcher(
            cast("Models", None), world.controller, cast("Background", self.finder), world.window
        )
        self.ready: list[Pair] = []
        self.fetcher.ready.connect(self.ready.append)
        self.pair = Pair(ModelParams("hf:o/r:a.gguf"), DraftModel(ModelParams("/m/here.gguf")))


@pytest.fixture
def waiting(world: World) -> Waiting:
    return Waiting(world)


def test_a_pair_is_ready_when_all_its_files_are_here(
    world: World, waiting: Waiting, qtbot: QtBot
) -> None:
    fetcher = waiting.fetcher
    fetcher.fetch(waiting.pair)
    world.controller.add(request("another.gguf"))
    assert fetcher.is_busy
    waiting.finder.found[0]()
    world.downloads.change("2", "failed", problem="Gone.", hint="Try again.")
    qtbot.waitUntil(lambda: fetcher.problem == "Gone. Try again.")
    assert not fetcher.is_busy
    world.downloads.change("2", "running", problem="", hint="")
    qtbot.waitUntil(lambda: fetcher.is_busy)
    assert not waiting.ready
    world.downloads.change("2", "done")
    qtbot.waitUntil(lambda: bool(waiting.ready))
    target, draft = waiting.ready[0].target, waiting.ready[0].draft
    assert draft is not None
    assert (Path(target.path), draft.path) == (Path("/models/a.gguf"), "/m/here.gguf")
    assert fetcher.wanted is None


@pytest.mark.parametrize("end", ["cancelled", "removed", "stopped", "another pair"])
def test_a_pair_is_waited_for_no_more(
    world: World, waiting: Waiting, qtbot: QtBot, end: str
) -> None:
    fetcher = waiting.fetcher
    fetcher.fetch(waiting.pair)
    if end == "stopped":
        fetcher.stop()
    elif end == "another pair":
        fetcher.fetch(replace(waiting.pair))
    waiting.finder.found[0]()
    if end == "cancelled":
        world.downloads.change("1", "cancelled")
    elif end == "removed":
        world.controller.do("forget", "1")
    wanted = replace(waiting.pair) if end == "another pair" else None
    qtbot.waitUntil(lambda: fetcher.wanted == wanted)
    is_begun = ("add", "1") in world.downloads.asked
    assert is_begun == (end in ("cancelled", "removed"))
    assert not waiting.ready
