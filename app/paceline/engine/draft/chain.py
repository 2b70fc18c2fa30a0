"""The drafters of a strategy, in the order in which they are asked.

Lookups come first, because they cost next to nothing: the first one that finds something drafts.
Otherwise the draft model does, and a lookup continues its draft: ``suffix+draft``. Text that the
grammar forces is drafted before anything else. A draft thus consists of parts, each by one drafter,
and every drafter observes only its own part.

Drafters may come from plug-ins, and none of them is needed for the text. So each is counted, timed
and isolated: an exception ends drafting with it for this reply and nothing more, and its proposals
are cut to valid tokens and converted to plain ints and floats.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar, TypeVarTuple, cast

from paceline.engine.draft.base import (
    NO_DRAFT,
    Draft,
    DrafterInfo,
    Extender,
    Paced,
    Settings,
    Tunable,
    Workbench,
)
from paceline.engine.draft.step_clock import Lap
from paceline.engine.draft.strategy import CompleteStrategy, Member
from paceline.engine.model.backend import Grammar
from paceline.engine.sample.verify import Verdict
from paceline.engine.stats import DrafterMeter, TurnMeter
from paceline.errors import CancelledError, EngineError
from paceline.messages import SOURCE_TARGET, ControlReported, Decision, DraftCount, TokenTrace

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_clock = time.perf_counter


class GuardedDrafter:
    """One drafter at work in one reply, guarded against its errors.

    Attributes:
        info: The drafter's description.
        failure: The error that it raised, or None; after an error it is no longer asked.

    Args:
        info: The drafter's description.
        settings: The drafter's settings.
        bench: The objects that it works with.
        meter: The meter that counts its tokens and time.
        failures: List to which its id and error are appended if it fails.

    Raises:
        UserError: The strategy cannot work here, for example without a draft model.
    """

    def __init__(
        self,
        info: DrafterInfo,
        settings: Settings,
        bench: Workbench,
        meter: TurnMeter,
        failures: list[tuple[str, Exception]],
    ) -> None:
        self.info = info
        self.failure: Exception | None = None
        self._failures = failures
        self._n_vocab = bench.vocab.n_tokens
        self._eog = bench.eog
        self._turn_meter = meter
        self._meter: DrafterMeter | None = None  # made when it begins
        self._drafter = drafter = info.make(bench, settings)
        # Looked up once by name: `isinstance` of a protocol takes 50 to 100 us with cold caches.
        self._extender = cast("Extender", drafter) if hasattr(drafter, "extend") else None
        self._paced = cast("Paced", drafter) if hasattr(drafter, "propose_while") else None

    @property
    def may_draft(self) -> bool:
        """Return whether it has not failed, so that it can be asked."""
        return self.failure is None

    def begin(self, history: Sequence[int], n_prompt: int) -> DrafterMeter:
        """Begin if it has not begun yet, and return its counts."""
        meter = self._meter
        if meter is None:
            meter = self._meter = self._turn_meter.drafter(self.info.id)
            began = _clock()
            self._guard(self._drafter.begin, history, n_prompt)
            meter.n_begin += 1
            meter.begin_s += _clock() - began
        return meter

    def propose(self, history: Sequence[int], n_prompt: int, n_max: int) -> Draft:
        """Return a valid proposal of at most `n_max` tokens.

        Raises:
            CancelledError: The user stopped the turn.
        """
        return self._ask(history, n_prompt, n_max, self._drafter.propose, n_max)

    def extend(
        self, history: Sequence[int], n_prompt: int, ahead: Sequence[int], n_max: int
    ) -> Draft:
        """Return a valid proposal for what follows `ahead`; empty if it cannot extend."""
        if self._extender is None:
            return NO_DRAFT
        return self._ask(history, n_prompt, n_max, self._extender.extend, ahead, n_max)

    def backlog(self, history: Sequence[int], n_prompt: int) -> int:
        """Return the number of tokens that it must decode before it can draft; at least 1."""
        self.begin(history, n_prompt)
        return 1 if self._paced is None else self._guard(_backlog_of, self._paced) or 1

    @property
    def n_unread(self) -> int:
        """The tokens before these that it must also read to know the whole history."""
        return self._paced.n_unread if self._paced is not None else 0

    def propose_while(
        self,
        history: Sequence[int],
        n_prompt: int,
        n_max: int,
        goes_on: Callable[[float | None], bool],
        n_read: int,
    ) -> Draft:
        """Return a valid proposal that ends with the token for which `goes_on` returns False.

        First it decodes the last `n_read` tokens of the history, see `Paced`.

        `goes_on` is called with each token's confidence in turn. A proposal of a drafter that
        cannot be stopped midway is cut there.

        Raises:
            CancelledError: The user stopped the turn.
        """
        if self._paced is not None:
            call = self._paced.propose_while
            return self._ask(history, n_prompt, n_max, call, n_max, goes_on, n_read)
        draft = self.propose(history, n_prompt, n_max)
        stops = (i for i, c in enumerate(draft.sure, 1) if not goes_on(c))
        return draft.first(next(stops, len(draft.tokens)))

    @property
    def n_decoded(self) -> int:
        """Tokens that its model has decoded so far; 0 if it does not report them."""
        return self._paced.n_decoded if self._paced is not None else 0

    def tune(self, settings: Settings) -> bool:
        """Change its settings; return False if it has to be made again for them."""
        if self.failure is not None or not isinstance(self._drafter, Tunable):
            return False
        self._guard(self._drafter.tune, settings)
        return self.failure is None

    def observe(self, n_drafted: int, n_accepted: int, first: int = 0) -> None:
        """Let it observe what a step committed, and count its proposal, if it made one.

        Args:
            n_drafted: Tokens of its own in the verified draft.
            n_accepted: Number of them that were accepted.
            first: Index of the first of them in the draft.
        """
        meter = self._meter
        if meter is None:
            return
        if not n_drafted:
            self._guard(self._drafter.observe, None)
        else:
            began = _clock()
            self._guard(self._drafter.observe, n_accepted)
            meter.count_draft(n_drafted, n_accepted, first)
            meter.n_accept += 1
            meter.accept_s += _clock() - began

    def close(self) -> None:
        """Close the drafter; an error is stored in `failure`."""
        self._guard(self._drafter.close)

    def _ask(
        self,
        history: Sequence[int],
        n_prompt: int,
        n_max: int,
        call: Callable[[*Ts], Draft],
        *args: *Ts,
    ) -> Draft:
        """Return the valid part of what a call proposes."""
        meter = self._meter or self.begin(history, n_prompt)
        began, draft = _clock(), NO_DRAFT
        if self.failure is None:
            try:
                draft = self._sound(call(*args), n_max)
            except CancelledError:
                raise
            except Exception as error:  # noqa: BLE001  see the module's docstring
                self._fail(error)
        meter.n_draft += 1
        meter.draft_s += _clock() - began
        return draft

    def _guard(self, call: Callable[[*Ts], T], *args: *Ts) -> T | None:
        """Return the call's result, or None if the drafter fails now or failed before."""
        if self.failure is not None:
            return None
        try:
            return call(*args)
        except CancelledError:
            raise
        except Exception as error:  # noqa: BLE001  see the module's docstring
            self._fail(error)
            return None

    def _fail(self, error: Exception) -> None:
        self.failure = error
        self._failures.append((self.info.id, error))
        try:  # it may hold the context of a model
            self._drafter.close()
        except Exception as second:  # noqa: BLE001  the first failure is the one to report
            error.__context__ = second

    def _sound(self, draft: Draft, n_max: int) -> Draft:
        """Drop invalid ids, and cut after the first token that ends a generation."""
        if draft is NO_DRAFT or len(draft.tokens) == 0:  # an array has no truth value
            return NO_DRAFT
        tokens = list(map(int, draft.tokens[:n_max]))
        if min(tokens) < 0 or max(tokens) >= self._n_vocab or not self._eog.isdisjoint(tokens):
            tokens = tokens[: self._n_sound(tokens)]
        return Draft(tokens, _sound_confidences(draft.confidences, len(tokens)))

    def _n_sound(self, tokens: Sequence[int]) -> int:
        for i, token in enumerate(tokens):
            if not 0 <= token < self._n_vocab:
                return i
            if token in self._eog:
                return i + 1
        return len(tokens)


def _backlog_of(drafter: Paced) -> int:
    return drafter.n_backlog


def _sound_confidences(given: Sequence[float], n: int) -> Sequence[float]:
    """Return `n` numbers from 0 to 1, or nothing if one is missing or out of range."""
    confidences = list(map(float, given[:n]))
    if len(confidences) != n or not n or math.isnan(sum(confidences)):
        return ()
    if min(confidences) < 0 or max(confidences) > 1:
        return [min(max(c, 0.0), 1.0) for c in confidences]
    return confidences


class DraftPart(NamedTuple):
    """The `n` tokens of one drafter within a draft, from index `first` on."""

    drafter: GuardedDrafter
    first: int
    n: int


class Proposal(NamedTuple):
    """The tokens of a step to verify, with each one's drafter and confidence (or None)."""

    tokens: list[int]
    confidences: list[float | None]
    sources: list[str]
    parts: list[DraftPart]

    def add(self, drafter: GuardedDrafter, draft: Draft) -> None:
        """Append a drafter's draft as another part."""
        n = len(draft.tokens)
        self.parts.append(DraftPart(drafter, len(self.tokens), n))
        self.tokens.extend(draft.tokens)
        self.confidences.extend(draft.sure)
        self.sources.extend((drafter.info.id,) * n)

    def traces(self, verdict: Verdict, ends: Sequence[int]) -> tuple[TokenTrace, ...]:
        """Return the origin of every committed token.

        Args:
            verdict: Result of verifying this draft.
            ends: Length of the reply's text after every committed token.
        """
        tokens, n_accepted = verdict.tokens, verdict.n_accepted
        own: tuple[TokenTrace, ...] = ()
        if len(tokens) > n_accepted:
            own = (TokenTrace(tokens[-1], SOURCE_TARGET, -1, None, ends[-1]),)
        if not n_accepted:
            return own
        sources, sure = self.sources, self.confidences
        return (
            *(TokenTrace(tokens[n], sources[n], n, sure[n], ends[n]) for n in range(n_accepted)),
            *own,
        )


NOTHING = Proposal([], [], [], [])
"""The empty proposal; never modified."""


class Chain:
    """Asks its drafters in turn; one that raises an error is no longer asked.

    Attributes:
        strategy: The strategy: drafters with their settings.
        failures: Ids of the drafters that failed, with their errors.
        has_drafters: Whether there is any; without one no step need ask or notify the chain.
        decides: Whether it decides draft lengths, and so needs each step's time by `timed`.
        timed_s: Seconds of the last call of `timed`.

    Raises:
        UserError: The strategy cannot work here, for example without a draft model.
    """

    def __init__(self, strategy: CompleteStrategy, bench: Workbench, meter: TurnMeter) -> None:
        self.strategy = strategy
        self.decides = False
        self.timed_s = 0.0
        self._bench = bench
        self.failures: list[tuple[str, Exception]] = []
        self._members: list[GuardedDrafter] = []
        try:
            for info, settings in self._wanted(strategy):
                self._members.append(GuardedDrafter(info, settings, bench, meter, self.failures))
        except BaseException:
            self.close()
            raise
        self.has_drafters = bool(self._members)

    @property
    def may_draft(self) -> bool:
        """Return whether any drafter is left to ask."""
        for member in self._members:  # noqa: SIM110  every step asks, and a generator costs more
            if member.may_draft:
                return True
        return False

    def tune(self, strategy: CompleteStrategy) -> bool:
        """Change the settings of the same drafters; return False if a new chain is needed."""
        if strategy.is_controlled != self.strategy.is_controlled:
            return False
        members = self._wanted(strategy)
        if [info for info, _ in members] != [m.info for m in self._members]:
            return False
        # Drafters before one that refuses have the new settings already; all are made again anyway.
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
            n_prompt: Number of them that belong to the prompt.
            n_max: Maximum number of tokens to draft; below 1 the step is a plain one.
            is_first: Whether it is one of the plain steps at first after a load; Auto's decision
                then says so.

        Raises:
            CancelledError: The user stopped the turn.
        """
        del is_first
        if n_max < 1:
            return NOTHING, 0.0
        began, proposal = _clock(), NOTHING
        for member in self._members:
            if not member.may_draft:
                continue
            draft = member.propose(history, n_prompt, n_max)
            is_model = member.info.family == "model"
            if not is_model:
                draft = self._legal(draft)
            if draft.tokens:
                proposal = Proposal([], [], [], [])
                proposal.add(member, draft)
                if is_model and len(self._members) > 1:
                    self._extend(proposal, history, n_prompt, n_max)
                break
        return proposal, _clock() - began

    def observe(self, proposal: Proposal, n_accepted: int, n_discarded: int) -> list[DraftCount]:
        """Report to every drafter what a step committed; return the counts of those that drafted.

        Args:
            proposal: The proposal that was verified.
            n_accepted: Number of its first tokens that were accepted.
            n_discarded: Number of its last tokens that were never judged.
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

    def timed(
        self, lap: Lap, width: int, n_ctx: int, decode_s: float, slowed: float
    ) -> Decision | None:
        """Learn from the step's time, after `observe`; return the decision that was made for it.

        Args:
            lap: The step's timing.
            width: Tokens of its batch.
            n_ctx: Tokens in the target's context before it.
            decode_s: Seconds of the target's decode in which the thread ran.
            slowed: Factor by which a wide step shortly before has slowed this plain one.

        Returns:
            The decision, or None if the strategy itself sets the draft length.
        """
        del lap, width, n_ctx, decode_s, slowed
        return None

    def report(self, step: int, n_ctx: int) -> ControlReported | None:
        """Return what the controller knows, or None without a controller."""
        del step, n_ctx
        return None

    def close(self) -> None:
        """Close all drafters."""
        for member in self._members:
            member.close()

    # ------------------------------------------------------------------------------ within

    def _pass_over(self, member: GuardedDrafter) -> None:
        """Let a drafter observe a step that verified none of its tokens."""
        member.observe(0, 0)

    def _wanted(self, strategy: CompleteStrategy) -> list[Member]:
        draft = self._bench.draft
        return strategy.members(
            has_grammar=self._bench.grammar is not None,
            model=draft.model.drafter if draft is not None and draft.model.max_rollback else "",
            has_earlier=bool(self._bench.replaced),
            has_cache=self._bench.lookup_cache is not None,
        )

    def _extend(
        self, proposal: Proposal, history: Sequence[int], n_prompt: int, n_max: int
    ) -> None:
        """Let the first lookup that can do so continue the draft model's draft."""
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
        """Cut the draft before a token that the grammar forbids: the target could not accept it."""
        grammar = self._bench.grammar
        if grammar is None or not draft.tokens:
            return draft
        n = _n_legal(grammar, [*ahead, *draft.tokens]) - len(ahead)
        return draft.first(max(n, 0))


def _n_legal(grammar: Grammar, tokens: Sequence[int]) -> int:
    """Return how many of the first tokens the grammar allows in sequence."""
    state = grammar.clone()
    try:
        for i, token in enumerate(tokens):
            try:
                state.accept(token)
            except EngineError:  # forbidden, or too expensive for the grammar to read
                return i
        return len(tokens)
    finally:
        state.close()
