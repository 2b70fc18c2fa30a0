"""Exact mode on models whose logits depend on the batch's width in known ways."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from engine.harness import random_language
from paceline.engine.backend import Rows
from paceline.engine.exact import Widths, make_exact
from paceline.engine.facts import Facts
from paceline.engine.fake import FakeModel
from paceline.engine.prefix import CachedContext

Kernel = Callable[[int], float]


class Rounding(FakeModel):
    """Adds an error to every row that depends on how many tokens the decode took."""

    def __init__(self, kernel: Kernel, n_ctx: int = 512, max_rows: int = 63) -> None:
        super().__init__(random_language(1), n_ctx=n_ctx, max_rows=max_rows)
        self.kernel = kernel

    def decode(self, tokens: Sequence[int], n_rows: int) -> Rows:
        return super().decode(tokens, n_rows) + np.float32(self.kernel(len(tokens)))


def exact(kernel: Kernel, facts: Facts | None = None, **options: int) -> tuple[Widths, Rounding]:
    model = Rounding(kernel, **options)
    context = CachedContext(model)
    widths = make_exact(context, facts or Facts(""))
    assert context.tokens == model.tokens == []
    assert (context.min_width, context.max_width) == widths[:2]
    assert context.prefill_piece == (128 if widths.exact else 0)
    return widths, model


@pytest.mark.parametrize(
    ("kernel", "lowest", "highest"),
    [
        (lambda n: 0.0, 1, 63),
        (lambda n: 0.1 * (n == 1), 2, 63),
        (lambda n: 0.1 * (n <= 3), 4, 63),
        (lambda n: 0.1 * (n >= 9), 1, 8),
        (lambda n: 0.1 * (n == 1) + 0.2 * (n >= 33), 2, 32),
        (lambda n: 0.1 * (n == 5), 6, 63),
        (lambda n: 0.01 * n, 8, 8),
        (lambda n: 0.1 * (n % 2), 8, 8),
    ],
)
def test_the_range_of_widths_that_agree(kernel: Kernel, lowest: int, highest: int) -> None:
    widths, _ = exact(kernel)
    assert widths[:2] == (lowest, highest)
    assert widths.exact
    assert ("costs nothing" in widths.note()) is (lowest == 1)


def test_a_device_that_never_computes_the_same_twice() -> None:
    rng = np.random.default_rng(0)
    widths, _ = exact(lambda n: float(rng.normal()))
    assert not widths.exact
    assert widths.lowest == 1
    assert "not possible" in widths.note()


def test_a_short_context() -> None:
    widths, model = exact(lambda n: 0.1 * (n == 1), n_ctx=16)
    assert widths[:2] == (2, 8)
    context = CachedContext(model)
    context.min_width = widths.lowest
    assert context.n_ctx == 15


def test_it_is_measured_once() -> None:
    facts = Facts("")
    first, model = exact(lambda n: 0.1 * (n == 1), facts)
    assert model.widths
    again, model = exact(lambda n: 0.1 * (n == 1), facts)
    assert again == first
    assert not model.widths


def test_padding_gives_the_rows_asked_for_and_leaves_nothing_behind() -> None:
    model = Rounding(lambda n: 0.1 * (n < 4))
    plain = FakeModel(random_language(1))
    context = CachedContext(model)
    context.min_width = 4
    for piece in ([1], [2, 3], [4, 5, 6, 7, 8], [9]):
        rows = context.feed(piece, len(piece))
        assert np.array_equal(rows, plain.decode(piece, len(piece)))
        assert model.tokens == plain.tokens == context.tokens
    context.feed([1, 2], 0)  # nothing is output, so nothing is padded
    assert model.widths[-1] == 2
