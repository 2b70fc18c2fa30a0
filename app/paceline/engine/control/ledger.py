"""The promise: no reply takes longer than 1.02 times plain decoding and four plain steps.

Every step books the time it took and the time that its tokens would have taken one by one. What is
left of the allowance is the slack, and a draft is verified only if the slack covers the loss that
it would be with no token accepted. So the promise holds whatever drafters are worth, up to the
noise of timings. Each reply has an allowance of its own: nothing that an earlier one saved pays
for a loss in this one, and a saving beyond 200 plain steps does not count within it, either.

Time is booked at the pace that the machine had. When it turns out later that the pace had changed
some steps ago (`pace.py`), those steps are booked again. A plain step needs no estimate: what it
took is what plain decoding takes, however noisy the machine is. Half of the fourth step is never
granted: it is for what no clock here sees, such as caches that a draft model has emptied.
"""

from __future__ import annotations

from collections import deque

SHARE = 0.02
"""Of plain decoding's time, what a reply may take longer."""
STEPS = 3.5
"""Plain steps that a reply may lose besides; four are promised."""
CAP = 200.0
"""Plain steps of savings that count at most."""
_ALLOWED = 1.0 + SHARE
_NEAR_CAP = 0.9 * CAP
_REMEMBERED = 64
_SMALL = 0.6  # plain steps that may be lost in one step as long as they are there


def stake(slack: float) -> float:
    """Return the plain steps that one step may lose: half of the slack, so that some is left.

    Who loses all at once would have to go on plainly for hundreds of tokens.
    """
    half, small = 0.5 * slack, slack if slack < _SMALL else _SMALL
    return half if half > small else small


def steps_until(slack: float, loss: float) -> int:
    """Return how many plain steps it takes until a step may lose so much; all in plain steps."""
    needed = loss if loss < _SMALL else 2.0 * loss
    return int((needed - slack) / SHARE) if needed > slack else 0


class Ledger:
    """One reply's account, in seconds.

    Args:
        extra: Seconds that the reply may take longer besides, such as a share of its prefill.
    """

    __slots__ = ("_booked", "_n", "_plain", "_spent", "extra")

    def __init__(self, extra: float = 0.0) -> None:
        self.extra = extra
        self._n = 0
        self._plain = 0.0
        self._spent = 0.0
        self._booked: deque[tuple[int, float, float, float]] = deque(maxlen=_REMEMBERED)

    def book(self, n_committed: int, seconds: float, plain: float, raw: float) -> None:
        """Book one step.

        Args:
            n_committed: Tokens that it added to the reply.
            seconds: What it is charged.
            plain: Seconds of a plain step then.
            raw: What it took; more than `seconds` where it seems to have been held up.
        """
        self._n += n_committed
        self._booked.append((n_committed, seconds, plain, raw))
        self._plain = needed = self._plain + n_committed * plain
        self._spent = spent = self._spent + seconds
        if needed - spent > _NEAR_CAP * plain:
            beyond = self.slack(plain) - CAP * plain
            if beyond > 0.0:
                self._spent = spent + beyond

    def book_plain(self, n_committed: int, seconds: float, plain: float) -> None:
        """Book a plain step, of which `plain` seconds would have been needed anyway."""
        self._n += n_committed
        self._plain += plain
        self._spent += seconds
        self._booked.append((0, 0.0, 0.0, 0.0))

    def book_rest(self, n: int, seconds: float, plain: float) -> None:
        """Book plain steps that nobody decided on, and that `rebook` does not count."""
        self._n += n
        self._plain += plain
        self._spent += seconds

    def rebook(self, n_steps: int, plain: float) -> None:
        """Book the last steps again: a plain step took so long then."""
        booked = self._booked
        for i in range(len(booked) - min(n_steps, len(booked)), len(booked)):
            n_committed, seconds, before, raw = booked[i]
            self._plain += n_committed * (plain - before)
            self._spent += raw - seconds
            booked[i] = n_committed, raw, plain, raw

    def slack(self, plain: float) -> float:
        """Return the seconds that may still be lost; `plain` are those of a plain step now."""
        needed, n = self._plain, self._n
        average = needed / n if n else plain
        return _ALLOWED * needed + STEPS * average + self.extra - self._spent

    @property
    def saved(self) -> float:
        """Seconds by which the reply is ahead of plain decoding; negative: behind."""
        return self._plain - self._spent

    @property
    def saved_steps(self) -> float:
        """The same in plain steps of this reply; 0 before the first one."""
        return self.saved * self._n / self._plain if self._plain else 0.0
