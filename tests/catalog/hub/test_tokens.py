"""Sources of the access token, and the place where it is kept."""

from __future__ import annotations

import stat
import sys
import types
from pathlib import Path

import pytest

from paceline.catalog.hub.client import TokenSource
from paceline.errors import UserError, ValueOutOfRangeError


class KeyringError(Exception):
    pass


class Keyring(types.ModuleType):
    """The package `keyring`, with a service or with none."""

    def __init__(self, *, works: bool) -> None:
        super().__init__("keyring")
        self.works = works
        self.kept: dict[tuple[str, str], str] = {}
        self.errors = types.SimpleNamespace(KeyringError=KeyringError)

    def _check(self) -> None:
        if not self.works:
            raise KeyringError("No recommended backend was available.")

    def get_password(self, service: str, user: str) -> str | None:
        self._check()
        return self.kept.get((service, user))

    def set_password(self, service: str, user: str, password: str) -> None:
        self._check()
        self.kept[service, user] = password

    def delete_password(self, service: str, user: str) -> None:
        self._check()
        if (service, user) not in self.kept:
            raise KeyringError("not found")
        del self.kept[service, user]


@pytest.fixture
def no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)


@pytest.fixture
def keyring(monkeypatch: pytest.MonkeyPatch) -> Keyring:
    found = Keyring(works=True)
    monkeypatch.setitem(sys.modules, "keyring", found)
    return found


def source(home: Path, **more: str) -> TokenSource:
    return TokenSource({"HF_HOME": str(home), **more})


@pytest.mark.usefixtures("no_keyring")
def test_no_token(tmp_path: Path) -> None:
    assert source(tmp_path).token() == ""


@pytest.mark.usefixtures("no_keyring")
def test_the_login_of_the_hubs_tools_is_used(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("hf_file\n")
    assert source(tmp_path).token() == "hf_file"
    other = tmp_path / "other"
    other.write_text("hf_other")
    assert source(tmp_path, HF_TOKEN_PATH=str(other)).token() == "hf_other"


def test_the_environment_comes_first_and_the_keyring_second(
    tmp_path: Path, keyring: Keyring
) -> None:
    (tmp_path / "token").write_text("hf_file")
    assert source(tmp_path).token() == "hf_file"
    source(tmp_path).set_token("hf_keyring")
    assert source(tmp_path).token() == "hf_keyring"
    assert source(tmp_path, HF_TOKEN="hf_environment").token() == "hf_environment"


def test_a_keyring_keeps_it_from_the_disk(tmp_path: Path, keyring: Keyring) -> None:
    source(tmp_path).set_token("hf_keyring")
    assert list(keyring.kept.values()) == ["hf_keyring"]
    assert list(tmp_path.iterdir()) == []
    source(tmp_path).forget()
    assert keyring.kept == {}
    source(tmp_path).forget()


def test_a_keyring_without_a_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", Keyring(works=False))
    source(tmp_path).set_token("hf_file")
    assert (tmp_path / "token").read_text() == "hf_file"
    assert source(tmp_path).token() == "hf_file"
    source(tmp_path).forget()
    assert source(tmp_path).token() == ""


@pytest.mark.usefixtures("no_keyring")
def test_only_its_owner_can_read_the_file(tmp_path: Path) -> None:
    home = tmp_path / "new" / "hf"
    source(home).set_token(" hf_file\n")
    assert (home / "token").read_text() == "hf_file"
    assert stat.S_IMODE((home / "token").stat().st_mode) == 0o600
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    source(home).forget()
    assert not (home / "token").exists()


@pytest.mark.usefixtures("no_keyring")
@pytest.mark.parametrize("token", ["", "  ", "hf a", "hf_ä", "hf_\x01", "x" * 600, "a\r\nX-Y: z"])
def test_what_is_no_token(tmp_path: Path, token: str) -> None:
    with pytest.raises(ValueOutOfRangeError) as caught:
        source(tmp_path).set_token(token)
    assert token.strip() not in str(caught.value) or not token.strip()
    (tmp_path / "token").write_text(token, encoding="utf-8")
    assert source(tmp_path).token() == ""


@pytest.mark.usefixtures("no_keyring")
def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError) as caught:
        source(tmp_path / "file").set_token("hf_x")
    assert caught.value.code == "token-not-kept"
    assert "hf_x" not in str(caught.value)


@pytest.mark.usefixtures("no_keyring")
def test_the_library_reads_the_same_file(tmp_path: Path) -> None:
    """The Hub's own tools find the token that is kept here."""
    import subprocess

    asked = "from huggingface_hub import constants; print(constants.HF_TOKEN_PATH)"
    for environ in (
        {"HF_HOME": str(tmp_path / "a")},
        {"XDG_CACHE_HOME": str(tmp_path / "b")},
        {"HF_TOKEN_PATH": str(tmp_path / "c")},
        {"HOME": str(tmp_path / "d")},
    ):
        done = subprocess.run(
            [sys.executable, "-c", asked],
            env=environ, capture_output=True, text=True, check=True, timeout=60,
        )  # fmt: skip
        if "HOME" in environ:  # `expanduser` reads the process's own environment
            assert done.stdout.strip() == str(tmp_path / "d/.cache/huggingface/token")
        else:
            TokenSource(environ).set_token("hf_kept")
            assert Path(done.stdout.strip()).read_text() == "hf_kept"
