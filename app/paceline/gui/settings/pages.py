"""The settings dialog: pages at the left, a search over all of them; changes act at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QCoreApplication, QDir, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QWidget,
)

from paceline.catalog.models import Models
from paceline.gui.kit.background import Background
from paceline.gui.kit.dialogs import closing_row, scrolling, within_screen
from paceline.gui.kit.file_dialogs import open_folder
from paceline.gui.kit.labels import ElidedLabel, say, text_label
from paceline.gui.kit.layouts import column_of, row_of, styled
from paceline.gui.kit.search_field import SearchField
from paceline.gui.kit.translation import parameter_in_words
from paceline.gui.look.current import look
from paceline.gui.look.scale import GAP, STEP, px
from paceline.gui.look.theme import ui_font
from paceline.gui.settings.downloads_page import DownloadsPage
from paceline.gui.settings.forms import (
    ChoiceField,
    FolderList,
    NumberField,
    SettingsPage,
    SizeField,
    ThemePictures,
)
from paceline.gui.state.settings_store import Setting, SettingsStore
from paceline.parameters import parameters_of
from paceline.params import ModelParams
from paceline.settings import MAX_FONT_PX, MAX_LEARNED_MB, MIN_FONT_PX

_UNLIMITED_PX = 2000
_NUMBER_PX = 120


class GeneralPage(SettingsPage):
    """Settings that belong to no other page."""

    def __init__(self, store: SettingsStore) -> None:
        super().__init__(QCoreApplication.translate("GeneralPage", "General"), store)

    def _fill(self) -> None:
        setting = self._store.setting
        window = self.section(self.tr("Window"))
        languages = (("system", self.tr("Like the desktop")), ("en", "English"), ("de", "Deutsch"))
        self.add_row(
            window,
            self.tr("Language"),
            self.tr("Takes effect at the next start."),
            ChoiceField(languages, setting("language")),
            "english deutsch",
        )
        self.add_switch(
            window,
            "opens_last_chat",
            self.tr("Start with the last chat"),
            self.tr("Off: every start shows a new, empty chat."),
        )

        self.add_switch(
            self.section(self.tr("Chats")),
            "writes_titles",
            self.tr("Let the model write titles"),
            self.tr(
                "After the first reply of a chat, while nothing else is to be done; a title of "
                "yours stays. Off: a title is the beginning of the first question."
            ),
            self.tr("title name"),
        )

        writing = self.section(self.tr("Writing"))
        keys = (("enter", self.tr("Enter")), ("ctrl+enter", self.tr("Ctrl+Enter")))
        self.add_row(
            writing,
            self.tr("A message is sent by"),
            self.tr("Shift+Enter always makes a new line, and Ctrl+Enter always sends."),
            ChoiceField(keys, setting("send_key")),
            self.tr("send key enter"),
        )
        self.add_switch(
            writing,
            "keeps_on_edit",
            self.tr("Edits keep what need not change"),
            self.tr(
                "The reply to an edited question is drawn with the seed of the old one and differs "
                "only where it has to. Off: every edit draws a new seed, as Regenerate does."
            ),
            self.tr("seed edit"),
        )
        self.add_switch(
            writing,
            "reads_ahead",
            self.tr("Read while you type"),
            self.tr(
                "The model reads the chat, attached files and finished sentences before you send "
                "them, so that its reply begins sooner; never on battery. Off: it begins to read "
                "when you send."
            ),
            self.tr("read ahead prefill battery"),
        )
        explanation = self.tr(
            "The oldest messages are left out of what the model sees; the chat itself stays "
            "whole. Off: such a message is held back, and nothing is left out."
        )
        title = self.tr("Shorten chats that outgrow the context")
        self.add_switch(writing, "cuts_long_chats", title, explanation, explanation)


class LooksPage(SettingsPage):
    """Settings of the look; all take effect at once, in the dialog and in the window."""

    def __init__(self, store: SettingsStore) -> None:
        super().__init__(QCoreApplication.translate("LooksPage", "Appearance"), store)

    def _fill(self) -> None:
        setting = self._store.setting
        colours = self.section(self.tr("Colours"))
        self.themes = ThemePictures(setting("theme"))
        self.add_row(colours, self.tr("Theme"), "", self.themes, self.tr("light dark mode"))
        self.add_switch(
            colours,
            "token_colours",
            self.tr("Token colours"),
            self.tr(
                "Replies show where each token came from: the draft model, a lookup, or the "
                "model itself."
            ),
        )

        text = self.section(self.tr("Text"))
        self.size_field = SizeField(MIN_FONT_PX, MAX_FONT_PX, setting("font_px"))
        self.size_field.slider.setAccessibleName(self.tr("Text size"))
        self.sample = _Sample()
        self.size_field.moved.connect(self.sample.show_size)
        self.sample.show_size(setting("font_px").value)
        size = self.add_row(
            text,
            self.tr("Text size"),
            self.tr("Everything grows with it. Keys: Ctrl + plus, Ctrl + minus, Ctrl + 0."),
            self.size_field,
            self.tr("font"),
        )
        size.layout().addWidget(self.sample)  # type: ignore[union-attr]  # it has one

        room = self.section(self.tr("Room"))
        widths = (
            ("narrow", self.tr("Narrow")),
            ("normal", self.tr("Normal")),
            ("full", self.tr("As wide as the window")),
        )
        self.add_row(
            room,
            self.tr("Width of a chat"),
            self.tr("Of the messages, and of the field for the next one."),
            ChoiceField(widths, setting("chat_width")),
            self.tr("column line"),
        )
        densities = (
            ("comfortable", self.tr("Comfortable")),
            ("compact", self.tr("Compact")),
        )
        self.add_row(
            room,
            self.tr("Density"),
            self.tr("Compact: less room between messages and in the list of chats."),
            ChoiceField(densities, setting("density")),
            self.tr("spacing"),
        )

        motions = (
            ("system", self.tr("Like the desktop")),
            ("full", self.tr("Full")),
            ("reduced", self.tr("Reduced")),
        )
        self.add_row(
            self.section(self.tr("Motion")),
            self.tr("Movement"),
            self.tr("Reduced: the view jumps instead of gliding, and nothing fades or blinks."),
            ChoiceField(motions, setting("motion")),
            self.tr("animation"),
        )


class _Sample(QFrame):
    """A few words in the size that the slider has."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "bubble")
        self._label = text_label(
            self.tr("Four tokens guessed, three right: 41.2 tokens per second."), "", wraps=True
        )
        column_of(self._label, on=self, margins=(GAP, STEP, GAP, STEP))

    @Slot(int)
    def show_size(self, size: int) -> None:
        """Show the words in a size in pixels, independent of the window's own."""
        font = ui_font()
        font.setPixelSize(size)
        self._label.setFont(font)
        # A style sheet's size for all labels would override the font.
        self._label.setStyleSheet(f"font-size: {size}px;")


class ModelsPage(SettingsPage):
    """Settings of folders, loads and the engine."""

    def __init__(self, store: SettingsStore, *, has_library: bool) -> None:
        super().__init__(QCoreApplication.translate("ModelsPage", "Models"), store)
        self.folders: FolderList | None = None
        self._has_library = has_library

    def _fill(self) -> None:
        setting = self._store.setting
        if self._has_library:
            self.folders = FolderList(setting("model_folders"))
            self.add_row(
                self.section(self.tr("Model files")),
                self.tr("Folders to look in"),
                self.tr(
                    "Besides the folders of Paceline, Ollama, LM Studio and the Hugging Face "
                    "cache, which are found by themselves."
                ),
                self.folders,
                "gguf",
            )
        loading = self.section(self.tr("Loading, unless a model has settings of its own"))
        for name, field in (("usual_ctx", "n_ctx"), ("usual_threads", "n_threads")):
            parameter = parameter_in_words(parameters_of(ModelParams)[field])
            control = NumberField(0, int(parameter.offered[1]), setting(name), parameter.unset)
            control.setMinimumWidth(px(_NUMBER_PX))
            self.add_row(loading, parameter.title, parameter.help, control)
        engine = self.section(self.tr("Engine"))
        hosts = (
            ("process", self.tr("Its own process")),
            ("thread", self.tr("The window's process")),
        )
        self.host = ChoiceField(hosts, setting("engine_host"))
        self.add_row(
            engine,
            self.tr("The engine runs in"),
            self.tr(
                "In a process of its own a crash of llama.cpp costs one reply; in the window's "
                "process it ends the window. The models are loaded again."
            ),
            self.host,
            "llama.cpp thread",
        )
        self.held = text_label(
            self.tr("While other computers are used, it is a process of its own."), wraps=True
        )
        engine.body.addWidget(self.held)
        setting("rpc_servers").changed.connect(self._show_host)
        self._show_host()
        kernels = (
            ("auto", self.tr("Automatic")),
            ("own", self.tr("Own")),
            ("stock", self.tr("llama.cpp's")),
        )
        self.add_row(
            engine,
            self.tr("CPU kernels"),
            self.tr(
                "Paceline's own are faster with several tokens at once and give the same text "
                "with any drafts, as far as they have passed a test on this computer. Automatic "
                "takes them unless the variable PACELINE_KERNELS says otherwise. The models are "
                "loaded again."
            ),
            ChoiceField(kernels, setting("kernels")),
            "cpu processor",
        )

    @Slot()
    def _show_host(self) -> None:
        is_held = bool(self._store.settings.used_servers)
        self.host.setEnabled(not is_held)
        self.held.setVisible(is_held)


class PlaceRow(QWidget):
    """A folder of the program with a button that opens it."""

    refused = Signal(str)
    """This folder could not be opened."""

    def __init__(self, title: str, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        name = QLabel(title)
        path = styled(ElidedLabel(_UNLIMITED_PX, Qt.TextElideMode.ElideMiddle), role="small")
        path.setText(QDir.toNativeSeparators(str(folder)))
        path.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.button = QPushButton(self.tr("Open folder"))
        self.button.setAccessibleName(self.tr("Open folder: {}").format(title))
        self.button.clicked.connect(self._on_clicked)
        words = column_of(name, path, spacing=2)
        row_of((words, 1), self.button, on=self, margins=0, spacing=2 * STEP)
        self.button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    @Slot()
    def _on_clicked(self) -> None:
        if not open_folder(self._folder):
            self.refused.emit(str(self._folder))


class PrivacyPage(SettingsPage):
    """The learning switch, the program's folders, and a promise."""

    def __init__(
        self,
        store: SettingsStore,
        places: Sequence[tuple[str, Path]],
    ) -> None:
        super().__init__(QCoreApplication.translate("PrivacyPage", "Privacy"), store)
        self._folders = tuple(places)

    def _fill(self) -> None:
        learning = self.section(self.tr("Learning"))
        self.add_switch(
            learning,
            "learns_from_chats",
            self.tr("Learn across chats"),
            self.tr(
                "Drafts are also looked up in your stored chats, for faster replies. Private chats "
                "are left out, and deleted ones from the moment that they are deleted."
            ),
        )
        sizes = [(n, self.tr("{} MB of text").format(n)) for n in (1, 2, 4, MAX_LEARNED_MB)]
        self.add_row(
            learning,
            self.tr("Learn from at most"),
            self.tr(
                "The newest chats count. A megabyte takes four of memory, and a second or two of "
                "idle time after each load."
            ),
            ChoiceField(sizes, self._store.setting("learned_mb")),
        )

        kept = self.section(self.tr("Where your files are"))
        self._refused = text_label(wraps=True)
        self._refused.hide()
        self.places = []
        for title, folder in self._folders:
            place = PlaceRow(title, folder)
            place.refused.connect(self._on_refused)
            self.places.append(place)
            self.add(kept, place, title, self.tr("folder"))
        kept.body.addWidget(self._refused)

        leaves = self.section(self.tr("What leaves this computer"))
        promise = text_label(
            self.tr(
                "Nothing but requests to the Hugging Face Hub, and only when you search there, "
                "look at a repository or download a model. They name the repository and the file. "
                "Chats, replies, settings and statistics are never sent anywhere; there is no "
                "telemetry and no check for updates."
            ),
            wraps=True,
        )
        self.add(leaves, promise, promise.text())

    @Slot(str)
    def _on_refused(self, folder: str) -> None:
        self._refused.setText(
            self.tr("No file manager could be opened. The folder is {}.").format(
                QDir.toNativeSeparators(folder)
            )
        )
        self._refused.show()


_LIST_PX = 208
_ROW_PX = 38


class SettingsDialog(QDialog):
    """Dialog for the settings store; there is no OK, and a reset can be undone.

    A page is built when it is first shown, and the rest when the user searches.
    """

    def __init__(
        self,
        store: SettingsStore,
        *,
        places: Sequence[tuple[str, Path]],
        models: Models | None,
        background: Background,
        further: Sequence[SettingsPage] = (),
        parent: QWidget | None = None,
    ) -> None:
        """Set up the pages.

        Args:
            store: The settings.
            places: The program's folders, with their names.
            models: The catalogue of models, or None.
            background: Runs short jobs in the background.
            further: Pages of other features.
            parent: The window below the dialog.
        """
        super().__init__(parent)
        self.setWindowTitle(self.tr("Settings"))
        self._before: list[tuple[Setting, Any]] = []
        self.looks = LooksPage(store)
        self.models = ModelsPage(store, has_library=models is not None)
        self.hub = [DownloadsPage(store, models, background)] if models is not None else []
        self.privacy = PrivacyPage(store, places)
        self.pages: tuple[SettingsPage, ...] = (
            GeneralPage(store), self.looks, self.models, *self.hub, self.privacy, *further,
        )  # fmt: skip
        self.search = SearchField(self.tr("Search settings"))
        self.search.textChanged.connect(self._on_search)
        # One page per turn of the event loop.
        self._next = QTimer(self, singleShot=True, interval=0)
        self._next.timeout.connect(self._on_next)
        self.list = styled(QListWidget(), kind="chats")
        self.list.setAccessibleName(self.tr("Pages"))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.stack = QStackedWidget()
        for page in self.pages:
            self.list.addItem(QListWidgetItem(page.title))
            self.stack.addWidget(scrolling(page))
        self._nothing = text_label(self.tr("No setting contains these words."), "muted")
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.stack.addWidget(self._nothing)
        self.list.currentRowChanged.connect(self._on_row)
        self._lay_out()
        self.list.setCurrentRow(0)
        self.list.setFocus()
        # The size fits every page without scrolling, if the screen is large enough.
        self.resize(within_screen(self, QSize(px(860), px(680))))

    def show_page(self, kind: type[SettingsPage]) -> None:
        """Show the page of this kind."""
        self.search.clear()
        row = next(row for row, page in enumerate(self.pages) if isinstance(page, kind))
        self.list.setCurrentRow(row)

    @Slot()
    def _fit(self) -> None:
        """Fit the list to the widths of names in the present size of text."""
        self._side.setFixedWidth(px(_LIST_PX))
        self.setMinimumSize(px(704), px(400))  # the pictures of the themes side by side
        for row in range(self.list.count()):
            self.list.item(row).setSizeHint(QSize(100, px(_ROW_PX)))

    def _lay_out(self) -> None:
        self.reset = styled(
            QPushButton(self.tr("Reset this page"), autoDefault=False), kind="quiet"
        )
        self.reset.clicked.connect(self._on_reset)
        self.remark = text_label()
        self.undo = styled(QPushButton(self.tr("Undo"), autoDefault=False), kind="quiet")
        self.undo.clicked.connect(self._on_undo)
        self._foot = closing_row(self, (self.reset, self.remark, self.undo))
        self._side = styled(QWidget(), kind="sidebar")
        self._side.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        column_of(self.search, (self.list, 1), on=self._side, margins=GAP, spacing=STEP)
        middle = row_of(self._side, (self.stack, 1), spacing=0)
        column_of((middle, 1), self._foot, on=self, margins=0, spacing=0)
        look.follow(self._fit)
        self._show_undo("")

    def _show_undo(self, words: str) -> None:
        say(self.remark, words)
        self.undo.setVisible(bool(words))

    @Slot(int)
    def _on_row(self, row: int) -> None:
        if row >= 0:
            self.pages[row].build()
            self.stack.setCurrentIndex(row)
            self._order(self.pages[row])
        self._show_undo("")

    def _order(self, page: SettingsPage) -> None:
        """Put the foot after the page in the tab order, since the page may have been made later."""
        by_key = Qt.FocusPolicy.TabFocus
        # The lists of combo boxes are windows of their own.
        rows = [w for w in page.findChildren(QWidget) if w.window() is self]
        before = next(w for w in reversed(rows) if w.focusPolicy() & by_key)
        for button in self._foot.findChildren(QPushButton):
            self.setTabOrder(before, button)
            before = button

    @Slot()
    def _on_next(self) -> None:
        """Build another page, in which the search may find something."""
        waiting = [page for page in self.pages if not page.is_built]
        if waiting:
            waiting[0].build()
            self._on_search(self.search.text())

    @Slot(str)
    def _on_search(self, text: str) -> None:
        words = text.casefold().split()
        found = [page.show_matching(words) > 0 or not words for page in self.pages]
        for row, is_found in enumerate(found):
            self.list.item(row).setHidden(not is_found)
        row = self.list.currentRow()
        is_whole = not words or all(page.is_built for page in self.pages)
        if not is_whole:
            self._next.start()
        if not any(found):
            if not is_whole:
                return
            self.stack.setCurrentWidget(self._nothing)
        else:
            self.list.setCurrentRow(row if row >= 0 and found[row] else found.index(True))
            self.stack.setCurrentIndex(self.list.currentRow())
        self.reset.setEnabled(any(found))

    @Slot()
    def _on_reset(self) -> None:
        page = self.pages[self.list.currentRow()]
        self._before = [(each, each.value) for each in page.settings]
        for each in page.settings:
            each.set_value(each.default)
        self._show_undo(self.tr("“{}” is back to its defaults.").format(page.title))
        self.undo.setFocus()

    @Slot()
    def _on_undo(self) -> None:
        for each, value in self._before:
            each.set_value(value)
        self._show_undo("")
        self.reset.setFocus()
