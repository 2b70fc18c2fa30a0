"""Losses of texts by either kernels: what is summed up, what is read, the limit."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmarks import losses
from benchmarks.losses import Foretold, Loss, foretell, own_minus_stock
from benchmarks.wide_decodes import OWN, STOCK, Sides, WideDecodes
from paceline.engine.native import llama_backend
from paceline.params import ModelParams
from paceline.paths import demo_pair

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from paceline.engine.model.backend import Rows

TEXT = "A for loop goes through the items of a list. " * 12


@pytest.fixture
def demo() -> Iterator[WideDecodes]:
    params = ModelParams(str(demo_pair()[0]), n_ctx=512, n_threads=1)
    decodes = WideDecodes(llama_backend(), params, Sides(None))
    yield decodes
    decodes.close()


def run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, change: float, kind: str
) -> tuple[int, dict[str, float]]:
    """The benchmark on a short text, where own kernels make a text likelier or not."""
    decode = WideDecodes.decode

    def changed(self: WideDecodes, side: str, tokens: Sequence[int]) -> Rows:
        rows = [decode(self, STOCK, [token])[0].copy() for token in tokens]
        return np.array(rows) * np.float32(1 + change * (side == OWN))

    monkeypatch.setattr(WideDecodes, "decode", changed)
    monkeypatch.setattr(losses, "own_library", lambda _path, _cache: None)
    text, out = tmp_path / f"text.{kind}", tmp_path / "out.json"
    line = json.dumps({"messages": [{"role": "user", "content": TEXT}]})
    text.write_text(line if kind == "jsonl" else TEXT)
    status = losses.main(["--texts", str(text), "--tokens", "90", "--json", str(out)])
    (found,) = json.loads(out.read_text())
    return status, found


@pytest.mark.parametrize("kind", ["md", "jsonl"])
def test_equal_losses_are_within_the_limit(
    kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, found = run(monkeypatch, tmp_path, 0.0, kind)
    assert status == 0
    assert (found["n_tokens"], found["alike"]) == (89, 1.0)
    assert found["stock"] == found["own"] > 0
    assert "own kernels at work: none" in capsys.readouterr().out


@pytest.mark.parametrize("change", [0.5, 0.0001])
def test_a_loss_that_is_worse_is_reported(
    change: float, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    status, found = run(monkeypatch, tmp_path, change, "md")
    assert found["own"] > found["stock"]
    assert status == (found["own"] > found["stock"] + losses.MOST) == (change == 0.5)


def test_all_models_count_alike() -> None:
    def loss(*pieces: float) -> Loss:
        return Loss("a.gguf", 126, 3.0, 3.0, pieces, 1.0, ())

    found = own_minus_stock([loss(0.1, 0.1), loss(0.4)])
    assert [found.low, found.median, found.high] == pytest.approx([0.25] * 3)
    assert own_minus_stock([loss(0.0, 0.2)]).low == 0.0
    assert "+0.10000 [+0.00000, +0.20000]" in str(loss(0.0, 0.2))


@pytest.mark.parametrize("side", [STOCK, OWN])
def test_a_loss_is_that_of_the_row_before(
    side: str, demo: WideDecodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = demo.model.vocab.tokenize(TEXT, special=False)[:70]
    decode, widths = demo.decode, []

    def noted(side: str, tokens: Sequence[int]) -> Rows:
        widths.append(len(tokens))
        return decode(side, tokens)

    monkeypatch.setattr(demo, "decode", noted)
    foretold = Foretold()
    foretell(demo, side, tokens, foretold)
    assert len(foretold.losses) == len(foretold.likeliest) == 69
    assert widths == ([1] * 69 if side == STOCK else [63, 6])
    demo.model.clear()
    rows = [decode(side, [token])[0].astype(np.float64).copy() for token in tokens]
    for i in (0, 1, 62, 63, 68):
        wanted = math.log(np.exp(rows[i] - rows[i].max()).sum()) + rows[i].max()
        wanted -= rows[i][tokens[i + 1]]
        assert foretold.losses[i] == pytest.approx(wanted, abs=0.02)  # another width
