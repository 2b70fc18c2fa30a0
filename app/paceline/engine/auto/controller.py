"""The decision of each step of a reply: which drafter, how many tokens, how many are verified.

Tokens per second are a ratio of sums, so the best policy maximises tokens - rate * time step by
step, with the rate that it reaches itself (renewal reward; Dinkelbach's method). A step that
verifies n tokens of which E are expected to be accepted is worth E - rate * (T(n + 1) - 1 +
drafting), with all times in current plain steps. The ledger must cover every possible loss, and the
less slack it has, the more a lookup's expected loss counts: without slack a reply goes on with
plain steps, whatever there is to copy. Lookups are asked first, since they cost next to nothing. A
draft model is asked if its steps may gain more than the best proposal of a lookup, and stopped once
its next tokens would not pay. The theory is that of Leviathan (arXiv 2211.17192) with the costs of
Cascade (2506.20675); proposals that were not verified are scored on the committed text (HedgeSpec,
2510.20064).

The constants stand in `AutoTuning`; decision records 068, 091, 107, 109 and 110 say what each
mechanism is worth in the simulator of `tests/engine/auto`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from math import inf

import msgspec

from paceline.engine.auto.acceptance import class_of, classes_of
from paceline.engine.auto.costs import MAX_WIDTH
from paceline.engine.auto.knowledge import Knowledge
from paceline.engine.auto.ledger import Ledger
from paceline.engine.auto.tuning import TUNING
from paceline.figures import Decision, Outlook, Reason
from paceline.messages import ControlReported

FORCED = "grammar"
"""Id of the drafter that proposes what a grammar forces: `grammar_drafter.NAME`."""


class StepPlan(msgspec.Struct, gc=False):
    """The limits of one step.

    Attributes:
        n_max: Maximum number of tokens to verify; 0 makes the step a plain one.
        reason: Reason why no draft is made; "pays" where one may be.
        models: Whether a draft model may be asked.
    """

    n_max: int
    reason: Reason
    models: bool


class StepTimes(msgspec.Struct, gc=False):
    """The measurements of one step; seconds count only while the thread ran.

    Attributes:
        n_ctx: Tokens in the context before the step.
        width: Tokens of the verify batch: the drafted ones and one more.
        decode_s: Seconds of the target's decode.
        draft_s: Seconds of drafting by models.
        own_s: Seconds of deciding, lookups included, and of the slow-down that asking causes later
            in the step; may be negative.
        n_draft_decoded: Tokens that the draft model decoded, including its backlog.
        n_accepted: Drafted tokens that were accepted.
        n_judged: Drafted tokens that were not discarded.
        n_committed: Tokens that the step added to the reply.
        is_warm: Whether the step before had the same width, so that no graph was rebuilt.
        had_pause: Whether something else happened in between; then nothing is learned or charged.
        slowed: Factor by which a recent wide decode slowed this plain step.
        held_s: Further seconds in which the thread did not run because others used the machine.
    """

    n_ctx: int
    width: int
    decode_s: float
    draft_s: float
    own_s: float
    n_draft_decoded: int
    n_accepted: int
    n_judged: int
    n_committed: int
    is_warm: bool
    had_pause: bool
    slowed: float = 1.0
    held_s: float = 0.0


class _Draft(msgspec.Struct):
    """One drafter's proposal in this step.

    Attributes:
        drafter: The drafter's id.
        classes: Classes of confidence of its tokens.
        survivals: Probability of each token that it and all before it are accepted.
        n: Number of tokens to verify.
        value: Gain over a plain step, in tokens.
        expected: Tokens that the step is expected to commit.
        again: Expected plain steps for decoding accepted tokens once more.
    """

    drafter: str
    classes: list[int]
    survivals: list[float]
    n: int = 0
    value: float = 0.0
    expected: float = 0.0
    again: float = 0.0


class Controller:
    """Decides the steps of one reply; for the engine's thread.

    Calls per step: `plan`, then `offer` for each lookup's proposal, `wants_model` and `goes_on`
    while a model drafts, `settle`, and after the decode `shadow` and `observe`.

    Args:
        knowledge: Costs, acceptance and pace of the pair; updated by `observe`.
        models: Ids of the draft models in the strategy.
        lookups: Ids of the lookups in the strategy.
        n_most: Maximum number of drafted tokens that a step may verify.
        prefill_s: Seconds of the target's prefill of this reply; used only if there are models.
        ledger: The reply's account if it began under another strategy, or None to begin one.

    Attributes:
        ledger: The reply's account.
        rate: Recent tokens per plain step, at least 1.
        wait: After a plan with the reason "ledger": plain steps until a draft is covered again.
    """

    def __init__(
        self,
        knowledge: Knowledge,
        models: Sequence[str],
        lookups: Sequence[str],
        *,
        n_most: int,
        prefill_s: float = 0.0,
        ledger: Ledger | None = None,
    ) -> None:
        self._knowledge = knowledge
        self._models, self._lookups = tuple(models), tuple(lookups)
        self.limit(n_most)
        if ledger is None:
            knowledge.begin_reply()
        self.ledger = ledger or Ledger(prefill_s if models else 0.0)
        self.rate = self._tokens = self._steps = 1.0
        self.wait = 0
        self._last_width = 1
        self._n_plain = 0
        self._values: dict[str, float] = {}  # upper bounds of the models' gains in this step
        self._none = _Draft("", [], [])
        self._begin_step()

    def _begin_step(self) -> None:
        self._drafts: dict[str, _Draft] = {}  # by drafter
        self._best = self._none  # the best proposal of a lookup
        self._model: _Draft | None = None  # the draft of the model that was asked
        self._settled: Decision | None = None
        self._why: Reason = "nothing"  # the reason if the step becomes a plain one
        # In plain steps: the covered loss, the time of one more drafted token, of the model's
        # reading, and of all its drafting.
        self._slack = self._each = self._reading = self._drafting = 0.0

    def limit(self, n_most: int) -> None:
        """Set the maximum number of drafted tokens per step from now on; the allowance stays."""
        self._n_most = min(n_most, MAX_WIDTH - 1)

    # ------------------------------------------------------------------------------ per step

    def plan(self, n_ctx: int, n_room: int) -> StepPlan:
        """Return the limits of this step.

        Args:
            n_ctx: Tokens in the context.
            n_room: Tokens that the context and the reply's limit leave for a draft.
        """
        self._begin_step()
        costs, pace = self._knowledge.costs, self._knowledge.pace
        self._ratios, self._careful = costs.near(n_ctx)
        if pace.plain is None or not pace.is_known or not self._ratios:
            return self._plainly("first")
        if pace.asks_for_plain():
            return self._plainly("plain")
        self._n_room = n_room
        self._scale = costs.context.scale(n_ctx)
        plain = pace.plain * self._scale
        self._slack = self.ledger.slack(plain) / plain - 0.3  # margin for errors of timings
        if self._knowledge.replays:
            self._slack -= self._careful[2] - 1.0  # the token before a draft is decoded again
        self._noise = 1.0 + pace.spread
        most = min(n_room, self._n_most)
        if most < 1:
            return self._plainly("nothing")
        self._aversion = TUNING.loss_aversion / max(self._slack, 0.1)
        self._most = min(most, self._covered(self._slack))
        if self._most < 1:
            missing = self._at_risk(1) - self._slack
            self.wait = max(int(missing / TUNING.promised_share), 0)
            return self._plainly("ledger")
        is_open = False
        for name in self._models:
            value = self._values[name] = self._knowledge.rates[name].value
            is_open = is_open or value > 0.0
        if self._models and not is_open:
            self._why = "shut"
        return StepPlan(self._most, "pays", is_open)

    def offer(self, drafter: str, confidences: Sequence[float | None]) -> float:
        """Consider a lookup's proposal and return its gain over a plain step, in tokens.

        Args:
            drafter: Id of the lookup.
            confidences: Confidences of its tokens, or None where it gives none.
        """
        if self._why != "ledger":
            self._why = "expensive"
        classes = classes_of(confidences)
        if drafter == FORCED:
            survivals = [1.0] * len(classes)
        else:
            survivals = self._knowledge.rates[drafter].survivals(classes)
        draft = self._drafts[drafter] = _Draft(drafter, classes, survivals)
        self._cut(draft, self._most, self._aversion)
        if draft.value > self._best.value:
            self._best = draft
        return draft.value

    def wants_model(self, drafter: str, n_backlog: int, n_unread: int = 0) -> int:
        """Decide whether drafting with a model may beat the best proposal, and is covered.

        Args:
            drafter: Id of the model.
            n_backlog: Tokens that its context lacks; at least 1.
            n_unread: Tokens before these that it must also read to know the whole text; 0 if none.

        Returns:
            The number of last tokens of both that it is to read; 0 if it is not asked.
        """
        knowledge = self._knowledge
        rates, cost = knowledge.rates[drafter], knowledge.draft_costs[drafter]
        value, offered = self._values[drafter], self._best.value
        if value <= offered:
            return 0
        if self._why != "ledger":
            self._why = "expensive"
        unit = knowledge.costs.plain or 1.0
        plain = unit * self._scale
        each, reading = cost.token(unit) / plain, cost.catch_up(n_backlog, unit) / plain
        n_done = knowledge.n_tokens
        least = TUNING.min_remaining_share * n_done
        n_left = min(max(knowledge.n_reply - n_done, least, 8.0), self._n_room)
        gain = (value - offered) * n_left / (1.0 + self.rate)
        n_read, most = n_backlog, min(TUNING.max_reading_share * self._slack, gain / 2.0)
        if reading > most > 0.0:
            n_read = int(n_backlog * most / reading)
            reading = cost.catch_up(n_read, unit) / plain
            n_read = n_read if n_read >= 16 else 0  # fewer tokens show nothing
        elif n_unread and rates.has_paid:  # what it has saved so far may cover the rest
            whole = cost.catch_up(n_backlog + n_unread, unit) / plain
            if whole <= min(most, TUNING.whole_reading_share * gain):
                n_read, reading = n_backlog + n_unread, whole
        # Until the cost of a token is known, one is drafted even where it cannot be verified.
        at_risk = self._at_risk(1) if cost.per_token is not None else 0.0
        if n_read and reading + each + at_risk > self._slack:
            self._why, n_read = "ledger", 0
        if not n_read:
            return 0
        self._model = self._drafts[drafter] = _Draft(drafter, [], [])
        self._rates, self._n_read = rates, n_read
        self._each, self._reading, self._drafting = each, reading, reading + each
        self._mean = rates.mean
        return n_read

    def goes_on(self, confidence: float | None) -> bool:
        """Take the model's next drafted token and return whether to draft another one."""
        model = self._model
        assert model is not None
        cls = class_of(confidence)
        rate = self._rates.rate(cls)
        survival = model.survivals[-1] * rate if model.survivals else rate
        model.classes.append(cls)
        model.survivals.append(survival)
        n, each, ratios = len(model.survivals), self._each, self._ratios
        # Tokens that could no longer be verified are not drafted.
        if n >= self._most or self._drafting + each + self._at_risk(n + 1) > self._slack:
            return False
        # Kernels compute rows by fours or eights, so several more tokens may pay where one does
        # not; and no graph is rebuilt at the width of the step before.
        last, switch = self._last_width, self._knowledge.switch
        alike = TUNING.neighbour_correlation
        likely = survival * (alike * rate + (1.0 - alike) * self._mean)
        before, gain, cost = survival, 0.0, switch if n + 1 == last else 0.0
        for width in range(n + 2, min(n + 1 + TUNING.tokens_ahead, self._most + 1) + 1):
            gain += likely
            cost += each + ratios[width] - ratios[width - 1]
            if self._knowledge.replays:
                cost += (before - likely) * (ratios[width] - 1.0)
            if gain >= self.rate * (cost - switch if width == last else cost):
                self._drafting += each
                return True
            before, likely = likely, likely * self._mean
        return False

    def settle(self) -> Decision:
        """Decide which draft is verified, and how many of its tokens."""
        if self._settled is not None:
            return self._settled
        model, best, n_most = self._model, self._best, self._most
        if model is not None:
            if model.survivals:
                self._slack -= self._drafting
            n_most = self._covered(self._slack)
            self._cut(model, min(self._most, n_most))
            if model.value >= best.value:
                best = model
        if min(best.n, n_most) < 1:
            self._settled = _plain(self._why)
            return self._settled
        n = best.n if best.drafter == FORCED else min(best.n, n_most)
        drafting = self._drafting if best is model else 0.0
        gain = best.expected / (self._ratios[n + 1] + best.again + drafting)
        reason: Reason = "forced" if best.drafter == FORCED else "pays"
        if best is model and not self._rates.has_paid:
            reason = "trial"
        self._settled = Decision(best.drafter, n, reason, best.expected, gain)
        return self._settled

    def shadow(self, drafter: str, n_agreed: int, n_compared: int) -> None:
        """Score a proposal that was not verified in this step on the committed tokens.

        Args:
            drafter: Id of the drafter that made it.
            n_agreed: Number of its first tokens that equal the committed ones.
            n_compared: Number of its tokens that can be compared; at most those committed.
        """
        if drafter != FORCED:
            classes = self._drafts[drafter].classes
            self._knowledge.rates[drafter].add(classes, n_agreed, n_compared)

    # ------------------------------------------------------------------------------- learning

    def observe(self, step: StepTimes) -> float:
        """Learn from a finished step; return the plain steps that it saved."""
        knowledge, n_committed, decode_s = self._knowledge, step.n_committed, step.decode_s
        knowledge.n_tokens += n_committed
        settled = self._settled
        if settled is not None and settled.drafter:
            n_judged = min(step.n_judged, settled.n_drafted)
            self.shadow(settled.drafter, step.n_accepted, n_judged)
        if step.had_pause or not 0.0 < decode_s < inf:  # or the clock stood still
            self._last_width = 0
            return 0.0
        pace, costs, n_ctx = knowledge.pace, knowledge.costs, step.n_ctx
        own_s = step.draft_s + step.own_s
        pace.saw_share(decode_s + own_s, step.held_s)
        knowledge.n_ctx = n_ctx
        scale, width = costs.context.scale(n_ctx), step.width
        if width == 1:
            self._time_plain(step, scale)
        else:
            self._time_wide(step, scale)
            self._n_plain = 0
        self._last_width = width
        if pace.plain is None:
            return 0.0
        # Sharing one step's overhead may save more than asking cost, but never a decode.
        plain, spent = pace.plain * scale, max(decode_s + own_s, 0.5 * decode_s)
        if self._model is not None:
            self._learn_drafting(self._model, step, pace.plain)
        if width == 1:
            # Plain decoding would have taken the same, without the slow-down by an earlier wide
            # step.
            needed = decode_s / step.slowed
            needed = needed if step.is_warm else min(needed, max(plain, 0.5 * needed))
            self.ledger.book(n_committed, spent, needed)
        else:
            self.ledger.book(n_committed, spent, plain)
            knowledge.own += TUNING.sample_weight * (min(step.own_s / plain, 1.0) - knowledge.own)
        took = spent / plain
        kept = TUNING.rate_kept
        tokens = self._tokens = kept * self._tokens + n_committed
        steps = self._steps = kept * self._steps + took
        self.rate = tokens / steps if tokens > steps else 1.0
        self._count_gain(n_committed, took)
        return n_committed - took

    def rested(self, n: int, decode_s: float, own_s: float) -> None:
        """Count `n` plain steps that were made without a plan, in place of `observe`."""
        self._knowledge.n_tokens += n
        self._last_width = 1
        self.ledger.book(n, decode_s + own_s, decode_s / n)
        for name in self._models:
            self._knowledge.rates[name].pass_over(n)
        self._count_plain(n)

    def _time_plain(self, step: StepTimes, scale: float) -> None:
        """Update costs and pace from a plain step."""
        knowledge = self._knowledge
        costs, pace = knowledge.costs, knowledge.pace
        if not step.is_warm:
            if pace.plain is not None:
                self._learn_switch(step.decode_s / scale / pace.plain - 1.0)
            return
        seconds = step.decode_s / step.slowed
        knowledge.slope.add(step.n_ctx, seconds)
        pace.saw_plain(seconds / scale)
        is_learning = costs.n_samples(1) < TUNING.timings_kept
        if is_learning and pace.plain is not None and pace.fits(seconds / scale):
            costs.add(1, step.n_ctx, seconds * (costs.plain or pace.plain) / pace.plain)
        self._count_plain(1)

    def _count_plain(self, n: int) -> None:
        n_ages, self._n_plain = divmod(self._n_plain + n, 32)
        for _ in range(n_ages):
            self._knowledge.costs.age()

    def _time_wide(self, step: StepTimes, scale: float) -> None:
        """Update costs and pace from a wide step."""
        knowledge, width = self._knowledge, step.width
        costs, pace = knowledge.costs, knowledge.pace
        ratios = costs.near(step.n_ctx)[0]
        if pace.plain is None or costs.plain is None or width >= len(ratios):
            return
        plain, n = pace.plain * scale, costs.n_samples(width)
        expected, seconds = ratios[width] * plain, step.decode_s
        if not step.is_warm:
            if n > 1:
                self._learn_switch((seconds - expected) / plain)
            seconds -= min(knowledge.switch * plain, 0.5 * seconds)
        pace.saw_wide(seconds / expected if n > 1 else 1.0)
        if n < 2 or not pace.in_doubt:
            costs.add(width, step.n_ctx, seconds * costs.plain / pace.plain)

    def _learn_drafting(self, model: _Draft, step: StepTimes, plain: float) -> None:
        unit = self._knowledge.costs.plain
        if unit is not None:
            n = step.n_draft_decoded or self._n_read + len(model.classes) - 1
            cost = self._knowledge.draft_costs[model.drafter]
            cost.add(n, step.draft_s * unit / plain, self._n_read)

    def _learn_switch(self, extra: float) -> None:
        """Update the cost of a change of the batch's width from one sample, in plain steps.

        A step that was held up looks the same, so no sample counts much more than earlier ones.
        """
        switch = self._knowledge.switch
        counted = min(max(extra, 0.0), 3.0 * switch + 0.2, TUNING.max_switch_steps)
        self._knowledge.switch = switch + TUNING.sample_weight * (counted - switch)

    def _count_gain(self, n_committed: int, took: float) -> None:
        """Count the step's gain for its drafter and for the model that was asked."""
        knowledge, drafter = self._knowledge, self._settled.drafter if self._settled else ""
        if drafter:
            committed, steps = knowledge.gains.get(drafter, (0.0, 0.0))
            kept = TUNING.rate_kept
            knowledge.gains[drafter] = kept * committed + n_committed, kept * steps + took
            knowledge.rates[drafter].saved += n_committed - took
        for name in self._models:
            rates = knowledge.rates[name]
            rates.pass_over()
            if self._model is not None and name == self._model.drafter:
                gain = n_committed - 1.0 - self.rate * (took - self._reading - 1.0)
                rates.gained(gain, self._reading)

    # -------------------------------------------------------------------------------- telling

    def report(self, step: int, n_ctx: int) -> ControlReported:
        """Return the current costs, outlooks and balance, for display."""
        knowledge = self._knowledge
        costs, pace = knowledge.costs, knowledge.pace
        unit = costs.plain
        own = (pace.plain or unit or 0.0) * costs.context.scale(n_ctx)
        plain = own * pace.wait
        speed = unit / (pace.plain * pace.wait) if unit and pace.plain else 1.0
        return ControlReported(
            step,
            plain,
            speed,
            self.ledger.slack(own) * pace.wait,
            costs.table(n_ctx),
            tuple(self._outlook(name, plain, speed) for name in (*self._models, *self._lookups)),
        )

    def _outlook(self, name: str, plain: float, speed: float) -> Outlook:
        rates = self._knowledge.rates[name]
        cost = self._knowledge.draft_costs.get(name)
        committed, steps = self._knowledge.gains.get(name, (0.0, 0.0))
        return Outlook(
            name,
            name not in self._models or rates.value > 0.0,
            (cost.per_token or 0.0) / speed if cost is not None else 0.0,
            rates.by_place(),
            rates.by_confidence(),
            committed / steps if steps >= TUNING.gain_reported_after else None,
            rates.n_judged,
            rates.n_accepted,
            rates.saved * plain,
        )

    # --------------------------------------------------------------------------------- within

    def _at_risk(self, n: int) -> float:
        """Return the plain steps that verifying `n` tokens may lose."""
        return self._noise * self._careful[n + 1] - 1.0

    def _covered(self, loss: float) -> int:
        """Return how many tokens may be verified if this many plain steps may be lost."""
        return bisect_right(self._careful, (1.0 + loss) / self._noise) - 2

    def _cut(self, draft: _Draft, most: int, aversion: float = 0.0) -> None:
        """Set how many tokens of a draft to verify, and the value of doing so.

        Args:
            draft: The draft.
            most: Maximum number of tokens that the ledger covers.
            aversion: Additional weight of an expected loss.
        """
        ratios, rate, last, survivals = self._ratios, self.rate, self._last_width, draft.survivals
        knowledge = self._knowledge
        other = 1.0 - knowledge.own - (knowledge.switch if last == 1 else 0.0)
        totals = list(accumulate(survivals, initial=0.0))
        agains = self._decoded_again(survivals) if knowledge.replays else None
        best, best_value, is_gain = 0, 0.0, False
        for n in range(min(most, len(survivals)), 0, -1):
            cost = ratios[n + 1] - other
            if n + 1 == last:
                cost -= knowledge.switch
            if agains:
                cost += agains[n - 1]
            value = totals[n] - rate * cost
            if value > best_value:
                # The loss if fewer tokens are accepted than the step costs, weighted by its
                # probability.
                whole, likely = max(int(cost), 0), totals[n]
                if whole < n:
                    likely = totals[whole] + (cost - whole) * survivals[whole]
                value -= aversion * max(cost - likely, 0.0)
                is_gain = True
                if value > best_value:
                    best, best_value = n, value
        draft.n, draft.value, draft.expected = best, best_value, totals[best] + 1.0
        draft.again = agains[best - 1] if agains and best else 0.0
        if is_gain and not best:
            self._why = "ledger"

    def _decoded_again(self, survivals: Sequence[float]) -> list[float]:
        """Return by n the plain steps of decoding again what precedes a rejected token."""
        pairs = zip([1.0, *survivals], survivals, self._ratios[2:], strict=False)
        return list(accumulate((before - now) * (ratio - 1.0) for before, now, ratio in pairs))

    def _plainly(self, reason: Reason) -> StepPlan:
        self._settled = _plain(reason)
        return StepPlan(0, reason, models=False)


@cache
def _plain(reason: Reason) -> Decision:
    return Decision("", 0, reason)
