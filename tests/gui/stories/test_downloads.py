"""One button for a recommended pair: from the Hub to the load, with what may come in between."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gui.library_help import PAIR
from gui.picker_world import demo_repositories
from hub_server import Fault, HubServer
from paceline.catalog.download import transfer
from paceline.catalog.models import Models
from paceline.chat.pair import Pair
from paceline.gui.models.downloads.getting import pair_of
from paceline.messages import DeviceInfo, EngineDescribed, LoadPair
from paceline.params import OWN_HEAD, DraftModel, ModelParams, TargetHead, params_of
from paceline.paths import Paths, demo_pair
from paceline.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.kit.notices import Notice
    from paceline.gui.models.downloads.getting import PairGetter
    from paceline.gui.program import Program


LIMIT_MS = 20_000
CPU = EngineDescribed("", "", (DeviceInfo("CPU", "CPU", "cpu", 1 << 36, 1 << 36),))
TARGET, DRAFT = demo_pair()


@dataclass
class World:
    """A window whose Hub has the demo pair, and an entry of the list that names it."""

    program: Program
    client: FakeClient
    server: HubServer
    pair: Pair
    folder: Path
    notices: list[Notice]

    @property
    def getter(self) -> PairGetter:
        """Gets pairs."""
        assert self.program.catalogue is not None
        return self.program.catalogue.getting

    @property
    def files(self) -> list[bytes]:
        """The models that are in the folder of downloads."""
        return [path.read_bytes() for path in sorted(self.folder.rglob("*.gguf"))]

    def is_loading(self) -> bool:
        """Say whether a load of the downloaded pair was asked for."""
        command = self.client.last(LoadPair)
        draft = params_of(command.drafting)
        paths = [Path(command.target.path), Path(draft.path if draft else "")]
        return [path.name for path in paths] == [TARGET.name, DRAFT.name] and all(
            path.is_relative_to(self.folder) for path in paths
        )


@pytest.fixture
def world(
    make_program: Callable[..., Program], client: FakeClient, paceline_home: Path, tmp_path: Path
) -> Iterator[World]:
    references = demo_repositories(tmp_path / "hub")
    with HubServer(tmp_path / "hub") as server:
        models = Models(
            Paths.below(paceline_home), endpoint=server.endpoint, environ={}, home=tmp_path / "home"
        )
        program = make_program(Settings(), models=models)
        client.emit(CPU)
        client.finish_load()
        (_, ours, target), (_, theirs, draft) = (name.split(":") for name in references)
        pair = replace(
            PAIR, target_repo=ours, target_file=target, draft_repo=theirs, draft_file=draft
        )
        notices: list[Notice] = []
        program.notices.posted.connect(notices.append)
        yield World(program, client, server, pair_of(pair), models.models_folder, notices)
        program.window.close()


def test_a_pair_is_fetched_and_loaded_by_one_button(world: World, qtbot: QtBot) -> None:
    offline = world.program.window.actions_.offline
    offline.trigger()
    world.getter.get(world.pair)
    qtbot.waitUntil(lambda: world.getter.problem.startswith("Paceline is offline"))
    offline.trigger()

    world.server.add(Fault(path=f"*{TARGET.name}", holds_after=100_000))
    world.getter.get(world.pair)
    qtbot.waitUntil(lambda: world.getter.progress > 0, timeout=LIMIT_MS)
    assert " of " in world.getter.line
    world.getter.cancel()
    assert world.getter.wanted is None
    assert world.getter.line == ""
    world.server.clear()
    assert world.program.catalogue is not None
    downloads = world.program.catalogue.downloads.model
    qtbot.waitUntil(
        lambda: {d.status for d in downloads.downloads} <= {"cancelled", "done"}, timeout=LIMIT_MS
    )
    assert TARGET.read_bytes() not in world.files
    assert len(world.client.all(LoadPair)) == 1

    world.getter.get(world.pair)
    qtbot.waitUntil(world.is_loading, timeout=LIMIT_MS)
    assert sorted(world.files, key=len) == [DRAFT.read_bytes(), TARGET.read_bytes()]
    assert world.getter.wanted is None
    n_sent = world.server.n_bytes_sent()
    world.client.finish_load()
    world.getter.get(world.pair)
    qtbot.waitUntil(lambda: len(world.client.all(LoadPair)) == 3, timeout=LIMIT_MS)
    assert world.server.n_bytes_sent() == n_sent, "what is here is not fetched again"


def test_a_download_continues_after_a_full_disk_and_models_loaded_meanwhile_stay(
    world: World, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    n_bytes = TARGET.stat().st_size
    with monkeypatch.context() as patch:
        patch.setattr(transfer, "_MIN_FREE_BYTES", 1 << 60)
        world.getter.get(world.pair)
        qtbot.waitUntil(lambda: "Make room" in world.getter.problem, timeout=LIMIT_MS)
    assert "Make room" in world.getter.line
    assert not world.getter.is_busy
    world.server.add(Fault(path=f"*{TARGET.name}", drop_after=n_bytes // 2))
    world.getter.get(world.pair)
    assert world.getter.is_busy
    qtbot.waitUntil(lambda: world.getter.progress > 400, timeout=LIMIT_MS)
    world.program.models.load(Pair(ModelParams(str(DRAFT))))
    world.client.finish_load()
    world.server.clear()
    qtbot.waitUntil(lambda: world.getter.wanted is None, timeout=LIMIT_MS)
    starts = {r.start for r in world.server.requests if TARGET.name in r.path and r.n_sent}
    assert max(starts) > 0, "what had arrived was not fetched again"
    assert TARGET.read_bytes() in world.files
    assert not world.is_loading()
    notice = next(each for each in reversed(world.notices) if each.action is not None)
    assert notice.message == "The recommended pair is downloaded."
    assert notice.action is not None
    notice.action.run()
    assert world.is_loading()
    notice.action.run()
    assert len(world.client.all(LoadPair)) == 3


def test_what_is_loaded_for_an_entry() -> None:
    target, draft = ModelParams(PAIR.target_reference), ModelParams(PAIR.draft_reference)
    assert pair_of(PAIR) == Pair(target, DraftModel(draft))
    head = replace(PAIR, kind="mtp")
    assert pair_of(head) == Pair(target, TargetHead("mtp", head.draft_reference))
    inside = replace(head, draft_repo="", draft_file=None)
    assert pair_of(inside) == Pair(target, OWN_HEAD)
    assert inside.is_complete
