"""A chain of drafters whose draft lengths a controller decides, step by step.

Lookups are asked first, in their order, until one proposes something worth verifying. The draft
model is asked if the controller expects it to pay, and stopped where the next token would not. A
proposal that is not verified costs nothing more: its drafter sees it as not judged.

Deciding costs time, too. On a step of 15 ms its 100 µs of Python do not matter; on one of 1.5 ms
they exceed what the promise allows to lose in all. So deciding gets a share of the time of plain
steps, and where it gains nothing, steps are made without asking any drafter until that share covers
the next decision.

A drafter that is not asked observes several steps at once before it is asked again: caches are cold
after a decode, so observing every step costs more than one question. Whatever follows its last
question it observes in the next turn, with the prompt.
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
"""Share of the time of plain steps that deciding may take while it gains nothing; half a step more
after a draft that paid. 0.01 gained no more on recorded replies."""
MAX_REST_STEPS = 64
"""Maximum number of steps in a row without a decision: the delay after a change of the text. Where
a step takes a millisecond, deciding in one of 16 took twice its share."""

_MAX_BESIDE_RATIO = 3.0  # to the usual time outside the decode: a stall is no cost of drafts

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
    """State of the current step: the drafters' proposals and the times so far."""

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
    """Asks the drafters, lets the controller choose, and reports the outcome to it.

    Args:
        strategy: A strategy with `is_controlled`.
        bench: See `Chain`.
        meter: See `Chain`.
        knowledge: Auto's knowledge of the loaded pair; outlives the reply.
        own: The thread's own CPU seconds, so that time taken by other programs does not count as
            drafting, or None if not available.

    Raises:
        UserError: The strategy cannot work here, for example without a draft model.
    """

    def __init__(
        self,
        strategy: CompleteStrategy,
        bench: Workbench,
        meter: TurnMeter,
        knowledge: Knowledge,
        own: Clock | None = None,
    ) -> None:
        # What `close` needs comes first: a drafter that cannot be made closes all others.
        self._resting = _Step(decision=_RESTS)
        self._n_rest = self._n_rested = 0
        self._rested_s = self._passed_s = 0.0
        self._learning_s = 0.0  # update time of the last step, charged to the next
        self._besides: list[
            float
        ] = []  # seconds outside the decode of the last steps without drafters
        self._beside_s = 0.0  # their median: sampling, text, listeners; 0 if not known
        super().__init__(strategy, bench, meter)
        self.decides = True
        self._meter = meter
        self._knowledge = knowledge
        self._own = own or _clock
        # Deciding neither waits nor sleeps, and reading this clock takes a fifth of the time.
        self._computed = time.thread_time if own else _clock
        self._models = [m for m in self._members if m.info.family == "model"]
        self._lookups = {m.info.id: m for m in self._members if m.info.family != "model"}
        self._current = set(self._lookups)  # ids of drafters that have observed the last step
        self._control_now: Controller | None = None
        self._step = _Step()
        self._is_first = self._has_begun = False

    def tune(self, strategy: CompleteStrategy) -> bool:
        """Change the settings of the same drafters; return False if a new chain is needed."""
        if not super().tune(strategy):
            return False
        if self._control_now is not None:
            self._control_now.limit(strategy.n_most)
        return True

    def propose(
        self, history: Sequence[int], n_prompt: int, n_max: int, *, is_first: bool = False
    ) -> tuple[Proposal, float]:
        """Return the controller's choice to verify, and the seconds; see `Chain.propose`.

        Raises:
            CancelledError: The user stopped the turn.
        """
        self._is_first = is_first
        if not self._has_begun:  # counted with the prefill, like the building of their indexes
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
            self._report_rest()
        plan = control.plan(len(history) - 1, max(n_max, 0))
        n_most = plan.n_max
        if n_most < 1:  # a plain step is the cheapest one
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
        """Report to the drafters what a step committed; see `Chain.observe`."""
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
        """Let the controller learn from the step, and from proposals that were not verified."""
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
        own_s = deciding_s = step.own_s + self._learning_s
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
            self._knowledge.saved_up = TUNING.max_saved_steps  # drafts pay here
        elif not (lap.had_pause or self._is_first):
            known, plain_s = self._knowledge, decode_s
            if width > 1:
                plain_s = (known.pace.plain or 0.0) * known.costs.context.scale(n_ctx)
            if plain_s > 0.0:
                self._count_own(plain_s, deciding_s)
        self.timed_s = self._learning_s = self._computed() - began
        return _FIRST if self._is_first else step.decision

    def report(self, step: int, n_ctx: int) -> ControlReported:
        """Return what the controller knows so far."""
        self._report_rest()
        return self._control.report(step, n_ctx)

    def close(self) -> None:
        """Close all drafters."""
        self._report_rest()
        super().close()

    # ------------------------------------------------------------------------------ within

    @property
    def _control(self) -> Controller:
        """Return the controller; it is made in the first step, when the prefill's time is known."""
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
        """Return whether this step is made without a decision."""
        if not self._n_rest or FORCED in self._lookups:
            return False
        self._n_rest -= 1
        return True

    def _rest(self, n_steps: int, decision: Decision) -> None:
        self._n_rest = min(n_steps, MAX_REST_STEPS)
        self._resting.decision = decision

    def _learn_beside(self, seconds: float) -> None:
        """Count the seconds outside the decode of a step in which no drafter was asked.

        Their median is used, since counting a stall would make every later draft look cheaper.
        """
        usual = median_with(self._besides, seconds)
        if len(self._besides) > 1:
            self._beside_s = max(usual, 0.0)  # the clock may have stood still

    def _beyond(self, beside_s: float, n_committed: int) -> float:
        """Return the seconds that asking added to the rest of the step.

        Drafters evict caches: sampling after a draft model takes half as long again. A step that
        commits several tokens saves some of it.
        """
        usual = self._beside_s * n_committed
        return min(beside_s, _MAX_BESIDE_RATIO * usual) - usual if usual else 0.0

    def _count_own(self, plain_s: float, own_s: float) -> None:
        """Count a step whose decision gained nothing; rest where deciding took too much.

        Args:
            plain_s: Seconds of a plain step's decode.
            own_s: Seconds of deciding.
        """
        saved = min(self._knowledge.saved_up + 1.0, TUNING.max_saved_steps) - own_s / (
            OWN_SHARE * plain_s
        )
        if saved < 0.0:
            self._rest(max(self._n_rest, int(-saved)), _RESTS)
        self._knowledge.saved_up = max(saved, 0.0)  # a rest makes up for the deficit

    def _report_rest(self) -> None:
        n, rested_s, told_s = self._n_rested, self._rested_s, self._learning_s
        if n:
            self._control.rested(n, rested_s, told_s)
            self._learn_beside((self._passed_s - rested_s - told_s) / n)
            self._n_rested, self._rested_s, self._passed_s, self._learning_s = 0, 0.0, 0.0, 0.0

    def _pass_over(self, member: GuardedDrafter) -> None:
        """Let a model observe the step that it drafted in, so that it drops rejected tokens."""
        if member is self._step.model:
            member.observe(0, 0)
        else:
            self._current.discard(member.info.id)

    def _catch_up(self, member: GuardedDrafter) -> None:
        """Let a drafter observe the steps in which it was not asked, before it is asked."""
        self._current.add(member.info.id)
        member.observe(0, 0)

    def _ask_lookups(self, control: Controller, n_prompt: int, n_max: int) -> None:
        """Offer the controller the proposal of the first lookup that has a worthwhile one."""
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
        """Draft with a model if that pays."""
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
        """Return the chosen proposal, cut to the tokens to verify."""
        step, name = self._step, decision.drafter
        step.decision = decision
        n = min(decision.n_drafted, n_max)
        if name not in step.offers or n < 1:
            if decision.n_drafted:  # its drafter failed while it drafted
                step.decision = Decision("", 0, "nothing")
            return NOTHING
        member, draft = step.offers.pop(name)
        proposal = Proposal([], [], [], [])
        proposal.add(member, draft.first(n))
        return proposal
