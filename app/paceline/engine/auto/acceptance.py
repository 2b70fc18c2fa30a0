"""The probability that a drafted token is accepted, and a draft model's gain; by drafter.

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

from paceline.codec import decode_known, encode
from paceline.engine.auto.tuning import TUNING
from paceline.figures import PLACE_OF, ClassRate

UPPER = (0.3, 0.5, 0.7, 0.85, 0.95, 1.0)
"""Upper ends of the classes of confidence."""
_BOUNDS = UPPER[:-1]
_SILENT = len(UPPER)  # the class of tokens that come without a confidence
_PLACES = _SILENT + 1  # counts of the classes come first, then those of the places
_ALL = _PLACES + PLACE_OF[-1] + 1  # and then those of all tokens
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
        self._long_judged, self._long_accepted = [0.0] * _PLACES, [0.0] * _PLACES
        self.n_judged = self.n_accepted = 0
        self.saved = 0.0
        self._gain = self._squares = self._n_gains = self._n_tried = 0.0
        self._credit = TUNING.trial_credit  # plain steps that trials in vain may lose
        self.forget()

    def forget(self) -> None:
        """Forget what was recent; the long run stays."""
        self._judged, self._accepted = [0.0] * (_ALL + 1), [0.0] * (_ALL + 1)  # recent ones
        self._rates: list[float | None] = [None] * _PLACES

    # ------------------------------------------------------------------------------ its tokens

    def rate(self, cls: int) -> float:
        """Return a careful estimate of a token's acceptance, given that all before it were."""
        rate = self._rates[cls]
        if rate is None:
            n, weight = self._long_judged[cls], TUNING.long_run_weight
            long = (self._long_accepted[cls] + 4.0 * TUNING.prior_acceptance[cls]) / (n + 4.0)
            rate = (self._accepted[cls] + weight * long) / (self._judged[cls] + weight)
            if n < TUNING.few_judged:
                error = TUNING.few_judged_z * math.sqrt(rate * (1.0 - rate) / (n + 6.0))
                rate -= min(error, 0.9 * rate)
            self._rates[cls] = rate
        return rate

    @property
    def mean(self) -> float:
        """Share of all tokens that were accepted recently."""
        accepted, judged, weight = self._accepted[_ALL], self._judged[_ALL], TUNING.long_run_weight
        return (accepted + 0.6 * weight) / (judged + weight)

    def survivals(self, classes: Sequence[int]) -> list[float]:
        """Return the probability of each token that it is accepted with all before it.

        Ends where that is next to 0.

        Args:
            classes: Of the proposal's tokens.
        """
        survival, found, rates, caution = 1.0, [], self._rates, TUNING.caution
        for cls in classes:
            rate = rates[cls] or self.rate(cls)
            survival *= rate * (1.0 - caution * (1.0 - rate))
            if survival < 0.02:  # adds nothing any more
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
        kept = TUNING.acceptance_kept
        for i in range(n):
            cls, place, right = classes[i], _PLACES + PLACE_OF[i], 1.0 if i < n_accepted else 0.0
            # Each written out: a loop over the three takes twice as long.
            judged[cls] = kept * judged[cls] + 1.0
            accepted[cls] = kept * accepted[cls] + right
            judged[place] = kept * judged[place] + 1.0
            accepted[place] = kept * accepted[place] + right
            judged[_ALL] = kept * judged[_ALL] + 1.0
            accepted[_ALL] = kept * accepted[_ALL] + right
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
        n = self._n_gains + 3.0  # steps that the first spread counts for
        mean = self._gain / n
        variance = max(self._squares / n - mean * mean, 0.0) + TUNING.first_spread**2 * 3.0 / n
        return mean + math.sqrt(variance / (self._n_tried + 0.25))

    @property
    def has_paid(self) -> bool:
        """Whether its recent steps have gained."""
        return self._gain > 0.0

    @property
    def is_given_up(self) -> bool:
        """Whether a good number of its steps say that it does not pay here."""
        return self._n_tried >= TUNING.evidence_to_stop and self.value <= 0.0

    def gained(self, tokens: float, reading: float = 0.0) -> None:
        """Count a step that it drafted; see `value`.

        Args:
            tokens: What it gained over a plain step, less its time, without what reading took.
            reading: Plain steps that it took to read what was written without it.
        """
        kept, credit = 0.985, TUNING.trial_credit
        self._gain = kept * self._gain + tokens
        self._squares = kept * self._squares + tokens * tokens
        self._n_gains = kept * self._n_gains + 1.0
        self._n_tried += 1.0
        if self.has_paid:
            self._credit = credit
        else:  # steps that were slowed for a while lose much, and say little of later ones
            left = max(self._credit + min(tokens, 0.0), min(self._credit, -credit))
            self._credit = left - max(reading - max(tokens, 0.0), 0.0)

    def pass_over(self, n_steps: int = 1) -> None:
        """Let some steps go by."""
        share = TUNING.trial_share
        n_free = n_steps if self._credit > 0.0 else n_steps + self._credit / share
        self._credit = min(self._credit + share * n_steps, TUNING.trial_credit)
        if n_free > 0.0:
            self._fade(TUNING.trials_kept**n_free)

    def begin_reply(self) -> None:
        """Another text begins, in which a model may do better, and each class otherwise."""
        if self._credit > 0.0:
            self._fade(0.7)
        kept = TUNING.next_text_kept
        self._judged = [kept * n for n in self._judged]
        self._accepted = [kept * n for n in self._accepted]
        self._rates = [None] * _PLACES

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
        data: dict[str, object] = encode(kept)
        return data

    @classmethod
    def from_json(cls, held: object) -> Acceptance:
        """Return what `to_json` gave this for.

        Raises:
            ValueError: It did not.
        """
        kept, found = decode_known(_Kept, held), cls()
        counts = *zip(kept.accepted, kept.judged, strict=True), (kept.n_accepted, kept.n_judged)
        if len(counts) != _PLACES + 1:
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
