"""About, versions and licences: what is shipped is named, and nothing of the user's is."""

from __future__ import annotations

import json
import sys
from datetime import date
from importlib import metadata
from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QGuiApplication, QIcon

from paceline import __version__, paths
from paceline.gui.help import about
from paceline.gui.help.about import AboutDialog, LicencesPage, ReadLicences
from paceline.installation import package
from paceline.installation.components import requirements
from paceline.messages import DeviceInfo, EngineDescribed

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.program import Program

ENGINE = EngineDescribed(
    "b4242",
    "AVX2 = 1 | LLAMAFILE = 1",
    (DeviceInfo("CPU", "A processor", "cpu", 2**34, 2**33),),
)


def test_the_versions_are_those_that_run() -> None:
    facts = dict(about.version_facts(ENGINE))
    assert facts["Paceline"] == __version__
    assert facts["llama-cpp-python"] == metadata.version("llama-cpp-python")
    assert facts["llama.cpp"] == "b4242"
    assert facts["PySide6"] == metadata.version("PySide6-Essentials")
    assert facts["Installation"] == "checkout"
    assert "llama.cpp" not in dict(about.version_facts(None))
    machine = dict(about.machine_facts(ENGINE))
    assert machine["CPU"] == "A processor (cpu), 8.6 GB of 17.2 GB free"
    assert machine["Build flags"] == "AVX2 = 1 | LLAMAFILE = 1"
    assert "Code for this processor" not in machine
    for_haswell = EngineDescribed("b4242", "", (), cpu_variant="haswell")
    assert "Code for this processor: haswell" in about.report(for_haswell)


BUILT = date(2026, 11, 29)


@pytest.mark.parametrize(
    ("today", "age"),
    [
        (date(2026, 11, 28), ""),
        (BUILT, " (today)"),
        (date(2026, 11, 30), " (yesterday)"),
        (date(2026, 12, 2), " (3 days ago)"),
    ],
)
def test_the_age_of_the_build_is_reported(today: date, age: str) -> None:
    words = f"Version {__version__}, built on 29 November 2026{age}"
    assert about.version_words(BUILT, today) == words
    assert about.version_words(None, today) == f"Version {__version__}"


def test_an_old_build_says_that_there_may_be_a_newer_one(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert about.old_words(None, BUILT) == ""
    assert about.old_words(BUILT, date(2027, 5, 28)) == ""  # 180 days
    assert "newer version" in about.old_words(BUILT, date(2027, 5, 29))
    for built, is_old in ((None, False), (date(2020, 1, 1), True)):
        monkeypatch.setattr(package, "built_at", lambda built=built: built)
        dialog = AboutDialog(QIcon(), None)
        qtbot.addWidget(dialog)
        assert dialog.old.isVisibleTo(dialog) == is_old


def test_a_package_shows_its_own_list_and_what_can_be_replaced(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    elsewhere = LicencesPage()
    qtbot.addWidget(elsewhere)
    assert not elsewhere.replaceable.isVisibleTo(elsewhere)
    file = tmp_path / package.PARTS
    file.parent.mkdir()
    part = {"name": "Qt", "version": "6", "licenses": [{"expression": "LGPL-3.0-only"}]}
    file.write_text(json.dumps({"components": [part]}))
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "_MEIPASS", str(tmp_path), raising=False)
    (component,) = ReadLicences(tmp_path, requirements())()
    assert (component.name, component.licence) == ("Qt 6", "LGPL-3.0-only")
    page = LicencesPage()
    qtbot.addWidget(page)
    assert page.replaceable.isVisibleTo(page)
    assert str(tmp_path) in page.replaceable.text()


def test_every_library_that_is_needed_has_its_licence(tmp_path: Path) -> None:
    needed = requirements()
    assert {"pyqtgraph", "numpy", "platformdirs"} <= {name.casefold() for name in needed}
    found = ReadLicences(paths.resources(), needed)()
    names = " ".join(component.name.casefold().replace("_", "-") for component in found)
    for name in (*needed, "inter", "jetbrains mono", "demo models"):
        assert name.casefold() in names
    texts = {component.name: component.text for component in found}
    for font in ("Inter", "JetBrains Mono"):
        assert "SIL OPEN FONT LICENSE" in texts[font].upper()
    assert texts["STIX Two Math"]
    assert any(name.startswith("ziamath") for name in texts)
    assert texts["Demo models"]
    assert all(component.licence or component.text for component in found)
    names = str([c.name for c in ReadLicences(tmp_path, ["no-such-distribution", "numpy"])()])
    assert "Inter" in names, "missing files cost only themselves"
    assert "no-such" not in names


def test_the_dialog_shows_and_copies_them(
    program: Program, client: FakeClient, qtbot: QtBot, paceline_home: Path
) -> None:
    program.window.actions_.about.trigger()
    about = program.help.about.dialog
    assert about is not None
    client.emit(ENGINE)
    qtbot.waitUntil(lambda: about.licences.list.count() > 8)
    rows = [about.licences.list.item(row).text() for row in range(about.licences.list.count())]
    about.licences.list.setCurrentRow(rows.index("Inter"))
    assert "Open Font License" in about.licences.text.toPlainText()
    about.copy.click()
    copied = QGuiApplication.clipboard().text()
    assert f"Paceline: {__version__}" in copied
    assert "b4242" in copied
    assert str(paceline_home) not in copied
    assert ".gguf" not in copied
    about.accept()
    assert program.help.about.dialog is None
