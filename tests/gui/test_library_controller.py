"""Keeping the list up to date, and what can be done with a model file."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from msgspec import structs
from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QMessageBox, QWidget
from shiboken6 import delete

from catalog import made_models
from gui.fake_hub import HeldBackground
from gui.library_help import entry
from paceline.catalog.inspect.inspector import Inspector
from paceline.catalog.local.library import CardReader, Library, LibraryEntry
from paceline.catalog.local.model_files import Place
from paceline.gui.kit import file_dialogs
from paceline.gui.kit.notices import Notice, Notifications
from paceline.gui.models.lists import library
from paceline.gui.models.lists.library import LibraryController

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

    from pytestqt.qtbot import QtBot

    from paceline.catalog.card import ModelCard

CARD = structs.replace(made_models.CARD, n_bytes=1)  # the files are small
# ------------------------------------------------------------------------------------- refresh

NAMES = st.sampled_from("abcdef")


class Folder:
    """A library of made files: names and sizes, of which some were read before."""

    def __init__(self) -> None:
        self.files: dict[str, int] = {}
        self.read: dict[str, LibraryEntry] = {}

    def places(self) -> list[Place]:
        return []

    def known(self) -> tuple[LibraryEntry, ...]:
        return tuple(self.read.values())

    def scan(self, _is_stopped: Callable[[], bool]) -> Generator[LibraryEntry, None, None]:
        unread = []
        for name, n_bytes in sorted(self.files.items()):
            known = self.read.get(name)
            if known is None or known.file.n_bytes != n_bytes:
                unread.append(entry(name, None, n_bytes=n_bytes))
                known = unread[-1]
            yield known
        for each in unread:
            read = entry(each.file.name, n_bytes=each.file.n_bytes)
            self.read[each.file.name] = read
            yield read
        self.read = {name: each for name, each in self.read.items() if name in self.files}


class Changes(RuleBasedStateMachine):
    """Files come, grow and go, while folders are looked through in small batches."""

    def __init__(self) -> None:
        super().__init__()
        self.window, self.folder = QWidget(), Folder()
        with patch.object(library, "Background", HeldBackground):
            self.controller = LibraryController(
                self.folder,  # type: ignore[arg-type]
                Notifications(self.window),
                self.window,
            )
        jobs = self.controller.findChild(HeldBackground)
        assert jobs is not None
        self.jobs = jobs
        self.is_up_to_date = False

    def teardown(self) -> None:
        assert self.controller.close()
        delete(self.window)

    @rule(name=NAMES, n_bytes=st.integers(1, 3))
    def put(self, name: str, n_bytes: int) -> None:
        self.folder.files[name] = n_bytes
        self.is_up_to_date = False

    @rule(name=NAMES)
    def remove(self, name: str) -> None:
        self.folder.files.pop(name, None)
        self.is_up_to_date = False

    @rule()
    def refresh(self) -> None:
        with patch.object(library, "_BATCH", 2):
            self.controller.refresh()
        assert self.controller.is_busy
        self.is_up_to_date = True

    @precondition(lambda self: self.jobs.jobs)
    @rule()
    def look(self) -> None:
        with patch.object(library, "_BATCH", 2):
            self.jobs.carry_out()

    @rule()
    def look_at_the_rest(self) -> None:
        self.jobs.carry_out_all()
        assert not self.controller.is_busy
        if self.is_up_to_date:
            read = {each.file.name: each.file.n_bytes for each in self.controller.entries}
            assert read == self.folder.files
            assert all(each.card is not None for each in self.controller.entries)

    @invariant()
    def every_model_has_one_row(self) -> None:
        entries = self.controller.entries
        assert len({each.file.path for each in entries}) == len(entries)
        for path, offer in self.controller.offers.items():
            assert offer.key == str(path)


TestChanges = Changes.TestCase


class Reader:
    """Gives every file the same card."""

    def card(self, path: Path, parts: Sequence[Path] = ()) -> ModelCard:
        del path, parts
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
def world(make_world: Callable[[CardReader], World]) -> World:
    return make_world(Reader())


def put(folder: Path, *names: str) -> list[Path]:
    paths = [folder / name for name in names]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"GGUF")
    return paths


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
    make_world: Callable[[CardReader], World], qtbot: QtBot, draft_path: Path
) -> None:
    inspector = Inspector()
    world = make_world(inspector)
    put(world.theirs, *(f"{n}.gguf" for n in range(50)))
    shutil.copy(draft_path, world.theirs / "real.gguf")
    world.controller.refresh()
    qtbot.waitUntil(lambda: bool(world.entries), timeout=20_000)
    inspector.close()
    assert world.controller.close(), "a file is still being looked into"
    world.controller.refresh()
    assert not world.notices


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
    for accept in (False, True):
        assert all(part.exists() for part in parts)
        world.controller.delete(model)
        press(world.dialog(), accept=accept)
        assert not world.questions
    qtbot.waitUntil(lambda: world.names == [] and not world.controller.is_busy)
    assert not any(part.exists() for part in parts)
    assert sorted(path.name for path in trash.iterdir()) == [part.name for part in parts]
    assert not (world.ours / "o").exists(), "empty folders stay"
    assert world.ours.exists()
    assert not world.notices


@pytest.mark.parametrize(
    "why", ["it is another program's", "it is loaded", "it is loaded meanwhile"]
)
@pytest.mark.usefixtures("trash")
def test_a_file_that_is_not_ours_or_in_use_is_not_deleted(
    world: World, qtbot: QtBot, why: str
) -> None:
    folder = world.theirs if "program" in why else world.ours
    _, second = put(folder, *(f"m-0000{n}-of-00002.gguf" for n in (1, 2)))
    world.refresh(qtbot)
    if why == "it is loaded":
        world.loaded.add(second)
    world.controller.delete(world.entries[0])
    assert bool(world.questions) == ("meanwhile" in why)
    if world.questions:
        world.loaded.add(second)
        press(world.dialog(), accept=True)
    assert [bool(notice.hint) for notice in world.notices] == [True] * ("loaded" in why)
    assert second.exists()


def test_a_file_that_cannot_be_moved_is_reported(world: World, trash: Path, qtbot: QtBot) -> None:
    (path,) = put(world.ours, "a.gguf")
    world.refresh(qtbot)
    trash.parent.write_text("in the way of the trash")
    world.controller.delete(world.entries[0])
    press(world.dialog(), accept=True)
    qtbot.waitUntil(lambda: bool(world.notices) and not world.controller.is_busy)
    assert str(world.ours) in world.notices[0].hint
    assert path.exists()
    assert world.names == ["a"]


def test_a_file_is_shown_in_the_file_manager(
    world: World, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Path] = []

    def open_url(url: QUrl) -> bool:
        opened.append(Path(url.toLocalFile()))
        return len(opened) == 1

    monkeypatch.setattr(QDesktopServices, "openUrl", open_url)
    monkeypatch.setattr(file_dialogs.sys, "platform", "linux")
    put(world.theirs, "a.gguf")
    world.refresh(qtbot)
    told = []
    for each in (world.entries[0], world.entries[0], entry("gone", folder=world.theirs)):
        world.controller.reveal(each)
        told.append(len(world.notices))
    assert opened == [world.theirs] * 2
    assert told == [0, 1, 2], "there is no file manager; the file is not there"
    qtbot.waitUntil(lambda: not world.controller.is_busy)


def test_how_other_systems_choose_the_file() -> None:
    path = Path("/models/my model.gguf")
    assert file_dialogs.command_for(path, "darwin") == ("open", ["-R", str(path)])
    assert file_dialogs.command_for(path, "win32") == ("explorer.exe", [f'/select,"{path}"'])
    assert file_dialogs.command_for(path, "linux") is None
