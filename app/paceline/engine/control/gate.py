"""Whether a draft model is asked at all: off for longer and longer while it does not pay.

Only drafting tells whether drafting would pay, and that costs. So what a model's steps gained over
plain ones is averaged; a loss shuts the gate for 8, 16, … 256 steps, and 16 good steps bring the
pauses back to 8 (test and set phases as in Cascade, arXiv 2506.20675). Eight steps are enough
where the loss is beyond doubt, as with a useless draft, whose steps all lose alike; where gains
and losses alternate it takes a longer look. And bad luck at the beginning is believed the later,
the more could be hoped of the model by all that is known of its tokens.
"""

from __future__ import annotations

_BURST = 8
_SHORTEST, _LONGEST = 8, 256
_SHORT_BURST = 4  # once it was shut
_SURE = 0.7  # standard errors
_LONG_LOOK = 32
_MOST_LOST = 1.5  # plain steps that a burst may lose before its eighth step
_HOPED = 8.0  # steps that what was hoped counts for
_KEPT = 0.97


class Gate:
    """One model's gate; all amounts in plain steps.

    Attributes:
        is_open: Whether the model may be asked.
        is_trial: Whether it was shut before and has not paid since.
    """

    __slots__ = ("_mass", "_n_good", "_n_left", "_n_seen", "_pause", "_squares", "_sum",
                 "_was_shut", "is_open", "is_trial")  # fmt: skip

    def __init__(self) -> None:
        self.is_open = True
        self.is_trial = True
        self._mass = self._sum = self._squares = 0.0
        self._n_seen = 0
        self._n_good = 0
        self._n_left = 0
        self._was_shut = False
        self._pause = _SHORTEST

    def add(self, gain: float, hope: float) -> None:
        """Count a step that the model drafted.

        Args:
            gain: Tokens that it committed, less its plain steps.
            hope: What such a step should gain by all that is known.
        """
        self._mass = mass = _KEPT * self._mass + 1.0
        self._sum = total = _KEPT * self._sum + gain
        self._squares = squares = _KEPT * self._squares + gain * gain
        self._n_seen = n_seen = self._n_seen + 1
        if gain > 0.0:
            self._n_good += 1
            if self._n_good >= 16:
                self._pause, self._n_good = _SHORTEST, 0
        may_lose = 0.0
        if hope > 0.0 and n_seen < _LONG_LOOK:
            may_lose = _HOPED * (hope * (1.0 - n_seen / _LONG_LOOK))
        if n_seen < (_SHORT_BURST if self._was_shut else _BURST):
            if -total > may_lose and -total > _MOST_LOST:
                self._shut()
            return
        if -total > may_lose and (n_seen >= _LONG_LOOK or _is_sure(total, squares, mass)):
            self._shut()
        else:
            self.is_trial = False
            self._was_shut = self._was_shut and n_seen < _BURST

    def wait(self) -> None:
        """Count a step without the model while the gate is shut."""
        if not self.is_open:
            self._n_left -= 1
            if self._n_left <= 0:
                self._reopen()

    def sit_out(self) -> None:
        """Stay shut for most replies' length."""
        self.is_open = False
        self._n_left = _LONGEST

    def renew(self) -> None:
        """Another reply begins, or the text has changed: shorten what is left of a pause."""
        self._pause = max(_SHORTEST, self._pause // 2)
        self._n_left = min(self._n_left, self._pause)
        if not self.is_open and self._pause == _SHORTEST:
            self._reopen()

    def _shut(self) -> None:
        self.is_open = False
        self._was_shut = True
        self._n_left = self._pause
        self._pause = min(self._pause * 2, _LONGEST)
        self._n_good = 0

    def _reopen(self) -> None:
        self.is_open = self.is_trial = True
        self._mass = self._sum = self._squares = 0.0
        self._n_seen = 0


def _is_sure(total: float, squares: float, mass: float) -> bool:
    """Whether a mean is so far from 0 that it is hardly chance, by its sum and sum of squares."""
    mean = total / mass
    return mean * mean * mass > _SURE * _SURE * (squares / mass - mean * mean)
