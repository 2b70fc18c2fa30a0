"""Files that are dragged over the window: which zones appear, and what a drop asks for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QWidget

from paceline.gui.kit.drop_zones import DropZones
from paceline.gui.models.load_checks import first_parts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

WIDTH = 900
LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
Asked = list[tuple[object, ...]]


@pytest.fixture
def zones(qtbot: QtBot) -> Iterator[DropZones]:
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(WIDTH, 600)
    yield DropZones(window)
    window.close()


@pytest.fixture
def asked(zones: DropZones) -> Asked:
    """Everything that the zones ask for, by the signal's name."""
    seen: Asked = []
    for name in ("dropped", "folders_dropped", "chats_dropped", "files_dropped"):
        signal = getattr(zones, name)
        signal.connect(lambda *what, name=name: seen.append((name, *what)))
    return seen


def drag(zones: DropZones, x: int, *paths: Path) -> None:
    """Bring files over the window; they are seen to be taken."""
    data = data_of(*paths)  # the event does not keep it
    event = QDragEnterEvent(QPoint(x, 300), Qt.DropAction.CopyAction, data, LEFT, NONE)
    event.ignore()
    QApplication.sendEvent(zones.window(), event)
    assert event.isAccepted()
    assert not zones.isHidden()


def drop(zones: DropZones, x: int, *paths: Path) -> None:
    drag(zones, x, *paths)
    data = data_of(*paths)
    event = QDropEvent(QPointF(x, 300), Qt.DropAction.CopyAction, data, LEFT, NONE)
    QApplication.sendEvent(zones.window(), event)
    assert zones.isHidden()


def data_of(*paths: Path) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    return data


@pytest.mark.parametrize(("x", "is_draft"), [(100, False), (WIDTH - 100, True)])
def test_a_model_takes_the_place_on_which_it_is_dropped(
    zones: DropZones, asked: Asked, x: int, *, is_draft: bool
) -> None:
    drop(zones, x, Path("/m/large.gguf"), Path("/m/picture.png"))
    assert asked == [
        ("dropped", ["/m/large.gguf"], is_draft), ("files_dropped", ["/m/picture.png"]),
    ]  # fmt: skip


@pytest.mark.parametrize("below", ["", "deeper"])
def test_folders_with_models_are_distinguished_from_other_files(
    zones: DropZones, asked: Asked, tmp_path: Path, below: str
) -> None:
    folder, notes = tmp_path / "models", tmp_path / "notes"
    (folder / below).mkdir(parents=True)
    (folder / below / "wolf.gguf").write_bytes(b"GGUF")
    notes.mkdir()
    (notes / "a.txt").write_text("a")
    drop(zones, 100, folder, notes)
    assert asked == [("folders_dropped", [str(folder)]), ("files_dropped", [str(notes)])]


def test_chats_are_opened_at_the_left_and_attached_at_the_right(
    zones: DropZones, asked: Asked
) -> None:
    drop(zones, 100, Path("/c/chats.json"))
    drop(zones, WIDTH - 100, Path("/c/chats.json"))
    assert [name for name, _ in asked] == ["chats_dropped", "files_dropped"]


def test_files_that_leave_the_window_ask_for_nothing(zones: DropZones, asked: Asked) -> None:
    drag(zones, 99, Path("/m/large.gguf"))
    QApplication.sendEvent(zones.window(), QDragLeaveEvent())
    assert zones.isHidden()
    assert asked == []


def test_the_parts_of_a_split_model_are_one_model(tmp_path: Path) -> None:
    parts = [str(tmp_path / f"big-0000{n}-of-00003.gguf") for n in (2, 1, 3)]
    for path in parts:
        Path(path).write_bytes(b"GGUF")
    assert first_parts(parts) == first_parts(parts[2:]) == [parts[1]]
    gone = [f"{tmp_path}/gone-0000{n}-of-00003.gguf" for n in (2, 3)]
    assert first_parts(gone) == gone[:1]
