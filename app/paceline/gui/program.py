"""The parts of the window put together: models, widgets and controllers around one engine client.

The composition root (`app`) makes a `Program`; tests make one with a scripted client. What is
started here ends here: `shut_down` saves the settings, closes what knows models, the engine, then
the background pool, in this order.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from paceline.chat.pair import PairLoader
from paceline.chat.session import ChatSession
from paceline.engine.drafters import forced
from paceline.gui.appearance import Appearance
from paceline.gui.background import Background
from paceline.gui.catalogue import Catalogue
from paceline.gui.chats import Chats
from paceline.gui.code_saver import CodeSaver
from paceline.gui.context_meter import ContextMeterController
from paceline.gui.current_devices import CurrentDevices
from paceline.gui.extras import Extras
from paceline.gui.fingerprints import ModelFingerprints
from paceline.gui.icons import Icons
from paceline.gui.learning_controller import MEMORY_FOLDER, LearningController
from paceline.gui.main_window import MainWindow
from paceline.gui.models_controller import ModelsController
from paceline.gui.notifications import Notifications
from paceline.gui.panel_controller import PanelController
from paceline.gui.run_controller import RunController
from paceline.gui.save_file import SaveFile
from paceline.gui.storage_controller import StorageController
from paceline.gui.translation import in_words
from paceline.gui.tuning import Tuning
from paceline.gui.viewmodels.chat import ChatSignals
from paceline.gui.viewmodels.conversations import ConversationList
from paceline.gui.viewmodels.live import LiveFigures
from paceline.gui.viewmodels.pair import PairModel
from paceline.gui.viewmodels.saved_pairs import SavedPairs, first_pairs
from paceline.gui.viewmodels.sources import Sources
from paceline.gui.viewmodels.speculation import SpeculationModel
from paceline.settings import LoadedSettings, Settings, save_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from paceline.catalog.models import Models
    from paceline.engine.drafters.base import DrafterInfo
    from paceline.gui.chat_controller import ChatController
    from paceline.hosting.client import EngineClient
    from paceline.settings import EngineHost

SAVE_AFTER_MS = 1500

_logger = logging.getLogger(__name__)


class Program(QObject):
    """Everything between the first and the last moment of the window."""

    ended = Signal(bool)
    """The window was closed and all is put away; false: the engine hangs."""

    def __init__(
        self,
        *,
        client: EngineClient,
        infos: Sequence[DrafterInfo],
        resources: Path,
        settings_file: Path,
        cache_dir: Path,
        data_dir: Path,
        loaded: LoadedSettings,
        chats_file: Path | None = None,
        change_host: Callable[[EngineHost], None] | None = None,
        models: Models | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        settings = loaded.settings
        self._client = client
        self._host = settings.engine_host
        self._change_host = change_host
        self._settings_file = settings_file
        self._loaded, self._put_aside = settings, loaded.put_aside
        self._open_conversation = (
            settings.window.open_conversation if settings.opens_last_chat else ""
        )
        self.appearance = Appearance(settings, resources, self)
        self.themes = self.appearance.themes
        infos = tuple(map(in_words, infos))
        self.speculation = SpeculationModel(infos, settings.strategies, self)
        self.live = LiveFigures(Sources((*infos, in_words(forced.INFO))), self)
        self.pair = PairModel(self)
        self.signals = ChatSignals(self)
        self.notifications = Notifications(self)
        self.background = Background(self)
        self._conversations = ConversationList(parent=self)
        self._icons = Icons(resources / "icons", self.themes.current)
        self.window = MainWindow(
            conversations=self._conversations,
            speculation=self.speculation,
            figures=self.live,
            pair=self.pair,
            theme=self.themes.current,
            icons=self._icons,
        )
        self.panel = PanelController(
            speculation=self.speculation,
            panel=self.window.panel,
            status=self.window.status,
            pair=self.pair,
            signals=self.signals,
            notifications=self.notifications,
            parent=self,
        )
        self.loader = PairLoader(
            client, cache_dir=str(cache_dir), memory_dir=str(data_dir / MEMORY_FOLDER)
        )
        self.storage = StorageController(chats_file, self.notifications, self)
        self.fingerprints = ModelFingerprints(self.pair, self.background, self)
        self.session = ChatSession(
            client,
            self.loader,
            self.panel.turn_options,
            store=self.storage.store,
            fingerprint_of=self.fingerprints.fingerprint_of,
        )
        self.panel.set_session(self.session)
        self.loader.set_listener(self.pair)
        self.session.set_listener(self.signals)
        client.set_listener(self.session.on_event)
        self.session.add_observer(self.live.on_event)
        self.chats = Chats(
            session=self.session,
            signals=self.signals,
            storage=self.storage,
            live=self.live,
            pair=self.pair,
            window=self.window,
            notifications=self.notifications,
            parent=self,
        )
        self.save_file = SaveFile(self.background, self.notifications, self)
        self.code_saver = CodeSaver(self.save_file, self.window, self)
        self.window.chat_pane.chat.code_save_requested.connect(self.code_saver.save)
        self.runs = RunController(
            client=client, session=self.session, signals=self.signals, loader=self.loader,
            live=self.live, fingerprints=self.fingerprints, background=self.background,
            save=self.save_file, themes=self.themes, icons=self._icons, window=self.window,
            parent=self,
        )  # fmt: skip
        self.context = ContextMeterController(
            self.session, client, self.signals, self.pair, self.panel, pane=self.window.chat_pane
        )
        self.context.setParent(self)
        self.learning = LearningController(
            card=self.window.panel.learning,
            data_dir=data_dir,
            signals=self.signals,
            loader=self.loader,
            pair=self.pair,
            background=self.background,
            notifications=self.notifications,
            parent=self,
        )
        demo, self.starter = first_pairs(resources, models)
        self.saved_pairs = SavedPairs(settings.pairs, demo, self)
        self.devices = CurrentDevices(self.session.describe_engine, self.loader, self)
        self.models = ModelsController(
            loader=self.loader,
            pair=self.pair,
            speculation=self.speculation,
            demo=demo,
            first=self.starter or demo,
            saved=self.saved_pairs,
            models=models,
            devices=self.devices,
            background=self.background,
            notifications=self.notifications,
            window=self.window,
        )
        self.catalogue = (
            None
            if models is None
            else Catalogue(
                models,
                loads=self.models,
                pair=self.pair,
                speculation=self.speculation,
                devices=self.devices,
                folders=settings.model_folders,
                background=self.background,
                notifications=self.notifications,
                themes=self.themes,
                icons=self._icons,
                window=self.window,
            )
        )
        self.tuning = Tuning(self, settings)
        self.extras = Extras(
            self, settings, self._icons, resources=resources, config_dir=settings_file.parent,
            data_dir=data_dir, cache_dir=cache_dir, client=client,
        )  # fmt: skip
        self._save_soon = QTimer(self, singleShot=True, interval=SAVE_AFTER_MS)
        self._save_soon.timeout.connect(self.save)
        self._restore(settings)
        self._connect()

    @property
    def chat(self) -> ChatController:
        """What binds the chat view to the session."""
        return self.chats.chat

    def start(self) -> None:
        """Show the window and load the pair that was used last, else the demo pair."""
        self.window.show()
        self.window.chat_pane.composer.setFocus()
        self.session.describe_engine()
        self.chats.start(self._open_conversation)
        self.models.start()
        if self.speculation.unusable:
            self.notifications.warn(
                self.tr("The saved strategy “{}” cannot be used here.").format(
                    self.speculation.unusable
                ),
                self.tr("“{}” takes its place.").format(self.speculation.current.title),
            )
        if self._put_aside is not None:
            self.notifications.warn(
                self.tr("The settings could not be read, so the defaults are used."),
                self.tr("The old file is kept as {}.").format(self._put_aside.name),
            )

    def settings(self) -> Settings:
        """What should be remembered now."""
        reply = self.window.panel.sampling.settings
        known = replace(
            self._loaded,  # what nothing in this window can change stays as it is
            theme=self.themes.mode,
            token_colours=self.window.actions_.token_colours.isChecked(),
            sampling=reply.sampling,
            max_tokens=reply.max_tokens,
            seed=reply.seed,
            system_prompt=reply.system_prompt,
            stop=reply.stop,
            strategies=self.speculation.saved(),
            remember_drafts=self.learning.remembers,
            engine_host=self._host,
            window=self.chats.remembered(self.window.state()),
            pairs=self.saved_pairs.pairs,
            model_folders=self.catalogue.library.folders
            if self.catalogue is not None
            else self._loaded.model_folders,
            hub_offline=self.window.actions_.offline.isChecked(),
            was_welcomed=self.extras.welcome.was_welcomed,
            recent_commands=self.extras.help.commands.recent,
        )
        return self.extras.preferences.fill(self.tuning.fill(known))

    @Slot()
    def save(self) -> None:
        """Write the settings; a folder that cannot be written to costs only them."""
        self._save_soon.stop()
        try:
            save_settings(self._settings_file, self.settings())
        except OSError as error:
            _logger.warning("the settings are not saved: %s", error)

    @Slot()
    def shut_down(self) -> None:
        """Put everything away; called when the window closes."""
        self.save()
        self.chats.keep()
        self.session.set_listener(None)
        self.loader.set_listener(None)
        self.tuning.close()
        self.extras.close()
        self.window.hide()  # the engine may take seconds to end, and nothing would move meanwhile
        if self.catalogue is not None:
            self.catalogue.close()
        engine_ended = self._client.close()
        self.storage.close()
        self.background.close()
        self.ended.emit(engine_ended)

    # ----------------------------------------------------------------------------------- private

    def _restore(self, settings: Settings) -> None:
        self.window.restore(settings.window)
        self.tuning.restore(settings)
        self.window.panel.learning.show_remembers(settings.remember_drafts)
        self.window.panel.loading.show_host(settings.engine_host)
        self.panel.show_settings()
        self.window.chat_pane.composer.set_obstacle(self.window.panel.sampling.obstacle)
        actions = self.window.actions_
        actions.token_colours.setChecked(settings.token_colours)
        self.window.chat_pane.chat.set_token_colours(settings.token_colours)
        actions.offline.setChecked(settings.hub_offline)

    def _connect(self) -> None:
        actions = self.window.actions_
        # Esc belongs to fields and menus while there is nothing to stop.
        actions.stop.setEnabled(False)
        self.chat.busy_changed.connect(actions.stop.setEnabled)
        self.chat.busy_changed.connect(actions.regenerate.setDisabled)
        actions.token_colours.toggled.connect(self.window.chat_pane.chat.set_token_colours)
        actions.token_colours.toggled.connect(self._on_remembered)
        self.appearance.connect_to(self.window)
        self.appearance.settings_changed.connect(self._on_remembered)
        self.extras.settings.settings_changed.connect(self._on_remembered)
        self.tuning.settings_changed.connect(self._on_remembered)
        self.extras.welcome.settings_changed.connect(self._on_remembered)
        self.window.panel.loading.host_requested.connect(self._on_host_requested)
        self.models.connect_to(
            actions, self.window.models_menu, self.window.panel.loading, self.window.drop_zones
        )
        self.notifications.posted.connect(self.window.chat_pane.errors.show_notice)
        self.notifications.settled.connect(self.window.chat_pane.errors.settle)
        self.window.chat_pane.errors.action_requested.connect(self.models.failures.on_action)
        self.panel.settings_changed.connect(self._on_remembered)
        self.saved_pairs.changed.connect(self._on_remembered)
        self.signals.shown.connect(self._on_remembered)
        self.signals.described.connect(self.devices.show_engine)
        actions.offline.toggled.connect(self._on_remembered)
        if self.catalogue is not None:
            self.catalogue.folders_changed.connect(self._on_remembered)
        self.panel.obstacle_changed.connect(self.window.chat_pane.composer.set_obstacle)
        self.panel.question_returned.connect(self.window.chat_pane.composer.return_message)
        self.learning.settings_changed.connect(self._on_remembered)
        self.window.closing.connect(self.shut_down)

    @Slot()
    def _on_remembered(self) -> None:
        self._save_soon.start()

    @Slot(str)
    def _on_host_requested(self, host: EngineHost) -> None:
        """Move the engine; the panel has the models loaded again behind this."""
        self._host = host
        if self._change_host is not None:
            self._change_host(host)
        self._save_soon.start()
