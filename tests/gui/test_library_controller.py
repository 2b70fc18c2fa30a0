"""Keeping the list up to date, and what can be done with a model file."""

from __future__ import annotations

import shutil
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QMessageBox, QWidget

from catalog import made_models
from gui.library_help import entry
from paceline.catalog.inspect.inspector import Inspector
from paceline.catalog.local.library import CardReader, Library
from paceline.catalog.local.model_files import Place
from paceline.errors import ModelError
from paceline.gui.kit import file_dialogs
from paceline.gui.kit.notices import Notice, Notifications
from paceline.gui.models.lists.library import LibraryController

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytestqt.qtbot import QtBot

    from paceline.catalog.card import ModelCard
    from paceline.catalog.local.library import LibraryEntry

CARD = replace(made_models.CARD, n_bytes=1)  # the files are small
# Dialogs are windows, about which the offscreen platform has regrets.
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


class Reader:
    """Gives every file the same card; holds still while it is told to."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.goes_on = threading.Event()
        self.goes_on.set()

    def card(self, path: Path, parts: Sequence[Path] = ()) -> ModelCard:
        del parts
        self.asked.append(path.name)
        if not self.goes_on.wait(10):
            raise ModelError("takes-too-long", "It takes too long.")
        return CARD


class World:
    """A controller, what it works on and what it said."""

    def __init__(self, tmp_path: Path, window: QWidget, reader: CardReader) -> None:
        self.ours = tmp_path / "ours"
        self.theirs = tmp_path / "theirs"
        self.loaded: set[Path] = set()
        self.window = window
        self.notices: list[Notice] = []
        notifications = Notifications(window)
        notifications.posted.connect(self.notices.append)
        self.controller = LibraryController(
            Library(reader, places=self.places, cache_file=tmp_path / "c.json"),
            notifications,
            window,
            is_loaded=lambda path: path in self.loaded,
        )

    def places(self) -> list[Place]:
        return [Place(self.ours, "paceline"), Place(self.theirs, "lm-studio")]

    @property
    def entries(self) -> list[LibraryEntry]:
        return sorted(self.controller.entries, key=lambda entry: entry.file.name)

    @property
    def names(self) -> list[str]:
        return [entry.file.name for entry in self.entries]

    def refresh(self, qtbot: QtBot) -> None:
        with qtbot.waitSignal(self.controller.refreshed, timeout=20_000):
            self.controller.refresh()

    @property
    def questions(self) -> list[QMessageBox]:
        return [box for box in self.window.findChildren(QMessageBox) if box.isVisible()]

    def dialog(self) -> QMessageBox:
        (box,) = self.questions
        return box


@pytest.fixture
def reader() -> Reader:
    return Reader()


@pytest.fixture
def make_world(qtbot: QtBot, tmp_path: Path) -> Iterator[Callable[[CardReader], World]]:
    worlds: list[World] = []

    def make(reader: CardReader) -> World:
        window = QWidget()
        qtbot.addWidget(window)
        worlds.append(World(tmp_path, window, reader))
        return worlds[-1]

    yield make
    for world in worlds:
        assert world.controller.close()


@pytest.fixture
def world(make_world: Callable[[CardReader], World], reader: Reader) -> World:
    return make_world(reader)


def put(folder: Path, *names: str) -> list[Path]:
    paths = [folder / name for name in names]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"GGUF")
    return paths


# ------------------------------------------------------------------------------------- refresh


def test_names_are_there_before_a_slow_file_is_read(
    world: World, reader: Reader, qtbot: QtBot
) -> None:
    put(world.theirs, *(f"{n:02}.gguf" for n in range(70)))
    reader.goes_on.clear()
    world.controller.refresh()
    assert world.controller.is_busy
    qtbot.waitUntil(lambda: len(world.entries) >= 64)
    assert all(e.card is None for e in world.entries)
    with qtbot.waitSignal(world.controller.refreshed, timeout=20_000):
        reader.goes_on.set()
    assert [e.card for e in world.entries] == [CARD] * 70
    assert not world.controller.is_busy


def test_what_is_known_is_shown_while_the_first_file_is_read(
    make_world: Callable[[CardReader], World], reader: Reader, qtbot: QtBot
) -> None:
    first = make_world(reader)
    put(first.theirs, "a.gguf", "b.gguf")
    first.refresh(qtbot)
    put(first.theirs, "c.gguf")
    slow = Reader()
    slow.goes_on.clear()
    second = make_world(slow)
    second.controller.refresh()
    qtbot.waitUntil(lambda: len(second.entries) >= 1)
    assert second.entries[0].card == CARD
    slow.goes_on.set()
    qtbot.waitUntil(lambda: not second.controller.is_busy)
    assert slow.asked == ["c.gguf"]
    assert second.names == ["a", "b", "c"]


def test_a_refresh_asked_for_meanwhile_follows(world: World, reader: Reader, qtbot: QtBot) -> None:
    put(world.theirs, "a.gguf")
    reader.goes_on.clear()
    world.controller.refresh()
    qtbot.waitUntil(lambda: reader.asked == ["a.gguf"])
    put(world.theirs, "b.gguf")
    world.controller.refresh()
    world.controller.refresh()
    reader.goes_on.set()
    qtbot.waitUntil(lambda: world.names == ["a", "b"] and not world.controller.is_busy)


def test_new_and_deleted_files_show_by_themselves(world: World, qtbot: QtBot) -> None:
    (a,) = put(world.theirs, "owner/repo/a.gguf")
    world.refresh(qtbot)
    put(world.theirs, "owner/repo/b.gguf")
    qtbot.waitUntil(lambda: world.names == ["a", "b"], timeout=20_000)
    a.unlink()
    qtbot.waitUntil(lambda: world.names == ["b"], timeout=20_000)
    put(world.theirs, "other/repo/c.gguf")
    qtbot.waitUntil(lambda: world.names == ["b", "c"], timeout=20_000)


def test_closing_ends_a_refresh(
    make_world: Callable[[CardReader], World], tmp_path: Path, qtbot: QtBot, draft_path: Path
) -> None:
    inspector = Inspector()
    world = make_world(inspector)
    put(world.theirs, *(f"{n}.gguf" for n in range(200)))
    world.theirs.mkdir(exist_ok=True)
    shutil.copy(draft_path, world.theirs / "real.gguf")
    world.controller.refresh()
    qtbot.waitUntil(lambda: bool(world.entries), timeout=20_000)
    inspector.close()
    assert world.controller.close(), "a file is still being looked into"
    world.controller.refresh()
    assert not world.notices


def test_real_files_are_looked_into(
    make_world: Callable[[CardReader], World], qtbot: QtBot, draft_path: Path
) -> None:
    inspector = Inspector()
    world = make_world(inspector)
    world.theirs.mkdir()
    shutil.copy(draft_path, world.theirs / "real.gguf")
    put(world.theirs, "broken.gguf")
    world.refresh(qtbot)
    broken, real = world.entries
    assert broken.problem
    assert real.card is not None
    assert real.card.quantisation == "Q8_0"
    inspector.close()


# --------------------------------------------------------------------------------------- files


@pytest.fixture
def trash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The trash of this test alone (freedesktop.org, "The Trash specification")."""
    (tmp_path / "share").mkdir()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    return tmp_path / "share" / "Trash" / "files"


def press(box: QMessageBox, *, accept: bool) -> None:
    role = QMessageBox.ButtonRole.AcceptRole if accept else QMessageBox.ButtonRole.RejectRole
    next(b for b in box.buttons() if box.buttonRole(b) == role).click()


def test_all_parts_go_to_the_trash_after_a_question(
    world: World, trash: Path, qtbot: QtBot
) -> None:
    parts = put(world.ours, *(f"o/r/m-0000{n}-of-00002.gguf" for n in (1, 2)))
    world.refresh(qtbot)
    (model,) = world.entries
    world.controller.delete(model)
    assert "“m” (8 B)" in world.dialog().text()
    press(world.dialog(), accept=False)
    assert not world.questions
    assert all(part.exists() for part in parts)
    world.controller.delete(model)
    press(world.dialog(), accept=True)
    qtbot.waitUntil(lambda: world.names == [] and not world.controller.is_busy)
    assert not any(part.exists() for part in parts)
    assert sorted(path.name for path in trash.iterdir()) == [part.name for part in parts]
    assert not (world.ours / "o").exists(), "empty folders stay"
    assert world.ours.exists()
    assert not world.notices


def test_files_of_others_are_never_deleted(world: World, qtbot: QtBot) -> None:
    (path,) = put(world.theirs, "a.gguf")
    world.refresh(qtbot)
    world.controller.delete(world.entries[0])
    assert not world.questions
    assert path.exists()


@pytest.mark.parametrize("is_early", [True, False])
def test_a_loaded_model_is_not_deleted(
    world: World, trash: Path, qtbot: QtBot, is_early: bool
) -> None:
    _, second = put(world.ours, *(f"m-0000{n}-of-00002.gguf" for n in (1, 2)))
    world.refresh(qtbot)
    if is_early:
        world.loaded.add(second)
        world.controller.delete(world.entries[0])
        assert not world.questions
    else:
        world.controller.delete(world.entries[0])
        world.loaded.add(second)
        press(world.dialog(), accept=True)
    (notice,) = world.notices
    assert "is loaded now" in notice.message
    assert "Load another model" in notice.hint
    assert second.exists()


def test_a_file_that_cannot_be_moved_is_told(
    world: World, trash: Path, qtbot: QtBot, tmp_path: Path
) -> None:
    (path,) = put(world.ours, "a.gguf")
    world.refresh(qtbot)
    trash.parent.write_text("in the way of the trash")
    world.controller.delete(world.entries[0])
    press(world.dialog(), accept=True)
    qtbot.waitUntil(lambda: bool(world.notices) and not world.controller.is_busy)
    assert "cannot be moved to the trash" in world.notices[0].message
    assert str(world.ours) in world.notices[0].hint
    assert path.exists()
    assert world.names == ["a"]


def test_a_file_is_shown_in_the_file_manager(
    world: World, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def open_url(url: QUrl) -> bool:
        opened.append(url.toLocalFile())
        return len(opened) == 1

    monkeypatch.setattr(QDesktopServices, "openUrl", open_url)
    monkeypatch.setattr(file_dialogs.sys, "platform", "linux")
    put(world.theirs, "a.gguf")
    world.refresh(qtbot)
    world.controller.reveal(world.entries[0])
    assert [Path(path) for path in opened] == [world.theirs]
    assert not world.notices
    world.controller.reveal(world.entries[0])
    assert "No file manager" in world.notices[-1].message
    world.controller.reveal(entry("gone", folder=world.theirs))
    assert "not there any more" in world.notices[-1].message
    qtbot.waitUntil(lambda: not world.controller.is_busy)


def test_how_other_systems_choose_the_file() -> None:
    path = Path("/models/my model.gguf")
    assert file_dialogs.command_for(path, "darwin") == ("open", ["-R", str(path)])
    assert file_dialogs.command_for(path, "win32") == ("explorer.exe", [f'/select,"{path}"'])
    assert file_dialogs.command_for(path, "linux") is None
