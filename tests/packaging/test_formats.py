"""Packages of a small folder that stands for the program's: archive, .deb, AppDir, checksums."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from bootstrap import BootstrapError
from paceline.installation.package import PARTS
from packages import appimage, archive, checksums, deb, share
from packages.debian_texts import changelog

NEEDS_DPKG = pytest.mark.skipif(
    not (shutil.which("dpkg-deb") and shutil.which("dpkg-shlibdeps")),
    reason="dpkg-deb and dpkg-shlibdeps are not here (package dpkg-dev)",
)
SHARE = {
    "applications/org.paceline.Paceline.desktop",
    "metainfo/org.paceline.Paceline.metainfo.xml",
    "mime/packages/org.paceline.Paceline.xml",
    "icons/hicolor/scalable/apps/org.paceline.Paceline.svg",
    "icons/hicolor/256x256/apps/org.paceline.Paceline.png",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder as the build makes it; its program is Python's."""
    folder = tmp_path / "program"
    internal = folder / "lib" / "_internal"
    internal.mkdir(parents=True)
    shutil.copyfile(Path(sys.executable).resolve(), folder / "lib" / "paceline")
    (folder / "lib" / "paceline").chmod(0o750)
    (internal / "words ü.txt").write_text("words", "utf-8")
    (internal / "libx.so.1").write_bytes(b"no library")
    (internal / "libx.so.1").chmod(0o700)
    (internal / "libx.so").symlink_to("libx.so.1")
    start = folder / "paceline"
    start.write_text('#!/bin/sh\nexec "$(dirname "$(readlink -f "$0")")/lib/paceline" "$@"\n')
    start.chmod(0o755)
    share.lay(folder)
    return folder


def below(top: Path) -> set[str]:
    """The files below a folder, as paths from there."""
    return {str(path.relative_to(top)) for path in top.rglob("*") if not path.is_dir()}


def output(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def copied(folder: Path, other: Path) -> Path:
    """The same folder, written at another time by a user with other rights."""
    shutil.copytree(folder, other, symlinks=True)
    for path in other.rglob("*"):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode & 0o755 | 0o020)
            os.utime(path, (10**9, 10**9))
    return other


# ---------------------------------------------------------------------------------------- share


def test_a_folder_gets_what_a_desktop_reads_of_it(folder: Path) -> None:
    assert below(folder / "share") >= SHARE
    assert (folder / "README.txt").is_file()
    stale = folder / "share" / "old.txt"
    stale.write_text("")
    share.lay(folder)
    assert not stale.exists()


def test_the_menu_entry_of_a_user_names_the_program_and_goes_again(
    folder: Path, tmp_path: Path
) -> None:
    place = folder.rename(tmp_path / "meine Programme ü")
    data = tmp_path / "data"
    before = {**os.environ, "XDG_DATA_HOME": str(data)}
    menu = [place / "share" / "menu-entry"]
    subprocess.run([*menu, "add"], env=before, check=True)
    assert below(data) >= SHARE - {"metainfo/org.paceline.Paceline.metainfo.xml"}
    entry = (data / "applications" / f"{share.ID}.desktop").read_text("utf-8")
    assert f'\nExec="{place}/paceline" %F\n' in entry
    subprocess.run([*menu, "remove"], env=before, check=True)
    assert not {name for name in below(data) if share.ID in name}


def test_a_place_that_a_menu_entry_cannot_name_is_refused(folder: Path, tmp_path: Path) -> None:
    place = folder.rename(tmp_path / "100 %")
    environ = {**os.environ, "XDG_DATA_HOME": str(tmp_path / "data")}
    done = subprocess.run(
        [place / "share" / "menu-entry", "add"],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("Move Paceline to a folder whose path")
    assert not (tmp_path / "data").exists()


# -------------------------------------------------------------------------------------- archive


def test_the_archive_has_one_folder_with_all_of_it(folder: Path, tmp_path: Path) -> None:
    made = archive.make(folder, "1.2.3", tmp_path)
    assert made.name == "paceline-1.2.3-linux-x86_64.tar.gz"
    with tarfile.open(made) as tar:
        entries = {entry.name: entry for entry in tar}
        tar.extractall(tmp_path / "unpacked", filter="tar")
    top = "paceline-1.2.3-linux-x86_64"
    assert below(tmp_path / "unpacked") == {f"{top}/{name}" for name in below(folder)}
    assert {(e.uid, e.gid, e.uname, e.gname) for e in entries.values()} == {(0, 0, "root", "root")}
    assert entries[f"{top}/lib/paceline"].mode == 0o755
    assert entries[f"{top}/README.txt"].mode == 0o644
    assert entries[f"{top}/lib/_internal/libx.so"].linkname == "libx.so.1"
    assert output(tmp_path / "unpacked" / top / "paceline", "-c", "print(6 * 7)") == "42\n"


def test_equal_folders_make_equal_archives(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1790000000")
    other = copied(folder, tmp_path / "other")
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first = archive.make(folder, "1", tmp_path / "a").read_bytes()
    assert archive.make(other, "1", tmp_path / "b").read_bytes() == first
    (other / "README.txt").write_text("other words")
    assert archive.make(other, "1", tmp_path / "b").read_bytes() != first


# ----------------------------------------------------------------------------------------- .deb


@NEEDS_DPKG
def test_the_deb_says_what_it_needs_and_lies_in_usr(folder: Path, tmp_path: Path) -> None:
    made = deb.make(folder, "1.2.0rc1", tmp_path)
    assert made.name == "paceline_1.2.0rc1_amd64.deb"
    assert output("dpkg-deb", "-f", made, "Package") == "paceline\n"
    assert output("dpkg-deb", "-f", made, "Version") == "1.2.0~rc1\n"  # before 1.2.0
    assert "libc6 (>= 2." in output("dpkg-deb", "-f", made, "Depends")
    assert int(output("dpkg-deb", "-f", made, "Installed-Size")) > 10
    assert b"data.tar.xz" in made.read_bytes()  # older systems read no zstd
    root = tmp_path / "root"
    output("dpkg-deb", "-R", made, root)
    assert below(root / "usr" / "share") >= SHARE
    assert {path.name for path in root.iterdir()} == {"DEBIAN", "usr"}
    assert (root / "usr/bin/paceline").readlink() == Path("../lib/paceline/paceline")
    assert not (root / "usr/share/menu-entry").exists()
    library = root / "usr/lib/paceline/_internal/libx.so.1"
    assert library.stat().st_mode & 0o777 == 0o644
    assert (root / "usr/lib/paceline/paceline").stat().st_mode & 0o777 == 0o755
    sums = (root / "DEBIAN" / "md5sums").read_text("utf-8")
    digest = hashlib.md5(b"words", usedforsecurity=False).hexdigest()
    assert f"{digest}  usr/lib/paceline/_internal/words ü.txt\n" in sums
    assert not list(tmp_path.glob(".deb-*"))


@NEEDS_DPKG
def test_equal_folders_make_equal_debs(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1790000000")
    other = copied(folder, tmp_path / "other")
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first = deb.make(folder, "1", tmp_path / "a").read_bytes()
    assert deb.make(other, "1", tmp_path / "b").read_bytes() == first


@NEEDS_DPKG
def test_the_deb_carries_licences_and_changes(folder: Path, tmp_path: Path) -> None:
    parts = folder / "lib" / "_internal" / PARTS
    parts.parent.mkdir()
    licences = [{"license": {"id": "LGPL-3.0-only"}}]
    component = {"name": "Qt", "version": "6.11", "licenses": licences}
    parts.write_text(json.dumps({"components": [component]}))
    output("dpkg-deb", "-R", deb.make(folder, "9.9.9", tmp_path), tmp_path / "root")
    doc = tmp_path / "root" / "usr" / "share" / "doc" / "paceline"
    licence = (doc / "copyright").read_text("utf-8")
    assert " Qt 6.11: LGPL-3.0-only\n" in licence
    assert "License: MIT\n Permission is hereby granted" in licence
    assert "lie in /usr/lib/paceline/_internal/parts," in licence
    changes = gzip.decompress((doc / "changelog.gz").read_bytes()).decode()
    assert changes.startswith("paceline (9.9.9) stable; urgency=medium\n\n  * ")
    assert max(map(len, changes.splitlines())) <= 80


@NEEDS_DPKG
def test_removing_the_deb_says_what_stays(folder: Path, tmp_path: Path) -> None:
    output("dpkg-deb", "-R", deb.make(folder, "1", tmp_path), tmp_path / "root")
    script = tmp_path / "root" / "DEBIAN" / "prerm"
    said = output(script, "remove")
    assert said.count("\n") == 1
    folders = ("~/.local/share/paceline", "~/.config/paceline", "~/.cache/paceline")
    assert all(folder in said for folder in folders)
    assert not output(script, "upgrade", "2")


@NEEDS_DPKG
def test_a_library_that_is_nowhere_ends_the_making(folder: Path, tmp_path: Path) -> None:
    source = tmp_path / "x.c"
    source.write_text("int there(void); int main(void) { return there(); }")
    library = tmp_path / "libnowhere.so.1"
    (tmp_path / "y.c").write_text("int there(void) { return 0; }")
    output("cc", "-shared", "-Wl,-soname,libnowhere.so.1", "-o", library, tmp_path / "y.c")
    output("cc", "-o", folder / "lib" / "asking", source, library)
    with pytest.raises(BootstrapError) as raised:
        deb.make(folder, "1", tmp_path)
    assert any("libnowhere.so.1" in line for line in raised.value.lines)
    library.rename(folder / "lib" / "_internal" / "libnowhere.so.1")
    deb.make(folder, "1", tmp_path)


def test_without_dpkg_there_is_one_sentence(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BootstrapError, match="install the package dpkg-dev"):
        deb.make(folder, "1", tmp_path)


def test_versions_and_dates_of_the_changelog_are_kept() -> None:
    text = "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n\n### Added\n\n- Second.\n\n"
    text += "## [0.1.0] - 2026-11-30\n\n- First.\n"
    made = changelog(text, "0.2.0", 0)
    assert re.findall(r"^paceline \((.+)\) stable", made, re.MULTILINE) == ["0.2.0", "0.1.0"]
    assert "  Tue, 01 Dec 2026 00:00:00 +0000\n" in made
    assert "  * Second.\n" in made


# ------------------------------------------------------------------------------------- AppImage

TOOL = """#!/bin/sh
[ "$ARCH" = x86_64 ] || exit 3
tar --create --file "$3" --directory "$2" .
"""


def test_appimagetool_gets_a_whole_appdir(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tool is replaced by one that packs the AppDir as a tar."""
    tool = tmp_path / "tool"
    tool.write_text(TOOL)
    tool.chmod(0o755)
    monkeypatch.setenv(appimage.TOOL, str(tool))
    made = appimage.make(folder, "1.2.3", tmp_path)
    assert made.name == "paceline-1.2.3-x86_64.AppImage"
    assert made.stat().st_mode & 0o100
    app = tmp_path / "app"
    with tarfile.open(made) as tar:
        tar.extractall(app, filter="tar")
    assert (app / "usr" / "share" / "metainfo" / f"{share.ID}.metainfo.xml").is_file()
    for name in (f"{share.ID}.desktop", f"{share.ID}.png", ".DirIcon"):
        assert (app / name).is_file()
    assert output(app / "AppRun", "-c", "print(6 * 7)") == "42\n"
    assert not list(tmp_path.glob(".appimage-*"))


def test_without_appimagetool_there_is_one_sentence_and_nothing_is_left(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(appimage.TOOL, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "out").mkdir()
    with pytest.raises(BootstrapError, match="made by appimagetool"):
        appimage.make(folder, "1", tmp_path / "out")
    assert not list((tmp_path / "out").iterdir())


def test_a_failing_appimagetool_is_reported(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\necho no space; exit 1\n")
    tool.chmod(0o755)
    monkeypatch.setenv(appimage.TOOL, str(tool))
    with pytest.raises(BootstrapError) as raised:
        appimage.make(folder, "1", tmp_path)
    assert raised.value.lines == ("no space",)


# ------------------------------------------------------------------------------------ checksums


def test_checksums_are_those_of_the_packages_that_lie_there(tmp_path: Path) -> None:
    first, second = tmp_path / "a b.deb", tmp_path / "c.tar.gz"
    first.write_bytes(b"one")
    second.write_bytes(b"two")
    checksums.write([first, second], tmp_path)
    done = subprocess.run(["sha256sum", "--check", checksums.NAME], cwd=tmp_path, check=False)
    assert done.returncode == 0
    first.unlink()
    second.write_bytes(b"three")
    third = tmp_path / "d.zip"
    third.write_bytes(b"")
    text = checksums.write([second, third], tmp_path).read_text("utf-8")
    assert [line.partition("  ")[2] for line in text.splitlines()] == ["c.tar.gz", "d.zip"]
    assert hashlib.sha256(b"three").hexdigest() in text
