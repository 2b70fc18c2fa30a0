"""Marks that own kernels leave when they end the engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from paceline.engine.model.own_kernels import HANG, mark_path, marks, read_mark, write_mark

KEY = "0123456789abcdef"


def test_a_mark_is_there_until_it_is_taken_away(tmp_path: Path) -> None:
    cache = str(tmp_path / "cache")
    assert read_mark(cache, KEY) is None
    assert not marks(cache)
    write_mark(cache, KEY, "q4_K")
    path = mark_path(cache, KEY)
    assert path == tmp_path / "cache" / "kernels" / f"{KEY}.crashed"
    assert marks(cache) == {path}
    assert read_mark(cache, KEY) == "q4_K"
    assert read_mark(cache, "f" * 16) is None
    write_mark(cache, KEY)
    assert read_mark(cache, KEY) == HANG
    path.unlink()
    assert read_mark(cache, KEY) is None


@pytest.mark.parametrize("key", ["", "q", "../../../../etc/x", "0123456789ABCDEF", KEY + "0"])
def test_an_invalid_key_names_no_file(key: str, tmp_path: Path) -> None:
    assert mark_path(str(tmp_path), key) is None
    write_mark(str(tmp_path), key)
    assert read_mark(str(tmp_path), key) is None
    assert not list(tmp_path.iterdir())


def test_without_a_folder_nothing_is_kept() -> None:
    assert mark_path("", KEY) is None
    assert not marks("")
    write_mark("", KEY)


def test_what_a_mark_says_fits_into_a_sentence(tmp_path: Path) -> None:
    path = mark_path(str(tmp_path), KEY)
    assert path is not None
    path.parent.mkdir()
    path.write_bytes(b"")
    assert read_mark(str(tmp_path), KEY) == "an unknown kernel"
    path.write_bytes(b"a\nb \xff" + b"x" * 1000)
    words = read_mark(str(tmp_path), KEY)
    assert words is not None
    assert words.startswith("a b ")
    assert len(words) < 100
    path.unlink()
    path.mkdir()
    assert read_mark(str(tmp_path), KEY) == "an unknown kernel"


def test_a_folder_that_may_not_be_entered_has_no_mark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_path: Path) -> bool:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "exists", refuse)
    assert read_mark(str(tmp_path), KEY) is None


def test_a_folder_that_cannot_be_written_costs_the_mark(tmp_path: Path) -> None:
    (tmp_path / "kernels").touch()
    write_mark(str(tmp_path), KEY)
    assert not marks(str(tmp_path))
