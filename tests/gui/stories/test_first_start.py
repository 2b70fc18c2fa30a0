"""The first start: the starter by one button, with all that can come in between, and the page."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import namedtuple
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QApplication

from gui.fake_client import FakeClient, described
from hub_server import Fault, HubServer
from paceline import starter
from paceline.catalog.download import transfer
from paceline.catalog.download.names import PARTIAL
from paceline.catalog.download.part_file import PartFile
from paceline.catalog.download.record import DownloadRequest
from paceline.catalog.models import Models
from paceline.gui.look.current import look
from paceline.gui.models.picker.dialog import PickerDialog
from paceline.gui.welcome.starters import starters
from paceline.messages import LoadPair, StartTurn
from paceline.params import OWN_HEAD
from paceline.paths import Paths, demo_pair
from paceline.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytestqt.qtbot import QtBot

    from paceline.gui.models.downloads.getting import PairGetter
    from paceline.gui.program import Program
    from paceline.gui.welcome.options import OfferCard

pytestmark = pytest.mark.usefixtures("one_reader_for_all")

LIMIT_MS = 20_000
PUBLISHED = demo_pair()[0]
N_BYTES = PUBLISHED.stat().st_size
GET = "Get SmolLM2 135M, "
Usage = namedtuple("Usage", ("total", "used", "free"))


@dataclass
class World:
    """A Hub that has the file; windows are made by `start`."""

    server: HubServer
    home: Path
    make_program: Callable[..., Program]
    client: FakeClient
    opened: Program | None = None

    @property
    def program(self) -> Program:
        """The window that is open."""
        assert self.opened is not None
        return self.opened

    def start(self, engine: FakeClient | None = None) -> None:
        """Open the window at its first start."""
        self.client = engine or self.client
        models = Models(
            Paths.below(self.home),
            endpoint=self.server.endpoint,
            environ={},
            home=self.home / "user",
        )
        self.opened = self.make_program(Settings(), models=models, engine=engine)
        self.client.emit(described())

    @property
    def offer(self) -> OfferCard:
        """The card on the first page."""
        return self.program.welcome.page.first

    @property
    def getter(self) -> PairGetter:
        """Gets the model."""
        assert self.program.catalogue is not None
        return self.program.catalogue.getting_first

    @property
    def target(self) -> Path:
        """The place where the Hub's download puts it."""
        return Paths.below(self.home).models_dir / starter.REPO / starter.FILE

    def is_loading(self) -> bool:
        """Say whether its load was asked for."""
        loads = self.client.all(LoadPair)
        return bool(loads) and Path(loads[-1].target.path) == self.target

    def is_half_here(self) -> bool:
        """Say whether all is here that the Hub does not hold back."""
        part = self.target.with_name(self.target.name + PARTIAL)
        return part.exists() and part.stat().st_size > N_BYTES // 3

    def n_loads(self) -> int:
        """Count the loads that were asked for; the first is that of the demo pair."""
        return len(self.client.all(LoadPair))


@pytest.fixture
def world(
    make_program: Callable[..., Program],
    client: FakeClient,
    paceline_home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[World]:
    folder = tmp_path / "hub" / starter.REPO
    folder.mkdir(parents=True)
    (folder / starter.FILE).symlink_to(PUBLISHED)
    (folder / "repo.json").write_text(json.dumps({"revisions": [starter.REVISION]}))
    monkeypatch.setattr(starter, "SIZE", N_BYTES)
    monkeypatch.setattr(starter, "SHA256", hashlib.sha256(PUBLISHED.read_bytes()).hexdigest())
    monkeypatch.setattr(transfer, "PAUSES_S", (0.01,) * 3)
    with HubServer(tmp_path / "hub") as server:
        made = World(server, paceline_home, make_program, client)
        yield made
        if made.opened is not None:
            made.opened.window.close()


@pytest.fixture
def opened(world: World) -> World:
    """A window in which the demo pair is loaded."""
    world.start()
    world.client.finish_load()
    return world


def test_one_click_fetches_the_starter_and_loads_it(opened: World, qtbot: QtBot) -> None:
    program, offer = opened.program, opened.offer
    assert offer.isVisible()
    assert "19 MB" in offer.button.text()
    assert starter.NAME in offer.facts.text()
    program.window.actions_.new_private.trigger()
    assert offer.isHidden(), "a private chat offers nothing"
    program.window.actions_.new_chat.trigger()
    program.chat.send("Hello")
    opened.client.reply("Hi.")
    program.window.actions_.new_chat.trigger()
    assert not program.welcome.page.example.isVisible()
    assert offer.isVisible(), "later empty chats offer it too while the built-in pair answers"

    # A dialog that waits is gone before the window is dressed anew.
    qtbot.waitUntil(lambda: n_built() == 1, timeout=10_000)
    seen: list[int] = []
    counting = look.changed.connect(lambda _theme: seen.append(n_built()))
    program.window.actions_.flip_theme.trigger()
    look.changed.disconnect(counting)
    assert seen == [0]
    qtbot.waitUntil(lambda: n_built() == 1, timeout=10_000)

    assert not opened.server.asked(starter.FILE), "nothing is fetched unasked"
    offer.button.click()
    qtbot.waitUntil(opened.is_loading, timeout=LIMIT_MS)
    assert opened.target.read_bytes() == PUBLISHED.read_bytes()
    assert opened.client.last(LoadPair).drafting == OWN_HEAD
    assert opened.server.asked(f"resolve/{starter.REVISION}/"), "one revision, which stays"
    assert not opened.server.asked("/api/models"), "what it is is known without a list"
    opened.client.finish_load()
    assert offer.isHidden()
    assert program.pair.target_name == starter.NAME
    assert program.welcome.page.questions[0].starter == starters(starter.NAME, is_demo=False)[0]

    catalogue = program.catalogue
    assert catalogue is not None
    qtbot.waitUntil(lambda: not catalogue.is_looking, timeout=LIMIT_MS)
    catalogue.scan()
    qtbot.waitUntil(lambda: any(e.file.path == opened.target for e in catalogue.entries))
    assert program.saved_pairs.titles[0] == starter.NAME
    catalogue.show_downloads()
    assert catalogue.dialog is not None
    assert [row.name.text() for row in catalogue.dialog.panel.rows] == [starter.NAME]


def n_built() -> int:
    """Count the dialogs that wait to be shown."""
    return sum(isinstance(widget, PickerDialog) for widget in QApplication.allWidgets())


def test_what_stands_in_the_way_is_said_and_the_same_button_tries_again(
    opened: World, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer, server, target = opened.offer, opened.server, opened.target

    def refused(why: str) -> None:
        offer.button.click()
        qtbot.waitUntil(lambda: why in opened.getter.problem, timeout=LIMIT_MS)
        assert offer.facts.text() == opened.getter.problem
        assert offer.button.text().startswith(GET), "it can be tried again"
        assert opened.n_loads() == 1

    opened.program.window.actions_.offline.trigger()
    refused("Paceline is offline")
    opened.program.window.actions_.offline.trigger()
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda _: Usage(1 << 40, 1 << 40, 1000))
        refused("Make room")
    target.parent.mkdir(parents=True, exist_ok=True)
    with PartFile(target):
        refused("another window or program")
    with monkeypatch.context() as patch:
        patch.setattr(starter, "SHA256", "0" * 64)
        n_before = server.n_bytes_sent()
        refused("The Hub has another file in the place")
        assert server.n_bytes_sent() == n_before
    server.add(Fault(path="*.gguf", host="cdn", wrong_byte_at=N_BYTES // 2))
    refused("arrived damaged twice")
    server.clear()
    assert not list(opened.home.rglob("*.gguf")), "nothing of it is kept under that name"
    target.write_bytes(b"GGUF, and mine")
    refused("is there already")
    assert target.read_bytes() == b"GGUF, and mine"
    target.unlink()

    server.add(Fault(path="*.gguf", host="cdn", holds_after=N_BYTES // 2))
    offer.button.click()
    assert not offer.pauses.isHidden()
    qtbot.waitUntil(opened.is_half_here, timeout=LIMIT_MS)
    offer.pauses.click()
    qtbot.waitUntil(lambda: offer.facts.text().startswith("Paused, "), timeout=LIMIT_MS)
    assert " of 19" in offer.facts.text()
    offer.button.click()
    qtbot.waitUntil(lambda: not list(target.parent.iterdir()), timeout=LIMIT_MS)
    assert offer.button.text().startswith(GET)
    assert opened.n_loads() == 1, "given up it leaves nothing"
    server.clear()
    server.requests.clear()
    server.add(Fault(path="*.gguf", host="cdn", drop_after=N_BYTES // 2, times=1))
    offer.button.click()
    qtbot.waitUntil(opened.is_loading, timeout=LIMIT_MS)
    starts = [r.start for r in server.requests if r.n_sent]
    assert max(starts) > 0, "what had arrived was not fetched again"


def test_the_next_start_loads_it_if_it_is_whole(world: World, qtbot: QtBot) -> None:
    folder = Paths.below(world.home).models_dir
    world.target.parent.mkdir(parents=True)
    world.target.write_bytes(PUBLISHED.read_bytes()[: N_BYTES // 2])
    assert starter.find(folder) is None, "half a file is not it"
    shutil.copy(PUBLISHED, world.target)
    assert starter.find(folder) == world.target
    world.start()
    question = world.program.welcome.page.questions[0]
    assert question.starter == starters(starter.NAME, is_demo=False)[0]
    question.click()  # before any model is there
    qtbot.waitUntil(world.is_loading, timeout=LIMIT_MS)
    assert world.offer.isHidden()
    assert world.n_loads() == 1
    assert world.client.last(LoadPair).drafting == OWN_HEAD
    assert world.program.speculation.text == "auto"
    world.client.finish_load()
    turn = world.client.last(StartTurn)
    assert turn.sampling.temperature == 0
    assert turn.prompt.messages[-1].text == question.starter.text


def test_after_a_restart_it_resumes_but_not_from_another_revision(
    world: World, qtbot: QtBot
) -> None:
    def restart() -> None:
        qtbot.waitUntil(world.is_half_here, timeout=LIMIT_MS)
        world.program.window.close()
        world.server.clear()
        world.server.requests.clear()
        world.start(FakeClient())
        world.client.finish_load()

    world.start()
    assert world.program.catalogue is not None
    world.server.add(Fault(path="*.gguf", host="cdn", holds_after=N_BYTES // 2))
    folder = str(world.target.parent)
    request = DownloadRequest(starter.REPO, (starter.FILE,), "main", folder)
    other = world.program.catalogue.downloads.add(request)
    restart()
    assert world.offer.button.text().startswith(GET), "its bytes are compared with no known hash"
    assert world.program.catalogue is not None
    world.program.catalogue.downloads.do("cancel", other)
    qtbot.waitUntil(lambda: not list(world.target.parent.iterdir()), timeout=LIMIT_MS)

    world.server.add(Fault(path="*.gguf", host="cdn", holds_after=N_BYTES // 2))
    world.offer.button.click()
    restart()
    assert world.offer.facts.text().startswith("Paused, ")
    assert not world.server.requests, "nothing goes on unasked"
    world.offer.pauses.click()
    qtbot.waitUntil(world.is_loading, timeout=LIMIT_MS)
    assert min(r.start for r in world.server.requests if r.n_sent) > N_BYTES // 3


def test_without_it_the_page_asks_the_built_in_pair_in_a_window_that_fits_the_screen(
    program: Program,
) -> None:
    assert program.welcome.page.questions[0].starter == starters("", is_demo=True)[0]
    window, room = program.window, program.window.screen().availableGeometry()
    window.resize(3000, 3000)
    window.fit_screen()
    assert window.width() <= room.width()
    assert window.height() < room.height()
    window.resize(700, 500)
    window.fit_screen()
    assert (window.width(), window.height()) == (700, 500)
