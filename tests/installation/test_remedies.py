"""Remedies name a command that fits how the program came here."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import bootstrap
from paceline.installation import package, remedies


def test_a_checkout_is_set_up_by_its_bootstrap() -> None:
    command = remedies.bootstrap("--rebuild run")
    assert Path(command.split('"')[1]).name == "bootstrap.py"
    assert remedies.library_again() == f"Compile it again: `{command}`."
    assert remedies.program_again() == f"Install it again: `{command}`."


def test_a_package_is_installed_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert remedies.library_again() == remedies.program_again() == "Install Paceline again."


@pytest.mark.parametrize(
    ("file", "begins"),
    [
        ("", '"{python}" -m pip install --force-reinstall '),
        ("pipx_metadata.json", "pipx runpip paceline install --force-reinstall "),
        ("uv-receipt.toml", 'uv pip install --python "{folder}" --force-reinstall '),
    ],
)
def test_a_wheel_is_installed_by_what_made_its_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, file: str, begins: str
) -> None:
    folder = tmp_path / "an environment"
    folder.mkdir()
    if file:
        (folder / file).touch()
    python = folder / "bin" / "python"
    monkeypatch.setattr(sys, "prefix", str(folder))
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setattr(package, "kind", lambda: "wheel")
    begins = "Install it again: `" + begins.format(python=python, folder=folder)
    version = remedies.pinned(remedies.LIBRARY)
    assert version
    assert remedies.program_again() == f"{begins}paceline`."
    assert remedies.library_again().startswith(begins)
    assert remedies.library_again().endswith(f" llama-cpp-python=={version}`.")
    flagged = remedies.installed(remedies.LIBRARY, "-DGGML_CUDA=ON")
    assert flagged.startswith('CMAKE_ARGS="-DGGML_CUDA=ON" ')
    assert "--no-binary=llama-cpp-python" in flagged, "a wheel knows nothing of flags"


@pytest.mark.parametrize("name", ["libEGL.so.1", "libglib-2.0.so.0", "libxkbcommon-x11.so.0"])
def test_a_library_of_the_system_is_had_from_its_packages(name: str) -> None:
    error = ImportError(f"{name}: cannot open shared object file: No such file or directory")
    hint = remedies.window_again(error)
    assert "`sudo apt-get install libegl1 " in hint
    assert set(remedies.QT_LIBRARIES) <= set(bootstrap.QT_PACKAGES)


@pytest.mark.parametrize(
    "error",
    [
        ModuleNotFoundError("No module named 'PySide6'"),
        ImportError("libQt6Gui.so.6: cannot open shared object file: No such file or directory"),
        ImportError("libpyside6.abi3.so.6.11: cannot open shared object file"),
    ],
)
def test_a_library_of_ours_is_installed_again(error: ImportError) -> None:
    hint = remedies.window_again(error)
    assert hint.startswith(remedies.program_again())
    assert hint.endswith("`paceline chat` works without a window.")
