"""The user guide in the window: its links lead somewhere, its plots are there, words are found."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QLocale, Qt, QUrl
from PySide6.QtTest import QTest

from paceline import paths
from paceline.gui.help import guide
from paceline.gui.help.guide import GuideDialog, anchor_of
from paceline.gui.look.current import look

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from paceline.gui.program import Program

FOLDER = paths.resources() / "guide"
TEXT = (FOLDER / guide.FILE).read_text(encoding="utf-8")
GERMAN = (FOLDER / "guide.de.md").read_text(encoding="utf-8")


@pytest.fixture
def dialog(program: Program, qtbot: QtBot) -> GuideDialog:
    qtbot.waitUntil(program.window.isActiveWindow)
    QTest.keyClick(program.window.focusWidget(), Qt.Key.Key_F1)
    shown = program.help.guide.dialog
    assert shown is not None
    qtbot.waitUntil(shown.isVisible)
    return shown


@pytest.mark.parametrize("text", [TEXT, GERMAN], ids=["en", "de"])
def test_every_link_leads_to_a_heading_or_to_the_web(text: str) -> None:
    names = {anchor_of(title) for title in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}
    links = re.findall(r"\[[^\]]+\]\(([^)]+)\)", text)
    assert len(links) > 7
    for link in links:
        assert link.startswith("https://") or link.removeprefix("#") in names, link


def test_the_translation_has_the_same_parts() -> None:
    # `Gemma 4` and the like stand in both; words of commands and settings are not translated.
    for what in (
        r"^#+ ", r"^\d\. ", r"^- ", r"^\|", "^paceline .*$", r'(?:src|srcset)="([^"]+)"',
        r"`[^`\n]+`", r"Q\d_\w+",
    ):  # fmt: skip
        found = [sorted(re.findall(what, text, re.MULTILINE)) for text in (TEXT, GERMAN)]
        assert found[0]
        assert found[0] == found[1]


def test_it_has_the_language_of_the_window(tmp_path: Path) -> None:
    assert guide.file_in(FOLDER).name == "guide.md"
    QLocale.setDefault(QLocale("de"))
    try:
        assert guide.file_in(FOLDER).name == "guide.de.md"
        assert guide.file_in(tmp_path).name == "guide.md"
    finally:
        QLocale.setDefault(QLocale.c())


def test_it_opens_once_and_its_links_and_plots_work(
    program: Program, dialog: GuideDialog, qtbot: QtBot
) -> None:
    program.window.actions_.guide.trigger()
    assert program.help.guide.dialog is dialog
    page, bar = dialog.page, dialog.page.verticalScrollBar()
    assert page.toPlainText().startswith("Paceline: user guide")
    page.anchorClicked.emit(QUrl("#privacy"))
    qtbot.waitUntil(lambda: bar.value() > bar.maximum() // 2)
    names = re.findall(r'(?:src|srcset)="([^"]+)"', TEXT)
    assert len(names) == 6
    assert all((FOLDER / name).is_file() for name in names)
    assert {file.name for file in FOLDER.glob("*.svg")} == set(names), "no plot is left over"
    light = _plot(dialog)
    look.set_mode("dark")
    assert _plot(dialog) != light
    assert page.loadResource(2, QUrl("file:///etc/hostname")).isEmpty(), "nothing else is loaded"
    for width in (1000, 420):
        dialog.resize(width, 500)
        qtbot.waitUntil(lambda: page.document().size().width() <= page.viewport().width() + 1)
    assert page.horizontalScrollBar().maximum() == 0
    command = max(re.findall("^paceline .*$", TEXT, re.MULTILINE), key=len)
    block = page.document().find(command).block()
    assert block.layout().lineCount() > 1, "in any of the fonts"
    dialog.accept()
    assert program.help.guide.dialog is None


def _plot(dialog: GuideDialog) -> object:
    kind = dialog.page.document().ResourceType.ImageResource.value
    return dialog.page.document().resource(kind, QUrl("gain-by-length.svg"))


def test_words_are_found_around_the_end(dialog: GuideDialog) -> None:
    field, page = dialog.search, dialog.page
    page.setFocus()
    QTest.keyClick(page, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert field.hasFocus()
    QTest.keyClicks(field, "right guesses")
    QTest.keyClick(field, Qt.Key.Key_Return)
    first = page.textCursor().selectionStart()
    assert page.textCursor().selectedText() == "right guesses"
    seen = [first]
    for _ in range(10):
        QTest.keyClick(field, Qt.Key.Key_Return)
        seen.append(page.textCursor().selectionStart())
    assert len(set(seen)) == TEXT.count("right guesses")
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert field.text() == ""
