"""The decoding loop: draft, verify in one target decode, commit, roll back.

Plain decoding is the same loop with no drafted tokens. The decoder is a generator: one event per
verify decode, the first one for the token from the prefill's logits. Closing it at any point, or
an exception, leaves both contexts with nothing but a prefix of the committed tokens.

Structure after `common/speculative.cpp` of llama.cpp and `speculative_generate_step` of mlx-lm.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence

from paceline.engine.drafters.base import NO_DRAFT, Draft, Workbench
from paceline.engine.drafters.registry import Strategy
from paceline.engine.drafting import GuardedDrafter
from paceline.engine.prefix import CachedContext, common_prefix
from paceline.engine.stats import PlainSpeed, TurnMeter
from paceline.engine.text import TextAssembler
from paceline.engine.verify import Verdict, verify
from paceline.messages import SOURCE_TARGET, DraftCount, FinishReason, StepCommitted, TokenTrace

_clock = time.perf_counter


class Decoder:
    """Generates one reply.

    Attributes:
        history: Prompt and committed tokens.
        finish_reason: Why the reply ended; None while it runs.
        meter: The reply's figures.
    """

    def __init__(
        self,
        turn_id: str,
        target: CachedContext,
        bench: Workbench,
        strategy: Strategy,
        *,
        text: TextAssembler,
        max_tokens: int,
        eog: frozenset[int],
        plain_speed: PlainSpeed,
    ) -> None:
        self._turn_id = turn_id
        self._target = target
        self._bench = bench
        self._sampler = bench.sampler
        self._text = text
        self._max_tokens = max_tokens
        self._eog = eog
        self._plain_speed = plain_speed
        self.meter = TurnMeter()
        self._drafter = GuardedDrafter(strategy, bench, self.meter)
        self._n_prompt = 0
        self._last_width = 0
        self._time_ended = 0.0
        self._decode_began = 0.0
        self._native_at_start = 0.0
        self.history: list[int] = []
        self.finish_reason: FinishReason | None = None

    @property
    def generated(self) -> list[int]:
        """The committed tokens of the reply."""
        return self.history[self._n_prompt :]

    @property
    def draft_failure(self) -> Exception | None:
        """Why the present drafter was given up, if it was."""
        return self._drafter.failure

    @property
    def reply(self) -> str:
        """The reply's text so far."""
        return self._text.text

    def switch(self, strategy: Strategy) -> None:
        """Draft by another strategy from the next step on.

        Raises:
            UserError: The strategy cannot work here; the present one stays.
        """
        drafter = GuardedDrafter(strategy, self._bench, self.meter)
        self._drafter.close()
        self._drafter = drafter

    def pause(self) -> None:
        """Say that the next step's time is not a plain step's, whatever happened in between."""
        self._last_width = 0

    def run(
        self, prompt: Sequence[int], on_prefill: Callable[[int], None]
    ) -> Generator[StepCommitted, None, None]:
        """Prefill, then yield steps until the reply ends; see `finish_reason` then.

        Args:
            prompt: Token ids, at least one, fewer than the context holds.
            on_prefill: Called with the number of prompt tokens done.

        Raises:
            CancelledError: The user stopped; what was committed stands.
            EngineError: The target failed; what was committed stands.
        """
        self.history = list(prompt)
        self._n_prompt = self.meter.n_prompt = len(prompt)
        try:
            yield self._prefill(on_prefill)
            while self.finish_reason is None:
                yield self._step()
        finally:
            self._target.rollback(common_prefix(self._target.tokens, self.history))
            self._drafter.close()
            if self._decode_began:
                self.meter.decode_s = self._time_ended - self._decode_began

    # ------------------------------------------------------------------------------- prefill

    def _prefill(self, on_prefill: Callable[[int], None]) -> StepCommitted:
        began = _clock()
        target = self._target
        self.meter.n_reused = target.reuse(self.history)
        try:
            row = target.prefill(self.history, self._bench.chunk, on_prefill)[0]
        finally:
            self.meter.prefill_s = _clock() - began
        self._decode_began = self._time_ended = _clock()
        self._native_at_start = self._native_s()
        token = self._sampler.sample(row, 0)
        ended = self._commit(token)
        self._close_step(1, ended=ended)
        now = _clock()
        trace = TokenTrace(token, SOURCE_TARGET, -1, None, self._text.text_end)
        seconds = now - self._time_ended
        self._end_step(now)
        return StepCommitted(
            self._turn_id, 0, (trace,), self._text.take(), (), 0.0, 0.0, seconds, seconds
        )

    # ---------------------------------------------------------------------------------- step

    def _step(self) -> StepCommitted:
        target, history, meter = self._target, self.history, self.meter
        began = self._time_ended
        n_max = self._room()
        draft, draft_s = NO_DRAFT, 0.0
        if n_max > 0:
            draft, draft_s = self._drafter.propose(history, self._n_prompt, n_max)
        n_draft = len(draft.tokens)
        n_held = len(target.tokens)

        verify_began = _clock()
        rows = target.feed([history[-1], *draft.tokens], n_draft + 1)
        sample_began = _clock()
        ends: list[int] = []

        def commit(token: int) -> bool:
            ended = self._commit(token)
            ends.append(self._text.text_end)
            return ended

        position = len(history) - self._n_prompt
        verdict = verify(rows, draft.tokens, position, self._sampler.sample, commit)
        sample_ended = _clock()

        target.rollback(n_held + 1 + verdict.n_accepted)
        self._drafter.observe(n_draft, verdict.n_accepted)
        meter.n_steps += 1
        meter.n_discarded += verdict.n_discarded
        self._close_step(len(verdict.tokens), ended=verdict.ended)

        ended = _clock()
        plain = n_draft == 0 and self._last_width == 1
        self._last_width = n_draft + 1
        if plain:
            seconds = ended - began - draft_s
            meter.plain.add(seconds)
            self._plain_speed.add(seconds)
        self._end_step(ended)
        return StepCommitted(
            self._turn_id,
            meter.n_steps,
            self._traces(verdict, draft, ends),
            self._text.take(),
            (DraftCount(self._drafter.info.id, n_draft, verdict.n_accepted, verdict.n_discarded),)
            if n_draft
            else (),
            draft_s,
            sample_began - verify_began,
            sample_ended - sample_began,
            ended - began,
            plain,
        )

    def _room(self) -> int:
        """Return how many tokens the next step may draft."""
        # A load's first steps are plain, so that there is something to compare with.
        if not self._drafter.may_draft or self._plain_speed.n_needed:
            return 0
        model = self._target.model
        return min(
            self._max_tokens - (len(self.history) - self._n_prompt) - 1,
            model.n_ctx - len(self.history),
            model.max_rows - 1,
        )

    # -------------------------------------------------------------------------------- commit

    def _commit(self, token: int) -> bool:
        """Append a token to the reply; True when it ends it."""
        self.history.append(token)
        if token in self._eog:
            self.finish_reason = "eog"
        elif self._text.push(token):
            self.finish_reason = "stop"
        return self.finish_reason is not None

    def _close_step(self, n_committed: int, *, ended: bool) -> None:
        self.meter.n_generated += n_committed
        if ended:
            return
        if self.meter.n_generated >= self._max_tokens:
            self.finish_reason = "length"
        elif len(self.history) > self._target.model.n_ctx:
            self.finish_reason = "context"

    def _traces(
        self, verdict: Verdict, draft: Draft, ends: Sequence[int]
    ) -> tuple[TokenTrace, ...]:
        source, sure, tokens = self._drafter.info.id, draft.confidences, verdict.tokens
        traces = []
        for n in range(verdict.n_accepted):
            confidence = sure[n] if n < len(sure) else None
            traces.append(TokenTrace(tokens[n], source, n, confidence, ends[n]))
        if len(tokens) > verdict.n_accepted:
            traces.append(TokenTrace(tokens[-1], SOURCE_TARGET, -1, None, ends[-1]))
        return tuple(traces)

    def _end_step(self, now: float) -> None:
        self._time_ended = now
        self.meter.native_s = self._native_s() - self._native_at_start

    def _native_s(self) -> float:
        draft = self._bench.draft
        return self._target.model.native_s + (draft.model.native_s if draft else 0.0)
