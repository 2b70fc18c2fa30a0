"""The probability that a drafted token is accepted, and a draft model's gain, for each drafter.

Confidences of different drafters mean different things (a probability, the length of a match,
nothing at all), and few are calibrated. So a confidence only sorts a token into a class, and the
acceptance of each class is counted: recent tokens count most, since texts change, on top of a
long-run estimate that outlives turns and program starts. Only tokens up to the first rejected one
are judged.
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
"""Upper ends of the classes of confidence, 0..1."""
_BOUNDS = UPPER[:-1]
_NO_CONFIDENCE = len(UPPER)  # the class of tokens without a confidence
_FIRST_PLACE = _NO_CONFIDENCE + 1  # first count by place, after the classes' counts
_ALL = _FIRST_PLACE + PLACE_OF[-1] + 1  # index of the count of all tokens
_VERSION = 1
_MAX_NUMBER = 1e9  # upper bound of every count and sum in a valid file


def class_of(confidence: float | None) -> int:
    """Return a confidence's class, 0..6."""
    return _NO_CONFIDENCE if confidence is None else bisect_right(_BOUNDS, confidence)


def classes_of(confidences: Sequence[float | None]) -> list[int]:
    """Return the class of each confidence."""
    return [_NO_CONFIDENCE if c is None else bisect_right(_BOUNDS, c) for c in confidences]


class Acceptance:
    """The acceptance of one drafter's tokens and the gain of its steps.

    Attributes:
        n_judged: Number of its tokens that were ever judged.
        n_accepted: Number of them that were accepted.
        saved: Plain steps that it has saved in total.
    """

    def __init__(self) -> None:
        self._long_judged, self._long_accepted = [0.0] * _FIRST_PLACE, [0.0] * _FIRST_PLACE
        self.n_judged = self.n_accepted = 0
        self.saved = 0.0
        self._gain = self._squares = self._n_gains = self._n_tried = 0.0
        self._credit = TUNING.trial_credit  # plain steps that unsuccessful trials may still lose
        self.forget()

    def forget(self) -> None:
        """Forget recent counts; the long-run ones stay."""
        self._judged, self._accepted = [0.0] * (_ALL + 1), [0.0] * (_ALL + 1)  # recent tokens
        self._rates: list[float | None] = [None] * _FIRST_PLACE

    # ---------------------------------------------------------------------------------- tokens

    def rate(self, cls: int) -> float:
        """Return a cautious estimate of a token's acceptance if all before it were accepted."""
        rate = self._rates[cls]
        if rate is None:
            n, weight = self._long_judged[cls], TUNING.long_run_weight
            long = (self._long_accepted[cls] + 4.0 * TUNING.prior_acceptance[cls]) / (n + 4.0)
            rate = (self._accepted[cls] + weight * long) / (self._judged[cls] + weight)
            if n < TUNING.few_judged_tokens:
                error = TUNING.few_judged_z * math.sqrt(rate * (1.0 - rate) / (n + 6.0))
                rate -= min(error, 0.9 * rate)
            self._rates[cls] = rate
        return rate

    @property
    def mean(self) -> float:
        """Return the share of all recent tokens that was accepted."""
        accepted, judged, weight = self._accepted[_ALL], self._judged[_ALL], TUNING.long_run_weight
        return (accepted + 0.6 * weight) / (judged + weight)

    def survivals(self, classes: Sequence[int]) -> list[float]:
        """Return, for each token, the probability that it and all tokens before it are accepted.

        The list ends at the first token whose probability is close to 0.

        Args:
            classes: Classes of the proposal's tokens.
        """
        survival, found, rates, caution = 1.0, [], self._rates, TUNING.caution
        for cls in classes:
            rate = rates[cls] or self.rate(cls)
            survival *= rate * (1.0 - caution * (1.0 - rate))
            if survival < 0.02:  # adds next to nothing
                break
            found.append(survival)
        return found

    def add(self, classes: Sequence[int], n_accepted: int, n_judged: int) -> None:
        """Count one draft.

        Args:
            classes: Classes of its tokens.
            n_accepted: Number of its first tokens that were accepted.
            n_judged: Number of tokens that were compared with the target's; if it exceeds
                `n_accepted`, the first token after the accepted ones was rejected.
        """
        n = min(n_accepted + 1 if n_accepted < n_judged else n_judged, len(classes))
        judged, accepted, rates = self._judged, self._accepted, self._rates
        long_judged, long_accepted = self._long_judged, self._long_accepted
        kept = TUNING.acceptance_kept
        for i in range(n):
            cls, place, right = (
                classes[i],
                _FIRST_PLACE + PLACE_OF[i],
                1.0 if i < n_accepted else 0.0,
            )
            # Written out three times: a loop takes twice as long.
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

    # ----------------------------------------------------------------------------------- steps

    @property
    def value(self) -> float:
        """Return an upper bound of the gain of this model's step over a plain step, in tokens.

        It is the mean gain of its recent steps plus a multiple of the standard error, as in
        UCB1-Tuned (Auer et al., Machine Learning 47, 2002). So a useless model, whose steps all
        lose about as much, is given up after a few steps. Trials fade with time, so that the model
        is tried again. If the trials lost more than their credit, they do not fade until the steps
        that follow have paid the debt off, each of them `TUNING.trial_share` of a plain step.
        """
        n = self._n_gains + 3.0  # the prior spread counts as much as 3 steps
        mean = self._gain / n
        variance = max(self._squares / n - mean * mean, 0.0) + TUNING.prior_gain_spread**2 * 3.0 / n
        return mean + math.sqrt(variance / (self._n_tried + 0.25))

    @property
    def has_paid(self) -> bool:
        """Return whether its recent steps have gained on average."""
        return self._gain > 0.0

    @property
    def is_given_up(self) -> bool:
        """Return whether enough of its steps show that it does not pay here."""
        return self._n_tried >= TUNING.evidence_to_stop and self.value <= 0.0

    def gained(self, tokens: float, reading: float = 0.0) -> None:
        """Count a step that this model drafted; see `value`.

        Args:
            tokens: Tokens that it committed beyond those of plain steps in the same time, where
                the time for reading does not count.
            reading: Time for reading the text that was generated without this model, in plain
                steps.
        """
        kept, credit = 0.985, TUNING.trial_credit
        self._gain = kept * self._gain + tokens
        self._squares = kept * self._squares + tokens * tokens
        self._n_gains = kept * self._n_gains + 1.0
        self._n_tried += 1.0
        if self.has_paid:
            self._credit = credit
        else:  # a busy machine causes large losses that say little about later steps: bounded
            left = max(self._credit + min(tokens, 0.0), min(self._credit, -credit))
            self._credit = left - max(reading - max(tokens, 0.0), 0.0)

    def pass_over(self, n_steps: int = 1) -> None:
        """Count steps that this drafter did not draft; old trials fade."""
        share = TUNING.trial_share
        n_free = n_steps if self._credit > 0.0 else n_steps + self._credit / share
        self._credit = min(self._credit + share * n_steps, TUNING.trial_credit)
        if n_free > 0.0:
            self._fade(TUNING.trials_kept**n_free)

    def begin_reply(self) -> None:
        """Discount recent counts, since another text may suit the drafter better or worse."""
        if self._credit > 0.0:
            self._fade(0.7)
        kept = TUNING.next_text_kept
        self._judged = [kept * n for n in self._judged]
        self._accepted = [kept * n for n in self._accepted]
        self._rates = [None] * _FIRST_PLACE

    def _fade(self, kept: float) -> None:
        self._gain *= kept
        self._squares *= kept
        self._n_gains *= kept
        self._n_tried *= kept

    # ------------------------------------------------------------------------ reports and files

    def by_confidence(self) -> tuple[ClassRate, ...]:
        """Return the estimated acceptance of each class of confidence that was seen."""
        return tuple(
            ClassRate(upper, self.rate(cls), self._judged[cls])
            for cls, upper in enumerate(UPPER)
            if self._long_judged[cls] > 0.0
        )

    def by_place(self) -> tuple[float, ...]:
        """Return the recent acceptance by group of places, up to those that are rarely reached."""
        pairs = zip(self._accepted[_FIRST_PLACE:_ALL], self._judged[_FIRST_PLACE:_ALL], strict=True)
        return tuple(accepted / judged for accepted, judged in takewhile(itemgetter(1), pairs))

    def to_json(self) -> dict[str, object]:
        """Return the long-run counts as JSON values; they contain nothing of any text."""
        gains = self._gain, self._squares, self._n_gains, self._n_tried
        kept = _Kept(
            tuple(self._long_judged), tuple(self._long_accepted),
            self.n_judged, self.n_accepted, self.saved, gains,
        )  # fmt: skip
        data: dict[str, object] = encode(kept)
        return data

    @classmethod
    def from_json(cls, held: object) -> Acceptance:
        """Return the object that `to_json` wrote.

        Raises:
            ValueError: `held` is not such a value.
        """
        kept, found = decode_known(_Kept, held), cls()
        counts = *zip(kept.accepted, kept.judged, strict=True), (kept.n_accepted, kept.n_judged)
        if len(counts) != _FIRST_PLACE + 1:
            raise ValueError(f"{len(counts) - 1} classes of confidence")
        if not all(n <= _MAX_NUMBER and 0.0 <= right <= n + 1e-3 for right, n in counts):
            raise ValueError("more tokens were accepted than judged")
        if not all(abs(x) <= _MAX_NUMBER for x in (kept.saved, *kept.gains)):
            raise ValueError("these gains are no numbers")
        found._long_judged, found._long_accepted = list(kept.judged), list(kept.accepted)
        found.n_judged, found.n_accepted, found.saved = kept.n_judged, kept.n_accepted, kept.saved
        found._gain, *sums = kept.gains
        found._squares, found._n_gains, found._n_tried = map(abs, sums)
        return found


@dataclass(frozen=True, slots=True)
class _Kept:
    """Counts of one drafter as files hold them, named as in `Acceptance`.

    Attributes:
        gains: Four faded sums over a model's steps: of gains, of squared gains, of steps, and of
            steps that count as trials.
    """

    judged: tuple[float, ...]
    accepted: tuple[float, ...]
    n_judged: int
    n_accepted: int
    saved: float
    gains: tuple[float, ...] = (0.0,) * 4


def rates_to_json(rates: dict[str, Acceptance]) -> str:
    """Return the acceptance of all drafters as JSON text."""
    drafters = {name: each.to_json() for name, each in sorted(rates.items())}
    return json.dumps({"version": _VERSION, "drafters": drafters})


def rates_from_json(text: str) -> dict[str, Acceptance]:
    """Return the acceptance by drafter that `rates_to_json` wrote.

    Raises:
        ValueError: The text is not such a JSON text.
    """
    data = json.loads(text)
    try:
        if data["version"] != _VERSION:
            raise ValueError("these rates are of another version")
        return {str(name): Acceptance.from_json(held) for name, held in data["drafters"].items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"these are no rates: {error}") from error
