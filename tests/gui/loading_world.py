"""Everything of the window that loads models, without the window."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMainWindow

from gui.shared_window import INFOS
from paceline import paths
from paceline.chat.pair import Pair, PairLoader
from paceline.engine.draft.strategy import strategy_named
from paceline.gui.context import AppContext
from paceline.gui.kit.background import Background
from paceline.gui.kit.drop_zones import DropZones
from paceline.gui.kit.notices import ErrorBar, Notifications
from paceline.gui.machines.servers import RpcServers
from paceline.gui.models.controller import ModelsController
from paceline.gui.models.saved_pairs import SavedPairs, first_pairs
from paceline.gui.state.actions import Actions
from paceline.gui.state.current_devices import CurrentDevices
from paceline.gui.state.pair import PairModel
from paceline.gui.state.settings_store import SettingsStore
from paceline.gui.state.speculation import SpeculationModel
from paceline.messages import DescribeEngine, LoadPair
from paceline.params import file_of
from paceline.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gui.fake_client import FakeClient
    from paceline.catalog.models import Models
    from paceline.messages import Event

GIB = 2**30
USUAL = Settings(strategies=("draft",), was_welcomed=True, n_replies=9)


class LoadingWorld(QObject):
    """The controller of loads with all that it needs, around the scripted engine.

    Attributes:
        bar: Shows notices, as that of the window does.
        n_free: Bytes of the main memory that are free.
    """

    def __init__(
        self,
        home: Path,
        client: FakeClient,
        *,
        settings: Settings = USUAL,
        models: Models | None = None,
    ) -> None:
        self.window = QMainWindow()
        super().__init__(self.window)
        self.client = client
        self.bar, self.notices = ErrorBar(), Notifications(self.window)
        self.window.setCentralWidget(self.bar)
        self.notices.posted.connect(self.bar.show_notice)
        self.notices.resolved.connect(self.bar.resolve)
        self.background = Background(self.window)
        self.settings = SettingsStore(settings, home / "settings.json", self.window)
        self.actions = Actions(self.window)
        self.pair, self.loader = PairModel(self.window), PairLoader(client)
        self.loader.set_listener(self.pair)
        saved = [strategy_named(text) for text in settings.strategies]
        self.speculation = SpeculationModel(INFOS, saved, self.window)
        demo, starter = first_pairs(paths.resources(), models)
        self.saved_pairs = SavedPairs(settings.pairs, demo, self.window)
        self.n_free = 8 * GIB
        self.devices = CurrentDevices(
            self.describe_engine, self.loader, models, self.window, main_memory=lambda: self.n_free
        )
        parts: dict[str, Any] = {
            field.name: getattr(self, field.name, None) for field in fields(AppContext)
        }
        self.models = ModelsController(
            AppContext(**parts),
            demo=demo,
            first=starter or demo,
            saved=self.saved_pairs,
            models=models,
            devices=self.devices,
        )
        self.zones = DropZones(self.window)
        self.menu = self.actions.fill(self.window.menuBar())
        self.models.connect_to(self.menu, self.zones)
        self.servers = RpcServers(self.settings, self.loader, self.background, tuple)
        self.servers.switched.connect(self.models.load_on_other_servers)

    def describe_engine(self) -> None:
        """Ask the engine for its devices, as the session does."""
        servers = self.loader.servers

        def on_event(event: Event) -> None:
            if servers == self.loader.servers:
                self.devices.show_engine(event)

        self.client.request(DescribeEngine(servers), on_event=on_event)

    def start(self) -> LoadingWorld:
        """Load what was used last, as the window does when it is shown."""
        self.devices.ask()
        self.models.start()
        return self

    @property
    def loads(self) -> list[tuple[str, str | None]]:
        """The names of the targets and drafters that were to be loaded, the newest last."""
        return [
            (Path(each.target.path).stem, Path(file_of(each.drafting)).stem or None)
            for each in self.client.all(LoadPair)
        ]

    @property
    def notice(self) -> str:
        """The text of the notice that is shown, or empty if there is none."""
        return "" if self.bar.isHidden() else self.bar.text.text().replace("\u200b", "")

    def close(self) -> None:
        self.background.close()
        self.window.close()
        self.window.deleteLater()


def loading_world(
    home: Path, client: FakeClient, models: Models | None = None, *, is_loaded: bool = True
) -> Iterator[LoadingWorld]:
    """Yield a world for a fixture, whose demo pair is loaded by default."""
    made = LoadingWorld(home, client, models=models).start()
    if is_loaded:
        client.finish_load()
    yield made
    made.close()


def pair_of(world: LoadingWorld) -> Pair:
    """Return what is loaded or being loaded."""
    pair = world.pair.state.pair
    assert pair is not None
    return pair
