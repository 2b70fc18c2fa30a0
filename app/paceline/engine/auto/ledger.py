"""The promise: no turn takes longer than 1.02 times plain decoding and four plain steps.

Every step books the time it took and the time that its tokens would have taken one by one. What is
left of the allowance is the slack, and a draft is verified only if the slack covers the loss that
it would be with no token accepted. So the promise holds for drafters of any worth, up to the
noise of timings. Each reply has an allowance of its own: nothing that an earlier one saved pays
for a loss in this one.

Where there is a draft model the prefill counts as well: a reply may lose 2 % of it, and 3 % more
are there to read the prompt with the model, since after a long one nothing else would show what it
is worth. Lookups read nothing, and 5 % of a long prefill would be a seventh of the reply that is
seen being written; their index takes 1 % of it or 10 ms, which is not booked here. Half of the
fourth plain step is never granted: it is for what no clock here sees, such as caches that are
emptied before it is known what the rest of a step takes.
"""

from __future__ import annotations

from paceline.engine.auto.tuning import TUNING


class Ledger:
    """One reply's account, in seconds.

    Args:
        prefill_s: What the target's prefill took, where it counts.
    """

    def __init__(self, prefill_s: float = 0.0) -> None:
        self._extra = (TUNING.promised_share + TUNING.reading_share) * prefill_s
        self._n = 0
        self._plain = self._spent = 0.0

    def book(self, n_committed: int, seconds: float, plain: float) -> None:
        """Book steps.

        Args:
            n_committed: Tokens that they added to the reply.
            seconds: What they are charged.
            plain: Seconds that plain decoding takes for one of the tokens.
        """
        self._n += n_committed
        self._plain += n_committed * plain
        self._spent += seconds

    def slack(self, plain: float) -> float:
        """Return the seconds that may still be lost; `plain` are those of a plain step now."""
        average = self._plain / self._n if self._n else plain
        granted = (1.0 + TUNING.promised_share) * self._plain + TUNING.allowance * average
        return granted + self._extra - self._spent
