"""The models of `make_pairs` are what they claim to be."""

from __future__ import annotations

import ctypes
import os
import time
from typing import TYPE_CHECKING, Any

import llama_cpp
import numpy as np
import pytest

import make_pairs
from gguf_file import Gguf, Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

PROMPT = "<|im_start|>user\nWhat does the sorted function do?<|im_end|>\n<|im_start|>assistant\n"
TINY = [
    name
    for name in make_pairs.NAMES
    if name.startswith(("tiny-", "draft-")) and not name.endswith("-assistant")
]
"""But for one that decodes nothing without its target."""


class Loaded:
    """A model and a context over the low-level API, on one thread of the processor."""

    def __init__(self, path: Path) -> None:
        model_params = llama_cpp.llama_model_default_params()
        model_params.n_gpu_layers = 0
        self.model = llama_cpp.llama_model_load_from_file(str(path).encode(), model_params)
        if not self.model:
            raise ValueError(path.name)
        params = llama_cpp.llama_context_default_params()
        params.n_ctx = params.n_batch = params.n_ubatch = 256
        params.n_threads = params.n_threads_batch = 1
        self.context = llama_cpp.llama_init_from_model(self.model, params)
        self.memory = llama_cpp.llama_get_memory(self.context)
        self.vocab = llama_cpp.llama_model_get_vocab(self.model)
        self.n_vocab: int = llama_cpp.llama_vocab_n_tokens(self.vocab)
        self.n_past = 0

    def close(self) -> None:
        llama_cpp.llama_free(self.context)
        llama_cpp.llama_model_free(self.model)

    def tokenize(self, text: str) -> list[int]:
        raw, room = text.encode(), (llama_cpp.llama_token * 256)()
        n = llama_cpp.llama_tokenize(self.vocab, raw, len(raw), room, 256, True, True)
        return list(room[:n])

    def decode(self, tokens: list[int]) -> NDArray[np.float32]:
        """Return the logits after each of the tokens, which continue the last ones."""
        batch = llama_cpp.llama_batch_init(len(tokens), 0, 1)
        batch.n_tokens = len(tokens)
        for i, token in enumerate(tokens):
            batch.token[i], batch.pos[i] = token, self.n_past + i
            batch.n_seq_id[i], batch.seq_id[i][0], batch.logits[i] = 1, 0, 1
        assert llama_cpp.llama_decode(self.context, batch) == 0
        llama_cpp.llama_batch_free(batch)
        self.n_past += len(tokens)
        rows = llama_cpp.llama_get_logits(self.context)
        return np.ctypeslib.as_array(rows, (len(tokens), self.n_vocab)).copy()

    def greedy(self, prompt: list[int], n: int) -> list[int]:
        """The next `n` tokens."""
        tokens = [int(self.decode(prompt)[-1].argmax())]
        while len(tokens) < n:
            tokens.append(int(self.decode(tokens[-1:])[-1].argmax()))
        return tokens

    def metadata(self, key: str) -> str | None:

        room = ctypes.create_string_buffer(4096)
        n = llama_cpp.llama_model_meta_val_str(self.model, key.encode(), room, 4096)
        return room.value.decode() if n >= 0 else None


@pytest.fixture
def load() -> Iterator[Any]:
    """Loads by name or path, and frees everything in the end."""
    loaded: list[Loaded] = []

    def load_one(model: str | Path) -> Loaded:
        path = make_pairs.path(model) if isinstance(model, str) else model
        loaded.append(Loaded(path))
        return loaded[-1]

    yield load_one
    for each in loaded:
        each.close()


@pytest.mark.parametrize("name", ["twin-70m", pytest.param("twin-350m", marks=pytest.mark.long)])
def test_a_twin_computes_the_demo_targets_logits(load: Any, name: str) -> None:
    demo, twin = load(make_pairs.DEMO_TARGET), load(name)
    prompt = demo.tokenize(PROMPT)
    assert len(prompt) > 8
    wide = demo.decode(prompt)
    assert np.isfinite(wide).all()
    np.testing.assert_array_equal(twin.decode(prompt), wide)
    for token in (500, 600, 700):
        np.testing.assert_array_equal(twin.decode([token]), demo.decode([token]))


@pytest.mark.parametrize(("name", "millions"), [("twin-70m", 70), ("twin-350m", 350)])
def test_a_twin_has_its_size(name: str, millions: int) -> None:
    model = make_pairs.MAKERS[name](name)
    assert isinstance(model, Gguf)
    n_params = sum(int(np.prod(tensor.shape)) for tensor in model.tensors.values())
    assert n_params / 1e6 == pytest.approx(millions, rel=0.02)


def test_a_twins_step_costs_a_multiple(load: Any) -> None:
    demo, twin = load(make_pairs.DEMO_TARGET), load("twin-70m")
    seconds: dict[Loaded, list[float]] = {demo: [], twin: []}
    for token in range(300, 340):
        for model, times in seconds.items():
            start = time.perf_counter()
            model.decode([token])
            times.append(time.perf_counter() - start)
    # 4.1 times the weights; on a machine that others use as well the ratio may be far off.
    assert 1.5 < min(seconds[twin]) / min(seconds[demo]) < 40


@pytest.mark.parametrize("name", TINY)
def test_a_tiny_model_loads_and_decodes(load: Any, name: str) -> None:
    start = time.perf_counter()
    model = load(name)
    logits = model.decode(model.tokenize(PROMPT))
    assert time.perf_counter() - start < 20
    assert np.isfinite(logits).all() != (name == "tiny-nan")
    assert np.isnan(logits).all() == (name == "tiny-nan")
    if name != "tiny-nan":
        assert 0.1 < logits.std() < 100
        assert len(set(model.greedy([400], 20))) > 5


def test_heads_may_share_keys(load: Any, tmp_path: Path) -> None:
    model = make_pairs.tiny("shared-keys")
    model.set(llama__attention__head_count_kv=1)
    for layer in range(2):
        parts = make_pairs.llama_layer(np.random.default_rng(layer), 64, 128, mute=False, kv=32)
        for part, tensor in parts.items():
            model.tensors[f"blk.{layer}.{part}.weight"] = tensor
    with (tmp_path / "shared.gguf").open("wb") as out:
        model.write(out)
    shared = load(tmp_path / "shared.gguf")
    assert np.isfinite(shared.decode(shared.tokenize(PROMPT))).all()


def test_tiny_vocabularies(load: Any) -> None:
    plain, other, big = (
        load("tiny-target"),
        load("tiny-other-vocab"),
        load("tiny-big-vocab-mismatch"),
    )

    def texts(model: Loaded) -> list[bytes]:
        return [llama_cpp.llama_vocab_get_text(model.vocab, i) for i in range(model.n_vocab)]

    demo = texts(load(make_pairs.DEMO_TARGET))
    assert texts(plain) == demo
    different = [i for i, (a, b) in enumerate(zip(texts(other), demo, strict=True)) if a != b]
    assert different == [make_pairs.OTHER_TOKEN[0]]
    assert texts(other)[different[0]].decode() == make_pairs.OTHER_TOKEN[1]
    assert big.n_vocab == 8192 + make_pairs.EXTRA_TOKENS
    assert texts(big)[:8192] == demo
    assert big.tokenize(PROMPT) == plain.tokenize(PROMPT)


def test_tiny_oddities(load: Any) -> None:
    plain, bos, untold = load("tiny-target"), load("tiny-bos"), load("tiny-no-template")
    assert bos.tokenize(PROMPT) == [0, *plain.tokenize(PROMPT)]
    assert plain.metadata("tokenizer.chat_template")
    assert untold.metadata("tokenizer.chat_template") is None
    assert llama_cpp.llama_model_n_swa(load("tiny-swa").model) == make_pairs.SLIDING_WINDOW


@pytest.mark.parametrize(("name", "can"), [("tiny-target", True), ("tiny-mamba", False)])
def test_only_the_recurrent_model_cannot_roll_back(load: Any, name: str, can: bool) -> None:
    model = load(name)
    model.decode([400, 401, 402])
    assert bool(llama_cpp.llama_memory_seq_rm(model.memory, 0, 2, -1)) == can
    assert bool(llama_cpp.llama_model_is_recurrent(model.model)) != can


def test_the_corrupt_draft_is_nearly_always_wrong(load: Any) -> None:
    target = load(make_pairs.DEMO_TARGET)
    prompt = target.tokenize(PROMPT)
    reply = target.greedy(prompt, 100)

    def agreement(draft: Loaded) -> float:
        guesses = draft.decode(prompt + reply)[len(prompt) - 1 : -1].argmax(axis=1)
        return float(np.mean(guesses == np.array(reply)))

    assert agreement(load("draft-corrupt")) < 0.05
    assert agreement(load(make_pairs.DEMO_DRAFT)) > 0.2


@pytest.mark.parametrize("name", ["truncated", "not-a-model"])
def test_a_broken_file_does_not_load(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        Loaded(make_pairs.path(name))


def test_the_cache_is_written_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(make_pairs.CACHE_VARIABLE, str(tmp_path))
    made = make_pairs.path("tiny-draft")
    assert made.parent == tmp_path / make_pairs.version()
    monkeypatch.setitem(make_pairs.MAKERS, "tiny-draft", pytest.fail)
    assert make_pairs.path("tiny-draft") == made
    assert [each.name for each in made.parent.iterdir()] == [made.name]
    with pytest.raises(KeyError):
        make_pairs.path("no-such-model")


def test_only_old_versions_are_forgotten(tmp_path: Path) -> None:
    month_ago = time.time() - 31 * 24 * 3600
    for name, touched in (("a" * 12, month_ago), ("b" * 12, time.time()), ("mine", month_ago)):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (touched, touched))
    make_pairs.path("not-a-model", tmp_path)
    left = {each.name for each in tmp_path.iterdir()}
    assert left == {"b" * 12, "mine", make_pairs.version()}


def test_what_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Gguf(tensors={"wrong": Tensor((32, 1), 8, b"too short")})
    monkeypatch.setitem(make_pairs.MAKERS, "tiny-draft", lambda _: model)
    with pytest.raises(AssertionError):
        make_pairs.path("tiny-draft", tmp_path)
    assert list((tmp_path / make_pairs.version()).iterdir()) == []


def test_the_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_pairs.main(["--list"])
    assert capsys.readouterr().out.split() == list(make_pairs.NAMES)
    make_pairs.main(["not-a-model", "tiny-bos", "--cache", str(tmp_path)])
    folder = tmp_path / make_pairs.version()
    written = [str(folder / "not-a-model.gguf"), str(folder / "tiny-bos.gguf")]
    assert capsys.readouterr().out.split() == written
    with pytest.raises(SystemExit) as exit_:
        make_pairs.main(["no-such-model"])
    assert exit_.value.code == 2
