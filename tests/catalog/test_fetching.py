"""Paths of references on the disk, and the downloads that they need."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from catalog.headers import write_split
from hub_server import HubServer, Repository
from make_pairs import DEMO_DRAFT
from paceline.catalog.fetching import download_folder, file_here, request_for
from paceline.catalog.hub.client import Hub
from paceline.catalog.hub.errors import HubError
from paceline.catalog.hub.values import parse_reference
from paceline.catalog.local.model_files import Place
from paceline.errors import UserError


def never() -> bool:
    return False


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    folder = tmp_path / "parts"
    folder.mkdir()
    parts = {f"Q4_K_M/{path.name}": path for path in write_split(DEMO_DRAFT, folder)}
    files = {**parts, "a/same.gguf": DEMO_DRAFT, "b/same.gguf": DEMO_DRAFT}
    with HubServer({"own/er": Repository("own/er", files)}) as server:
        yield Hub(endpoint=server.endpoint)


def test_files_of_one_name_stay_apart(hub: Hub, tmp_path: Path) -> None:
    folders = {
        request_for(hub, parse_reference(f"hf:own/er:{name}/same.gguf"), tmp_path, never).folder
        for name in "ab"
    }
    assert folders == {str(tmp_path / "own" / "er" / name) for name in "ab"}


@pytest.mark.parametrize("wanted", ["Q4_K_M", "Q4_K_M/split-00001-of-00003.gguf"])
def test_all_parts_of_a_split_model_are_wanted(hub: Hub, tmp_path: Path, wanted: str) -> None:
    request = request_for(hub, parse_reference(f"hf:own/er:{wanted}"), tmp_path, never)
    assert request.files == tuple(f"Q4_K_M/split-0000{n}-of-00003.gguf" for n in (1, 2, 3))
    assert request.endpoint == hub.endpoint


def test_a_file_that_is_not_there(hub: Hub, tmp_path: Path) -> None:
    with pytest.raises(HubError) as error:
        request_for(hub, parse_reference("hf:own/er:none.gguf"), tmp_path, never)
    assert error.value.code == "not-found"


def test_a_split_model_is_here_when_all_of_it_is(tmp_path: Path) -> None:
    reference = parse_reference("hf:own/er:q/split-00001-of-00003.gguf")
    folder = download_folder(tmp_path, "own/er", reference.path)
    folder.mkdir(parents=True)
    paths = write_split(DEMO_DRAFT, folder)
    assert file_here(reference, [Place(tmp_path, "paceline")]) == paths[0]
    paths[1].unlink()
    assert file_here(reference, [Place(tmp_path, "paceline")]) is None


def test_what_names_no_file_is_nowhere(tmp_path: Path) -> None:
    (tmp_path / "own" / "er").mkdir(parents=True)
    assert file_here(parse_reference("hf:own/er"), [Place(tmp_path, "paceline")]) is None
    assert file_here(parse_reference("hf:own/er:Q8_0"), [Place(tmp_path, "paceline")]) is None


@pytest.mark.parametrize("path", ["../x.gguf", "a/nul.gguf", "a\tb/x.gguf", "/x.gguf"])
def test_names_that_have_no_place_on_a_disk(tmp_path: Path, path: str) -> None:
    with pytest.raises(UserError) as error:
        download_folder(tmp_path, "own/er", path)
    assert error.value.code == "unsafe-name"
