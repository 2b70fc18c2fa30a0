"""Packages for Windows and macOS, as far as they can be tried anywhere."""

from __future__ import annotations

import os
import re
import zipfile
from pathlib import Path

import pytest

import bootstrap
from bootstrap import BootstrapError
from packages import installer, macos, windows

VERSION = "1.2.3"
SCRIPT = installer.SCRIPT.read_text("utf-8-sig")
posix = pytest.mark.skipif(os.name != "posix", reason="the tools are played by shell scripts")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A program's folder for Windows, in small."""
    made = tmp_path / "paceline-made"
    (made / "_internal").mkdir(parents=True)
    (made / "_internal" / "ä.dll").write_bytes(b"library" * 999)
    (made / "paceline.exe").write_bytes(b"program")
    os.utime(made / "paceline.exe", (1_700_000_000, 1_700_000_000))
    return made


@pytest.fixture
def app(tmp_path: Path) -> Path:
    """A folder with an app for macOS, in small."""
    made = tmp_path / "made"
    inside = made / macos.APP / "Contents"
    (inside / "MacOS").mkdir(parents=True)
    (inside / "MacOS" / "paceline").write_text("program")
    (inside / "Frameworks").symlink_to("MacOS")
    return made


def tool(folder: Path, name: str, script: str) -> Path:
    """A tool that writes down how it is called, then runs a script."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f'#!/bin/sh\necho "{name} $*" >> "{folder}/calls"\n{script}\n')
    path.chmod(0o755)
    return path


# ---------------------------------------------------------------------------------- Windows


def test_the_zip_has_one_top_folder_and_the_same_bytes_each_time(
    folder: Path, tmp_path: Path
) -> None:
    archive = windows.make(folder, VERSION, tmp_path)
    assert archive == tmp_path / "paceline-1.2.3-windows-x86_64.zip"
    with zipfile.ZipFile(archive) as packed:
        names = packed.namelist()
        assert packed.testzip() is None
        assert packed.read(f"{archive.stem}/_internal/ä.dll") == b"library" * 999
    assert names == sorted(
        f"{archive.stem}/{n}" for n in ("README.txt", "_internal/ä.dll", "paceline.exe")
    )
    first = archive.read_bytes()
    os.utime(folder / "_internal" / "ä.dll", (1, 1))
    assert windows.make(folder, VERSION, tmp_path).read_bytes() == first


@posix
def test_the_installer_is_given_what_its_script_asks_for(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "tools"
    monkeypatch.setenv(installer.TOOL, str(tool(tools, "ISCC.exe", f'touch "{tmp_path}/setup"')))
    made = installer.make(folder, VERSION, tmp_path)
    assert made == tmp_path / "paceline-1.2.3-windows-x86_64-setup.exe"
    assert (folder / "README.txt").is_file()
    given = set(re.findall(r"/D(\w+)=", (tools / "calls").read_text()))
    own = set(re.findall(r"^#define (\w+)", SCRIPT, re.MULTILINE))
    asked = set(re.findall(r"\{#(\w+)\}", SCRIPT))
    assert asked == given | own
    assert made.stem in (tools / "calls").read_text()


@posix
def test_an_installer_that_fails_says_why(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(
        installer.TOOL, str(tool(tmp_path / "t", "ISCC", "echo 'Error on line 7'; exit 2"))
    )
    with pytest.raises(BootstrapError, match="Inno Setup has failed") as refused:
        installer.make(folder, VERSION, tmp_path)
    assert refused.value.lines == ("Error on line 7",)


def test_without_inno_setup_it_is_said_before_the_long_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(installer.TOOL, "/nowhere/ISCC.exe")
    monkeypatch.delenv("PROGRAMFILES(X86)", raising=False)
    with pytest.raises(BootstrapError, match="is made by Inno Setup 6"):
        installer.check()


def test_the_installers_script_hangs_together() -> None:
    sections = re.findall(r"^\[(\w+)\]$", SCRIPT, re.MULTILINE)
    assert len(sections) == len(set(sections))
    assert {"Setup", "Files", "Icons", "Registry", "Run", "Code", "InstallDelete"} <= set(sections)
    assert "PrivilegesRequired=lowest" in SCRIPT, "no administrator is asked for"
    messages = {
        language: set(re.findall(rf"^{language}\.(\w+)=", SCRIPT, re.MULTILINE))
        for language in re.findall(r'^Name: "(\w+)"; MessagesFile', SCRIPT, re.MULTILINE)
    }
    used = set(re.findall(r"\{cm:(\w+)[,}]|CustomMessage\('(\w+)'\)", SCRIPT))
    ours = {a or b for a, b in used} - {"CreateDesktopIcon", "LaunchProgram"}  # Inno Setup's own
    assert messages == {"english": ours, "german": ours}
    tasks = re.search(r"\[Tasks\]\n(.*?)\n\n", SCRIPT, re.DOTALL)
    assert tasks
    assert set(re.findall(r"; Tasks: (\w+)", SCRIPT)) == set(re.findall(r'Name: "(\w+)"', tasks[1]))


def test_what_is_uninstalled_leaves_the_home_and_names_it() -> None:
    kept = "paceline"  # as `platformdirs` has it, without an author
    assert rf"{{localappdata}}\{kept}" in SCRIPT
    assert rf"%LOCALAPPDATA%\{kept}" in windows.README.read_text("utf-8")
    deleted = re.search(r"\[InstallDelete\]\n(.*?)\n\n", SCRIPT, re.DOTALL)
    assert deleted
    assert re.findall(r'Name: "(.*?)"', deleted[1]) == [r"{app}\_internal"]
    assert "UninstallDelete" not in SCRIPT


# ------------------------------------------------------------------------------------ macOS


@posix
def test_the_image_has_the_signed_app_and_where_to_drag_it(
    app: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "tools"
    tool(tools, "codesign", "")
    # The last argument but one is the content, the last one the image.
    tool(tools, "hdiutil", 'while [ $# -gt 2 ]; do shift; done; cp -a "$1" "$2"')
    monkeypatch.setenv("PATH", str(tools), prepend=os.pathsep)
    monkeypatch.setattr("platform.machine", lambda: "arm64")
    macos.sign(app / macos.APP)
    image = macos.make(app, VERSION, tmp_path)
    assert image == tmp_path / "paceline-1.2.3-macos-arm64.dmg"
    assert sorted(path.name for path in image.iterdir()) == [
        "Applications",
        "Paceline.app",
        "README.txt",
    ]
    assert (image / "Applications").readlink() == Path("/Applications")
    assert (image / macos.APP / "Contents" / "Frameworks").is_symlink()
    calls = (tools / "calls").read_text().splitlines()
    assert [call.split()[0] for call in calls] == ["codesign", "codesign", "hdiutil"]
    assert "--sign -" in calls[0]
    assert "--verify" in calls[1]
    assert not list(tmp_path.glob(".dmg-*"))


@posix
def test_without_a_mac_there_is_no_image(
    app: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BootstrapError, match="codesign, a tool of macOS, is not here"):
        macos.sign(app / macos.APP)
    with pytest.raises(BootstrapError, match="hdiutil, a tool of macOS, is not here"):
        macos.make(app, VERSION, tmp_path)
    tool(tmp_path, "codesign", "echo 'no identity' >&2; exit 1")
    with pytest.raises(BootstrapError, match="codesign has failed") as refused:
        macos.sign(app / macos.APP)
    assert refused.value.lines == ("no identity",)


# ------------------------------------------------------------------------------------- both


@pytest.mark.parametrize("readme", [windows.README, macos.README], ids=lambda p: p.parent.name)
def test_an_unsigned_program_says_how_it_is_opened(readme: Path) -> None:
    text = " ".join(readme.read_text("utf-8").split())
    assert "is not signed" in text
    words = {
        "windows": 'choose "More info", then "Run anyway"',
        "macos": '"Open Anyway" under System Settings',
    }
    assert words[readme.parent.name] in text
    page = (bootstrap.ROOT / "README.md").read_text("utf-8")
    assert {"windows": "**Run anyway**", "macos": "**Open Anyway**"}[readme.parent.name] in page
