"""About, versions and licences: what is shipped is named, and nothing of the user's is."""

from __future__ import annotations

from importlib import metadata
from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QGuiApplication

from paceline import __version__, paths
from paceline.gui.help import about
from paceline.gui.help.about import ReadLicences
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
    assert "llama.cpp" not in dict(about.version_facts(None))
    machine = dict(about.machine_facts(ENGINE))
    assert machine["CPU"] == "A processor (cpu), 8.6 GB of 17.2 GB free"
    assert machine["Build flags"] == "AVX2 = 1 | LLAMAFILE = 1"


def test_every_library_that_is_needed_has_its_licence() -> None:
    needed = about.requirements()
    assert {"pyqtgraph", "numpy", "platformdirs"} <= {name.casefold() for name in needed}
    found = ReadLicences(paths.resources(), needed)()
    names = " ".join(component.name.casefold().replace("_", "-") for component in found)
    for name in (*needed, "inter", "jetbrains mono", "demo models"):
        assert name.casefold() in names
    texts = {component.name: component.text for component in found}
    assert "SIL OPEN FONT LICENSE" in texts["Inter"].upper()
    assert "SIL OPEN FONT LICENSE" in texts["JetBrains Mono"].upper()
    assert texts["STIX Two Math"]
    assert any(name.startswith("ziamath") for name in texts)
    assert texts["Demo models"]
    assert all(component.licence or component.text for component in found)


def test_missing_files_cost_only_themselves(tmp_path: Path) -> None:
    names = [c.name for c in ReadLicences(tmp_path, ["no-such-distribution", "numpy"])()]
    assert "Inter" in names
    assert not any("no-such" in name for name in names)


@pytest.mark.qt_log_ignore("This plugin does not support")
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
