"""How long a plain step takes now, on a machine that others use, too.

When something else runs, all steps get slower alike: that is the pace. Only true plain steps tell
it for certain (one row, the graph warm), and a reply that drafts has few. So every wide step is
compared with its table entry. When two in a row are off by the same factor, the plain step's time
is moved by it at once, and plain steps are asked for: if they have moved, too, the pace has
changed, else it was the wide steps alone, and the table has to learn. Without such a sign two plain
steps are asked for per 64 speculative ones: 128 when the last ones were as expected, and 8, 16, …
behind a change, which may have been a mistake.

Where three compute on two cores, no pace is steady: a step is held up or not, and an estimate by a
few that are alike is right about one of the two kinds. So where slow and fast steps take turns, the
slow ones two thirds longer, the estimate is the mean of the last plain ones, and wide ones have a
table that follows, until they are alike.

All times are at an empty context (`VerifyCosts.slope`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from operator import ne
from typing import NamedTuple

FAR = 1.18
"""Beyond this factor a step does not fit what is expected, on a quiet machine."""
_FARTHEST = 1.4  # on a noisy one
HICCUP = 3.0
"""A step that took more than so many times the expected was held up by something."""
_BUDGET, _PER_STEP, _TO_BEGIN = 6.0, 0.08, 2.0  # plain steps that may be asked for
_ALIKE = 1.2  # two steps within this factor of one another agree
_SOON, _EVERY, _RARELY = 8, 64, 128
_FIRST = 3  # true plain steps that the first estimate rests on
_FICKLE, _STEADY = 1.7, 1.35  # the slower steps by the faster ones, to begin and to end it
_OFTEN, _ENOUGH = 12, 4  # wide steps between two looks then, plain ones that are enough
_N_MEAN = 16  # steps that a fickle machine's mean rests on
_LEAST = 8  # steps that tell whether they differ
_CHANGES = 3  # between slow and fast steps
_SHARE_KEPT = 0.94  # steps are held up or not, so some twenty have to tell how much
_MOST_WAIT = 10.0  # times its own seconds: a stall of seconds would be seen for a hundred steps
_WARY = 16  # wide steps that move nothing behind a change that was theirs alone


class Turned(NamedTuple):
    """The estimate has moved; the last `n_steps` steps were made at the new one.

    `is_back`: back to where it was before wide steps raised a doubt; they alone have changed.
    """

    n_steps: int
    plain: float
    is_back: bool = False


class Pace:
    """Estimates the seconds of a plain step.

    Attributes:
        plain: The estimate; None before the first true plain step.
        wants_plain: Whether the next step has to be a plain one.
        in_doubt: Whether a change was seen in wide steps that no plain step has confirmed yet.
        spread: Relative size of the noise: nine of ten steps take less than 1 + spread times the
            expected time.
        far: Beyond this factor a step does not fit what is expected.
        is_fickle: Whether steps differ so much that only their mean tells anything.
        drag: Mean time of steps over the expected one: above 1 where some are held up.
        wait: Seconds that pass for each one that is counted here, above 1 where others use the
            machine and it is known how much of it the steps had (`StepTimes.held_s`).
    """

    __slots__ = (
        "_alike", "_before", "_budget", "_counted", "_every", "_far", "_is_asking", "_n_fit",
        "_n_plain", "_n_since", "_n_wary", "_odd", "_passed", "_plains", "_recent", "drag", "far",
        "in_doubt", "is_fickle", "plain", "spread", "wait", "wants_plain",
    )  # fmt: skip

    def __init__(self) -> None:
        self.plain: float | None = None
        self.wants_plain = False
        self.in_doubt = False
        self.spread = 0.08
        self.far = FAR
        self.drag = self.wait = 1.0
        self.is_fickle = False
        self._alike: deque[float] = deque(maxlen=_N_MEAN)  # the last steps as plain ones
        self._plains: deque[float] = deque(maxlen=_N_MEAN)  # the true ones among them
        self._recent: list[float] = []
        self._before = 0.0  # the estimate before the doubt
        self._odd: list[float] = []  # plain steps in a row that do not fit
        self._far: list[float] = []  # factors of wide steps in a row that do not fit
        self._n_fit = 0  # steps since the last one that fitted
        self._n_since = 0  # speculative steps since the last true plain one
        self._every = _EVERY
        self._n_wary = 0
        self._n_plain = 0
        self._budget = _BUDGET
        self._is_asking = False
        self._counted = self._passed = 0.0

    # ----------------------------------------------------------------------------------- steps

    def saw_plain(self, seconds: float) -> Turned | None:
        """Count a true plain step."""
        self._n_since = 0
        plain = self.plain
        if plain is None or self._n_plain < _FIRST:
            self._n_plain += 1
            self._accept(seconds)
            self.wants_plain = self._n_plain < _FIRST
            return None
        self._alike.append(seconds)
        self._plains.append(seconds)
        if not self.is_fickle:
            self.is_fickle = _differ(self._plains, _FICKLE) and _differ(self._alike, _FICKLE)
        if self.is_fickle and self._is_mean():
            self.wants_plain = False
            return None
        factor = seconds / plain
        if self.in_doubt:
            return self._resolve(seconds)
        self._n_fit += 1
        if 1 / self.far < factor < self.far:
            self._was_held_up(factor, [seconds / plain for seconds in self._odd])
            if self.wants_plain:
                self._every = min(2 * self._every, _RARELY)
            self._accept(seconds)
            return None
        odd = self._odd
        if odd and not 1 / _ALIKE < seconds / odd[-1] < _ALIKE:
            odd.clear()
        odd.append(seconds)
        self._every = _SOON
        # Nothing that comes in between makes a step faster, so less is needed to believe that.
        if len(odd) < (3 if factor > 1.0 else 2):
            self.wants_plain = True
            return None
        n, self._recent = self._n_fit, list(odd)
        self._has_turned(odd)
        self._settle(sum(odd) / len(odd))
        return Turned(n, self.plain or seconds)

    def saw_wide(self, factor: float) -> Turned | None:
        """Count a wide step that took `factor` times what the table says at the present pace."""
        n_since = self._n_since = self._n_since + 1
        self._n_fit += 1
        if n_since >= self._every:
            self.wants_plain = True
        self._n_wary -= 1
        if self.plain is None:
            return None
        self._alike.append(factor * self.plain)
        if self.is_fickle and self._is_mean():
            return None
        far, limit = self._far, self.far
        if 1 / limit < factor < limit:
            if far:
                self._was_held_up(factor, far)
                far.clear()
            else:
                self._count_delay(factor)
            if not self._odd:
                self._n_fit = 0
            return None
        if far and not 1 / _ALIKE < factor / far[-1] < _ALIKE:
            far.clear()
        far.append(factor)
        if len(far) < 2:
            return None
        if not self.in_doubt:
            self.in_doubt, self._before = True, self.plain
        self.wants_plain = True
        if self._n_wary <= 0:
            self.plain *= (far[0] * far[1]) ** 0.5
        far.clear()
        return Turned(self._n_fit, self.plain)

    def asks_for_plain(self) -> bool:
        """Whether the coming step is to be a plain one; to be asked once per step.

        On a machine where hardly any step is like the one before, a budget keeps that from
        becoming the rule; but whatever is begun is finished, and no doubt is left open.
        """
        budget = self._budget + _PER_STEP
        self._budget = budget if budget < _BUDGET else _BUDGET
        if not self.wants_plain:
            self._is_asking = False
            return False
        if not self._is_asking and not self.in_doubt and self._budget < _TO_BEGIN:
            return False
        self._is_asking = True
        self._budget -= 1.0
        return True

    def saw_share(self, seconds: float, held_s: float) -> None:
        """Count how much of the time a step could use: `seconds`, and not `held_s`."""
        if held_s:
            most = _MOST_WAIT * seconds
            held_s = held_s if held_s < most else most
        self._counted = counted = _SHARE_KEPT * self._counted + seconds
        self._passed = passed = _SHARE_KEPT * self._passed + seconds + held_s
        if counted > 0.0:
            self.wait = passed / counted

    def saw_other(self) -> None:
        """Count a step whose time says nothing, e.g. since its graph was rebuilt."""
        self._n_fit += 1

    def saw_speculative(self) -> None:
        """Count a speculative step that `saw_wide` was not told of."""
        self._n_since += 1
        self._n_fit += 1
        if self._n_since >= self._every:
            self.wants_plain = True

    def rescale(self, factor: float) -> None:
        """Say all of it in another unit: the empty context's step is now thought to differ."""
        if self.plain is not None:
            self.plain *= factor
            self._before *= factor
            self._recent = [seconds * factor for seconds in self._recent]
            self._odd = [seconds * factor for seconds in self._odd]
            for steps in (self._alike, self._plains):
                scaled = [seconds * factor for seconds in steps]
                steps.clear()
                steps.extend(scaled)

    # ------------------------------------------------------------------------------- within

    def _resolve(self, seconds: float) -> Turned | None:
        """Decide by plain steps whether the pace has changed, or the wide steps alone."""
        assert self.plain is not None
        self._n_fit += 1
        ahead = max(seconds / self.plain, self.plain / seconds)
        behind = max(seconds / self._before, self._before / seconds)
        is_back = behind <= ahead
        # A step that is held up looks like a slower machine, but no two in a row do so by chance.
        is_slower = (self._before > self.plain) == is_back
        recent = self._odd
        if recent and not 1 / _ALIKE < seconds / recent[-1] < _ALIKE:
            recent.clear()
        recent.append(seconds)
        if is_slower and len(recent) < 2:
            return None
        if is_back:
            self._n_wary = _WARY
        n, self._recent = self._n_fit, list(recent)
        if not is_back:
            self._has_turned(recent)
        self._settle(sum(recent) / len(recent))
        self._every = _SOON
        return Turned(n, self.plain or seconds, is_back)

    def _settle(self, plain: float) -> None:
        self.plain = plain
        self.in_doubt = self.wants_plain = False
        self._odd.clear()
        self._far.clear()
        self._n_fit = 0

    def _is_mean(self) -> bool:
        """On a fickle machine, estimate by the mean, and let nothing turn; or say it is over."""
        alike, plains = self._alike, self._plains
        if len(alike) == _N_MEAN and not _differ(alike, _STEADY):
            self.is_fickle = False
            return False
        self._every = _OFTEN
        # Wide steps may suffer more than plain ones, so those tell only as long as they have to.
        told = plains if len(plains) >= _ENOUGH else alike
        most = HICCUP * sorted(told)[len(told) // 2]
        self.plain = sum(min(seconds, most) for seconds in told) / len(told)
        self.drag, self.in_doubt, self._n_fit = 1.0, False, 0
        self._recent, self._odd, self._far = [], [], []
        return True

    def _has_turned(self, steps: Sequence[float]) -> None:
        """Another pace begins, with these steps."""
        for known in (self._alike, self._plains):
            known.clear()
            known.extend(steps)

    def _accept(self, seconds: float) -> None:
        recent = self._recent
        recent.append(seconds)
        if len(recent) > 9:
            del recent[0]
        ordered = sorted(recent)
        n = len(ordered)
        self._settle((ordered[n // 2] + ordered[(n - 1) // 2]) / 2)

    def _was_held_up(self, factor: float, odd: list[float]) -> None:
        """Count a step that fitted, and those before it that did not and were no change."""
        for each in odd:
            self._count_delay(each)
        self._count_delay(factor)

    def _count_delay(self, factor: float) -> None:
        self.drag += 0.03 * ((factor if factor < HICCUP else HICCUP) - self.drag)
        # A quantile by steps: up by nine parts where it was too small, down by one where not.
        spread = self.spread
        if factor > 1.0 + spread:
            self.spread = min(spread + 0.009, 0.5)
            self.far = min(max(FAR, 1.0 + 1.5 * self.spread), _FARTHEST)
        elif spread > 0.02:
            self.spread = spread - 0.001
            if self.far > FAR:
                self.far = min(max(FAR, 1.0 + 1.5 * self.spread), _FARTHEST)


def _differ(steps: deque[float], factor: float) -> bool:
    """Whether of at least eight steps several took so much longer than several others, in turns.

    Slow ones behind fast ones are no more than another pace.
    """
    if len(steps) < _LEAST:
        return False
    ordered = sorted(steps)
    fast, slow = ordered[2], ordered[-3]
    if slow <= factor * fast:
        return False
    middle = (fast * slow) ** 0.5
    are_slow = [seconds > middle for seconds in steps]
    n_changes: int = sum(map(ne, are_slow, are_slow[1:]))
    return n_changes >= _CHANGES
