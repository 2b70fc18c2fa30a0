"""Actions that the user can start by menu or key; other modules connect what they do.

Some platforms have no key for Quit in Qt, hence the spelled-out sequences.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

OBSTACLE = "obstacle"
"""Property of an action that is sometimes off: the reason, in words."""


class Actions(QObject):
    """The window's actions."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.new_chat = self._make(self.tr("&New chat"), "Ctrl+N")
        self.new_private = self._make(self.tr("New &private chat"), "Ctrl+Shift+N")
        self.search = self._make(self.tr("&Find chats"), "Ctrl+Shift+F")
        self.import_chats = self._make(self.tr("&Import chats…"), "Ctrl+Shift+I")
        self.export_chat = self._make(self.tr("&Export the chat…"), "Ctrl+E")
        self.settings = self._make(self.tr("&Settings…"), "Ctrl+,")
        self.settings.setMenuRole(QAction.MenuRole.PreferencesRole)
        self.quit = self._make(self.tr("&Quit"), "Ctrl+Q")
        self.quit.setMenuRole(QAction.MenuRole.QuitRole)

        self._make_replies()
        self.find = self._make(self.tr("&Find in this chat…"), "Ctrl+F")
        self.find_next = self._make(self.tr("Find ne&xt"), "F3")
        self.find_previous = self._make(self.tr("Find prev&ious"), "Shift+F3")
        self._make_sorting()
        self.write = self._make(self.tr("&Write a message"), "Ctrl+L")
        self.attach = self._make(self.tr("&Attach files…"), "Ctrl+U")
        self.copy_reply = self._make(self.tr("&Copy the last reply"), "Ctrl+Shift+C")
        self.run = self._make(self.tr("&How the last reply was made…"), "Ctrl+I")

        self.compare = self._make(self.tr("Compare &versions…"), "Ctrl+Shift+D")
        self.answer_twice = self._make(self.tr("Answer twice and co&mpare…"))

        self._make_models()

        self.sidebar = self._make_switch(self.tr("&Chats"), "Ctrl+B")
        self.panel = self._make_switch(self.tr("S&peculation panel"), "Ctrl+Shift+B")
        self.token_colours = self._make_switch(self.tr("Token c&olours"), "Ctrl+Shift+T")
        self.wrap_code = self._make_switch(self.tr("&Wrap long lines of code"))
        self.flip_theme = self._make(self.tr("Switch the theme, &light or dark"), "Ctrl+Shift+L")
        self.themes = QActionGroup(self)
        for mode, text in (
            ("system", self.tr("Like the &desktop")),
            ("light", self.tr("&Light")),
            ("dark", self.tr("Dar&k")),
        ):
            action = self._make_switch(text)
            action.setData(mode)
            self.themes.addAction(action)

        self.larger = self._make(self.tr("Lar&ger text"), "Ctrl++")
        self.larger.setShortcuts([QKeySequence("Ctrl++"), QKeySequence("Ctrl+=")])
        self.smaller = self._make(self.tr("S&maller text"), "Ctrl+-")
        self.normal_size = self._make(self.tr("&Normal text size"), "Ctrl+0")

        self.palette = self._make(self.tr("&Find a command…"), "Ctrl+K")
        self.guide = self._make(self.tr("&User guide"), "F1")
        self.shortcuts = self._make(self.tr("&Keyboard shortcuts"), "Ctrl+F1")
        self.shortcuts.setShortcuts([QKeySequence("Ctrl+F1"), QKeySequence("Ctrl+/")])
        self.example = self._make(self.tr("&Watch the example"))
        self.log_folder = self._make(self.tr("Open the folder of the &log"))
        self.copy_log = self._make(self.tr("&Copy the end of the log"))
        self.about = self._make(self.tr("&About Paceline"))
        self.about.setMenuRole(QAction.MenuRole.AboutRole)
        self._say_why_off()

    def _make_replies(self) -> None:
        self.stop = self._make(self.tr("&Stop the reply"), "Esc")
        self.regenerate = self._make(self.tr("&Regenerate the reply"), "Ctrl+R")
        self.renew = self._make(self.tr("Regenerate, &keeping what need not change"), "Ctrl+Alt+R")
        self.later_turns = self._make(self.tr("Bring later t&urns up to date"), "Ctrl+Alt+U")
        self.continue_reply = self._make(self.tr("C&ontinue the reply"), "Ctrl+G")

    def _make_sorting(self) -> None:
        self.rename = self._make(self.tr("Re&name the chat"))
        self.pin = self._make(self.tr("&Pin or unpin the chat"))
        self.tag = self._make(self.tr("&Tags of the chat…"))
        self.move = self._make(self.tr("Move to a folder…"))
        self.archive = self._make(self.tr("Archive or unarchive the chat"))
        self.delete = self._make(self.tr("&Delete the chat"))
        self.undo = self._make(self.tr("Undo the deletion"), "Ctrl+Z")

    def _make_models(self) -> None:
        self.choose_models = self._make(self.tr("&Choose models…"), "Ctrl+Shift+M")
        self.choose_draft = self._make(self.tr("Choose a dra&ft model…"))
        self.downloads = self._make(self.tr("Do&wnloads…"), "Ctrl+J")
        self.offline = self._make_switch(self.tr("&Work offline"))
        for action in (self.choose_models, self.choose_draft, self.downloads, self.offline):
            action.setVisible(False)  # until a feature connects to them
        self.open_target = self._make(self.tr("Open a &model file…"), "Ctrl+O")
        self.open_draft = self._make(self.tr("Open a &draft model file…"), "Ctrl+Shift+O")
        self.no_draft = self._make(self.tr("&No draft model"))
        self.demo_pair = self._make(self.tr("Back to the de&mo pair"))
        self.reload = self._make(self.tr("&Reload models"), "Ctrl+Shift+R")
        self.stop_loading = self._make(self.tr("&Stop loading"))
        self.stop_loading.setVisible(False)
        self.chat_settings = self._make(self.tr("S&ettings of the chat"))
        self.chat_template = self._make(self.tr("Chat temp&late…"))
        self.benchmark = self._make(self.tr("&Benchmark…"), "Ctrl+Shift+P")
        self.serve = self._make_switch(self.tr("Ser&ve other programs"))
        self.requests = self._make(self.tr("Requests of other pro&grams…"))

    def fill(self, menus: QMenuBar) -> QMenu:
        """Put the actions into menus; return the menu about models."""
        file = menus.addMenu(self.tr("&File"))
        file.addActions([self.new_chat, self.new_private, self.search])
        file.addSeparator()
        file.addActions([self.import_chats, self.export_chat])
        file.addSeparator()
        file.addActions([self.serve, self.requests])
        file.addSeparator()
        file.addAction(self.settings)
        file.addSeparator()
        file.addAction(self.quit)
        chat = menus.addMenu(self.tr("&Chat"))
        chat.addActions([self.write, self.attach, self.stop])
        chat.addActions([self.continue_reply, self.regenerate, self.renew, self.later_turns])
        chat.addActions([self.copy_reply, self.run, self.compare, self.answer_twice])
        chat.addSeparator()
        chat.addActions([self.find, self.find_next, self.find_previous])
        chat.addSeparator()
        chat.addActions([self.chat_settings, self.chat_template, self.rename, self.pin, self.tag])
        chat.addActions([self.move, self.archive, self.delete, self.undo])
        models = menus.addMenu(self.tr("&Models"))
        models.addActions([self.choose_models, self.no_draft, self.stop_loading])
        models.addSeparator()
        models.addAction(self.benchmark)
        more = models.addMenu(self.tr("M&ore"))
        more.addActions([self.open_target, self.open_draft, self.choose_draft])
        more.addActions([self.demo_pair, self.reload])
        self.forget = more.addMenu(self.tr("For&get pairs"))
        more.addSeparator()
        more.addActions([self.downloads, self.offline])
        view = menus.addMenu(self.tr("&View"))
        view.addActions([self.sidebar, self.panel, self.token_colours, self.wrap_code])
        view.addSeparator()
        view.addAction(self.flip_theme)
        theme = view.addMenu(self.tr("&Theme"))
        theme.addActions(self.themes.actions())
        view.addSeparator()
        view.addActions([self.larger, self.smaller, self.normal_size])
        help_ = menus.addMenu(self.tr("&Help"))
        help_.addActions([self.guide, self.palette, self.shortcuts, self.example])
        help_.addSeparator()
        help_.addActions([self.log_folder, self.copy_log, self.about])
        return models

    def _say_why_off(self) -> None:
        """Give each action that is sometimes off its reason, which the palette shows."""
        for action, why in (
            (self.export_chat, self.tr("The chat has no messages yet.")),
            (self.find, self.tr("The chat has no messages yet.")),
            (self.stop, self.tr("No reply is being written.")),
            (self.undo, self.tr("Nothing was deleted.")),
            (self.chat_template, self.tr("No model is loaded.")),
            (self.regenerate, self.tr("A reply is being written.")),
            (self.renew, self.tr("There is no reply whose seed could be kept.")),
            (self.later_turns, self.tr("No older version of this chat has later questions.")),
            (self.continue_reply, self.tr("There is no reply at the end to continue.")),
            (self.no_draft, self.tr("There is no draft model.")),
            (self.larger, self.tr("The text is as large as it gets.")),
            (self.smaller, self.tr("The text is as small as it gets.")),
            (self.normal_size, self.tr("It has this size.")),
        ):
            action.setProperty(OBSTACLE, why)

    def _make(self, text: str, keys: str = "") -> QAction:
        action = QAction(text, self._window)
        if keys:
            action.setShortcut(QKeySequence(keys))
        action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        self._window.addAction(action)  # makes keys work also before any menu was opened
        return action

    def _make_switch(self, text: str, keys: str = "") -> QAction:
        action = self._make(text, keys)
        action.setCheckable(True)
        return action
