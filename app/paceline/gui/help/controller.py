"""Controller of the Help menu: opens its dialogs, and copies the log."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QGuiApplication, QIcon
from PySide6.QtWidgets import QMenuBar

from paceline import logs
from paceline.conversation import ConversationSummary
from paceline.errors import UserError
from paceline.gui.context import AppContext
from paceline.gui.help.about import AboutDialog, ReadLicences
from paceline.gui.help.guide import GuideDialog, anchor_of
from paceline.gui.help.palette import ChatCommands, MenuCommands, PaletteSheet, StrategyCommands
from paceline.gui.help.shortcuts import ShortcutsDialog, shortcuts_of
from paceline.gui.kit.commands import CommandIndex, CommandSource
from paceline.gui.kit.dialogs import DialogOwner
from paceline.gui.kit.file_dialogs import open_folder
from paceline.gui.kit.sentences import said
from paceline.installation.components import Component, requirements
from paceline.messages import EngineDescribed

LOG_LINES = 200
"""Number of lines at the end of the log that are copied."""


class HelpController(QObject):
    """Owner of these dialogs while they are open; main thread."""

    def __init__(
        self,
        context: AppContext,
        *,
        menus: QMenuBar,
        resources: Path,
        sources: Sequence[CommandSource] = (),
    ) -> None:
        """Connect to the window's actions.

        Args:
            context: The parts of the program; chats and strategies can be found in the palette.
            menus: The menus, whose actions can be found, too.
            resources: The folder of shipped files.
            sources: Further sources of the palette.
        """
        super().__init__(context.window)
        self._context = context
        self._menus = menus
        self._resources = resources
        self._engine: EngineDescribed | None = None
        self._chats = ChatCommands(self._summaries, context.shown.show, self)
        actions = context.actions
        own: tuple[CommandSource, ...] = (
            MenuCommands(menus, (actions.palette,), self),
            StrategyCommands(context.speculation, self),
        )
        recent = context.settings.value("recent_commands")
        self.commands = CommandIndex((*own, *sources), (self._chats,), recent)
        self.palette = PaletteSheet(self.commands, context.window)
        self.guide = DialogOwner[GuideDialog](self)
        self.shortcuts = DialogOwner[ShortcutsDialog](self)
        self.about = DialogOwner[AboutDialog](self)
        self.palette.used.connect(self._on_used)
        actions.palette.triggered.connect(self.open_palette)
        actions.guide.triggered.connect(self.open_guide)
        actions.shortcuts.triggered.connect(self.open_shortcuts)
        actions.log_folder.triggered.connect(self.open_log_folder)
        actions.copy_log.triggered.connect(self.copy_log)
        actions.about.triggered.connect(self.open_about)
        context.signals.described.connect(self._on_described)

    def close(self) -> None:
        """Close all dialogs together with the window."""
        self.palette.leave()
        for owner in (self.guide, self.shortcuts, self.about):
            owner.close()

    @Slot()
    def open_palette(self) -> None:
        """Show or hide the palette."""
        if self.palette.isVisible():
            self.palette.leave()
        else:
            self._chats.refresh()
            self.palette.open()

    @Slot()
    def open_guide(self) -> None:
        """Show the user guide, or bring it to the front."""
        self._shown_guide()

    @Slot(str)
    def open_guide_at(self, heading: str) -> None:
        """Show a part of the user guide; the heading is in the language of the interface."""
        self._shown_guide().page.scrollToAnchor(anchor_of(heading))

    def _shown_guide(self) -> GuideDialog:
        dialog = self.guide.dialog
        if dialog is None:
            dialog = self.guide.own(GuideDialog(self._resources / "guide", self._context.window))
            dialog.show()
        self.guide.bring_to_front()
        return dialog

    @Slot()
    def open_shortcuts(self) -> None:
        """Show the list of all keys."""
        if self.shortcuts.dialog is None:
            window = self._context.window
            dialog = ShortcutsDialog(shortcuts_of(self._menus, window), window)
            self.shortcuts.own(dialog).open()

    @Slot()
    def open_log_folder(self) -> None:
        """Open the folder of the log in the file manager."""
        file = logs.current_file()
        if file is None:
            self._report_no_log()
        elif not open_folder(file.parent):
            self._context.notices.error(
                self.tr("No file manager could be opened."),
                self.tr("The file is {}.").format(file),
            )

    @Slot()
    def copy_log(self) -> None:
        """Copy the last lines of the log, which are read in the background."""
        if logs.current_file() is None:
            self._report_no_log()
            return
        self._context.background.start(
            partial(logs.last_lines, LOG_LINES), self._on_log, self._context.notices.user_error
        )

    def _report_no_log(self) -> None:
        self._context.notices.inform(self.tr("Nothing is written into a log file."))

    def _on_log(self, text: str) -> None:
        if text:
            QGuiApplication.clipboard().setText(text)
            words = self.tr("The last lines of the log are in the clipboard.")
        else:
            words = self.tr("The log is empty.")
        self._context.notices.inform(words)

    @Slot()
    def open_about(self) -> None:
        """Show the dialog, and read the licences meanwhile."""
        if self.about.dialog is None:
            sign = QIcon(str(self._resources / "icons" / "paceline.svg"))
            self.about.own(AboutDialog(sign, self._engine, self._context.window)).open()
            job = ReadLicences(self._resources, requirements())
            self._context.background.start(job, self._on_licences, self._on_no_licences)

    @Slot()
    def _on_used(self) -> None:
        self._context.settings.set("recent_commands", self.commands.recent)

    @Slot(object)
    def _on_described(self, description: EngineDescribed) -> None:
        """Store the engine's description, and show it in an open dialog."""
        self._engine = description
        if self.about.dialog is not None:
            self.about.dialog.show_engine(description)

    def _summaries(self) -> Sequence[ConversationSummary]:
        return self._context.session.summaries

    def _on_licences(self, components: tuple[Component, ...]) -> None:
        if self.about.dialog is not None:
            self.about.dialog.licences.show_components(components)

    def _on_no_licences(self, error: UserError) -> None:
        if self.about.dialog is not None:
            component = Component(said(error.message), "", said(error.hint))
            self.about.dialog.licences.show_components((component,))
