"""Folders: one variable moves all of them, and nothing is made before it is needed."""

from __future__ import annotations

import dataclasses
import os
import stat
import sys
from pathlib import Path

import platformdirs
import pytest

from paceline import paths
from paceline.errors import UserError
from paceline.paths import Paths, ensure


def all_of(folders: Paths) -> list[Path]:
    return [getattr(folders, field.name) for field in dataclasses.fields(folders)]


def test_paceline_home_moves_every_folder(paceline_home: Path) -> None:
    folders = all_of(Paths.from_environment())
    assert len(set(folders)) == len(folders)
    assert all(folder.parent == paceline_home for folder in folders)
    assert not paceline_home.exists(), "asking for the folders must not make them"


@pytest.mark.parametrize("value", [None, "", "  "])
def test_without_it_the_system_decides(value: str | None) -> None:
    folders = Paths.from_environment({} if value is None else {"PACELINE_HOME": value})
    assert folders.data_dir == platformdirs.user_data_path("paceline", appauthor=False)
    assert folders.log_dir == platformdirs.user_log_path("paceline", appauthor=False)
    assert all(folder.is_absolute() for folder in all_of(folders))


def test_a_relative_home_stays_put_when_the_program_moves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folders = Paths.from_environment({"PACELINE_HOME": "here"})
    monkeypatch.chdir("/")
    assert folders.cache_dir == tmp_path / "here" / "cache"


def test_a_tilde_is_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert Paths.from_environment({"PACELINE_HOME": "~/p"}).data_dir == tmp_path / "p" / "data"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows asks nobody for a user's home")
def test_the_home_of_a_user_who_does_not_exist() -> None:
    with pytest.raises(UserError, match="no such user"):
        Paths.from_environment({"PACELINE_HOME": "~nobody-of-this-name/p"})


@pytest.mark.skipif(sys.platform == "win32", reason="Windows asks nobody for a user's home")
def test_a_user_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    import pwd

    def unknown(_number: int) -> None:
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    for name in ("HOME", *(v for v in os.environ if v.startswith("XDG_"))):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UserError, match="home folder is not known") as refused:
        Paths.from_environment({})
    assert "PACELINE_HOME" in refused.value.hint


def test_a_home_that_may_not_be_looked_into_is_reported(tmp_path: Path) -> None:
    paths.check_readable(Paths.below(tmp_path / "not there"))
    paths.check_readable(Paths.below(tmp_path))
    home = Paths.below(tmp_path / ("x" * 300))  # refused as another user's folder is
    with pytest.raises(UserError, match="cannot be read") as refused:
        paths.check_readable(home)
    assert "PACELINE_HOME" in refused.value.hint


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_new_folders_are_private_and_old_ones_left_alone(tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.mkdir(mode=0o755)
    old.chmod(0o755)
    umask = os.umask(0)
    try:
        assert ensure(old / "a" / "b") == old / "a" / "b"
    finally:
        os.umask(umask)
    modes = [stat.S_IMODE(p.stat().st_mode) for p in (old, old / "a", old / "a" / "b")]
    assert modes == [0o755, 0o700, 0o700]
    ensure(old / "a" / "b")


def test_a_folder_that_cannot_be_made_is_reported_to_the_user(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for wrong in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(UserError, match="PACELINE_HOME") as caught:
            ensure(wrong)
        assert caught.value.code == "folder-not-writable"


def test_resources_of_the_checkout() -> None:
    assert paths.resources() == Path(__file__).resolve().parents[1] / "resources"


def test_resources_of_a_frozen_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "resources").mkdir()
    monkeypatch.setattr(sys, "_MEIPASS", str(tmp_path), raising=False)
    assert paths.resources() == tmp_path / "resources"


def test_resources_of_an_installed_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "site-packages" / "paceline"
    (package / "_resources").mkdir(parents=True)
    monkeypatch.setattr(paths, "__file__", str(package / "paths.py"))
    assert paths.resources() == package / "_resources"


def test_a_broken_installation_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "__file__", str(tmp_path / "lib" / "paceline" / "paths.py"))
    with pytest.raises(UserError, match="Install it again"):
        paths.resources()


def test_the_demo_pair_is_there(demo_pair: tuple[Path, Path]) -> None:
    for model in demo_pair:
        assert model.read_bytes()[:4] == b"GGUF"
