"""The time that plain decoding would have taken for a reply: an estimate with an interval.

A plain step took the time of plain decoding, unless a wide one came shortly before: on CPUs the
next ones are slower, the first by 10 to 13 %, the second by 7, the fifth by 1 (AVX-512, SmolLM2 and
a model of the same shape with 70 M weights), which `RecentPlain.slower_after` models. The tokens of
all other steps would have taken a plain step each, at the same context and in the same stretch of
time. So a reply is cut into stretches of eight timed steps, and the pace of each is the seconds of
its decodes per unit, where a unit is a plain decode at an empty context; `VerifyCosts` says how
many units a wide batch is worth. A reply's own speed is a mean, thus so is this: a median of step
times, which have a long tail wherever others use the machine, would show every reply as a loss.

Stretches with both kinds of steps show how wrong the table is about the wide batches of this reply,
as a ratio of rates over strata (Mantel and Haenszel 1959); where there are few of them, the plain
steps before the reply are used, too. Each estimate is weighted by its precision, and so is the
table, unless the reply's own plain steps contradict it: then it describes other conditions, and
they alone count. What is not decoding, sampling above all, takes the same time either way and is
counted as measured.

The interval covers the expected plain time in 95 of 100 replies. It combines how step times vary
about the pace of their stretch (one more step as slow as the slowest is assumed, since a tail is
longer than a sample of it shows) with the uncertainty of the table. A simulation checks that
(`tests/engine/test_plain_time.py`).
"""

from __future__ import annotations

import math
from array import array
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paceline.engine.auto.knowledge import Knowledge
from paceline.engine.auto.tuning import TUNING

Array = NDArray[np.float64]


class PlainSeconds(NamedTuple):
    """An estimate of the time of plain decoding, in seconds.

    Attributes:
        seconds: The mean.
        least: The lower end of its 95 % interval.
        most: The upper end.
    """

    seconds: float
    least: float
    most: float


class _Steps:
    """The steps of a reply, and sums over its stretches.

    Attributes:
        s: Seconds of the timed steps, float64 [n steps]; 0 for others.
        plain: Units of the timed plain steps, float64 [n steps]; 0 for others.
        wide: Units of the timed wide steps, float64 [n steps]; 0 for others.
        owed: Units of tokens whose steps did not take the time of plain decoding.
        n: Number of timed steps, [n stretches].
    """

    def __init__(self, steps: array[float]) -> None:
        self.s, self.plain, self.wide, self.owed = np.array(steps).reshape(-1, 4).T
        is_timed = self.plain + self.wide > 0.0
        self._stretch = (np.cumsum(is_timed) - is_timed) // TUNING.stretch_steps
        self.n = self.total(is_timed)

    def total(self, of_steps: Array | NDArray[np.bool_]) -> Array:
        """Return the sum over the steps of each stretch, float64 [n stretches]."""
        return np.bincount(self._stretch, of_steps).astype(np.float64)

    def of(self, units: Array) -> tuple[Array, Array, Array]:
        """Return by stretch the number of steps of one kind, their seconds and their units."""
        is_one = units > 0.0
        return self.total(is_one), self.total(self.s * is_one), self.total(units)

    def noise(self, q: float) -> tuple[float, float]:
        """Return how step times vary about the pace of their stretch, as relative variances.

        Args:
            q: Factor by which wide steps take longer than the table says.

        Returns:
            The variance over all stretches, with a tail that may not have been seen; and the
            variance of the middle stretch, which no single step determines.
        """
        s, u, n, at = self.s, self.plain + q * self.wide, self.n, self._stretch
        several = n > 1
        if not several.any():
            return TUNING.prior_noise**2, 0.0
        s_all, u_all, uu = self.total(s), self.total(u), self.total(u * u)[several]
        pace = np.maximum(s_all, 1e-12) / np.maximum(u_all, 1e-12)
        n_each = n[several]
        apart = self.total((s / pace[at] - u) ** 2)[several] * n_each / (n_each - 1)
        told = several[at] & (u > 0.0)
        others = np.maximum((s_all[at] - s)[told] / (u_all[at] - u)[told], 1e-12)
        tail = max(float((s[told] / u[told] / others).max()) - 1.0, 0.0)
        n_all = float(n_each.sum())
        n_before = TUNING.prior_noise_steps
        seen = float(apart.sum() / uu.sum()) * n_all + tail**2
        total = (seen + n_before * TUNING.prior_noise**2) / (n_all + n_before)
        return total, float(np.median(apart / uu))


class PlainTime:
    """Accumulates the steps of one reply; for the engine's thread.

    Args:
        knowledge: Costs of steps; learns from this reply's plain steps as well.

    Attributes:
        noise: Relative standard deviation of step times about the pace of their stretch, in the
            middle stretch; 0 before the first estimate.
    """

    def __init__(self, knowledge: Knowledge | None = None) -> None:
        self._knowledge = knowledge or Knowledge()
        self._recent = self._knowledge.recent
        self._steps = array("d")  # four numbers per step, see `_Steps`
        self._plain: list[tuple[float, int]] = []  # seconds and context of steps not booked yet
        self._same_s = 0.0
        self._doubt = 0.0  # sum of units times the table's variance, over wide steps
        self._has_decoded = self._has_wide = False
        self._n_after = 0  # plain steps since the last other one
        self._pace = 0.0  # seconds per unit of steps that were not slowed
        self._n_since = TUNING.pace_valid_steps  # steps since the last of these
        self.noise = 0.0

    def add_same(self, seconds: float) -> None:
        """Count time that plain decoding would have taken as well."""
        self._same_s += seconds

    def add(
        self,
        width: int,
        n_ctx: int,
        n_committed: int,
        decode_s: float,
        *,
        warm: bool,
        same_s: float = 0.0,
    ) -> float:
        """Count one step; return the factor by which an earlier wide step has slowed its decode.

        Args:
            width: Tokens of its batch; 0 if its decode was repeated or dropped.
            n_ctx: Tokens in the context before it.
            n_committed: Tokens that it added to the reply.
            decode_s: Seconds of the target's decode alone.
            warm: Whether the step before had the same width.
            same_s: Its other seconds that plain decoding would have taken as well.
        """
        self._same_s += same_s
        if width == 1 and warm and not self._has_wide and not self._recent.n_needed:
            # Its result is not needed now, and booking many at once takes a fifth of the time.
            self._plain.append((decode_s, n_ctx))
            return 1.0
        if self._plain:
            self._book()
        self._has_decoded = True
        unit = self._knowledge.costs.context.scale(n_ctx)
        self._n_after = self._n_after + 1 if width == 1 else 0
        self._n_since += 1
        if width == 1 and (warm or not self._has_wide):
            if warm:
                return self._add_plain(decode_s, unit)
            self._same_s += decode_s  # a reply's first one builds the graph either way
        elif width > 1:
            units = self._wide_units(width, n_ctx, unit, warm=warm)
            self._steps.extend((decode_s, 0.0, units, n_committed * unit))
        else:
            self._steps.extend((0.0, 0.0, 0.0, n_committed * unit))
        return 1.0

    def _book(self) -> None:
        """Count the plain steps that were deferred."""
        plain, self._plain = self._plain, []
        self._has_decoded = True
        for s, n_ctx in plain:
            self._n_since += 1
            self._add_plain(s, self._knowledge.costs.context.scale(n_ctx))

    def _add_plain(self, s: float, unit: float) -> float:
        recent, pace = self._recent, s / unit
        if self._has_wide and self._n_after <= TUNING.slow_steps_after_wide:
            if (
                self._n_since <= TUNING.pace_valid_steps and self._pace > 0.0
            ):  # a clock may stand still
                recent.saw_after(self._n_after, pace / self._pace - 1.0)
            slowed = 1.0 + recent.slower_after(self._n_after)
            self._steps.extend((s, unit * slowed, 0.0, unit))
            return slowed
        self._same_s += s
        recent.add(pace)
        self._pace += (pace - self._pace) * (
            0.1 if self._n_since <= TUNING.pace_valid_steps else 1.0
        )
        self._n_since = 0
        self._steps.extend((s, unit, 0.0, 0.0))
        return 1.0

    def _wide_units(self, width: int, n_ctx: int, unit: float, *, warm: bool) -> float:
        self._has_wide = True
        costs = self._knowledge.costs
        ratios = costs.ratios(n_ctx)
        ratio = (
            ratios[width] if width < len(ratios) else 1.0 + TUNING.guessed_row_steps * (width - 1)
        )
        # The table's plain steps were measured shortly after wide ones.
        unit *= 1.0 + self._recent.slower_after(2)
        units = unit * (ratio if warm else ratio + self._knowledge.switch)
        self._doubt += units * costs.doubt(width) ** 2
        return units

    # ------------------------------------------------------------------------------- asking

    def estimate(self) -> PlainSeconds | None:
        """Return what plain decoding would have taken so far, or None if nothing is known of it."""
        if self._plain:
            self._book()
        steps = _Steps(self._steps)
        if not steps.n.any():
            return self._by_recent(float(steps.owed.sum()))
        log_q, q_variance = self._wide_against_table(steps)
        q = math.exp(log_q)
        units, is_owed = steps.plain + q * steps.wide, steps.owed > 0.0
        s, u, owed = steps.total(steps.s), steps.total(units), steps.total(steps.owed)
        pooled = s.sum() / u.sum()
        pace = np.divide(s, u, out=np.full(len(s), pooled), where=steps.n > 0)
        noise, usual = steps.noise(q)
        self.noise = math.sqrt(usual)
        seconds = self._same_s + float((pace * owed).sum())
        if seconds <= 0.0:
            return None
        share = np.divide(owed, u, out=np.zeros(len(s)), where=steps.n > 0)
        own = steps.total((steps.plain * ~is_owed) ** 2)
        squares = share**2 * steps.total(units**2) + (1 + 2 * share) * own
        slowed, wide = steps.total(steps.plain * is_owed), steps.total(steps.wide)
        variance = noise * float((pace**2 * squares).sum())
        variance += q_variance * float((pace * share * q * wide).sum()) ** 2
        variance += (TUNING.slow_step_error * float((pace * share * slowed).sum())) ** 2
        variance += (TUNING.earlier_stretch_error * pooled * float(owed[steps.n == 0].sum())) ** 2
        return _interval(seconds, math.sqrt(variance) / seconds, int(steps.n.sum()))

    def _by_recent(self, owed: float) -> PlainSeconds | None:
        """Return the estimate for a reply that has no timed step."""
        if not owed:  # at most one plain step, which took its own time
            return _interval(self._same_s, TUNING.prior_noise, 1) if self._has_decoded else None
        known = self._recent.pace
        if known is None:
            return None
        pace, variance = known
        seconds = self._same_s + pace * owed
        error = math.sqrt(variance) * pace * owed / seconds
        return _interval(seconds, error, TUNING.steps_after_load)

    def _wide_against_table(self, steps: _Steps) -> tuple[float, float]:
        """Return the logarithm of the factor by which wide steps cost more than the table says.

        Returns:
            Its mean and its variance.
        """
        (n_p, s_p, u_p), (n_w, s_w, u_w) = steps.of(steps.plain), steps.of(steps.wide)
        n_wide, s_wide, u_wide = float(n_w.sum()), float(s_w.sum()), float(u_w.sum())
        if s_wide <= 0.0:
            return 0.0, 0.0
        noise, doubt = steps.noise(1.0)[0], max(self._doubt / u_wide, 1e-6)
        found = [(0.0, doubt)]
        has_both = (n_p > 0) & (n_w > 0)
        if has_both.any():
            both = np.maximum(u_p + u_w, 1e-12)  # where one is missing, the products are 0
            share = float(1 / n_p[has_both].sum() + 1 / n_w[has_both].sum())
            ratio = float((s_w * u_p / both).sum() / max((s_p * u_w / both).sum(), 1e-12))
            log_ratio = math.log(max(ratio, 1e-9))
            told = steps.noise(max(ratio, 1e-9))[0]
            if log_ratio**2 > TUNING.contradiction_z**2 * (doubt + told * share):
                noise, found = told, [(0.0, log_ratio**2)]
            found.append((log_ratio, noise * share + (TUNING.correction_error * log_ratio) ** 2))
        known = self._recent.pace
        if known is not None:
            found.append((math.log(s_wide / u_wide / known[0]), known[1] + noise / n_wide))
        weights = [1.0 / variance for _, variance in found]
        mean = sum(w * x for w, (x, _) in zip(weights, found, strict=True)) / sum(weights)
        return mean, 1.0 / sum(weights)


def _interval(seconds: float, error: float, n: int) -> PlainSeconds:
    """Return the 95 % interval on a logarithmic scale; `error` is the relative standard error."""
    freedom = max(n - 1, 1)
    quantile = 1.96 + 2.4 / freedom + 3.6 / freedom**2  # Student's t, within 2 % from 3 on
    factor = math.exp(min(quantile * error, 50.0))
    return PlainSeconds(seconds, seconds / factor, seconds * factor)
