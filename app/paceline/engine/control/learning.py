"""What a step teaches: its time the costs and the pace, its tokens the acceptance.

Each time is split: drafting teaches what drafting costs, the rest what a batch of this width
costs, at the pace that the machine has. Whether a surprising time is the machine's or the width's
is open until a plain step has been timed (`pace.py`); samples wait until then.
"""

from __future__ import annotations

from collections.abc import Sequence

from paceline.engine.control.asking import Asking
from paceline.engine.control.knowledge import Knowledge
from paceline.engine.control.ledger import Ledger
from paceline.engine.control.pace import HICCUP, Turned
from paceline.engine.control.state import StepState
from paceline.engine.control.steps import FORCED, StepTimes

_RATE_KEPT = 0.98
_LONG_HIT = 8  # accepted tokens of a lookup that say the text has changed
_KNOWN = 3  # steps of a width that tell what it costs
_LONG_PLAIN = 32  # plain steps in a row behind which it is doubted that drafts are so dear
_ALONE = 2  # times in a row that wide steps alone were off, behind which the table is wrong
MOST_SWITCH = 1.0
"""Plain steps that another width may cost: seen with a model of 17 M weights, whose graph takes as
long to be built as to be computed."""
_MOST_LESS = 0.3  # of it, what a wide step is not believed to take once it is warm
_ENOUGH = 9  # plain samples behind which the table's unit stays as it is


class Learner:
    """Turns what was observed into knowledge; one per turn.

    Attributes:
        rate: Tokens per plain step of late, at least 1.
        last_width: Width of the step before; 0: something foreign came in between.
        n_committed: Tokens of the reply so far.
    """

    __slots__ = ("_asking", "_held", "_knowledge", "_ledger", "_models", "_n_alone", "_n_plain",
                 "_steps", "_tokens", "last_width", "n_committed", "rate")  # fmt: skip

    def __init__(
        self, knowledge: Knowledge, ledger: Ledger, asking: Asking, models: Sequence[str]
    ) -> None:
        self._knowledge = knowledge
        self._ledger = ledger
        self._asking = asking
        self._models = models
        self._held: list[tuple[int, int, float]] = []
        self._tokens = self._steps = 1.0
        self.rate = 1.0
        self.last_width = 1
        self.n_committed = knowledge.n_tokens
        self._n_plain = self._n_alone = 0

    def rested(self, n: int, seconds: float, own_s: float) -> None:
        """Count plain steps that nobody decided on: they are what plain decoding is.

        Args:
            n: How many.
            seconds: What they took.
            own_s: Of it, what an earlier step's learning took.
        """
        knowledge = self._knowledge
        knowledge.n_tokens = self.n_committed = self.n_committed + n
        self._count_plain(n)
        self._ledger.book_rest(n, seconds, seconds - own_s)
        for name in self._models:
            gate = knowledge.model(name).gate
            for _ in range(n):
                gate.wait()

    def observe(self, state: StepState, step: StepTimes) -> None:
        """Learn from one step."""
        knowledge = self._knowledge
        pace, costs = knowledge.pace, knowledge.costs
        # At once: a named tuple's attributes take longer.
        (n_ctx, width, seconds, draft_s, lookup_s, n_decoded, n_accepted, n_judged, n_committed,
         is_warm, had_pause, own_s, held_s) = step  # fmt: skip
        knowledge.n_tokens = self.n_committed = self.n_committed + n_committed
        if had_pause:
            self.last_width = 0
            self._count_tokens(state, n_accepted, n_judged)
            return
        rest = seconds - draft_s - lookup_s - own_s
        raw = rest if rest > 1e-9 else 1e-9
        pace.saw_share(seconds, held_s)
        scale, unit = costs.context.scale(n_ctx), costs.plain
        hiccup, turned = self._time(n_ctx, width, raw, raw / scale, is_warm=is_warm)
        plain = pace.plain
        if state.model and plain is not None and unit is not None:
            n_backlog = state.n_backlog
            n_decoded = n_decoded or n_backlog + len(state.survivals) - 1
            state.drafting.add(n_decoded, draft_s * unit / plain, n_backlog)
        self.last_width = width
        self._count_tokens(state, n_accepted, n_judged)
        if plain is None:
            return
        booked = seconds - hiccup
        plain *= scale
        if width == 1:  # what it took is what plain decoding would have taken
            self._count_plain(1)
            # Behind a wide step it takes longer, since that has emptied caches and graph.
            needed = raw if is_warm or raw < plain else max(plain, 0.5 * raw)
            self._ledger.book_plain(n_committed, seconds, needed)
        else:
            self._n_plain = 0
            self._ledger.book(n_committed, booked, plain * pace.drag, seconds)
        if turned is not None:
            self._ledger.rebook(turned.n_steps, turned.plain * scale * pace.drag)
        took = booked / plain
        self._tokens = tokens = _RATE_KEPT * self._tokens + n_committed
        self._steps = steps = _RATE_KEPT * self._steps + took
        self.rate = tokens / steps if tokens > steps else 1.0
        self._count_gain(state, n_committed, took)
        if state.n_asked:
            self._asking.took(state.n_asked, lookup_s)

    def _count_plain(self, n: int) -> None:
        self._n_plain += n
        if self._n_plain >= _LONG_PLAIN:
            self._n_plain = 0
            self._knowledge.costs.age()

    # ------------------------------------------------------------------------------- its time

    def _time(
        self, n_ctx: int, width: int, raw: float, base: float, *, is_warm: bool
    ) -> tuple[float, Turned | None]:
        """Let costs and pace learn from the seconds of a step without its drafting.

        Args:
            n_ctx: Tokens in its context.
            width: Those of its batch.
            raw: These seconds.
            base: The same at an empty context, as if its context made it dearer as a plain one.
            is_warm: See `StepTimes`.

        Returns:
            The seconds of a hiccup, which nobody is charged, and whether the pace has turned.
        """
        knowledge = self._knowledge
        costs, plain = knowledge.costs, knowledge.pace.plain
        knowledge.n_ctx = n_ctx
        ratios = costs.near(n_ctx)[0]
        if plain is None or costs.plain is None or width >= len(ratios):
            turned = self._time_plain(n_ctx, raw, base, is_warm=is_warm) if width == 1 else None
            return 0.0, turned
        n, expected = costs.n_samples(width), ratios[width] * plain
        hiccup = base - HICCUP * ratios[width] * plain
        hiccup = hiccup * raw / base if n and hiccup > 0.0 else 0.0
        if width == 1:
            return hiccup, self._time_plain(n_ctx, raw, base, is_warm=is_warm)
        if not is_warm:
            if n >= _KNOWN:
                self._learn_switch((base - expected) / plain)
            less = min(knowledge.switch, _MOST_LESS) * plain
            less = min(less, 0.5 * base)  # where a plain step is taken for far too long
            raw -= less * raw / base
            base -= less
        return hiccup, self._time_wide(n_ctx, width, raw, base / expected, n)

    def _time_plain(self, n_ctx: int, raw: float, base: float, *, is_warm: bool) -> Turned | None:
        knowledge = self._knowledge
        costs, pace = knowledge.costs, knowledge.pace
        if not is_warm:
            if pace.plain is not None:
                self._learn_switch(base / pace.plain - 1.0)
            pace.saw_other()
            return None
        knowledge.slope.add(n_ctx, raw)
        was_in_doubt, unit = pace.in_doubt, costs.plain
        turned = pace.saw_plain(base)
        if was_in_doubt and turned is not None:
            self._release(is_wide_alone=turned.is_back)
        if costs.n_samples(1) < _ENOUGH:
            scale = 1.0 if unit is None or pace.plain is None else unit / pace.plain
            costs.add(1, n_ctx, raw * scale)
        return turned

    def _time_wide(
        self, n_ctx: int, width: int, raw: float, factor: float, n: int
    ) -> Turned | None:
        """Let them learn from a wide step.

        Args:
            n_ctx: See `_time`.
            width: See there.
            raw: What it would have taken behind a step of the same width.
            factor: That by what was expected.
            n: Steps that this rests on.
        """
        knowledge = self._knowledge
        costs, pace = knowledge.costs, knowledge.pace
        plain, far = pace.plain, pace.far
        assert plain is not None
        turned, is_odd = None, False
        if n < 2:
            pace.saw_speculative()
        else:
            is_odd = not 1 / far < factor < far
            turned = pace.saw_wide(factor)
        # A hiccup, or the beginning of something.
        if (is_odd or pace.in_doubt) and not pace.is_fickle:
            if not pace.in_doubt:
                self._held.clear()
            self._held.append((width, n_ctx, raw))
        else:
            if self._held:
                self._held.clear()
            self._n_alone = 0
            costs.add(width, n_ctx, raw * (costs.plain or plain) / plain)
        return turned

    def _learn_switch(self, extra: float) -> None:
        """Count what a step behind a change of width took beyond the expected, in plain steps.

        One that was held up looks the same, so none counts for much more than those before it.
        """
        switch = self._knowledge.switch
        most = 3.0 * switch + 0.2
        most = most if most < MOST_SWITCH else MOST_SWITCH
        counted = 0.0 if extra < 0.0 else extra if extra < most else most
        self._knowledge.switch = switch + 0.1 * (counted - switch)

    def _release(self, *, is_wide_alone: bool) -> None:
        """Count the samples that waited for what the plain steps would say."""
        costs, plain = self._knowledge.costs, self._knowledge.pace.plain
        unit = costs.plain
        if plain is None or unit is None:
            return
        if is_wide_alone:
            self._n_alone += 1
        if self._n_alone >= _ALONE and self._held:
            self._n_alone = 0
            factors = sorted(
                raw / (costs.ratios(n_ctx)[width] * plain * costs.context.scale(n_ctx))
                for width, n_ctx, raw in self._held
            )
            costs.stretch(factors[len(factors) // 2])
        for width, n_ctx, raw in self._held:
            costs.add(width, n_ctx, raw * unit / plain)
        self._held.clear()

    # ----------------------------------------------------------------------------- its tokens

    def _count_tokens(self, state: StepState, n_accepted: int, n_judged: int) -> None:
        """Let acceptance learn from what was judged."""
        drafter, n, decision = state.settled
        if not n or drafter == FORCED:
            return
        knowledge = self._knowledge
        n_judged = n_judged if n_judged < n else n
        if drafter == state.model:
            accepted, n_own, extension = state.accepted, len(state.survivals), state.extension
            if n <= n_own:
                accepted.add_classes(state.classes, n_accepted, n_judged)
                return
            accepted.add_classes(state.classes, min(n_accepted, n_own), min(n_judged, n_own))
            if extension is not None and n_accepted >= n_own:
                knowledge.accepted(extension.drafter).add(
                    extension.confidences, n_accepted - n_own, n_judged - n_own
                )
        else:
            accepted = knowledge.accepted(drafter)
            accepted.add(state.best_sure, n_accepted, n_judged)
            if n_judged == n:
                accepted.verified(decision.expected - 1.0, n_accepted)
            if n_accepted >= _LONG_HIT:
                for name in self._models:
                    knowledge.model(name).gate.renew()

    def _count_gain(self, state: StepState, n_committed: int, took: float) -> None:
        """Let gates and records learn from what the step gained."""
        knowledge, model, drafter = self._knowledge, state.model, state.settled.drafter
        if drafter:
            gains = knowledge.gains.get(drafter)
            if gains is None:
                gains = knowledge.gains[drafter] = [0.0, 0.0]
            gains[0] = gains[0] * 0.98 + n_committed
            gains[1] = gains[1] * 0.98 + took
            accepted = state.accepted if drafter == model else knowledge.accepted(drafter)
            accepted.long_run.saved += n_committed - took
        for name in self._models:
            if model == name:
                caught_up = state.cost - state.each * len(state.survivals)
                took_here = took - caught_up if caught_up > 0.0 else took
                state.record.add(
                    n_committed - took_here, n_committed - 1.0 - self.rate * (took_here - 1.0)
                )
                state.accepted.long_run.admission.add(n_committed - 1.0 - self.rate * (took - 1.0))
            else:
                knowledge.model(name).gate.wait()
