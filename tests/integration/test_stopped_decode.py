"""A decode that was stopped in mid-flight, and the numbers of those after it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import llama_cpp
import numpy as np
import pytest

from integration.engine import last_position, native_context
from paceline.engine.cancel import CancelFlag
from paceline.engine.llama import LlamaBackend, LlamaModel
from paceline.engine.llama.native_params import native_context_params
from paceline.engine.model.backend import LanguageModel
from paceline.errors import CancelledError
from paceline.messages import ModelParams

PROMPT = list(range(40, 90))


@pytest.fixture
def flag() -> CancelFlag:
    return CancelFlag()


@pytest.fixture
def model(target_path: Path, flag: CancelFlag) -> Iterator[LanguageModel]:
    params = ModelParams(str(target_path), n_threads=1)
    model = LlamaBackend().load(params, n_rows=63, cancel=flag, progress=lambda fraction: None)
    yield model
    model.close()


@pytest.mark.parametrize("n_rows", [1, 2, 8, 20, 50])
def test_rows_after_a_stopped_decode_are_right(
    model: LanguageModel, flag: CancelFlag, monkeypatch: pytest.MonkeyPatch, n_rows: int
) -> None:
    """llama.cpp may have moved its output buffer before it looked at the flag."""
    expected = model.decode(PROMPT, 1).copy()
    model.clear()
    model.decode(PROMPT[::-1], 1)  # other numbers, where the first ones were
    model.clear()

    decode = llama_cpp.llama_decode

    def stop_at_once(context: Any, batch: Any) -> int:
        flag.set()
        code: int = decode(context, batch)
        assert code == 2
        return code

    monkeypatch.setattr(llama_cpp, "llama_decode", stop_at_once)
    with pytest.raises(CancelledError):
        model.decode(PROMPT, n_rows)
    monkeypatch.undo()
    flag.clear()
    assert model.n_past == 0

    rows = model.decode(PROMPT, 1)
    assert np.array_equal(rows, expected)
    model.clear()
    assert np.array_equal(model.decode(PROMPT, n_rows)[-1:], expected)


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_a_decode_stopped_between_its_pieces_continues_after_what_was_computed(
    target_path: Path, flag: CancelFlag, monkeypatch: pytest.MonkeyPatch, share: float
) -> None:
    """Stop a batch between its pieces; the finished ones stay in the context."""

    def in_pieces(*args: Any, **options: Any) -> Any:
        params = native_context_params(*args, **options)
        params.n_ubatch = 8
        return params

    monkeypatch.setattr("paceline.engine.llama.model.native_context_params", in_pieces)
    params = ModelParams(str(target_path), n_threads=1, n_ctx=256)
    model = LlamaBackend().load(params, n_rows=1, cancel=flag, progress=lambda fraction: None)
    assert isinstance(model, LlamaModel)
    n_polls, n_left = 0, 10**9

    def poll(_data: object) -> bool:
        nonlocal n_polls, n_left
        n_polls, n_left = n_polls + 1, n_left - 1
        if n_left <= 0:
            flag.set()
        return flag.is_set()

    callback = llama_cpp.ggml_abort_callback(poll)
    llama_cpp.llama_set_abort_callback(native_context(model), callback, None)
    try:
        expected = model.decode(PROMPT, 1).copy()
        model.clear()
        n_left = int(share * n_polls)
        with pytest.raises(CancelledError):
            model.decode(PROMPT, 1)
        flag.clear()
        n_left = 10**9
        n_done = model.n_past
        assert 0 < n_done < len(PROMPT)
        assert n_done % 8 == 0
        assert n_done == last_position(model) + 1
        assert np.array_equal(model.decode(PROMPT[n_done:], 1), expected)
    finally:
        model.close()
