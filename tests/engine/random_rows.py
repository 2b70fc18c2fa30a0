"""Random rows with random settings, in which all that is odd about rows is common.

Numbers are few in many rows, so that equals are common; others are infinite, no numbers, denormal
or huge. Imports neither pytest nor Hypothesis, for processes of tests.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from paceline.engine.model.token_mask import TokenMask
from paceline.engine.sample.drawing import Likely, RowDrawer, RowSettings
from paceline.engine.sample.edits import PENALTY_WINDOW, Biases, Penalties
from paceline.errors import EngineError
from paceline.params import LogitBias, SamplingParams

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

T = TypeVar("T")
Rng = np.random.Generator
FloatRows = NDArray[np.float32]
Copied = Callable[[NDArray[Any]], NDArray[Any]]
"""Copies an array to where its memory is watched."""
LARGEST = float(np.finfo(np.float32).max)

TEMPERATURES = 0.0, 1e-7, 1e-6, 1e-3, 0.1, 0.5, 0.7, 1.0, 1.5, 5.0, 100.0
TOP_PS = 1.0, 1.0, 1 - 1e-12, 0.999999, 0.95, 0.9, 0.5, 0.1, 1e-9
MIN_PS = 0.0, 0.0, 1e-30, 1e-3, 0.05, 0.5, 1.0
PENALTIES = (
    (1.0, 0.0, 0.0),
    (1.1, 0.2, 0.2),
    (1.3, 0.0, 0.0),
    (0.01, -10.0, 3.0),
    (10.0, 10.0, -2.0),
)
GAPS = 10.0, 14.0, 20.0, 22.8, 25.0, 26.1, 27.0, 28.4, 29.0, 40.0, 100.0, LARGEST, math.inf
N_BEST = -1, -1, 0, 5, 20


@dataclass
class Ask:
    """One question to a drawer; see `RowDrawer.draw`."""

    rows: FloatRows
    draft: list[int]
    position: int
    allowed: TokenMask | None
    has_confidence: bool

    def put_to(self, drawer: RowDrawer, copied: Copied = np.copy) -> Drawn:
        """Ask, with a copy of the rows, since they are written into."""
        drawer.likely = []
        tokens = drawer.draw(
            copied(self.rows),
            self.draft,
            self.position,
            self.allowed,
            has_confidence=self.has_confidence,
        )
        confidence = drawer.confidence if self.has_confidence and tokens else 0.0
        return Drawn(tokens, drawer.failure, confidence, drawer.likely)


class Drawn(NamedTuple):
    """A drawer's answer; see `RowDrawer`."""

    tokens: list[int]
    failure: EngineError | None
    confidence: float
    likely: list[Likely]

    @property
    def n_rows(self) -> int:
        """Count the rows that were drawn from, with one that gave no token."""
        return len(self.tokens) + (self.failure is not None)


# --------------------------------------------------------------------------------------- settings


def settings_of(rng: Rng, n_vocab: int) -> RowSettings:
    """Return settings of a reply by rows of this length, with a window of some tokens."""
    repeat, presence, frequency = _one(rng, PENALTIES) if rng.random() < 0.4 else PENALTIES[0]
    biases = Biases(SamplingParams())
    if rng.random() < 0.4:
        biases = _biases_of(rng, n_vocab)
    params = SamplingParams(
        temperature=_one(rng, TEMPERATURES),
        top_k=_one(rng, (0, 0, 1, 2, 10, 40, n_vocab - 1, n_vocab, n_vocab + 1, 2**31 - 1)),
        top_p=_one(rng, TOP_PS) if rng.random() < 0.8 else rng.uniform(0.01, 1),
        min_p=_one(rng, MIN_PS) if rng.random() < 0.8 else rng.random(),
        repeat_penalty=repeat,
        presence_penalty=presence,
        frequency_penalty=frequency,
    )
    penalties = Penalties(params)
    n_recent = rng.integers(PENALTY_WINDOW + 10)
    few = rng.integers(1, n_vocab + 3)  # beyond the row, too
    penalties.recent.extend(rng.integers(few, size=n_recent).tolist())
    return RowSettings(params, int(rng.integers(2**63)), biases, penalties, _one(rng, N_BEST))


def _biases_of(rng: Rng, n_vocab: int) -> Biases:
    tokens = rng.permutation(n_vocab + 3)
    n = int(rng.integers(min(len(tokens), 20)))
    added = rng.choice([0.0, -1.0, 3.5, 100.0, -1e6, 1e6], n)
    pairs = zip(tokens[:n].tolist(), added.tolist(), strict=True)
    biases = tuple(LogitBias(token, bias) for token, bias in pairs)
    match rng.integers(5):
        case 0:
            forbidden = tokens[n:]
        case 1:
            forbidden = tokens[n + 1 :]
        case 2:
            forbidden = tokens[:0]
        case _:
            forbidden = tokens[n : n + rng.integers(12)]
    return Biases(SamplingParams(logit_bias=biases), forbidden.tolist())


def _one(rng: Rng, values: Sequence[T]) -> T:
    return values[rng.integers(len(values))]


# ------------------------------------------------------------------------------------------- rows


def _normal(rng: Rng, n: int) -> FloatRows:
    return rng.standard_normal(n, np.float32) * np.float32(
        _one(rng, (0.05, 1, 3, 8, 30, 1e4, 1e30))
    )


def _like_a_models(rng: Rng, n: int) -> FloatRows:
    """Most far below a few likely ones."""
    row = rng.standard_normal(n, np.float32) * np.float32(2)
    likely = rng.integers(n, size=min(n, int(rng.integers(1, 30))))
    row[likely] = 8 + 4 * rng.standard_exponential(len(likely), np.float32)
    return row


def _rounded(rng: Rng, n: int) -> FloatRows:
    step = np.float32(_one(rng, (1e-3, 0.25, 1, 16)))
    return rng.integers(-_one(rng, (1, 2, 10, 100)), 3, n).astype(np.float32) * step


def _equal(rng: Rng, n: int) -> FloatRows:
    return np.full(n, _one(rng, (0.0, -0.0, 12.5, -1e-42, 3e38, -LARGEST, LARGEST)), np.float32)


def _peaked(rng: Rng, n: int) -> FloatRows:
    """A few tokens far above all others, whose weights are next to nothing together."""
    top = _one(rng, (0.0, 14.0, -3.0, 1e-40, 1e30))
    row = np.full(n, top - _one(rng, GAPS), np.float32)
    row[rng.integers(n, size=rng.integers(1, 5))] = top
    return row


def _tiny(rng: Rng, n: int) -> FloatRows:
    return rng.standard_normal(n, np.float32) * np.float32(1e-40)


def _huge(rng: Rng, n: int) -> FloatRows:
    return rng.uniform(-1, _one(rng, (-0.9, 0, 1)), n).astype(np.float32) * np.float32(LARGEST)


def _zeros(rng: Rng, n: int) -> FloatRows:
    return rng.choice(np.array([0.0, -0.0, 1e-45, -1e-45], np.float32), n)


def _mostly_infinite(rng: Rng, n: int) -> FloatRows:
    row = np.full(n, -math.inf, np.float32)
    there = rng.integers(n, size=rng.integers(0, 4))
    row[there] = rng.standard_normal(len(there), np.float32)
    return row


KINDS: tuple[Callable[[Rng, int], FloatRows], ...] = (
    _normal, _normal, _like_a_models, _like_a_models, _like_a_models, _rounded, _rounded, _equal,
    _peaked, _tiny, _huge, _zeros, _mostly_infinite,
)  # fmt: skip


def row_of(rng: Rng, n_vocab: int) -> FloatRows:
    """Return a row; in one of ten, some logits are infinite, and in few, one is no number."""
    row = _one(rng, KINDS)(rng, n_vocab)
    if rng.random() < 0.1:
        row[rng.random(n_vocab) < rng.random()] = -math.inf
    if rng.random() < 0.01:
        row[rng.integers(n_vocab)] = _one(rng, (math.nan, -math.nan, math.inf))
    return row


def _allowed_of(rng: Rng, n_vocab: int) -> TokenMask:
    length = n_vocab + int(_one(rng, (0, 0, 0, 1, 70, -1, -n_vocab // 2)))
    allowed = rng.random(length) < _one(rng, (0.001, 0.02, 0.5, 0.99))
    match rng.integers(6):
        case 0:
            allowed[:] = rng.random() < 0.5
        case 1:
            allowed[:] = True
            allowed[rng.integers(length, size=min(length, 1))] = False
        case 2:
            allowed[:] = False
            first = rng.integers(n_vocab)
            allowed[first : first + rng.integers(1, 200)] = True
    unsaid = rng.random(rng.integers(40)) < 0.5
    return TokenMask(TokenMask.of(np.append(allowed, unsaid)).bits, length)


# ------------------------------------------------------------------------------------------- asks


def asks(rng: Rng, settings: RowSettings, n_vocab: int, drawer: RowDrawer) -> Iterator[Ask]:
    """Yield a few; `drawer` has these settings and says what a draft has to be to be right."""
    for _ in range(rng.integers(1, 9)):
        position = int(rng.integers(_one(rng, (3, 10_000, 2**40))))
        if rng.random() < 0.3:
            allowed = _allowed_of(rng, n_vocab) if rng.random() < 0.8 else None
            row = _row_for(rng, settings, n_vocab)
            yield Ask(row[None], [], position, allowed, rng.random() < 0.5)
            continue
        n_rows = 512 if n_vocab < 20 and rng.random() < 0.02 else rng.integers(1, 9)
        rows = np.stack([_row_for(rng, settings, n_vocab) for _ in range(n_rows)])
        draft = _right_draft(rows, settings, drawer, position)
        if draft and rng.random() < 0.6:
            wrong = rng.integers(len(draft))
            draft[wrong:] = rng.integers(n_vocab, size=len(draft) - wrong).tolist()
        yield Ask(rows, draft, position, None, rng.random() < 0.1)


def _row_for(rng: Rng, settings: RowSettings, n_vocab: int) -> FloatRows:
    """Return a row; with min-p, one of five has many logits next to where it cuts."""
    row, min_p = row_of(rng, n_vocab), settings.params.min_p
    if min_p > 0 and rng.random() < 0.2 and abs(top := float(row.max())) < 1e30:
        least = np.float32(top + math.log(min_p))
        steps = rng.integers(-2, 3, n_vocab).astype(np.float32) * np.spacing(least)
        np.copyto(row, least + steps, where=(rng.random(n_vocab) < 0.3) & (row < top))
    return row


def _right_draft(
    rows: FloatRows, settings: RowSettings, drawer: RowDrawer, position: int
) -> list[int]:
    """Draw from all rows but the last one by themselves, each after the tokens before it."""
    window = settings.penalties.recent
    before = list(window)
    draft: list[int] = []
    for i, row in enumerate(rows[:-1]):
        token, *_ = *drawer.draw(row.copy(), (), position + i), 0  # 0 where there is none
        draft.append(token)
        window.append(token)
    window.clear()
    window.extend(before)
    return draft


def differences(expected: Drawn, found: Drawn) -> list[str]:
    """Say in what two drawers differ; sums may do so in their last digits."""
    said = [f"{a} {b}" for a, b in zip(_told(expected), _told(found), strict=True) if a != b]
    if said:
        return said
    pairs = zip(_figures(expected), _figures(found), strict=True)
    return [f"{a} {b}" for a, b in pairs if not _is_close(a, b)]


def _told(drawn: Drawn) -> tuple[object, ...]:
    failure = drawn.failure
    error = (type(failure), failure.code, failure.message, failure.hint) if failure else None
    return drawn.tokens, error, [[token for token, _ in each.best] for each in drawn.likely]


def _figures(drawn: Drawn) -> list[float]:
    likely = (x for each in drawn.likely for x in (each.drawn, *(p for _, p in each.best)))
    return [drawn.confidence, *likely]


def _is_close(a: float, b: float) -> bool:
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)
