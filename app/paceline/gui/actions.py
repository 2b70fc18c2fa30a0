"""Everything the user can do by menu or key; what then happens is connected elsewhere.

Qt has no key for Quit on some platforms, hence the spelled-out sequences.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget


class Actions(QObject):
    """The window's actions."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.new_chat = self._make(self.tr("&New chat"), "Ctrl+N")
        self.search = self._make(self.tr("&Find chats"), "Ctrl+F")
        self.quit = self._make(self.tr("&Quit"), "Ctrl+Q")
        self.quit.setMenuRole(QAction.MenuRole.QuitRole)

        self.stop = self._make(self.tr("&Stop the reply"), "Esc")
        self.regenerate = self._make(self.tr("&Regenerate the reply"), "Ctrl+R")
        self.rename = self._make(self.tr("Re&name the chat"))
        self.delete = self._make(self.tr("&Delete the chat"))
        self.write = self._make(self.tr("&Write a message"), "Ctrl+L")

        self.choose_models = self._make(self.tr("&Choose models…"), "Ctrl+Shift+M")
        self.choose_draft = self._make(self.tr("Choose a dra&ft model…"))
        self.downloads = self._make(self.tr("Do&wnloads…"), "Ctrl+J")
        self.offline = self._make_switch(self.tr("&Work offline"))
        for action in (self.choose_models, self.choose_draft, self.downloads, self.offline):
            action.setVisible(False)  # until there is something behind them
        self.open_target = self._make(self.tr("Open &target model…"), "Ctrl+O")
        self.open_draft = self._make(self.tr("Open &draft model…"), "Ctrl+Shift+O")
        self.no_draft = self._make(self.tr("Use &no draft model"))
        self.demo_pair = self._make(self.tr("Back to the de&mo pair"))
        self.reload = self._make(self.tr("&Reload models"), "Ctrl+Shift+R")
        self.stop_loading = self._make(self.tr("&Stop loading"))

        self.sidebar = self._make_switch(self.tr("&Chats"), "Ctrl+B")
        self.panel = self._make_switch(self.tr("S&peculation panel"), "Ctrl+Shift+B")
        self.token_colours = self._make_switch(self.tr("Token &colours"), "Ctrl+Shift+T")
        self.flip_theme = self._make(self.tr("Switch &light and dark"), "Ctrl+Shift+L")
        self.themes = QActionGroup(self)
        for mode, text in (
            ("system", self.tr("Like the &desktop")),
            ("light", self.tr("&Light")),
            ("dark", self.tr("Dar&k")),
        ):
            action = self._make_switch(text)
            action.setData(mode)
            self.themes.addAction(action)

        self.about = self._make(self.tr("&About Paceline"))
        self.about.setMenuRole(QAction.MenuRole.AboutRole)

    def fill(self, menus: QMenuBar) -> QMenu:
        """Put the actions into menus; returns the one about models."""
        file = menus.addMenu(self.tr("&File"))
        file.addActions([self.new_chat, self.search])
        file.addSeparator()
        file.addAction(self.quit)
        chat = menus.addMenu(self.tr("&Chat"))
        chat.addActions([self.write, self.stop, self.regenerate])
        chat.addSeparator()
        chat.addActions([self.rename, self.delete])
        models = menus.addMenu(self.tr("&Models"))
        models.addActions([self.choose_models, self.choose_draft])
        models.addActions([self.downloads, self.offline])
        models.addSeparator()
        models.addActions([self.open_target, self.open_draft])
        models.addSeparator()
        models.addActions([self.no_draft, self.demo_pair])
        self.forget = models.addMenu(self.tr("For&get pairs"))
        models.addSeparator()
        models.addActions([self.reload, self.stop_loading])
        view = menus.addMenu(self.tr("&View"))
        view.addActions([self.sidebar, self.panel, self.token_colours])
        view.addSeparator()
        view.addAction(self.flip_theme)
        theme = view.addMenu(self.tr("&Theme"))
        theme.addActions(self.themes.actions())
        menus.addMenu(self.tr("&Help")).addAction(self.about)
        return models

    def _make(self, text: str, keys: str = "") -> QAction:
        action = QAction(text, self._window)
        if keys:
            action.setShortcut(QKeySequence(keys))
        action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        self._window.addAction(action)  # keys work also while no menu has been opened
        return action

    def _make_switch(self, text: str, keys: str = "") -> QAction:
        action = self._make(text, keys)
        action.setCheckable(True)
        return action
