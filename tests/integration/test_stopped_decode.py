"""A decode that was stopped in mid-flight, and the numbers of those behind it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import llama_cpp
import numpy as np
import pytest

from paceline.engine.backend import LanguageModel
from paceline.engine.cancel import CancelFlag
from paceline.engine.llama import LlamaBackend
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
def test_rows_behind_a_stopped_decode_are_right(
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
