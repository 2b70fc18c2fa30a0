"""The language of the interface: which one, and that widgets, Qt and drafters speak it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QCoreApplication, QLocale, QObject

from paceline.chat.exchange.words import Sourcing, token_line
from paceline.engine.draft import registry
from paceline.gui.conversations.exchange import export_words
from paceline.gui.kit.translation import (
    DRAFTERS,
    in_words,
    install_language,
    known_size,
    language_of,
    local,
    local_size,
    local_sizes,
    local_weights,
)
from paceline.messages import DraftCount, StepCommitted, TokenTrace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtCore import QTranslator

OFF = registry.find("off")

MADE = f"""<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de_DE" sourcelanguage="en">
<context><name>Greeter</name>
<message><source>Hello, {{}}</source><translation>Hallo, {{}}</translation></message></context>
<context><name>{DRAFTERS}</name>
<message><source>{OFF.title}</source><translation>Aus</translation></message></context>
</TS>
"""


class Greeter(QObject):
    def greeting(self, name: str) -> str:
        return self.tr("Hello, {}").format(name)


@pytest.fixture
def resources(tmp_path: Path) -> Path:
    folder = tmp_path / "translations"
    folder.mkdir()
    (folder / "paceline_de.ts").write_text(MADE, encoding="utf-8")
    tool = shutil.which("pyside6-lrelease", path=str(Path(sys.executable).parent))
    assert tool is not None
    subprocess.run([tool, "-silent", str(folder / "paceline_de.ts")], check=True)
    return tmp_path


@pytest.fixture
def german(qapp: QCoreApplication, resources: Path) -> Iterator[tuple[QTranslator, ...]]:
    translators = install_language("de", resources)
    yield translators
    for translator in translators:
        QCoreApplication.removeTranslator(translator)
        translator.deleteLater()
    QLocale.setDefault(QLocale.c())


def test_widgets_and_qt_itself_speak_it(german: tuple[QTranslator, ...]) -> None:
    assert Greeter().greeting("Ada") == "Hallo, Ada"
    assert QCoreApplication.translate("QPlatformTheme", "Cancel") == "Abbrechen"
    assert len(german) == 2


def test_drafters_speak_it_and_plug_ins_keep_their_words(
    german: tuple[QTranslator, ...],
) -> None:
    assert in_words(OFF).title == "Aus"
    assert in_words(OFF).id == OFF.id
    suffix = registry.find("suffix")
    assert in_words(suffix) == suffix  # it has no translation here


def test_numbers_and_months_follow_it(german: tuple[QTranslator, ...]) -> None:
    assert f"{local(1234.5):,.2f} {local(7):g}" == "1.234,50 7"
    assert local_size(4.7e9) == "4,7 GB"
    assert local_weights(7_620_000_000) == "7,62B"
    assert QLocale().standaloneMonthName(5) == "Mai"


def test_exports_have_its_signs(german: tuple[QTranslator, ...]) -> None:
    step = StepCommitted(1, (), "x", (DraftCount("draft", 1, 1),), 0, 0, 0, 0)
    line = token_line(TokenTrace(1, "draft", 0, 0.75, 1), step, export_words(), Sourcing({}))
    assert line.endswith(" 0,75")


def test_english_numbers_are_pythons(qapp: QCoreApplication) -> None:
    assert f"{local(1234.5):,.2f}" == "1,234.50"
    assert local_sizes(3.1e9, 4.9e9) == ("3.1", "4.9 GB")
    assert not known_size(0)
    assert local_size(0) == "0 B"


def test_english_needs_nothing(qapp: QCoreApplication, resources: Path) -> None:
    assert install_language("en", resources) == ()
    assert Greeter().greeting("Ada") == "Hello, Ada"


def test_a_language_without_a_file_stays_english(qapp: QCoreApplication, resources: Path) -> None:
    assert install_language("eo", resources) == ()
    assert Greeter().greeting("Ada") == "Hello, Ada"


def test_the_system_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    assert language_of("de") == "de"
    for name, code in (("de_AT", "de"), ("en_GB", "en"), ("C", "en")):
        monkeypatch.setattr(QLocale, "system", lambda name=name: QLocale(name))
        assert language_of("system") == code
