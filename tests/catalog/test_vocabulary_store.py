"""Stores of vocabularies and models keep them whole or not at all, and only so many."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec import structs

from catalog.made_models import CARD, NATURE, TEXTS
from paceline.catalog.card import card_version
from paceline.catalog.inspect import vocabulary_store
from paceline.catalog.inspect.vocabulary_store import ExaminedStore, VocabularyStore
from paceline.catalog.inspect.wire import Seen
from paceline.engine.model.vocabularies import hash_of_texts

HASH = hash_of_texts(TEXTS)
SEEN = Seen(CARD, NATURE)


def test_texts_are_kept(tmp_path: Path) -> None:
    VocabularyStore(tmp_path).put(HASH, TEXTS)
    store = VocabularyStore(tmp_path)
    assert store.get(HASH) == TEXTS
    assert store.get(HASH) is store.get(HASH)  # one copy for all models
    assert store.get("0" * 16) is None


def test_odd_texts_are_kept(tmp_path: Path) -> None:
    for texts in ((), (b"\xff\n" * 1000, b" ", "ü".encode())):
        name = hash_of_texts(texts)
        VocabularyStore(tmp_path).put(name, texts)
        assert VocabularyStore(tmp_path).get(name) == texts


def test_without_a_folder_they_are_kept_in_memory() -> None:
    store = VocabularyStore(None)
    store.put(HASH, TEXTS)
    assert store.get(HASH) == TEXTS
    assert VocabularyStore(None).get(HASH) is None


def test_a_file_that_is_not_what_its_name_says_is_none(tmp_path: Path) -> None:
    VocabularyStore(tmp_path).put(HASH, TEXTS)
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    for data in (
        whole[:-1],
        whole + b"x",
        b"",
        b"\xff" * 100,
        whole.replace(b"word7", b"worD7", 1),
    ):
        file.write_bytes(data)
        assert VocabularyStore(tmp_path).get(HASH) is None
    file.write_bytes(whole)
    assert VocabularyStore(tmp_path).get(HASH) == TEXTS


def test_the_oldest_make_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary_store, "_N_VOCABULARIES", 3)
    monkeypatch.setattr(vocabulary_store, "_N_IN_MEMORY", 2)
    store = VocabularyStore(tmp_path)
    names = []
    for number in range(6):
        texts = (f"{number}".encode(),)
        names.append(hash_of_texts(texts))
        store.put(names[-1], texts)
        os.utime(tmp_path / names[-1], ns=(number, number))
    assert {file.name for file in tmp_path.iterdir()} == set(names[-3:])
    assert [store.get(name) is not None for name in names] == [False] * 3 + [True] * 3


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Two parts of a model."""
    paths = [tmp_path / name for name in ("a.gguf", "b.gguf")]
    for path in paths:
        path.write_bytes(b"x")
    return paths


def test_what_was_seen_is_kept_as_long_as_the_files_stay(tmp_path: Path, files: list[Path]) -> None:
    store = ExaminedStore(tmp_path / "cache")
    store.put(files, SEEN, store.key(files))
    assert ExaminedStore(tmp_path / "cache").get(files, store.key(files)) == SEEN
    assert store.get(files[:1], store.key(files[:1])) is None
    assert store.get(files[::-1], store.key(files[::-1])) is None
    files[1].write_bytes(b"xy")
    assert store.get(files, store.key(files)) is None
    store.put(files, SEEN, store.key(files))
    assert store.get(files, store.key(files)) == SEEN
    os.utime(files[0], ns=(1, 1))
    assert store.get(files, store.key(files)) is None
    files[0].unlink()
    assert store.get(files, store.key(files)) is None
    assert store.key(files) is None


def test_a_look_before_a_change_is_not_kept_for_the_changed_file(
    tmp_path: Path, files: list[Path]
) -> None:
    store = ExaminedStore(tmp_path / "cache")
    key = store.key(files)
    files[0].write_bytes(b"other")
    store.put(files, SEEN, key)
    assert store.get(files, store.key(files)) is None


def test_another_library_looks_anew(
    tmp_path: Path, files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = ExaminedStore(tmp_path / "cache")
    store.put(files, SEEN, store.key(files))
    monkeypatch.setattr(vocabulary_store.metadata, "version", lambda package: f"{package} 99")
    assert ExaminedStore(tmp_path / "cache").get(files, store.key(files)) is None


def test_a_card_of_other_fields_is_not_taken(
    tmp_path: Path, files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A version before this one wrote it: what it lacks would be taken for what is not there."""
    with monkeypatch.context() as earlier:
        earlier.setattr(vocabulary_store, "card_version", lambda: card_version()[:-1])
        store = ExaminedStore(tmp_path / "cache")
        store.put(files, SEEN, store.key(files))
        assert store.get(files, store.key(files)) == SEEN
    assert ExaminedStore(tmp_path / "cache").get(files, store.key(files)) is None


def test_what_contradicts_itself_is_not_taken(tmp_path: Path, files: list[Path]) -> None:
    store = ExaminedStore(tmp_path / "cache")
    for wrong in (
        Seen(CARD, None),
        Seen(structs.replace(CARD, vocabulary="../../x"), NATURE),
        Seen(CARD, structs.replace(NATURE, n_tokens=7)),
    ):
        store.put(files, wrong, store.key(files))
        assert store.get(files, store.key(files)) is None


@pytest.mark.parametrize("data", [b"", b"{}", b"[1]", b"null", b"\xff" * 99, b"[" * 99_999, None])
def test_what_is_broken_counts_as_missing(
    tmp_path: Path, files: list[Path], data: bytes | None
) -> None:
    store = ExaminedStore(tmp_path / "cache")
    store.put(files, SEEN, store.key(files))
    (file,) = (tmp_path / "cache").iterdir()
    file.write_bytes(file.read_bytes()[:-1] if data is None else data)
    assert store.get(files, store.key(files)) is None


def test_nothing_is_kept_without_a_folder(files: list[Path]) -> None:
    store = ExaminedStore(None)
    store.put(files, SEEN, store.key(files))
    assert store.get(files, store.key(files)) is None


def test_models_make_room_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary_store, "_N_EXAMINED", 3)
    store = ExaminedStore(tmp_path / "cache")
    for number in range(6):
        file = tmp_path / f"{number}.gguf"
        file.write_bytes(b"")
        store.put([file], SEEN, store.key([file]))
    assert len(list((tmp_path / "cache").iterdir())) == 3
