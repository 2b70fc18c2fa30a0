"""Models newer than this llama.cpp, distinguished from broken ones before and at a load."""

from __future__ import annotations

import random
import string
import struct
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import make_pairs
from catalog.headers import gguf_bytes, sidecar_model, small_vocabulary
from paceline.catalog.inspect.inspector import Inspector
from paceline.catalog.local.library import Library
from paceline.catalog.local.model_files import Place
from paceline.engine.cancel import CancelFlag
from paceline.engine.llama import LlamaBackend, what_is_unknown
from paceline.errors import ModelError
from paceline.params import ModelParams

if TYPE_CHECKING:
    from collections.abc import Callable

    from trials import Trials

NEWER = (
    ("general.architecture", "llama9", "unknown model architecture: 'llama9'"),
    ("tokenizer.ggml.pre", "qwen9-moe.1", "unknown pre-tokenizer type: 'qwen9-moe.1'"),
    ("tokenizer.ggml.model", "unigram2", "unknown tokenizer: 'unigram2'"),
)


def written(file: Path, key: str, value: str) -> Path:
    model = small_vocabulary()
    model.set(**{key.replace(".", "__"): value})
    file.write_bytes(gguf_bytes(model))
    return file


def load(path: Path) -> None:
    backend = LlamaBackend()
    backend.load(
        ModelParams(str(path)), n_rows=1, cancel=CancelFlag(), progress=lambda _: None
    ).close()


@pytest.mark.parametrize(("key", "value", "words"), NEWER)
def test_a_newer_model_is_said_to_be_newer_wherever_it_is_looked_at(
    inspector: Inspector, tmp_path: Path, key: str, value: str, words: str
) -> None:
    file = written(tmp_path / "x.gguf", key, value)
    looks: tuple[Callable[[Path], object], ...] = (inspector.card, inspector.examine, load)
    for look in looks:
        with pytest.raises(ModelError) as refusal:
            look(file)
        error = refusal.value
        assert (error.code, error.message) == (
            "newer-model",
            f"“x.gguf” is newer than this llama.cpp: {words}.",
        )
        assert "ownload it again" not in error.hint
        assert "not damaged" in error.hint


def test_the_list_says_so_and_asks_again_after_an_update(
    inspector: Inspector, tmp_path: Path
) -> None:
    key, value, words = NEWER[0]
    written(tmp_path / "x.gguf", key, value)
    place = Place(tmp_path, "folder")
    library = Library(inspector, places=lambda: [place], cache_file=tmp_path / "library.json")
    (entry,) = library.refresh()
    assert entry.problem == f"“x.gguf” is newer than this llama.cpp: {words}."
    assert library.known() == (), "another llama.cpp may know it"


def test_a_gguf_file_of_the_next_version_is_newer(inspector: Inspector, tmp_path: Path) -> None:
    raw = bytearray(gguf_bytes(small_vocabulary()))
    raw[4] = 4
    (tmp_path / "x.gguf").write_bytes(raw)
    with pytest.raises(ModelError, match=r"is newer than this .* version 4 but") as refusal:
        inspector.card(tmp_path / "x.gguf")
    assert refusal.value.code == "newer-model"


@pytest.mark.parametrize(("kind", "code"), [(50, "newer-model"), (200, "not-a-gguf")])
def test_an_unknown_type_of_weights_is_new_or_damage(
    inspector: Inspector, tmp_path: Path, kind: int, code: str
) -> None:
    raw = gguf_bytes(small_vocabulary())
    name = b"blk.0.attn_q.weight"
    at = raw.index(name) + len(name) + struct.calcsize("<I2Q")
    (tmp_path / "x.gguf").write_bytes(raw[:at] + struct.pack("<I", kind) + raw[at + 4 :])
    with pytest.raises(ModelError, match="damaged") as refusal:
        inspector.card(tmp_path / "x.gguf")
    assert refusal.value.code == code
    assert "ownload" in refusal.value.hint


@pytest.mark.parametrize("name", ["\x1b[31m", "", "x" * 500, "lläma", "a b"])
def test_a_name_that_none_can_have_is_damage(
    inspector: Inspector, tmp_path: Path, name: str
) -> None:
    file = written(tmp_path / "x.gguf", "general.architecture", name)
    with pytest.raises(ModelError) as refusal:
        inspector.examine(file)
    assert refusal.value.code != "newer-model"


@pytest.mark.parametrize("kind", ["eagle", "dflash", "assistant"])
def test_a_drafter_stays_a_drafter(inspector: Inspector, tmp_path: Path, kind: str) -> None:
    file = tmp_path / "x.gguf"
    file.write_bytes(gguf_bytes(sidecar_model(kind)))
    assert inspector.card(file).sidecar == kind


def test_random_names_are_unknown_and_known_ones_are_known(trials: Trials) -> None:
    known = ("llama", "qwen3", "gemma3", "gpt-oss", "mamba", "clip", "bert", "t5")
    tokenizers = (("gpt2", "qwen2"), ("llama", ""), ("bert", ""), ("t5", ""), ("rwkv", ""))
    assert not any(map(what_is_unknown, known))
    assert not any(what_is_unknown("llama", *names) for names in tokenizers)
    for number in trials(200, 5_000):
        rng = random.Random(number)
        letters = string.ascii_lowercase + string.digits + "-_."
        name = "z" + "".join(rng.choices(letters, k=rng.randrange(3, 40)))
        assert what_is_unknown(name) == f"unknown model architecture: '{name}'"
        assert what_is_unknown("llama", name) == f"unknown tokenizer: '{name}'"
        assert what_is_unknown("llama", "gpt2", name) == f"unknown pre-tokenizer type: '{name}'"


def test_what_the_hub_says_of_a_repository_can_be_asked(inspector: Inspector) -> None:
    assert inspector.what_is_unknown("llama") == ""
    assert inspector.what_is_unknown("llama9") == "unknown model architecture: 'llama9'"


def test_a_cut_file_is_still_to_be_downloaded_again(tmp_path: Path) -> None:
    raw = Path(make_pairs.DEMO_DRAFT).read_bytes()
    rng = random.Random(7)
    for keep in (5_000, rng.randrange(1_000, len(raw) // 2), len(raw) - 1_000):
        (tmp_path / "cut.gguf").write_bytes(raw[:keep])
        with pytest.raises(ModelError) as refusal:
            load(tmp_path / "cut.gguf")
        assert "download it again" in refusal.value.hint
