"""The drafters of a strategy, in the order in which they are asked.

Lookups come first, because they cost nothing: the first one that finds something drafts. Else the
draft model does, and a lookup goes on behind it: ``suffix+draft``. What follows a text by force of
its grammar is drafted before anything else. A draft is thus made of parts, each by one drafter,
and every drafter is told about its own part alone.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from paceline.engine.backend import Grammar
from paceline.engine.drafters.base import Draft, Workbench
from paceline.engine.drafters.strategy import Member, Strategy
from paceline.engine.drafting import GuardedDrafter
from paceline.engine.proposal import NOTHING, Proposal
from paceline.engine.stats import TurnMeter
from paceline.engine.step_clock import Lap
from paceline.errors import EngineError
from paceline.messages import ControlReported, Decision, DraftCount

_clock = time.perf_counter


class Chain:
    """Asks its drafters in turn; whatever one of them raises takes it out of the chain.

    Raises:
        UserError: The strategy cannot work here, e.g. without a draft model.
    """

    def __init__(self, strategy: Strategy, bench: Workbench, meter: TurnMeter) -> None:
        self.strategy = strategy
        self._bench = bench
        self._members: list[GuardedDrafter] = []
        try:
            for info, settings in self._wanted(strategy):
                self._members.append(GuardedDrafter(info, settings, bench, meter))
        except BaseException:
            self.close()
            raise

    @property
    def may_draft(self) -> bool:
        """Whether any drafter is left to ask."""
        for member in self._members:  # noqa: SIM110  every step asks, and a generator costs more
            if member.may_draft:
                return True
        return False

    @property
    def failures(self) -> list[tuple[str, Exception]]:
        """The ids of the drafters that broke, and what they raised."""
        return [(m.info.id, m.failure) for m in self._members if m.failure is not None]

    def tune(self, strategy: Strategy) -> bool:
        """Take over other settings of the same drafters; False when a new chain is needed."""
        if strategy.is_controlled != self.strategy.is_controlled:
            return False
        members = self._wanted(strategy)
        if [info for info, _ in members] != [m.info for m in self._members]:
            return False
        # Those before one that refuses have the new settings already, and are made anew with them.
        if not all(
            member.tune(settings)
            for member, (_, settings) in zip(self._members, members, strict=True)
        ):
            return False
        self.strategy = strategy
        return True

    def propose(self, history: Sequence[int], n_prompt: int, n_max: int) -> tuple[Proposal, float]:
        """Return a draft of at most `n_max` tokens, and the seconds that it took.

        Raises:
            CancelledError: The user stopped the turn.
        """
        if n_max < 1:
            return NOTHING, 0.0
        began = _clock()
        proposal = Proposal([], [], [], [])
        for member in self._members:
            if not member.may_draft:
                continue
            draft = member.propose(history, n_prompt, n_max)
            is_model = member.info.family == "model"
            if not is_model:
                draft = self._legal(draft)
            if draft.tokens:
                proposal.add(member, draft)
                if is_model and len(self._members) > 1:
                    self._extend(proposal, history, n_prompt, n_max)
                break
        return proposal, _clock() - began

    def observe(self, proposal: Proposal, n_accepted: int, n_discarded: int) -> list[DraftCount]:
        """Tell every drafter what a step committed, and return the counts of those that drafted.

        Args:
            proposal: What was verified.
            n_accepted: How many of its tokens were accepted, from the first one on.
            n_discarded: How many of its last tokens were never judged.
        """
        counts = []
        n_judged = len(proposal.tokens) - n_discarded
        for drafter, first, n in proposal.parts:
            accepted = min(max(n_accepted - first, 0), n)
            discarded = n - min(max(n_judged - first, 0), n)
            drafter.observe(n, accepted, first)
            counts.append(DraftCount(drafter.info.id, n, accepted, discarded))
        if len(counts) < len(self._members):
            busy = [part.drafter for part in proposal.parts]
            for member in self._members:
                if member not in busy:
                    self._pass_over(member)
        return counts

    def timed(self, n_ctx: int, width: int, lap: Lap) -> Decision | None:
        """See how long the step took, behind `observe`; return what was decided for it.

        Args:
            n_ctx: Tokens in the target's context before the step.
            width: Tokens of the batch that was to be verified.
            lap: The step in time.

        Returns:
            None: the strategy itself says how much is drafted.
        """
        del n_ctx, width, lap
        return None

    def report(self, turn_id: str, step: int, n_ctx: int) -> ControlReported | None:
        """Return what the controller knows; None: there is none."""
        del turn_id, step, n_ctx
        return None

    def close(self) -> None:
        """Let all drafters go."""
        for member in self._members:
            member.close()

    def keep(self) -> None:
        """Let all drafters store what they learned; once, behind `close`."""
        for member in self._members:
            member.keep()

    # ------------------------------------------------------------------------------ within

    def _pass_over(self, member: GuardedDrafter) -> None:
        """Let a drafter see a step that verified nothing of its own."""
        member.observe(0, 0)

    def _wanted(self, strategy: Strategy) -> list[Member]:
        draft = self._bench.draft
        return strategy.members(
            has_grammar=self._bench.grammar is not None,
            has_draft_model=draft is not None and draft.model.can_rollback,
        )

    def _extend(
        self, proposal: Proposal, history: Sequence[int], n_prompt: int, n_max: int
    ) -> None:
        """Let the first lookup that knows more go on behind the draft model."""
        if proposal.tokens[-1] in self._bench.eog:
            return
        for member in self._members:
            n_left = n_max - len(proposal.tokens)
            if n_left < 1 or member.info.family == "model":
                return
            if member.may_draft:
                draft = member.extend(history, n_prompt, proposal.tokens, n_left)
                draft = self._legal(draft, proposal.tokens)
                if draft.tokens:
                    proposal.add(member, draft)
                    return

    def _legal(self, draft: Draft, ahead: Sequence[int] = ()) -> Draft:
        """Cut what the grammar forbids: the target could not accept it."""
        grammar = self._bench.grammar
        if grammar is None or not draft.tokens:
            return draft
        n = _n_legal(grammar, [*ahead, *draft.tokens]) - len(ahead)
        return Draft(draft.tokens[: max(n, 0)], draft.confidences[: max(n, 0)])


def _n_legal(grammar: Grammar, tokens: Sequence[int]) -> int:
    """Return how many of these tokens the grammar allows one after the other."""
    state = grammar.clone()
    try:
        for i, token in enumerate(tokens):
            try:
                state.accept(token)
            except EngineError:  # forbidden, or a text that the grammar takes too long to read
                return i
        return len(tokens)
    finally:
        state.close()
