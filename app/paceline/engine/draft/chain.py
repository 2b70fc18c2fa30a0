"""The drafters of a strategy, in the order in which they are asked.

Lookups come first, because they cost nothing: the first one that finds something drafts. Otherwise
the draft model does, and a lookup goes on after it: ``suffix+draft``. What follows a text by force
of its grammar is drafted before anything else. A draft is thus made of parts, each by one drafter,
and every drafter is told about its own part alone.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

from paceline.engine.draft.base import Draft, Workbench
from paceline.engine.draft.guarded_drafter import GuardedDrafter
from paceline.engine.draft.step_clock import Timed
from paceline.engine.draft.strategy import Member, Strategy
from paceline.engine.model.backend import Grammar
from paceline.engine.sample.verify import Verdict
from paceline.engine.stats import TurnMeter
from paceline.errors import EngineError
from paceline.messages import SOURCE_TARGET, ControlReported, Decision, DraftCount, TokenTrace


class Part(NamedTuple):
    """The tokens of one drafter within a draft: `n` of them from place `first` on."""

    drafter: GuardedDrafter
    first: int
    n: int


class Proposal(NamedTuple):
    """What a step verifies, and each token's drafter and confidence (None: not said)."""

    tokens: list[int]
    confidences: list[float | None]
    sources: list[str]
    parts: list[Part]

    def add(self, drafter: GuardedDrafter, draft: Draft) -> None:
        """Append one drafter's draft as another part."""
        n = len(draft.tokens)
        self.parts.append(Part(drafter, len(self.tokens), n))
        self.tokens.extend(draft.tokens)
        self.confidences.extend(draft.confidences or (None,) * n)
        self.sources.extend((drafter.info.id,) * n)

    def cut(self, n: int) -> None:
        """Keep the first `n` tokens alone."""
        if n >= len(self.tokens):
            return
        del self.tokens[n:], self.confidences[n:], self.sources[n:]
        self.parts[:] = [
            Part(drafter, first, min(own, n - first))
            for drafter, first, own in self.parts
            if first < n
        ]

    def traces(self, verdict: Verdict, ends: Sequence[int]) -> tuple[TokenTrace, ...]:
        """Return where every committed token came from.

        Args:
            verdict: What became of this draft.
            ends: Where the reply's text ended after every committed token.
        """
        tokens, sources, sure = verdict.tokens, self.sources, self.confidences
        traces = [
            TokenTrace(tokens[n], sources[n], n, sure[n], ends[n])
            for n in range(verdict.n_accepted)
        ]
        if len(tokens) > verdict.n_accepted:
            traces.append(TokenTrace(tokens[-1], SOURCE_TARGET, -1, None, ends[-1]))
        return tuple(traces)


NOTHING = Proposal([], [], [], [])
"""Never changed."""


_clock = time.perf_counter


class Chain:
    """Asks its drafters in turn; one that raises anything is taken out of the chain.

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
        # Those before one that refuses have the new settings already; all are made again with them.
        if not all(
            member.tune(settings)
            for member, (_, settings) in zip(self._members, members, strict=True)
        ):
            return False
        self.strategy = strategy
        return True

    def propose(
        self, history: Sequence[int], n_prompt: int, n_max: int, *, is_first: bool = False
    ) -> tuple[Proposal, float]:
        """Return a draft of at most `n_max` tokens, and the seconds that it took.

        Args:
            history: Prompt and committed tokens.
            n_prompt: How many of them are the prompt's.
            n_max: Tokens that may be drafted; below 1 the step is a plain one.
            is_first: It is one of a load's first steps, which are plain: what Auto decides for it
                is told so.

        Raises:
            CancelledError: The user stopped the turn.
        """
        del is_first
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

    def timed(self, n_ctx: int, timed: Timed) -> Decision | None:
        """See how long the step took, after `observe`; return what was decided for it.

        Args:
            n_ctx: Tokens in the target's context before the step.
            timed: The step in time.

        Returns:
            None: the strategy itself says how much is drafted.
        """
        del n_ctx, timed
        return None

    def report(self, turn_id: str, step: int, n_ctx: int) -> ControlReported | None:
        """Return what the controller knows; None: there is none."""
        del turn_id, step, n_ctx
        return None

    def close(self) -> None:
        """Close all drafters."""
        for member in self._members:
            member.close()

    # ------------------------------------------------------------------------------ within

    def _pass_over(self, member: GuardedDrafter) -> None:
        """Let a drafter see a step that verified nothing of its own."""
        member.observe(0, 0)

    def _wanted(self, strategy: Strategy) -> list[Member]:
        draft = self._bench.draft
        return strategy.members(
            has_grammar=self._bench.grammar is not None,
            model=draft.model.drafter if draft is not None and draft.model.max_rollback else "",
            has_earlier=bool(self._bench.replaced),
        )

    def _extend(
        self, proposal: Proposal, history: Sequence[int], n_prompt: int, n_max: int
    ) -> None:
        """Let the first lookup that knows more go on after the draft model."""
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
