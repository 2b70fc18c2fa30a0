"""Own kernels are as close as llama.cpp's to what the weights of a file would give exactly.

Their sums have an order of their own, so the two differ in the last bits. Exact is the same model
with every weight as a float: what remains then is that activations are quantised, and rounding.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import make_pairs
import wide_models
from integration.engine import Engine
from paceline.engine.sameness.look import sample_tokens
from paceline.installation import kernel_files
from paceline.messages import KernelWish
from requantised import requantise

N_TOKENS = 300
MOST = 1.05
"""Times llama.cpp's error; both are sums over a thousand numbers for each token."""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Random layers with rows of 256 and 512, which every type can have."""
    if kernel_files.find() is None:
        pytest.skip("Paceline's own kernels are not built for this llama.cpp")
    path = tmp_path_factory.mktemp("small") / "q8_0.gguf"
    tokenizer = make_pairs.read(make_pairs.DEMO_DRAFT)
    model = wide_models.random_llama(tokenizer, 256, 512, layers=2, heads=8)
    with path.open("wb") as out:
        model.write(out)
    return path


def logits(path: Path, kernels: KernelWish, width: int) -> NDArray[np.float64]:
    """Return the row of every token of a text, decoded in batches of a width."""
    with Engine(path, n_ctx=512, kernels=kernels) as engine:
        if kernels == "own" and {use.by for use in engine.loaded.target.kernels} != {"own"}:
            pytest.skip("Paceline's own kernels do not take all types of this model here")
        context = engine.pair.target
        tokens = sample_tokens(context.model.vocab, N_TOKENS, 3)
        rows: list[NDArray[np.float32]] = []
        for i in range(0, N_TOKENS, width):
            piece = tokens[i : i + width]
            rows.extend(context.feed(piece, len(piece)).copy())
    return np.array(rows, np.float64)


@pytest.mark.grid(short=2)
@pytest.mark.parametrize("width", [1, 20])
@pytest.mark.parametrize(
    "kind", ["q8_0", "q4_0", "q4_k", "q4_k_m", "q6_k", "iq4_xs", "q3_k", "q4_1", "q5_k", "iq4_nl"]
)
def test_own_kernels_are_as_accurate(kind: str, width: int, small: Path, tmp_path: Path) -> None:
    path = small
    if kind != "q8_0":
        path = tmp_path / f"{kind}.gguf"
        requantise(small, kind, path)
    requantise(path, "f32", tmp_path / "exact.gguf")
    exact = logits(tmp_path / "exact.gguf", "stock", 1)
    own, stock = (logits(path, "own", width), logits(path, "stock", 1))
    errors = [float(np.sqrt(np.mean((rows - exact) ** 2))) for rows in (own, stock)]
    assert 0 < errors[0] <= MOST * errors[1]
    assert errors[1] < 0.05 * exact.std(), "the exact model is that one"
