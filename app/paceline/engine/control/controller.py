"""Budgeted renewal control: decides each step of a reply, and learns from it.

Free drafters are offered first; the value of the best proposal is compared with what the draft
model's steps were worth of late; drafting goes on token by token while it pays; and the draft is
cut to the length that is worth most, nothing included. Whatever is decided must be covered by the
ledger. The theory is that of Leviathan (arXiv 2211.17192) with the costs of Cascade (2506.20675);
drafters that were not used are scored on the committed text (HedgeSpec, 2510.20064).

All values are in tokens and plain steps, so that a slower machine changes none of them.

Long: the decisions of one step in their order, and nothing else.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from paceline.engine.control.asking import Asking
from paceline.engine.control.chances import START
from paceline.engine.control.classes import BOUNDS, PLACE_OF, SILENT
from paceline.engine.control.costs import MAX_WIDTH
from paceline.engine.control.hope import pays_back
from paceline.engine.control.knowledge import Knowledge
from paceline.engine.control.learning import Learner
from paceline.engine.control.ledger import SHARE, Ledger, stake, steps_until
from paceline.engine.control.outlook import report
from paceline.engine.control.rule import best_cut, is_option, pays_ahead
from paceline.engine.control.state import Drafted, StepState
from paceline.engine.control.steps import FORCED, Settled, StepPlan, StepTimes
from paceline.figures import Decision, Reason
from paceline.messages import ControlReported

RESERVE = 0.3
"""Plain steps of the ledger's slack that stay untouched, for what timings are off."""
_KEPT_BACK = 2.0  # plain steps that a model which has not paid so far may not touch
_JUDGED = 24
_MOST_CATCHING_UP = 0.75  # of the slack
_HOPED_EACH = 0.1  # plain steps of a drafted token that was never timed
_TURNS = 3  # accepted tokens of one step that say that drafts pay in this text
_WELL_KNOWN = 200  # judged tokens behind which every other unused proposal is enough
_new = tuple.__new__  # makes a named tuple in half the time


class Controller:
    """Drives one reply; for the engine's thread.

    Args:
        knowledge: What is known of the pair; learns.
        models: Ids of the draft models that take part.
        lookups: Ids of the lookups, in the order in which they are to be asked.
        n_most: Most tokens that a step may verify.
        prefill_s: What the target's prefill of this reply took: a share of it may be lost, too.
        ledger: The reply's account, where another strategy came in between; None: it begins.

    Attributes:
        n_uncovered: After a plan with the reason "ledger": plain steps until a draft is covered.
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
        self._models = tuple(models)
        self._lookups = tuple(lookups)
        self.limit(n_most)
        self.ledger = Ledger(SHARE * prefill_s) if ledger is None else ledger
        choosable = [name for name in lookups if name != FORCED]
        self._asking = Asking(choosable)
        self._forced = (FORCED,) if FORCED in self._lookups else ()
        self._state = StepState()
        self._n_drafts = self._n_shadows = self.n_uncovered = 0
        self._plans: dict[Reason, StepPlan] = {}
        self._plain: dict[Reason, Settled] = {}
        self._gates = [knowledge.model(name).gate for name in self._models]
        if ledger is None:
            knowledge.begin_reply(self._models, choosable, self.ledger)
        else:
            knowledge.change_strategy()
        self._learner = Learner(knowledge, self.ledger, self._asking, self._models)

    def limit(self, n_most: int) -> None:
        """Verify at most so many drafted tokens per step from now on; the allowance stays."""
        self._n_most = min(n_most, MAX_WIDTH - 1)

    # ------------------------------------------------------------------------------ per step

    def plan(self, n_ctx: int, n_room: int) -> StepPlan:
        """Say what this step may do.

        Args:
            n_ctx: Tokens in the context.
            n_room: Tokens that may be drafted at all.
        """
        knowledge, state = self._knowledge, self._state
        costs, pace = knowledge.costs, knowledge.pace
        state.begin()
        state.n_room = n_room
        ratios, careful = costs.near(n_ctx)
        if pace.plain is None or not ratios:
            return self._plan_plain("first")
        if pace.asks_for_plain():
            return self._plan_plain("plain")
        scale = costs.context.scale(n_ctx)
        plain = pace.plain * scale
        slack = self.ledger.slack(plain) / plain - RESERVE
        most = n_room if n_room < self._n_most else self._n_most
        if most < 1:
            return self._plan_plain("nothing")
        noise = 1.0 + pace.spread
        if self._forced:
            state.certain = min(most, bisect_right(careful, (1.0 + slack) / noise) - 2)
        covered = bisect_right(careful, (1.0 + stake(slack)) / noise) - 2
        most = covered if covered < most else most
        allowed = state.certain if self._forced else most
        if allowed < 1:
            self.n_uncovered = steps_until(slack, noise * careful[2] - 1.0)
            return self._plan_plain("ledger")
        state.plain, state.slack = plain, slack
        state.ratios, state.careful = ratios, careful
        state.scale, state.noise, state.most = scale, noise, most if most > 0 else 0
        learner = self._learner
        state.rate, state.last_width, state.switch = (
            learner.rate, learner.last_width, knowledge.switch
        )  # fmt: skip
        has_model = False
        for gate in self._gates:
            if gate.is_open:
                has_model = True
            else:
                state.is_shut = True
        lookups = self._forced + self._asking.choose(plain) if self._lookups else ()
        state.n_asked = len(lookups)
        return _new(StepPlan, (allowed, "pays", has_model, lookups))

    def offer(self, drafter: str, confidences: Sequence[float | None]) -> float:
        """Take a lookup's proposal, and return what it is worth over a plain step, in tokens.

        Args:
            drafter: The lookup.
            confidences: Its tokens' confidences; None where it gives none.
        """
        state = self._state
        is_forced = drafter == FORCED
        if is_forced:
            most = state.certain
            survivals = [1.0] * min(len(confidences), most)
        else:
            most = state.most
            survivals = self._knowledge.accepted(drafter).survivals(confidences, most)
        n, value, expected = best_cut(
            survivals, state.rate, state.ratios, most, state.last_width, switch=state.switch
        )
        if not is_forced:
            self._asking.worth(drafter, value)
            n = n if value > self._knowledge.bar else 0
        if confidences:
            state.has_offer = True
        if n and (not state.best or value > state.value):
            state.best, state.best_sure = drafter, confidences
            state.n_best, state.value, state.expected = n, value, expected
        return value

    def wants_model(self, drafter: str, n_backlog: int) -> bool:
        """Say whether drafting with a model is better than the best offer, and covered.

        Args:
            drafter: The model.
            n_backlog: Tokens that its context lacks, at least 1.
        """
        knowledge, state = self._knowledge, self._state
        record = knowledge.model(drafter)
        if not record.gate.is_open or state.most < 1:
            return False
        cost = knowledge.draft_cost(drafter)
        unit = knowledge.costs.plain or 1.0
        plain = unit * state.scale
        each = cost.token(unit) / plain
        catch_up = cost.catch_up(n_backlog, unit) / plain
        is_known = cost.per_token is not None
        accepted = knowledge.accepted(drafter)
        run = accepted.long_run
        kept = _KEPT_BACK if run.saved < -2.0 and run.n_judged >= _JUDGED else 0.0
        if each + catch_up > state.slack - kept:
            return False
        if record.n_steps >= record.looks_at:
            record.look(accepted, state.rate, state.ratios, most=state.most,
                        each=each if is_known else _HOPED_EACH, switch=state.switch)  # fmt: skip
        value, is_trial = record.value, record.gate.is_trial
        if catch_up > 1.0:
            n_left = max(knowledge.n_reply - self._learner.n_committed, 8.0)
            if state.n_room < MAX_WIDTH - 1:  # the reply's end is in sight
                n_left = min(n_left, state.n_room)
            is_paid_back = not is_known or pays_back(catch_up, value, state.rate, n_left)
            if not is_paid_back or catch_up > _MOST_CATCHING_UP * state.slack:
                return False
        is_tried = is_trial and state.value < 0.2
        if state.best and not is_tried and value < state.value:
            return False
        state.model = drafter
        state.classes, state.survivals = [], []
        state.n_backlog = n_backlog
        state.each, state.cost = each, each + catch_up
        state.survival = state.likely = 1.0
        state.accepted, state.mean = accepted, accepted.mean
        state.chances, state.record, state.drafting = record.chances, record, cost
        state.cls = START
        self._n_drafts += 1
        state.counts_chances = self._n_drafts < 16 or self._n_drafts % 4 == 0
        return True

    def goes_on(self, confidence: float | None) -> bool:
        """Take the model's next drafted token, and say whether to draft another one."""
        state = self._state
        accepted, survivals = state.accepted, state.survivals
        n = len(survivals)
        cls = SILENT if confidence is None else bisect_right(BOUNDS, confidence)
        rates = accepted.table[cls]
        if rates[0] < 0.0:
            rates = accepted.rates(cls)
        rate_here = rates[PLACE_OF[n]]
        survival = state.survival = state.survival * rate_here
        state.classes.append(cls)
        likely = state.likely = state.likely * (rate_here + accepted.margins[cls])
        survivals.append(likely)
        if state.counts_chances:
            state.chances.add(state.cls, cls)
            state.cls = cls
        n += 1
        each, most = state.each, state.most
        cost = state.cost + each
        if n >= most or cost > state.slack:
            return False
        rate, ratios = state.rate, state.ratios
        hope = 0.5 * (rate_here + state.mean)
        # Mostly the very next token is worth it, which costs no call.
        if (
            survival * hope >= rate * (each + ratios[n + 2] - ratios[n + 1])
            or pays_ahead(survival, hope, rate, ratios, n, most=most, each=each)
            or is_option(
                survival,
                state.chances.row(cls),
                accepted.rates_at(PLACE_OF[n]),
                rate * (ratios[n + 2] - ratios[n + 1]),
                rate * each,
            )
        ):
            state.cost = cost
            return True
        return False

    def extends(self, drafter: str, confidences: Sequence[float | None]) -> int:
        """Say how many tokens of a lookup to append to the model's draft."""
        state = self._state
        if not state.model or not state.survivals:
            return 0
        n = len(state.survivals)
        first = state.likely
        behind = self._knowledge.accepted(drafter).survivals(confidences, state.most - n)
        joined = [*state.survivals, *(first * s for s in behind)]
        cut, _, _ = best_cut(
            joined, state.rate, state.ratios, state.most, state.last_width, switch=state.switch
        )
        if cut <= n:
            return 0
        state.extension = Drafted(drafter, confidences[: cut - n], joined[n:cut])
        return cut - n

    def settle(self) -> Settled:
        """Decide what is verified."""
        state = self._state
        if state.reason is not None:
            return state.settled
        most = state.most
        model = state.model
        if model and state.survivals:
            survivals = state.survivals
            if state.extension is not None:
                survivals = survivals + state.extension.survivals
            limit = (1.0 + stake(state.slack - state.cost)) / state.noise
            covered = bisect_right(state.careful, limit) - 2
            most = covered if covered < most else most
            n, value, expected = best_cut(
                survivals, state.rate, state.ratios, most, state.last_width, switch=state.switch
            )
            if n and (not state.best or value >= state.value):
                is_trial = state.record.gate.is_trial
                return self._draft(model, n, "trial" if is_trial else "pays", expected)
        if state.best:
            is_forced = state.best == FORCED
            n = state.n_best if is_forced else min(state.n_best, most)
            if n > 0:
                reason: Reason = "forced" if is_forced else "pays"
                return self._draft(state.best, n, reason, state.expected)
        bar = self._knowledge.bar
        is_dear = (model or state.has_offer) and not bar
        why: Reason = "dear" if is_dear else "shut" if state.is_shut or bar else "nothing"
        return self._settle_plain(why)

    def observe(self, step: StepTimes) -> None:
        """Learn from what the step was and took."""
        self._learner.observe(self._state, step)
        knowledge = self._knowledge
        if knowledge.bar and step.n_accepted >= _TURNS and self._state.settled.drafter != FORCED:
            knowledge.bar = 0.0

    def rested(self, n: int, seconds: float, own_s: float) -> None:
        """Count plain steps that were made without asking for a plan; see `Learner.rested`."""
        self._learner.rested(n, seconds, own_s)

    def shadow(
        self, drafter: str, confidences: Sequence[float | None], n_agreed: int, n_compared: int
    ) -> None:
        """Score a proposal that was not verified on what the step committed instead.

        Args:
            drafter: Whose it is, a lookup's or a model's.
            confidences: Its tokens' confidences.
            n_agreed: First tokens that are what was committed.
            n_compared: Tokens of it that can be compared: not more than were committed.
        """
        if drafter == FORCED or not confidences:
            return
        accepted = self._knowledge.accepted(drafter)
        self._n_shadows += 1
        if self._n_shadows % 2 == 0 or accepted.long_run.n_judged < _WELL_KNOWN:
            accepted.add(confidences, n_agreed, n_compared)

    def report(self, turn_id: str, step: int, n_ctx: int) -> ControlReported:
        """Say what is known by now."""
        drafters = (*self._models, *self._lookups)
        return report(
            self._knowledge, self.ledger, drafters, turn_id=turn_id, step=step, n_ctx=n_ctx
        )

    # --------------------------------------------------------------------------------- within

    def _plan_plain(self, reason: Reason) -> StepPlan:
        self._state.reason = reason
        self._settle_plain(reason)
        plan = self._plans.get(reason)
        if plan is None:
            plan = self._plans[reason] = StepPlan(0, reason, models=False, lookups=())
        return plan

    def _settle_plain(self, reason: Reason) -> Settled:
        # Kept by reason: where nothing is worth drafting, this is most of what a step costs.
        settled = self._plain.get(reason)
        if settled is None:
            settled = self._plain[reason] = Settled("", 0, Decision("", 0, reason))
        self._state.settled = settled
        return settled

    def _draft(self, drafter: str, n: int, reason: Reason, expected: float) -> Settled:
        state = self._state
        gain = expected / (state.ratios[n + 1] + state.cost)
        decision = Decision(drafter, n, reason, expected, gain)
        settled = state.settled = _new(Settled, (drafter, n, decision))
        return settled
