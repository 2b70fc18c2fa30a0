"""How likely a drafted token is accepted, and what a draft model's steps gain; by drafter.

Confidences of different drafters mean different things (a probability, a match's length, nothing
at all), and few mean what they say. So they only sort tokens into classes, and what became of each
class is counted: recent tokens count most, since texts change, and lean on the long run, which
outlives turns and programs. Only tokens up to the first rejected one are judged.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from operator import itemgetter

from paceline.codec import decode_known, encode_part
from paceline.figures import ClassRate

UPPER = (0.3, 0.5, 0.7, 0.85, 0.95, 1.0)
"""Upper ends of the classes of confidence."""
PLACE_OF = (0, 1, 2, 3, 3, 4, 4, 4, 4) + (5,) * 56
"""The group that a place in the draft belongs to; acceptance is told by it."""
_BOUNDS = UPPER[:-1]
_SILENT = len(UPPER)  # the class of tokens that come without a confidence
_DEFAULT = (0.2, 0.4, 0.6, 0.75, 0.85, 0.95, 0.5)  # believed of each class before any was judged
_PLACES = len(_DEFAULT)  # counts of the classes come first, then those of the places
_ALL = _PLACES + PLACE_OF[-1] + 1  # and then those of all tokens
# Fitted in simulated time. Where nothing else is said, half of it and half as much again change the
# mean gain by less than 0.3 %, whether costs are known, to be learned, or come after a prompt.
_WEIGHT, _RECENT_WEIGHT = 4.0, 5.0  # judged tokens that this and the long run count for
_KEPT = 0.97  # of what was judged of a class, with each further token of it
_FEW = 20.0  # judged tokens below which the lower 30 % quantile is believed: half as much loses 0.2
_Z_LOW = 0.52  # its z: without it 0.8 more, but after some prompts a good model is given up
_HOPELESS = 0.02  # of survival, below which nothing is added up; without it, nothing changes
_CAUTION = 0.2  # of its doubt, by which a token is believed less still; decision 097
_KEPT_GAIN = 0.985  # of what steps of a model gained, with each further one; see `value`
_SPREAD = 0.5  # of a step's gain before any was seen: more costs 0.7 in the worst reply
_FIRST = 3.0  # steps that this counts for
_FORGOTTEN = 0.997  # of a model's trials, with each step: .9955 costs 0.5 in the worst reply
_NEXT_REPLY = 0.7  # and with each reply, in which it may do better
_CREDIT = 1.0  # plain steps that they may lose at once, and owe at most but for reading
_ON_TRIALS = 0.005  # of plain steps, what makes up for trials in vain: decisions 105 and 110
_NEXT_TEXT = 0.25  # of what was recent, with each reply: more loses 0.4 where texts take turns
_TELLING = 8.0  # steps of a model that say that it does not pay: for idle time alone
_VERSION = 1
_LARGEST = 1e9  # no count or sum in a file is beyond


def class_of(confidence: float | None) -> int:
    """Return a confidence's class, 0..6."""
    return _SILENT if confidence is None else bisect_right(_BOUNDS, confidence)


def classes_of(confidences: Sequence[float | None]) -> list[int]:
    """Return the class of each confidence."""
    return [_SILENT if c is None else bisect_right(_BOUNDS, c) for c in confidences]


class Acceptance:
    """One drafter's.

    Attributes:
        n_judged: Tokens of its own that were ever judged.
        n_accepted: How many of them were accepted.
        saved: Plain steps that it saved, over all.
    """

    def __init__(self) -> None:
        self._long_judged, self._long_accepted = [0.0] * len(_DEFAULT), [0.0] * len(_DEFAULT)
        self.n_judged = self.n_accepted = 0
        self.saved = 0.0
        self._gain = self._squares = self._n_gains = self._n_tried = 0.0
        self._credit = _CREDIT  # plain steps that trials in vain may lose
        self.forget()

    def forget(self) -> None:
        """Forget what was recent; the long run stays."""
        self._judged, self._accepted = [0.0] * (_ALL + 1), [0.0] * (_ALL + 1)  # recent ones
        self._rates: list[float | None] = [None] * len(_DEFAULT)

    # ------------------------------------------------------------------------------ its tokens

    def rate(self, cls: int) -> float:
        """Return what is safe to believe of a token of this class, given those before it."""
        rate = self._rates[cls]
        if rate is None:
            n, n_recent = self._long_judged[cls], self._judged[cls] + _RECENT_WEIGHT
            long = (self._long_accepted[cls] + _WEIGHT * _DEFAULT[cls]) / (n + _WEIGHT)
            rate = (self._accepted[cls] + _RECENT_WEIGHT * long) / n_recent
            if n < _FEW:
                rate -= min(_Z_LOW * math.sqrt(rate * (1.0 - rate) / (n + 6.0)), 0.9 * rate)
            self._rates[cls] = rate
        return rate

    @property
    def mean(self) -> float:
        """Share of all tokens that were accepted recently."""
        accepted, judged = self._accepted[_ALL], self._judged[_ALL]
        return (accepted + 0.6 * _RECENT_WEIGHT) / (judged + _RECENT_WEIGHT)

    def survivals(self, classes: Sequence[int]) -> list[float]:
        """Return how likely each token is accepted with all before it; ends where it is hopeless.

        Args:
            classes: Of the proposal's tokens.
        """
        survival, found, rates = 1.0, [], self._rates
        for cls in classes:
            rate = rates[cls] or self.rate(cls)
            survival *= rate * (1.0 - _CAUTION * (1.0 - rate))
            if survival < _HOPELESS:
                break
            found.append(survival)
        return found

    def add(self, classes: Sequence[int], n_accepted: int, n_judged: int) -> None:
        """Count one draft.

        Args:
            classes: Of its tokens.
            n_accepted: Tokens accepted, from the first one on.
            n_judged: Tokens that were compared at all; the one after the accepted ones, if it is
                among them, was rejected.
        """
        n = min(n_accepted + 1 if n_accepted < n_judged else n_judged, len(classes))
        judged, accepted, rates = self._judged, self._accepted, self._rates
        long_judged, long_accepted = self._long_judged, self._long_accepted
        for i in range(n):
            cls, place, right = classes[i], _PLACES + PLACE_OF[i], 1.0 if i < n_accepted else 0.0
            # Each written out: a loop over the three takes twice as long.
            judged[cls] = _KEPT * judged[cls] + 1.0
            accepted[cls] = _KEPT * accepted[cls] + right
            judged[place] = _KEPT * judged[place] + 1.0
            accepted[place] = _KEPT * accepted[place] + right
            judged[_ALL] = _KEPT * judged[_ALL] + 1.0
            accepted[_ALL] = _KEPT * accepted[_ALL] + right
            long_judged[cls] += 1.0
            long_accepted[cls] += right
            rates[cls] = None
        self.n_judged += n
        self.n_accepted += min(n_accepted, n)

    # ------------------------------------------------------------------------------- its steps

    @property
    def value(self) -> float:
        """Tokens that a step of a model may gain over a plain one, less its time at the rate.

        The mean of its recent steps and its standard error: an upper bound, as in UCB1-Tuned
        (Auer et al., Machine Learning 47, 2002). So a useless model, whose steps all lose alike, is
        given up after a few. Trials are forgotten with time, so that it is tried again; but not
        before a small share of the steps has made up for what they lost, see `gained`.
        """
        n = self._n_gains + _FIRST
        mean = self._gain / n
        variance = max(self._squares / n - mean * mean, 0.0) + _SPREAD**2 * _FIRST / n
        return mean + math.sqrt(variance / (self._n_tried + 0.25))

    @property
    def has_paid(self) -> bool:
        """Whether its recent steps have gained."""
        return self._gain > 0.0

    @property
    def is_given_up(self) -> bool:
        """Whether a good number of its steps say that it does not pay here."""
        return self._n_tried >= _TELLING and self.value <= 0.0

    def gained(self, tokens: float, reading: float = 0.0) -> None:
        """Count a step that it drafted; see `value`.

        Args:
            tokens: What it gained over a plain step, less its time, without what reading took.
            reading: Plain steps that it took to read what was written without it.
        """
        self._gain = _KEPT_GAIN * self._gain + tokens
        self._squares = _KEPT_GAIN * self._squares + tokens * tokens
        self._n_gains = _KEPT_GAIN * self._n_gains + 1.0
        self._n_tried += 1.0
        if self.has_paid:
            self._credit = _CREDIT
        else:  # steps that were slowed for a while lose much, and say little of later ones
            left = max(self._credit + min(tokens, 0.0), min(self._credit, -_CREDIT))
            self._credit = left - max(reading - max(tokens, 0.0), 0.0)

    def pass_over(self, n_steps: int = 1) -> None:
        """Let some steps go by."""
        n_free = n_steps if self._credit > 0.0 else n_steps + self._credit / _ON_TRIALS
        self._credit = min(self._credit + _ON_TRIALS * n_steps, _CREDIT)
        if n_free > 0.0:
            self._fade(_FORGOTTEN**n_free)

    def begin_reply(self) -> None:
        """Another text begins, in which a model may do better, and each class otherwise."""
        if self._credit > 0.0:
            self._fade(_NEXT_REPLY)
        self._judged = [_NEXT_TEXT * n for n in self._judged]
        self._accepted = [_NEXT_TEXT * n for n in self._accepted]
        self._rates = [None] * len(_DEFAULT)

    def _fade(self, kept: float) -> None:
        self._gain *= kept
        self._squares *= kept
        self._n_gains *= kept
        self._n_tried *= kept

    # --------------------------------------------------------------------------------- telling

    def by_confidence(self) -> tuple[ClassRate, ...]:
        """Return what is believed of each class of confidence that was seen."""
        return tuple(
            ClassRate(upper, self.rate(cls), self._judged[cls])
            for cls, upper in enumerate(UPPER)
            if self._long_judged[cls] > 0.0
        )

    def by_place(self) -> tuple[float, ...]:
        """Return the recent acceptance by group of places, up to those that are seldom reached."""
        pairs = zip(self._accepted[_PLACES:_ALL], self._judged[_PLACES:_ALL], strict=True)
        return tuple(accepted / judged for accepted, judged in takewhile(itemgetter(1), pairs))

    def to_json(self) -> dict[str, object]:
        """Return what is kept from one program to the next: nothing of any text is in it."""
        gains = self._gain, self._squares, self._n_gains, self._n_tried
        kept = _Kept(
            tuple(self._long_judged), tuple(self._long_accepted),
            self.n_judged, self.n_accepted, self.saved, gains,
        )  # fmt: skip
        return encode_part(kept)

    @classmethod
    def from_json(cls, held: object) -> Acceptance:
        """Return what `to_json` gave this for.

        Raises:
            ValueError: It did not.
        """
        kept, found = decode_known(_Kept, held), cls()
        counts = *zip(kept.accepted, kept.judged, strict=True), (kept.n_accepted, kept.n_judged)
        if len(counts) != len(_DEFAULT) + 1:
            raise ValueError(f"{len(counts) - 1} classes of confidence")
        if not all(n <= _LARGEST and 0.0 <= right <= n + 1e-3 for right, n in counts):
            raise ValueError("more tokens were accepted than judged")
        if not all(abs(x) <= _LARGEST for x in (kept.saved, *kept.gains)):
            raise ValueError("these gains are no numbers")
        found._long_judged, found._long_accepted = list(kept.judged), list(kept.accepted)
        found.n_judged, found.n_accepted, found.saved = kept.n_judged, kept.n_accepted, kept.saved
        found._gain, *sums = kept.gains
        found._squares, found._n_gains, found._n_tried = map(abs, sums)
        return found


@dataclass(frozen=True, slots=True)
class _Kept:
    """What files say of one drafter, by the names of `Acceptance`.

    Attributes:
        gains: Sum of the gains of a model's steps, of their squares, their number, and trials.
    """

    judged: tuple[float, ...]
    accepted: tuple[float, ...]
    n_judged: int
    n_accepted: int
    saved: float
    gains: tuple[float, ...] = (0.0,) * 4


def rates_to_json(rates: dict[str, Acceptance]) -> str:
    """Return the acceptance of all drafters as a text."""
    drafters = {name: each.to_json() for name, each in sorted(rates.items())}
    return json.dumps({"version": _VERSION, "drafters": drafters})


def rates_from_json(text: str) -> dict[str, Acceptance]:
    """Return what `rates_to_json` gave this text for.

    Raises:
        ValueError: It is no such text.
    """
    data = json.loads(text)
    try:
        if data["version"] != _VERSION:
            raise ValueError("these rates are of another version")
        return {str(name): Acceptance.from_json(held) for name, held in data["drafters"].items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"these are no rates: {error}") from error
