"""All that the window says by itself, in one text per language that is reviewed as a diff.

After a change of words, run this with ``PACELINE_WRITE_WORDS=1`` and read what has changed in
`words.en.txt` and `words.de.txt`. Other tests compare codes, numbers and states.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QComboBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QTabBar,
    QTextEdit,
    QWidget,
)

from gui.auto_words import all_words
from paceline.engine.draft import grammar_drafter, registry
from paceline.gui.kit.labels import without_soft_breaks
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import in_words, install_language
from paceline.gui.look.current import look
from paceline.gui.state.actions import OBSTACLE
from paceline.gui.state.sources import Sources
from paceline.messages import PromptRendered
from paceline.paths import resources

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from PySide6.QtWidgets import QApplication

    from gui.fake_client import FakeClient
    from paceline.gui.program import Program


TRAILING = re.compile(r"(\.\.\.|…)$")
FIGURE = re.compile(r"\d+([.,]\d+)*")
YEAR = re.compile(r"\b20\d\d\b")
MARKS = re.compile(r"<[^>]*>")


@pytest.fixture(params=["en", "de"])
def language(request: pytest.FixtureRequest, qapp: QApplication) -> Iterator[str]:
    """A language for what is made from now on."""
    translators = install_language(request.param, resources())
    yield request.param
    for translator in translators:
        qapp.removeTranslator(translator)
    QLocale.setDefault(QLocale.c())
    look.changed.emit(look.theme)  # what was dressed meanwhile, such as the shared window's plot


def words_of(widget: QWidget) -> Iterator[str]:
    """Yield what a widget says, to eyes and to a screen reader."""
    yield widget.windowTitle()
    if isinstance(widget, QLabel | QAbstractButton):
        yield widget.text()
    if isinstance(widget, QLineEdit | QPlainTextEdit | QTextEdit):
        yield widget.placeholderText()
    if isinstance(widget, QComboBox):
        yield from (widget.itemText(row) for row in range(widget.count()))
    if isinstance(widget, QTabBar):
        yield from (widget.tabText(tab) for tab in range(widget.count()))
        yield from (widget.tabToolTip(tab) for tab in range(widget.count()))
    yield widget.toolTip()
    yield widget.accessibleName()
    yield widget.accessibleDescription()


def within(root: QWidget) -> Iterator[str]:
    """Yield all that is said in a window, hidden parts included, from its first part on."""
    for action in root.findChildren(QAction):
        yield from (action.text(), str(action.property(OBSTACLE) or ""))
        if action.toolTip() != TRAILING.sub("", action.text().replace("&", "")):
            yield action.toolTip()
    for widget in (root, *root.findChildren(QWidget)):
        yield from words_of(widget)


def parts(program: Program, client: FakeClient) -> Iterator[tuple[str, QWidget]]:
    """Yield each part of the program with its name, opened one after the other."""
    actions, window = program.window.actions_, program.window
    yield "The window", window
    actions.settings.trigger()
    assert program.settings_controller.dialog is not None
    for row in range(program.settings_controller.dialog.list.count()):
        program.settings_controller.dialog.list.setCurrentRow(row)
    yield "Settings", program.settings_controller.dialog
    program.settings_controller.close()
    actions.shortcuts.trigger()
    assert program.help.shortcuts.dialog is not None
    yield "Keys", program.help.shortcuts.dialog
    program.help.close()
    actions.benchmark.trigger()
    assert program.bench.dialog is not None
    yield "Benchmark", program.bench.dialog
    program.bench.close()
    client.emit(PromptRendered("", 0, thinking=("off", "low"), own="{{ messages }}"))
    actions.chat_template.trigger()
    assert program.prompting.dialog is not None
    yield "Chat template", program.prompting.dialog
    program.prompting.close()
    program.chat.send("Hello?")
    client.reply("Hi")
    actions.run.trigger()
    assert program.runs.dialog is not None
    yield "A run", program.runs.dialog
    program.runs.close()
    actions.answer_twice.trigger()
    assert program.comparing.dialog is not None
    yield "Compare", program.comparing.dialog
    program.comparing.close()


def test_the_window_says_this(
    make_program: Callable[..., Program],
    client: FakeClient,
    paceline_home: Path,
    language: str,
) -> None:
    program = make_program()
    client.finish_load()
    lines: list[str] = []
    known: set[str] = set()
    for title, root in parts(program, client):
        lines += ["", f"# {title}"]
        for text in within(root):
            words = MARKS.sub("", without_soft_breaks(text)).strip()
            words = words.replace(str(paceline_home), "~")
            if title == "A run":  # with its date and its time to the first token
                words = "" if YEAR.search(words) else FIGURE.sub("9", words)
            if words not in known and any(letter.isalpha() for letter in words):
                lines.append(words.replace("\n", "\n  "))
            known.add(words)
    sources = Sources(map(in_words, (*registry.available(), grammar_drafter.INFO)))
    lines += ["", "# Auto", *(said(line).replace("# ", "## ") for line in all_words(sources))]
    file = Path(__file__).with_name(f"words.{language}.txt")
    text = "\n".join(lines).strip() + "\n"
    if os.environ.get("PACELINE_WRITE_WORDS"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")
