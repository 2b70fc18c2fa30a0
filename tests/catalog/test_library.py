"""The library: names first, then what the files are; remembered until they change."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from msgspec import structs

from catalog import made_models
from catalog.test_other_programs import ollama_model
from paceline.catalog.card import ModelCard
from paceline.catalog.inspect.inspector import Inspector
from paceline.catalog.local import library as library_module
from paceline.catalog.local.library import CardReader, Library, LibraryEntry
from paceline.catalog.local.model_files import Place
from paceline.errors import CancelledError, ModelError

CARD = structs.replace(made_models.CARD, n_bytes=1)


class Reader:
    """Gives every file a card, or what its name asks for, and counts the questions."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.parts: tuple[Path, ...] = ()

    def card(self, path: Path, parts: Sequence[Path] = ()) -> ModelCard:
        self.asked.append(path.name)
        self.parts = tuple(parts)
        code, _, _ = path.name.partition(".")
        if code == "closed":
            raise CancelledError
        if code in ("crashes-the-reader", "takes-too-long"):
            raise ModelError(code, f"“{path.name}” cannot be used.", "Choose another one.")
        if code == "vocabulary":
            return structs.replace(CARD, n_params=0, n_layers=0)
        if code == "adapter":
            return structs.replace(CARD, n_layers=0)
        return CARD


@pytest.fixture
def reader() -> Reader:
    return Reader()


@pytest.fixture
def make(tmp_path: Path, reader: Reader) -> Callable[..., Library]:
    """Makes a library that looks into these folders below `tmp_path`, by place."""

    def make_library(reader: CardReader = reader, **folders: str) -> Library:
        found = folders or {"folder": "models"}
        return Library(
            reader,
            places=lambda: [Place(tmp_path / f, s.replace("_", "-")) for s, f in found.items()],
            cache_file=tmp_path / "cache" / "library.json",
        )

    return make_library


def put(folder: Path, *names: str, n_bytes: int = 10) -> list[Path]:
    paths = [folder / name for name in names]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(n_bytes))
    return paths


def by_name(entries: Sequence[LibraryEntry]) -> dict[str, LibraryEntry]:
    return {entry.file.name: entry for entry in entries}


def test_names_come_before_cards(make: Callable[..., Library], tmp_path: Path) -> None:
    put(tmp_path / "models", "a.gguf", "b.gguf", "c.gguf")
    told: list[LibraryEntry] = []
    entries = make().refresh(told.append)
    assert [(e.file.name, e.card) for e in told] == [
        *(("a", None), ("b", None), ("c", None)),
        *(("a", CARD), ("b", CARD), ("c", CARD)),
    ]
    assert list(entries) == told[3:]


def test_nothing_is_asked_twice(
    make: Callable[..., Library], reader: Reader, tmp_path: Path
) -> None:
    put(tmp_path / "models", "a.gguf", "b.gguf")
    library = make()
    assert library.known() == ()
    entries = library.refresh()
    assert library.refresh() == make().refresh() == make().known() == entries
    assert reader.asked == ["a.gguf", "b.gguf"]


@pytest.mark.parametrize("change", ["size", "time"])
def test_a_file_that_changed_is_asked_again(
    make: Callable[..., Library], reader: Reader, tmp_path: Path, change: str
) -> None:
    a, _ = put(tmp_path / "models", "a.gguf", "b.gguf")
    os.utime(a, ns=(10**18, 10**18))
    make().refresh()
    a.write_bytes(bytes(11 if change == "size" else 10))
    time = 10**18 if change == "size" else 2 * 10**18
    os.utime(a, ns=(time, time))
    told: list[LibraryEntry] = []
    make().refresh(told.append)
    assert reader.asked == ["a.gguf", "b.gguf", "a.gguf"]
    assert [(e.file.name, e.card is None) for e in told] == [
        ("a", True), ("b", False), ("a", False),
    ]  # fmt: skip


def test_a_change_of_any_part_counts(
    make: Callable[..., Library], reader: Reader, tmp_path: Path
) -> None:
    names = [f"m-0000{n}-of-00002.gguf" for n in (1, 2)]
    parts = put(tmp_path / "models", *names)
    make().refresh()
    assert reader.parts == tuple(parts)
    parts[1].write_bytes(bytes(99))
    make().refresh()
    assert reader.asked == [names[0], names[0]]


def test_bad_files_stay_and_say_why(
    make: Callable[..., Library], reader: Reader, tmp_path: Path
) -> None:
    names = ["crashes-the-reader.gguf", "vocabulary.gguf", "adapter.gguf", "m-00002-of-00003.gguf"]
    put(tmp_path / "models", *names)
    found = by_name(make().refresh())
    assert "cannot be used" in found["crashes-the-reader"].problem
    assert "no weights" in found["vocabulary"].problem
    assert "adapter" in found["adapter"].problem
    assert "1 of its 3 parts" in found["m"].problem
    assert all(entry.card is None for entry in found.values())
    assert by_name(make().refresh()) == found
    assert sorted(reader.asked) == sorted(names[:3]), "asked again, or about missing parts"


def test_what_may_pass_is_asked_again(
    make: Callable[..., Library], reader: Reader, tmp_path: Path
) -> None:
    put(tmp_path / "models", "takes-too-long.gguf")
    for _ in range(2):
        (entry,) = make().refresh()
        assert "cannot be used" in entry.problem
    assert len(reader.asked) == 2


def test_what_may_not_be_read_is_no_lasting_problem(
    make: Callable[..., Library], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "models", "a.gguf")
    with monkeypatch.context() as patch:
        patch.setattr(library_module.os, "access", lambda *_: False)
        (entry,) = make().refresh()
    assert "permissions" in entry.problem
    (entry,) = make().refresh()
    assert (entry.problem, entry.card) == ("", CARD)


def test_an_inspector_that_is_closed_says_nothing_about_a_file(
    make: Callable[..., Library], tmp_path: Path
) -> None:
    put(tmp_path / "models", "closed.gguf")
    (entry,) = make().refresh()
    assert (entry.card, entry.problem) == (None, "")
    assert make().known() == ()


def test_one_that_is_stopped_keeps_what_it_found(
    make: Callable[..., Library], reader: Reader, tmp_path: Path
) -> None:
    put(tmp_path / "models", *(f"{n}.gguf" for n in range(10)))
    entries = make().refresh(is_stopped=lambda: len(reader.asked) >= 3)
    assert [e.card is None for e in entries] == [False] * 3 + [True] * 7
    assert len(make().known()) == 3
    make().refresh()
    assert len(reader.asked) == 10


def test_what_is_gone_is_forgotten(make: Callable[..., Library], tmp_path: Path) -> None:
    a, _ = put(tmp_path / "models", "a.gguf", "b.gguf")
    make().refresh()
    a.unlink()
    assert len(make().known()) == 2
    assert [e.file.name for e in make().refresh()] == ["b"]
    assert [e.file.name for e in make().known()] == ["b"]


def test_nothing_is_written_when_nothing_is_new(
    make: Callable[..., Library], tmp_path: Path
) -> None:
    put(tmp_path / "models", "a.gguf")
    library = make()
    library.refresh()
    (tmp_path / "cache" / "library.json").unlink()
    library.refresh()
    assert not (tmp_path / "cache" / "library.json").exists()


def test_other_folders_are_remembered_and_not_shown(
    make: Callable[..., Library], reader: Reader, tmp_path: Path
) -> None:
    put(tmp_path / "models", "a.gguf")
    put(tmp_path / "disk", "b.gguf")
    make(folder="disk").refresh()
    make().refresh()
    assert [e.file.name for e in make().known()] == ["a"]
    assert [e.file.name for e in make(folder="disk").known()] == ["b"]
    make(folder="disk").refresh()
    assert reader.asked == ["b.gguf", "a.gguf"]


def test_a_file_in_two_places_belongs_to_the_first(
    make: Callable[..., Library], tmp_path: Path
) -> None:
    put(tmp_path / "ours" / "owner" / "repo", "a.gguf")
    put(tmp_path, "b.gguf")
    entries = make(paceline="ours", folder=".").refresh()
    assert [(e.file.name, e.file.source, e.is_ours) for e in entries] == [
        ("a", "paceline", True),
        ("b", "folder", False),
    ]


def test_models_of_ollama_have_its_names(make: Callable[..., Library], tmp_path: Path) -> None:
    ollama_model(tmp_path / "ollama", "registry.ollama.ai/library/llama3.2/1b")
    (entry,) = make(ollama="ollama").refresh()
    assert (entry.file.name, entry.card) == ("llama3.2:1b", CARD)
    (looked_at,) = [make(ollama="ollama").look_at(entry.file.path)]
    assert looked_at.card == CARD


@pytest.mark.parametrize("broken", ["", "{", "[]", "null", '{"version": 0}', "[" * 10_000, "cut"])
def test_a_cache_that_cannot_be_used_is_made_anew(
    make: Callable[..., Library], reader: Reader, tmp_path: Path, broken: str
) -> None:
    put(tmp_path / "models", "a.gguf")
    entries = make().refresh()
    cache = tmp_path / "cache" / "library.json"
    cache.write_text(cache.read_text()[:-9] if broken == "cut" else broken)
    assert make().known() == ()
    assert make().refresh() == entries
    assert make().known() == entries
    assert len(reader.asked) == 2


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(
    make: Callable[..., Library], reader: Reader, tmp_path: Path
) -> None:
    put(tmp_path / "models", "a.gguf")
    put(tmp_path, "cache")
    (entry,) = make().refresh()
    assert entry.card == CARD
    make().refresh()
    assert len(reader.asked) == 2


@pytest.mark.parametrize("number", [1, 2, 3])
def test_any_part_leads_to_the_whole(
    make: Callable[..., Library], reader: Reader, tmp_path: Path, number: int
) -> None:
    put(tmp_path, "other.gguf", "n-00001-of-00003.gguf", "m-00001-of-00002.gguf")
    parts = put(tmp_path, *(f"m-0000{n}-of-00003.gguf" for n in (1, 2, 3)))
    entry = make().look_at(parts[number - 1])
    assert entry.file.path == parts[0]
    assert (entry.file.name, entry.file.n_bytes, entry.card) == ("m", 30, CARD)
    assert reader.parts == tuple(parts)


def test_a_file_that_is_looked_at_is_remembered(
    make: Callable[..., Library], reader: Reader, tmp_path: Path
) -> None:
    (path,) = put(tmp_path, "dropped.gguf")
    assert make().look_at(path) == make().look_at(path)
    assert reader.asked == ["dropped.gguf"]
    (path,) = put(tmp_path, "vocabulary.gguf")
    assert "no weights" in make().look_at(path).problem


@pytest.mark.parametrize("name", ["missing.gguf", "folder.gguf", "m-00001-of-00002.gguf"])
def test_what_is_no_file_cannot_be_looked_at(
    make: Callable[..., Library], tmp_path: Path, name: str
) -> None:
    (tmp_path / "folder.gguf").mkdir()
    with pytest.raises(ModelError, match=name) as error:
        make().look_at(tmp_path / name)
    assert error.value.code == "file-not-found"
    assert error.value.hint


def test_real_files(
    make: Callable[..., Library], inspector: Inspector, tmp_path: Path, draft_path: Path
) -> None:
    models = tmp_path / "models"
    models.mkdir()
    shutil.copy(draft_path, models / "whole.gguf")
    (models / "cut.gguf").write_bytes(draft_path.read_bytes()[:5000])
    (models / "half.gguf").write_bytes(draft_path.read_bytes()[:1_000_000])
    (models / "text.gguf").write_text("This is no model.")
    found = by_name(make(inspector).refresh())
    card = found["whole"].card
    assert card is not None
    assert (card.quantisation, found["whole"].problem) == ("Q8_0", "")
    assert card.n_params > 1_000_000
    assert len(card.vocabulary) == 16
    assert "cut.gguf" in found["cut"].problem
    assert "text.gguf" in found["text"].problem
    assert found["half"].problem == "It is incomplete: 1 of 2 MB are here."
    assert by_name(make(Reader()).known()) == found


def test_what_is_current_is_looked_for_once_a_minute(
    make: Callable[..., Library], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "models", "a.gguf")
    library = make()
    library.refresh()
    put(tmp_path / "models", "b.gguf")
    assert [e.file.name for e in library.current()] == ["a"]
    monkeypatch.setattr(library_module, "CURRENT_S", -1.0)
    assert [e.file.name for e in library.current()] == ["a", "b"]
    put(tmp_path / "models", "c.gguf")
    assert len(make().current()) == 3, "another program has not looked yet"
