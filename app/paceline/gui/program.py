"""The composition root: every part of the window is made, connected and ended here.

`app` makes a `Program` around the real engine, tests make one around a scripted client. Parts are
made from the inside out: the state, the window, the session, then the features, which share all of
these as an `AppContext`. `shut_down` ends them in this order: it saves the settings, closes the
model features, the engine, then the background pool.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal, Slot

from paceline.catalog.models import Models
from paceline.chat.pair import PairLoader
from paceline.chat.session import ChatSession
from paceline.engine.draft import grammar_drafter
from paceline.engine.draft.base import DrafterInfo
from paceline.engine.draft.strategy import strategy_named, strategy_text
from paceline.gui.bench.controller import BenchController
from paceline.gui.chat.composer_controllers import (
    AttachmentsController,
    ContextMeterController,
    LongerContext,
    UnsentController,
)
from paceline.gui.chat.controller import ChatController
from paceline.gui.chat.find import FindController
from paceline.gui.chat.markdown.formulas import shared_formulas
from paceline.gui.chat.reading_ahead import ReadingAheadController
from paceline.gui.compare.controller import CompareController
from paceline.gui.context import AppContext
from paceline.gui.conversations.controller import ConversationsController
from paceline.gui.conversations.exchange import ExchangeController, ImportController
from paceline.gui.conversations.model import ConversationList
from paceline.gui.conversations.titling import TitlingController
from paceline.gui.help.controller import HelpController
from paceline.gui.kit.background import Background
from paceline.gui.kit.file_dialogs import OpenFile, SaveFile
from paceline.gui.kit.notices import Notifications
from paceline.gui.kit.translation import in_words
from paceline.gui.look.current import look
from paceline.gui.machines.page import MachinesPage
from paceline.gui.machines.servers import RpcServers
from paceline.gui.models.catalogue import Catalogue
from paceline.gui.models.controller import ChatPairOffer, ModelsController
from paceline.gui.models.saved_pairs import SavedPairs, first_pairs
from paceline.gui.panel import PanelController
from paceline.gui.run.controller import RunController
from paceline.gui.run.hashes import ModelHashes
from paceline.gui.run.versions import VersionsController
from paceline.gui.sampling.controller import SamplingController
from paceline.gui.sampling.presets import ReplyPresets
from paceline.gui.sampling.prompting import PromptingController
from paceline.gui.serving.controller import SERVING, ServingController
from paceline.gui.serving.light import ServingLight
from paceline.gui.serving.page import ProgramsPage
from paceline.gui.serving.requests import RequestsController
from paceline.gui.settings.controller import Appearance, SettingsController
from paceline.gui.settings.forms import SettingsPage
from paceline.gui.settings.prompt_cache import PromptCache
from paceline.gui.settings.prompt_cache_page import PromptCachePage
from paceline.gui.speculation.draft_settings import DraftPresetsController
from paceline.gui.speculation.learning import LearningController
from paceline.gui.state.chat_signals import ChatSignals
from paceline.gui.state.current_devices import CurrentDevices
from paceline.gui.state.drafts import Drafts
from paceline.gui.state.live import LiveFigures
from paceline.gui.state.machine_reading import MachineReading
from paceline.gui.state.next_reply import NextReply
from paceline.gui.state.pair import PairModel
from paceline.gui.state.programs import ProgramReplies
from paceline.gui.state.settings_store import SettingsStore
from paceline.gui.state.shown_chat import ShownChat
from paceline.gui.state.sources import Sources
from paceline.gui.state.speculation import SpeculationModel
from paceline.gui.state.undoing import Undoing
from paceline.gui.storage_controller import StorageController
from paceline.gui.welcome.controller import WelcomeController
from paceline.gui.window import MainWindow
from paceline.hosting.client import EngineClient
from paceline.messages import DeviceInfo
from paceline.params import ReplySettings
from paceline.paths import Paths
from paceline.server.journal import Journal
from paceline.settings import SETTINGS_FILE, EngineHost, LoadedSettings


class Program(QObject):
    """The whole program from the first to the last moment of the window; main thread."""

    ended = Signal(bool)
    """The window was closed and everything is shut down; False if the engine hangs."""

    def __init__(
        self,
        *,
        client: EngineClient,
        infos: Sequence[DrafterInfo],
        resources: Path,
        paths: Paths,
        loaded: LoadedSettings,
        engine: EngineClient | None = None,
        chats_file: Path | None = None,
        change_host: Callable[[EngineHost], None] | None = None,
        models: Models | None = None,
        parent: QObject | None = None,
    ) -> None:
        """Build the window; nothing is shown or loaded before `start`.

        Args:
            client: The engine, whose events come on the main thread; closed by `shut_down`.
            infos: The available drafters.
            resources: The folder of shipped files.
            paths: The user's folders.
            loaded: The settings, and whether their damaged file was set aside.
            engine: The engine itself, for parts with threads of their own; None to use `client`.
            chats_file: The database of chats; None to keep them only while the window lives.
            change_host: Moves the engine into a process or thread, or None if it cannot be moved.
            models: The catalogue of models; None to offer only files.
            parent: Qt's parent.
        """
        super().__init__(parent)
        self._client = client
        self._engine = engine or client
        self._resources, self._paths = resources, paths
        self._change_host = change_host
        self._put_aside = loaded.put_aside
        self._host = loaded.settings.host_in_force
        self.settings = SettingsStore(loaded.settings, paths.config_dir / SETTINGS_FILE, self)
        self._make_state(tuple(map(in_words, infos)))
        self._make_window()
        self._make_session(chats_file)
        self.context = self._make_context()
        self._make_chat()
        self._make_models(models)
        self._make_panel_cards()
        self._make_dialogs(models)
        self._restore()
        self._connect()
        look.dress()

    def start(self) -> None:
        """Show the window and load the pair used last, or else the demo pair."""
        self.window.show()
        self.window.chat_pane.composer.setFocus()
        self.devices.ask()
        settings = self.settings.settings
        self.storage.start()
        self.conversations.start(
            settings.window.open_conversation if settings.opens_last_chat else "",
            self.storage.leftovers,
        )
        self.models.start()
        self.serving.start()
        unusable = self.speculation.unusable
        if unusable is not None:
            self.notices.warn(
                self.tr("The saved strategy “{}” cannot be used here.").format(
                    strategy_text(unusable)
                ),
                self.tr("“{}” takes its place.").format(self.speculation.current.title),
            )
        if self._put_aside is not None:
            self.notices.warn(
                self.tr("The settings could not be read, so the defaults are used."),
                self.tr("The old file is kept as {}.").format(self._put_aside.name),
            )

    @Slot(list)
    def call(self, files: list[str]) -> None:
        """Bring the window to the front and open files, for another start of the program."""
        window = self.window
        window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized)
        window.show()
        window.raise_()
        window.activateWindow()
        if files:
            window.drop_zones.use_files(files)

    @Slot()
    def shut_down(self) -> None:
        """Shut everything down; called when the window closes."""
        self.bench.close()
        self.serving.close()
        self.settings.save()
        self.window.chat_pane.errors.dismiss()  # its button's action needs parts that end now
        self.unsent.keep()
        self.chat.keep_place()
        self.shown.keep_settings()
        self.session.end_reply()  # keeps the text so far
        self.session.set_listener(None)
        self.loader.set_listener(None)
        for owner_of_dialogs in (
            self.runs, self.versions, self.sampling, self.draft_presets,
            self.settings_controller, self.help, self.prompting, self.requests, self.comparing,
        ):  # fmt: skip
            owner_of_dialogs.close()
        self.window.hide()  # the engine may take seconds to end, while the window would be frozen
        if self.catalogue is not None:
            self.catalogue.close()
        self.serving.wait()  # its requests are answered before the engine ends
        engine_ended = self._client.close()
        self.session.states.close()
        self.storage.close()
        self.background.close()
        shared_formulas().close()
        self.ended.emit(engine_ended)

    # -------------------------------------------------------------------------------- the parts

    def _make_state(self, infos: tuple[DrafterInfo, ...]) -> None:
        """Make the objects with state, and those that every part may use."""
        settings = self.settings.settings
        look.start(self._resources, settings.theme, settings.font_px)
        look.set_motion(settings.motion)
        look.set_code_wrap(settings.wraps_code)
        look.set_token_colours(settings.token_colours)
        look.set_chat_width(settings.chat_width)
        look.set_density(settings.density)
        self.presets = ReplyPresets(settings.reply_presets, settings.default_preset, self)
        self.speculation = SpeculationModel(
            infos, [strategy_named(text) for text in settings.strategies], self
        )
        sources = Sources((*infos, in_words(grammar_drafter.INFO)))
        self.live = LiveFigures(sources, self.settings.setting("n_replies"), self)
        self.programs = ProgramReplies(Journal(), self)
        self.pair = PairModel(self)
        self.signals = ChatSignals(self)
        self.notices = Notifications(self)
        self.background = Background(self)
        self.save_file = SaveFile(self.background, self.notices, self)

    def _make_window(self) -> None:
        self.window = MainWindow(
            conversations=ConversationList(parent=self),
            speculation=self.speculation,
            figures=self.live,
            pair=self.pair,
        )
        self.appearance = Appearance(self.settings, self.window.actions_, self)

    def _make_session(self, chats_file: Path | None) -> None:
        """Make the session, which receives the engine's events first and notifies the others."""
        self.loader = PairLoader(self._client, cache_dir=str(self._paths.cache_dir))
        self.storage = StorageController(chats_file, self.notices, self)
        self.hashes = ModelHashes(self.pair, self.background, self)
        self.session = ChatSession(
            self._client,
            self.loader,
            store=self.storage.store,
            defaults=lambda: self.presets.default_settings,
            fingerprint_of=self.hashes.fingerprint_of,
            states_folder=str(self._paths.states_dir),
        )
        self.prompt_cache = PromptCache(
            self.settings,
            self.loader,
            self.session.states,
            self._paths.states_dir,
            self.background,
        )
        self.servers = RpcServers(self.settings, self.loader, self.background, self._described)
        self.shown = ShownChat(self.session, self.signals, self)
        self.drafts = Drafts(self.shown, self.session.conversations, self.signals)
        # The settings of a chat without its own.
        self.presets.kept_changed.connect(self.shown.settings_changed)
        self.next_reply = NextReply(self.shown, self.speculation, self.settings, self.pair)
        self.loader.set_listener(self.pair)
        self.session.set_listener(self.signals)
        self._client.watch(self.live.on_engine_event)
        self.signals.reported.connect(self.live.show_report)
        self.signals.ended.connect(self.live.count)

    def _make_context(self) -> AppContext:
        return AppContext(
            client=self._client,
            session=self.session,
            signals=self.signals,
            shown=self.shown,
            drafts=self.drafts,
            next_reply=self.next_reply,
            loader=self.loader,
            pair=self.pair,
            speculation=self.speculation,
            live=self.live,
            programs=self.programs,
            background=self.background,
            notices=self.notices,
            save_file=self.save_file,
            actions=self.window.actions_,
            undoing=Undoing(self.window.actions_.undo),
            window=self.window,
            settings=self.settings,
        )

    def _make_chat(self) -> None:
        """Make the parts of a chat; the panel receives a reply's events before the chat view."""
        context, window, pane = self.context, self.window, self.window.chat_pane
        self.panel = PanelController(context, panel=window.panel, parent=self)
        self.chat = ChatController(context, pane, self)
        self.find = FindController(context, pane, self)
        self.conversations = ConversationsController(
            context,
            window.sidebar,
            write=pane.composer.setFocus,
            go_to=pane.chat.go_to,
            keep_place=self.chat.keep_place,
            parent=self,
        )
        self.unsent = UnsentController(context, pane.composer, self)
        self.attachments = AttachmentsController(context, pane.composer, self)
        self.runs = RunController(context, hashes=self.hashes, plot=window.panel.plot, parent=self)
        self.versions = VersionsController(context, self)
        self.context_meter = ContextMeterController(context, pane.composer, self)
        self.context_meter.kept_from.connect(pane.chat.show_kept_from)
        self.reading_ahead = ReadingAheadController(
            context, pane.composer, self.context_meter, self
        )

    def _make_models(self, models: Models | None) -> None:
        """Make the loading of pairs and, if models are known, finding and downloading them."""
        demo, starter = first_pairs(self._resources, models)
        self.saved_pairs = SavedPairs(self.settings.settings.pairs, demo, self)
        self.devices = CurrentDevices(self.session.describe_engine, self.loader, models, self)
        self.reading = MachineReading(self._client, str(self._paths.cache_dir), self)
        self.models = ModelsController(
            self.context,
            demo=demo,
            first=starter or demo,
            saved=self.saved_pairs,
            models=models,
            devices=self.devices,
        )
        self.titling = TitlingController(self.context, self)
        composer = self.window.chat_pane.composer
        self.longer = LongerContext(self.context, composer, self.devices, self.models.load)
        self.context_meter.counted.connect(self.longer.show_use)
        self.chat_pair = ChatPairOffer(self.context, self.saved_pairs, self.models)
        self.catalogue: Catalogue | None = None
        if models is not None:
            self.catalogue = Catalogue(
                self.context, models, loads=self.models, devices=self.devices
            )
            self.window.top_bar.add_widget(self.catalogue.button)
        self.serving = ServingController(
            self.context,
            self._engine,
            library=models.library if models is not None else None,
            reload=self.models.reload,
            load_installed=self.models.load_installed,
            settings_of_replies=self._default_settings,
            parent=self,
        )
        self.light = ServingLight(self.serving, self.programs)
        self.window.top_bar.add_beside_models(self.light)
        self.requests = RequestsController(
            self.context, self.serving, open_run=self.runs.open_reply, parent=self
        )

    def _default_settings(self) -> ReplySettings:
        """Return the default settings of replies."""
        return self.presets.default_settings

    def _further_pages(self) -> tuple[SettingsPage, ...]:
        machines = MachinesPage(self.settings, self.servers)
        machines.guide_wanted.connect(self.help.open_guide_at)
        return (
            PromptCachePage(self.settings, self.prompt_cache),
            ProgramsPage(self.settings, self.serving),
            machines,
        )

    def _described(self) -> Sequence[DeviceInfo]:
        """Return the devices that the engine described last."""
        return self.devices.description.devices if self.devices.description is not None else ()

    def _make_panel_cards(self) -> None:
        """Make the parts of the panel's cards; presets follow the loaded pair."""
        context, panel = self.context, self.window.panel
        self.learning = LearningController(context, paths=self._paths, parent=self)
        self.open_file = OpenFile(self.background, self.notices, self)
        self.sampling = SamplingController(
            context, card=panel.sampling, presets=self.presets, open_file=self.open_file,
            parent=self,
        )  # fmt: skip
        self.prompting = PromptingController(context, panel.sampling, self)
        self.draft_presets = DraftPresetsController(
            context, button=panel.draft_settings.presets, parent=self
        )
        self.window.chat_pane.composer.set_settings_widgets(
            self.sampling.foot_button, self.sampling.badge
        )

    def _make_dialogs(self, models: Models | None) -> None:
        """Make the features around the chat, most of which open dialogs."""
        context, window = self.context, self.window
        self.settings_controller = SettingsController(
            context,
            self._paths,
            models=models,
            further=self._further_pages,
        )
        self.help = HelpController(
            context,
            menus=window.menus,
            resources=self._resources,
            sources=(self.sampling,),
        )
        self.welcome = WelcomeController(
            context,
            composer=window.chat_pane.composer,
            loads=self.models,
            catalogue=self.catalogue,
            devices=self.devices,
            resources=self._resources,
        )
        self.exchange = ExchangeController(context, window.sidebar, self)
        self.bench = BenchController(context, self)
        self.comparing = CompareController(
            context,
            presets=self.presets,
            saved=self.saved_pairs,
            requests=window.chat_pane.chat.requests,
            fingerprint_of=self.hashes.fingerprint_of,
            parent=self,
        )
        self.imports = ImportController(context, window.sidebar, self)

    # ---------------------------------------------------------------------------------- saved state

    def _restore(self) -> None:
        """Show the settings, and from now on keep the user's changes."""
        store, settings, window = self.settings, self.settings.settings, self.window
        window.restore(settings.window)
        window.chat_pane.composer.set_obstacle(window.panel.sampling.obstacle)
        for name, switch in (
            ("token_colours", window.actions_.token_colours),
            ("wraps_code", window.actions_.wrap_code),
            ("hub_offline", window.actions_.offline),
            ("serves", window.actions_.serve),
            ("cuts_long_chats", window.panel.sampling.cuts),
        ):
            store.setting(name).bind(switch)
        store.update(  # an unusable saved strategy was replaced
            strategies=self._saved_strategies(), pairs=self.saved_pairs.pairs
        )
        store.saving.connect(self._on_saving)
        store.setting("engine_host").changed.connect(self._on_host_set)
        self.panel.settings_changed.connect(self._on_panel)
        self.saved_pairs.changed.connect(self._on_pairs)
        self.shown.path_changed.connect(store.save_soon)

    def _saved_strategies(self) -> tuple[str, ...]:
        return tuple(strategy_text(strategy) for strategy in self.speculation.saved())

    @Slot()
    def _on_panel(self) -> None:
        """Keep the strategy; the open sections are saved, too."""
        self.settings.set("strategies", self._saved_strategies())
        self.settings.save_soon()

    @Slot()
    def _on_pairs(self) -> None:
        self.settings.set("pairs", self.saved_pairs.pairs)

    @Slot()
    def _on_saving(self) -> None:
        """Keep the state of the window and the shown conversation."""
        open_conversation = self.conversations.open_conversation
        state = replace(self.window.state(), open_conversation=open_conversation)
        self.settings.set("window", state)

    # ------------------------------------------------------------------------------------- wiring

    def _connect(self) -> None:
        """Connect features that do not know each other."""
        window, pane = self.window, self.window.chat_pane
        self.models.connect_to(window.models_menu, window.drop_zones)
        choose = window.actions_.choose_models if self.catalogue else window.actions_.open_target
        window.model_bar.clicked.connect(choose.trigger)
        self.panel.reload_wanted.connect(self.models.reload)
        self.panel.load_without_wanted.connect(self.models.load_without)
        self.panel.obstacle_changed.connect(pane.composer.set_obstacle)
        self.panel.question_returned.connect(pane.composer.return_message)
        self.notices.posted.connect(pane.errors.show_notice)
        self.notices.resolved.connect(pane.errors.resolve)
        self.storage.reported.connect(self.conversations.look_again)
        self.signals.described.connect(self.devices.show_engine)
        self.reading.known.connect(self.devices.show_reading)
        self.pair.changed.connect(self.reading.on_pair)
        self.prompt_cache.switched.connect(self.models.load_again)
        self.servers.switched.connect(self._on_servers)
        self.signals.described.connect(self.servers.changed)
        self.pair.changed.connect(self.servers.changed)
        self.signals.ended.connect(self.reading.ask)
        pane.chat.run_requested.connect(self.runs.open)
        pane.chat.compare_requested.connect(self.versions.open)
        pane.chat.answer_twice_requested.connect(self.comparing.open)
        self.light.clicked.connect(self._on_light)
        self.requests.settings_wanted.connect(self._show_programs_page)
        self.programs.began.connect(self.live.on_program_began)
        self.programs.grew.connect(self.live.on_program_grew)
        self.programs.ended.connect(self.live.on_program_ended)
        self.serving.failed.connect(self._on_serving_failed)
        window.drop_zones.chats_dropped.connect(self.imports.import_files)
        window.drop_zones.files_dropped.connect(self.attachments.attach)
        pane.chat.set_welcome(self.welcome.page)
        if self.catalogue is not None:
            self.catalogue.library.changed.connect(self.welcome.show_models)
        window.closing.connect(self.shut_down)

    @Slot()
    def _on_light(self) -> None:
        """Show the requests of programs, or the switch."""
        if self.serving.status == "off":
            self._show_programs_page()
        else:
            self.requests.open()

    @Slot()
    def _show_programs_page(self) -> None:
        self.settings_controller.open_page(ProgramsPage)

    @Slot()
    def _on_serving_failed(self) -> None:
        """Report why the server did not start, unless its page shows it."""
        if self.settings_controller.dialog is None:
            words = self.tr("Other programs are not served.")
            self.notices.error(words, self.serving.problem, topic=SERVING)

    @Slot()
    def _on_host_set(self) -> None:
        """Move the engine, and load the models again there."""
        if self._follow_host():
            self.models.load_again()

    def _follow_host(self) -> bool:
        """Move the engine to its place by the settings; return whether it was elsewhere."""
        host = self.settings.settings.host_in_force
        is_other, self._host = host != self._host, host
        if is_other and self._change_host is not None:
            self._change_host(host)
        return is_other

    @Slot(bool)
    def _on_servers(self, are_renumbered: bool) -> None:  # noqa: FBT001
        """Load the models with other RPC servers, in an engine that may use them."""
        self._follow_host()
        self.models.load_on_other_servers(are_renumbered)
