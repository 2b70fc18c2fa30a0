"""The contract of `engine/model/backend.py`: the scripted backend keeps it as llama.cpp's does.

Tests of the engine run on the scripted one, so what they show holds for real models as far as this
file says. The kinds of memory: one that can be cut anywhere, sliding windows, and recurrent ones
that go back by states, by copies, or not at all. All are computed by the processor.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import make_pairs
from engine.harness import random_language
from fake_model import FakeBackend, FakeModel
from paceline.engine.cancel import CancelFlag
from paceline.engine.llama import LlamaBackend
from paceline.engine.model.backend import Backend, LanguageModel, Place, Rows
from paceline.engine.sameness.look import self_test
from paceline.errors import CancelledError, ContextFullError, EngineError, ModelError
from paceline.messages import ModelParams

N_CTX, N_ROWS = 600, 9
TEXT = "def join(*paths):\n    return os.path.join(*paths)\n"


class Kind(NamedTuple):
    """A model of one kind of memory, loaded by one backend.

    Attributes:
        backend: Makes the backend; its flag is given to scripted models.
        path: The file, or the scripted model's name.
        states: The earlier states that it is asked to keep after the load.
    """

    backend: Callable[[CancelFlag], Backend]
    path: str | Callable[[], Path]
    states: int = 0


def scripted_backend(cancel: CancelFlag, **options: object) -> Backend:
    make = partial(FakeModel, random_language(1), n_ctx=N_CTX, max_rows=N_ROWS, cancel=cancel)
    return FakeBackend({"model": make(**options)})  # type: ignore[arg-type]


def llama_backend(cancel: CancelFlag) -> Backend:
    del cancel  # it is given to every load
    return LlamaBackend()


def scripted(**options: object) -> Callable[[CancelFlag], Backend]:
    return partial(scripted_backend, can_rollback=False, **options)


def tiny(name: str) -> Callable[[], Path]:
    return partial(make_pairs.path, name)


KINDS = {
    "scripted": Kind(scripted_backend, "model"),
    "scripted recurrent": Kind(scripted(), "model"),
    "scripted states": Kind(scripted(n_states=8, has_copies=True), "model", states=8),
    "scripted copies": Kind(scripted(has_copies=True), "model"),
    "demo target": Kind(llama_backend, lambda: make_pairs.DEMO_TARGET),
    "llama": Kind(llama_backend, tiny("tiny-target")),
    "windows": Kind(llama_backend, tiny("tiny-swa")),
    "mamba": Kind(llama_backend, tiny("tiny-mamba")),
    "hybrid states": Kind(llama_backend, tiny("tiny-qwen35"), states=8),
    "hybrid copies": Kind(llama_backend, tiny("tiny-lfm2")),
}

BACKENDS = ["scripted", "llama"]
"""One kind of each backend, for what does not depend on a model's memory."""


class Loaded(NamedTuple):
    """A backend with one model of it, and the flag that stops the model."""

    backend: Backend
    path: str
    model: LanguageModel
    flag: CancelFlag


def load(
    backend: Backend,
    path: str,
    cancel: CancelFlag,
    progress: Callable[[float], None] = lambda _fraction: None,
) -> LanguageModel:
    params = ModelParams(path, n_ctx=N_CTX, n_threads=1, device="CPU")
    return backend.load(params, n_rows=N_ROWS, cancel=cancel, progress=progress)


@contextlib.contextmanager
def opened(name: str) -> Iterator[Loaded]:
    """Load a model of a kind, and let it find out how it goes back, as the opening of a pair does.

    It is closed twice, which does no harm.
    """
    kind, flag = KINDS[name], CancelFlag()
    path = str(kind.path() if callable(kind.path) else kind.path)
    backend = kind.backend(flag)
    model = load(backend, path, flag)
    try:
        model.can_rollback = self_test(model).can_rollback
        model.keep_states(kind.states)
        yield Loaded(backend, path, model, flag)
    finally:
        model.close()
        model.close()


@pytest.fixture(scope="module", params=KINDS)
def loaded(request: pytest.FixtureRequest) -> Iterator[Loaded]:
    with opened(request.param) as loaded:
        yield loaded


@pytest.fixture
def model(loaded: Loaded) -> LanguageModel:
    """The model with an empty context."""
    loaded.flag.clear()
    loaded.model.clear(wipe=True)
    return loaded.model


def tokens_of(model: LanguageModel, n: int, begin: int = 0) -> list[int]:
    """Return ordinary tokens of a text, from the place `begin` on."""
    found = model.vocab.tokenize(TEXT, special=False)
    return (found * (2 + (begin + n) // len(found)))[begin : begin + n]


def fresh(model: LanguageModel, tokens: Sequence[int], n_rows: int = 1) -> Rows:
    """Return the rows of an empty context that reads these tokens in one decode."""
    model.clear()
    return model.decode(tokens, n_rows).copy()


def assert_equal(found: Rows, expected: Rows) -> None:
    """Compare logits that were computed in batches of other widths: rounding may differ."""
    np.testing.assert_allclose(found, expected, atol=0.05 * float(np.ptp(expected)))
    assert (found.argmax(axis=1) == expected.argmax(axis=1)).all()


def assert_holds(model: LanguageModel, held: Sequence[int], last: Sequence[int]) -> None:
    """See that a context holds this text, by the row that `last` gives after it."""
    assert model.n_past == len(held)
    found = model.decode(last, 1).copy()
    assert_equal(found, fresh(model, [*held, *last]))


# ------------------------------------------------------------------------------------- decodes


@pytest.mark.parametrize("n_rows", [0, 1, 4, N_ROWS])
def test_a_decode_gives_the_rows_of_its_last_tokens(model: LanguageModel, n_rows: int) -> None:
    tokens = tokens_of(model, 12)
    one_by_one = np.array([model.decode([token], 1)[0].copy() for token in tokens])
    rows = fresh(model, tokens, n_rows)
    assert (rows.shape, rows.dtype) == ((n_rows, model.vocab.n_tokens), np.float32)
    if n_rows:
        assert_equal(rows, one_by_one[-n_rows:])
    assert model.n_past == 12


def test_a_row_depends_on_the_tokens_before_it_alone(model: LanguageModel) -> None:
    tokens = tokens_of(model, 20)
    expected = fresh(model, tokens)
    assert np.array_equal(fresh(model, tokens), expected)
    fresh(model, tokens_of(model, 40, begin=3))
    assert np.array_equal(fresh(model, tokens), expected)
    other = next(token for token in tokens if token != tokens[-2])
    assert not np.array_equal(fresh(model, [*tokens[:-2], other, tokens[-1]]), expected)


def test_rows_may_be_written_to(model: LanguageModel) -> None:
    tokens = tokens_of(model, 3)
    expected = fresh(model, [*tokens, tokens[0]])
    model.clear()
    model.decode(tokens, 1)[:] = -1.0
    assert_equal(model.decode(tokens[:1], 1), expected)


def test_a_decode_that_is_too_large_appends_nothing(model: LanguageModel) -> None:
    expected = fresh(model, tokens_of(model, 4))
    model.clear()
    model.decode(tokens_of(model, 3), 0)
    for n, n_rows in ((model.n_batch + 1, 0), (N_ROWS + 2, N_ROWS + 1), (0, 0)):
        with pytest.raises(EngineError) as caught:
            model.decode(tokens_of(model, n), n_rows)
        assert caught.value.code == "batch-too-large"
    assert model.n_past == 3
    assert_equal(model.decode(tokens_of(model, 1, begin=3), 1), expected)


def test_a_context_takes_as_many_tokens_as_it_says(model: LanguageModel) -> None:
    n = model.n_ctx - model.n_batch
    model.decode(tokens_of(model, model.n_batch), 0)
    with pytest.raises(ContextFullError):
        model.decode(tokens_of(model, n + 1), 1)
    assert model.n_past == model.n_batch
    model.decode(tokens_of(model, n), 1)
    assert model.n_past == model.n_ctx == N_CTX
    with pytest.raises(ContextFullError):
        model.decode(tokens_of(model, 1), 1)


def test_a_flag_that_was_set_stops_the_next_decode(loaded: Loaded, model: LanguageModel) -> None:
    expected = fresh(model, tokens_of(model, 6))
    model.clear()
    model.decode(tokens_of(model, 2), 0)
    loaded.flag.set()
    with pytest.raises(CancelledError):
        model.decode(tokens_of(model, 4, begin=2), 1)
    assert model.n_past in range(2, 7)
    loaded.flag.clear()
    assert np.array_equal(fresh(model, tokens_of(model, 6)), expected)


def test_a_decode_is_reported_while_it_runs_and_after_it(model: LanguageModel) -> None:
    assert model.decoding is None
    before = model.native_s
    model.decode(tokens_of(model, 7), 1)
    assert model.decoding is None
    n, seconds = model.last_decode
    assert n == 7
    assert seconds >= 0
    assert model.native_s >= before
    assert model.n_firsts == 0, "the processor compiles nothing"


# --------------------------------------------------------------------------------- going back


@pytest.mark.parametrize("keeps_first", [True, False])
@pytest.mark.parametrize("n_taken", [1, 3, 8])
def test_a_draft_that_is_taken_back_leaves_no_trace(
    model: LanguageModel, n_taken: int, keeps_first: bool
) -> None:
    """Nor does a refusal to take it back: the context holds then what it held."""
    prompt, last = tokens_of(model, 12), tokens_of(model, 1, begin=40)
    draft = tokens_of(model, n_taken, begin=20)
    model.decode(prompt[:-1], 0)
    model.decode([*prompt[-1:], *draft], 1)
    kept = prompt if keeps_first else prompt[:-1]
    done = model.rollback(len(kept))
    if n_taken <= model.max_rollback and keeps_first and not model.needs_copies:
        assert done
    assert_holds(model, kept if done else prompt + draft, last)


@pytest.mark.parametrize("n_kept", [29, 17, 16, 1, 0])
def test_a_memory_that_can_be_cut_can_be_cut_anywhere(model: LanguageModel, n_kept: int) -> None:
    tokens = tokens_of(model, 30)
    model.decode(tokens, 0)
    if not model.can_rollback:
        assert model.max_rollback < N_CTX
        return
    assert model.max_rollback == model.n_ctx
    assert model.rollback(n_kept)
    assert_holds(model, tokens[:n_kept], tokens[n_kept:])


@pytest.mark.parametrize("place", ["prompt", "draft"])
def test_a_saved_state_comes_back(model: LanguageModel, place: Place) -> None:
    tokens = tokens_of(model, 20)
    model.decode(tokens[:12], 0)
    model.save(place)
    model.decode(tokens_of(model, 6, begin=25), 1)
    held = model.restore(15)
    if held < 0:
        assert not model.needs_copies, "where a draft needs a copy, there is one"
        model.clear()
        held = 0
    assert held in (0, 12)
    assert_holds(model, tokens[:held], tokens[held:])


def test_no_state_is_taken_for_another_after_one_came_back(model: LanguageModel) -> None:
    tokens, last = tokens_of(model, 12), tokens_of(model, 1, begin=40)
    model.decode(tokens, 0)
    model.save("draft")
    model.decode(tokens_of(model, 6, begin=25), 1)
    if model.restore(12) == 12:
        assert_holds(model, tokens[:9] if model.rollback(9) else tokens, last)


def test_a_state_of_what_is_gone_is_never_restored(model: LanguageModel) -> None:
    model.decode(tokens_of(model, 12), 0)
    model.save("prompt")
    assert model.restore(11) == -1, "it comes after the wanted place"
    model.clear()
    assert model.restore(N_CTX) == -1
    model.decode(tokens_of(model, 8), 0)
    model.save("draft")
    if model.rollback(7):
        model.decode(tokens_of(model, 1, begin=30), 0)
        assert model.restore(8) == -1, "another token has taken its place"


def test_cells_that_are_copied_out_can_be_put_back(model: LanguageModel) -> None:
    """Copy block by block if the model has blocks, or else everything at once."""
    n = 2 * model.n_block - 1 if model.n_block else 20
    tokens = tokens_of(model, n + 1)
    model.decode(tokens[:n], 0)
    parts = []
    for first in range(0, n, model.n_block or n):
        size = min(model.n_block or n, n - first)
        parts.append((size, model.copy_cells(first, size)))
    model.clear()
    for size, data in parts:
        assert data is not None
        held = model.n_past
        assert model.put_cells(size, bytes(data))
        assert model.n_past == held + size
    assert_holds(model, tokens[:n], tokens[n:])


# ------------------------------------------------------------------- threads, another context


@pytest.mark.parametrize("name", KINDS)
def test_a_context_that_is_made_again_is_empty_and_no_larger(name: str) -> None:
    with opened(name) as loaded:
        model = loaded.model
        expected = fresh(model, tokens_of(model, 8))
        model.set_threads(2, 1)
        assert (model.info.n_threads, model.info.n_threads_batch) == (2, 1)
        assert "t2-1" in model.facts_key
        model.save("prompt")
        model.remake(256, 32)
        assert (model.n_past, model.n_ctx, model.n_batch) == (0, 256, 32)
        assert model.restore(256) == -1
        with pytest.raises(EngineError):
            model.decode(tokens_of(model, 33), 0)
        assert_equal(model.decode(tokens_of(model, 8), 1), expected)
        if model.needs_copies:
            model.save("draft")
            model.give_up_copies()
            assert model.restore(256) == -1
            assert (model.needs_copies, model.max_rollback) == (False, 0)


def test_a_model_says_what_it_is(model: LanguageModel) -> None:
    assert model.n_ctx == model.info.n_ctx == N_CTX
    assert model.info.n_vocab == model.vocab.n_tokens
    assert model.max_rows == N_ROWS
    assert model.facts_key
    assert model.drafter == "draft"
    if model.needs_copies:
        assert model.max_rollback == model.n_batch
    assert all(min(each.weights, each.kv, each.compute) >= 0 for each in model.memory)
    assert isinstance(model.kernel_uses(), tuple)


# -------------------------------------------------------------------------- tokens, the backend


def test_tokens_are_text_and_text_is_tokens(model: LanguageModel) -> None:
    vocab = model.vocab
    tokens = vocab.tokenize(TEXT + "é€\U0001f642", special=False)
    assert b"".join(map(vocab.piece, tokens)).decode() == TEXT + "é€\U0001f642"
    assert all(0 <= token < vocab.n_tokens for token in tokens)
    end = vocab.text(vocab.eos).decode()
    assert vocab.eos in vocab.eog
    assert vocab.tokenize(end, special=True) == [vocab.eos]
    typed = vocab.tokenize(end, special=False)
    assert not vocab.eog & set(typed)
    assert b"".join(map(vocab.piece, typed)).decode() == end
    assert vocab.piece(vocab.eos) == b""


@pytest.mark.parametrize("loaded", BACKENDS, indirect=True)
def test_a_vocabulary_is_the_same_without_its_model(loaded: Loaded) -> None:
    alone = loaded.backend.load_vocabulary(loaded.path)
    vocab = loaded.model.vocab
    assert alone.n_tokens == vocab.n_tokens
    assert (alone.eos, alone.eog, alone.bos) == (vocab.eos, vocab.eog, vocab.bos)
    assert alone.tokenize(TEXT, special=False) == vocab.tokenize(TEXT, special=False)
    deque(iter(alone.prepare_grammars, False))
    alone.close()


@pytest.mark.parametrize("loaded", BACKENDS, indirect=True)
def test_a_file_that_is_not_there_is_refused(loaded: Loaded, tmp_path: Path) -> None:
    backend, path = loaded.backend, str(tmp_path / "none.gguf")
    for refused in (
        partial(load, backend, path, CancelFlag()),
        partial(backend.load_vocabulary, path),
    ):
        with pytest.raises(ModelError) as caught:
            refused()
        assert caught.value.code == "file-not-found"


@pytest.mark.parametrize("loaded", BACKENDS, indirect=True)
def test_a_load_is_shown_and_can_be_cancelled(loaded: Loaded) -> None:
    flag = CancelFlag()
    told: list[float] = []
    load_it = partial(load, loaded.backend, loaded.path, flag)
    load_it(told.append).close()
    assert told == sorted(told)
    assert told[-1] == 1
    flag.set()
    with pytest.raises(CancelledError):
        load_it()


@pytest.mark.parametrize("loaded", BACKENDS, indirect=True)
def test_a_target_without_a_head_has_none(loaded: Loaded, model: LanguageModel) -> None:
    params = ModelParams(loaded.path, n_ctx=N_CTX, n_threads=1, device="CPU")
    options = {"cancel": loaded.flag, "progress": lambda _fraction: None}
    assert loaded.backend.load_head(model, "mtp", params, **options) is None


@pytest.mark.parametrize("loaded", BACKENDS, indirect=True)
def test_a_backend_describes_the_processor(loaded: Loaded) -> None:
    described = loaded.backend.describe()
    assert [device.kind for device in described.devices].count("cpu") == 1
    assert all(rate > 0 for rate in loaded.backend.reading_rates(1, CancelFlag()))
    loaded.backend.connect(())
    assert loaded.backend.own_kernels == ""
