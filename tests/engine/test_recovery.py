"""Failures of the target's decode on scripted models: reports, kept text, continuation."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.bench import ASK, PROMPT_LENGTH, Bench
from engine.failing import BROKEN, FULL, NO_MEMORY, REFUSED, Failing
from engine.harness import PROMPT, Scripted, check_books, decoder_for, random_language, run
from fake_model import EOG, FakeBackend, FakeModel, scripted
from paceline.engine.cancel import CancelFlag
from paceline.engine.decode.decoder import REFILL_TOKENS, SMALL_BATCH
from paceline.engine.model.backend import Row, Rows
from paceline.engine.model.context import BatchWidths, CachedContext
from paceline.engine.model.model_file import OVERWRITTEN
from paceline.engine.sameness import promise
from paceline.engine.sample.sampling import Sampler
from paceline.engine.service import EngineService
from paceline.errors import (
    ContextFullError,
    DecodeMemoryError,
    EngineError,
    ModelError,
    NothingAllowedError,
)
from paceline.messages import (
    Chat,
    Event,
    LoadFailed,
    LoadPair,
    LoadProgressed,
    ModelParams,
    PairLoaded,
    SamplingParams,
    StartTurn,
    StepCommitted,
    TuneRejected,
    TurnFailed,
    TurnFinished,
    Unloaded,
)
from strategies import strategy as strategy_of
from strategies import whole

REPLY = "The quick brown fox jumps."
N_TOKENS = len(REPLY) + 1


def failing(plan: dict[int, EngineError], **options: Any) -> Failing:
    return Failing(scripted(REPLY, len(PROMPT)), plan=plan, **options)


def copying(n: int) -> Scripted:
    """Drafts the next `n` tokens of the reply."""
    data = [*REPLY.encode(), EOG]

    def propose(history: Sequence[int], n_max: int) -> list[int]:
        at = len(history) - len(PROMPT)
        return data[at : at + min(n, n_max)]

    return Scripted(propose)


def told(steps: Sequence[StepCommitted]) -> list[int]:
    return [trace.token for step in steps for trace in step.tokens]


# ---------------------------------------------------------------------- rows that give no token


def until_it_fails(decoder: Any) -> tuple[list[StepCommitted], EngineError | None]:
    steps: list[StepCommitted] = []
    try:
        for step in decoder.run(PROMPT, lambda _n: None):
            steps.append(step)
            check_books(decoder)
    except EngineError as error:
        return steps, error
    return steps, None


@pytest.mark.parametrize(
    ("bad", "columns"),
    [(np.nan, slice(None)), (np.inf, slice(None)), (-np.inf, slice(None)), (np.nan, 7)],
    ids=["nan", "inf", "-inf", "one of many"],
)
@pytest.mark.parametrize("n", [0, 1, 3, 6])
def test_tokens_before_a_bad_row_are_reported_and_none_after_it(
    n: int, bad: float, columns: slice | int
) -> None:
    """Put the bad row at each position of the reply, so in each row of a draft of `n` tokens."""
    sound = scripted(REPLY, len(PROMPT))
    for position in range(N_TOKENS + 1):  # the last one is never asked for: the control

        def poisoned(tokens: Sequence[int], position: int = position) -> np.ndarray:
            row = sound(tokens)
            if len(tokens) - len(PROMPT) == position:
                row[columns] = bad
            return row

        decoder = decoder_for(FakeModel(poisoned), copying(n))
        steps, error = until_it_fails(decoder)
        assert bytes(told(steps)[: len(REPLY)]).decode() == REPLY[:position]
        assert "".join(step.text for step in steps) == REPLY[:position]
        assert all(step.tokens for step in steps)
        assert decoder.generated == told(steps)
        if position == N_TOKENS:
            assert error is None
            assert decoder.finish_reason == "eog"
        else:
            assert error is not None
            assert error.code == "invalid-numbers"
            assert decoder.finish_reason is None
            for counts in steps[-1].drafted if steps else ():  # all were right, or never judged
                assert counts.n_drafted == counts.n_accepted + counts.n_discarded


class Refusing(Sampler):
    """Refuses to draw a token or to commit it, once so many are in the reply."""

    def __init__(self, at: int, method: str) -> None:
        super().__init__(SamplingParams(temperature=0), 1)
        self.has_memory = True  # else nothing need be committed
        self.at, self.method, self.n = at, method, 0

    def check(self, method: str) -> None:
        if method == self.method and self.n == self.at:
            raise NothingAllowedError("all-forbidden", "Nothing is allowed.")

    def sample(self, row: Row, position: int, without: Iterable[int] = ()) -> int:
        self.check("sample")
        return super().sample(row, position, without)

    def draws(self, rows: Rows, draft: Sequence[int], position: int) -> Iterator[int]:
        for token in super().draws(rows, draft, position):
            self.check("sample")
            yield token

    def commit(self, token: int) -> None:
        self.check("commit")
        super().commit(token)
        self.n += 1


@pytest.mark.parametrize("n", [0, 1, 4])
@pytest.mark.parametrize("method", ["sample", "commit"])
def test_tokens_before_a_sampling_error_are_reported(n: int, method: str) -> None:
    for position in range(N_TOKENS + 1):  # the last one is never asked for: the control
        model, sampler = failing({}), Refusing(position, method)
        decoder = decoder_for(model, copying(n), sampler=sampler)
        steps, error = until_it_fails(decoder)
        assert isinstance(error, NothingAllowedError) == (position < N_TOKENS)
        assert bytes(told(steps)[: len(REPLY)]).decode() == REPLY[:position]
        assert decoder.generated == told(steps)


# --------------------------------------------------------------------------- codes in mid-reply


@pytest.mark.parametrize("n", [0, 1, 6])
@pytest.mark.parametrize("failure", [None, FULL, REFUSED, NO_MEMORY, BROKEN])
def test_a_failure_at_every_decode(n: int, failure: EngineError | None) -> None:
    n_calls = 1 + -(-len(REPLY) // (n + 1))
    for at in range(1, n_calls + 1):
        model = failing({at: failure} if failure else {})
        decoder = decoder_for(model, copying(n))
        steps, error = until_it_fails(decoder)
        check_books(decoder)
        assert model.n_hits == (failure is not None)
        written = bytes(t for t in told(steps) if t < EOG).decode()
        assert written == REPLY[: len(written)]
        assert decoder.generated == told(steps)
        if failure is None or (failure is FULL and (at == 1 or n)):
            assert (written, decoder.finish_reason) == (REPLY, "eog")
            assert decoder.plainly is None
        elif failure is NO_MEMORY or (failure is REFUSED and n and at > 1):
            assert (written, decoder.finish_reason) == (REPLY, "eog")
            assert decoder.plainly is not None
            assert decoder.plainly.code == failure.code
            later = [step for step in steps if step.step > max(at - 1, 0)]
            assert not any(step.drafted for step in later)
        elif failure is FULL:
            assert decoder.finish_reason == "context"
            assert len(told(steps)) == at - 1
        else:
            assert error is failure
            assert len(told(steps)) == (1 + (at - 2) * (n + 1) if at > 1 else 0)


@pytest.mark.parametrize("failure", [FULL, REFUSED, NO_MEMORY])
def test_a_dropped_draft_counts_as_discarded(failure: EngineError) -> None:
    drafter = copying(4)
    decoder = decoder_for(failing({3: failure}), drafter)
    steps = run(decoder)
    assert steps[2].drafted[0].n_discarded == steps[2].drafted[0].n_drafted == 4
    assert len(steps[2].tokens) == 1
    assert drafter.seen[1] == 0  # none of them was accepted
    stats = decoder.meter.freeze()
    assert stats.n_discarded == 4
    assert stats.acceptance_rate == 1
    assert stats.n_generated == 1 + stats.n_steps + stats.n_accepted
    (counts,) = stats.by_drafter
    assert counts.tokens == stats.n_drafted


def test_only_a_lack_of_room_lets_the_reply_draft_again() -> None:
    decoder = decoder_for(failing({3: FULL}), copying(4))
    steps = run(decoder)
    assert [len(step.tokens) for step in steps[:4]] == [1, 5, 1, 5]


def test_a_mended_step_is_no_plain_step_and_neither_is_the_next() -> None:
    decoder = decoder_for(failing({8: NO_MEMORY}))
    steps = run(decoder)
    assert [step.plain for step in steps[:11]] == [False, False] + [True] * 5 + [False] * 2 + [
        True,
        True,
    ]


LONG = PROMPT * 30  # in six pieces of at most 16
STEP_3 = 9  # the decode of the third step after that prompt


def long_run(plan: dict[int, EngineError], **options: Any) -> tuple[Failing, Any, list[Any]]:
    model = Failing(scripted(REPLY, len(LONG)), plan=plan, **options)
    decoder = decoder_for(
        model, Scripted(lambda history, n: REPLY.encode()[len(history) - 90 :][:2])
    )
    return model, decoder, run(decoder, LONG)


def test_memory_runs_out_once() -> None:
    model, decoder, steps = long_run({STEP_3: NO_MEMORY})
    assert decoder.reply == REPLY
    assert told(steps) == decoder.generated
    assert (model.wiped, model.remade) == (1, [])
    refill = model.widths[STEP_3 - 1 :][:4]
    assert refill == [
        REFILL_TOKENS,
        REFILL_TOKENS,
        26,
        7,
    ]  # the prompt, and after it 1 + 3 + 3 tokens
    assert set(model.widths[STEP_3 + 3 :]) == {1}
    assert "plainly" in decoder.plainly.message


@pytest.mark.parametrize("max_width", [63, 8])
def test_a_reply_is_filled_in_at_widths_that_give_its_own_numbers(max_width: int) -> None:
    model = Failing(random_language(2), plan={50: NO_MEMORY})
    decoder = decoder_for(model)
    decoder.target.widths = BatchWidths(1, 1, max_width)
    run(decoder)
    assert decoder.finish_reason == "length"
    piece = min(REFILL_TOKENS, max_width)
    refill = [3, *[piece] * (49 // piece), 49 % piece]
    assert model.widths[49 : 49 + len(refill)] == refill


@pytest.mark.parametrize(("n_ctx", "smaller"), [(512, 256), (200, 200)])
@pytest.mark.parametrize("later", [2, 9])  # in the same step, or in another one
def test_memory_runs_out_twice(n_ctx: int, smaller: int, later: int) -> None:
    """The second time the context is made again: half as long, where the reply fits into half."""
    model, decoder, steps = long_run({STEP_3: NO_MEMORY, STEP_3 + later: NO_MEMORY}, n_ctx=n_ctx)
    assert decoder.reply == REPLY
    assert told(steps) == decoder.generated
    assert model.remade == [(smaller, SMALL_BATCH)]
    assert f"{smaller} tokens" in decoder.plainly.message


@pytest.mark.parametrize("min_width", [1, 8])
def test_a_smaller_context_has_room_for_the_whole_reply(min_width: int) -> None:
    """The padding of exact mode takes room, too: half of this context just holds the reply."""
    n_prompt, n_reply = len(LONG), 60
    n_ctx = 2 * (n_prompt + n_reply)
    plan: dict[int, EngineError] = {STEP_3: NO_MEMORY, STEP_3 + 1: NO_MEMORY}
    model = Failing(random_language(2), n_ctx=n_ctx, plan=plan)
    context = CachedContext(model)
    context.widths = BatchWidths(min_width, min_width, 56)
    decoder = decoder_for(model, context=context, max_tokens=n_reply)
    run(decoder, LONG)
    assert model.remade == [(n_ctx if min_width > 1 else n_ctx // 2, SMALL_BATCH)]
    assert (decoder.finish_reason, len(decoder.generated)) == ("length", n_reply)


def test_a_reply_that_outgrows_a_smaller_context_ends_there() -> None:
    plan: dict[int, EngineError] = {STEP_3: NO_MEMORY, STEP_3 + 2: NO_MEMORY}
    model = Failing(random_language(6), n_ctx=1024, plan=plan)
    decoder = decoder_for(model, max_tokens=900)
    steps = run(decoder, LONG)
    assert model.remade == [(512, SMALL_BATCH)]
    assert (decoder.finish_reason, len(decoder.history)) == ("context", 512 + 1)
    assert told(steps) == decoder.generated


def test_a_prefill_that_begins_anew_has_reused_nothing() -> None:
    model = Failing(scripted(REPLY, len(LONG)))
    context = CachedContext(model)
    context.prefill(LONG, 16, lambda _n: None)
    model.plan = {model.n_decodes + 1: NO_MEMORY}
    decoder = decoder_for(model, context=context)
    steps = decoder.run(LONG, lambda _n: None)
    next(steps)
    assert model.wiped
    assert decoder.meter.n_reused == 0
    steps.close()


def test_memory_runs_out_three_times() -> None:
    plan: dict[int, EngineError] = {STEP_3 + i: NO_MEMORY for i in range(3)}
    with pytest.raises(DecodeMemoryError) as error:
        long_run(plan)
    assert error.value.hint == NO_MEMORY.hint


def test_no_room_for_a_smaller_context_either(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Failing, n_ctx: int, n_batch: int) -> None:
        raise ModelError("does-not-fit", "There is no room for a context.", "Go.")

    monkeypatch.setattr(Failing, "remake", refuse)
    with pytest.raises(DecodeMemoryError, match="no room for a context") as error:
        long_run({STEP_3: NO_MEMORY, STEP_3 + 1: NO_MEMORY})
    assert error.value.hint == NO_MEMORY.hint


@pytest.mark.parametrize("failure", [FULL, REFUSED, BROKEN])
def test_another_failure_within_a_recovery(failure: EngineError) -> None:
    plan = {STEP_3: NO_MEMORY, STEP_3 + 2: failure}
    if failure is FULL:  # of a piece of many tokens
        _, decoder, _ = long_run(plan)
        assert decoder.reply == REPLY
    else:
        with pytest.raises(type(failure)):
            long_run(plan)


def test_a_context_that_ends_within_a_recovery_ends_the_reply() -> None:
    plan: dict[int, EngineError] = {STEP_3: NO_MEMORY}
    plan |= {STEP_3 + 2 + i: FULL for i in range(6)}  # 32, 16, 8, 4, 2, 1
    _, decoder, steps = long_run(plan)
    assert decoder.finish_reason == "context"
    assert bytes(told(steps)).decode() == REPLY[:7]


@pytest.mark.parametrize("failure", [NO_MEMORY, FULL, REFUSED, BROKEN])
def test_a_model_that_cannot_take_tokens_back(failure: EngineError) -> None:
    model = failing({6: failure}, can_rollback=False)
    decoder = decoder_for(model)
    if failure in {NO_MEMORY, FULL}:
        steps = list(decoder.run(PROMPT, lambda _n: None))
        assert decoder.finish_reason == ("eog" if failure is NO_MEMORY else "context")
        assert told(steps) == decoder.generated
    else:
        with pytest.raises(type(failure)):
            list(decoder.run(PROMPT, lambda _n: None))
    assert len(model.tokens) == len(decoder.target.tokens)


def test_auto_knows_of_another_context_within_the_reply() -> None:
    """A context that is made again for lack of memory rolls back by copies instead of states."""
    plan: dict[int, EngineError] = {6: NO_MEMORY, 7: NO_MEMORY}
    model = failing(plan, can_rollback=False, n_states=8, has_copies=True)
    model.keep_states(8)
    decoder = decoder_for(model)
    seen = [decoder.knowledge.replays for _ in decoder.run(PROMPT, lambda _n: None)]
    assert model.remade
    assert (seen[0], seen[-1]) == (False, True)


def test_a_prefill_without_room_for_one_token_fails() -> None:
    plan: dict[int, EngineError] = dict.fromkeys(range(2, 7), FULL)  # 16, 8, 4, 2, 1
    with pytest.raises(ContextFullError):
        long_run(plan)
    del plan[6]
    model, decoder, _ = long_run(plan)
    assert decoder.reply == REPLY
    assert model.widths[:2] == [16, 1]
    assert decoder.plainly is None


# ------------------------------------------------------------------------------ a dead draft model


@pytest.mark.parametrize("failure", [None, FULL, REFUSED, NO_MEMORY, BROKEN])
@pytest.mark.parametrize("at", [1, 2, 5, 11])
def test_a_dead_draft_model_costs_no_token(failure: EngineError | None, at: int) -> None:
    language = random_language(3)
    plain = decoder_for(FakeModel(language))
    run(plain)
    draft = Failing(language, plan={at: failure} if failure else {})
    decoder = decoder_for(FakeModel(language), "draft:n_max=3:p_min=0", draft=draft)
    run(decoder)
    assert decoder.generated == plain.generated
    assert draft.n_hits == (failure is not None)
    if failure is None:
        assert decoder.draft_failures == []
        assert draft.n_decodes > 12
        return
    assert dict(decoder.draft_failures) == {"draft": failure}
    assert draft.n_decodes == at  # it was not asked again
    assert draft.wiped == 1
    assert decoder.plainly is None  # another drafter may still be chosen


def test_numbers_of_a_poisoned_draft_model_do_not_reach_the_next_reply() -> None:
    language = random_language(3)
    draft = Failing(language)
    sound = draft.logits
    draft.logits = lambda tokens: sound(tokens) + np.float32("nan" if len(tokens) > 9 else 0)
    decoder = decoder_for(FakeModel(language), "draft:n_max=3:p_min=0", draft=draft)
    run(decoder)
    (failure,) = dict(decoder.draft_failures).values()
    assert isinstance(failure, EngineError)
    assert failure.code == "invalid-numbers"
    assert draft.wiped == 1
    assert draft.tokens == []


# ------------------------------------------------------------------------------ the whole engine

DRAFTING = "draft:n_max=3:p_min=0"


class Desk(Bench):
    """An inline engine with a target that can fail, and a draft model that knows the reply."""

    def __init__(self) -> None:
        self.target, self.draft = (Failing(scripted(REPLY, PROMPT_LENGTH)) for _ in range(2))
        super().__init__(target=self.target, draft=self.draft)
        assert isinstance(self.load(draft="draft"), PairLoaded)
        self.reply("off")  # the plain steps after a load

    def reply(
        self, strategy: str = DRAFTING, plan: dict[int, EngineError] | None = None, **options: Any
    ) -> Event:
        """Ask, and let the decodes fail that the plan counts from here; return the last event."""
        self.target.plan = {self.target.n_decodes + at: e for at, e in (plan or {}).items()}
        self.events.clear()
        return self.ask(strategy=strategy, max_tokens=60, **options)

    def poison(self, n: int, column: int | slice = slice(None)) -> None:
        """Make one row bad: the one that gives the token after `n` others."""
        sound = self.target.logits

        def poisoned(tokens: Sequence[int]) -> np.ndarray:
            row = sound(tokens)
            if len(tokens) - PROMPT_LENGTH == n:
                row[column] = np.nan
            return row

        self.target.logits = poisoned

    def finish(self, strategy: str = DRAFTING, **options: Any) -> TurnFinished:
        last = self.reply(strategy, **options)
        assert isinstance(last, TurnFinished), last
        assert last.text == REPLY
        return last

    @property
    def rejections(self) -> list[TuneRejected]:
        return [event for event in self.events if isinstance(event, TuneRejected)]


@pytest.mark.parametrize("failure", [None, REFUSED, NO_MEMORY])
@pytest.mark.parametrize("strategy", ["off", "draft:n_max=3:p_min=0"])
def test_a_mended_reply_says_once_that_it_continues_plainly(
    failure: EngineError | None, strategy: str
) -> None:
    bench = Desk()
    if failure is REFUSED and strategy == "off":
        return  # nothing to leave out: see the next test
    finished = bench.finish(strategy, plan={3: failure} if failure else {})
    if failure is None:
        assert bench.rejections == []
        assert finished.strategy == whole(strategy)
        return
    (rejection,) = bench.rejections
    assert rejection.code == failure.code
    assert rejection.strategy == whole(strategy)
    assert "plainly" in rejection.message
    assert finished.strategy == whole("off")
    again = bench.finish()  # the next reply drafts again
    assert again.stats.n_accepted > 0
    assert bench.rejections == []


def test_a_refused_batch_without_a_draft_ends_the_turn_and_the_pair_stays() -> None:
    bench = Desk()
    failed = bench.reply("off", plan={3: REFUSED})
    assert isinstance(failed, TurnFailed)
    assert failed.code == "batch-refused"
    assert not bench.target.closed
    assert bench.target.tokens == bench.draft.tokens == []
    bench.finish()


@pytest.mark.parametrize("failure", [BROKEN, REFUSED, None])
def test_text_that_a_stop_text_held_back_is_reported_before_the_failure(
    failure: EngineError | None,
) -> None:
    """Include a failure by a bad row."""
    bench = Desk()
    if failure is None:
        bench.poison(18)
    failed = bench.reply("off", plan={19: failure} if failure else {}, stop=("brown foxes",))
    assert isinstance(failed, TurnFailed)
    steps = bench.steps
    assert bytes(told(steps)).decode() == REPLY[:18] == "The quick brown fo"
    assert "".join(step.text for step in steps) == REPLY[:18]
    numbers = [step.step for step in steps]
    assert numbers == sorted(set(numbers))


def test_who_asks_for_drafts_in_a_reply_that_continues_plainly_is_refused() -> None:
    bench = Desk()

    def tune(event: Event) -> None:
        if isinstance(event, StepCommitted) and event.step == 8:
            bench.client.tune(strategy_of("prompt-lookup"))

    bench.on_event = tune
    finished = bench.finish(plan={3: NO_MEMORY})
    assert [r.strategy for r in bench.rejections] == [
        whole("draft:n_max=3:p_min=0"),
        strategy_of("prompt-lookup"),
    ]
    assert bench.rejections[1].code == "out-of-memory"
    assert finished.strategy == whole("off")


@pytest.mark.parametrize(
    "plan", [{4: BROKEN}, dict.fromkeys(range(4, 7), NO_MEMORY)], ids=["broken", "no memory"]
)
def test_untrusted_contexts_are_freed_before_the_failure_is_reported(
    plan: dict[int, EngineError],
) -> None:
    bench = Desk()
    failed = bench.reply(plan=plan)
    assert isinstance(failed, TurnFailed)
    assert failed.code == plan[4].code
    assert isinstance(bench.events[-2], Unloaded)
    assert told(bench.steps) == list(REPLY.encode()[:9])
    assert bench.target.closed
    assert bench.draft.closed
    again = bench.reply()
    assert isinstance(again, TurnFailed)
    assert again.code == "no-model"
    bench.load(draft="draft")
    bench.finish("off")


@pytest.mark.parametrize("stops", [False, True])
def test_a_bad_row_after_accepted_tokens_is_reported_after_them(stops: bool) -> None:
    """Also to one who stops the reply in between: bad numbers must not stay for the next."""
    bench = Desk()

    def stop(event: Event) -> None:
        if stops and isinstance(event, StepCommitted) and event.step == 2:
            bench.client.cancel()

    bench.on_event = stop
    sound = bench.target.logits
    bench.poison(7)
    failed = bench.reply()
    assert isinstance(failed, TurnFailed)
    assert failed.code == "invalid-numbers"
    steps = bench.steps
    assert bytes(told(steps)).decode() == REPLY[:7]
    assert len(steps[-1].tokens) == 2  # in the middle of a draft of three
    assert steps[-1].step == 2
    assert bench.target.wiped
    assert bench.draft.wiped
    bench.target.logits = sound
    stops = False
    bench.finish()


def service_of(file: Path, listener: Callable[[Event], None]) -> EngineService:
    """An engine that can load this file."""
    return EngineService(
        listener,
        take_between=lambda: None,
        cancel=CancelFlag(),
        backend=lambda: FakeBackend({str(file): FakeModel(scripted(REPLY, PROMPT_LENGTH))}),
    )


def test_a_file_that_is_written_to_while_it_is_loaded_is_loaded_once_more(tmp_path: Path) -> None:
    file = tmp_path / "target.gguf"
    file.write_bytes(b"GGUF")
    events: list[Event] = []

    def write(event: Event) -> None:
        events.append(event)
        if isinstance(event, LoadProgressed):
            file.write_bytes(b"GGUF and more")

    service = service_of(file, write)
    service.handle(LoadPair(ModelParams(str(file))))
    assert isinstance(events[-1], PairLoaded)
    service.handle(StartTurn(Chat(ASK), strategy=strategy_of("off"), seed=1))
    assert isinstance(events[-1], TurnFailed)
    assert events[-1].code == OVERWRITTEN


def test_a_file_that_is_replaced_while_it_is_loaded_is_refused(tmp_path: Path) -> None:
    """The header and the id that were read may be those of the other file."""
    file, other = tmp_path / "target.gguf", tmp_path / "other.gguf"
    file.write_bytes(b"GGUF")
    other.write_bytes(b"GGUF and more")
    events: list[Event] = []

    def replace_it(event: Event) -> None:
        events.append(event)
        if isinstance(event, LoadProgressed) and other.exists():
            other.replace(file)

    service = service_of(file, replace_it)
    service.handle(LoadPair(ModelParams(str(file))))
    assert isinstance(events[-1], LoadFailed)
    assert events[-1].code == "file-moved"
    service.handle(LoadPair(ModelParams(str(file))))
    assert isinstance(events[-1], PairLoaded)


# -------------------------------------------------------------------------------------- activity


def test_another_thread_sees_which_decode_runs() -> None:
    entered, leave = threading.Event(), threading.Event()
    sound = scripted(REPLY, PROMPT_LENGTH)

    def waiting(tokens: Sequence[int]) -> np.ndarray:
        if len(tokens) - PROMPT_LENGTH == 3:
            entered.set()
            leave.wait(10)
        return sound(tokens)

    events: list[Event] = []
    service = EngineService(
        events.append,
        take_between=lambda: None,
        cancel=CancelFlag(),
        backend=lambda: FakeBackend({"target": FakeModel(waiting)}),
    )
    assert service.activity() is None
    service.handle(LoadPair(ModelParams("target")))
    turn = StartTurn(Chat(ASK), strategy=strategy_of("off"), seed=1, max_tokens=40)
    began = time.monotonic()
    thread = threading.Thread(target=service.handle, args=(turn,))
    thread.start()
    assert entered.wait(10)
    activity = service.activity()
    assert activity is not None
    n_tokens, since, slowest_s = activity
    assert n_tokens == 1
    assert began <= since <= time.monotonic()
    assert 0 < slowest_s < 10
    leave.set()
    thread.join(10)
    assert service.activity() is None
    assert isinstance(events[-1], TurnFinished)


def test_a_small_batch_still_holds_a_whole_piece_of_exact_mode() -> None:
    assert (
        SMALL_BATCH >= promise.PIECE_TOKENS
    )  # else no piece would ever count as whole, and be reused
