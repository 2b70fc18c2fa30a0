"""What drafting costs: seconds per token drafted one by one, and per token caught up in a batch.

A draft model decodes its backlog (what was committed without it; at first the whole prompt) in one
batch, whose last row gives the first drafted token, and then one token after the other. So a draft
of k tokens behind a backlog of m takes a + b * k + c * (m - 1), where a is small and goes into b.
What was never measured is feared rather than hoped: a first draft behind a long prompt could cost
more than a reply may lose.
"""

from __future__ import annotations

_N_KEPT = 9
_UNKNOWN = 1.0  # plain steps per token, before any was drafted and with no guess: as the target
_BATCHED = 0.4  # a token of a batch, of one alone, before any batch was seen
_SHORT = 4  # a backlog of so few tokens is what every step leaves


class DraftCosts:
    """One draft model's costs in seconds, at the pace of the table of costs.

    Attributes:
        guess: Plain steps per token before any was drafted, e.g. by the models' sizes.
        per_token: Seconds of a token drafted one by one; None: never measured.
        per_backlog: Seconds of a token caught up in a batch; None: never measured.
    """

    __slots__ = ("_backlog", "_n_seen", "_single", "guess", "per_backlog", "per_token")

    def __init__(self) -> None:
        self.guess = _UNKNOWN
        self._n_seen = 0
        self._single: list[float] = []
        self._backlog: list[float] = []
        self.per_token: float | None = None
        self.per_backlog: float | None = None

    def add(self, n_decoded: int, seconds: float, n_backlog: int = 1) -> None:
        """Count one step's drafting.

        Args:
            n_decoded: Tokens that the model decoded, the backlog included.
            seconds: What that took.
            n_backlog: How many of them were caught up in the first batch; at least 1.
        """
        n_drafted = n_decoded - n_backlog + 1
        if n_drafted < 1 or seconds <= 0.0:
            return
        if n_backlog <= _SHORT:
            self._n_seen += 1
            single = self._single
            if len(single) == _N_KEPT:
                if self._n_seen % 2:
                    return
                del single[0]
            single.append(seconds / n_drafted)
            self.per_token = sorted(single)[len(single) // 2]
        else:
            extra = seconds - n_drafted * (self.per_token or 0.0)
            self._backlog.append(max(extra, 0.0) / (n_backlog - 1))
            if len(self._backlog) > _N_KEPT:
                del self._backlog[0]
            self.per_backlog = sorted(self._backlog)[len(self._backlog) // 2]

    def token(self, plain: float) -> float:
        """Return the seconds of one more drafted token; `plain` are those of a plain step."""
        return self.per_token if self.per_token is not None else self.guess * plain

    def catch_up(self, n_backlog: int, plain: float) -> float:
        """Return the seconds by which a backlog makes the first token dearer."""
        if n_backlog <= 1:
            return 0.0
        each = self.per_backlog
        if each is None:
            each = self.token(plain) * _BATCHED
        return each * (n_backlog - 1)
