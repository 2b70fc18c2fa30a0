"""The first model by one button: from the Hub to the load, with all that can come in between."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import namedtuple
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gui.fake_client import FakeClient, described
from hub_server import Fault, HubServer
from paceline import starter
from paceline.catalog.download import transfer
from paceline.catalog.download.names import PARTIAL
from paceline.catalog.download.part_file import PartFile
from paceline.catalog.download.record import DownloadRequest
from paceline.catalog.models import Models
from paceline.messages import LoadPair
from paceline.params import OWN_HEAD
from paceline.paths import Paths, demo_pair
from paceline.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytestqt.qtbot import QtBot

    from paceline.gui.models.downloads.getting import PairGetter
    from paceline.gui.program import Program
    from paceline.gui.welcome.options import OfferCard

pytestmark = [
    pytest.mark.qt_log_ignore("This plugin does not support"),
]

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
    program: Program | None = None

    def start(self, engine: FakeClient | None = None, *, endpoint: str = "") -> None:
        """Open the window at its first start."""
        self.client = engine or self.client
        models = Models(
            Paths.below(self.home),
            endpoint=endpoint or self.server.endpoint,
            environ={},
            home=self.home / "user",
        )
        self.program = self.make_program(Settings(), models=models, engine=engine)
        self.client.emit(described())

    @property
    def offer(self) -> OfferCard:
        """The card on the first page."""
        assert self.program is not None
        return self.program.welcome.page.first

    @property
    def getter(self) -> PairGetter:
        """Gets the model."""
        assert self.program is not None
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
        if made.program is not None:
            made.program.window.close()


@pytest.fixture
def opened(world: World) -> World:
    """With a window in which the demo pair is loaded."""
    world.start()
    world.client.finish_load()
    return world


def test_one_click_fetches_it_and_loads_it(opened: World, qtbot: QtBot) -> None:
    offer = opened.offer
    assert offer.isVisible()
    assert offer.button.text() == "Get SmolLM2 135M, 19 MB"
    assert starter.NAME in offer.facts.text()
    assert not opened.server.asked(starter.FILE), "nothing is fetched unasked"
    offer.button.click()
    qtbot.waitUntil(opened.is_loading, timeout=LIMIT_MS)
    assert opened.target.read_bytes() == PUBLISHED.read_bytes()
    assert opened.client.last(LoadPair).drafting == OWN_HEAD
    assert opened.server.asked(f"resolve/{starter.REVISION}/"), "one revision, which stays"
    assert not opened.server.asked("/api/models"), "what it is is known without a list"
    opened.client.finish_load()
    assert offer.isHidden()
    assert opened.program is not None
    assert opened.program.pair.target_name == starter.NAME
    answers = opened.program.welcome.page.questions[0].starter.title
    assert "comments" in answers, "the questions are those for a model that talks"


def test_lists_call_it_by_its_name(opened: World, qtbot: QtBot) -> None:
    opened.offer.button.click()
    qtbot.waitUntil(opened.is_loading, timeout=LIMIT_MS)
    assert opened.program is not None
    catalogue = opened.program.catalogue
    assert catalogue is not None
    qtbot.waitUntil(lambda: not catalogue.is_looking, timeout=LIMIT_MS)
    catalogue.scan()
    qtbot.waitUntil(lambda: any(e.file.path == opened.target for e in catalogue.entries))
    opened.client.finish_load()
    assert opened.program.saved_pairs.titles[0] == starter.NAME
    catalogue.show_downloads()
    assert catalogue.dialog is not None
    assert [row.name.text() for row in catalogue.dialog.panel.rows] == [starter.NAME]


def test_the_next_start_loads_it(world: World, qtbot: QtBot) -> None:
    world.target.parent.mkdir(parents=True)
    shutil.copy(PUBLISHED, world.target)
    world.start()
    qtbot.waitUntil(world.is_loading, timeout=LIMIT_MS)
    assert world.offer.isHidden()
    assert starter.find(Paths.below(world.home).models_dir) == world.target


def test_half_a_file_is_not_it(world: World) -> None:
    world.target.parent.mkdir(parents=True)
    world.target.write_bytes(PUBLISHED.read_bytes()[: N_BYTES // 2])
    assert starter.find(Paths.below(world.home).models_dir) is None


@pytest.mark.parametrize("where", ["hub", "bytes"])
def test_a_wrong_hash_is_refused(
    opened: World, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    if where == "hub":
        monkeypatch.setattr(starter, "SHA256", "0" * 64)
    else:
        opened.server.add(Fault(path="*.gguf", host="cdn", wrong_byte_at=N_BYTES // 2))
    opened.offer.button.click()
    qtbot.waitUntil(lambda: bool(opened.getter.problem), timeout=LIMIT_MS)
    said = {"hub": "The Hub has another file in the place", "bytes": "arrived damaged twice"}
    assert said[where] in opened.offer.facts.text()
    assert opened.offer.button.text().startswith(GET)
    assert opened.n_loads() == 1
    assert not list(opened.home.rglob("*.gguf")), "nothing of it is kept under that name"
    if where == "hub":
        assert opened.server.n_bytes_sent() == 0


def test_another_file_in_its_place_stays_and_is_not_loaded(opened: World, qtbot: QtBot) -> None:
    opened.target.parent.mkdir(parents=True)
    opened.target.write_bytes(b"GGUF, and mine")
    opened.offer.button.click()
    qtbot.waitUntil(lambda: "is there already" in opened.getter.problem, timeout=LIMIT_MS)
    assert opened.target.read_bytes() == b"GGUF, and mine"
    assert opened.n_loads() == 1


def test_after_a_break_it_goes_on_by_itself(opened: World, qtbot: QtBot) -> None:
    opened.server.add(Fault(path="*.gguf", host="cdn", drop_after=N_BYTES // 2, times=1))
    opened.offer.button.click()
    qtbot.waitUntil(opened.is_loading, timeout=LIMIT_MS)
    starts = [r.start for r in opened.server.requests if r.n_sent]
    assert max(starts) > 0, "what had arrived was not fetched again"


def test_it_pauses_goes_on_and_is_given_up(opened: World, qtbot: QtBot) -> None:
    offer = opened.offer
    opened.server.add(Fault(path="*.gguf", host="cdn", holds_after=N_BYTES // 2))
    offer.button.click()
    assert not offer.pauses.isHidden()
    assert (offer.pauses.text(), offer.button.text()) == ("Pause", "Cancel")
    qtbot.waitUntil(opened.is_half_here, timeout=LIMIT_MS)
    offer.pauses.click()
    qtbot.waitUntil(lambda: offer.pauses.text() == "Resume", timeout=LIMIT_MS)
    assert offer.facts.text().startswith("Paused, ")
    assert " of 19" in offer.facts.text()
    opened.server.clear()
    offer.pauses.click()
    qtbot.waitUntil(opened.is_loading, timeout=LIMIT_MS)


def test_given_up_it_leaves_nothing(opened: World, qtbot: QtBot) -> None:
    opened.server.add(Fault(path="*.gguf", host="cdn", holds_after=N_BYTES // 2))
    opened.offer.button.click()
    qtbot.waitUntil(opened.is_half_here, timeout=LIMIT_MS)
    opened.offer.button.click()
    assert opened.offer.button.text().startswith(GET)
    opened.server.clear()
    qtbot.waitUntil(lambda: not list(opened.target.parent.iterdir()), timeout=LIMIT_MS)
    assert opened.n_loads() == 1


def test_after_a_restart_it_resumes(world: World, qtbot: QtBot) -> None:
    world.start()
    world.client.finish_load()
    world.server.add(Fault(path="*.gguf", host="cdn", holds_after=N_BYTES // 2))
    world.offer.button.click()
    qtbot.waitUntil(world.is_half_here, timeout=LIMIT_MS)
    assert world.program is not None
    world.program.window.close()
    world.server.clear()
    world.server.requests.clear()
    world.start(FakeClient())
    world.client.finish_load()
    assert world.offer.pauses.text() == "Resume"
    assert world.offer.facts.text().startswith("Paused, ")
    assert not world.server.requests, "nothing goes on unasked"
    world.offer.pauses.click()
    qtbot.waitUntil(world.is_loading, timeout=LIMIT_MS)
    assert min(r.start for r in world.server.requests if r.n_sent) > N_BYTES // 3


def test_a_download_of_another_revision_is_another_one(world: World, qtbot: QtBot) -> None:
    world.start()
    assert world.program is not None
    assert world.program.catalogue is not None
    world.server.add(Fault(path="*.gguf", host="cdn", holds_after=N_BYTES // 2))
    folder = str(world.target.parent)
    request = DownloadRequest(starter.REPO, (starter.FILE,), "main", folder)
    world.program.catalogue.downloads.add(request)
    qtbot.waitUntil(world.is_half_here, timeout=LIMIT_MS)
    world.program.window.close()
    world.server.clear()
    world.start(FakeClient())
    world.client.finish_load()
    assert world.offer.button.text().startswith(GET), "its bytes are compared with no known hash"


@pytest.mark.parametrize("how", ["unreachable", "offline"])
def test_without_a_network_the_built_in_pair_answers(world: World, qtbot: QtBot, how: str) -> None:
    world.start(endpoint="http://127.0.0.1:9" if how == "unreachable" else "")
    world.client.finish_load()
    assert world.program is not None
    if how == "offline":
        world.program.window.actions_.offline.trigger()
    world.offer.button.click()
    qtbot.waitUntil(lambda: bool(world.getter.problem), timeout=LIMIT_MS)
    assert world.offer.facts.text() == world.getter.problem
    assert world.offer.button.text().startswith(GET), "it can be tried again"
    assert world.n_loads() == 1
    world.program.chat.send("Hello")
    world.client.reply("Hi.")


def test_a_full_disk_is_said_and_the_same_button_goes_on(
    opened: World, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda _: Usage(1 << 40, 1 << 40, 1000))
        opened.offer.button.click()
        qtbot.waitUntil(lambda: "Make room" in opened.getter.problem, timeout=LIMIT_MS)
    opened.offer.button.click()
    qtbot.waitUntil(opened.is_loading, timeout=LIMIT_MS)


def test_another_program_that_fetches_it_is_named(opened: World, qtbot: QtBot) -> None:
    opened.target.parent.mkdir(parents=True)
    with PartFile(opened.target):
        opened.offer.button.click()
        qtbot.waitUntil(lambda: "another window or program" in opened.getter.problem)
    opened.offer.button.click()
    qtbot.waitUntil(opened.is_loading, timeout=LIMIT_MS)


def test_a_private_chat_offers_nothing(opened: World) -> None:
    assert opened.program is not None
    opened.program.window.actions_.new_private.trigger()
    assert opened.offer.isHidden()
    opened.program.window.actions_.new_chat.trigger()
    assert not opened.offer.isHidden()


def test_later_empty_chats_offer_it_too_while_the_built_in_pair_answers(opened: World) -> None:
    assert opened.program is not None
    opened.program.chat.send("Hello")
    opened.client.reply("Hi.")
    opened.program.window.actions_.new_chat.trigger()
    assert not opened.program.welcome.page.example.isVisible()
    assert opened.offer.isVisible()


def test_on_a_laptop_it_fits(opened: World, qtbot: QtBot) -> None:
    assert opened.program is not None
    page = opened.program.welcome.page
    opened.program.window.resize(1366, 768)
    page.get.show_models("Gemma 4 E4B", "4.7 GB · here about 6 tokens/s (estimate)", "Get it")
    qtbot.wait(30)
    assert page.verticalScrollBar().maximum() == 0
