"""Sizes of the two networks, and the three ways to make the pair."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

N_CONTEXT = 2_048


@dataclass(frozen=True)
class Size:
    """The shape of a network of llama.cpp's architecture `llama`.

    Attributes:
        width: Of the residual stream.
        layers: How many.
        heads: Attention heads; `width` by `heads` is even.
        kv_heads: Heads of keys and values; divides `heads`.
        inner: Width of the feed-forward part.
    """

    width: int
    layers: int
    heads: int
    kv_heads: int
    inner: int
    n_vocab: int = 8_192
    eps: float = 1e-5
    rope_base: float = 10_000.0

    @property
    def n_params(self) -> int:
        """Weights; the embedding is the output, too."""
        head = self.width // self.heads
        attention = 2 * self.width * self.width + 2 * self.width * head * self.kv_heads
        layer = attention + 3 * self.width * self.inner + 2 * self.width
        return self.n_vocab * self.width + self.layers * layer + self.width

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON's values."""
        return asdict(self)


@dataclass(frozen=True)
class Run:
    """How one network is trained.

    Attributes:
        size: Its shape.
        steps: Steps of the optimiser; ends earlier where `minutes` are given and over.
        batch: Rows of the greatest length per step, or as many tokens in shorter rows.
        rate: The highest learning rate.
        minutes: Time; 0: as long as the steps take.
    """

    size: Size
    steps: int
    batch: int
    rate: float
    minutes: float = 0.0


@dataclass(frozen=True)
class Preset:
    """Everything that a run of the recipe depends on, besides the corpus.

    Attributes:
        share: How much of the documentation is used.
        lengths: Tokens of a row, ascending; a chat is in the shortest that it fits in.
        target: The large network.
        draft: The small one.
        n_judged: Held-out chats of each set that the evaluation looks at.
        is_compared: Whether it measures the shipped pair, too.
    """

    name: str
    share: float
    lengths: tuple[int, ...]
    target: Run
    draft: Run
    n_judged: int = 400
    is_compared: bool = True


PRESETS = {
    # Tries every step in some minutes; what comes out babbles.
    "quick": Preset(
        "quick", 0.04, (512,),
        Run(Size(128, 3, 4, 2, 352), steps=110, batch=4, rate=3e-3),
        Run(Size(64, 1, 2, 1, 192), steps=60, batch=4, rate=3e-3),
        n_judged=6, is_compared=False,
    ),
    # Some hours on a few cores: 8,192 tokens per step, half of them in rows of 256,
    # where attention costs them little.
    "cpu": Preset(
        "cpu", 1.0, (256, 512, N_CONTEXT),
        Run(Size(384, 8, 6, 3, 1_024), steps=9_000, batch=4, rate=1.5e-3),
        Run(Size(192, 2, 4, 2, 512), steps=4_000, batch=4, rate=2e-3),
    ),
    # 58 and 3.5 million weights: with Q8_0 together below 64 MiB.
    "gpu": Preset(
        "gpu", 1.0, (N_CONTEXT,),
        Run(Size(640, 12, 10, 5, 1_664), steps=9_000, batch=32, rate=1.5e-3, minutes=6.3),
        Run(Size(256, 2, 4, 2, 640), steps=9_000, batch=32, rate=3e-3, minutes=1.9),
    ),
}  # fmt: skip
TARGETS_SHARE = 0.77
"""Of the time for both trainings."""


def with_minutes(preset: Preset, minutes: float) -> Preset:
    """Return a preset whose two trainings together take these minutes, the target the most."""
    target = replace(preset.target, minutes=TARGETS_SHARE * minutes)
    draft = replace(preset.draft, minutes=(1 - TARGETS_SHARE) * minutes)
    return replace(preset, target=target, draft=draft)
