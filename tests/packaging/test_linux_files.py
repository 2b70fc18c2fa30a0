"""Files that a Linux desktop reads, by the desktops' own validators where they are here."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from paceline import __version__
from paceline.paths import Paths
from packages import share

ENTRY = share.LINUX / f"{share.ID}.desktop"
METAINFO = share.LINUX / f"{share.ID}.metainfo.xml"
MIME = share.LINUX / f"{share.ID}.mime.xml"
FLATPAK = share.LINUX / f"{share.ID}.yml"
WINDOW = """
import sys
from paceline.gui.beginning import make_application
app = make_application(sys.argv[:1])
print(app.desktopFileName(), app.applicationName())
"""


def ran(*command: str | Path) -> str:
    """Return a validator's output; skip where it is not here."""
    if shutil.which(str(command[0])) is None:
        pytest.skip(f"{command[0]} is not here")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def entry() -> configparser.SectionProxy:
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(ENTRY, "utf-8")
    return parser["Desktop Entry"]


def test_the_menu_entry_is_valid() -> None:
    assert not ran("desktop-file-validate", ENTRY)


def test_the_description_is_valid() -> None:
    ran("appstreamcli", "validate", "--no-net", METAINFO)


def test_the_description_ends_with_this_version() -> None:
    releases = ElementTree.parse(METAINFO).findall("releases/release")
    assert releases[0].get("version") == __version__
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", each.get("date", "")) for each in releases)


def test_model_files_are_known_by_name_and_by_content(tmp_path: Path) -> None:
    packages = tmp_path / "mime" / "packages"
    packages.mkdir(parents=True)
    shutil.copy(MIME, packages)
    ran("update-mime-database", tmp_path / "mime")
    assert "50:application/x-gguf:*.gguf" in (tmp_path / "mime" / "globs2").read_text("utf-8")
    assert b"application/x-gguf]\n>0=\0\x04GGUF" in (tmp_path / "mime" / "magic").read_bytes()


def test_all_name_the_same_type() -> None:
    provided = ElementTree.parse(METAINFO).findtext("provides/mediatype")
    assert entry()["MimeType"] == f"{provided};"
    assert f'type="{provided}"' in MIME.read_text("utf-8")


def test_the_window_is_known_as_that_of_the_menu_entry() -> None:
    """Wayland and newer X11 desktops ask for the entry's name, others for the window's class."""
    command = [sys.executable, "-c", WINDOW]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [share.ID, entry()["StartupWMClass"]]


def test_the_flatpak_takes_all_of_the_archive_and_little_of_the_home(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    manifest = yaml.safe_load(FLATPAK.read_text("utf-8"))
    assert manifest["app-id"] == share.ID
    files = [arg for arg in manifest["finish-args"] if arg.startswith("--filesystem")]
    assert files
    assert all(arg.endswith(":ro") for arg in files)
    taken = " ".join(manifest["modules"][0]["build-commands"]).split()
    kinds = {place.parts[1] for place in share.icons(Path("theme")).values()}
    assert kinds == {"scalable", *(f"{side}x{side}" for side in (16, 32, 64, 128, 256))}
    assert {"lib", "share/applications", "share/icons", "share/metainfo", "share/mime"} <= {*taken}
    monkeypatch.chdir(tmp_path)  # where it writes its state
    ran("flatpak-builder", "--show-manifest", FLATPAK)


@pytest.mark.parametrize("name", ["README.txt", "prerm"])
def test_the_folders_that_stay_are_named(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in ("DATA", "CONFIG", "CACHE", "STATE"):
        monkeypatch.delenv(f"XDG_{variable}_HOME", raising=False)
    paths = Paths.from_environment({})
    text = (share.LINUX / name).read_text("utf-8")
    for folder in (paths.data_dir, paths.config_dir, paths.cache_dir, paths.log_dir):
        top = folder.parent if folder.name == "log" else folder
        assert f"~/{top.relative_to(tmp_path)}" in text


def test_overrides_are_of_four_kinds_with_a_reason_each() -> None:
    lines = (share.LINUX / "lintian-overrides").read_text("utf-8").splitlines()
    tags = [i for i, line in enumerate(lines) if not line.startswith("#")]
    assert len({lines[i] for i in tags}) == len(tags) <= 4
    assert all(lines[i].startswith("paceline: ") and lines[i - 1].startswith("# ") for i in tags)
