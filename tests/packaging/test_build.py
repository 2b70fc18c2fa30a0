"""The command that makes packages."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import build
from bootstrap import BootstrapError, Runner
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


def test_a_missing_tool_is_reported_before_anything_is_made(
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


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder for packages, of which the program's and one format's are stand-ins."""
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("PACELINE_WHEEL_CACHE", str(tmp_path / "cache" / "wheels"))

    def make_folder(out: Path, runner: Runner) -> Path:
        folder = out / build.name_of("linux", "x86_64")
        folder.mkdir()
        (folder / "paceline").write_text("new", "utf-8")
        return folder

    def make(folder: Path, version: str, out: Path) -> Path:
        package = out / f"{folder.name}.tar.gz"
        package.write_text(f"of {(folder / 'paceline').read_text('utf-8')}", "utf-8")
        return package

    monkeypatch.setattr(build, "make_folder", make_folder)
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setitem(sys.modules, "packages.archive", SimpleNamespace(make=make))
    return tmp_path / "out"


def content(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8")
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_packages_take_the_places_of_those_of_before(out: Path) -> None:
    name = build.name_of("linux", "x86_64")
    (out / name / "lib").mkdir(parents=True)
    (out / name / "lib" / "old").write_text("old", "utf-8")
    (out / ".drafts" / "left").mkdir(parents=True)  # by a build that was killed
    assert build.make(["folder", "tar.gz"], out) == [out / name, out / f"{name}.tar.gz"]
    made = content(out)
    assert made.pop("SHA256SUMS").endswith(f"  {name}.tar.gz\n")
    assert made == {f"{name}/paceline": "new", f"{name}.tar.gz": "of new"}


def test_a_build_that_fails_leaves_what_was_there_as_it_was(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(folder: Path, version: str, out: Path) -> Path:
        (out / f"{folder.name}.tar.gz").write_text("half", "utf-8")
        raise BootstrapError("It has failed.")

    build.make(["folder", "tar.gz"], out)
    before = content(out)
    monkeypatch.setitem(sys.modules, "packages.archive", SimpleNamespace(make=fail))
    with pytest.raises(BootstrapError):
        build.make(["folder", "tar.gz"], out)
    assert content(out) == before


def test_a_file_in_the_place_of_the_folder_is_reported_first(
    out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out.mkdir()
    (out / build.name_of("linux", "x86_64")).write_text("mine", "utf-8")
    assert build.main(["--formats", "folder", "--out", str(out)]) == 1
    assert "is a file: move it away" in capsys.readouterr().err
    assert list(content(out).values()) == ["mine"]
