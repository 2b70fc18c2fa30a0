"""The dialog that asks for files: one at a time, and where it begins."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QDialog, QFileDialog, QWidget

from paceline.gui.kit.file_dialogs import FileChooser

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    return made


def dialog_of(chooser: FileChooser) -> QFileDialog:
    assert chooser.dialog is not None
    return chooser.dialog


def test_one_dialog_at_a_time(window: QWidget, qtbot: QtBot) -> None:
    chooser = FileChooser(window)
    chooser.ask_file(window, "One", "")
    first = dialog_of(chooser)
    assert Path(first.directory().absolutePath()) == Path.home()
    chooser.ask_folder(window, "Two")
    assert chooser.dialog is first
    with qtbot.waitSignal(chooser.closed):
        first.reject()
    assert not chooser.is_open
    passing = QDialog(window)
    chooser.ask_folder(passing, "Two")
    assert dialog_of(chooser).windowTitle() == "Two"
    assert dialog_of(chooser).testOption(QFileDialog.Option.ShowDirsOnly)
    with qtbot.waitSignal(passing.destroyed):
        passing.deleteLater()
    assert not chooser.is_open, "a dialog that closes with its window blocks nothing"


def test_it_begins_where_something_was_chosen_last(
    window: QWidget, qtbot: QtBot, tmp_path: Path
) -> None:
    chooser = FileChooser(window)
    chooser.ask_files(window, "Files", "Texts (*.txt);;All files (*)")
    dialog = dialog_of(chooser)
    assert dialog.nameFilters() == ["Texts (*.txt)", "All files (*)"]
    paths = [str(tmp_path / name) for name in ("a.txt", "b.txt")]
    with qtbot.waitSignal(chooser.files_chosen) as told:
        dialog.filesSelected.emit(paths)
    assert told.args == [paths]
    dialog.reject()
    chooser.ask_place(window, "Save", "name.csv", "Tables (*.csv)")
    dialog = dialog_of(chooser)
    assert Path(dialog.selectedFiles()[0]) == tmp_path / "name.csv"
    assert dialog.defaultSuffix() == "csv"
    assert dialog.acceptMode() == QFileDialog.AcceptMode.AcceptSave
    with qtbot.waitSignal(chooser.chosen) as told:
        dialog.filesSelected.emit([str(tmp_path / "c.csv")])
    assert told.args == [str(tmp_path / "c.csv")]
    dialog.reject()
