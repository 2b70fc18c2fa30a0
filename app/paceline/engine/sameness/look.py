"""Decodes of the same tokens at several batch widths: a self-test, and a comparison of rows.

Every model is tested after its load. If a build of llama.cpp cannot run it (an instruction set that
crashes, a kernel that gives NaN), that shows at load, and not in a reply: a crash of the engine's
process then means that the load needs other settings. The widths of this test are those that use
different kernels: single tokens, pairs, and batches wide enough for matrix instructions. It also
tests whether the context's tail can be removed, as `common_context_can_seq_rm` of llama.cpp
(common/common.cpp) does.

Later, looks compare the rows of more widths bit by bit.

Whether two widths round alike depends on the data and on a row's place in its batch (kernels may
take rows by fours, and the rest with another kernel), so each width is used as in decoding: tokens
one after the other, batch by batch, with every place of a batch used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paceline.engine.model.backend import LanguageModel, Rows, Vocabulary
from paceline.engine.model.context import BatchWidths, CachedContext
from paceline.engine.sameness.evidence import Pair
from paceline.errors import DecodeMemoryError, ModelError

N_NARROW = 12
"""Number of tokens to compare at narrow widths, which takes as many plain steps."""
_ORDER = (
    2, 4, 8, 3, 5, 12, 7, 6, 9, 10, 11,
    16, 33, 63, 13, 26, 20, 46, 35, 32, 17, 48, 60, 56, 40, 24, 62, 19, 27, 22, 31, 14, 45, 18,
)  # fmt: skip
_N_OTHERS = 3


class Way(NamedTuple):
    """Batches of `width` tokens, of which the first `n_real` are tokens of the text."""

    width: int
    n_real: int


def ways_of_look(widths: BatchWidths, number: int) -> list[Way]:
    """Return the batches that the look of this number compares.

    Two of three looks compare single tokens, as in plain decoding, with narrow batches; the third
    one compares a narrow width with wide ones. A dozen looks cover all widths up to 12, and of the
    others all remainders modulo 8.
    """
    lowest = widths.lowest
    others = [w for w in (*_ORDER, widths.highest) if w in widths.every and w != lowest]
    others = list(dict.fromkeys(others))
    if not others:
        return [Way(lowest, n) for n in dict.fromkeys((1, lowest, max(lowest // 2, 1)))]
    narrow = [w for w in others if w <= N_NARROW]
    wide = [w for w in others if w > N_NARROW]
    if wide and number % 3 == 2:
        base = max(narrow, default=lowest)
        return [Way(w, w) for w in (base, *_some(wide, 2, number // 3))]
    some = _some(narrow or wide, _N_OTHERS, number - number // 3)
    return [Way(lowest, 1), *(Way(w, w) for w in some)]


def _some(items: Sequence[int], n: int, turn: int) -> list[int]:
    """Return `n` items, the next ones in each turn."""
    n = min(n, len(items))
    return [items[(turn * n + i) % len(items)] for i in range(n)]


def n_tokens_of(ways: Sequence[Way]) -> int:
    """Return how many tokens such a look decodes in every way."""
    return N_NARROW if any(way.n_real == 1 for way in ways) else max(way.width for way in ways)


def look(
    context: CachedContext, ways: Sequence[Way], tokens: Sequence[int]
) -> tuple[int, dict[Pair, float]]:
    """Decode tokens after the context's content, in each way, and remove them again.

    Args:
        context: A context with room for the tokens and one batch of the widest width; unchanged
            afterwards, or empty if the model failed.
        ways: At least two ways.
        tokens: The tokens, as many as `n_tokens_of` returns.

    Returns:
        The number of rows compared with those of the first way, and the pairs of widths that
        differed, with the largest difference of one logit.

    Raises:
        CancelledError: The flag was set.
        EngineError: The model failed.
    """
    n_held, usual = len(context.tokens), context.widths
    found: dict[Pair, float] = {}
    first: list[NDArray[np.float32]] = []
    try:
        for way in ways:
            context.widths = BatchWidths(way.width, way.width, way.width)
            for i in range(0, len(tokens), way.n_real):
                piece = tokens[i : i + way.n_real]
                rows = context.feed(piece, len(piece))
                if way is ways[0]:
                    first.extend(rows.copy())
                    continue
                for row, other in zip(rows, first[i:], strict=False):
                    if apart := difference(row, other):
                        pair = min(way.width, ways[0].width), max(way.width, ways[0].width)
                        found[pair] = max(apart, found.get(pair, 0.0))
            context.rollback(n_held)
    finally:
        context.widths = usual
        context.rollback(n_held)
    return len(tokens) * (len(ways) - 1), found


def difference(some: NDArray[np.float32], more: NDArray[np.float32]) -> float:
    """Return the largest difference of two logits in rows [n_vocab]; equal infinities count as 0.

    It is NaN if a row contains NaN, and 0.0 only for equal rows.
    """
    differs = some != more
    return float(np.abs(some[differs] - more[differs]).max(initial=0.0))


_TEXT = """\
Could you tell me how a bicycle stays upright? A rider who leans to the left also steers to the \
left, if only a little, and so brings the wheels back below the weight. At walking pace that takes \
many small corrections; at 25 km/h hardly any. Riders who follow each other closely save about a \
third of their power, because the first one pushes the air aside for all of them.

def mean_speed(distances_km: list[float], hours: list[float]) -> float:
    \"\"\"Return the speed over all stages, in km/h.\"\"\"
    if not hours or sum(hours) <= 0:
        raise ValueError("there is no time to divide by")
    return sum(distances_km) / sum(hours)

| Stage | Distance | Time    |
|-------|---------:|---------|
| 1     | 182.5 km | 4:21:07 |
| 2     |  37.4 km | 0:44:53 |

{"rider": 17, "name": "Zoë Müller", "stages": [{"no": 1, "place": 4}, {"no": 2, "place": null}]}

Die Gruppe fährt dicht hintereinander; wer vorne ist, wechselt alle paar Minuten. Pourquoi ? Parce \
que le vent fatigue surtout celui qui ouvre la route. 自転車 и ветер 🚴.

1. Check the tyres: 6.5 bar at the front, 7 bar at the back.
2. Take two bottles, one with salt.
3. "Never ride alone into the wind," she said, and laughed; then she was gone.
"""


def sample_tokens(vocab: Vocabulary, n: int, number: int) -> list[int]:
    """Return `n` tokens of the repeated text, starting elsewhere for each number.

    Rounding depends on the text, so random ids would not do.
    """
    tokens = vocab.tokenize(_TEXT, special=False)
    if not tokens:  # a vocabulary that knows no text
        rng = np.random.default_rng(number)
        found: list[int] = rng.integers(0, vocab.n_tokens, n).tolist()
        return found
    begin = (number * 97) % len(tokens)
    tokens = tokens[begin:] + tokens[:begin]
    return (tokens * (n // len(tokens) + 1))[:n]


TESTED_WIDTHS = (1, 2, 8)


class Tested(NamedTuple):
    """The result of a self-test.

    Attributes:
        can_rollback: Whether the context's tail can be removed; True if nothing could be drafted
            anyway.
        apart: Pairs of widths whose rows for the same tokens differed, with the largest difference
            of one logit. An empty one proves little, see `sameness/promise.py`.
    """

    can_rollback: bool
    apart: dict[Pair, float]


def self_test(model: LanguageModel) -> Tested:
    """Decode 1, 2 and 8 tokens, as far as they fit, and remove one.

    Leaves an empty context and `native_s` at 0. Takes the time of eleven tokens.

    Raises:
        ModelError: "invalid-numbers": a logit is NaN, or none is finite.
        CancelledError: The user stopped the load.
        EngineError: The library failed.
    """
    can_rollback = True
    narrowest: dict[int, tuple[int, Rows]] = {}  # by place: the width and the row
    apart: dict[Pair, float] = {}
    try:
        for width in TESTED_WIDTHS:
            if width > min(model.n_ctx, model.n_batch):
                break
            # The same token repeated: which one does not matter, and 0 is in every vocabulary.
            rows = model.decode([0] * width, min(width, model.max_rows))
            if not np.isfinite(rows.max(axis=1)).all():
                raise ModelError(
                    "invalid-numbers",
                    "The model gives invalid numbers instead of logits.",
                    "The file may be damaged, or made for something else than writing text.",
                )
            for place, row in enumerate(rows, width - len(rows)):
                narrow, first = narrowest.setdefault(place, (width, row.copy()))
                if found := difference(row, first):
                    apart[narrow, width] = max(found, apart.get((narrow, width), 0.0))
            if width == 2:
                can_rollback = model.rollback(1)
            model.clear()  # each width by itself, since a context of 8 tokens then has room for all
    finally:
        model.clear()
        model.native_s = 0.0
    return Tested(can_rollback, apart)


def check_going_back(model: LanguageModel) -> None:
    """Test that a recurrent memory decodes with the result of `keep_states`, and can go back.

    States are dropped if they take too much memory or do not come back, and copies if another state
    comes back. Leaves an empty context and `native_s` at 0.

    Raises:
        ModelError: See `self_test`.
        CancelledError: The user stopped the load.
        EngineError: The library failed.
    """
    try:
        self_test(model)  # with states, it computes with other operators
    except DecodeMemoryError:
        model.remake(model.n_ctx, model.n_batch)
        self_test(model)
    if model.max_rollback and not model.needs_copies and not _comes_back(model, by_copy=False):
        model.keep_states(0)
    if not _comes_back(model, by_copy=True):
        model.give_up_copies()


def _comes_back(model: LanguageModel, *, by_copy: bool) -> bool:
    """Return whether a row after removed tokens is the same again; True without a copy, too."""
    if min(model.n_ctx, model.n_batch) < max(TESTED_WIDTHS):
        return True  # too short for any draft
    try:
        expected = [model.decode([0], 1)[0].copy() for _ in range(3)][-1]
        model.clear()
        model.decode([0], 1)
        if by_copy:
            model.decode([0], 1)
            model.save("draft")
            model.decode([1, 1, 1], 1)
            n_held = model.restore(2)
            if n_held < 0:
                return True
        else:
            model.decode([0, 1, 1], 1)
            n_held = 2 if model.rollback(2) else 0
        return n_held == 2 and bool(np.allclose(model.decode([0], 1)[0], expected, atol=1e-2))
    finally:
        model.clear()
        model.native_s = 0.0
