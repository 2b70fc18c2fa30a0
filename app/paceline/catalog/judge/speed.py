"""Expected speeds of models and pairs on this machine, before they are loaded.

Writing one token multiplies by all weights that work on it, so its time is their bytes by what this
machine reads per second (`engine.measure.reading`), and some time for each layer and each logit.
The constants below are fitted to ten files from 76 MB to 1.5 GB, with llama.cpp's kernels and with
Paceline's; each was within its stated interval (decision 144). Where a GPU computes, nothing is
known.

With drafts, a step of n + 1 tokens takes a little more than one, and commits as many of them as the
model confirms: the best n is taken, as Auto finds it. Most of the interval's width comes from the
acceptance rate, which is not known in advance.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from paceline.catalog.card import ModelCard
from paceline.catalog.judge.curated import CuratedPair
from paceline.catalog.judge.pairing import bytes_per_token
from paceline.engine.measure.known import USUAL_CONTEXT, MeasuredPair
from paceline.figures import DeviceInfo, Reading

_LAYER_S = 60e-6
_LOGIT_S = 8e-9
"""Seconds of a layer's small operations, and of one logit: sampling a token reads all of them."""
_USUAL_LAYERS, _USUAL_LOGITS = 32, 150_000
"""Layers and logits assumed for a model whose header is not known; its weights count far more."""


class _Case(NamedTuple):
    """Assumptions for one end of an interval, or for its middle.

    Attributes:
        reach: Share of the machine's reading speed that decoding reaches.
        acceptance: Share of drafted tokens that are accepted, for prose, usual text and code.
        further: Cost of each further token of a step, in plain steps.
    """

    reach: float
    acceptance: float
    further: float


_LOW, _TYPICAL, _HIGH = _Case(0.55, 0.4, 0.3), _Case(0.85, 0.7, 0.12), _Case(1.5, 0.85, 0.05)
_MAX_DRAFT_TOKENS = 8
_MEASURED = (0.85, 1.0, 1.1)
"""Speeds of replies relative to the measured one: low, typical, high."""


class ExpectedSpeed(NamedTuple):
    """Tokens per second: the most likely number, and an interval that should hold the true one."""

    low: float
    typical: float
    high: float

    @property
    def rounded(self) -> float:
        """The typical number in round steps (1, 2, 5 by decades) of at most a sixth of it."""
        most = self.typical / 6  # the interval is several times as wide
        power = 10.0 ** math.floor(math.log10(most))
        step = max(n * power for n in (1, 2, 5) if n * power <= most)
        return round(self.typical / step) * step


@dataclass(frozen=True, slots=True)
class Speeds:
    """The speeds of a pair.

    Attributes:
        alone: The target without drafts.
        drafted: The target with drafts, or None if not known, or without a drafter.
        basis: "estimate": by sizes; "measured": by loads and replies of this pair on this machine.
    """

    alone: ExpectedSpeed
    drafted: ExpectedSpeed | None = None
    basis: Literal["estimate", "measured"] = "estimate"

    @property
    def gain(self) -> float:
        """Most likely speed-up by drafts; 1 if it is not known."""
        return self.drafted.typical / self.alone.typical if self.drafted is not None else 1.0


class TokenWork(NamedTuple):
    """Cost of one token: bytes that are read, and additional seconds."""

    n_bytes: float
    fixed_s: float

    def seconds(self, bytes_per_s: float) -> float:
        """Return the seconds of a token at this rate of reading."""
        return self.n_bytes / bytes_per_s + self.fixed_s


def work_of(card: ModelCard) -> TokenWork:
    """Return the work of a model for a token, by its header."""
    cached = 2 * sum(keys + values for keys, values in card.kv_elements) * USUAL_CONTEXT
    fixed_s = card.n_layers * _LAYER_S + card.n_vocab * _LOGIT_S
    return TokenWork(bytes_per_token(card) + cached, fixed_s)


def work_of_size(n_bytes: int, active: float | None = None) -> TokenWork:
    """Return the work for a token of a model of which only the file's size is known.

    Args:
        n_bytes: Its size.
        active: Share of it that a token reads; None means all.
    """
    fixed_s = _USUAL_LAYERS * _LAYER_S + _USUAL_LOGITS * _LOGIT_S
    return TokenWork(n_bytes * (active or 1.0), fixed_s)


def work_of_head(n_bytes: int) -> TokenWork:
    """Return the work for a token of a head in a file of its own, which has one or a few layers."""
    return TokenWork(n_bytes, 2 * _LAYER_S)


def expected(
    target: TokenWork,
    reading: Reading | None,
    draft: TokenWork | None = None,
    acceptance: float | None = None,
) -> Speeds | None:
    """Return the expected speeds of a model, or None if the machine's reading is not known.

    Args:
        target: The model.
        reading: Reading speed of this machine, or None if a GPU computes, too.
        draft: The draft model or head, or None for the speed without drafts only.
        acceptance: Reported share of accepted tokens of this pair; None means the usual one.
    """
    if reading is None or target.n_bytes <= 0:
        return None
    cases = ((_LOW, reading.low), (_TYPICAL, reading.typical), (_HIGH, reading.high))
    alone = [1 / target.seconds(case.reach * rate) for case, rate in cases]
    if draft is None or draft.n_bytes <= 0:
        return Speeds(ExpectedSpeed(*alone))
    usual = _TYPICAL.reach * reading.typical
    price = draft.seconds(usual) / target.seconds(usual)
    gains = (_gain(case, price, acceptance) for case, _ in cases)
    drafted = [speed * gain for speed, gain in zip(alone, gains, strict=True)]
    return Speeds(ExpectedSpeed(*alone), ExpectedSpeed(*drafted))


def _gain(case: _Case, price: float, acceptance: float | None) -> float:
    """Return the speed-up with the best draft length; length 0 is one of the candidates.

    Args:
        case: Cost of a further token, and the acceptance rate.
        price: Cost of drafting a token, in plain steps.
        acceptance: The reported rate, which replaces the usual one, or None if there is none.
    """
    accepted = case.acceptance
    if acceptance is not None:
        accepted = min(max(accepted + acceptance - _TYPICAL.acceptance, 0.0), 0.95)
    return _best(accepted, [1 + n * (case.further + price) for n in range(_MAX_DRAFT_TOKENS + 1)])


def _best(accepted: float, costs: Sequence[float]) -> float:
    """Return the speed-up by the costs of steps with 0, 1, 2… drafted tokens."""
    return max(
        sum(accepted**place for place in range(n + 1)) / cost for n, cost in enumerate(costs)
    )


def measured_speeds(measured: MeasuredPair) -> Speeds:
    """Return the speeds of a pair by its measurements on this machine."""
    alone = [share / measured.plain_s for share in _MEASURED]
    if measured.draft_s is None or measured.acceptance is None:
        return Speeds(ExpectedSpeed(*alone), basis="measured")
    price = measured.draft_s / measured.plain_s
    steps = measured.steps[1 : _MAX_DRAFT_TOKENS + 2]
    gain = _best(measured.acceptance, [cost + n * price for n, cost in enumerate(steps)])
    return Speeds(
        ExpectedSpeed(*alone), ExpectedSpeed(*(gain * speed for speed in alone)), "measured"
    )


def expected_of_pair(pair: CuratedPair, reading: Reading | None) -> Speeds | None:
    """Return the expected speeds of a pair of the list, or None if not known.

    Args:
        pair: An entry.
        reading: Reading speed of this machine, or None if a GPU computes, too.
    """
    if not pair.target_bytes:
        return None
    draft = None
    if pair.is_usable and pair.draft_bytes:
        draft = (work_of_head if pair.is_headed else work_of_size)(pair.draft_bytes)
    target = work_of_size(pair.target_bytes, pair.active)
    return expected(target, reading, draft, pair.acceptance)


def reading_for(reading: Reading | None, devices: Iterable[DeviceInfo]) -> Reading | None:
    """Return the reading for estimates, or None if another device computes, too.

    Args:
        reading: Reading speed of the processor.
        devices: Those that models may be put on.
    """
    return None if any(device.takes_layers for device in devices) else reading
