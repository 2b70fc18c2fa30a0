"""The promise: no turn takes longer than 1.02 times plain decoding and four plain steps.

Every step books the time it took and the time that its tokens would have taken one by one. The rest
of the allowance is the slack, and a draft is verified only if the slack covers its loss in case
that no token is accepted. So the promise holds for drafters of any quality, up to the noise of
timings. Each reply has an allowance of its own: savings of an earlier reply never pay for a loss in
this one.

With a draft model the prefill counts as well: a reply may lose 2 % of it, and 3 % more for reading
the prompt with the model, since after a long prompt nothing else would show what the model is
worth. Lookups read nothing, and 5 % of a long prefill would be a seventh of the visible time of the
reply; their index takes 1 % of it or 10 ms, which is not booked here. Half of the fourth plain step
is never granted: it covers what no clock here measures, such as cold caches before the overhead of
a step is known.
"""

from __future__ import annotations

from paceline.engine.auto.tuning import TUNING


class Ledger:
    """The account of one reply, in seconds.

    Args:
        prefill_s: Seconds of the target's prefill, where it counts.
    """

    def __init__(self, prefill_s: float = 0.0) -> None:
        self._extra = (TUNING.promised_share + TUNING.reading_share) * prefill_s
        self._n = 0
        self._plain = self._spent = 0.0

    def book(self, n_committed: int, seconds: float, plain: float) -> None:
        """Book one or more steps.

        Args:
            n_committed: Tokens that they added to the reply.
            seconds: Seconds that they are charged.
            plain: Seconds of one token by plain decoding.
        """
        self._n += n_committed
        self._plain += n_committed * plain
        self._spent += seconds

    def slack(self, plain: float) -> float:
        """Return the seconds that may still be lost; `plain` is the seconds of a plain step now."""
        average = self._plain / self._n if self._n else plain
        granted = (1.0 + TUNING.promised_share) * self._plain + TUNING.allowance_steps * average
        return granted + self._extra - self._spent
