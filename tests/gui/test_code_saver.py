"""Code from a reply goes into a file of the user's choice."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QWidget

from paceline.gui.chat.controller import CodeSaver
from paceline.gui.kit.background import Background
from paceline.gui.kit.file_dialogs import SaveFile
from paceline.gui.kit.notices import Notice, Notifications

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot


class Saving:
    """A code saver and its messages."""

    def __init__(self, window: QWidget) -> None:
        self.background = Background(window)
        self.notifications = Notifications(window)
        self.notices: list[Notice] = []
        self.notifications.posted.connect(self.notices.append)
        self.files = SaveFile(self.background, self.notifications, window)
        self.saver = CodeSaver(self.files, window, window)

    def proposed(self, language: str) -> str:
        self.saver.save(language, "x = 1")
        dialog = self.files.dialog
        assert dialog is not None
        name = Path(dialog.selectedFiles()[0]).name
        dialog.reject()
        return name


@pytest.fixture
def saving(qtbot: QtBot) -> Iterator[Saving]:
    window = QWidget()
    qtbot.addWidget(window)
    made = Saving(window)
    yield made
    made.background.close()


@pytest.mark.parametrize(
    ("language", "name"),
    [
        ("python", "code.py"),
        ("JavaScript", "code.js"),
        ("dockerfile", "Dockerfile"),
        ("", "code.txt"),
        ("../../etc/passwd", "code.txt"),
    ],
)
def test_the_name_follows_the_language(saving: Saving, language: str, name: str) -> None:
    assert saving.proposed(language) == name


def test_the_file_is_written_or_the_failure_reported(
    saving: Saving, qtbot: QtBot, tmp_path: Path
) -> None:
    file = tmp_path / "a.py"
    for place, level in ((file, "info"), (file / "a.py", "error")):
        saving.notices.clear()
        saving.saver.save("python", "é = 1\ud800")
        dialog = saving.files.dialog
        assert dialog is not None
        assert not dialog.testOption(dialog.Option.DontConfirmOverwrite), "it asks before replacing"
        saving.files.write(str(place))
        dialog.reject()
        qtbot.waitUntil(lambda: bool(saving.notices))
        assert saving.notices[0].level == level
    assert file.read_bytes() == "é = 1?\n".encode()
