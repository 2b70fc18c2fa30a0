"""The wheel carries what the program needs and nothing else."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest

from architecture.source import PACKAGE, REPOSITORY
from paceline import __version__

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel of this checkout, built without network."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=REPOSITORY,
        check=True,
        capture_output=True,
        timeout=120,
    )
    (path,) = folder.glob("*.whl")
    assert path.name == f"paceline-{__version__}-py3-none-any.whl"
    return zipfile.ZipFile(path)


def test_every_module_is_in_it(wheel: zipfile.ZipFile) -> None:
    expected = {
        f"paceline/{path.relative_to(PACKAGE).as_posix()}" for path in PACKAGE.rglob("*.py")
    }
    assert expected <= set(wheel.namelist())


def test_the_demo_pair_is_in_it(wheel: zipfile.ZipFile, demo_pair: tuple[Path, Path]) -> None:
    for model in demo_pair:
        inside = wheel.getinfo(f"paceline/_resources/models/{model.name}")
        assert inside.file_size == model.stat().st_size


def test_every_resource_is_in_it(wheel: zipfile.ZipFile) -> None:
    resources = REPOSITORY / "resources"
    expected = {
        f"paceline/_resources/{path.relative_to(resources).as_posix()}"
        for path in resources.rglob("*")
        if path.is_file()
    }
    assert expected <= set(wheel.namelist())


def test_the_kernels_sources_are_in_it(wheel: zipfile.ZipFile) -> None:
    kernels = REPOSITORY / "app" / "kernels"
    expected = {
        f"paceline/_kernels/{path.relative_to(kernels).as_posix()}"
        for path in kernels.rglob("*.[ch]*")
    }
    assert {"paceline/_kernels/paceline_kernels.h", "paceline/_kernels/rows/rows.cpp"} <= expected
    assert expected <= set(wheel.namelist())


def test_nothing_else_is_in_it(wheel: zipfile.ZipFile) -> None:
    info = f"paceline-{__version__}.dist-info/"
    strange = [name for name in wheel.namelist() if not name.startswith(("paceline/", info))]
    assert not strange
    assert not [
        name for name in wheel.namelist() if name.endswith((".pyc", ".orig", "~", ".o", ".so"))
    ]


def test_the_command_is_declared(wheel: zipfile.ZipFile) -> None:
    text = wheel.read(f"paceline-{__version__}.dist-info/entry_points.txt").decode()
    assert "paceline = paceline.__main__:main" in text
