"""One reply, from a `StartTurn` to its last event."""

from __future__ import annotations

from collections.abc import Callable, Generator

from paceline.engine import probe
from paceline.engine.backend import Vocabulary
from paceline.engine.cancel import CancelFlag
from paceline.engine.decoder import Decoder
from paceline.engine.drafters.base import Workbench
from paceline.engine.drafters.strategy import Strategy, parse_strategy
from paceline.engine.failures import describe_failure
from paceline.engine.pair import LoadedPair
from paceline.engine.sampling import Sampler
from paceline.engine.text import TextAssembler
from paceline.errors import (
    CancelledError,
    ContextFullError,
    EngineError,
    SamplingError,
    UserError,
    ValueOutOfRangeError,
)
from paceline.messages import (
    Event,
    FinishReason,
    PrefillProgressed,
    StartTurn,
    StepCommitted,
    Tune,
    TuneApplied,
    TuneRejected,
    TurnFinished,
    TurnStarted,
    TurnStats,
)

Emit = Callable[[Event], None]
_ROLES = {"system", "user", "assistant"}  # anything else could smuggle control tokens in
_ROLE_NAMES = ", ".join(sorted(_ROLES))


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
        _check_limits(command, seed)
        self._prompt, self._notes = _encode_prompt(pair, command)
        model = pair.target.model
        n_ctx = pair.target.n_ctx
        if len(self._prompt) >= n_ctx:
            raise ContextFullError(
                "prompt-too-long",
                f"The prompt has {len(self._prompt)} tokens, but the context holds {n_ctx}.",
                "Shorten it, start a new chat, or load the model with a longer context.",
            )
        vocab = model.vocab
        strategy = self._fitting(parse(command.strategy))
        self._sampler = _sampler(vocab, command, seed)
        draft = pair.draft
        bench = Workbench(
            vocab=vocab,
            sampler=self._sampler,
            draft=draft,
            eog=frozenset() if command.ignore_eog else vocab.eog,
            chunk=min(model.n_batch, draft.model.n_batch if draft else model.n_batch),
            grammar=self._sampler.grammar,
            memory=pair.memory if command.remember else None,
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
                plain_speed=pair.plain_speed,
            )
        except BaseException:  # a drafter that cannot work here
            self._sampler.close()
            raise
        self._batch_invariant = self._known_invariance()

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
            self._decoder.keep()

    def _steps(self) -> Generator[StepCommitted, None, None]:
        command, decoder = self._command, self._decoder
        n_reused = self._pair.target.reuse(self._prompt)
        try:
            self._emit(
                TurnStarted(command.turn_id, len(self._prompt), n_reused, self._seed, self._notes)
            )
        except BaseException:
            self.close()
            raise
        reason: FinishReason = "cancelled"
        steps = decoder.run(self._prompt, self._on_prefill)
        try:
            for step in steps:
                self._emit(step)
                reason = decoder.finish_reason or reason
                yield step
                if decoder.finish_reason is None:
                    if self._cancel.is_set():
                        break
                    self._between_steps()
        except (CancelledError, GeneratorExit):
            pass
        except SamplingError:  # both contexts hold sound numbers: the next turn may reuse them
            raise
        except EngineError:
            steps.close()
            self._pair.wipe()
            raise
        finally:
            steps.close()
            self._sampler.close()
        self._text.finish()
        self._tell_broken_drafters()
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

    @property
    def stats(self) -> TurnStats:
        """The figures of the reply so far."""
        return self._decoder.meter.freeze(batch_invariant=self._batch_invariant)

    def close(self) -> None:
        """Let go of a turn that was never run; its steps do it else."""
        self._decoder.close()
        self._sampler.close()

    # ----------------------------------------------------------------------------- between steps

    def _between_steps(self) -> None:
        self._tell_broken_drafters()
        tune = self._take_tune(self._command.turn_id)
        if tune is not None:
            self._tune(tune)
        target = self._pair.target
        if self._batch_invariant is None and probe.can_probe(target, len(self._prompt)):
            self._batch_invariant = probe.is_batch_invariant(target)
            self._pair.facts.put(self._fact_name(), self._batch_invariant)
            self._decoder.pause()

    def _tell_broken_drafters(self) -> None:
        for drafter, failure in self._decoder.draft_failures:
            if drafter in self._told_failures:
                continue
            self._told_failures.add(drafter)
            code, message, hint = describe_failure(failure)
            goes_on = "without it" if self._decoder.may_draft else "plainly"
            message = f"The drafter {drafter} failed, so the reply goes on {goes_on}. {message}"
            turn_id = self._command.turn_id
            self._emit(TuneRejected(turn_id, self._strategy_text, code, message, hint))
            if not self._decoder.may_draft:
                self._strategy_text = "off"

    def _tune(self, tune: Tune) -> None:
        try:
            self._decoder.switch(self._fitting(self._parse(tune.strategy)))
        except Exception as error:  # noqa: BLE001  a plug-in may raise anything when it is made
            code, message, hint = describe_failure(error)
            self._emit(TuneRejected(tune.turn_id, tune.strategy, code, message, hint))
        else:
            self._strategy_text = tune.strategy
            self._told_failures.clear()
            self._emit(TuneApplied(tune.turn_id, tune.strategy))

    def _fitting(self, strategy: Strategy) -> Strategy:
        """Refuse to speculate on a model that cannot take tokens back."""
        if strategy.speculates and not self._pair.target.model.can_rollback:
            raise UserError(
                "cannot-rollback",
                "This target cannot take back rejected tokens, so nothing can be drafted for it.",
                "Use the strategy “off” with it.",
            )
        return strategy

    # ------------------------------------------------------------------------------------ events

    def _on_prefill(self, n_done: int) -> None:
        self._emit(PrefillProgressed(self._command.turn_id, n_done, len(self._prompt)))

    def _fact_name(self) -> str:
        target = self._pair.target
        return f"batch_invariant|{target.model.facts_key}|w{target.min_width}-{target.max_width}"

    def _known_invariance(self) -> bool | None:
        known = self._pair.facts.get(self._fact_name())
        return known if isinstance(known, bool) else None


def _sampler(vocab: Vocabulary, command: StartTurn, seed: int) -> Sampler:
    """Return the reply's sampler, with its grammar at the beginning."""
    params = command.sampling
    grammar = None
    if params.grammar or params.json_schema:
        if params.grammar and params.json_schema:
            raise ValueOutOfRangeError(
                "value-out-of-range", "A grammar and a JSON schema are given.", "Give one of them."
            )
        if command.ignore_eog:
            raise ValueOutOfRangeError(
                "value-out-of-range",
                "A grammar ends the reply, but ends are to be ignored.",
                "Switch one of them off.",
            )
        schema = params.json_schema
        grammar = vocab.grammar_of_schema(schema) if schema else vocab.grammar(params.grammar)
    try:
        return Sampler(
            params,
            seed,
            vocab.eog if command.ignore_eog else (),
            n_vocab=vocab.n_tokens,
            grammar=grammar,
        )
    except BaseException:
        if grammar:
            grammar.close()
        raise


def _check_limits(command: StartTurn, seed: int) -> None:
    if command.max_tokens < 1:
        raise ValueOutOfRangeError(
            "value-out-of-range", f"Max tokens is {command.max_tokens}, but must be at least 1."
        )
    if not 0 <= seed < 1 << 63:
        raise ValueOutOfRangeError(
            "value-out-of-range", f"The seed is {seed}, but must be from 0 to 2^63 - 1."
        )


def _encode_prompt(pair: LoadedPair, command: StartTurn) -> tuple[list[int], tuple[str, ...]]:
    """Return the prompt's token ids, at least one, and notes for the user."""
    vocab = pair.target.model.vocab
    notes: tuple[str, ...] = ()
    if command.prompt_tokens is not None:
        tokens = list(command.prompt_tokens)
        bad = [t for t in tokens if not 0 <= t < vocab.n_tokens]
        if bad:
            raise ValueOutOfRangeError(
                "no-such-token",
                f"Token {bad[0]} does not exist: the vocabulary has {vocab.n_tokens} tokens.",
                f"Give ids from 0 to {vocab.n_tokens - 1}.",
            )
    elif command.prompt is not None:
        tokens = vocab.tokenize(command.prompt, special=False)
        if tokens and vocab.add_bos and vocab.bos >= 0:
            tokens.insert(0, vocab.bos)
    else:
        if not any(m.content.strip() for m in command.messages):
            raise _empty()
        for role in {m.role for m in command.messages} - _ROLES:
            raise ValueOutOfRangeError(
                "no-such-role", f"A message has the role “{role}”.", f"Roles are {_ROLE_NAMES}."
            )
        tokens, notes = pair.template.encode(command.messages)
    if not tokens:
        raise _empty()
    return tokens, notes


def _empty() -> UserError:
    return ValueOutOfRangeError("empty-prompt", "The prompt is empty.", "Write something first.")
