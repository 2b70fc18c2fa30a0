"""Replies that are known token by token: the noise of each one is that of its own position.

All strategies would still agree if every position were taken for the next one; but a seed would
then give another reply than it gave before.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine.harness import Scripted, decoder_for, oracle, random_language, randomly, run
from fake_model import FakeModel
from paceline.engine.sample.sampling import Sampler
from paceline.messages import SamplingParams

SAMPLING = SamplingParams(temperature=0.8, top_k=40, top_p=0.95, min_p=0.05)
LANGUAGE = random_language(5, 1.0)  # in which many tokens are likely, so that the noise decides
REPLIES = {
    1: [211, 133, 41, 243, 188, 96, 253, 143, 30, 207, 65, 186, 19, 24, 70, 149],
    2: [209, 15, 84, 48, 15, 60, 124, 158, 98, 107, 40, 240, 248, 216, 176, 211],
}
"""Expected replies by seed."""


def knowing(target: FakeModel, seed: int) -> Scripted:
    return oracle(target, Sampler(SAMPLING, seed))


@pytest.mark.parametrize("seed", REPLIES)
@pytest.mark.parametrize(
    "drafter",
    [
        "off",
        "draft:n_max=3:p_min=0",
        "suffix",
        "auto",
        lambda _target, seed: randomly(seed),
        knowing,
    ],
    ids=["off", "draft", "suffix", "auto", "random drafts", "right drafts"],
)
def test_a_seed_gives_the_reply_that_it_gave_before(
    drafter: str | Callable[[FakeModel, int], Scripted], seed: int
) -> None:
    target = FakeModel(LANGUAGE)
    decoder = decoder_for(
        target,
        drafter if isinstance(drafter, str) else drafter(target, seed),
        sampling=SAMPLING,
        seed=seed,
        max_tokens=16,
        draft=FakeModel(LANGUAGE),
    )
    run(decoder)
    assert decoder.generated == REPLIES[seed]
