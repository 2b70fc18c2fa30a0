"""The wide twin is the demo target, and random models have the types that their names say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gguf
import numpy as np
import pytest

import make_pairs
import wide_models
from gguf_file import read
from paceline.engine.llama import read_header
from requantised import MIXTURES, TYPES, requantise
from test_make_pairs import PROMPT, load

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["load"]  # a fixture

SMALL = {"d": 256, "ff": 512, "layers": 1, "heads": 4}


def write(model: Any, path: Path) -> Path:
    with path.open("wb") as out:
        model.write(out)
    return path


@pytest.fixture(scope="module", params=[0, wide_models.EXPERTS], ids=["plain", "experts"])
def small(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    tokenizer = read(make_pairs.DEMO_DRAFT)
    model = wide_models.random_llama(tokenizer, **SMALL, experts=request.param)
    return write(model, tmp_path_factory.mktemp("small") / "q8_0.gguf")


def share_of(path: Path, kind: str) -> float:
    """Share of a file's bytes that has this type."""
    tensors = read_header(path).tensors
    number = gguf.GGMLQuantizationType[kind].value
    n_bytes = sum(tensor.n_bytes for tensor in tensors if tensor.kind == number)
    return n_bytes / sum(tensor.n_bytes for tensor in tensors)


def test_the_wide_twin_is_the_demo_target(load: Any) -> None:
    path = make_pairs.path("wide-twin")
    assert path.stat().st_size < 250e6
    header = read_header(path)
    assert header.of_architecture("embedding_length") == 2048
    demo, twin = load(make_pairs.DEMO_TARGET), load("wide-twin")
    prompt = demo.tokenize(PROMPT)
    assert twin.tokenize(PROMPT) == prompt
    logits = demo.decode(prompt)
    # A rounding in a norm may take an activation to its next step, which moves logits by less
    # than a tenth of their deviation.
    assert np.abs(twin.decode(prompt) - logits).max() < 0.1 * logits.std()
    assert twin.greedy([500], 64) == demo.greedy([500], 64)


def test_a_power_of_four_is_exact(load: Any, tmp_path: Path) -> None:
    wide = wide_models.wide_twin(read(make_pairs.DEMO_TARGET), d=1536, ff=1024)
    demo, twin = load(make_pairs.DEMO_TARGET), load(write(wide, tmp_path / "wide.gguf"))
    prompt = demo.tokenize(PROMPT)
    np.testing.assert_array_equal(twin.decode(prompt), demo.decode(prompt))
    for token in (500, 600, 700):
        np.testing.assert_array_equal(twin.decode([token]), demo.decode([token]))


def test_the_demo_draft_drafts_for_the_wide_twin(load: Any) -> None:
    twin, draft = load("wide-twin"), load(make_pairs.DEMO_DRAFT)
    prompt = twin.tokenize(PROMPT)
    reply = twin.greedy(prompt, 60)
    guesses = draft.decode(prompt + reply)[len(prompt) - 1 : -1].argmax(axis=1)
    assert float(np.mean(guesses == np.array(reply))) > 0.2


@pytest.mark.grid(short=8)  # every type, with or without experts
@pytest.mark.parametrize("kind", TYPES)
def test_a_random_model_is_of_its_type(load: Any, small: Path, tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"{kind}.gguf"
    requantise(small, kind, path)
    assert share_of(path, TYPES[kind][1]) > 0.98
    model, original = load(path), load(small)
    tokens = model.tokenize(PROMPT)
    logits = model.decode(tokens)
    assert np.isfinite(logits).all()
    assert 0.1 < logits.std() < 100
    # Another type is another rounding of the same weights.
    agreement = np.corrcoef(logits[-1], original.decode(tokens)[-1])[0, 1]
    assert agreement > 0.5


@pytest.mark.parametrize("kind", MIXTURES)
def test_a_mixture_has_several_types(small: Path, tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"{kind}.gguf"
    requantise(small, kind, path)
    kinds = {tensor.kind for tensor in read_header(path).tensors}
    assert len(kinds - {gguf.GGMLQuantizationType.F32.value}) > 1


def test_what_is_no_model_is_not_requantised(tmp_path: Path) -> None:
    source = make_pairs.path("not-a-model")
    with pytest.raises(ValueError, match="not-a-model"):
        requantise(source, "q4_0", tmp_path / "out.gguf")


def test_a_model_is_made_from_its_original(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = read(make_pairs.DEMO_DRAFT)
    small = wide_models.random_llama(tokenizer, **SMALL)
    monkeypatch.setitem(make_pairs.MAKERS, "random-q8_0", lambda _: small)
    made = make_pairs.path("random-q4_k", tmp_path)
    assert share_of(made, "Q4_K") > 0.98
    assert {each.name for each in made.parent.iterdir()} == {"random-q8_0.gguf", made.name}


def test_there_is_every_type_in_every_size() -> None:
    names = [name for name in make_pairs.NAMES if name.startswith("random-")]
    assert len(names) == len(TYPES) * len(wide_models.SIZES) == len(set(names))
    assert not set(names) & set(make_pairs.USUAL)
    for name in ("random-q4_k", "random-q8_0-4096", "random-moe-q8_0"):
        assert name in names
    for model in wide_models.others().values():
        assert model.source in wide_models.originals()


@pytest.mark.long
@pytest.mark.parametrize("name", ["random-q8_0", "random-q4_k", "random-moe-q4_k"])
def test_a_large_random_model_decodes(load: Any, name: str) -> None:
    model = load(name)
    logits = model.decode(model.tokenize(PROMPT))
    assert np.isfinite(logits).all()
    assert 0.1 < logits.std() < 100
