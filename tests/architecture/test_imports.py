"""The import contracts of pyproject.toml hold, and they bite."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from architecture.source import APP, REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """Check the package below `folder`, not the installed one."""
    code = (
        "import sys; sys.path.insert(0, sys.argv.pop(1));"
        "from importlinter.cli import lint_imports_command;"
        "lint_imports_command(['--config', sys.argv[1], '--no-cache'])"
    )
    return subprocess.run(
        [sys.executable, "-c", code, str(folder), str(REPOSITORY / "pyproject.toml")],
        cwd=folder,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def test_contracts_hold() -> None:
    result = lint(APP)
    assert result.returncode == 0, result.stdout + result.stderr
    assert " 0 broken" in result.stdout


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package that the tests of this module spoil, one line per broken rule."""
    target = tmp_path_factory.mktemp("imports") / "app"
    shutil.copytree(APP, target, ignore=shutil.ignore_patterns("__pycache__"))
    return target


FORBIDDEN = {
    "Layers": (
        ("messages.py", "paceline.run_record"),
        ("engine/stats.py", "paceline.conversation"),
        ("paths.py", "paceline.logs"),
        ("settings.py", "paceline.logs"),
        ("hosting/client.py", "paceline.chat.session"),
        ("chat/prompt.py", "paceline.cli.main"),
        ("cli/chat.py", "paceline.gui.look.theme"),
    ),
    "Rooms of the window": (
        ("gui/chat/view.py", "paceline.gui.run.dialog"),
        ("gui/settings/controller.py", "paceline.gui.models.controller"),
        ("gui/look/scale.py", "paceline.gui.kit.card"),
        ("gui/kit/card.py", "paceline.gui.state.figures"),
        ("gui/plot/speed_plot.py", "paceline.gui.run.controller"),
        ("gui/help/about.py", "paceline.gui.app"),
    ),
    "Rooms of the engine": (
        ("engine/auto/pace.py", "paceline.engine.llama.model"),
        ("engine/sample/noise.py", "paceline.engine.decode.decoder"),
        ("engine/measure/known.py", "paceline.engine.service"),
        ("engine/draft/lookups/suffix.py", "paceline.engine.pair"),
        ("engine/llama/model.py", "paceline.engine.turn"),
    ),
    "Auto and what is measured know no llama.cpp": (
        ("engine/auto/costs.py", "paceline.engine.llama.library"),
        ("engine/measure/thread_choice.py", "paceline.engine.llama.model"),
    ),
    "Qt lives in gui": (
        ("chat/session.py", "PySide6.QtCore"),
        ("cli/doctor.py", "PySide6"),
        ("__main__.py", "PySide6.QtWidgets"),
        ("engine/stats.py", "pyqtgraph"),
    ),
    "llama_cpp lives in engine/llama": (
        ("engine/model/vocabularies.py", "llama_cpp"),
        ("cli/doctor.py", "llama_cpp"),
    ),
    "The Hub lives in catalog": (
        ("cli/chat.py", "huggingface_hub"),
        ("gui/look/theme.py", "huggingface_hub"),
    ),
    "Formulas are read in chat/syntax": (
        ("gui/chat/markdown/formulas.py", "ziamath"),
        ("chat/exchange/page.py", "latex2mathml"),
    ),
    "SQLite lives in storage": (("chat/session.py", "sqlite3"),),
}
"""Per contract, files and what they may not import."""


def test_contracts_bite(copy: Path) -> None:
    lines = [(file, line) for pairs in FORBIDDEN.values() for file, line in pairs]
    before = {file: (copy / "paceline" / file).read_text(encoding="utf-8") for file, _ in lines}
    for file, name in lines:
        with (copy / "paceline" / file).open("a", encoding="utf-8") as source:
            source.write(f"\nimport {name}\n")
    result = lint(copy)
    for file, text in before.items():
        (copy / "paceline" / file).write_text(text, encoding="utf-8")
    assert result.returncode != 0, result.stdout
    for contract, pairs in FORBIDDEN.items():
        assert f"{contract} BROKEN" in result.stdout, contract
        for file, name in pairs:
            module = "paceline." + file.removesuffix(".py").replace("/", ".")
            library = name if name.startswith("paceline.") else name.partition(".")[0]
            assert f"{module} -> {library} (l." in result.stdout, (contract, file, name)


def test_every_module_has_its_place(copy: Path) -> None:
    """A new module, or a new room, has to be given a place among the layers."""
    unplaced = ["unplaced.py", "gui/unplaced.py", "engine/unplaced.py"]
    for file in unplaced:
        (copy / "paceline" / file).write_text('"""A module without a place."""\n')
    result = lint(copy)
    for file in unplaced:
        (copy / "paceline" / file).unlink()
        assert "- paceline." + file.removesuffix(".py").replace("/", ".") in result.stdout


def test_a_home_may_import_its_library(copy: Path) -> None:
    homes = {"gui/look": "PySide6", "catalog": "huggingface_hub", "storage": "sqlite3"}
    for home, library in homes.items():
        (copy / "paceline" / home / "example.py").write_text(f"import {library}\n")
    result = lint(copy)
    assert result.returncode == 0, result.stdout
