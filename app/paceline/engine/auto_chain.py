"""A chain whose lengths a controller decides, step by step.

Lookups are asked first and scored, whether their tokens are verified or not; the draft model is
asked where the controller expects it to pay, and stopped where the next token would not. What was
drafted and is not verified costs nothing more: the drafter sees it as a proposal that nobody has
judged.

A drafter that is not asked sees several steps at once, before it is asked again: behind a decode
the caches are cold, and letting four lookups see every step costs more than asking one of them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from paceline.engine.chain import Chain
from paceline.engine.control.controller import Controller
from paceline.engine.control.knowledge import Knowledge
from paceline.engine.control.steps import FORCED, Settled, StepTimes
from paceline.engine.drafters.base import Draft, Workbench
from paceline.engine.drafters.strategy import Strategy
from paceline.engine.drafting import GuardedDrafter
from paceline.engine.proposal import NOTHING, Proposal
from paceline.engine.rest import Rest
from paceline.engine.stats import TurnMeter
from paceline.engine.step_clock import Lap
from paceline.messages import ControlReported, Decision, DraftCount

_clock = time.perf_counter
_RESTS = Decision("", 0, "shut")
"""A step that was made without asking anybody; never changed."""


def make_chain(
    strategy: Strategy, bench: Workbench, meter: TurnMeter, knowledge: Knowledge
) -> Chain:
    """Return the chain for a strategy; see `Chain` for what it raises."""
    if strategy.is_controlled:
        return AutoChain(strategy, bench, meter, knowledge)
    return Chain(strategy, bench, meter)


@dataclass(slots=True)
class _Step:
    """One step on its way: who proposed what, and what it took."""

    offers: dict[str, Proposal] = field(default_factory=dict)
    model: GuardedDrafter | None = None
    decision: Decision | None = None
    history: Sequence[int] = ()
    n_history: int = 0
    draft_s: float = 0.0
    lookup_s: float = 0.0
    n_decoded: int = 0
    n_accepted: int = 0
    n_judged: int = 0


class AutoChain(Chain):
    """Asks, lets the controller choose, and tells it what became of it.

    Args:
        strategy: One that `is_controlled`.
        bench: See `Chain`.
        meter: See `Chain`.
        knowledge: What is known of the loaded pair; outlives the reply.

    Raises:
        UserError: The strategy cannot work here, e.g. without a draft model.
    """

    def __init__(
        self, strategy: Strategy, bench: Workbench, meter: TurnMeter, knowledge: Knowledge
    ) -> None:
        # What closing needs stands first: a drafter that cannot be made closes all others.
        self._behind: set[str] = set()  # who has not seen the last step
        self._n_rested = 0  # plain steps that the controller has not heard of
        super().__init__(strategy, bench, meter)
        self._meter = meter
        self._knowledge = knowledge
        self._models = [m for m in self._members if m.info.family == "model"]
        self._lookups = {m.info.id: m for m in self._members if m.info.family != "model"}
        self._control_now: Controller | None = None
        self._step = _Step()
        self._rest = None if FORCED in self._lookups else Rest()
        self._resting = _Step(decision=_RESTS)
        self._own_s = self._told_s = self._rested_s = self._rested_own_s = 0.0
        self._all = frozenset(member.info.id for member in self._members)

    def tune(self, strategy: Strategy) -> bool:
        """Take over other settings of the same drafters; False when a new chain is needed."""
        if not super().tune(strategy):
            return False
        if self._control_now is not None:
            self._control_now.limit(strategy.n_most)
        return True

    def propose(self, history: Sequence[int], n_prompt: int, n_max: int) -> tuple[Proposal, float]:
        """Return what the controller wants verified, and the seconds that finding it took.

        Raises:
            CancelledError: The user stopped the turn.
        """
        if self._rest is not None and self._rest.takes_step():
            self._step = self._resting
            return NOTHING, 0.0
        step = self._step = _Step(history=history, n_history=len(history))
        began = _clock()
        control = self._control
        if self._n_rested:
            self._tell_of_rest()
        plan = control.plan(len(history) - 1, max(n_max, 0))
        n_most = min(plan.n_max, n_max)
        if n_most < 1:  # the cheapest of steps is a plain one
            step.decision = control.settle().decision
            self._own_s = _clock() - began
            return NOTHING, self._own_s
        planned = asked = _clock()
        if plan.lookups:
            self._ask_lookups(plan.lookups, n_prompt, n_most)
            asked = _clock()
            step.lookup_s = asked - planned
        extended: list[str] = []
        if plan.models:
            drafted = self._draft(n_prompt, n_most)
            ended = _clock()
            step.draft_s = ended - asked
            if drafted is not None:
                extended = self._go_on(drafted, plan.lookups, n_prompt, n_most)
                step.lookup_s += _clock() - ended
        proposal = self._take(control.settle(), extended, n_prompt, n_most)
        self._own_s = _clock() - began
        return proposal, self._own_s

    def observe(self, proposal: Proposal, n_accepted: int, n_discarded: int) -> list[DraftCount]:
        """Tell the drafters what a step committed; see `Chain.observe`."""
        step = self._step
        if step.model is None and not proposal.parts:  # nobody has seen the step: no need to ask
            if len(self._behind) < len(self._all):
                self._behind |= self._all
            return []
        step.n_accepted = n_accepted
        step.n_judged = len(proposal.tokens) - n_discarded
        return super().observe(proposal, n_accepted, n_discarded)

    def timed(self, n_ctx: int, width: int, lap: Lap) -> Decision | None:
        """Let the controller learn from the step, and from what was proposed for nothing."""
        step = self._step
        if step is self._resting:
            if not lap.had_pause:
                self._n_rested += 1
                self._rested_s += lap.seconds - lap.held_s
                self._rested_own_s += self._told_s
            self._told_s = 0.0
            return step.decision
        began = _clock()
        n_committed = len(step.history) - step.n_history
        # Where in the step the thread was held up is not known: so everywhere alike.
        ran = 1.0 - lap.held_s / lap.seconds if lap.held_s else 1.0
        deciding_s = self._own_s - step.draft_s - step.lookup_s + self._told_s
        self._control.observe(
            StepTimes(
                n_ctx, width, ran * lap.seconds, ran * step.draft_s, ran * step.lookup_s,
                step.n_decoded, step.n_accepted, step.n_judged, n_committed, lap.is_warm,
                lap.had_pause, ran * deciding_s, lap.held_s,
            )
        )  # fmt: skip
        if step.offers:
            committed = step.history[step.n_history :]
            for drafter, proposal in step.offers.items():
                tokens = proposal.tokens
                n_compared = min(len(tokens), n_committed)
                n_agreed = 0
                while n_agreed < n_compared and tokens[n_agreed] == committed[n_agreed]:
                    n_agreed += 1
                self._control.shadow(drafter, proposal.confidences, n_agreed, n_compared)
        if self._rest is not None:
            if self._rest.is_doubtful and not self._knowledge.bar:  # drafts pay in this text
                self._rest = Rest()
            if width > 1 or step.model is not None:
                self._rest.ends()
            elif step.decision is not None and step.decision.reason == "ledger":
                self._resting.decision = step.decision
                self._rest.waits(self._control.n_uncovered)
            else:
                self._resting.decision = _RESTS
                self._rest.came_to_nothing(self._own_s + _clock() - began, lap.seconds)
        self._told_s = _clock() - began  # which falls into the next step
        return step.decision

    def report(self, turn_id: str, step: int, n_ctx: int) -> ControlReported:
        """Return what the controller knows by now."""
        self._tell_of_rest()
        return self._control.report(turn_id, step, n_ctx)

    def close(self) -> None:
        """Let all drafters go; those that learn from texts see the reply's end before."""
        self._tell_of_rest()
        for member in self._members:
            self._catch_up(member)
        super().close()

    # ------------------------------------------------------------------------------ within

    @property
    def _control(self) -> Controller:
        """The controller, made with the first step: by then the prefill has been timed."""
        control = self._control_now
        if control is None:
            control = self._control_now = Controller(
                self._knowledge,
                [member.info.id for member in self._models],
                list(self._lookups),
                n_most=self.strategy.n_most,
                prefill_s=self._meter.prefill_s - self._meter.prefill_held_s,
                ledger=self._meter.ledger,
            )
            self._meter.ledger = control.ledger
            if self._rest is not None and self._knowledge.bar:
                self._rest = Rest(is_doubtful=True)
        return control

    def _tell_of_rest(self) -> None:
        if self._n_rested:
            self._control.rested(self._n_rested, self._rested_s, self._rested_own_s)
            self._n_rested, self._rested_s, self._rested_own_s = 0, 0.0, 0.0

    def _pass_over(self, member: GuardedDrafter) -> None:
        """Let a model see the step that it drafted in, so that nothing rejected stays in it."""
        if member is self._step.model:
            member.observe(0, 0)
        else:
            self._behind.add(member.info.id)

    def _catch_up(self, member: GuardedDrafter) -> None:
        """Let a drafter see the steps that it was passed over in, before it is asked."""
        if member.info.id in self._behind:
            self._behind.discard(member.info.id)
            member.observe(0, 0)

    def _ask_lookups(self, ids: Sequence[str], n_prompt: int, n_max: int) -> None:
        """Offer what the lookups propose."""
        step, behind = self._step, self._behind
        for name, member in self._lookups.items():
            if name not in ids or not member.may_draft:
                continue
            if name in behind:
                self._catch_up(member)
            draft = member.propose(step.history, n_prompt, n_max)
            if draft.tokens:
                draft = self._legal(draft)
            if draft.tokens:
                offer = step.offers[name] = Proposal([], [], [], [])
                offer.add(member, draft)
                self._control.offer(name, offer.confidences)

    def _draft(self, n_prompt: int, n_most: int) -> Proposal | None:
        """Draft with a model where that pays."""
        step, control = self._step, self._control
        for member in self._models:
            if not member.may_draft:
                continue
            name = member.info.id
            self._catch_up(member)
            if not control.wants_model(name, member.backlog(step.history, n_prompt)):
                continue
            step.model = member
            n_before = member.n_decoded
            draft = member.propose_while(step.history, n_prompt, n_most, control.goes_on)
            step.n_decoded += member.n_decoded - n_before
            if draft.tokens:
                offer = step.offers[name] = Proposal([], [], [], [])
                offer.add(member, draft)
                return offer
        return None

    def _go_on(self, offer: Proposal, ids: Sequence[str], n_prompt: int, n_most: int) -> list[str]:
        """Let the first lookup that is worth it go on behind a model; return those asked."""
        asked: list[str] = []
        if offer.tokens[-1] in self._bench.eog:
            return asked
        for name in ids:
            member = self._lookups.get(name)
            n_left = n_most - len(offer.tokens)
            if n_left < 1:
                break
            if member is None or not member.may_draft:
                continue
            asked.append(name)
            self._catch_up(member)
            draft = member.extend(self._step.history, n_prompt, offer.tokens, n_left)
            draft = self._legal(draft, offer.tokens)
            n = len(draft.tokens)
            if n:
                n = min(self._control.extends(name, draft.confidences or (None,) * n), n)
            if n:
                offer.add(member, Draft(draft.tokens[:n], draft.confidences[:n]))
                break
        return asked

    def _take(
        self, settled: Settled, extended: Sequence[str], n_prompt: int, n_max: int
    ) -> Proposal:
        """Return the chosen proposal, cut to what is to be verified."""
        step, name = self._step, settled.drafter
        step.decision = settled.decision
        chosen = step.offers.get(name)
        n = min(settled.n, n_max)
        if chosen is None or n < 1:
            if settled.n:  # its drafter broke while it drafted
                step.decision = Decision("", 0, "nothing")
            return NOTHING
        if name in extended:  # it has looked up something else since: bring it back to its draft
            self._lookups[name].propose(step.history, n_prompt, n_max)
        del step.offers[name]
        chosen.cut(n)
        return chosen
