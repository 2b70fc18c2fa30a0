"""The decoding loop: draft, verify in one target decode, commit, roll back.

Plain decoding is the same loop without drafted tokens. The decoder is a generator: it yields one
event per verify decode, and first one for the token from the prefill's logits. Closing it at any
point, or an exception, leaves both contexts with nothing but a prefix of the committed tokens.

After a failed decode of the target, the decoder retries with less and gives up only if that fails,
too. llama.cpp reports failures by a number (`llama_decode` in include/llama.h), and most of them
need not end the reply:

- no room for the batch: the draft is dropped and the pending token decoded alone; without room
  even for that, the context is full;
- an invalid batch: no drafts from then on;
- too little memory: the context is decoded again in small pieces, the second time in a smaller
  context, and the reply goes on without drafts;
- any other failure ends the reply.

Tokens that are decoded again are never sampled again: the reply goes on after its last token.

Structure after `common/speculative.cpp` of llama.cpp and `speculative_generate_step` of mlx-lm.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence

from paceline.engine.auto.knowledge import Knowledge
from paceline.engine.auto.plain_time import PlainTime
from paceline.engine.decode.comparison import Comparison, Divergence
from paceline.engine.decode.likelihoods import Likelihoods
from paceline.engine.decode.text import TextAssembler
from paceline.engine.draft.auto_chain import make_chain
from paceline.engine.draft.base import Workbench
from paceline.engine.draft.chain import NOTHING, Chain, Proposal
from paceline.engine.draft.step_clock import StepClock
from paceline.engine.draft.strategy import CompleteStrategy
from paceline.engine.model.backend import Rows
from paceline.engine.model.context import CachedContext
from paceline.engine.model.threads import own_clock
from paceline.engine.model.tokens import TokenSequence, common_prefix
from paceline.engine.sample.verify import verify
from paceline.engine.stats import TurnMeter
from paceline.errors import (
    BatchRefusedError,
    ContextFullError,
    DecodeMemoryError,
    EngineError,
    ModelError,
)
from paceline.figures import KernelUse, Sameness, TurnStats
from paceline.messages import (
    SOURCE_TARGET,
    ControlReported,
    DraftCount,
    FinishReason,
    StepCommitted,
    TokenTrace,
)
from paceline.sentence import sentence

REFILL_TOKENS = 32
"""Tokens per decode when a context is filled again. It is no wider than a draft: where equal text
is promised, such widths give the same logits as single tokens, so the reply goes on with the same
text."""
SMALL_BATCH = 128
"""`n_batch` of a recreated context: smaller, so that a decode needs less memory."""
_MIN_FREE_TOKENS = 256  # a context with less room would end the reply at once


class Recovery:
    """Restores the target's context after a failed decode; one per reply.

    Attributes:
        plainly: Reason why the reply goes on without drafts, or None as long as it may draft.
    """

    def __init__(self, target: CachedContext) -> None:
        self._target = target
        self._n_short_of_memory = 0
        self.plainly: EngineError | None = None

    def rows_after(
        self,
        tokens: TokenSequence,
        n_prompt: int,
        failure: EngineError,
        *,
        n_draft: int,
        n_left: int,
        on_prefill: Callable[[int], None],
    ) -> Rows:
        """Bring the context to exactly `tokens` and return the last one's row, [1, n_vocab].

        Args:
            tokens: Tokens that the context is to hold; at least the prompt.
            n_prompt: Number of them that belong to the prompt.
            failure: The error that a decode raised.
            n_draft: Drafted tokens after `tokens` in that decode; they are dropped.
            n_left: Tokens that the reply may still get.
            on_prefill: Called with the number of tokens in the context while it is filled again.

        Raises:
            CancelledError: The user stopped the turn.
            ContextFullError: Not even one token has room.
            BatchRefusedError: The batch was invalid even without a draft.
            DecodeMemoryError: A smaller context did not suffice either; there may be no context
                left.
            EngineError: The failure, if it cannot be recovered from.
        """
        while True:
            if isinstance(failure, DecodeMemoryError):
                self._make_room(failure, len(tokens), n_left)
            elif isinstance(failure, BatchRefusedError) and n_draft:
                self._go_on_plainly(
                    "batch-refused",
                    sentence("llama.cpp refused a batch, so the reply goes on plainly."),
                )
            elif not (isinstance(failure, ContextFullError) and n_draft):
                raise failure
            n_draft = 0
            try:
                return self._fill(tokens, n_prompt, on_prefill)
            except EngineError as next_failure:
                failure = next_failure

    def _fill(
        self, tokens: TokenSequence, n_prompt: int, on_prefill: Callable[[int], None]
    ) -> Rows:
        """Decode what the context lacks; in exact mode with widths whose rows agree."""
        target = self._target
        target.rollback(min(common_prefix(target.tokens, tokens), len(tokens) - 1))
        if len(target.tokens) < n_prompt:
            rows = target.prefill(tokens.first(n_prompt), REFILL_TOKENS, on_prefill)
            if n_prompt == len(tokens):
                return rows
        return target.extend(tokens, min(REFILL_TOKENS, target.widths.highest), on_prefill)

    def _go_on_plainly(self, code: str, message: str) -> None:
        self.plainly = EngineError(code, message, "The next reply may draft again.")

    def _make_room(self, failure: EngineError, n_tokens: int, n_left: int) -> None:
        """Empty the context; recreate it smaller the second time; give up the third time."""
        self._n_short_of_memory += 1
        target = self._target
        if self._n_short_of_memory == 1:
            target.clear(wipe=True)
            self._go_on_plainly(
                "out-of-memory", sentence("Memory is short, so the reply goes on plainly.")
            )
        elif self._n_short_of_memory == 2:
            n_ctx = target.model.n_ctx
            n_padding = n_ctx - target.n_ctx
            if n_tokens + min(n_left, _MIN_FREE_TOKENS) + n_padding <= n_ctx // 2:
                n_ctx //= 2
            try:
                target.remake(n_ctx, SMALL_BATCH)
            except ModelError as refusal:
                raise DecodeMemoryError(
                    "out-of-memory",
                    "Memory ran out in mid-reply. {message}",
                    failure.hint,
                    message=refusal.message,
                ) from refusal
            self._go_on_plainly(
                "out-of-memory",
                sentence(
                    "Memory is short, so the reply goes on plainly and in a context of "
                    "{n_ctx:,} tokens.",
                    n_ctx=n_ctx,
                ),
            )
        else:
            raise failure


_clock = time.perf_counter


class Decoder:
    """Generates one reply; for the engine's thread.

    Attributes:
        history: Prompt and committed tokens.
        finish_reason: Reason why the reply ended, or None while it runs.
        failure: Error that prevents any further token; raised in place of the next step.
        plainly: Reason why the reply goes on without drafts after a failed decode, or None.
        meter: The reply's figures.
    """

    def __init__(
        self,
        target: CachedContext,
        bench: Workbench,
        strategy: CompleteStrategy,
        *,
        text: TextAssembler,
        max_tokens: int,
        knowledge: Knowledge | None = None,
        expected: Sequence[int] = (),
        likelihoods: Likelihoods | None = None,
        after_reading: Callable[[int], None] | None = None,
    ) -> None:
        self._target = target
        self._after_reading = after_reading
        self._bench = bench
        self._sampler = bench.sampler
        self._comparison = Comparison(bench.sampler, expected) if expected else None
        self._likelihoods = likelihoods
        self._chooser = self._comparison or bench.sampler
        self._text = text
        self._max_tokens = max_tokens
        self._knowledge = knowledge or Knowledge()
        self._knowledge.replays = target.model.needs_copies
        self.meter = TurnMeter(PlainTime(self._knowledge))
        model, draft = target.model, bench.draft.model if bench.draft else None
        self._compiles = not (model.computes_here and (draft is None or draft.computes_here))
        own = own_clock(model, draft)
        # No bound method of this object: a reference cycle would keep the clock's file open.
        self._clock = StepClock(
            self.meter, lambda: model.native_s + (draft.native_s if draft else 0.0), own
        )
        self._own = own or _clock
        self._draft_by(make_chain(strategy, bench, self.meter, self._knowledge, own))
        self._was_controlled = False  # whether Auto was in charge before a switch
        self._recovery = Recovery(target)
        self._n_prompt = 0
        self._longest = self._n_most = 0  # maximum length of the history, and of a draft, in tokens
        self._ends: list[int] = []  # length of the reply's text after each token of this step
        self._begun: Sequence[int] = ()
        self._may_end = True
        self.history = TokenSequence()
        self.finish_reason: FinishReason | None = None
        self.failure: EngineError | None = None
        self.plainly: EngineError | None = None

    @property
    def generated(self) -> list[int]:
        """The committed tokens of the reply."""
        return self.history[self._n_prompt :]

    def _draft_by(self, chain: Chain) -> None:
        self._chain = chain
        self._clock.report_held(is_wanted=chain.decides)

    @property
    def draft_failures(self) -> list[tuple[str, Exception]]:
        """The drafters of the present strategy that failed, with their errors."""
        return self._chain.failures

    @property
    def may_draft(self) -> bool:
        """Return whether the reply may have drafts and the strategy has a working drafter."""
        return self.plainly is None and self._chain.may_draft

    def figures(
        self, sameness: Sameness | None = None, kernels: tuple[KernelUse, ...] = ()
    ) -> TurnStats:
        """Return the reply's figures so far; see `TurnMeter.freeze`."""
        self._clock.count()
        return self.meter.freeze(sameness, kernels)

    def divergence(self, reason: FinishReason) -> Divergence | None:
        """Return the first difference from the expected tokens, after the reply has ended so."""
        if self._comparison is None:
            return None
        self._comparison.finish(reason, len(self.generated))
        return self._comparison.divergence

    @property
    def reply(self) -> str:
        """The reply's text so far."""
        return self._text.text

    def switch(self, strategy: CompleteStrategy) -> None:
        """Draft by another strategy from the next step on.

        Raises:
            UserError: The strategy cannot work here; the present one stays.
        """
        if not self._chain.tune(strategy):
            chain = make_chain(strategy, self._bench, self.meter, self._knowledge, self._clock.own)
            self._chain.close()
            self._was_controlled = self.was_controlled
            self._draft_by(chain)

    def close(self) -> None:
        """Release a reply that was never run; `run` does so itself."""
        self._chain.close()

    @property
    def was_controlled(self) -> bool:
        """Return whether Auto was in charge of any part of the reply."""
        return self._was_controlled or self._chain.strategy.is_controlled

    def report(self) -> ControlReported | None:
        """Return what Auto has learned so far, or None where it is not in charge."""
        return self._chain.report(self.meter.n_steps, len(self.history))

    def go_on(self, begun: Sequence[int], shown: str, *, may_end: bool) -> None:
        """Continue a reply that begins with these tokens; call it before `run`.

        Args:
            begun: Its first tokens; sampling goes on at the position after them.
            shown: The text of them that readers have seen.
            may_end: Whether the next token may end the reply.
        """
        self._begun, self._may_end = begun, may_end
        self._max_tokens += len(begun)
        self._text.begin(begun, shown)

    def run(
        self, prompt: Sequence[int], on_prefill: Callable[[int], None]
    ) -> Generator[StepCommitted, None, None]:
        """Prefill, then yield steps until the reply ends; see `finish_reason` then.

        Args:
            prompt: At least one token, fewer than the context holds; it ends with an id.
            on_prefill: Called with the number of prompt tokens done.

        Raises:
            CancelledError: The user stopped; what was committed stands.
            EngineError: The target failed; what was committed stands.
        """
        self.history = TokenSequence(prompt)
        self.history.extend(self._begun)
        self._n_prompt, self.meter.n_prompt = len(prompt), len(self.history)
        target, model = self._target, self._target.model
        self._longest = min(self._n_prompt + self._max_tokens, target.n_ctx + 1)
        self._n_most = min(model.max_rows - 1, target.widths.highest - 1, model.max_rollback)
        try:
            yield self._prefill(on_prefill)
            while self.finish_reason is None:
                step = self._step()
                if step is not None:
                    yield step
                if self.failure is not None:
                    raise self.failure
        finally:
            # Never with the last token, drafted or not: what the next prompt finds in the context,
            # and
            # thus how its prefill is cut into batches, must not depend on the strategy.
            n_same = common_prefix(self._target.tokens, self.history)
            self._target.rollback(min(n_same, len(self.history) - 1))
            self._chain.close()

    @property
    def _n_firsts(self) -> int:
        draft = self._bench.draft
        return self._target.model.n_firsts + (draft.model.n_firsts if draft else 0)

    # ------------------------------------------------------------------------------- prefill

    def _prefill(self, on_prefill: Callable[[int], None]) -> StepCommitted:
        began = _clock()
        target = self._target
        self.meter.n_reused = target.reuse(self.history)
        self._clock.prefill()
        try:
            try:
                rows = target.prefill(self.history, self._bench.chunk, on_prefill)
            except EngineError as failure:
                rows = self._mended(self.history, failure, on_prefill=on_prefill)
                self.meter.n_reused = 0
            if self._after_reading is not None:  # the rows stay valid, as nothing is decoded
                self._after_reading(len(self.history) - self.meter.n_reused)
        finally:
            self.meter.prefill_s = _clock() - began
        self._clock.start()
        self._sampler.start(self.history.first(self._n_prompt))
        if self._sampler.has_memory:
            for begun in self._begun:
                self._sampler.commit(begun)
        without = () if self._may_end else self._bench.eog
        token = self._chooser.sample(rows[0], len(self._begun), without)
        ended = self._commit(token)
        self._count_tokens(1, ended=ended)
        seconds = self._clock.first()
        self.meter.plain.add_same(seconds)
        trace = TokenTrace(token, SOURCE_TARGET, -1, None, self._text.text_end)
        likely = self._likelihoods.take((token,)) if self._likelihoods else ()
        text = self._new_text()
        return StepCommitted(0, (trace,), text, (), 0.0, 0.0, seconds, seconds, likely=likely)

    # ---------------------------------------------------------------------------------- step

    def _step(self) -> StepCommitted | None:
        """Decode and commit one step; return None when nothing could be committed.

        Caches are cold after a decode: each line here takes about a microsecond, and a call two.
        """
        target, history, meter, chain = self._target, self.history, self.meter, self._chain
        n_history = len(history)
        if len(target.tokens) < n_history - 1:  # it could not remove rejected tokens
            target.extend(history.first(n_history - 1), self._bench.chunk)
        n_firsts = self._n_firsts if self._compiles else 0
        n_held, began = len(target.tokens), _clock()
        proposal, draft_s = self._propose(n_history) if chain.has_drafters else (NOTHING, 0.0)
        draft = proposal.tokens
        n_draft = len(draft)

        own_began = self._own() if chain.decides else 0.0
        try:
            rows, width, timed_width = self._decode(draft)
        except ContextFullError:
            self.finish_reason = "context"
            return None
        own_s = self._own() - own_began if chain.decides else 0.0
        if self._compiles and self._n_firsts != n_firsts:
            timed_width = 0  # a device may have compiled programs
        n_dropped = n_draft + 1 - len(rows)
        if n_dropped:
            draft = []
        sample_began = _clock()
        self._ends.clear()
        draws = self._chooser.draws(rows, draft, n_history - self._n_prompt)
        verdict = verify(draws, draft, self._commit)
        sample_ended = _clock()

        n_committed, n_discarded = len(verdict.tokens), verdict.n_discarded + n_dropped
        # Cut to what the reply's end allows first, since some models can roll back only once.
        is_over = verdict.ended or verdict.failure is not None
        if n_draft or is_over:
            target.rollback(min(n_held + 1 + verdict.n_accepted, len(history) - is_over))
        counts: Sequence[DraftCount] = ()
        speculating_s = draft_s
        if chain.has_drafters:
            speculating_s += chain.timed_s  # learning from the previous step, counted in this one
            counts = chain.observe(proposal, verdict.n_accepted, n_discarded)
            speculating_s += _clock() - sample_ended
        meter.n_steps += 1
        meter.n_discarded += n_discarded
        self._count_tokens(n_committed, ended=verdict.ended)
        if verdict.failure is not None:
            self.failure = verdict.failure
            if not n_committed:
                return None

        lap = self._clock.lap(timed_width, began)
        verify_s = sample_began - began - draft_s
        same_s = max(lap.seconds - verify_s - speculating_s, 0.0)
        slowed = meter.plain.add(
            timed_width, n_held, n_committed, verify_s, warm=lap.is_warm, same_s=same_s
        )
        return StepCommitted(
            meter.n_steps,
            proposal.traces(verdict, self._ends),
            self._new_text(),
            tuple(counts),
            draft_s,
            verify_s,
            sample_ended - sample_began,
            lap.seconds,
            lap.plain,
            chain.timed(lap, width, n_held, own_s, slowed) if chain.decides else None,
            self._likelihoods.take(verdict.tokens) if self._likelihoods else (),
        )

    def _decode(self, draft: Sequence[int]) -> tuple[Rows, int, int]:
        """Decode the pending token and a draft.

        Returns:
            Rows, float32 [n_draft + 1, n_vocab], or [1, n_vocab] if the draft had to be dropped;
            the batch's width; and the width that its time is evidence for, or 0 if for none.

        Raises the errors of `_mended`.
        """
        target, n_draft, n_owed = self._target, len(draft), self._target.n_owed
        # A wider batch can be cheaper.
        wanted = self._knowledge.costs.cheapest(n_draft + 1) if n_draft else 0
        try:
            rows = target.feed([self.history[-1], *draft], n_draft + 1, wanted)
        except EngineError as failure:
            rows = self._mended(self.history, failure, n_draft=n_draft)
            return rows, target.model.last_decode[0] if n_draft or n_owed else 1, 0
        # The width with padding and with tokens decoded again; a plain step may be padded, too.
        width = target.model.last_decode[0] if n_draft or n_owed else 1
        # 0 where the tokens to decode again were decoded in batches of their own.
        return rows, width, width if not n_owed or width > n_owed + n_draft else 0

    def _propose(self, n_history: int) -> tuple[Proposal, float]:
        # The first steps after a load are plain, so that there is something to compare with.
        is_first = self._knowledge.recent.n_needed > 0
        n_max = 0 if is_first else min(self._longest - n_history - 1, self._n_most)
        return self._chain.propose(self.history, self._n_prompt, n_max, is_first=is_first)

    def _mended(
        self,
        tokens: TokenSequence,
        failure: EngineError,
        *,
        n_draft: int = 0,
        on_prefill: Callable[[int], None] = lambda _n_done: None,
    ) -> Rows:
        """Return the row after `tokens`, [1, n_vocab], despite a failed decode; see `Recovery`."""
        n_left = self._max_tokens - (len(self.history) - self._n_prompt)
        rows = self._recovery.rows_after(
            tokens,
            self._n_prompt,
            failure,
            n_draft=n_draft,
            n_left=n_left,
            on_prefill=on_prefill,
        )
        self._knowledge.replays = self._target.model.needs_copies  # the context may be a new one
        self.plainly = self._recovery.plainly
        if self.plainly is not None:
            self._n_most = 0
        return rows

    # -------------------------------------------------------------------------------- commit

    def _commit(self, token: int) -> bool:
        """Append a token to the reply; return True if it ends the reply."""
        if self._sampler.has_memory:
            self._sampler.commit(token)  # a grammar may refuse it
        self.history.append(token)
        if token in self._bench.eog:
            self.finish_reason = "eog"
        elif self._text.push(token):
            self.finish_reason = "stop"
        self._ends.append(self._text.text_end)
        if self._comparison is not None and self._comparison.divergence is not None:
            self.finish_reason = "cancelled"
        return self.finish_reason is not None

    def _new_text(self) -> str:
        """Return the new text to show after a step; after the last one nothing is held back."""
        if self.finish_reason is None and self.failure is None:
            return self._text.take()
        return self._text.finish(is_cut=self.finish_reason not in ("eog", "stop"))

    def _count_tokens(self, n_committed: int, *, ended: bool) -> None:
        self.meter.n_generated += n_committed
        if not ended and len(self.history) >= self._longest:
            is_whole = len(self.history) - self._n_prompt >= self._max_tokens
            self.finish_reason = "length" if is_whole else "context"
