"""Opens what the Help menu offers: the palette, the shortcuts, the log, and About."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QIcon

from paceline import logs
from paceline.gui.about import AboutDialog
from paceline.gui.licences import Component, ReadLicences
from paceline.gui.log_view import LogDialog
from paceline.gui.palette_sources import ChatCommands, MenuCommands, StrategyCommands
from paceline.gui.shortcuts import ShortcutsDialog, shortcuts_of
from paceline.gui.versions import requirements
from paceline.gui.widgets.palette.commands import CommandIndex
from paceline.gui.widgets.palette.sheet import PaletteSheet

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from paceline.chat.session import ChatSession
    from paceline.conversation import ConversationSummary
    from paceline.errors import UserError
    from paceline.gui.background import Background
    from paceline.gui.current_devices import CurrentDevices
    from paceline.gui.icons import Icons
    from paceline.gui.main_window import MainWindow
    from paceline.gui.theme import Theme, ThemeController
    from paceline.gui.viewmodels.speculation import SpeculationModel
    from paceline.gui.widgets.palette.commands import CommandKey, CommandSource
    from paceline.messages import EngineDescribed


class HelpController(QObject):
    """Owns these dialogs while they are open; main thread."""

    def __init__(
        self,
        *,
        session: ChatSession,
        speculation: SpeculationModel,
        devices: CurrentDevices,
        themes: ThemeController,
        background: Background,
        icons: Icons,
        resources: Path,
        window: MainWindow,
        sources: Sequence[CommandSource] = (),
        recent: Sequence[CommandKey] = (),
    ) -> None:
        """Connect to the window's actions.

        Args:
            session: Its chats can be found.
            speculation: Its strategies can be found.
            devices: Knows what the engine said of itself.
            themes: Tells of other colours and sizes.
            background: Reads files.
            icons: For fields and buttons.
            resources: The files that are shipped.
            window: Everything lies in front of it.
            sources: What else the palette is to find.
            recent: What was used from the palette last.
        """
        super().__init__(window)
        self._session = session
        self._devices = devices
        self._themes = themes
        self._background = background
        self._icons = icons
        self._resources = resources
        self._window = window
        self._chats = ChatCommands(self._summaries, session.show, self)
        actions = window.actions_
        own: tuple[CommandSource, ...] = (
            MenuCommands(window.menus, (actions.palette,), self),
            StrategyCommands(speculation, self),
        )
        self.commands = CommandIndex((*own, *sources), (self._chats,), recent)
        self.palette = PaletteSheet(self.commands, themes.current, icons, window)
        self.shortcuts: ShortcutsDialog | None = None
        self.log: LogDialog | None = None
        self.about: AboutDialog | None = None
        actions.palette.triggered.connect(self.open_palette)
        actions.shortcuts.triggered.connect(self.open_shortcuts)
        actions.log.triggered.connect(self.open_log)
        actions.about.triggered.connect(self.open_about)
        themes.changed.connect(self._on_theme)

    def close(self) -> None:
        """Close everything with the window."""
        self.palette.leave()
        for dialog in (self.shortcuts, self.log, self.about):
            if dialog is not None:
                dialog.reject()

    @Slot()
    def open_palette(self) -> None:
        """Show everything that can be done, or hide it again."""
        if self.palette.isVisible():
            self.palette.leave()
        else:
            self._chats.refresh()
            self.palette.open()

    @Slot()
    def open_shortcuts(self) -> None:
        """List all keys."""
        if self.shortcuts is None:
            found = shortcuts_of(self._window.menus, self._window)
            self.shortcuts = ShortcutsDialog(
                found, icons=self._icons, theme=self._themes.current, parent=self._window
            )
            self.shortcuts.finished.connect(self._on_shortcuts_closed)
            self.shortcuts.open()

    @Slot()
    def open_log(self) -> None:
        """Show the log, or bring it to the front."""
        if self.log is None:
            self.log = LogDialog(
                logs.current_file(),
                engine=self._devices.description,
                theme=self._themes.current,
                icons=self._icons,
                background=self._background,
                parent=self._window,
            )
            self.log.finished.connect(self._on_log_closed)
            self.log.show()
        self.log.raise_()
        self.log.activateWindow()

    @Slot()
    def open_about(self) -> None:
        """Show what this is, and read the licences meanwhile."""
        if self.about is None:
            sign = QIcon(str(self._resources / "icons" / "paceline.svg"))
            self.about = AboutDialog(sign, self._devices.description, self._window)
            self.about.finished.connect(self._on_about_closed)
            self.about.open()
            job = ReadLicences(self._resources, requirements())
            self._background.start(job, self._on_licences, self._on_no_licences)

    def show_engine(self, description: EngineDescribed) -> None:
        """Show in open dialogs what the engine said of itself."""
        if self.about is not None:
            self.about.show_engine(description)
        if self.log is not None:
            self.log.versions.show_engine(description)

    def _summaries(self) -> Sequence[ConversationSummary]:
        return self._session.summaries

    def _on_licences(self, components: object) -> None:
        if self.about is not None and isinstance(components, tuple):
            known = [each for each in components if isinstance(each, Component)]
            self.about.licences.show_components(known)

    def _on_no_licences(self, error: UserError) -> None:
        if self.about is not None:
            self.about.licences.show_components((Component(error.message, "", error.hint),))

    @Slot()
    def _on_shortcuts_closed(self) -> None:
        self.shortcuts = None

    @Slot()
    def _on_log_closed(self) -> None:
        self.log = None

    @Slot()
    def _on_about_closed(self) -> None:
        self.about = None

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        self.palette.set_theme(theme)
        if self.log is not None:
            self.log.set_theme(theme)
