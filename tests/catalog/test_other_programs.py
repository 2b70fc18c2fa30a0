"""Models of other programs: where they lie, and how Ollama names them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from paceline.catalog.ollama import find_ollama_models
from paceline.catalog.places import places_of_others

DIGEST = "ab" * 32
MODEL = "application/vnd.ollama.image.model"


def manifest(folder: Path, name: str, data: object) -> None:
    path = folder / "manifests" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")


def layers(digest: object = f"sha256:{DIGEST}") -> dict[str, object]:
    licence = {"mediaType": "application/vnd.ollama.image.license", "digest": "sha256:" + "0" * 64}
    return {"layers": [licence, {"mediaType": MODEL, "digest": digest, "size": 3}]}


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
