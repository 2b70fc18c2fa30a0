"""Remedies name a command that fits how the program came here."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

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


def test_what_no_metadata_pins_has_no_version() -> None:
    assert remedies.pinned("numpy") == ""
    assert remedies.pinned("unheard-of") == ""
