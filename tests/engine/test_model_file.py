"""The first look at a model file."""

from __future__ import annotations

import os
from contextlib import nullcontext
from pathlib import Path

import pytest

from engine.harness import random_language
from fake_model import FakeModel
from paceline.engine.facts import Facts
from paceline.engine.model.model_file import (
    OVERWRITTEN,
    check_in_place,
    check_model_file,
    file_id,
    model_name,
    part_names,
    parts_of,
    written_parts,
)
from paceline.engine.pair import LoadedPair
from paceline.errors import EngineError, ModelError


@pytest.fixture
def gguf(tmp_path: Path) -> Path:
    path = tmp_path / "a model.gguf"
    path.write_bytes(b"GGUF\x03\0\0\0" + bytes(100))
    return path


def refused(path: object) -> ModelError:
    with pytest.raises(ModelError) as caught:
        check_model_file(str(path))
    assert caught.value.message.endswith(".")
    assert caught.value.hint
    return caught.value


def test_a_tilde_is_the_home_folder(gguf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(gguf.parent))
    monkeypatch.setenv("USERPROFILE", str(gguf.parent))
    assert check_model_file("~/a model.gguf") == gguf


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("none.gguf", "file-not-found"),
        ("~nobody-of-this-name/x.gguf", "file-not-found"),
        (".", "is-a-directory"),
        ("a\0b.gguf", "cannot-read"),
        ("x" * 5000, "cannot-read"),
        ("a model.gguf/inside.gguf", "file-not-found" if os.name == "nt" else "cannot-read"),
    ],
    ids=["missing", "no such home", "folder", "NUL", "long", "through a file"],
)
def test_a_path_that_leads_to_no_file(gguf: Path, name: str, code: str) -> None:
    error = refused(name if name[0] == "~" else gguf.parent / name)
    assert error.code == code
    assert code != "file-not-found" or Path(name).name in error.message


@pytest.mark.parametrize(
    "content",
    [b"", b"GGU", b"GGML\x03\0\0\0", b"gguf....", b"PK\x03\x04", b"\0GGUF", b"<!DOCTYPE html>"],
)
def test_other_files(gguf: Path, content: bytes) -> None:
    gguf.write_bytes(content)
    error = refused(gguf)
    assert error.code == "not-a-gguf"
    assert gguf.name in error.message


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    pipe = Path(os.devnull)
    if hasattr(os, "mkfifo"):  # Windows has none
        pipe = tmp_path / "pipe.gguf"
        os.mkfifo(pipe)
    assert refused(pipe).code == "not-a-file"


def test_what_the_operating_system_refuses(gguf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*args: object, **options: object) -> object:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    error = refused(gguf)
    assert error.code == "cannot-read"
    assert "Permission denied" in error.message


def test_the_id_follows_head_and_size(tmp_path: Path) -> None:
    def name(content: bytes) -> str:
        path = tmp_path / "model.gguf"
        path.write_bytes(content)
        return file_id(path)

    head = b"GGUF" + bytes(1 << 20)
    first = name(head + b"tail")
    assert name(head + b"tail") == first
    assert name(head + b"tai") != first
    assert name(b"GGUF\1" + head[5:] + b"tail") != first
    assert len(first) == 16
    with pytest.raises(ModelError, match="while it was loaded"):
        file_id(tmp_path / "moved.gguf")


@pytest.mark.parametrize(
    ("content", "later_ns", "is_moved"),
    [(b"GGUF", 0, False), (b"GGUF", 1_000_000, True), (b"GGUF!", 0, True)],
)
def test_another_number_alone_is_no_other_file(
    tmp_path: Path, content: bytes, later_ns: int, is_moved: bool
) -> None:
    """File systems without lasting numbers give one file several."""
    path, other = tmp_path / "m.gguf", tmp_path / "other"
    path.write_bytes(b"GGUF")
    files, written_ns = written_parts([str(path)]), path.stat().st_mtime_ns
    other.write_bytes(content)
    os.utime(other, ns=(written_ns, written_ns + later_ns))
    other.replace(path)
    with pytest.raises(ModelError, match="replaced") if is_moved else nullcontext():
        check_in_place(files)


def test_a_file_that_is_written_to_is_no_other_file(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"GGUF")
    files = written_parts([str(path)])
    path.write_bytes(b"GGUF and more")
    check_in_place(files)


@pytest.mark.parametrize("name", ["m-00001-of-00001.GGUF", "m-00001-of-00000.gguf", "m.gguf"])
def test_a_file_that_is_given_is_a_part_however_it_is_called(name: str) -> None:
    assert parts_of(Path(name)) == (Path(name),)


def test_parts_of_a_split_model_share_a_name() -> None:
    names = part_names("a/m-00002-of-00003.gguf")
    assert names == [f"a/m-0000{n}-of-00003.gguf" for n in (1, 2, 3)]
    assert {*map(model_name, names), model_name("a/m.GGUF"), model_name("a/m")} == {"a/m"}


@pytest.mark.parametrize("written", [0, 2])
def test_each_part_of_a_split_model_is_looked_at(tmp_path: Path, written: int) -> None:
    parts = [tmp_path / f"m-{i:05}-of-00003.gguf" for i in (1, 2, 3)]
    for part in parts:
        part.write_bytes(b"GGUF")
    pair = LoadedPair(FakeModel(random_language(1)), None, Facts(""))
    pair.files = written_parts([str(parts[0])])
    assert [*pair.files] == parts
    pair.check_files()
    parts[written].write_bytes(b"GGUF\x03")
    with pytest.raises(EngineError, match=parts[written].name) as caught:
        pair.check_files()
    assert caught.value.code == OVERWRITTEN
    assert pair.is_lost
