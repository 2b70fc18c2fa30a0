"""One reply, from a `StartTurn` to its last event."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from dataclasses import replace

from msgspec import structs

from paceline.codec import made_of
from paceline.engine.cancel import CancelFlag
from paceline.engine.decode.comparison import kept_of
from paceline.engine.decode.decoder import Decoder
from paceline.engine.decode.likelihoods import Likelihoods, check_likely
from paceline.engine.decode.text import TextAssembler
from paceline.engine.draft.base import DrafterInfo, Workbench
from paceline.engine.draft.registry import OFF_INFO, find
from paceline.engine.draft.strategy import CompleteStrategy, complete
from paceline.engine.last_prompts import NewPrompt
from paceline.engine.measure.known import keep_acceptance, recall_what_was_forgotten
from paceline.engine.model.states import no_copies
from paceline.engine.model.tokens import TokenSequence
from paceline.engine.pair import LoadedPair
from paceline.engine.refusals import describe_failure
from paceline.engine.request import (
    check_begun,
    encode_begun,
    encode_earlier,
    encode_prompt,
    make_grammar,
    make_sampler,
)
from paceline.errors import (
    CancelledError,
    ComputeFailedError,
    ContextFullError,
    DecodeMemoryError,
    EngineError,
    SamplingError,
    UserError,
)
from paceline.figures import Reread
from paceline.messages import (
    Event,
    FiguresReported,
    FinishReason,
    PrefillProgressed,
    StartTurn,
    StepCommitted,
    Strategy,
    TextDiverged,
    Tune,
    TuneApplied,
    TuneRejected,
    TurnFinished,
    TurnStarted,
    TurnStats,
)
from paceline.parameters import check_fields
from paceline.params import ReplySettings
from paceline.sentence import joined, sentence

Emit = Callable[[Event], None]

REPORT_S = 0.5
"""Minimum seconds between two reports."""
_MIN_TIMED_TOKENS = 64
"""Minimum number of prompt tokens whose reading time predicts that of the next prompt."""

_clock = time.monotonic


class Turn:
    """Checks a `StartTurn`, runs the decoder and emits its events.

    Raises:
        UserError: The command is invalid; nothing was emitted yet.
    """

    def __init__(
        self,
        pair: LoadedPair,
        command: StartTurn,
        seed: int,
        emit: Emit,
        *,
        take_tune: Callable[[], Tune | None],
        cancel: CancelFlag,
        find: Callable[[str], DrafterInfo] = find,
    ) -> None:
        self._pair = pair
        self._command = command
        self._seed = seed
        self._emit = emit
        self._take_tune = take_tune
        self._cancel = cancel
        self._find = find
        self._told_failures: set[str] = set()
        self._report_due = _clock() + REPORT_S
        self._told_plainly: EngineError | None = None
        self._tunes: list[Tune] = []  # those that came while the prompt was read
        if pair.is_lost:
            raise UserError(
                "no-model", "A decode failed, and these models can do no more.", "Load them again."
            )
        pair.check_files()
        check_fields(made_of(ReplySettings, command, seed=seed))
        vocab = pair.target.model.vocab
        check_likely(command.n_likely)
        prompt = encode_prompt(pair, command)
        self._prompt, self._notes, self._n_cut = prompt.tokens, prompt.notes, prompt.n_cut
        self._knows_marks, self._calls = prompt.knows_marks, prompt.calls
        begun = encode_begun(vocab, command, prompt)
        self._begun = begun.tokens
        self._earlier = encode_earlier(vocab, command, prompt)
        n_ctx, n_prompt = pair.target.n_ctx, len(self._prompt) + len(begun.tokens)
        if n_prompt >= n_ctx:
            raise ContextFullError(
                "prompt-too-long",
                "The prompt has {n_prompt:,} tokens, but the context holds {n_ctx:,}.",
                "Shorten it, start a new chat, or load the model with a longer context.",
                n_prompt=n_prompt,
                n_ctx=n_ctx,
            )
        asked = complete(command.strategy, find)
        self._strategy = asked.value
        strategy = fitting(asked, pair)
        pair.uses_draft = strategy.uses_model
        self._notes += (*limits_of(asked, pair), *pair.promise.take_news())
        if command.remember:
            recall_what_was_forgotten(pair)
        grammar, notes = make_grammar(vocab, command, prompt)
        self._notes += notes
        self._sampler = make_sampler(vocab, command, seed, grammar, pair.make_drawer)
        draft = pair.draft
        bench = Workbench(
            vocab=vocab,
            sampler=self._sampler,
            draft=draft,
            eog=frozenset() if command.ignore_eog else vocab.eog,
            chunk=pair.n_read,
            grammar=self._sampler.grammar,
            earlier=pair.earlier if command.remember else None,
            lookup_cache=pair.lookup_cache,
            replaced=self._earlier,
            repeats=all(reply.repeats for reply in command.earlier[:1]),
            same_prompt=all(reply.same_prompt for reply in command.earlier[:1]),
            kept=pair.kept,
        )
        stops = command.stop if command.ignore_eog else (*command.stop, *prompt.stops)
        self._opening = prompt.opening
        self._text = TextAssembler(vocab, stops, self._opening, prompt.marks, prompt.shown)
        try:
            if grammar is not None:
                check_begun(grammar, begun)
            self._decoder = Decoder(
                pair.target,
                bench,
                strategy,
                text=self._text,
                max_tokens=command.max_tokens,
                knowledge=pair.knowledge,
                expected=command.expected,
                likelihoods=Likelihoods(vocab, self._sampler) if command.n_likely >= 0 else None,
                after_reading=pair.states.after_reading if pair.states else None,
            )
        except BaseException:  # the reply's beginning or a drafter is invalid
            self._sampler.close()
            raise
        if command.begun_text:
            self._decoder.go_on(begun.tokens, command.begun_text, may_end=begun.may_end)

    def run(self) -> Generator[StepCommitted, None, None]:
        """Generate the reply, and yield after every step, whose event has been emitted by then.

        Closing the generator stops the reply; `TurnFinished` is emitted nevertheless.

        Raises:
            EngineError: The target failed in mid-reply.
        """
        decoder = self._decoder
        reason: FinishReason = "cancelled"
        try:
            self._emit_start()
            steps = decoder.run(self._prompt, self._on_prefill)
            try:
                for step in steps:
                    self._emit(step)
                    if _clock() >= self._report_due:
                        self._emit_figures()
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
                self._emit_held_back()
                raise
            finally:
                steps.close()
                self._sampler.close()
            self._emit_end(reason)
        finally:
            self._pair.last_prompts.end(self._pair.target, decoder.reply)
            self._note_reading()
            del self._emit, self._take_tune  # a script's reply has both, and refers to this turn
            if self._command.remember and decoder.was_controlled:
                keep_acceptance(self._pair)

    def _emit_start(self) -> None:
        whole = TokenSequence(self._prompt)
        whole.extend(self._begun)
        states, warm = self._pair.states, self._decoder.meter.warm
        if states is not None:
            with_draft = self._pair.uses_draft
            warm = states.begin(whole, self._command.owner, with_draft=with_draft)
        self._decoder.meter.warm = warm
        n_reused = self._pair.target.reuse(whole)
        self._decoder.meter.reread = self._why_again(whole, n_reused)
        try:
            self._emit(
                TurnStarted(
                    len(whole),
                    n_reused,
                    self._seed,
                    self._notes,
                    self._n_cut,
                    self._opening,
                    self._knows_marks,
                    self._calls,
                    warm,
                    (len(whole) - n_reused) * self._pair.reading_s,
                )
            )
        except BaseException:
            self.close()
            raise

    def _why_again(self, tokens: TokenSequence, n_reused: int) -> Reread | None:
        command, pair = self._command, self._pair
        if command.owner is None:
            return None
        new = NewPrompt(command.owner, command.prompt, self._n_cut, tokens, n_reused)
        return pair.last_prompts.begin(new, pair.target, pair.states)

    def _note_reading(self) -> None:
        """Note how fast the prompt was read, if enough of it was read."""
        meter = self._decoder.meter
        n_read = meter.n_prompt - meter.n_reused
        if meter.n_generated and n_read >= _MIN_TIMED_TOKENS:
            self._pair.reading_s = meter.prefill_s / n_read

    def _emit_end(self, reason: FinishReason) -> None:
        decoder = self._decoder
        self._emit_held_back(is_cut=reason not in ("eog", "stop"))
        self._emit_failures()
        divergence = decoder.divergence(reason)
        if divergence is not None:
            self._emit(TextDiverged(*divergence))
            reason = "cancelled"
        self._emit_control()
        stats = self.stats
        stops = self._text.stopped_by if reason == "stop" else ()
        if self._earlier and not self._begun:
            stats = structs.replace(stats, kept=kept_of(self._earlier[0], decoder.generated))
        self._emit(
            TurnFinished(
                reason,
                decoder.reply,
                tuple(decoder.generated),
                self._seed,
                self._strategy,
                stats,
                next((stop for stop in stops if stop in self._command.stop), ""),
            )
        )

    def _leave(self, failure: EngineError) -> None:
        """Remove what the next reply must not use after a failed one."""
        if isinstance(failure, (ComputeFailedError, DecodeMemoryError)):
            self._pair.is_lost = True
        elif not isinstance(failure, SamplingError):  # then both contexts hold valid numbers
            self._pair.empty(wipe=True)

    def _emit_held_back(self, *, is_cut: bool = True) -> None:
        """Emit the text that was held back for the next token."""
        text = self._text.finish(is_cut=is_cut)
        if text:
            step = self._decoder.meter.n_steps + 1
            self._emit(StepCommitted(step, (), text, (), 0.0, 0.0, 0.0, 0.0))

    @property
    def stats(self) -> TurnStats:
        """The figures of the reply so far."""
        return self._decoder.figures(
            self._pair.promise.sameness, self._pair.target.model.info.kernels
        )

    def _emit_figures(self) -> None:
        """Report the figures and Auto's knowledge."""
        self._report_due = _clock() + REPORT_S
        self._emit(FiguresReported(self.stats))
        self._emit_control()

    def _emit_control(self) -> None:
        report = self._decoder.report()
        if report is not None:
            self._emit(report)

    def close(self) -> None:
        """Release a turn that was never run; `run` does so itself."""
        self._decoder.close()
        self._sampler.close()

    # ----------------------------------------------------------------------------- between steps

    def _between_steps(self) -> None:
        plainly = self._decoder.plainly
        if plainly is not None or self._decoder.draft_failures:
            self._emit_failures()
        tune = self._tunes.pop(0) if self._tunes else self._take_tune()
        if tune is None:
            return
        if plainly is not None:
            self._reject(tune.strategy, plainly)
        else:
            self._tune(tune)

    def _emit_failures(self) -> None:
        """Report the failures that ended drafting since the last call, once each."""
        plainly = self._decoder.plainly
        if plainly is not None and plainly is not self._told_plainly:
            self._told_plainly = plainly
            self._reject(self._strategy, plainly)
            self._strategy = Strategy.of(OFF_INFO.id)
        self._emit_broken_drafters()

    def _emit_broken_drafters(self) -> None:
        for drafter, failure in self._decoder.draft_failures:
            if drafter in self._told_failures:
                continue
            self._told_failures.add(drafter)
            introduction = sentence(
                "The drafter {drafter} failed, so the reply goes on {how}.",
                drafter=drafter,
                how=sentence("without it") if self._decoder.may_draft else sentence("plainly"),
            )
            self._reject(self._strategy, failure, introduction)
            if not self._decoder.may_draft:
                self._strategy = Strategy.of(OFF_INFO.id)

    def _reject(self, strategy: Strategy, error: Exception, introduction: str = "") -> None:
        code, message, hint = describe_failure(error)
        message = joined([introduction, message])
        self._emit(TuneRejected(strategy, code, message, hint))

    def _tune(self, tune: Tune) -> None:
        try:
            asked = complete(tune.strategy, self._find)
            strategy = fitting(asked, self._pair)
            self._decoder.switch(strategy)
        except Exception as error:  # noqa: BLE001  the factory of a plug-in may raise anything
            self._reject(tune.strategy, error)
        else:
            self._strategy = asked.value
            self._pair.uses_draft = strategy.uses_model
            self._told_failures.clear()
            self._emit(TuneApplied(self._strategy))

    # ------------------------------------------------------------------------------------ events

    def _on_prefill(self, n_done: int) -> None:
        self._emit(PrefillProgressed(n_done, len(self._prompt) + len(self._begun)))
        while (tune := self._take_tune()) is not None:  # this also carries out deletions at once
            self._tunes.append(tune)


def fitting(strategy: CompleteStrategy, pair: LoadedPair) -> CompleteStrategy:
    """Return the part of a strategy that works here: with some targets Auto decodes plainly.

    Raises:
        UserError: It drafts, and the target cannot roll back.
    """
    if not strategy.speculates or pair.target.model.max_rollback:
        return strategy
    if strategy.is_auto:
        return replace(strategy, drafters=((OFF_INFO, {}),))
    raise UserError(
        "cannot-rollback", no_copies(sentence("model")), "Use the strategy “off” with it."
    )


def limits_of(strategy: CompleteStrategy, pair: LoadedPair) -> tuple[str, ...]:
    """Return the limits of Auto here, as sentences."""
    if not strategy.is_auto:
        return ()
    if not pair.target.model.max_rollback:
        why = no_copies(sentence("model"))
        return (sentence("{why} Auto decodes plainly.", why=why),)
    if pair.draft is not None and not pair.draft.model.max_rollback:
        why = no_copies(sentence("draft model"))
        return (sentence("{why} Auto uses the lookups alone.", why=why),)
    return ()
