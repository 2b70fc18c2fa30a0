"""The measured cost of a step by the width of its batch, and the time that the context adds.

Curves differ too much to be assumed: flat on a GPU up to eight tokens with a cliff beyond, steps of
four on a CPU, +55 % for every token of a mixture of experts. So the cost of width n is the median
of the last steps of that width, at contexts of similar length if there are two of them, and at the
machine's pace at that time (`pace.py`). Between two measured widths the rule interpolates linearly,
and the ledger takes the cost of the wider one. Beyond all measured widths the rule extrapolates
optimistically, and the ledger assumes one plain step per token: so wider batches are tried, but
only with time that was saved before. `context_cost.py` describes what the context adds; the table
here is for an empty context.
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
"""Maximum width of a verify batch, in tokens. On CPUs llama.cpp's flash attention uses another
kernel from 64 query rows on, whose rounding differs, and every row takes n_vocab floats of
memory."""
_MIN_STEPS_ON_DEVICE = 0.25
_MIN_OCTAVE_TOKENS = 512  # tokens
_MIN_S, _MAX_S = 1e-9, 1e6  # valid range of a measured time
_VERSION = 1


class VerifyCosts:
    """A table of seconds by width of the batch; for the engine's thread.

    Args:
        on_device: Whether devices hold layers. Then a batch may take less time than a plain step,
            since their programs for one row can be the slower ones; on a processor that would be
            noise.

    Attributes:
        plain: Seconds of a plain step at an empty context, or None if not known.
        context: Model of the time that tokens in the context add.
    """

    def __init__(self, *, on_device: bool = False) -> None:
        self._on_device = on_device
        self._least = _MIN_STEPS_ON_DEVICE if on_device else 1.0  # plain steps of any batch
        self._samples: dict[int, list[tuple[int, float]]] = {}  # the last ones: context and seconds
        self._medians: dict[int, float] = {}  # seconds at an empty context
        # Long-run medians by octave of the context and width.
        self._known: dict[tuple[int, int], float] = {}
        self._fresh: set[int] = set()  # widths that were timed since the table last aged
        self._octave = 0  # of the context that the medians are for
        self._hopeful: list[float] = []
        self._careful: list[float] = []
        self._is_stale = False
        self._near: tuple[Sequence[float], Sequence[float]] = ((), ())
        self._near_to = -1  # the context that these were computed for
        self.plain: float | None = None
        self.context = ContextCost()

    def emptied(self) -> VerifyCosts:
        """Return an empty table for the same devices."""
        return VerifyCosts(on_device=self._on_device)

    # ------------------------------------------------------------------------------- learning

    def add(self, width: int, n_ctx: int, seconds: float, *, calibrated: bool = False) -> None:
        """Count one timed step.

        Args:
            width: Tokens of its batch.
            n_ctx: Tokens in the context before it.
            seconds: Its duration at the pace that the table assumes.
            calibrated: Whether it was measured on purpose, a few at a time: then older samples of
                this width from another minute are dropped.
        """
        if not 1 <= width <= MAX_WIDTH or not _MIN_S <= seconds <= _MAX_S:
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
        """Estimate what the context adds per row, from the median step here and steps elsewhere.

        The contexts must differ by so much that the full addition for each row would equal a step,
        or noise would dominate. The share is bounded so that the cost at an empty context stays
        above the lower bound of a step.
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
        if abs(seen - context.share) > 0.01:  # the table is rebuilt, which takes 60 us
            self.set_context(context.slope, context.share + 0.3 * (seen - context.share))

    def set_context(
        self, slope: float, share: float | None = None, *, keeps_ratios: bool = False
    ) -> None:
        """Set what tokens in the context add; see `ContextCost`.

        Args:
            slope: See `ContextCost.slope`.
            share: See `ContextCost.share`, or None to keep the present one.
            keeps_ratios: Whether to keep each sample's cost relative to a plain step of its
                context, since its pace was estimated with the previous slope.
        """
        before = self.context.slope
        if keeps_ratios:
            for samples in self._samples.values():
                samples[:] = [(n, s * (1 + slope * n) / (1 + before * n)) for n, s in samples]
        self.context.slope = slope
        if share is not None:
            self.context.share = share
        for width in sorted(self._samples):  # plain steps first: the others are relative to them
            self._update(width)
        self._is_stale = True

    def _move(self, n_ctx: int) -> None:
        """Recompute the medians from samples of contexts similar to this one."""
        octave = _octave(n_ctx)
        if octave != self._octave:
            self._octave = octave
            for width in sorted(self._samples):
                self._update(width)
                self._known.setdefault((octave, width), self._medians[width])

    def _here(self, width: int) -> list[tuple[int, float]]:
        """Return this width's samples at contexts similar to the present one."""
        end = _MIN_OCTAVE_TOKENS << self._octave
        begin = end // 2 if self._octave else 0
        return [each for each in self._samples[width] if begin <= each[0] < end]

    def _alike(self, width: int) -> list[tuple[int, float]]:
        """Return the samples at similar contexts, or all samples where these are few.

        The cost at an empty context is a small part of the cost at a long one, so a few samples at
        a long one estimate it badly.
        """
        here = self._here(width)
        return here if len(here) > 1 else self._samples[width]

    def _update(self, width: int) -> None:
        ordered = sorted(self.context.bases(width, self._alike(width), self.plain, self._least))
        n = len(ordered)
        # Interruptions only make steps slower, so of few samples a faster one is the best estimate.
        middle = ordered[n // 2] if n > 4 else ordered[n > 2]
        before = self._medians.get(width)
        # Rebuilding a table takes a fifth of a step's budget here, so not for two per cent.
        if before is None or not 0.97 < middle / before < 1.03:
            self._medians[width] = middle
            self._is_stale = True
            if width == 1:
                self.plain = middle
                for other in self._samples if self.context.slope else ():
                    if other > 1:
                        self._update(other)

    def age(self) -> None:
        """Relax the costs of widths that were not timed since the last call and look expensive.

        Otherwise a width that was measured in a bad minute would never be tried again. One that
        became more expensive recently moves half the way back to its earlier cost; of the others
        the slowest sample is dropped while there are more than three.
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
        """Return samples that give a width this cost in seconds at an empty context."""
        n_ctx = self._alike(width)[-1][0]
        return [(n_ctx, self.context.at(width, n_ctx, base, self.plain))] * 2

    # -------------------------------------------------------------------------------- asking

    def n_samples(self, width: int) -> int:
        """Return the number of timed steps that the cost of this width rests on."""
        return len(self._alike(width)) if width in self._samples else 0

    def doubt(self, width: int) -> float:
        """Return the expected relative error of this width's cost in plain steps."""
        if self.plain is None:
            return TUNING.error_unknown
        if self.n_samples(width) > 1:
            return TUNING.error_measured
        is_between = width < max(self._medians)
        return TUNING.error_between if is_between else TUNING.error_beyond

    def seconds(self, width: int, n_ctx: int) -> float | None:
        """Return the seconds of a step of this width, or None while nothing is known."""
        if self.plain is None or width < 1:
            return None
        return self.ratios(n_ctx)[min(width, MAX_WIDTH)] * self.plain * self.context.scale(n_ctx)

    def cheapest(self, width: int) -> int:
        """Return this width, or a wider one whose batches take clearly less time.

        There are such where kernels compute rows by fours or eights: with llama.cpp's for Q8_0 on a
        CPU, 7 tokens took 8.0 plain steps and 8 tokens 4.8.
        """
        medians = self._medians
        here = medians.get(max((w for w in medians if w <= width), default=0))
        wider = [w for w in medians if width < w <= 2 * width]
        if here is None or not wider:
            return width
        best = min(wider, key=medians.__getitem__)
        return best if medians[best] < 0.9 * here else width  # a smaller difference is noise

    def ratios(self, n_ctx: int = 0) -> Sequence[float]:
        """Return the cost by width in plain steps at that context, [MAX_WIDTH + 1].

        Empty while it is not known. The result may be that of a context up to 15 tokens shorter,
        since computing it takes a tenth of the time of a decision.
        """
        return self.near(n_ctx)[0]

    def table(self, n_ctx: int) -> tuple[WidthCost, ...]:
        """Return the cost of every measured width, the narrowest first."""
        if self.plain is None:
            return ()
        plain, ratios = self.plain * self.context.scale(n_ctx), self.ratios(n_ctx)
        return tuple(
            WidthCost(width, ratios[width] * plain, self.n_samples(width))
            for width in sorted(self._medians)
        )

    def near(self, n_ctx: int) -> tuple[Sequence[float], Sequence[float]]:
        """Return `ratios`, and the ledger's cautious version, which never falls with the width."""
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
        # make the others look expensive; and no batch on a processor takes less than a plain step.
        floors = [*accumulate((self._medians[w] / self.plain for w in reversed(widths)), min)]
        hopeful, careful, last, ratio = [0.0, 1.0], [0.0, 1.0], 1, 1.0
        for width, floor in zip(widths, reversed(floors), strict=True):
            before, ratio, n = ratio, max(floor, self._least), width - last
            hopeful += [before + (ratio - before) * k / n for k in range(1, n + 1)]
            careful += [ratio] * n
            last = width
        # Curves flatten as often as they rise, so an expensive second token predicts nothing about
        # the others.
        careful[1] = min(careful[:3][1:])  # it never falls
        slope = (ratio - 1.0) / (last - 1) if last > 1 else 0.12
        slope = min(max(slope, 0.02), 0.2)
        further = range(1, MAX_WIDTH + 1 - last)
        self._hopeful = hopeful + [ratio + slope * k for k in further]
        self._careful = careful + [ratio + k for k in further]

    # --------------------------------------------------------------------------------- keeping

    def to_json(self) -> str:
        """Return all of it as JSON text, without the changes of a bad minute."""
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
        """Return the table that `to_json` wrote.

        Raises:
            ValueError: The text is not such a JSON text.
        """
        data = json.loads(text)
        try:
            if data["version"] != _VERSION:
                raise ValueError("these costs are of another version")
            costs = cls(on_device=data.get("on_device") is True)
            costs.context.slope = _number(data["slope"], 0.0, 0.05)
            costs.context.share = _number(data.get("share", TUNING.context_share), 0.0, 1.0)
            # Plain steps first: the others are relative to them.
            for width, held in sorted((int(key), held) for key, held in data["samples"].items()):
                if not 1 <= width <= MAX_WIDTH:
                    raise ValueError(f"no width: {width}")
                costs._samples[width] = [
                    (int(_number(n_ctx, 0, 1e9)), _number(seconds, _MIN_S, _MAX_S))
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
    """Return the index of a context's range: below 512 tokens, below 1,024, 2,048 and so on."""
    return (n_ctx // _MIN_OCTAVE_TOKENS).bit_length()


def _number(value: object, low: float, high: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise ValueError(f"no number from {low} to {high}: {value!r}")
    return float(value)


class DraftCosts:
    """Costs of one draft model in seconds, at the pace of the table of costs.

    A draft model decodes its backlog (the tokens committed without it; at first the whole prompt)
    in one batch, whose last row gives the first drafted token, and then one token after the other.
    So a draft of k tokens after a backlog of m takes a + b * k + c * (m - 1), where a is small and
    included in b. A cost that was never measured is estimated too high rather than too low: a first
    draft after a long prompt could cost more than a reply may lose.

    Attributes:
        guess: Plain steps per token before any was drafted, for example by the models' sizes.
        per_token: Seconds of a token drafted alone, or None if never measured.
        per_backlog: Seconds of a backlog token in a batch, or None if never measured.
    """

    def __init__(self) -> None:
        self.guess = TUNING.prior_draft_token_steps
        self._single: list[float] = []
        self._backlog: list[float] = []
        self.per_token: float | None = None
        self.per_backlog: float | None = None

    def add(self, n_decoded: int, seconds: float, n_backlog: int = 1) -> None:
        """Count the drafting of one step.

        Args:
            n_decoded: Tokens that the model decoded, including its backlog.
            seconds: Seconds of decoding them.
            n_backlog: Number of them that the first batch caught up; at least 1.
        """
        n_drafted = n_decoded - n_backlog + 1
        if n_drafted < 1 or seconds <= 0.0:
            return
        if n_backlog <= TUNING.short_backlog_tokens:
            seconds -= min((self.per_backlog or 0.0) * (n_backlog - 1), 0.5 * seconds)
            self.per_token = median_with(self._single, seconds / n_drafted)
        else:
            extra = max(seconds - n_drafted * (self.per_token or 0.0), 0.0)
            self.per_backlog = median_with(self._backlog, extra / (n_backlog - 1))

    def token(self, plain: float) -> float:
        """Return the seconds of one more drafted token; `plain` is the seconds of a plain step."""
        return self.per_token if self.per_token is not None else self.guess * plain

    def catch_up(self, n_backlog: int, plain: float) -> float:
        """Return the seconds that a backlog of at least 1 token adds to the first drafted token."""
        each = self.per_backlog
        if each is None:
            each = self.token(plain) * TUNING.prior_batched_ratio
        return each * (n_backlog - 1)


def median_with(last: list[float], seconds: float) -> float:
    """Append to the last nine values and return their median; of two, the smaller one."""
    last.append(seconds)
    del last[: -TUNING.timings_kept]
    return sorted(last)[(len(last) - 1) // 2]
