"""Settings, palette, shortcuts, log and About, put together around a finished `Program`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QGuiApplication

from paceline import logs
from paceline.gui import motion
from paceline.gui.attachments_controller import AttachmentsController
from paceline.gui.bench_controller import BenchController
from paceline.gui.exchange_controller import ExchangeController
from paceline.gui.help_controller import HelpController
from paceline.gui.import_controller import ImportController
from paceline.gui.preferences import Preferences
from paceline.gui.settings_controller import SettingsController
from paceline.gui.welcome_controller import WelcomeController
from paceline.settings import kernels_of_environment

if TYPE_CHECKING:
    from pathlib import Path

    from paceline.gui.icons import Icons
    from paceline.gui.program import Program
    from paceline.hosting.client import EngineClient
    from paceline.settings import Settings


class Extras(QObject):
    """What stands around the chat; made last and closed first."""

    def __init__(
        self,
        program: Program,
        settings: Settings,
        icons: Icons,
        *,
        resources: Path,
        config_dir: Path,
        data_dir: Path,
        cache_dir: Path,
        client: EngineClient,
    ) -> None:
        super().__init__(program)
        window = program.window
        catalogue = program.catalogue
        self.preferences = Preferences(
            settings,
            appearance=program.appearance,
            window=window,
            library=catalogue.library if catalogue is not None else None,
            parent=self,
        )
        log = logs.current_file()
        places = [
            (self.tr("Chats and what was learned"), data_dir),
            (self.tr("Settings"), config_dir),
            (self.tr("Measurements"), cache_dir),
        ]
        if log is not None:
            places.append((self.tr("Log"), log.parent))
        self.settings = SettingsController(
            self.preferences,
            appearance=program.appearance,
            learning=program.learning,
            places=places,
            icons=icons,
            window=window,
        )
        self.help = HelpController(
            session=program.session,
            speculation=program.speculation,
            devices=program.devices,
            themes=program.themes,
            background=program.background,
            icons=icons,
            resources=resources,
            window=window,
            sources=(program.tuning.replies,),
            recent=settings.recent_commands,
        )
        program.signals.described.connect(self.help.show_engine)
        program.appearance.motion_changed.connect(window.chat_pane.chat.set_motion)
        window.chat_pane.chat.set_motion(motion.reduces())
        self.welcome = WelcomeController(
            program, was_welcomed=settings.was_welcomed, resources=resources, parent=self
        )
        self.exchange = ExchangeController(
            session=program.session,
            signals=program.signals,
            sources=program.live.sources,
            window=window,
            background=program.background,
            notifications=program.notifications,
            parent=self,
        )
        self.imports = ImportController(
            session=program.session,
            window=window,
            background=program.background,
            notifications=program.notifications,
            parent=self,
        )
        self.attachments = AttachmentsController(
            window=window,
            context=program.context,
            background=program.background,
            notifications=program.notifications,
            parent=self,
        )
        self.bench = BenchController(
            client=client,
            session=program.session,
            signals=program.signals,
            loader=program.loader,
            pair=program.pair,
            speculation=program.speculation,
            save=program.save_file,
            background=program.background,
            notifications=program.notifications,
            themes=program.themes,
            window=window,
            parent=self,
        )
        self._session = program.session
        self._panel = program.panel
        self._loader = program.loader
        self._loading = window.panel.loading
        window.actions_.copy_reply.triggered.connect(self._on_copy_reply)
        window.actions_.new_private.triggered.connect(program.chats.conversations.new_private_chat)
        self.preferences.cuts_long_chats.changed.connect(self._on_cuts)
        self._on_cuts()
        self.preferences.kernels.changed.connect(self._on_kernels)
        self._choose_kernels()

    @Slot()
    def _on_copy_reply(self) -> None:
        """Copy the text of the newest reply that is shown."""
        for message in reversed(self._session.current.path()):
            if message.role == "assistant" and message.content:
                QGuiApplication.clipboard().setText(message.content)
                return

    @Slot()
    def _on_cuts(self) -> None:
        self._panel.set_cuts(cuts=self.preferences.cuts_long_chats.value)

    @Slot()
    def _on_kernels(self) -> None:
        """Load the models again, which is when kernels are chosen."""
        self._choose_kernels()
        pair = self._loader.state.pair
        if pair is not None:
            self._loading.reload_requested.emit(pair)

    def _choose_kernels(self) -> None:
        """Tell the loader; it does not insist, since a note is better than no model."""
        wish = self.preferences.kernels.value
        if wish == "auto":
            wish = kernels_of_environment(os.environ)
        self._loader.kernels = "stock" if wish == "stock" else "auto"

    def close(self) -> None:
        """Close every dialog with the window."""
        self.settings.close()
        self.help.close()
