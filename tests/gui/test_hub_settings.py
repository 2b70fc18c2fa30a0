"""The page of settings about downloads: token, folder and proxy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit

from gui.test_accessibility import nameless, out_of_reach
from paceline.catalog.hub.client import TokenSource
from paceline.catalog.models import Models
from paceline.gui.kit.background import Background
from paceline.gui.settings.downloads_page import DownloadsPage
from paceline.gui.state.settings_store import SettingsStore
from paceline.settings import Settings, load_settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

SECRET = "hf_" + "a" * 30


@pytest.fixture
def store(qtbot: QtBot, paceline_home: Path) -> Iterator[SettingsStore]:
    owner = QObject()
    yield SettingsStore(Settings(), paceline_home / "settings.json", owner)
    owner.deleteLater()


@pytest.fixture
def background(qtbot: QtBot) -> Iterator[Background]:
    made = Background()
    yield made
    assert made.close()
    made.deleteLater()


def shown(qtbot: QtBot, store: SettingsStore, models: Models, by: Background) -> DownloadsPage:
    page = DownloadsPage(store, models, by)
    qtbot.addWidget(page)
    page.build()
    page.show()
    return page


@pytest.fixture
def page(
    qtbot: QtBot, store: SettingsStore, models: Models, background: Background
) -> DownloadsPage:
    return shown(qtbot, store, models, background)


def type_into(field: QLineEdit, text: str) -> None:
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, text)
    QTest.keyClick(field, Qt.Key.Key_Return)


def test_a_token_is_kept_apart_never_shown_refused_and_forgotten(
    page: DownloadsPage,
    store: SettingsStore,
    models: Models,
    background: Background,
    qtbot: QtBot,
    tmp_path: Path,
    paceline_home: Path,
) -> None:
    token = page.token
    qtbot.waitUntil(lambda: token.state.text() == "Not set")
    assert not token.forget.isVisible()
    assert not token.keep.isEnabled()
    type_into(token.field, f" {SECRET} ")
    qtbot.waitUntil(lambda: token.state.text() == "Set")
    assert token.field.text() == ""
    assert token.field.echoMode() == QLineEdit.EchoMode.Password
    assert models.hub.tokens.token() == SECRET
    file = tmp_path / "hf" / "token"
    assert file.stat().st_mode & 0o077 == 0
    store.set("theme", "dark")
    store.save()
    written = [path for path in paceline_home.rglob("*") if path.is_file()]
    assert paceline_home / "settings.json" in written
    assert not [path for path in written if SECRET.encode() in path.read_bytes()]
    token.forget.click()
    qtbot.waitUntil(lambda: token.state.text() == "Not set")
    assert not file.exists()
    type_into(token.field, "hf two words")
    qtbot.waitUntil(lambda: "no access token" in token.problem.text())
    assert token.state.text() == "Not set"
    QTest.keyClicks(token.field, "h")
    assert token.problem.isHidden()
    models.hub.tokens = TokenSource({"HF_TOKEN": SECRET})
    again = shown(qtbot, store, models, background)
    qtbot.waitUntil(lambda: "HF_TOKEN" in again.token.state.text())
    assert again.token.forget.isHidden(), "one of the environment is not forgotten here"
    assert nameless(again) == out_of_reach(again) == []


def test_a_folder_and_a_proxy_are_kept_and_what_cannot_be_used_is_refused(
    page: DownloadsPage, store: SettingsStore, models: Models, tmp_path: Path, paceline_home: Path
) -> None:
    folder, proxy = page.folder, page.proxy
    folder.set_folder(str(tmp_path))
    assert store.value("download_folder") == folder.path.text() == str(tmp_path)
    folder.set_folder(str(tmp_path / "none"))
    assert not folder.problem.isHidden(), "it cannot be written to"
    assert store.value("download_folder") == str(tmp_path)
    type_into(proxy.field, "http://host:3128")
    type_into(proxy.field, "nonsense")
    assert "is not used" in proxy.problem.text()
    store.save()
    kept = load_settings(paceline_home / "settings.json").settings
    assert (kept.hub_proxy, kept.download_folder) == ("http://host:3128", str(tmp_path))
    proxy.field.selectAll()
    QTest.keyClick(proxy.field, Qt.Key.Key_Delete)
    QTest.keyClick(proxy.field, Qt.Key.Key_Return)
    assert proxy.problem.isHidden()
    assert store.value("hub_proxy") == ""
    models.models_folder.mkdir(parents=True)
    folder.set_folder(str(models.models_folder))
    assert store.value("download_folder") == "", "the usual one is no choice"
    folder.set_folder(str(tmp_path))
    folder.back.click()
    assert store.value("download_folder") == ""
