"""Models of other programs: where they lie, and how Ollama names them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from paceline import paths as files_of_ours
from paceline.catalog.local.model_files import find_ollama_models, places, places_of_others
from paceline.errors import UserError
from paceline.paths import Paths

DIGEST = "ab" * 32
MODEL = "application/vnd.ollama.image.model"


def manifest(folder: Path, name: str, data: object) -> None:
    path = folder / "manifests" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")


def layers(digest: object = f"sha256:{DIGEST}") -> dict[str, object]:
    licence = {"mediaType": "application/vnd.ollama.image.license", "digest": "sha256:" + "0" * 64}
    return {"layers": [licence, {"mediaType": MODEL, "digest": digest, "size": 3}]}


def ollama_model(folder: Path, name: str) -> None:
    """Put a model into a folder as Ollama does."""
    (folder / "blobs").mkdir(parents=True)
    (folder / "blobs" / f"sha256-{DIGEST}").write_bytes(b"GGUF...")
    manifest(folder, name, layers())


@pytest.fixture
def ollama(tmp_path: Path) -> Path:
    (tmp_path / "blobs").mkdir()
    (tmp_path / "blobs" / f"sha256-{DIGEST}").write_bytes(b"GGUF...")
    return tmp_path


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("registry.ollama.ai/library/llama3.2/1b", "llama3.2:1b"),
        ("registry.ollama.ai/somebody/tuned/latest", "somebody/tuned:latest"),
        ("hf.co/owner/repo-GGUF/Q4_K_M", "hf.co/owner/repo-GGUF:Q4_K_M"),
    ],
)
def test_a_model_has_the_name_that_ollama_gives_it(ollama: Path, place: str, name: str) -> None:
    manifest(ollama, place, layers())
    (model,) = find_ollama_models(ollama)
    assert (model.name, model.source, model.n_bytes) == (name, "ollama", 7)
    assert model.path.read_bytes().startswith(b"GGUF")


@pytest.mark.parametrize(
    "data",
    [
        "", "no json", "[]", "null", '{"layers": 5}', '{"layers": [5]}', "{}", "[" * 100_000,
        {"layers": []}, {"layers": [{"mediaType": MODEL}]}, layers(5), layers("sha256:short"),
        layers("sha256:../../../etc/passwd"), layers("sha256:" + "AB" * 32),
        layers("sha256:" + "cd" * 32), layers(f"sha256:{DIGEST}\n"),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_manifest_of_a_model_is_passed_over(ollama: Path, data: object) -> None:
    manifest(ollama, "registry.ollama.ai/library/odd/latest", data)
    assert list(find_ollama_models(ollama)) == []
    manifest(ollama, "registry.ollama.ai/library/sound/latest", layers())
    assert [model.name for model in find_ollama_models(ollama)] == ["sound:latest"]


def test_the_tree_of_newer_versions(ollama: Path) -> None:
    """Its manifests are links into the blobs; a model may be in the older tree as well."""
    text = json.dumps(layers())
    for tree, host in (("manifests-v2", "ollama.com"), ("manifests", "registry.ollama.ai")):
        path = ollama / tree / host / "library" / "gemma3" / "4b"
        path.parent.mkdir(parents=True)
        if tree == "manifests" or sys.platform == "win32":
            path.write_text(text, encoding="utf-8")
        else:
            (ollama / "blobs" / "sha256-0").write_text(text, encoding="utf-8")
            path.symlink_to(ollama / "blobs" / "sha256-0")
    (model,) = find_ollama_models(ollama)
    assert model.name == "gemma3:4b"


def test_a_model_under_two_tags_is_one(ollama: Path) -> None:
    manifest(ollama, "registry.ollama.ai/library/llama3.2/latest", layers())
    manifest(ollama, "registry.ollama.ai/library/llama3.2/3b", layers())
    assert [model.name for model in find_ollama_models(ollama)] == ["llama3.2:3b"]


def test_without_ollama(tmp_path: Path) -> None:
    assert list(find_ollama_models(tmp_path / "missing")) == []


def folders(**environ: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for place in places_of_others(environ, Path("/home/me")):
        found.setdefault(place.source, []).append(place.folder.as_posix())
    return found


def test_the_usual_places() -> None:
    assert folders() == {
        "hugging-face": ["/home/me/.cache/huggingface/hub"],
        "lm-studio": ["/home/me/.lmstudio/models", "/home/me/.cache/lm-studio/models"],
        "ollama": ["/home/me/.ollama/models", "/usr/share/ollama/.ollama/models"],
    }


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"XDG_CACHE_HOME": "/x"}, ["/x/huggingface/hub"]),
        ({"HF_HOME": "/hf", "XDG_CACHE_HOME": "/x"}, ["/hf/hub"]),
        ({"HF_HUB_CACHE": "/hub", "HF_HOME": "/hf"}, ["/hub"]),
        ({"LLAMA_CACHE": "/ll", "HF_HOME": "/hf"}, ["/ll", "/hf/hub"]),
        ({"HF_HOME": ""}, ["/home/me/.cache/huggingface/hub"]),
    ],
)
def test_variables_move_the_cache_of_hugging_face(
    environ: dict[str, str], expected: list[str]
) -> None:
    assert folders(**environ)["hugging-face"] == expected


def test_a_variable_moves_ollamas_models() -> None:
    assert folders(OLLAMA_MODELS="/big/ollama")["ollama"][0] == "/big/ollama"


def studio_folders(home: Path) -> list[str]:
    found = places_of_others({}, home)
    return [
        place.folder.relative_to(home).as_posix() for place in found if place.source == "lm-studio"
    ]


USUAL = [".lmstudio/models", ".cache/lm-studio/models"]


def test_lm_studio_whose_models_were_moved(tmp_path: Path) -> None:
    settings = tmp_path / ".lmstudio" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"downloadsFolder": str(tmp_path / "big"), "other": 1}))
    assert studio_folders(tmp_path) == ["big", *USUAL]


def test_lm_studio_whose_home_was_moved(tmp_path: Path) -> None:
    (tmp_path / ".lmstudio-home-pointer").write_text(f"{tmp_path / 'studio'}\n")
    assert studio_folders(tmp_path) == ["studio/models", *USUAL]
    settings = tmp_path / "studio" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"downloadsFolder": str(tmp_path / "big")}))
    assert studio_folders(tmp_path) == ["big", "studio/models", *USUAL]


@pytest.mark.parametrize(
    "settings",
    ["", "{", "[]", "5", "{}", '{"downloadsFolder": 5}', '{"downloadsFolder": "models"}',
     '{"downloadsFolder": ""}', '{"downloadsFolder": "/a\\u0000b"}', "[" * 10_000, "\xff"],
)  # fmt: skip
def test_settings_of_lm_studio_that_say_nothing(tmp_path: Path, settings: str) -> None:
    for folder in (".lmstudio", ".cache/lm-studio"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "settings.json").write_bytes(settings.encode("latin-1"))
    (tmp_path / ".lmstudio-home-pointer").write_bytes(settings.encode("latin-1"))
    assert studio_folders(tmp_path) == USUAL


def test_all_places_in_order(tmp_path: Path) -> None:
    found = places(Paths.below(tmp_path), {}, tmp_path, [Path("/mine"), Path("/more")])
    assert (found[0].folder, found[0].source) == (tmp_path / "data" / "models", "paceline")
    assert [(place.folder, place.source) for place in found[1:3]] == [
        (Path("/mine"), "folder"),
        (Path("/more"), "folder"),
    ]
    assert found[3].source == "hugging-face"
    assert (found[-1].folder, found[-1].source) == (files_of_ours.demo_pair()[0].parent, "built-in")


def test_a_broken_installation_has_all_other_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise UserError("resources-missing", "The files are missing.")

    monkeypatch.setattr(files_of_ours, "demo_pair", broken)
    found = places(Paths.below(tmp_path), {}, tmp_path, [])
    assert {place.source for place in found} == {"paceline", "hugging-face", "lm-studio", "ollama"}
