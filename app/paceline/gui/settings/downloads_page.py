"""Settings about Hugging Face: access token, folder of downloads, proxy."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QDir, Qt, Slot
from PySide6.QtWidgets import QLineEdit, QPushButton, QSizePolicy, QWidget

from paceline.catalog.hub.client import TokenSource
from paceline.catalog.models import Models
from paceline.errors import UserError
from paceline.gui.kit.background import Background
from paceline.gui.kit.file_dialogs import FileChooser
from paceline.gui.kit.labels import BreakingLabel, ElidedLabel, say, text_label
from paceline.gui.kit.layouts import column_of, row_of, styled
from paceline.gui.kit.sentences import said
from paceline.gui.look.scale import HALF, STEP
from paceline.gui.settings.forms import OwnField, SettingRow, SettingsPage
from paceline.gui.state.settings_store import Setting, SettingsStore
from paceline.settings import can_be_proxy

_UNLIMITED_PX = 2000


class TokenField(QWidget):
    """The access token: only its presence is shown, and no settings contain it."""

    def __init__(self, tokens: TokenSource, background: Background) -> None:
        super().__init__()
        self._tokens, self._background = tokens, background
        self.state = styled(BreakingLabel(), role="value")
        self.field = QLineEdit(echoMode=QLineEdit.EchoMode.Password)
        self.field.setPlaceholderText(self.tr("Access token, hf_…"))
        self.field.setAccessibleName(self.tr("Access token of Hugging Face"))
        self.keep = QPushButton(self.tr("Use token"), autoDefault=False)
        self.keep.setEnabled(False)
        self.forget = QPushButton(self.tr("Forget"), autoDefault=False)
        self.forget.setAccessibleName(self.tr("Forget the access token"))
        self.problem = text_label("", "danger", wraps=True)
        self.problem.hide()
        above = row_of((self.state, 1), self.forget, spacing=STEP)
        below = row_of((self.field, 1), self.keep, spacing=STEP)
        column_of(above, below, self.problem, on=self, margins=0, spacing=HALF)
        self.field.textChanged.connect(self._on_typed)
        self.field.returnPressed.connect(self._on_keep)
        self.keep.clicked.connect(self._on_keep)
        self.forget.clicked.connect(self._on_forget)
        self.forget.hide()
        self._look()

    def _look(self) -> None:
        """Check whether there is a token, which may have to unlock a keyring."""
        self._background.start(self._tokens.place, self._show)

    def _show(self, place: str) -> None:
        words = {
            "environment": self.tr("Set by the variable HF_TOKEN"),
            "kept": self.tr("Set"),
            "": self.tr("Not set"),
        }
        self.state.setText(words[place])
        self.forget.setVisible(place == "kept")

    @Slot(str)
    def _on_typed(self, text: str) -> None:
        self.keep.setEnabled(bool(text.strip()))
        say(self.problem, "")

    @Slot()
    def _on_keep(self) -> None:
        token = self.field.text().strip()
        if token:
            self.field.clear()
            work = partial(self._tokens.set_token, token)
            self._background.start(work, self._on_done, self._on_failed)

    @Slot()
    def _on_forget(self) -> None:
        self.field.setFocus()
        self._background.start(self._tokens.forget, self._on_done, self._on_failed)

    def _on_done(self, _result: object) -> None:
        say(self.problem, "")
        self._look()

    def _on_failed(self, error: UserError) -> None:
        say(self.problem, said(error.message, error.hint))
        self._look()


class FolderField(OwnField):
    """Field for a setting that is a folder, or empty for the usual one."""

    def __init__(self, setting: Setting, usual: Path) -> None:
        super().__init__(setting)
        self._usual = usual
        self.path = styled(ElidedLabel(_UNLIMITED_PX, Qt.TextElideMode.ElideMiddle), role="value")
        self.path.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.choose = QPushButton(self.tr("Choose…"), autoDefault=False)
        self.choose.setAccessibleName(self.tr("Choose the folder of downloads"))
        self.back = QPushButton(self.tr("Usual folder"), autoDefault=False)
        self.problem = text_label("", "danger", wraps=True)
        self.problem.hide()
        self.chooser = FileChooser(self)
        self.chooser.chosen.connect(self.set_folder)
        self.choose.clicked.connect(self._on_choose)
        self.back.clicked.connect(self._on_back)
        row = row_of((self.path, 1), self.choose, self.back, spacing=STEP)
        column_of(row, self.problem, on=self, margins=0, spacing=HALF)
        self.setFocusProxy(self.choose)
        setting.changed.connect(self._show)
        self._show()

    @Slot(str)
    def set_folder(self, folder: str) -> None:
        """Set a folder, or say that it cannot be written to."""
        if not os.access(folder, os.W_OK | os.X_OK):
            words = self.tr("Nothing can be written to {}. Choose another folder.")
            say(self.problem, words.format(QDir.toNativeSeparators(folder)))
            return
        self.setting.set_value("" if Path(folder) == self._usual else folder)
        self._show()

    @Slot()
    def _show(self) -> None:
        say(self.problem, "")
        self.path.setText(QDir.toNativeSeparators(self.setting.value or str(self._usual)))
        self.back.setVisible(bool(self.setting.value))

    @Slot()
    def _on_choose(self) -> None:
        self.chooser.ask_folder(self, self.tr("Where downloads go"))

    @Slot()
    def _on_back(self) -> None:
        self.setting.set_value("")
        self.choose.setFocus()


class ProxyField(OwnField):
    """Field for a setting that is a proxy's address; other texts are marked and not stored."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self.field = QLineEdit()
        self.field.setPlaceholderText(self.tr("Automatic: as HTTPS_PROXY says, or none"))
        self.field.setAccessibleName(self.tr("Proxy"))
        self.problem = text_label("", "danger", wraps=True)
        self.problem.hide()
        column_of(self.field, self.problem, on=self, margins=0, spacing=HALF)
        self.setFocusProxy(self.field)
        self.field.textEdited.connect(self._on_edited)
        self.field.editingFinished.connect(self._on_finished)
        setting.changed.connect(self._show)
        self._show()

    @Slot()
    def _show(self) -> None:
        self._mark("")
        self.field.setText(self.setting.value)

    @Slot()
    def _on_edited(self) -> None:
        self._mark("")

    @Slot()
    def _on_finished(self) -> None:
        text = self.field.text().strip()
        if can_be_proxy(text):
            self.setting.set_value(text)
            self._show()
            return
        self._mark(
            self.tr(
                "This is no address of a proxy, and is not used. One looks like {}; it may also "
                "begin with https:// or socks5://."
            ).format("http://proxy.example:3128")
        )

    def _mark(self, problem: str) -> None:
        say(self.problem, problem)


class DownloadsPage(SettingsPage):
    """The page of the Hub's access token, the proxy and the folder of downloads."""

    def __init__(self, store: SettingsStore, models: Models, background: Background) -> None:
        super().__init__(QCoreApplication.translate("DownloadsPage", "Downloads"), store)
        self._models, self._background = models, background

    def _fill(self) -> None:
        setting = self._store.setting
        files = self.section(self.tr("Files"))
        usual = self._models.download_folders[-1]
        self.folder = FolderField(setting("download_folder"), usual)
        self.add_row(
            files,
            self.tr("Downloads go to"),
            self.tr("What was downloaded before stays where it is, and is still found."),
            self.folder,
            "folder models",
        )
        hub = self.section(self.tr("Hugging Face Hub"))
        self.token = TokenField(self._models.hub.tokens, self._background)
        title = self.tr("Access token")
        explanation = self.tr(
            "For models whose terms must be accepted, and for more requests. It is kept apart from "
            "the settings, where only you can read it, and goes to the Hub alone."
        )
        row = SettingRow(title, explanation, self.token)
        self.add(hub, row, title, "token hf gated login")
        self.add_switch(
            hub,
            "hub_offline",
            self.tr("Work offline"),
            self.tr("The Hub is not asked for anything. Everything on this computer works."),
            "internet network",
        )
        self.proxy = ProxyField(setting("hub_proxy"))
        self.add_row(
            hub,
            self.tr("Proxy"),
            self.tr("All requests go by it. Downloads under way go on from where they were."),
            self.proxy,
            "http socks network",
        )
