"""The command that makes packages."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import build
from paceline import __version__


@pytest.mark.parametrize(
    ("words", "formats"),
    [((), ["folder", "tar.gz", "deb"]), (("--formats", "folder, deb"), ["folder", "deb"])],
)
def test_formats(
    words: tuple[str, ...], formats: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    assert build.read_arguments(words).formats == formats


@pytest.mark.parametrize(
    ("system", "words", "reason"),
    [
        ("linux", ("--formats", "deb,dmg,rpm"), "no format dmg, rpm: folder, tar.gz, deb"),
        ("linux", ("--formats", ","), "no format"),
        ("win32", ("--formats", "deb"), "folder, zip, installer"),
        ("sunos5", (), "no packages for sunos5"),
    ],
)
def test_a_format_that_a_system_does_not_have(
    system: str,
    words: tuple[str, ...],
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    with pytest.raises(SystemExit) as ended:
        build.read_arguments(words)
    assert ended.value.code == 2
    assert reason in capsys.readouterr().err


def test_names_of_folders_tell_system_and_processor() -> None:
    assert build.name_of("linux", "x86_64") == f"paceline-{__version__}-linux-x86_64"
    assert build.name_of("win32", "AMD64") == f"paceline-{__version__}-windows-x86_64"
    assert build.name_of("darwin", "arm64") == f"paceline-{__version__}-macos-arm64"


def test_a_missing_tool_is_told_before_anything_is_made(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("APPIMAGETOOL", raising=False)
    out = tmp_path / "out"
    for kind, words in (("deb", "install the package dpkg-dev"), ("appimage", "appimagetool")):
        assert build.main(["--formats", f"tar.gz,{kind}", "--out", str(out)]) == 1
        assert words in capsys.readouterr().err
    assert not out.exists()
