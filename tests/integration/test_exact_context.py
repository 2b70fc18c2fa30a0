"""A reply equals that of an empty context, whatever happened in this one before.

So it is by own kernels, and by llama.cpp's in exact mode. Every logit that a token was drawn from
is compared, bit by bit, not only the tokens. The same histories by llama.cpp's kernels without
exact mode are the control: there logits do differ.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from paceline.engine import Pair, generate, load_pair
from paceline.engine.sample.sampling import Sampler
from paceline.installation.kernel_files import find
from paceline.messages import KernelWish, ModelParams, SamplingParams
from paceline.paths import resources

STRATEGIES = ("off", "draft:n_max=4:p_min=0", "prompt-lookup:max_ngram=2", "draft:n_max=12:p_min=0")
N_REPLY = 24

Rows = list[bytes]


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> Rows:
    """The target's logits after every committed token, as they come."""
    seen: Rows = []
    plain = Sampler.sample

    def sample(self: Sampler, row: np.ndarray, position: int, without: Iterable[int] = ()) -> int:
        seen.append(row.tobytes())
        return plain(self, row, position, without)

    def draws(
        self: Sampler, several: np.ndarray, _draft: Sequence[int], position: int
    ) -> Iterator[int]:
        for i, row in enumerate(several):
            yield sample(self, row, position + i)

    monkeypatch.setattr(Sampler, "sample", sample)
    monkeypatch.setattr(Sampler, "draws", draws)
    return seen


@pytest.fixture(scope="module")
def text(target_path: Path) -> list[int]:
    """Tokens of an English text."""
    words = (resources() / "benchmarks" / "periodic.jsonl").read_text("utf-8")
    with load_pair(ModelParams(str(target_path), n_threads=1)) as pair:
        tokens = pair.vocab.tokenize(words, special=False)
    assert len(tokens) > 200
    return (tokens * 8)[:1600]


class Life:
    """Random turns on one pair, among them replies that are compared with a fresh pair's."""

    def __init__(self, text: Sequence[int], rng: random.Random) -> None:
        self._text = text
        self._rng = rng
        self.prompt = self._some(20, 500)

    def _some(self, low: int, high: int) -> list[int]:
        n, at = self._rng.randint(low, high), self._rng.randrange(800)
        return list(self._text[at : at + n])

    def next_prompt(self, reply: Sequence[int]) -> list[int]:
        """The same again, one with a common beginning, the chat going on, or another one."""
        rng, prompt = self._rng, self.prompt
        self.prompt = {
            "again": lambda: prompt,
            "cut": lambda: prompt[: rng.randint(1, len(prompt))] + self._some(1, 300),
            "on": lambda: [*prompt, *reply, *self._some(1, 60)],
            "other": lambda: self._some(330, 700),
        }[rng.choice(("again", "cut", "cut", "on", "on", "other"))]()
        if len(self.prompt) > 1200:
            self.prompt = self._some(20, 500)
        return self.prompt

    def disturb(self, pair: Pair) -> tuple[int, ...]:
        """A turn that ends by itself, is stopped between two steps, or in mid-decode."""
        rng = self._rng
        reply = generate(
            pair,
            self.prompt,
            strategy=rng.choice(STRATEGIES),
            sampling=SamplingParams(temperature=1.0),
            max_tokens=rng.randint(1, 80),
            seed=rng.randrange(1000),
            ignore_eog=True,
        )
        kind = rng.choice(("finish", "close", "cancel", "cancel"))
        if kind == "close":
            for _ in range(rng.randrange(12)):
                next(reply, None)
            reply.close()
        elif kind == "cancel":
            timer = threading.Timer(rng.random() * 0.3, pair.cancel)
            timer.start()
            reply.finish()
            timer.join()
        else:
            reply.finish()
        return reply.result.tokens if reply.result else ()


def compare(
    paths: tuple[Path, Path], text: Sequence[int], rows: Rows, folder: Path,
    *, kernels: KernelWish, exact: bool, n_threads: int, n_lives: int, n_replies: int,
) -> tuple[int, int]:  # fmt: skip
    """Return how many replies there were, and how many had other logits than a fresh pair's."""
    target, draft = (ModelParams(str(path), n_ctx=2048, n_threads=n_threads) for path in paths)
    is_promised = exact or kernels == "own"
    options = {"kernels": kernels, "exact": exact, "cache_dir": folder}
    n = n_other = 0
    with load_pair(target, draft, **options) as pair:  # what a busy machine has no time for at once
        while pair.loaded.promise.slice():
            pass
    for seed in range(n_lives):
        rng = random.Random(seed)
        life = Life(text, rng)
        with load_pair(target, draft, **options) as used:
            for _ in range(n_replies):
                left = life.disturb(used)
                prompt, strategy = life.next_prompt(left), rng.choice(STRATEGIES)
                found, made_with = [], []
                with load_pair(target, draft, **options) as fresh:
                    for pair in (used, fresh):
                        rows.clear()
                        reply = generate(
                            pair, prompt, strategy=strategy, sampling=SamplingParams(temperature=1),
                            max_tokens=N_REPLY, seed=seed, ignore_eog=True,
                        )  # fmt: skip
                        found.append((reply.finish().tokens, tuple(rows)))
                        assert reply.stats is not None
                        made_with.append((reply.stats.basis, reply.stats.kernels))
                        assert len(rows) == len(found[-1][0])
                if made_with[0] != made_with[1]:  # a busy machine proved some kernels in between
                    continue
                n += 1
                n_other += found[0] != found[1]
                if is_promised:
                    assert found[0][0] == found[1][0], (seed, prompt, strategy)
                    assert found[0][1] == found[1][1], "the same tokens from other logits"
    return n, n_other


@pytest.mark.grid(short=2)
@pytest.mark.parametrize(
    ("kernels", "n_threads"), [("own", 1), ("own", 2), ("stock", 1), ("stock", 2)]
)
def test_a_reply_equals_that_of_a_fresh_context(
    demo_pair: tuple[Path, Path],
    text: list[int],
    rows: Rows,
    tmp_path: Path,
    is_long: bool,
    kernels: KernelWish,
    n_threads: int,
) -> None:
    if kernels == "own" and find() is None:
        pytest.skip("Paceline's own kernels are not built for this llama.cpp")
    n, n_other = compare(
        demo_pair,
        text,
        rows,
        tmp_path,
        kernels=kernels,
        exact=kernels == "stock",
        n_threads=n_threads,
        n_lives=2 if is_long else 1,
        n_replies=3 if is_long else 2,
    )
    assert n_other == 0
    assert n >= (3 if is_long else 1)


def test_without_either_logits_do_differ(
    demo_pair: tuple[Path, Path], text: list[int], rows: Rows, tmp_path: Path
) -> None:
    _, n_other = compare(
        demo_pair, text, rows, tmp_path,
        kernels="stock", exact=False, n_threads=1, n_lives=1, n_replies=2,
    )  # fmt: skip
    assert n_other > 0
