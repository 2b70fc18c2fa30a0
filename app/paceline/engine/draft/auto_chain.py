"""A chain whose lengths a controller decides, step by step.

Lookups are asked first, in their order, until one has something that is worth verifying; the draft
model is asked where the controller expects it to pay, and stopped where the next token would not.
What was drafted and is not verified costs nothing more: the drafter sees it as a proposal that was
not judged.

Deciding costs time, too. On a step of 15 ms the 100 µs of Python for it are unnoticed; on one of
1.5 ms they are more than the promise allows to be lost in all. So a share of the time of plain
steps is there for it, and where nothing comes of it, steps are made without asking any drafter
until that covers the next decision.

A drafter that is not asked sees several steps at once, before it is asked again: after a decode
the caches are cold, and letting it see every step costs more than asking it once. What comes after
it was asked for the last time it sees in the next turn, with the prompt.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import msgspec

from paceline.engine.auto.controller import FORCED, Controller, StepTimes
from paceline.engine.auto.costs import median_with
from paceline.engine.auto.knowledge import Knowledge
from paceline.engine.auto.tuning import TUNING
from paceline.engine.draft.base import Draft, Workbench
from paceline.engine.draft.chain import NOTHING, Chain, GuardedDrafter, Proposal
from paceline.engine.draft.step_clock import Lap
from paceline.engine.draft.strategy import CompleteStrategy
from paceline.engine.model.threads import Clock
from paceline.engine.stats import TurnMeter
from paceline.messages import ControlReported, Decision, DraftCount

OWN_SHARE = 0.005
"""Of the time of plain steps, what deciding may take while it comes to nothing, and half a step
more after a draft that paid. 0.01 gained no more on recorded replies."""
LONGEST_REST = 64
"""Steps without a decision in a row, at most: what is missed when the text changes. Where a step
takes a millisecond, deciding in one of 16 took twice its share."""

_MOST_BESIDE = 3.0  # times the usual, what a step may take besides: a stall is no cost of drafts

_clock = time.perf_counter
_FIRST = Decision("", 0, "first")
_RESTS = Decision("", 0, "shut")


def make_chain(
    strategy: CompleteStrategy,
    bench: Workbench,
    meter: TurnMeter,
    knowledge: Knowledge,
    own: Clock | None = None,
) -> Chain:
    """Return the chain for a strategy; see `AutoChain`, and `Chain` for what it raises."""
    if strategy.is_controlled:
        return AutoChain(strategy, bench, meter, knowledge, own)
    return Chain(strategy, bench, meter)


class _Step(msgspec.Struct):
    """One step on its way: what each drafter proposed, and what it took."""

    decision: Decision | None = None
    is_asked: bool = False
    offers: dict[str, tuple[GuardedDrafter, Draft]] = {}
    model: GuardedDrafter | None = None
    history: Sequence[int] = ()
    n_history: int = 0
    draft_s: float = 0.0
    own_s: float = 0.0
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
        own: The thread's own seconds, so that what others take of the processor is not counted
            of a model's drafting; None: they do not tell.

    Raises:
        UserError: The strategy cannot work here, e.g. without a draft model.
    """

    def __init__(
        self,
        strategy: CompleteStrategy,
        bench: Workbench,
        meter: TurnMeter,
        knowledge: Knowledge,
        own: Clock | None = None,
    ) -> None:
        # What closing needs stands first: a drafter that cannot be made closes all others.
        self._resting = _Step(decision=_RESTS)
        self._n_rest = self._n_rested = 0
        self._rested_s = self._passed_s = 0.0
        self._told_s = 0.0  # what learning from the last step took, which falls into the next
        self._besides: list[float] = []  # what the last steps without drafters took besides
        self._beside_s = 0.0  # the usual one: sampling, text, listeners; 0: not known
        super().__init__(strategy, bench, meter)
        self.decides = True
        self._meter = meter
        self._knowledge = knowledge
        self._own = own or _clock
        # Deciding neither waits nor sleeps, and this one takes a fifth of the time.
        self._computed = time.thread_time if own else _clock
        self._models = [m for m in self._members if m.info.family == "model"]
        self._lookups = {m.info.id: m for m in self._members if m.info.family != "model"}
        self._current = set(self._lookups)  # ids of drafters that have seen the last step
        self._control_now: Controller | None = None
        self._step = _Step()
        self._is_first = self._has_begun = False

    def tune(self, strategy: CompleteStrategy) -> bool:
        """Take over other settings of the same drafters; False when a new chain is needed."""
        if not super().tune(strategy):
            return False
        if self._control_now is not None:
            self._control_now.limit(strategy.n_most)
        return True

    def propose(
        self, history: Sequence[int], n_prompt: int, n_max: int, *, is_first: bool = False
    ) -> tuple[Proposal, float]:
        """Return what the controller wants verified, and the seconds; see `Chain.propose`.

        Raises:
            CancelledError: The user stopped the turn.
        """
        self._is_first = is_first
        if not self._has_begun:  # with the prefill, which their indexes are a part of
            self._has_begun = True
            for member in self._lookups.values():
                member.begin(history, n_prompt)
        if self._rests():
            self._step = self._resting
            return NOTHING, 0.0
        began, own_began = _clock(), self._computed()
        step = self._step = _Step(history=history, n_history=len(history))
        control = self._control_now or self._control
        if self._n_rested:
            self._tell_of_rest()
        plan = control.plan(len(history) - 1, max(n_max, 0))
        n_most = plan.n_max
        if n_most < 1:  # the cheapest of steps is a plain one
            step.decision = control.settle()
            if plan.reason == "ledger":
                self._rest(control.wait, step.decision)
            step.own_s = self._computed() - own_began
            return NOTHING, _clock() - began
        step.is_asked = True
        self._ask_lookups(control, n_prompt, n_most)
        if plan.models:
            step.own_s = self._computed() - own_began
            asked = self._own()
            self._draft(n_prompt, n_most)
            step.draft_s = self._own() - asked
            own_began = self._computed()
        proposal = self._take(control.settle(), n_most)
        step.own_s += self._computed() - own_began
        return proposal, _clock() - began

    def observe(self, proposal: Proposal, n_accepted: int, n_discarded: int) -> list[DraftCount]:
        """Tell the drafters what a step committed; see `Chain.observe`."""
        step = self._step
        if step.model is None and not proposal.parts:  # no drafter took part in the step
            self._current.clear()
            return []
        step.n_accepted = n_accepted
        step.n_judged = len(proposal.tokens) - n_discarded
        return super().observe(proposal, n_accepted, n_discarded)

    def timed(
        self, lap: Lap, width: int, n_ctx: int, decode_s: float, slowed: float
    ) -> Decision | None:
        """Let the controller learn from the step, and from what was proposed for nothing."""
        step = self._step
        self.timed_s = 0.0
        if step is self._resting:
            if not lap.had_pause:
                self._n_rested += 1
                self._rested_s += decode_s
                self._passed_s += lap.seconds - lap.held_s
            return _FIRST if self._is_first else step.decision
        began = self._computed()
        control = self._control_now or self._control
        n_committed = len(step.history) - step.n_history
        own_s = deciding_s = step.own_s + self._told_s
        if not lap.had_pause:
            beside_s = lap.seconds - lap.held_s - decode_s - step.draft_s - deciding_s
            if step.is_asked:
                own_s += self._beyond(beside_s, n_committed)
            else:
                self._learn_beside(beside_s)
        times = StepTimes(
            n_ctx, width, decode_s, step.draft_s, own_s, step.n_decoded,
            step.n_accepted, step.n_judged, n_committed, lap.is_warm, lap.had_pause,
            slowed, lap.held_s,
        )  # fmt: skip
        saved = control.observe(times)
        committed = step.history[step.n_history :]
        for drafter, (_, draft) in step.offers.items():
            tokens = draft.tokens
            n_compared = min(len(tokens), n_committed)
            n_agreed = 0
            while n_agreed < n_compared and tokens[n_agreed] == committed[n_agreed]:
                n_agreed += 1
            control.shadow(drafter, n_agreed, n_compared)
        if saved > 0.0 and step.n_judged:
            self._knowledge.saved_up = TUNING.saved_up  # drafts pay here
        elif not (lap.had_pause or self._is_first):
            known, plain_s = self._knowledge, decode_s
            if width > 1:
                plain_s = (known.pace.plain or 0.0) * known.costs.context.scale(n_ctx)
            if plain_s > 0.0:
                self._count_own(plain_s, deciding_s)
        self.timed_s = self._told_s = self._computed() - began
        return _FIRST if self._is_first else step.decision

    def report(self, step: int, n_ctx: int) -> ControlReported:
        """Return what the controller knows by now."""
        self._tell_of_rest()
        return self._control.report(step, n_ctx)

    def close(self) -> None:
        """Close all drafters."""
        self._tell_of_rest()
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
        return control

    def _rests(self) -> bool:
        """Whether this step is made without a decision."""
        if not self._n_rest or FORCED in self._lookups:
            return False
        self._n_rest -= 1
        return True

    def _rest(self, n_steps: int, decision: Decision) -> None:
        self._n_rest = min(n_steps, LONGEST_REST)
        self._resting.decision = decision

    def _learn_beside(self, seconds: float) -> None:
        """Count what a step in which no drafter was asked took besides its decode.

        A median, since a stall that counted would make every later draft look cheaper than it is.
        """
        usual = median_with(self._besides, seconds)
        if len(self._besides) > 1:
            self._beside_s = max(usual, 0.0)  # clocks may stand still

    def _beyond(self, beside_s: float, n_committed: int) -> float:
        """Return the seconds that asking made of what else a step does.

        Drafters empty the caches: sampling after a draft model takes half as long again. A step
        that commits several tokens spares some of it.
        """
        usual = self._beside_s * n_committed
        return min(beside_s, _MOST_BESIDE * usual) - usual if usual else 0.0

    def _count_own(self, plain_s: float, own_s: float) -> None:
        """Count a step whose decision gained nothing; rest where deciding took too much.

        Args:
            plain_s: Seconds of a plain step's decode.
            own_s: Those of deciding.
        """
        saved = min(self._knowledge.saved_up + 1.0, TUNING.saved_up) - own_s / (OWN_SHARE * plain_s)
        if saved < 0.0:
            self._rest(max(self._n_rest, int(-saved)), _RESTS)
        self._knowledge.saved_up = max(saved, 0.0)  # a rest pays for what was missing

    def _tell_of_rest(self) -> None:
        n, rested_s, told_s = self._n_rested, self._rested_s, self._told_s
        if n:
            self._control.rested(n, rested_s, told_s)
            self._learn_beside((self._passed_s - rested_s - told_s) / n)
            self._n_rested, self._rested_s, self._passed_s, self._told_s = 0, 0.0, 0.0, 0.0

    def _pass_over(self, member: GuardedDrafter) -> None:
        """Let a model see the step that it drafted in, so that nothing rejected stays in it."""
        if member is self._step.model:
            member.observe(0, 0)
        else:
            self._current.discard(member.info.id)

    def _catch_up(self, member: GuardedDrafter) -> None:
        """Let a drafter see the steps that it was passed over in, before it is asked."""
        self._current.add(member.info.id)
        member.observe(0, 0)

    def _ask_lookups(self, control: Controller, n_prompt: int, n_max: int) -> None:
        """Offer what the first lookup proposes that has anything worth verifying."""
        step, current, has_grammar = self._step, self._current, self._bench.grammar is not None
        for name, member in self._lookups.items():
            if not member.may_draft:
                continue
            if name not in current:
                self._catch_up(member)
            draft = member.propose(step.history, n_prompt, n_max)
            if has_grammar:
                draft = self._legal(draft)
            if draft.tokens:
                step.offers[name] = member, draft
                if control.offer(name, draft.sure) > 0.0:
                    return

    def _draft(self, n_prompt: int, n_most: int) -> None:
        """Draft with a model where that pays."""
        step, control = self._step, self._control
        for member in self._models:
            if not member.may_draft:
                continue
            name = member.info.id
            if name not in self._current:
                self._catch_up(member)
            n_backlog = member.backlog(step.history, n_prompt)
            n_read = control.wants_model(name, n_backlog, member.n_unread)
            if not n_read:
                continue
            step.model = member
            n_before = member.n_decoded
            draft = member.propose_while(step.history, n_prompt, n_most, control.goes_on, n_read)
            step.n_decoded += member.n_decoded - n_before
            if draft.tokens:
                step.offers[name] = member, draft
                return

    def _take(self, decision: Decision, n_max: int) -> Proposal:
        """Return the chosen proposal, cut to what is to be verified."""
        step, name = self._step, decision.drafter
        step.decision = decision
        n = min(decision.n_drafted, n_max)
        if name not in step.offers or n < 1:
            if decision.n_drafted:  # its drafter broke while it drafted
                step.decision = Decision("", 0, "nothing")
            return NOTHING
        member, draft = step.offers.pop(name)
        proposal = Proposal([], [], [], [])
        proposal.add(member, draft.first(n))
        return proposal
