"""Models found in folders as people and programs leave them."""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from paceline.catalog.local.model_files import ModelFile, find_models, model_at
from paceline.errors import ModelError

if TYPE_CHECKING:
    from trials import Trials

needs_links = pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")


def put(folder: Path, *names: str, n_bytes: int = 10) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(n_bytes))


def names(folder: Path) -> list[str]:
    return sorted(model.name for model in find_models(folder))


def only(folder: Path) -> ModelFile:
    (model,) = find_models(folder)
    return model


def test_files_in_folders_below(tmp_path: Path) -> None:
    put(tmp_path, "a.gguf", "deep/er/b.GGUF", "deep/readme.md", "c.gguf.part", "gguf")
    assert names(tmp_path) == ["a", "b"]
    assert {model.source for model in find_models(tmp_path)} == {"folder"}


def test_a_split_model_is_one(tmp_path: Path) -> None:
    parts = [f"big-Q4_K_M-0000{n}-of-00003.gguf" for n in (3, 1, 2)]
    put(tmp_path, *parts, "other-00001-of-00002.gguf", "big-Q4_K_M.gguf")
    os.utime(tmp_path / parts[2], ns=(5, 2**62))
    by_size = {(m.name, m.n_parts): m for m in find_models(tmp_path)}
    big = by_size["big-Q4_K_M", 3]
    assert big.path.name == "big-Q4_K_M-00001-of-00003.gguf"
    assert [part.name for part in big.parts] == sorted(parts)
    assert (big.n_bytes, big.mtime_ns, big.is_complete) == (30, 2**62, True)
    assert by_size["big-Q4_K_M", 1].is_complete
    assert not by_size["other", 2].is_complete


def test_parts_of_different_counts_are_different_models(tmp_path: Path) -> None:
    put(tmp_path, "m-00001-of-00002.gguf", "m-00002-of-00002.gguf", "m-00001-of-00003.gguf")
    assert sorted((m.n_parts, m.is_complete) for m in find_models(tmp_path)) == [
        (2, True),
        (3, False),
    ]


@pytest.mark.parametrize(
    "name",
    ["mmproj-model-f16.gguf", "gemma.mmproj.gguf", "x-mmproj-Q8_0.gguf", "imatrix.gguf",
     "model-imatrix.gguf", "MMPROJ-BF16.gguf"],
)  # fmt: skip
def test_by_products_are_left_out(tmp_path: Path, name: str) -> None:
    put(tmp_path, name, "model.gguf")
    assert names(tmp_path) == ["model"]


@pytest.mark.parametrize("name", ["imatrixed-model.gguf", "my-mmprojector.gguf"])
def test_models_that_only_sound_like_by_products_stay(tmp_path: Path, name: str) -> None:
    put(tmp_path, name)
    assert names(tmp_path) == [name.removesuffix(".gguf")]


@needs_links
def test_the_cache_of_hugging_face_links_every_revision_to_one_file(tmp_path: Path) -> None:
    repo = tmp_path / "models--owner--name"
    put(repo, "blobs/abc", n_bytes=77)
    for revision in ("1111", "2222"):
        link = repo / "snapshots" / revision / "model-Q4_0.gguf"
        link.parent.mkdir(parents=True)
        link.symlink_to("../../blobs/abc")
    model = only(tmp_path)
    assert (model.name, model.n_bytes) == ("model-Q4_0", 77)


@needs_links
def test_links_that_lead_nowhere_or_in_circles(tmp_path: Path) -> None:
    (tmp_path / "gone.gguf").symlink_to("missing")
    (tmp_path / "again").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "self.gguf").symlink_to("self.gguf")
    put(tmp_path, "real.gguf")
    assert names(tmp_path) == ["real"]


@needs_links
def test_a_linked_folder_is_searched_once(tmp_path: Path) -> None:
    put(tmp_path, "elsewhere/more/a.gguf", "elsewhere/b.gguf", "models/c.gguf", "beside.gguf")
    for name in ("models/link", "models/again", "elsewhere/more/up"):
        (tmp_path / name).symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    (tmp_path / "models/out").symlink_to(tmp_path, target_is_directory=True)
    assert names(tmp_path / "models") == ["a", "b", "c"], "and nothing of the folder above"
    (tmp_path / "start").symlink_to(tmp_path / "models", target_is_directory=True)
    assert names(tmp_path / "start") == ["a", "b", "c"]


@needs_links
def test_random_links_lead_to_every_model_once(tmp_path: Path, trials: Trials) -> None:
    for number in trials(30, 2_000):
        rng = random.Random(number)
        root, outside = tmp_path / f"{number}", tmp_path / f"{number}-outside"
        root.mkdir()
        outside.mkdir()
        folders, inside, reached = [root], {root}, {root}
        for n in range(rng.randrange(1, 8)):
            folder = rng.choice([*folders, outside]) / f"f{n}"
            folder.mkdir()
            (folder / f"m{n}.gguf").write_bytes(b"x")
            folders.append(folder)
        links = {}
        for n in range(rng.randrange(6)):
            link = rng.choice(folders) / f"l{n}"
            links[link] = rng.choice(folders)
            link.symlink_to(links[link], target_is_directory=True)
        while inside:
            here = inside.pop()
            for path in here.iterdir():
                below = links.get(path, path)
                if below.is_dir() and below not in reached:
                    reached.add(below)
                    inside.add(below)
        expected = sorted(path.stem for f in reached for path in f.glob("m*.gguf"))
        assert names(root) == expected


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_pipes_and_folders_named_like_models(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.gguf")
    put(tmp_path, "folder.gguf/inner.gguf")
    assert names(tmp_path) == ["inner"]


def test_a_folder_that_is_missing_or_a_file(tmp_path: Path) -> None:
    put(tmp_path, "file")
    assert names(tmp_path / "missing") == names(tmp_path / "file") == []


def test_a_folder_that_cannot_be_read_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "closed/a.gguf", "open/b.gguf")
    scan = os.scandir

    def guarded(path: Path) -> object:
        if Path(path).name == "closed":
            raise PermissionError(path)
        return scan(path)

    monkeypatch.setattr("os.scandir", guarded)
    assert names(tmp_path) == ["b"]


def test_a_search_can_be_stopped(tmp_path: Path) -> None:
    put(tmp_path, *(f"{n}/model.gguf" for n in range(10)))
    found: list[ModelFile] = []
    for model in find_models(tmp_path, is_stopped=lambda: len(found) >= 3):
        found.append(model)
    assert len(found) == 3


def test_very_deep_folders_end_somewhere(tmp_path: Path) -> None:
    put(tmp_path, "/".join("x" * 40) + "/deep.gguf", "/".join("x" * 5) + "/near.gguf")
    assert names(tmp_path) == ["near"]


@pytest.mark.parametrize("name", ["x" * 5000, "nul\0"], ids=["long", "nul"])
def test_names_that_no_file_can_have(tmp_path: Path, name: str) -> None:
    with pytest.raises(ModelError, match="is not there"):
        model_at(tmp_path / name)
    assert names(tmp_path / name) == []
