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


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the package that a test may spoil."""
    target = tmp_path / "app"
    shutil.copytree(APP, target, ignore=shutil.ignore_patterns("__pycache__"))
    return target


@pytest.mark.parametrize(
    ("contract", "file", "line"),
    [
        ("Layers", "messages.py", "import paceline.codec"),
        ("Layers", "engine/stats.py", "import paceline.conversation"),
        ("Layers", "paths.py", "import paceline.logs"),
        ("Layers", "settings.py", "import paceline.logs"),
        ("Layers", "hosting/inbox.py", "import paceline.chat.session"),
        ("Layers", "chat/prompt.py", "import paceline.cli.main"),
        ("Layers", "cli/chat.py", "import paceline.gui.theme"),
        ("Layers", "unplaced.py", "X = 1"),
        ("Qt lives in gui", "chat/session.py", "from PySide6.QtCore import QObject"),
        ("Qt lives in gui", "cli/doctor.py", "import PySide6"),
        ("Qt lives in gui", "__main__.py", "import PySide6.QtWidgets"),
        ("Qt lives in gui", "engine/stats.py", "import pyqtgraph"),
        ("llama_cpp lives in engine/llama", "engine/vocab.py", "import llama_cpp"),
        ("llama_cpp lives in engine/llama", "cli/doctor.py", "from llama_cpp import Llama"),
        ("The Hub lives in catalog", "cli/chat.py", "import huggingface_hub"),
        ("The Hub lives in catalog", "gui/theme.py", "from huggingface_hub import HfApi"),
        ("SQLite lives in storage", "chat/session.py", "import sqlite3"),
    ],
)
def test_contracts_bite(copy: Path, contract: str, file: str, line: str) -> None:
    path = copy / "paceline" / file
    with path.open("a", encoding="utf-8") as source:
        source.write(f"\n{line}\n")
    result = lint(copy)
    assert result.returncode != 0, result.stdout
    assert f"{contract} BROKEN" in result.stdout, result.stdout


def test_a_home_may_import_its_library(copy: Path) -> None:
    homes = {"gui": "PySide6", "catalog": "huggingface_hub", "storage": "sqlite3"}
    for home, library in homes.items():
        folder = copy / "paceline" / home
        folder.mkdir(exist_ok=True)
        (folder / "__init__.py").touch()
        (folder / "example.py").write_text(f"import {library}\n")
    result = lint(copy)
    assert result.returncode == 0, result.stdout
