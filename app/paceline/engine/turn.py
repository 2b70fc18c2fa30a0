"""One reply, from a `StartTurn` to its last event."""

from __future__ import annotations

from collections.abc import Callable, Generator

from paceline.engine.cancel import CancelFlag
from paceline.engine.decoder import Decoder
from paceline.engine.drafters.base import Workbench
from paceline.engine.drafters.strategy import Strategy, parse_strategy
from paceline.engine.failures import describe_failure
from paceline.engine.known_acceptance import keep_acceptance, recall_what_was_forgotten
from paceline.engine.learning import Learning
from paceline.engine.pair import LoadedPair
from paceline.engine.reports import Reports
from paceline.engine.strategy_fit import fitting, limits_of
from paceline.engine.text import TextAssembler
from paceline.engine.turn_request import check_limits, encode_prompt, make_sampler
from paceline.errors import (
    CancelledError,
    ComputeFailedError,
    ContextFullError,
    DecodeMemoryError,
    EngineError,
    SamplingError,
    UserError,
)
from paceline.messages import (
    Event,
    FiguresReported,
    FinishReason,
    PrefillProgressed,
    StartTurn,
    StepCommitted,
    TextDiverged,
    Tune,
    TuneApplied,
    TuneRejected,
    TurnFinished,
    TurnStarted,
    TurnStats,
)

Emit = Callable[[Event], None]


class Turn:
    """Checks a `StartTurn`, runs the decoder and emits its events.

    Raises:
        UserError: The command asks for something that cannot be; nothing was emitted yet.
    """

    def __init__(
        self,
        pair: LoadedPair,
        command: StartTurn,
        seed: int,
        emit: Emit,
        *,
        take_tune: Callable[[str], Tune | None],
        cancel: CancelFlag,
        parse: Callable[[str], Strategy] = parse_strategy,
    ) -> None:
        self._pair = pair
        self._command = command
        self._seed = seed
        self._emit = emit
        self._take_tune = take_tune
        self._cancel = cancel
        self._parse = parse
        self._strategy_text = command.strategy
        self._told_failures: set[str] = set()
        self._told_plainly: EngineError | None = None
        if pair.is_lost:
            raise UserError(
                "no-model", "A decode failed, and these models can do no more.", "Load them again."
            )
        check_limits(command, seed)
        self._prompt, self._notes, self._n_cut = encode_prompt(pair, command)
        model = pair.target.model
        n_ctx = pair.target.n_ctx
        if len(self._prompt) >= n_ctx:
            raise ContextFullError(
                "prompt-too-long",
                f"The prompt has {len(self._prompt)} tokens, but the context holds {n_ctx}.",
                "Shorten it, start a new chat, or load the model with a longer context.",
            )
        vocab = model.vocab
        asked = parse(command.strategy)
        strategy = fitting(asked, pair)
        pair.uses_draft = strategy.uses_draft_model
        self._notes += (*limits_of(asked, pair), *pair.promise.take_news())
        self._learning = Learning(pair, command, strategy, self._prompt)
        if command.remember:
            recall_what_was_forgotten(pair)
        self._sampler = make_sampler(vocab, command, seed)
        draft = pair.draft
        bench = Workbench(
            vocab=vocab,
            sampler=self._sampler,
            draft=draft,
            eog=frozenset() if command.ignore_eog else vocab.eog,
            chunk=min(model.n_batch, draft.model.n_batch if draft else model.n_batch),
            grammar=self._sampler.grammar,
            memory=self._learning.memory,
            log=self._learning.log,
            lookup_cache=pair.lookup_cache,
            kept=pair.kept,
        )
        self._text = TextAssembler(vocab, command.stop)
        try:
            self._decoder = Decoder(
                command.turn_id,
                pair.target,
                bench,
                strategy,
                text=self._text,
                max_tokens=command.max_tokens,
                eog=bench.eog,
                recent_plain=pair.recent_plain,
                knowledge=pair.knowledge,
                expected=command.expected,
            )
        except BaseException:  # a drafter that cannot work here
            self._sampler.close()
            raise
        self._reports = Reports(self._figures, self._decoder.report, emit)

    def run(self) -> None:
        """Generate the reply; every step becomes an event.

        Raises:
            EngineError: The target failed in mid-reply.
        """
        for _ in self.steps():
            pass

    def steps(self) -> Generator[StepCommitted, None, None]:
        """Generate the reply and stop behind every step, whose event has been emitted by then.

        Closing the generator stops the reply; `TurnFinished` is emitted all the same.

        Raises:
            EngineError: The target failed in mid-reply.
        """
        try:
            yield from self._steps()
        finally:
            if self._learning.finish(self._decoder.history):
                self._decoder.keep()
            if self._command.remember and self._decoder.was_controlled:
                keep_acceptance(self._pair)

    def _steps(self) -> Generator[StepCommitted, None, None]:
        command, decoder = self._command, self._decoder
        n_reused = self._pair.target.reuse(self._prompt)
        try:
            self._emit(
                TurnStarted(
                    command.turn_id,
                    len(self._prompt),
                    n_reused,
                    self._seed,
                    self._notes,
                    self._n_cut,
                )
            )
        except BaseException:
            self.close()
            raise
        reason: FinishReason = "cancelled"
        steps = decoder.run(self._prompt, self._on_prefill)
        try:
            for step in steps:
                self._emit(step)
                self._reports.step()
                reason = decoder.finish_reason or reason
                yield step
                if decoder.finish_reason is None and decoder.failure is None:
                    if self._cancel.is_set():
                        break
                    self._between_steps()
            reason = decoder.finish_reason or reason
        except CancelledError:
            pass
        except GeneratorExit:
            if decoder.failure is not None:
                steps.close()
                self._leave(decoder.failure)
        except EngineError as failure:
            steps.close()
            self._leave(failure)
            self._tell_held_back()
            raise
        finally:
            steps.close()
            self._sampler.close()
        self._text.finish()
        self._tell_failures()
        divergence = decoder.divergence(reason)
        if divergence is not None:
            self._emit(TextDiverged(command.turn_id, *divergence))
            reason = "cancelled"
        self._reports.tell_control()
        self._emit(
            TurnFinished(
                command.turn_id,
                reason,
                decoder.reply,
                tuple(decoder.generated),
                self._seed,
                self._strategy_text,
                self.stats,
            )
        )

    def _leave(self, failure: EngineError) -> None:
        """Leave nothing behind a failed reply that the next one must not go on with."""
        if isinstance(failure, (ComputeFailedError, DecodeMemoryError)):
            self._pair.is_lost = True
        elif not isinstance(failure, SamplingError):  # with it, both contexts hold sound numbers
            self._pair.wipe()

    def _tell_held_back(self) -> None:
        """Tell the text that waited for the next token, since no `TurnFinished` will."""
        text = self._text.finish()
        if text:
            step = self._decoder.meter.n_steps + 1
            self._emit(StepCommitted(self._command.turn_id, step, (), text, (), 0.0, 0.0, 0.0, 0.0))

    @property
    def stats(self) -> TurnStats:
        """The figures of the reply so far."""
        return self._decoder.meter.freeze(
            self._pair.promise.sameness, self._pair.target.model.info.kernels
        )

    def _figures(self) -> FiguresReported:
        return FiguresReported(self._command.turn_id, self.stats)

    def close(self) -> None:
        """Let go of a turn that was never run; its steps do it else."""
        self._decoder.close()
        self._sampler.close()

    # ----------------------------------------------------------------------------- between steps

    def _between_steps(self) -> None:
        self._learning.follow(self._decoder.history)
        self._tell_failures()
        tune = self._take_tune(self._command.turn_id)
        plainly = self._decoder.plainly
        if tune is not None and plainly is not None:
            self._reject(tune.strategy, plainly)
        elif tune is not None:
            self._tune(tune)

    def _tell_failures(self) -> None:
        """Tell what ended drafting since the last call, once each."""
        plainly = self._decoder.plainly
        if plainly is not None and plainly is not self._told_plainly:
            self._told_plainly = plainly
            self._reject(self._strategy_text, plainly)
            self._strategy_text = "off"
        self._tell_broken_drafters()

    def _tell_broken_drafters(self) -> None:
        for drafter, failure in self._decoder.draft_failures:
            if drafter in self._told_failures:
                continue
            self._told_failures.add(drafter)
            goes_on = "without it" if self._decoder.may_draft else "plainly"
            self._reject(
                self._strategy_text,
                failure,
                f"The drafter {drafter} failed, so the reply goes on {goes_on}. ",
            )
            if not self._decoder.may_draft:
                self._strategy_text = "off"

    def _reject(self, strategy: str, error: Exception, introduction: str = "") -> None:
        code, message, hint = describe_failure(error)
        self._emit(
            TuneRejected(self._command.turn_id, strategy, code, introduction + message, hint)
        )

    def _tune(self, tune: Tune) -> None:
        try:
            strategy = fitting(self._parse(tune.strategy), self._pair)
            self._learning.go_on(strategy, self._decoder.history)
            self._decoder.switch(strategy)
        except Exception as error:  # noqa: BLE001  a plug-in may raise anything when it is made
            self._reject(tune.strategy, error)
        else:
            self._strategy_text = tune.strategy
            self._pair.uses_draft = strategy.uses_draft_model
            self._told_failures.clear()
            self._emit(TuneApplied(tune.turn_id, tune.strategy))

    # ------------------------------------------------------------------------------------ events

    def _on_prefill(self, n_done: int) -> None:
        self._emit(PrefillProgressed(self._command.turn_id, n_done, len(self._prompt)))
