"""Replies that were written down: a shift of the noise, or of what keys it, changes them all.

No other test sees that where every path is shifted alike. The ids are pinned to the target's file
and to a digest of the first row of logits: a build that computes other numbers has other replies,
and is passed over. After a change that is meant to change replies, print new ones by ``python
tests/integration/test_golden_replies.py``.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from paceline.engine import Pair, generate, load_pair
from paceline.engine.sample.sampling import Sampler
from paceline.kernel_files import find
from paceline.messages import ModelParams, SamplingParams
from paceline.paths import demo_pair

GOLDEN = Path(__file__).with_name("golden_replies.json")
STRATEGIES = ("off", "draft:n_max=4:p_min=0", "suffix", "auto")
SEEDS = (1, 7, 4_000_000_000)
PROMPT = "How do I read a file line by line?"


def open_pair() -> Pair:
    target, draft = (ModelParams(str(path), n_threads=1) for path in demo_pair())
    return load_pair(target, draft, kernels="own" if find() else "stock")


def ids(pair: Pair, seed: int, strategy: str = "off") -> list[int]:
    pair.loaded.empty()
    reply = generate(
        pair,
        PROMPT,
        strategy=strategy,
        sampling=SamplingParams(temperature=0.8),
        seed=seed,
        max_tokens=48,
        ignore_eog=True,
    )
    return list(reply.finish().tokens)


def path_of(pair: Pair) -> str:
    """Name the target's file and the numbers that are computed with it here."""
    rows: list[bytes] = []
    plain = Sampler.sample

    def sample(self: Sampler, row: np.ndarray, position: int) -> int:
        rows.append(row.tobytes())
        return plain(self, row, position)

    Sampler.sample = sample  # type: ignore[method-assign]
    try:
        ids(pair, 0)
    finally:
        Sampler.sample = plain  # type: ignore[method-assign]
    file = hashlib.sha256(Path(pair.target.path).read_bytes()).hexdigest()
    # The first row alone: those after it follow from what was drawn.
    return f"{file[:16]}-{hashlib.sha256(rows[0]).hexdigest()[:16]}"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_replies_are_those_that_were_written_down(strategy: str) -> None:
    with open_pair() as pair:
        golden = json.loads(GOLDEN.read_text("utf-8")).get(path_of(pair))
        if golden is None:
            pytest.skip("no replies were written down for these numbers")
        for seed in SEEDS:
            assert ids(pair, seed, strategy) == golden[str(seed)]


if __name__ == "__main__":
    with open_pair() as opened:
        replies = {str(seed): ids(opened, seed) for seed in SEEDS}
        sys.stdout.write(json.dumps({path_of(opened): replies}) + "\n")
