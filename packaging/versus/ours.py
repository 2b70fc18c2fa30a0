"""Paceline's engine in this process."""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

from paceline.engine.api import generate, load_pair
from paceline.messages import LoadPair, SamplingParams
from paceline.params import params_of

from .figures import Measurement

if TYPE_CHECKING:
    from collections.abc import Sequence


class Ours(ExitStack):
    """A loaded pair, for a with statement, which frees it.

    The server's pool of ``ngram-mod`` outlives a request, so what it learned from one run helps the
    next; ours is a chat's own.

    Raises:
        UserError: The models cannot be loaded.
    """

    def __init__(self, load: LoadPair, strategy: str) -> None:
        super().__init__()
        self._strategy = strategy
        pair = load_pair(load.target, params_of(load.drafting), kernels=load.kernels)
        self._pair = self.enter_context(pair)

    def run(self, prompt: Sequence[int], n_tokens: int) -> Measurement:
        """Generate exactly `n_tokens`, always the likeliest."""
        start = time.perf_counter()
        reply = generate(
            self._pair,
            prompt,
            strategy=self._strategy,
            sampling=SamplingParams(temperature=0.0, top_k=0, top_p=1.0, min_p=0.0),
            max_tokens=n_tokens,
            seed=0,
            ignore_eog=True,
        )
        next(reply)
        first_s = last_s = time.perf_counter()
        for _ in reply:
            last_s = time.perf_counter()
        finished = reply.finish()
        wall_s = time.perf_counter() - start
        stats = finished.stats
        return Measurement(
            tokens=finished.tokens,
            decode_s=last_s - first_s,
            total_s=stats.total_s,
            wall_s=wall_s,
            reported=stats.tokens_per_s,
            drafted=stats.n_drafted,
            accepted=stats.n_accepted,
        )
