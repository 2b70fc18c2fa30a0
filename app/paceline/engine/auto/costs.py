"""The cost of a step by the width of its batch, as measured: A(n), and what the context adds.

Curves differ too much to be assumed: flat on a GPU up to eight tokens and a cliff beyond, steps of
four on a CPU, +55 % for every token of a mixture of experts. So A(n) is the median of the last
steps of width n, at contexts like the present one where there are two of them, and at the pace that
the machine had then (`pace.py`). What lies between two measured widths is guessed on the straight
line for the rule and at the wider one's cost for the ledger; what lies beyond all of them is
guessed hopefully for the rule and at one whole plain step per token for the ledger, so that wider
batches are tried, but only out of what was saved. What tokens in the context add is said in
`context_cost.py`; the table is that of an empty one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from itertools import accumulate
from operator import itemgetter
from statistics import median

from paceline.engine.auto.context_cost import ContextCost
from paceline.engine.auto.tuning import TUNING
from paceline.figures import WidthCost

MAX_WIDTH = 63
"""Tokens of the widest verify. On CPUs llama.cpp's flash attention takes another kernel from 64
query rows on, whose rounding differs, and every row costs n_vocab floats of memory."""
_LEAST_ON_DEVICE = 0.25
_LEAST_OCTAVE = 512  # tokens
_SHORTEST_S, _LONGEST_S = 1e-9, 1e6  # valid range of a measured time
_VERSION = 1


class VerifyCosts:
    """A table of seconds by width; for the engine's thread.

    Args:
        on_device: Whether devices have layers: then a batch may take less than a plain step, since
            their programs for one row can be the worse ones. On a processor that is noise.

    Attributes:
        plain: Seconds of a plain step at an empty context; None: not known.
        context: What tokens in the context add.
    """

    def __init__(self, *, on_device: bool = False) -> None:
        self._on_device = on_device
        self._least = _LEAST_ON_DEVICE if on_device else 1.0  # plain steps that a batch takes
        self._samples: dict[int, list[tuple[int, float]]] = {}  # context and seconds, the last ones
        self._medians: dict[int, float] = {}  # seconds at an empty context
        # What they were in the longer run, by octave of the context and width.
        self._known: dict[tuple[int, int], float] = {}
        self._fresh: set[int] = set()  # widths that were timed since the table last aged
        self._octave = 0  # of the context that the medians are for
        self._hopeful: list[float] = []
        self._careful: list[float] = []
        self._is_stale = False
        self._near: tuple[Sequence[float], Sequence[float]] = ((), ())
        self._near_to = -1  # the context that these are for
        self.plain: float | None = None
        self.context = ContextCost()

    def emptied(self) -> VerifyCosts:
        """Return a table for the same devices in which nothing is known."""
        return VerifyCosts(on_device=self._on_device)

    # ------------------------------------------------------------------------------- learning

    def add(self, width: int, n_ctx: int, seconds: float, *, calibrated: bool = False) -> None:
        """Count one timed step.

        Args:
            width: Tokens of its batch.
            n_ctx: Tokens in the context before it.
            seconds: What it took, at the pace that the table is for.
            calibrated: It was measured for its own sake, at most a few at a time: older samples
                of this width from another minute give way.
        """
        if not 1 <= width <= MAX_WIDTH or not _SHORTEST_S <= seconds <= _LONGEST_S:
            return
        self._move(n_ctx)
        samples = self._samples.setdefault(width, [])
        samples.append((n_ctx, seconds))
        here = self._here(width)
        for old in here[: -3 if calibrated else -TUNING.timings_kept]:
            samples.remove(old)
        if width > 1:
            self._learn_share(width, here)
        self._fresh.add(width)
        self._update(width)
        if calibrated or len(here) <= 4:
            self._known[self._octave, width] = self._medians[width]

    def _learn_share(self, width: int, here: list[tuple[int, float]]) -> None:
        """Learn what the context adds for each row: the median step here, by those elsewhere.

        The contexts must differ by so much that all of it for each row would be as much as the
        step, or noise would tell anything. Whatever they say, the share is at most what leaves the
        least step, or else it could not be told what a width takes at an empty context.
        """
        context, plain = self.context, self.plain
        n_ctx, seconds = sorted(here, key=itemgetter(1))[(len(here) - 1) // 2]
        added, further = context.slope * n_ctx, width - 1
        if plain is None or added * further * plain < seconds:
            return
        most = ((seconds / plain - self._least) / added - 1.0) / further
        found = [
            ((seconds - elsewhere) / plain / more - 1.0) / further
            for other, elsewhere in self._samples[width]
            if abs(more := context.slope * (n_ctx - other)) * further * plain > seconds
        ]
        seen = min(max(min(median(found or [context.share]), most), 0.0), 1.0)
        if abs(seen - context.share) > 0.01:  # the table is made anew, which takes 60 us
            self.set_context(context.slope, context.share + 0.3 * (seen - context.share))

    def set_context(
        self, slope: float, share: float | None = None, *, keeps_ratios: bool = False
    ) -> None:
        """Say what tokens in the context add; see `ContextCost`. No `share`: as it was.

        Args:
            slope: See `ContextCost`.
            share: See `ContextCost`.
            keeps_ratios: The samples are of steps whose pace was told by the slope as it was
                believed to be: what they took of a plain step of their context stays.
        """
        before = self.context.slope
        if keeps_ratios:
            for samples in self._samples.values():
                samples[:] = [(n, s * (1 + slope * n) / (1 + before * n)) for n, s in samples]
        self.context.slope = slope
        if share is not None:
            self.context.share = share
        for width in sorted(self._samples):  # plain steps first, by which the others are told
            self._update(width)
        self._is_stale = True

    def _move(self, n_ctx: int) -> None:
        """Tell the medians by samples of contexts like this one."""
        octave = _octave(n_ctx)
        if octave != self._octave:
            self._octave = octave
            for width in sorted(self._samples):
                self._update(width)
                self._known.setdefault((octave, width), self._medians[width])

    def _here(self, width: int) -> list[tuple[int, float]]:
        """Return this width's samples of contexts like the present one."""
        end = _LEAST_OCTAVE << self._octave
        begin = end // 2 if self._octave else 0
        return [each for each in self._samples[width] if begin <= each[0] < end]

    def _alike(self, width: int) -> list[tuple[int, float]]:
        """Return the same, or all samples where these are few.

        What a step takes at an empty context is a small part of what it takes at a long one, so
        that it is told badly by it.
        """
        here = self._here(width)
        return here if len(here) > 1 else self._samples[width]

    def _update(self, width: int) -> None:
        ordered = sorted(self.context.bases(width, self._alike(width), self.plain, self._least))
        n = len(ordered)
        # What comes in between makes steps slower only, so a few are best told by the faster ones.
        middle = ordered[n // 2] if n > 4 else ordered[n > 2]
        before = self._medians.get(width)
        # A rebuilt table costs a fifth of what a step may cost here, so not for two per cent.
        if before is None or not 0.97 < middle / before < 1.03:
            self._medians[width] = middle
            self._is_stale = True
            if width == 1:
                self.plain = middle
                for other in self._samples if self.context.slope else ():
                    if other > 1:
                        self._update(other)

    def age(self) -> None:
        """Doubt what widths cost that were not timed since the last call, where that is much.

        Otherwise a width that was measured in a bad minute would never be tried again. One that
        was more expensive recently comes half the way back to what it was before; of others the
        slowest step is dropped, while there are more than three.
        """
        for width, samples in self._samples.items():
            middle, here, key = self._medians[width], self._here(width), (self._octave, width)
            known = self._known[key]
            if width in self._fresh:
                self._known[key] = known * (middle / known) ** 0.1
            elif width > 1 and len(here) > 1 and middle > 1.03 * known:
                others = [sample for sample in samples if sample not in here]
                samples[:] = others + self._as_if(width, math.sqrt(middle * known))
                self._update(width)
            elif width > 1 and len(here) > 3:
                samples.remove(max(here, key=itemgetter(1)))
                self._update(width)
        self._fresh.clear()

    def _as_if(self, width: int, base: float) -> list[tuple[int, float]]:
        """Return samples by which a width takes so many seconds at an empty context."""
        n_ctx = self._alike(width)[-1][0]
        return [(n_ctx, self.context.at(width, n_ctx, base, self.plain))] * 2

    # -------------------------------------------------------------------------------- asking

    def n_samples(self, width: int) -> int:
        """Return how many timed steps the cost of this width rests on."""
        return len(self._alike(width)) if width in self._samples else 0

    def doubt(self, width: int) -> float:
        """Return the relative error to expect of what this width takes in plain steps."""
        if self.plain is None:
            return TUNING.error_unknown
        if self.n_samples(width) > 1:
            return TUNING.error_measured
        is_between = width < max(self._medians)
        return TUNING.error_between if is_between else TUNING.error_beyond

    def seconds(self, width: int, n_ctx: int) -> float | None:
        """Return what a step of this width takes; None while nothing at all is known."""
        if self.plain is None or width < 1:
            return None
        return self.ratios(n_ctx)[min(width, MAX_WIDTH)] * self.plain * self.context.scale(n_ctx)

    def cheapest(self, width: int) -> int:
        """Return this width, or a wider one whose batches were seen to take clearly less time.

        Kernels that take rows by fours or eights make such: with llama.cpp's for Q8_0 on a CPU, 7
        tokens took 8.0 plain steps and 8 tokens 4.8.
        """
        medians = self._medians
        here = medians.get(max((w for w in medians if w <= width), default=0))
        wider = [w for w in medians if width < w <= 2 * width]
        if here is None or not wider:
            return width
        best = min(wider, key=medians.__getitem__)
        return best if medians[best] < 0.9 * here else width  # less is noise

    def ratios(self, n_ctx: int = 0) -> Sequence[float]:
        """Return the cost in plain steps at that context by width, [MAX_WIDTH + 1].

        Empty while it is not known. It is that of a context less than 16 tokens shorter, since
        computing it again takes as long as a tenth of a decision.
        """
        return self.near(n_ctx)[0]

    def table(self, n_ctx: int) -> tuple[WidthCost, ...]:
        """Return the cost of every width that was measured, the narrowest first."""
        if self.plain is None:
            return ()
        plain, ratios = self.plain * self.context.scale(n_ctx), self.ratios(n_ctx)
        return tuple(
            WidthCost(width, ratios[width] * plain, self.n_samples(width))
            for width in sorted(self._medians)
        )

    def near(self, n_ctx: int) -> tuple[Sequence[float], Sequence[float]]:
        """Return `ratios`, and the same as the ledger sees it, never falling with the width."""
        n_ctx -= n_ctx % 16
        self._move(n_ctx)
        if self._is_stale:
            self._rebuild()
        elif self._near_to == n_ctx:
            return self._near
        ratios = self.context.ratios
        near = self._near = ratios(self._hopeful, n_ctx), ratios(self._careful, n_ctx)
        self._near_to = n_ctx
        return near

    def _rebuild(self) -> None:
        self._is_stale = False
        if self.plain is None:
            return
        widths = sorted(self._medians)[1:]
        # No batch costs more than a wider one, so a width that was timed in a bad minute does not
        # stand in the way of the others; and a processor takes for none less than a plain step.
        floors = [*accumulate((self._medians[w] / self.plain for w in reversed(widths)), min)]
        hopeful, careful, last, ratio = [0.0, 1.0], [0.0, 1.0], 1, 1.0
        for width, floor in zip(widths, reversed(floors), strict=True):
            before, ratio, n = ratio, max(floor, self._least), width - last
            hopeful += [before + (ratio - before) * k / n for k in range(1, n + 1)]
            careful += [ratio] * n
            last = width
        # Curves flatten as often as they rise: an expensive second token tells nothing of the
        # others.
        careful[1] = min(careful[:3][1:])  # it never falls
        slope = (ratio - 1.0) / (last - 1) if last > 1 else 0.12
        slope = min(max(slope, 0.02), 0.2)
        further = range(1, MAX_WIDTH + 1 - last)
        self._hopeful = hopeful + [ratio + slope * k for k in further]
        self._careful = careful + [ratio + k for k in further]

    # --------------------------------------------------------------------------------- keeping

    def to_json(self) -> str:
        """Return everything as a text, but for what a bad minute has changed."""
        held = {}
        for width in sorted(self._samples):
            samples, known = self._samples[width], self._known[self._octave, width]
            is_bad = width > 1 and self._medians[width] > 1.1 * known
            held[str(width)] = self._as_if(width, known) if is_bad else samples
        context = self.context
        return json.dumps(
            {"version": _VERSION, "slope": context.slope, "share": context.share, "samples": held}
            | ({"on_device": True} if self._on_device else {})
        )

    @classmethod
    def from_json(cls, text: str) -> VerifyCosts:
        """Return the table that `to_json` gave this text for.

        Raises:
            ValueError: It is no such text.
        """
        data = json.loads(text)
        try:
            if data["version"] != _VERSION:
                raise ValueError("these costs are of another version")
            costs = cls(on_device=data.get("on_device") is True)
            costs.context.slope = _number(data["slope"], 0.0, 0.05)
            costs.context.share = _number(data.get("share", TUNING.context_share), 0.0, 1.0)
            # Plain steps first, by which the others are told.
            for width, held in sorted((int(key), held) for key, held in data["samples"].items()):
                if not 1 <= width <= MAX_WIDTH:
                    raise ValueError(f"no width: {width}")
                costs._samples[width] = [
                    (int(_number(n_ctx, 0, 1e9)), _number(seconds, _SHORTEST_S, _LONGEST_S))
                    for n_ctx, seconds in held[-8 * TUNING.timings_kept :]
                ]
                if costs._samples[width]:
                    costs._update(width)
                    costs._known[0, width] = costs._medians[width]
                else:
                    del costs._samples[width]
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"these are no costs: {error}") from error
        return costs


def _octave(n_ctx: int) -> int:
    """Return in which range of contexts one lies: below 512 tokens, 1,024, 2,048 and so on."""
    return (n_ctx // _LEAST_OCTAVE).bit_length()


def _number(value: object, low: float, high: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise ValueError(f"no number from {low} to {high}: {value!r}")
    return float(value)


class DraftCosts:
    """One draft model's costs in seconds, at the pace of the table of costs.

    A draft model decodes its backlog (what was committed without it; at first the whole prompt) in
    one batch, whose last row gives the first drafted token, and then one token after the other. So
    a draft of k tokens after a backlog of m takes a + b * k + c * (m - 1), where a is small and
    goes into b. What was never measured is estimated too high rather than too low: a first draft
    after a long prompt could cost more than a reply may lose.

    Attributes:
        guess: Plain steps per token before any was drafted, e.g. by the models' sizes.
        per_token: Seconds of a token drafted one by one; None: never measured.
        per_backlog: Seconds of a token caught up in a batch; None: never measured.
    """

    def __init__(self) -> None:
        self.guess = TUNING.first_draft_token
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
        if n_backlog <= TUNING.short_backlog:
            seconds -= min((self.per_backlog or 0.0) * (n_backlog - 1), 0.5 * seconds)
            self.per_token = median_with(self._single, seconds / n_drafted)
        else:
            extra = max(seconds - n_drafted * (self.per_token or 0.0), 0.0)
            self.per_backlog = median_with(self._backlog, extra / (n_backlog - 1))

    def token(self, plain: float) -> float:
        """Return the seconds of one more drafted token; `plain` are those of a plain step."""
        return self.per_token if self.per_token is not None else self.guess * plain

    def catch_up(self, n_backlog: int, plain: float) -> float:
        """Return the seconds that a backlog of at least 1 adds to the first token."""
        each = self.per_backlog
        if each is None:
            each = self.token(plain) * TUNING.first_batched_token
        return each * (n_backlog - 1)


def median_with(last: list[float], seconds: float) -> float:
    """Add to the last nine, and return their median; of two the faster one."""
    last.append(seconds)
    del last[: -TUNING.timings_kept]
    return sorted(last)[(len(last) - 1) // 2]
