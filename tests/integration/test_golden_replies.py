"""Replies that were written down: a shift of the noise, or of what keys it, changes them all.

No other test sees that where every path is shifted alike. A reply is pinned to the target's file
and to the rows of logits that its own tokens lead to: a machine or a build that computes other
numbers anywhere in it may have another reply, and is passed over. After a change that is meant to
change replies, print new ones by ``python tests/integration/test_golden_replies.py``.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from paceline.engine import Pair, generate, load_pair
from paceline.engine.sample.sampling import Sampler
from paceline.installation.kernel_files import find
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


def numbers_behind(pair: Pair, tokens: Sequence[int]) -> str:
    """Name the target's file and the rows that lead to these tokens here, whatever is drawn."""
    rows = hashlib.sha256(Path(pair.target.path).read_bytes())
    given = iter(tokens)

    def draws(
        _self: Sampler, several: np.ndarray, _draft: Sequence[int], _position: int
    ) -> Iterator[int]:
        for row in several:
            rows.update(row.tobytes())
            yield next(given)

    def sample(self: Sampler, row: np.ndarray, position: int, _without: Iterable[int] = ()) -> int:
        return next(draws(self, row[None], (), position))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Sampler, "draws", draws)
        patch.setattr(Sampler, "sample", sample)
        assert ids(pair, 0) == list(tokens)
    return rows.hexdigest()[:16]


@cache
def computes_what_was_written_down(seed: str) -> bool:
    """Return whether the numbers of a reply are those that it was made from."""
    golden = json.loads(GOLDEN.read_text("utf-8"))[seed]
    with open_pair() as pair:
        return numbers_behind(pair, golden["ids"]) == golden["numbers"]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_replies_are_those_that_were_written_down(strategy: str, seed: int) -> None:
    if not computes_what_was_written_down(str(seed)):
        pytest.skip("this machine computes other numbers than those this reply was made from")
    with open_pair() as pair:
        assert ids(pair, seed, strategy) == json.loads(GOLDEN.read_text("utf-8"))[str(seed)]["ids"]


if __name__ == "__main__":
    with open_pair() as opened:
        replies = {str(seed): ids(opened, seed) for seed in SEEDS}
        written = {
            seed: {"numbers": numbers_behind(opened, reply), "ids": reply}
            for seed, reply in replies.items()
        }
        sys.stdout.write(json.dumps(written) + "\n")
